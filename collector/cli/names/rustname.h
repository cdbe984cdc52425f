/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* rustname.h - the name of the variable or field that an allocation is for, in the text of a statement in Rust. */
#ifndef MEMTRACE_CLI_RUSTNAME_H
#define MEMTRACE_CLI_RUSTNAME_H

#include <stddef.h>

/*
 * @statement: lines, joined by blanks; @pos: where the call stands in it, 0 when that is not known. NULL: none is found. The caller's.
 */
char *mt_name_in_rust(const char *statement, size_t pos);

#endif
