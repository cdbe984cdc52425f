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
 * Same with the position of the call in the statement: the object that is declared there, else the last assignment before it. Tells
 * "double *a = malloc(n), *b = malloc(n)" apart. C and C++.
 */
char *mt_name_at(const char *statement, size_t pos);
/* "grid" of "make(&grid, n)": the only argument of which the address is passed. NULL: there is none, or several. */
char *mt_name_of_address(const char *statement);
/* Comments and the contents of strings become blanks. The caller's. */
char *mt_source_clean(const char *s, int fortran);
/* The first place of a word, whatever its capitals; @part: also as a part of another one. */
const char *mt_find_word(const char *s, const char *word, bool part);

#endif
