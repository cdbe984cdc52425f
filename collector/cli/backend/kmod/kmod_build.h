/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* kmod_build.h - is a built module current, and why could it not be built? No state. */
#ifndef MEMTRACE_CLI_KMOD_BUILD_H
#define MEMTRACE_CLI_KMOD_BUILD_H

#include <stdbool.h>

/*
 * Was the module in @dir (memtrace.ko, and a copy of its sources) built from
 * what is in @sources now? Compared by content: the files of a new package can
 * be older than a module that was built from the previous one.
 */
bool mt_kmod_fresh(const char *dir, const char *sources);

/*
 * The command that installs a program (by its name), or with NULL the headers of kernel
 * @release, on the distribution of @os_release (the text of /etc/os-release; NULL: of this
 * machine). NULL: its packages are not known. The caller frees it.
 */
char *mt_kmod_install_command(const char *program, const char *release, const char *os_release);

/*
 * One sentence for a failed build from the output of make, in @log; *fix is a
 * command that helps, or NULL. The caller frees both.
 */
char *mt_kmod_build_error(const char *log, char **fix);

#endif
