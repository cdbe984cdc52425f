/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* self.h - where this program and its library are. */
#ifndef MEMTRACE_CLI_SELF_H
#define MEMTRACE_CLI_SELF_H

#include <limits.h>

/* Absolute path of the running memtrace program, or -errno. */
int mt_self(char path[PATH_MAX]);

/*
 * Path of libmemtrace-preload.so: MEMTRACE_PRELOAD, beside this program, or in ../lib/memtrace, ../lib or ../lib64/memtrace of it. NULL: it
 * is nowhere. The caller's.
 */
char *mt_preload_path(void);

#endif
