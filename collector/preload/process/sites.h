// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * sites.h - system calls that the program makes by instructions of its own: those that make a process, which must not get the memory that
 * is really shared, and those of a Go runtime, which gives memory back and takes it for zeroes. They are found in the code of each object,
 * at the start and when one is loaded, and replaced. Where that cannot be done the program is not recorded, or not any more.
 */
#ifndef MEMTRACE_SITES_H
#define MEMTRACE_SITES_H

#include <stddef.h>
#include <stdint.h>

/*
 * All objects that are loaded. constructor, or later in a hook while nothing is being loaded; one thread. NULL: everything is
 * replaced, else a sentence that says why the program cannot be recorded; then nothing was changed, or what was changed does no harm.
 */
const char *mt_sites_replace(void);

/*
 * Of [@offset, @offset + @len) of the file @fd, which was mapped at @at to be executed, and which nobody executes yet. As above. Hook, or
 * with the backend's lock held; one at a time.
 */
const char *mt_sites_mapped(const uint8_t *at, size_t len, int fd, uint64_t offset);

#endif
