// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * objects.h - data of programs and libraries that is traced, and where in their files it came from.
 *
 * It stands in the memory file as all else, but for the program it is a private mapping of a file: what it gives back is the file
 * again, and some advice is refused. What the program wants to keep out of core dumps is noted here, too. All under zap_space.lock.
 */
#ifndef MEMTRACE_MEMORY_OBJECTS_H
#define MEMTRACE_MEMORY_OBJECTS_H

#include <stdint.h>

struct zap_object {
	uint64_t start, end, offset, ino;
};

/* The range was converted; its contents were those of the file @ino from @offset on. Without memory for that it counts as any memory. */
void zap_object_data(uint64_t start, uint64_t end, uint64_t offset, uint64_t ino);
/* The range is not of our file any more. */
void zap_object_gone(uint64_t start, uint64_t end);
/* Is there any? */
int zap_has_objects(void);
/* Is there data of an object at @addr? *next: where that changes, at most @end. */
int zap_is_object(uint64_t addr, uint64_t end, uint64_t *next);
/* The object with @addr, until another is noted; NULL: there is none. */
const struct zap_object *zap_object_at(uint64_t addr);

/* MADV_DONTDUMP, MADV_DODUMP; 0 or -ENOMEM. */
int zap_note_dump(uint64_t start, uint64_t end, int dump);
/* What is at [at, at + len) now was one mapping of the program at [old, old + old_len). */
void zap_dump_moved(uint64_t old, uint64_t old_len, uint64_t at, uint64_t len);
/* Mappings of the range are new: what was advised holds for them, too. */
void zap_dump_again(uint64_t start, uint64_t end);

#endif
