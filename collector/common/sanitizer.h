// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * sanitizer.h - programs that were built with a sanitizer which must see all memory from the first moment on: its runtime refuses a library
 * that is loaded before it, takes what that allocates for leaks, and reserves terabytes that nobody can look at.
 */
#ifndef MEMTRACE_SANITIZER_H
#define MEMTRACE_SANITIZER_H

#include <stddef.h>
#include <stdint.h>

/* The name of that sanitizer, of a program whose file is in memory; NULL: none. Calls nothing of libc but memcmp(). Any context. */
const char *mt_sanitizer_of(const uint8_t *file, size_t bytes);
/* The same of the file at @path, relative to the folder @dir. Raw system calls only; what cannot be read has none. */
const char *mt_sanitizer_of_file(int dir, const char *path);

#endif
