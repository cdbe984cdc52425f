/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * valgrind_alone.h - programs without the preload library under Valgrind: what the tool wrote of them (engines/valgrind/alone.h)
 * becomes images of the trace.
 */
#ifndef MEMTRACE_CLI_VALGRIND_ALONE_H
#define MEMTRACE_CLI_VALGRIND_ALONE_H

#include <stddef.h>

/* Makes images of all files @prefix*ALONE_SUFFIX in the directory of a trace, and removes them. How many. */
size_t mt_alone_convert(const char *trace, const char *prefix);

#endif
