/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* demangle.h - names and paths of debug information as people read them. One thread. */
#ifndef MEMTRACE_CLI_DEMANGLE_H
#define MEMTRACE_CLI_DEMANGLE_H

/* A copy that lives as long as the process; equal texts have one. NULL for NULL. */
const char *mt_symbols_keep(const char *text);
/* The same for the path of a source file, which may be relative to @dir. */
const char *mt_symbols_absolute(const char *file, const char *dir);
/* A C++ name as it is written, or NULL; the caller's. */
char *mt_symbols_demangle(const char *name);

#endif
