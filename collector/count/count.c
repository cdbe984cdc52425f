// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later
#include "count/count.h"

#include <string.h>

#define PAGE 4096u
#define FIRST_BITS 8			/* entries of a new table: one page */
#define LEAF_MASK (MT_COUNT_LEAF_PAGES - 1)
#define THREAD_CLASS 3			/* 8 pages */
#define ARENA_FIRST (4ul << 20)
#define ARENA_MAX (1ul << 30)

_Static_assert(sizeof(struct mt_count_thread) <= PAGE << THREAD_CLASS, "a thread fits into its block");
_Static_assert((offsetof(struct mt_count_table, entry) == 16 && sizeof(struct mt_count_entry) == 16 && 16 << FIRST_BITS == PAGE),
	       "a new table is a page");
_Static_assert(sizeof(((struct mt_count_leaf *)0)->n[0]) == 16, "mt_count_hit() multiplies by 16");

void mt_count_init(struct mt_count *c, const struct mt_count_ops *ops)
{
	memset(c, 0, sizeof(*c));
	c->ops = *ops;
	c->start_ns = ops->now_ns();
	c->arena_next = ARENA_FIRST;
}

/* ---- memory. All under the lock. */

/* Whole pages, zeroed. */
static void *take(struct mt_count *c, size_t bytes)
{
	void *p;

	if (bytes > c->arena_left) {
		size_t size = bytes > c->arena_next ? bytes : c->arena_next;

		p = c->ops.map(size);
		if (!p && size > bytes)		/* limits of memory: what is needed now */
			p = c->ops.map(size = bytes);
		if (!p)
			return NULL;
		c->arena = p;
		c->arena_left = size;
		if (c->arena_next < ARENA_MAX)
			c->arena_next *= 2;
	}
	p = c->arena;
	c->arena += bytes;
	c->arena_left -= bytes;
	return p;
}

void *mt_count_take_block(struct mt_count *c, unsigned int class)
{
	void **p = c->free_block[class];

	if (!p)
		return take(c, (size_t)PAGE << class);
	c->free_block[class] = *p;
	*p = NULL;
	return p;
}

void mt_count_free_block(struct mt_count *c, void *p, unsigned int class)
{
	c->ops.zero(p, (size_t)PAGE << class);
	*(void **)p = c->free_block[class];
	c->free_block[class] = p;
}

static struct mt_count_leaf *take_leaf(struct mt_count *c)
{
	struct mt_count_leaf *l = c->free_leaf;

	if (l) {
		c->free_leaf = (struct mt_count_leaf *)l->told[0][0];
		l->told[0][0] = 0;
	} else {
		l = take(c, sizeof(*l));
		if (!l)
			return NULL;
	}
	memset(l->n, 0xff, sizeof(l->n));
	return l;
}

static void free_leaf(struct mt_count *c, struct mt_count_leaf *l)
{
	c->ops.zero(l, sizeof(*l));
	l->told[0][0] = (uint64_t)c->free_leaf;	/* a link while it is free */
	c->free_leaf = l;
}

static uint64_t enter(struct mt_count *c)
{
	return c->ops.enter ? c->ops.enter() : 0;
}

static void leave(struct mt_count *c, uint64_t token)
{
	if (c->ops.leave)
		c->ops.leave(token);
}

/* ---- the table of regions of a thread */

static size_t place(uint64_t region, unsigned int bits)
{
	return region * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

static struct mt_count_table *take_table(struct mt_count *c, unsigned int bits)
{
	struct mt_count_table *t = mt_count_take_block(c, bits - FIRST_BITS);

	if (t)
		t->bits = bits;
	return t;
}

static void free_table(struct mt_count *c, struct mt_count_table *t)
{
	mt_count_free_block(c, t, (unsigned int)t->bits - FIRST_BITS);
}

/* The entry of a region, or the free one where it belongs. */
static struct mt_count_entry *look(struct mt_count_table *t, uint64_t region)
{
	const size_t mask = ((size_t)1 << t->bits) - 1;

	for (size_t i = place(region, (unsigned int)t->bits); ; i = (i + 1) & mask)
		if (i && (!t->entry[i - 1].region_1 || t->entry[i - 1].region_1 == region + 1))
			return &t->entry[i - 1];
}

/*
 * The leaf of a region, NULL: there is none. On the owner. A signal handler may replace the
 * table meanwhile, and the collector may free it: then what was read may be of anybody.
 */
static struct mt_count_leaf *find(const struct mt_count_thread *t, uint64_t region)
{
	struct mt_count_leaf *leaf;
	struct mt_count_table *table;

	do {
		const struct mt_count_entry *e;

		table = __atomic_load_n(&t->table, __ATOMIC_ACQUIRE);
		e = look(table, region);
		leaf = e->region_1 ? e->leaf : NULL;
		asm volatile("" : : : "memory");
	} while (__atomic_load_n(&t->table, __ATOMIC_ACQUIRE) != table);
	return leaf;
}

/* There is room. The collector may read at the same time: the leaf stands there before its region. */
static void put(struct mt_count_table *t, uint64_t region, struct mt_count_leaf *leaf)
{
	struct mt_count_entry *e = look(t, region);

	e->leaf = leaf;
	__atomic_store_n(&e->region_1, region + 1, __ATOMIC_RELEASE);
}

#define N_ENTRIES(t) (((size_t)1 << (t)->bits) - 1)

/* Twice as large. False: no memory. Owner, under the lock. */
static bool grow(struct mt_count_thread *t)
{
	struct mt_count_table *old = t->table, *new = take_table(t->count, (unsigned int)old->bits + 1);

	if (!new)
		return false;
	for (size_t i = 0; i < N_ENTRIES(old); i++)
		if (old->entry[i].region_1)
			put(new, old->entry[i].region_1 - 1, old->entry[i].leaf);
	/* the collector may read the old one now */
	old->older = t->retired;
	t->retired = old;
	__atomic_store_n(&t->table, new, __ATOMIC_RELEASE);
	return true;
}

/* A new region. No signal handler runs. */
static struct mt_count_leaf *insert(struct mt_count_thread *t, uint64_t region)
{
	struct mt_count *c = t->count;
	struct mt_count_leaf *leaf = NULL;

	mt_lock(&c->lock);
	if (t->regions * 4 < N_ENTRIES(t->table) * 3 || grow(t))
		leaf = take_leaf(c);
	if (leaf) {
		put(t->table, region, leaf);
		t->regions++;
	}
	mt_unlock(&c->lock);
	return leaf;
}

/* ---- threads */

struct mt_count_thread *mt_count_thread_new(struct mt_count *c, int tid)
{
	struct mt_count_thread *t;
	uint64_t token = enter(c);

	mt_lock(&c->lock);
	t = mt_count_take_block(c, THREAD_CLASS);
	if (t) {
		t->table = take_table(c, FIRST_BITS);
		if (!t->table) {
			mt_count_free_block(c, t, THREAD_CLASS);
			t = NULL;
		}
	}
	if (t) {
		t->slot[0].region = ~0ull;
		t->count = c;
		t->tid = tid;
		t->next = c->threads;
		__atomic_store_n(&c->threads, t, __ATOMIC_RELEASE);
	}
	mt_unlock(&c->lock);
	leave(c, token);
	return t;
}

/* Replaced tables; the collector reads none of them now. Under the lock. */
static void free_retired(struct mt_count_thread *t)
{
	struct mt_count_table *r, *older;

	for (r = t->retired; r; r = older) {
		older = r->older;
		free_table(t->count, r);
	}
	t->retired = NULL;
}

/* Its leaves and tables. Under the lock. */
static void free_counters(struct mt_count_thread *t)
{
	free_retired(t);
	for (size_t i = 0; i < N_ENTRIES(t->table); i++)
		if (t->table->entry[i].region_1)
			free_leaf(t->count, t->table->entry[i].leaf);
	free_table(t->count, t->table);
	t->table = NULL;
	t->regions = 0;
}

static void forget(struct mt_count *c, struct mt_count_thread *t)
{
	struct mt_count_thread **link = &c->threads;

	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	free_counters(t);
	mt_count_free_block(c, t, THREAD_CLASS);
}

/* ---- the owner's slow path */

static void note_first(struct mt_count_thread *t, struct mt_count_leaf *leaf, uint64_t address, unsigned int write)
{
	const uint64_t ns = t->count->ops.now_ns() - t->count->start_ns;

	__atomic_store_n(&leaf->first[address >> MT_COUNT_PAGE_SHIFT & LEAF_MASK][write],
			 ns << MT_COUNT_PAGE_SHIFT | (address & (PAGE - 1)), __ATOMIC_RELEASE);
}

/* Both words in one instruction: a signal handler never sees half of it. */
static void fill(struct mt_count_slot *s, uint64_t region, const struct mt_count_leaf *leaf)
{
	const mt_count_pair both = {
		region, (uint64_t)leaf - (region << (MT_COUNT_REGION_SHIFT - MT_COUNT_PAGE_SHIFT)) * 16,
	};

	mt_count_store_pair((mt_count_pair *)s, both);
}

void mt_count_slow(struct mt_count_thread *t, uint64_t address, unsigned int write, uint64_t n, bool first)
{
	const uint64_t region = address >> MT_COUNT_REGION_SHIFT;
	struct mt_count *c = t->count;
	struct mt_count_leaf *leaf;
	bool is_first;

	if (first) {
		leaf = find(t, region);
		if (leaf)
			note_first(t, leaf, address, write);
		return;
	}
	if (address >= MT_COUNT_ADDRESS_END)	/* the program's own fault will tell */
		return;
	leaf = find(t, region);
	if (!leaf) {
		uint64_t token = enter(c);

		leaf = find(t, region);	/* by a handler, just now? */
		if (!leaf)
			leaf = insert(t, region);
		leave(c, token);
	}
	if (!leaf) {
		__atomic_fetch_add(&c->lost, n, __ATOMIC_RELAXED);
		return;
	}
	fill(&t->slot[region & (MT_COUNT_SLOTS - 1)], region, leaf);
	is_first = mt_count_add_carry(&leaf->n[address >> MT_COUNT_PAGE_SHIFT & LEAF_MASK][write], n);
	if (is_first)
		note_first(t, leaf, address, write);
}

void mt_count_range(struct mt_count_thread *t, uint64_t address, uint64_t bytes, unsigned int write)
{
	while (bytes) {
		uint64_t here = PAGE - (address & (PAGE - 1));

		if (here > bytes)
			here = bytes;
		mt_count_add(t, address, write, (here + 15) / 16);
		address += here;
		bytes -= here;
	}
}

/* ---- the collector */

static uint64_t collect_leaf(struct mt_count *c, int tid, uint64_t region, struct mt_count_leaf *l,
			     void (*tell)(void *arg, const struct mt_count_row *r), void *arg)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MT_COUNT_LEAF_PAGES; i++) {
		struct mt_count_row r;
		uint64_t n[2], add;

		n[0] = __atomic_load_n(&l->n[i][0], __ATOMIC_ACQUIRE) + 1;
		n[1] = __atomic_load_n(&l->n[i][1], __ATOMIC_ACQUIRE) + 1;
		add = n[0] - l->told[i][0] + (n[1] - l->told[i][1]);
		if (!add)
			continue;
		sum += add;
		if (!tell)
			continue;
		r.tid = tid;
		r.page = (region << (MT_COUNT_REGION_SHIFT - MT_COUNT_PAGE_SHIFT)) + i;
		for (int w = 0; w < 2; w++) {
			const uint64_t first = __atomic_load_n(&l->first[i][w], __ATOMIC_ACQUIRE);

			r.n[w] = n[w] - l->told[i][w];
			r.at[w] = first ? (int)(first & (PAGE - 1)) : -1;
			r.first_ns[w] = 0;
			/* counted, but not yet noted: the thread is between the two */
			if (r.n[w] && !l->told[i][w])
				r.first_ns[w] = first ? c->start_ns + (first >> MT_COUNT_PAGE_SHIFT) : c->ops.now_ns();
			l->told[i][w] = n[w];
		}
		tell(arg, &r);
	}
	return sum;
}

static uint64_t collect_thread(struct mt_count *c, const struct mt_count_thread *t,
			       void (*tell)(void *arg, const struct mt_count_row *r), void *arg)
{
	const struct mt_count_table *table = __atomic_load_n(&t->table, __ATOMIC_ACQUIRE);
	uint64_t sum = 0;

	for (size_t i = 0; i < N_ENTRIES(table); i++) {
		const uint64_t region_1 = __atomic_load_n(&table->entry[i].region_1, __ATOMIC_ACQUIRE);

		if (region_1)
			sum += collect_leaf(c, t->tid, region_1 - 1, table->entry[i].leaf, tell, arg);
	}
	return sum;
}

uint64_t mt_count_collect(struct mt_count *c, bool (*alive)(int tid), void (*tell)(void *arg, const struct mt_count_row *r),
			  void *arg)
{
	struct mt_count_thread *t, *next;
	uint64_t sum = 0;

	for (t = __atomic_load_n(&c->threads, __ATOMIC_ACQUIRE); t; t = next) {
		/* asked first: what it did before its end is in the counters now */
		const bool dead = alive && !alive(t->tid);

		next = t->next;
		sum += collect_thread(c, t, tell, arg);
		mt_lock(&c->lock);
		if (dead)
			forget(c, t);
		else if (t->retired)
			free_retired(t);
		mt_unlock(&c->lock);
	}
	return sum;
}

uint64_t mt_count_pending(const struct mt_count *c)
{
	uint64_t sum = 0;

	for (const struct mt_count_thread *t = __atomic_load_n(&c->threads, __ATOMIC_ACQUIRE); t; t = t->next)
		sum += collect_thread((struct mt_count *)c, t, NULL, NULL);
	return sum;
}

/* ---- fork */

void mt_count_fork_prepare(struct mt_count *c)
{
	mt_lock(&c->lock);
}

void mt_count_fork_parent(struct mt_count *c)
{
	mt_unlock(&c->lock);
}

void mt_count_fork_child(struct mt_count *c, struct mt_count_thread *self, int tid)
{
	struct mt_count_thread *t, *next;

	for (t = c->threads; t; t = next) {
		next = t->next;
		if (t == self)
			continue;
		free_counters(t);
		mt_count_free_block(c, t, THREAD_CLASS);
	}
	c->threads = self;
	c->lost = 0;
	if (self) {
		free_counters(self);
		memset(self->slot, 0, sizeof(self->slot));
		self->slot[0].region = ~0ull;
		self->table = take_table(c, FIRST_BITS);	/* there is one: it was just freed */
		self->next = NULL;
		self->tid = tid;
	}
	c->lock.word = 0;
}
