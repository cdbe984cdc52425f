// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later
/*
 * count.h - counts accesses: for each thread and page how many reads and how many writes, and
 * when each of them came first. Every engine that sees single accesses uses it.
 *
 * A thread owns its counters and adds to them without a lock. A collector, any other thread,
 * reads them now and then and tells what was added since: nothing stops, nothing is reset, no
 * access is counted twice or left out, whenever the collector looks. An addition is one
 * instruction, so that a signal handler that counts on the same page loses nothing either.
 *
 *	thread  -> cache of regions -> leaf of a region (2 MiB): 512 pages x {reads, writes}
 *	           table of regions (a hash that grows), behind the cache
 *
 * A counter holds the accesses less one: the first addition overflows, and the carry says
 * that it was the first. So finding first accesses costs no memory access of its own.
 *
 * Memory: 8 KiB for each region that a thread touches, and 8 KiB more for each half of it in
 * which there are such pages (48 bytes per page where a region is used densely); 20 KiB and
 * the table for each thread.
 *
 * No libc, no allocation but by mt_count_ops.map, raw system calls only through the operations.
 */
#ifndef MEMTRACE_COUNT_H
#define MEMTRACE_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rawsys.h"

#define MT_COUNT_PAGE_SHIFT 12
#define MT_COUNT_REGION_SHIFT 21
#define MT_COUNT_LEAF_PAGES (1u << (MT_COUNT_REGION_SHIFT - MT_COUNT_PAGE_SHIFT))
#define MT_COUNT_SLOTS 1024u		/* of the cache; power of two */
#define MT_COUNT_ADDRESS_END (1ull << 47)	/* of user memory */

enum { MT_COUNT_READ, MT_COUNT_WRITE };

/* Counters of 512 pages. By [page in the region][read or write]. */
struct mt_count_leaf {
	uint64_t n[MT_COUNT_LEAF_PAGES][2];	/* accesses - 1; by the owner */
	uint64_t told[MT_COUNT_LEAF_PAGES][2];	/* accesses that were told; by the collector */
	uint64_t first[MT_COUNT_LEAF_PAGES][2];	/* ns since the start << 12 | offset in the page; by the owner, once */
};

/* A slot as a whole. */
typedef uint64_t mt_count_pair __attribute__((vector_size(16), may_alias));

/* Zeroed, no slot but the first one matches a region: number i belongs to regions with i in the low bits. */
struct mt_count_slot {
	uint64_t region;		/* address >> MT_COUNT_REGION_SHIFT */
	uint64_t base;			/* address of the leaf - 16 * the number of the region's first page */
};

/* Open addressing over the entries from 1 on. */
struct mt_count_table {
	uint64_t bits;			/* log2 of the entries, this one included */
	struct mt_count_table *older;	/* replaced before this one */
	struct mt_count_entry {
		uint64_t region_1;	/* region + 1; 0: free */
		struct mt_count_leaf *leaf;
	} entry[];			/* from number 1 on */
};

struct mt_count_thread {
	struct mt_count_slot slot[MT_COUNT_SLOTS] __attribute__((aligned(16)));
	struct mt_count *count;
	struct mt_count_thread *next;	/* all threads, newest first */
	int tid;
	size_t regions;			/* entries in use */
	struct mt_count_table *table;
	struct mt_count_table *retired;	/* replaced; the collector frees them */
};

/* What the counters need of where they run. All may be called on any thread. */
struct mt_count_ops {
	void *(*map)(size_t bytes);	/* zeroed, page-aligned, sparse; NULL: none left. Never given back */
	void (*zero)(void *p, size_t bytes);	/* makes pages zero again, best without memory behind them */
	uint64_t (*now_ns)(void);
	uint64_t (*enter)(void);	/* no signal handler runs on this thread until leave(); may be NULL */
	void (*leave)(uint64_t token);
};

#define MT_COUNT_CLASSES 32		/* of blocks, by log2 of their pages */

/* One per process. */
struct mt_count {
	struct mt_count_ops ops;
	struct mt_lock lock;		/* threads, free blocks, arena; short, and never inside of ops.map's caller */
	struct mt_count_thread *threads;
	void *free_block[MT_COUNT_CLASSES];
	struct mt_count_leaf *free_leaf;
	char *arena;
	size_t arena_left, arena_next;
	uint64_t start_ns;
	uint64_t lost;			/* accesses: there was no memory */
};

/* What one thread did to one page since the last collection. */
struct mt_count_row {
	int tid;
	uint64_t page;			/* address >> MT_COUNT_PAGE_SHIFT */
	uint64_t n[2];			/* reads, writes; not 0 in both */
	int at[2];			/* offset of the first of the whole run, -1: there was none yet */
	uint64_t first_ns[2];		/* when, if it is told now for the first time; else 0 */
};

/* Two words, and an addition that tells its carry, which no signal handler on this thread can cut in two. */
#ifdef __x86_64__
static inline __attribute__((always_inline)) mt_count_pair mt_count_load_pair(const mt_count_pair *p)
{
	mt_count_pair both;

	asm volatile("movaps %1, %0" : "=x"(both) : "m"(*p));
	return both;
}

static inline __attribute__((always_inline)) void mt_count_store_pair(mt_count_pair *p, mt_count_pair both)
{
	asm volatile("movaps %1, %0" : "=m"(*p) : "x"(both));
}

static inline __attribute__((always_inline)) bool mt_count_add_carry(uint64_t *p, uint64_t n)
{
	bool carry;

	asm volatile("addq %2, %1" : "=@ccc"(carry), "+m"(*p) : "er"(n) : "cc");
	return carry;
}
#elif defined(__aarch64__)
static inline mt_count_pair mt_count_load_pair(const mt_count_pair *p)
{
	mt_count_pair both;

	asm volatile("ldr %q0, %1" : "=w"(both) : "m"(*p));
	return both;
}

static inline void mt_count_store_pair(mt_count_pair *p, mt_count_pair both)
{
	asm volatile("str %q1, %0" : "=m"(*p) : "w"(both));
}

static inline bool mt_count_add_carry(uint64_t *p, uint64_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELAXED) + n < n;
}
#endif

/*
 * The hot path: adds @n >= 1 accesses of @t at @address, all in one page. True: done. False:
 * nothing, or only the addition was done (*first): mt_count_slow() or mt_count_note_first().
 */
static inline __attribute__((always_inline)) bool mt_count_hit(const struct mt_count_thread *t, uint64_t address,
								unsigned int write, uint64_t n, bool *first)
{
	const uint64_t region = address >> MT_COUNT_REGION_SHIFT;
	const struct mt_count_slot *s = &t->slot[region & (MT_COUNT_SLOTS - 1)];
	mt_count_pair both;
	bool carry;

	*first = false;
	/* one instruction: a signal handler may give the slot to another region, and the base must be that of the region seen */
	both = mt_count_load_pair((const mt_count_pair *)s);
	if (__builtin_expect(both[0] != region, 0))
		return false;
	/* one instruction: signal handlers; and no other thread writes it */
	carry = mt_count_add_carry((uint64_t *)(both[1] + (address >> MT_COUNT_PAGE_SHIFT) * 16 + write * 8), n);
	*first = carry;
	return !__builtin_expect(carry, 0);
}

void mt_count_init(struct mt_count *c, const struct mt_count_ops *ops);
/* Counters for a thread; NULL: no memory. The thread itself, once. */
struct mt_count_thread *mt_count_thread_new(struct mt_count *c, int tid);
/* What mt_count_hit() left to do. On the owner. */
void mt_count_slow(struct mt_count_thread *t, uint64_t address, unsigned int write, uint64_t n, bool first);
/* Adds accesses of any number, the slow way included. On the owner. */
static inline void mt_count_add(struct mt_count_thread *t, uint64_t address, unsigned int write, uint64_t n)
{
	bool first;

	if (!mt_count_hit(t, address, write, n, &first))
		mt_count_slow(t, address, write, n, first);
}
/*
 * An access to [address, address + bytes) by a routine that moves memory: one access for each
 * 16 bytes begun in each page.
 */
void mt_count_range(struct mt_count_thread *t, uint64_t address, uint64_t bytes, unsigned int write);

/*
 * Tells what was counted since the last collection, in no order, one row for each thread and page. Frees the
 * counters of threads that are not alive; @alive may be NULL. One collector at a time. Returns
 * the accesses that were told.
 */
uint64_t mt_count_collect(struct mt_count *c, bool (*alive)(int tid), void (*tell)(void *arg, const struct mt_count_row *r),
			  void *arg);
/* The same sum, and tells nothing. On the collector. */
uint64_t mt_count_pending(const struct mt_count *c);

/*
 * fork: before, in the parent after, and in the child, which has the one thread @self (may be
 * NULL) with the id @tid: its counters begin anew.
 */
void mt_count_fork_prepare(struct mt_count *c);
void mt_count_fork_parent(struct mt_count *c);
void mt_count_fork_child(struct mt_count *c, struct mt_count_thread *self, int tid);

/* 2^class pages, zeroed, and back; NULL: no memory. Under the lock of @c. For what is counted beside pages (site.h). */
void *mt_count_take_block(struct mt_count *c, unsigned int class);
void mt_count_free_block(struct mt_count *c, void *p, unsigned int class);

#endif
