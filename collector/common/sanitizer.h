// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * sanitizer.h - programs that were built with a sanitizer which must see all memory from the first moment on: its runtime refuses a library
 * that is loaded before it, takes what that allocates for leaks, and reserves terabytes that nobody can look at.
 */
#ifndef MEMTRACE_SANITIZER_H
#define MEMTRACE_SANITIZER_H

/*
 * The name of that sanitizer, of the program at @path, relative to the folder @dir; NULL: none, or the file cannot be read. Raw system
 * calls only, and nothing of libc but memcmp(). Any context.
 */
const char *mt_sanitizer_of_file(int dir, const char *path);

/* Is the loader of the program, as above, that of another C library than glibc, which ends programs because of a library for glibc? */
int mt_is_of_other_libc(int dir, const char *path);

#endif
