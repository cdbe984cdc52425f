/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * library.h - which code allocates for somebody else: libraries of languages and frameworks, functions that only allocate, and what a
 * person has named as such. The name of a block is looked for in the callers of such code.
 */
#ifndef MEMTRACE_CLI_LIBRARY_H
#define MEMTRACE_CLI_LIBRARY_H

#include <stdbool.h>

/* A function of a language's library or of a framework, by its name as a person reads it: "std::vector<double>::resize". */
bool mt_library_function(const char *function);
/* A source or a header of one. */
bool mt_library_source(const char *path);
/* An allocator, by its name: "xmalloc", "operator new", "mmap". */
bool mt_library_allocates(const char *function);
/* A shared object of the C library, the loader, or below a language. NULL is one. */
bool mt_library_object(const char *path);
/* Where programs and threads begin: in each stack, so it tells nothing. */
bool mt_library_starts(const char *function);

/*
 * Names of functions, and with a / in them paths of sources, that are to be gone through as well; * and ? stand for any text and any
 * character. @list: separated by commas; of one that begins with @ the rest is the name of a file with one in each line, # begins a
 * comment. 0 or a negative errno, after a message. For the life of the process.
 */
int mt_library_add(const char *list);

#endif
