// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later
/*
 * site.h - counts what each instruction accesses, beside the pages (count.h): for each thread and instruction how often,
 * and the strides, which are the differences of the addresses of successive accesses.
 *
 * A stride is of one of eleven classes. Of each class the first stride is kept, and how many were equal to it: loops over
 * arrays have one stride in a class, so that the histogram tells their strides exactly.
 *
 * As in count.h a thread owns what it counts, without a lock; an addition is one instruction, so that a signal handler that
 * runs the same instruction loses nothing. (The stride of an access around the handler is then that to the handler's.)
 * Where a collector reads a record that its thread changes now, the sums may be an access apart.
 *
 * Memory: 400 bytes for each instruction and thread, from the counters of pages.
 */
#ifndef MEMTRACE_SITE_H
#define MEMTRACE_SITE_H

#include "count/count.h"

/* Classes of strides by distance, negative ones the same mirrored: MT_SITE_SAME - class. */
enum {
	MT_SITE_SAME = 5,		/* the same address again */
	MT_SITE_ELEMENT,		/* as far as an access is wide */
	MT_SITE_LINE,			/* another one up to 64 bytes */
	MT_SITE_PAGE,			/* up to 4 KiB */
	MT_SITE_NEAR,			/* up to 2 MiB */
	MT_SITE_FAR,
	MT_SITE_CLASSES
};

#define MT_SITE_NO_STRIDE INT64_MIN

struct mt_site_stride {
	int64_t value;			/* the first one; MT_SITE_NO_STRIDE: there was none. Never changes then */
	uint64_t same, others;		/* how many were equal to it, and the others of the class */
};

struct mt_site {
	uint64_t key;
	uint64_t last;			/* address of the last access */
	uint64_t begins;		/* accesses without a stride */
	uint32_t now;			/* class of the last stride */
	uint32_t bytes;			/* of an access */
	struct mt_site_stride stride[MT_SITE_CLASSES];
	uint64_t first;			/* address of the first access */
	uint64_t id;			/* of the process, from 0 on */
	uint64_t told;			/* accesses that were told; by the collector */
};

/* An operand of an instruction: @ip its address, @operand tells those of one instruction and direction apart. */
static inline uint64_t mt_site_key(uint64_t ip, unsigned int operand, unsigned int write)
{
	return 1ull << 63 | (uint64_t)(write & 1) << 62 | (uint64_t)(operand & 63) << 56 | (ip & ((1ull << 56) - 1));
}

struct mt_site_table {
	uint64_t bits;			/* log2 of the entries, this one included */
	struct mt_site_table *older;	/* replaced before this one */
	struct mt_site_entry {
		uint64_t key;		/* 0: free */
		struct mt_site *site;
	} entry[];			/* from number 1 on */
};

struct mt_site_thread {
	struct mt_count_thread *pages;	/* of the same thread */
	struct mt_sites *sites;
	struct mt_site_thread *next;
	int tid;
	size_t n;			/* entries in use */
	struct mt_site_table *table, *retired;
};

/* One per process, or more; zeroed but for the counters of the pages. */
struct mt_sites {
	struct mt_count *count;		/* memory, and the lock */
	struct mt_site_thread *threads;
	struct mt_site *free_site;
	uint64_t next_id;
	uint64_t lost;			/* accesses: there was no memory */
};

/* What one thread did by one operand, since the beginning. */
struct mt_site_row {
	uint64_t id, ip;
	int tid;
	unsigned int write, bytes;
	uint64_t n, first, last;
	struct mt_site_stride stride[MT_SITE_CLASSES];
};

void mt_sites_init(struct mt_sites *s, struct mt_count *c);
/* For the thread itself, once; NULL: no memory. @pages are its counters of pages. */
struct mt_site_thread *mt_site_thread_new(struct mt_sites *s, struct mt_count_thread *pages, int tid);

/* What mt_site_add() left to do. On the owner. */
void mt_site_slow(struct mt_site_thread *t, uint64_t key, uint64_t address, uint32_t bytes);
void mt_site_turn(struct mt_site *s, int64_t stride);

static inline struct mt_site *mt_site_find(const struct mt_site_thread *t, uint64_t key)
{
	const struct mt_site_table *table = __atomic_load_n(&t->table, __ATOMIC_ACQUIRE);
	const size_t mask = ((size_t)1 << table->bits) - 1;

	for (size_t i = key * 0x9e3779b97f4a7c15ull >> (64 - table->bits); ; i = (i + 1) & mask) {
		const struct mt_site_entry *e = &table->entry[i - 1];

		if (!i)
			continue;
		if (__builtin_expect(e->key == key, 1))
			return e->site;
		if (!e->key)
			return NULL;
	}
}

/* An access at an address, of so many bytes. On the owner. */
static inline void mt_site_add(struct mt_site_thread *t, uint64_t key, uint64_t address, uint32_t bytes)
{
	struct mt_site *s = mt_site_find(t, key);
	struct mt_site_stride *c;
	int64_t stride;

	if (__builtin_expect(!s, 0)) {
		mt_site_slow(t, key, address, bytes);
		return;
	}
	c = &s->stride[s->now];
	stride = (int64_t)(address - s->last);
	s->last = address;
	if (__builtin_expect(c->value == stride, 1))
		mt_count_add_carry(&c->same, 1);
	else
		mt_site_turn(s, stride);
}

/* As mt_count_range(): one access for each 16 bytes begun in each page, one behind the other. On the owner. */
void mt_site_range(struct mt_site_thread *t, uint64_t key, uint64_t address, uint64_t bytes);

/*
 * Tells what changed since it was told: with @all of all threads, else of those that are not alive, which are
 * freed; @alive may be NULL. One collector at a time.
 */
void mt_sites_collect(struct mt_sites *s, bool all, bool (*alive)(int tid), void (*tell)(void *arg, const struct mt_site_row *r),
		      void *arg);

/* The child of fork, with the one thread @self (may be NULL) with the id @tid; after mt_count_fork_child(). */
void mt_sites_fork_child(struct mt_sites *s, struct mt_site_thread *self, int tid);

#endif
