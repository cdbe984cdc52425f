/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * large.c - where the large blocks and mappings of the program are now, for the fine clock (preload/fine), which takes its samples
 * by structure.
 *
 * In slots that are claimed and given back without a lock: threads of the program write them inside of hooks, the monitor reads them. It is
 * a help and no record: an entry may be missing or too old, then a sample is drawn from a range that has several structures, or from half
 * of one.
 */
#include "preload/ground/context.h"
#include "preload/context/ctx.h"

#define SLOTS 4096u		/* power of 2 */
#define PROBES 8u
#define CLAIMED 1u		/* of a slot whose end is not there yet */

static struct {
	_Atomic uintptr_t start, end;	/* start 0: free */
} slot[SLOTS];
bool ctx_large_on;

static unsigned int first_of(uintptr_t addr)
{
	uint64_t h = (uint64_t)(addr >> 4) * 0x9e3779b97f4a7c15ull;

	return (unsigned int)(h >> 40);
}

void ctx_large_gone(uintptr_t addr)
{
	const unsigned int first = first_of(addr);

	for (unsigned int i = 0; i < PROBES; i++) {
		uintptr_t s = addr;

		if (atomic_compare_exchange_strong(&slot[(first + i) % SLOTS].start, &s, 0))
			return;
	}
}

void ctx_large_born(uintptr_t addr, size_t bytes)
{
	const unsigned int first = first_of(addr);

	ctx_large_gone(addr);	/* what was there, and whose end was not seen */
	for (unsigned int i = 0; i < PROBES; i++) {
		uintptr_t free = 0;

		if (!atomic_compare_exchange_strong(&slot[(first + i) % SLOTS].start, &free, CLAIMED))
			continue;
		atomic_store(&slot[(first + i) % SLOTS].end, addr + bytes);
		atomic_store(&slot[(first + i) % SLOTS].start, addr);
		return;
	}
}

size_t ctx_large(uint64_t (*to)[2], size_t room)
{
	size_t n = 0;

	for (unsigned int i = 0; i < SLOTS && n < room; i++) {
		const uintptr_t start = atomic_load_explicit(&slot[i].start, memory_order_acquire), end = atomic_load(&slot[i].end);

		if (start <= CLAIMED || end <= start || atomic_load(&slot[i].start) != start)
			continue;
		to[n][0] = start;
		to[n++][1] = end;
	}
	return n;
}
