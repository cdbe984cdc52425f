// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * around.h - who read first in each group of pages that the kernel maps around a read fault.
 *
 * Only on kernels where it does that. The pages of a group that are mapped and had no fault of
 * their own were mapped by this read. Used by the monitor thread only.
 */
#ifndef MEMTRACE_AROUND_H
#define MEMTRACE_AROUND_H

#include <stddef.h>
#include <stdint.h>

struct zap_reader {
	uint64_t group;		/* its first address + 1; 0: the slot is free */
	uint64_t time, ip;
	int32_t tid, cpu;
};

struct zap_around {
	struct zap_reader *slot;	/* open addressing */
	size_t n, nslots;
	uint64_t bytes;			/* of a group; 0: nothing is noted */
};

/* @pages: of a group, a power of two; 1: the kernel maps none around. 0 or -ENOMEM. */
int zap_around_init(struct zap_around *a, unsigned int pages);
void zap_around_free(struct zap_around *a);
/* A read fault; the earliest of a group counts. */
void zap_around_note(struct zap_around *a, uint64_t addr, uint64_t time, int32_t tid, int cpu, uint64_t ip);
/* NULL: no read of the group is known. */
const struct zap_reader *zap_around_reader(const struct zap_around *a, uint64_t addr);
/* The next subphase begins. */
void zap_around_clear(struct zap_around *a);

#endif
