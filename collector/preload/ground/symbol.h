// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * symbol.h - symbols of what is loaded, for code before main: dlsym() for what is not there allocates a message, and frees the one before,
 * with the program's own malloc() where it has one, which need not bear it yet. Nothing here calls anything. Constructor, single-threaded.
 */
#ifndef MEMTRACE_SYMBOL_H
#define MEMTRACE_SYMBOL_H

#include <link.h>

/* The symbol, in its default version, that the object defines. NULL: it does not, or it has no table of hashes. */
const ElfW(Sym) *mt_symbol_in(const struct link_map *l, const char *name);
/* libc. dlopen() for it may be that of another library, which takes locks. NULL: not found. */
const struct link_map *mt_libc_map(void);
/* Does anything that is loaded define it? */
int mt_is_defined(const char *name);

#endif
