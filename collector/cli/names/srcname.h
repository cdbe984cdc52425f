/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * srcname.h - the name of the variable to which an allocation is assigned.
 */
#ifndef MEMTRACE_CLI_SRCNAME_H
#define MEMTRACE_CLI_SRCNAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Name taken from the text of a statement (C, C++, Fortran), or NULL. `item`
 * chooses among several objects of one Fortran ALLOCATE, from 0. The caller
 * frees. Pure function, no files.
 */
char *mt_name_in_statement(const char *statement, int item, int fortran);

/*
 * Same, for line `line` (from 1) of a source file, with as many of the
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

#endif
