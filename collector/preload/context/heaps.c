/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * heaps.c - where the C library keeps the small blocks of further threads.
 *
 * The allocator of glibc gives threads arenas of their own. Their blocks do not
 * lie at the break but in heaps of 64 MiB of address space, aligned to as much,
 * of which the beginning is used. A flag in the word before a block says that it
 * is in such a heap. How far a heap is used is known from the blocks in it.
 *
 * Heaps are found by any thread and never taken back: a table that only grows,
 * without locks. What the flusher has told is its own.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "preload/context/ctx.h"

#define HEAP_BYTES ((uintptr_t)64 << 20)	/* HEAP_MAX_SIZE of malloc/arena.c where pointers have 64 bits */
#define HEADER 32u		/* what the allocator writes behind a block, at most */
#define SLOTS 4096u		/* power of 2 */

struct heap {
	_Atomic uintptr_t start, end;	/* start 0: free; bytes in use: [start, end) */
	_Atomic uint64_t birth;		/* ns; 0: about to be listed */
	uintptr_t told;			/* end in the log; of the flusher */
	struct heap *next;
};

static struct heap heaps[SLOTS];
static _Atomic(struct heap *) first;

bool ctx_heaps_told;

void ctx_heaps_init(const void *allocator)
{
	const char *tunables = getenv("GLIBC_TUNABLES");
	Dl_info theirs, libc;

	ctx_heaps_told = sizeof(void *) == 8 && dladdr(allocator, &theirs) && dladdr((void *)gnu_get_libc_version, &libc) &&
			 theirs.dli_fbase == libc.dli_fbase && !(tunables && strstr(tunables, "hugetlb"));
}

static void list(struct heap *h, uint64_t birth)
{
	h->next = atomic_load_explicit(&first, memory_order_relaxed);
	atomic_store_explicit(&h->birth, birth, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&first, &h->next, h, memory_order_release, memory_order_relaxed))
		;
}

/* NULL when there are too many. */
static struct heap *heap_at(uintptr_t start)
{
	for (size_t n = 0, i = start / HEAP_BYTES; n < SLOTS; n++, i++) {
		struct heap *h = &heaps[i & (SLOTS - 1)];
		uintptr_t s = atomic_load_explicit(&h->start, memory_order_relaxed);

		if (!s && atomic_compare_exchange_strong(&h->start, &s, start)) {
			list(h, ctx_now());
			return h;
		}
		if (s == start)
			return h;
	}
	return NULL;
}

void ctx_heap_used(uintptr_t addr, size_t bytes)
{
	struct heap *h = heap_at(addr & ~(HEAP_BYTES - 1));
	uintptr_t end = addr + bytes + HEADER, old;

	if (ctx_unlikely(!h)) {
		atomic_fetch_add_explicit(&ctx_lost_memory, 1, memory_order_relaxed);
		return;
	}
	old = atomic_load_explicit(&h->end, memory_order_relaxed);
	while (ctx_unlikely(end > old) &&
	       !atomic_compare_exchange_weak_explicit(&h->end, &old, end, memory_order_relaxed, memory_order_relaxed))
		;
}

void ctx_heaps_flush(void)
{
	for (struct heap *h = atomic_load_explicit(&first, memory_order_acquire); h; h = h->next) {
		uintptr_t end = atomic_load_explicit(&h->end, memory_order_relaxed);
		struct ctx_line l;

		if (end <= h->told)
			continue;
		h->told = end;
		ctx_line_begin(&l, 'H');
		ctx_line_dec(&l, atomic_load_explicit(&h->birth, memory_order_relaxed));
		ctx_line_hex(&l, atomic_load_explicit(&h->start, memory_order_relaxed));
		ctx_line_hex(&l, end);
		ctx_line_put(&l, 0);
	}
}

void ctx_heaps_fork_child(uint64_t when)
{
	bool any = false;

	for (size_t i = 0; i < SLOTS && !any; i++)
		any = atomic_load_explicit(&heaps[i].start, memory_order_relaxed);
	if (!any)
		return;
	/* again from the beginning: another thread may have been about to list one */
	atomic_store(&first, NULL);
	for (size_t i = 0; i < SLOTS; i++) {
		if (!atomic_load_explicit(&heaps[i].start, memory_order_relaxed))
			continue;
		heaps[i].told = 0;
		list(&heaps[i], when);
	}
}
