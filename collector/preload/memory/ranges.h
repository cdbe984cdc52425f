// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * region.h - a set of addresses as sorted, disjoint, non-touching ranges [start, end).
 *
 * Bookkeeping only, no system calls but the one for memory. The caller locks.
 */
#ifndef MEMTRACE_REGION_H
#define MEMTRACE_REGION_H

#include <stddef.h>
#include <stdint.h>

struct zap_range {
	uint64_t start, end;
};

struct zap_regions {
	struct zap_range *r;
	size_t n, cap;
};

/* 0 or -ENOMEM; the set is unchanged then. Empty ranges are ignored. */
int zap_regions_add(struct zap_regions *s, uint64_t start, uint64_t end);
/* Removing a part of a range may need one more range: 0 or -ENOMEM. */
int zap_regions_remove(struct zap_regions *s, uint64_t start, uint64_t end);
void zap_regions_clear(struct zap_regions *s);
void zap_regions_free(struct zap_regions *s);
/* 0 or -ENOMEM; *to is empty then. */
int zap_regions_copy(struct zap_regions *to, const struct zap_regions *from);

/* Index of the first range that ends behind addr; n when there is none. */
size_t zap_regions_find(const struct zap_regions *s, uint64_t addr);
int zap_regions_contain(const struct zap_regions *s, uint64_t addr);
/* Are all / any of the addresses of [start, end) in the set? */
int zap_regions_cover(const struct zap_regions *s, uint64_t start, uint64_t end);
int zap_regions_overlap(const struct zap_regions *s, uint64_t start, uint64_t end);
/* Is @at, below @end, in the set, and up to where is what follows it the same? *until is @end at most. */
int zap_regions_run(const struct zap_regions *s, uint64_t at, uint64_t end, uint64_t *until);
uint64_t zap_regions_bytes(const struct zap_regions *s);

#endif
