/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* program.h - find a program like the shell does, and see whether it can be traced. */
#ifndef MEMTRACE_CLI_PROGRAM_H
#define MEMTRACE_CLI_PROGRAM_H

#include <stdbool.h>

/*
 * Path of the program as the shell would execute it (what it sees as its own
 * name must not change), or NULL; *code is then the exit code
 * (MT_EXIT_NOT_FOUND or MT_EXIT_CANNOT_EXECUTE). Caller frees.
 */
char *mt_program_find(const char *name, int *code);

/*
 * Why a preloaded library will not be loaded into this program (or into the
 * interpreter of this script): a sentence part such as "is statically linked",
 * NULL when it will. *which is the file it is about; caller frees it.
 */
const char *mt_program_obstacle(const char *path, char **which);
/* Is it that one? */
bool mt_obstacle_is_static(const char *obstacle);
/* Is it one for which the library must not even be named, since the loader or a runtime of the program would complain? */
bool mt_obstacle_refuses_library(const char *obstacle);

/* Was it built with `memtrace cc`? 1 yes, 0 no, -1: it is not an ELF file that can be read (a script). */
int mt_program_counts(const char *path);

#endif
