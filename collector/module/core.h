/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: memtrace contributors */
/*
 * core.h - records, blocks, address set and the interval rule.
 *
 * Knows nothing of page tables, tasks or files; compiled in the module and, the
 * same source, in user space by the unit tests (there the locks are nothing).
 *
 * Life of a block: pool -> chunk (being filled by one task) -> taken by the
 * monitor -> read by user space -> pool. It is in one place at a time and
 * linked by its `next`.
 */
#ifndef MEMTRACE_CORE_H
#define MEMTRACE_CORE_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
typedef spinlock_t mtr_spinlock_t;
#define mtr_spin_init(l) spin_lock_init(l)
#define mtr_spin_lock(l) spin_lock(l)
#define mtr_spin_unlock(l) spin_unlock(l)
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/cdefs.h>		/* __always_inline */
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef int mtr_spinlock_t;
#define mtr_spin_init(l) (*(l) = 0)
#define mtr_spin_lock(l) ((void)(l))
#define mtr_spin_unlock(l) ((void)(l))
#endif

#include <memtrace/abi.h>

#define MTR_PAGE_SHIFT 12

/* Blocks of the pool are smaller than a message may be: a thread with one record holds one. */
#define MTR_BLOCK_BYTES 1024u
#define MTR_BLOCK_RECORDS \
	((u32)((MTR_BLOCK_BYTES - sizeof(struct memtrace_block)) / sizeof(struct memtrace_record)))
/* Numbers of records in the pool that a block has, not all of them in use: a power of two, to be found without a division. */
#define MTR_BLOCK_NUMBERS 32u
#define MTR_BLOCKS_PER_4K (MEMTRACE_BLOCK_BYTES / MTR_BLOCK_BYTES)

struct mtr_block {
	struct mtr_block *next;
	struct memtrace_block *data;	/* MTR_BLOCK_BYTES */
	u32 first;			/* number of its first record in the pool, from 1 */
	u32 in_set;			/* records already put into the address set */
};

/* First in, first out. Zero-initialised = empty. */
struct mtr_fifo {
	struct mtr_block *head, *tail;
};

static inline void mtr_fifo_put(struct mtr_fifo *f, struct mtr_block *b)
{
	b->next = NULL;
	if (f->tail)
		f->tail->next = b;
	else
		f->head = b;
	f->tail = b;
}

static inline struct mtr_block *mtr_fifo_get(struct mtr_fifo *f)
{
	struct mtr_block *b = f->head;

	if (b) {
		f->head = b->next;
		if (!f->head)
			f->tail = NULL;
		b->next = NULL;
	}
	return b;
}

/* Moves all of @from behind @to. */
static inline void mtr_fifo_join(struct mtr_fifo *to, struct mtr_fifo *from)
{
	if (!from->head)
		return;
	if (to->tail)
		to->tail->next = from->head;
	else
		to->head = from->head;
	to->tail = from->tail;
	from->head = from->tail = NULL;
}

/*
 * A fixed number of blocks, shared by all tasks of a session. The caller owns
 * the memory: @count blocks and @count * MTR_BLOCK_BYTES bytes.
 */
struct mtr_pool {
	mtr_spinlock_t lock;		/* innermost */
	struct mtr_block *free;
	struct mtr_block *blocks;
	u32 count, nfree, low;
};

void mtr_pool_init(struct mtr_pool *p, struct mtr_block *blocks, void *data, u32 count);
struct mtr_block *mtr_pool_get(struct mtr_pool *p);	/* NULL when empty */
void mtr_pool_put(struct mtr_pool *p, struct mtr_block *b);

static inline struct memtrace_record *mtr_pool_record(struct mtr_pool *p, u32 number)
{
	const u32 i = number - 1;

	return &p->blocks[i / MTR_BLOCK_NUMBERS].data->record[i % MTR_BLOCK_NUMBERS];
}

/*
 * The records of one task: blocks of the running interval, older ones that
 * were not taken yet, and a hash of the pages of the running interval. The
 * caller serialises (the task's lock) and owns @heads (1 << bits words).
 */
struct mtr_chunk {
	struct mtr_fifo open;		/* in the order of their intervals */
	struct mtr_block *cur;		/* last of open, of interval `label`, or NULL */
	u32 *heads;			/* record numbers, 0 = none */
	u32 bits;
	u32 filled;			/* records of interval `label` */
	u64 label;
	u32 image;
	s32 tid, pid;
};

struct mtr_access {
	u64 virt, phys, ip;
	u32 cpu;
	u16 flags;
	bool write;
	bool again;			/* the same fault, tried once more: counted already */
};

static inline u32 mtr_hash_page(u64 page, u32 bits)
{
	return (u32)((page * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

enum mtr_added { MTR_NEW, MTR_MERGED, MTR_DROPPED };

/* Adds to interval @label, which never decreases. Any context. */
enum mtr_added mtr_chunk_add(struct mtr_chunk *c, struct mtr_pool *p, u64 label, const struct mtr_access *a);
/* Its seldom parts: the first record of an interval, a new block (NULL: the pool is empty), a CPU of a record that has some. */
void mtr_chunk_begin(struct mtr_chunk *c, u64 label);
struct mtr_block *mtr_chunk_block(struct mtr_chunk *c, struct mtr_pool *p, u64 label);
void mtr_record_cpu(struct memtrace_record *r, u32 cpu);

/* The same in the function that calls, for the way of each fault. */
static __always_inline enum mtr_added mtr_chunk_add_here(struct mtr_chunk *c, struct mtr_pool *p, u64 label,
							 const struct mtr_access *a)
{
	const u64 page = a->virt >> MTR_PAGE_SHIFT;
	struct memtrace_record *r;
	struct mtr_block *b;
	u32 *head = NULL, i;

	if (c->label != label)
		mtr_chunk_begin(c, label);
	if (c->heads) {
		head = &c->heads[mtr_hash_page(page, c->bits)];
		for (i = *head; i; i = r->chain) {
			r = mtr_pool_record(p, i);
			if (r->virt >> MTR_PAGE_SHIFT == page)
				goto found;
		}
	}
	b = c->cur;
	if (!b || b->data->records == MTR_BLOCK_RECORDS) {
		b = mtr_chunk_block(c, p, label);
		if (!b)
			return MTR_DROPPED;
	}
	i = b->data->records;
	r = &b->data->record[i];
	r->virt = a->virt;
	r->phys = a->phys;
	r->ip = a->ip;
	r->cpus = a->cpu < 64 ? 1ull << a->cpu : 0;
	r->reads = !a->write;
	r->writes = a->write;
	r->chain = 0;
	r->flags = a->flags;
	r->node = -1;
	if (head) {
		r->chain = *head;
		*head = b->first + i;
	}
	b->data->records = i + 1;
	c->filled++;
	if (a->cpu >= 64)
		mtr_record_cpu(r, a->cpu);
	return MTR_NEW;
found:
	if (a->phys)
		r->phys = a->phys;
	if (a->again)
		;
	else if (a->write)
		r->writes++;
	else
		r->reads++;
	r->flags |= a->flags;
	mtr_record_cpu(r, a->cpu);
	return MTR_MERGED;
}

/* Moves the blocks of intervals <= @label to @out, in order. */
void mtr_chunk_take(struct mtr_chunk *c, u64 label, struct mtr_fifo *out);
/* New heads, larger or smaller; gives back the old ones. The chunk is rehashed. */
u32 *mtr_chunk_rehash(struct mtr_chunk *c, u32 *heads, u32 bits);
/* How many bits a task with that many records per interval should have. */
u32 mtr_chunk_bits(u32 records);

/*
 * Set of (image, page) recorded in an interval, open addressing; clearing is a
 * new generation. Used by the monitor alone.
 */
struct mtr_set_entry {
	u64 key;			/* page number << 19 | image */
	u64 val;			/* generation << 45 | threads << 42 | frame + 1 << 2 | emitted << 1 | faulted */
};

struct mtr_set {
	struct mtr_set_entry *e;
	u32 bits, used;
	u32 gen;			/* never 0 */
};

#define MTR_SET_FAULTED 1ull		/* a fault of it was recorded */
#define MTR_SET_EMITTED 2ull		/* an inferred record of it was handed out */
#define MTR_SET_THREADS_SHIFT 42
#define MTR_SET_THREADS_MAX 7u

void mtr_set_init(struct mtr_set *s, struct mtr_set_entry *e, u32 bits);	/* e is zeroed, 1 << bits */
void mtr_set_clear(struct mtr_set *s);
#define MTR_GEN_BITS 19

static inline u64 mtr_set_key(u64 virt, u32 image)
{
	return virt >> MTR_PAGE_SHIFT << 19 | (image & 0x7ffff);
}

/* Where a key is, or would be. */
static inline struct mtr_set_entry *mtr_set_slot(struct mtr_set *s, u64 key)
{
	const u32 mask = (1u << s->bits) - 1;
	u32 i = mtr_hash_page(key, s->bits);

	while (s->e[i].val >> (64 - MTR_GEN_BITS) == s->gen && s->e[i].key != key)
		i = (i + 1) & mask;
	return &s->e[i];
}

/* NULL: not in the set. Inline: the sweep asks for each page that was touched. */
static inline struct mtr_set_entry *mtr_set_find(struct mtr_set *s, u64 virt, u32 image)
{
	struct mtr_set_entry *e = mtr_set_slot(s, mtr_set_key(virt, image));

	return e->val >> (64 - MTR_GEN_BITS) == s->gen ? e : NULL;
}

/* Finds or makes; NULL when it is full (3/4). */
static inline struct mtr_set_entry *mtr_set_add(struct mtr_set *s, u64 virt, u32 image)
{
	const u64 key = mtr_set_key(virt, image);
	struct mtr_set_entry *e = mtr_set_slot(s, key);

	if (e->val >> (64 - MTR_GEN_BITS) == s->gen)
		return e;
	if (s->used >= (1u << s->bits) / 4 * 3)
		return NULL;
	s->used++;
	e->key = key;
	e->val = (u64)s->gen << (64 - MTR_GEN_BITS);
	return e;
}
static inline u64 mtr_set_frame(const struct mtr_set_entry *e)	/* frame + 1, 0 = unknown */
{
	return (e->val >> 2) & ((1ull << 40) - 1);
}
static inline void mtr_set_note_frame(struct mtr_set_entry *e, u64 frame)
{
	const u64 mask = ((1ull << 40) - 1) << 2;

	e->val = (e->val & ~mask) | (((frame + 1) << 2) & mask);
}
static inline u32 mtr_set_threads(const struct mtr_set_entry *e)	/* that faulted on it, at most 7 */
{
	return e->val >> MTR_SET_THREADS_SHIFT & MTR_SET_THREADS_MAX;
}

/*
 * Puts the record of a fault into the set. False: no room. A task has one record of a page and an interval. Which frame
 * it has in the end is not known here: a copy on write may have changed it since, the sweep notes it.
 */
static inline bool mtr_set_take(struct mtr_set *s, const struct memtrace_record *r, u32 image)
{
	struct mtr_set_entry *e = mtr_set_add(s, r->virt, image);

	if (!e)
		return false;
	e->val |= MTR_SET_FAULTED;
	if (mtr_set_threads(e) < MTR_SET_THREADS_MAX)
		e->val += 1ull << MTR_SET_THREADS_SHIFT;
	return true;
}

/*
 * Puts the records of a block that are not yet in it (from block->in_set on)
 * into the set, as faulted. Returns how many did not fit.
 */
u32 mtr_set_take_block(struct mtr_set *s, struct mtr_block *b);
/*
 * Removes from a block of inferred records those whose page has a fault record
 * or an inferred one already. Returns the number of records that remain.
 */
u32 mtr_set_filter_block(struct mtr_set *s, struct mtr_block *b);

/*
 * How many threads used a page in the intervals before, so that subphases hide again
 * only pages where they may find another thread. A table without chains: a page whose
 * place another page has taken is a new one. Used by the monitor alone.
 */
struct mtr_past {
	u32 *e;				/* 1 << bits, zeroed: tag << 16 | thread << 8 | calm << 3 | usual */
	u32 bits;
	u32 turn;			/* of the subphases */
};

/*
 * Shall a page that is visible and was recorded in this interval stay visible until its end?
 * A new page is hidden in each subphase; a known one as long as fewer threads than usual have
 * been seen in this interval, and else in one of 16 subphases.
 */
bool mtr_past_spares(const struct mtr_past *p, const struct mtr_set_entry *e);
/* At the end of an interval: learns from a block. The set is that of the interval; its numbers of threads become 0. */
void mtr_past_take_block(struct mtr_past *p, struct mtr_set *s, const struct mtr_block *b);

/*
 * How long the next interval is. The cost of an interval is what the injected
 * faults and the monitor took, its load that cost divided by the CPU time of
 * the program without it. Above the limit the interval grows by half at once;
 * after four intervals in a row below half of the limit it shrinks by a tenth,
 * never below the target. A cost below one percent of the interval is never
 * too much, whatever little the program did; an interval in which it did
 * nothing tells nothing.
 */
struct mtr_rule {
	u64 target_ns, max_ns, now_ns;
	u32 max_load_ppm, fault_cost_ns;
	u32 calm;
};

enum mtr_stretch { MTR_SAME, MTR_LONGER, MTR_SHORTER };

enum mtr_stretch mtr_rule_next(struct mtr_rule *r, u64 faults, u64 monitor_ns, u64 program_ns);

#endif
