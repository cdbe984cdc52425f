/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_CLI_CACHE_H
#define MEMTRACE_CLI_CACHE_H

#include <limits.h>

/* Makes a folder and those that it is in; 0 or -errno. */
int mt_make_dirs(const char *path);
/* Folder for caches (made when missing), or -errno; @path ends without a slash. */
int mt_cache_dir(char path[PATH_MAX]);

#endif
