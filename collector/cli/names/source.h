/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* source.h - names from the sources of the program, by file and line. */
#ifndef MEMTRACE_CLI_SOURCE_H
#define MEMTRACE_CLI_SOURCE_H

#include <stdbool.h>

/*
 * The variable to which an allocation is assigned (srcname.h, rustname.h), for line `line` (from 1) of a source file, with as many of the
 * neighbouring lines as the statement has. `column` (from 1, 0 unknown) tells
 * several statements on one line apart. NULL when the file cannot be read or
 * nothing is found. Files are cached for the life of the process.
 */
char *mt_name_in_file(const char *file, int line, int column, int item);

/*
 * Does the function that the line is in return this variable behind the line, so that its caller has a name for what was allocated? With
 * NULL: is the statement of the line itself a return?
 */
bool mt_name_is_returned(const char *file, int line, const char *name);

/* What the call on a line gets the address of, "grid" in "make(&grid, n)", if it is the only one. The caller's; NULL: none, or several. */
char *mt_address_in_file(const char *file, int line, int column);

#endif
