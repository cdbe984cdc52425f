// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * late.h - the data of libraries that come while the program runs, in the kernel's maps.
 */
#ifndef MEMTRACE_LATE_H
#define MEMTRACE_LATE_H

#include <stdint.h>

#include "common/maps.h"

/* Walks maps for the writable data, not traced, of ELF objects: .data and the .bss behind it. */
struct zap_late_walk {
	uint64_t code_ino, data_end;
	uint32_t code_major, code_minor;
	uint64_t own_ino;		/* of our library */
};

/* The inode of our library. Reads @m from the beginning, and rewinds it. */
uint64_t zap_own_ino(struct mt_maps *m);
/* Each mapping in its order. 1: it is such data. */
int zap_is_late_data(struct zap_late_walk *w, const struct mt_map *m);

#endif
