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
 * One sentence for a failed build from the output of make, in @log; *fix is a
 * command that helps, or NULL. The caller frees both.
 */
char *mt_kmod_build_error(const char *log, char **fix);

#endif
