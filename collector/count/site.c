// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later
#include "count/site.h"

#include <string.h>

#define UNIT 16u			/* bytes of one access at most */
#define FIRST_BITS 8u			/* entries of a new table: one page */
#define SITES_CLASS 3u			/* 8 pages of records at a time */
#define PAGE 4096u

_Static_assert(sizeof(struct mt_site_entry) == 16 && offsetof(struct mt_site_table, entry) == 16 && 16 << FIRST_BITS == PAGE,
	       "a new table is a page");

void mt_sites_init(struct mt_sites *s, struct mt_count *c)
{
	memset(s, 0, sizeof(*s));
	s->count = c;
}

/* ---- memory, that of the counters of pages. All under their lock. */

static struct mt_site_table *take_table(struct mt_sites *s, unsigned int bits)
{
	struct mt_site_table *t = mt_count_take_block(s->count, bits - FIRST_BITS);

	if (t)
		t->bits = bits;
	return t;
}

static void free_table(struct mt_sites *s, struct mt_site_table *t)
{
	mt_count_free_block(s->count, t, (unsigned int)t->bits - FIRST_BITS);
}

static struct mt_site *take_site(struct mt_sites *s)
{
	struct mt_site *site = s->free_site;

	if (!site) {
		site = mt_count_take_block(s->count, SITES_CLASS);
		for (size_t i = 0; site && i < (PAGE << SITES_CLASS) / sizeof(*site); i++) {
			site[i].key = (uint64_t)s->free_site;	/* a link while it is free */
			s->free_site = &site[i];
		}
		site = s->free_site;
	}
	if (site)
		s->free_site = (struct mt_site *)site->key;
	return site;
}

static void free_site(struct mt_sites *s, struct mt_site *site)
{
	site->key = (uint64_t)s->free_site;
	s->free_site = site;
}

static void put(struct mt_site_table *t, uint64_t key, struct mt_site *site)
{
	const size_t mask = ((size_t)1 << t->bits) - 1;
	size_t i = key * 0x9e3779b97f4a7c15ull >> (64 - t->bits);

	while (!i || t->entry[i - 1].key)
		i = (i + 1) & mask;
	/* the collector may read at the same time: the record stands there before its key */
	t->entry[i - 1].site = site;
	__atomic_store_n(&t->entry[i - 1].key, key, __ATOMIC_RELEASE);
}

#define N_ENTRIES(t) (((size_t)1 << (t)->bits) - 1)

/* Twice as large. False: no memory. Owner, under the lock. */
static bool grow(struct mt_site_thread *t)
{
	struct mt_site_table *old = t->table, *new = take_table(t->sites, (unsigned int)old->bits + 1);

	if (!new)
		return false;
	for (size_t i = 0; i < N_ENTRIES(old); i++)
		if (old->entry[i].key)
			put(new, old->entry[i].key, old->entry[i].site);
	old->older = t->retired;
	t->retired = old;
	__atomic_store_n(&t->table, new, __ATOMIC_RELEASE);
	return true;
}

/* With the tables that were replaced: until now its owner may have been in one, with a signal handler on top. */
static void free_sites(struct mt_site_thread *t)
{
	struct mt_site_table *r, *older;

	for (r = t->retired; r; r = older) {
		older = r->older;
		free_table(t->sites, r);
	}
	t->retired = NULL;
	for (size_t i = 0; i < N_ENTRIES(t->table); i++)
		if (t->table->entry[i].key)
			free_site(t->sites, t->table->entry[i].site);
	free_table(t->sites, t->table);
	t->table = NULL;
	t->n = 0;
}

static uint64_t enter(const struct mt_count *c)
{
	return c->ops.enter ? c->ops.enter() : 0;
}

static void leave(const struct mt_count *c, uint64_t token)
{
	if (c->ops.leave)
		c->ops.leave(token);
}

/* ---- the owner */

struct mt_site_thread *mt_site_thread_new(struct mt_sites *s, struct mt_count_thread *pages, int tid)
{
	const uint64_t token = enter(s->count);
	struct mt_site_thread *t;

	mt_lock(&s->count->lock);
	t = mt_count_take_block(s->count, 0);
	if (t) {
		t->sites = s;
		t->pages = pages;
		t->tid = tid;
		t->table = take_table(s, FIRST_BITS);
		if (!t->table) {
			mt_count_free_block(s->count, t, 0);
			t = NULL;
		}
	}
	if (t) {
		t->next = s->threads;
		__atomic_store_n(&s->threads, t, __ATOMIC_RELEASE);
	}
	mt_unlock(&s->count->lock);
	leave(s->count, token);
	return t;
}

static void begin(struct mt_site *site, uint64_t id, uint64_t key, uint64_t address, uint32_t bytes)
{
	memset(site, 0, sizeof(*site));
	site->key = key;
	site->id = id;
	site->first = site->last = address;
	site->bytes = bytes;
	site->begins = 1;
	site->now = MT_SITE_ELEMENT;
	for (unsigned int i = 0; i < MT_SITE_CLASSES; i++)
		site->stride[i].value = MT_SITE_NO_STRIDE;
	site->stride[MT_SITE_SAME].value = 0;
	site->stride[MT_SITE_ELEMENT].value = bytes;
	site->stride[2 * MT_SITE_SAME - MT_SITE_ELEMENT].value = -(int64_t)bytes;
}

void mt_site_slow(struct mt_site_thread *t, uint64_t key, uint64_t address, uint32_t bytes)
{
	struct mt_sites *s = t->sites;
	const uint64_t token = enter(s->count);
	struct mt_site *site = mt_site_find(t, key);	/* by a handler, just now? */

	if (site) {
		leave(s->count, token);
		mt_site_add(t, key, address, bytes);
		return;
	}
	mt_lock(&s->count->lock);
	if (t->n * 4 < N_ENTRIES(t->table) * 3 || grow(t))
		site = take_site(s);
	if (site) {
		begin(site, s->next_id++, key, address, bytes);
		put(t->table, key, site);
		t->n++;
	}
	mt_unlock(&s->count->lock);
	leave(s->count, token);
	if (!site)
		__atomic_fetch_add(&s->lost, 1, __ATOMIC_RELAXED);
}

static unsigned int class_of(uint64_t distance, uint32_t bytes)
{
	return !distance ? MT_SITE_SAME : distance == bytes ? MT_SITE_ELEMENT : distance <= 64 ? MT_SITE_LINE :
	       distance <= PAGE ? MT_SITE_PAGE : distance <= 2u << 20 ? MT_SITE_NEAR : MT_SITE_FAR;
}

/* A stride that is not the one before. */
void mt_site_turn(struct mt_site *s, int64_t stride)
{
	const unsigned int up = class_of(stride < 0 ? -(uint64_t)stride : (uint64_t)stride, s->bytes);
	const unsigned int class = stride < 0 ? 2 * MT_SITE_SAME - up : up;
	struct mt_site_stride *c = &s->stride[class];
	int64_t none = MT_SITE_NO_STRIDE;

	s->now = class;
	/* a signal handler may be the first */
	if (c->value == none)
		__atomic_compare_exchange_n(&c->value, &none, stride, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	mt_count_add_carry(c->value == stride ? &c->same : &c->others, 1);
}

void mt_site_range(struct mt_site_thread *t, uint64_t key, uint64_t address, uint64_t bytes)
{
	uint64_t units = 0, at = address, left = bytes;
	struct mt_site *s;

	if (!bytes)
		return;
	while (left) {
		uint64_t here = PAGE - (at & (PAGE - 1));

		if (here > left)
			here = left;
		units += (here + UNIT - 1) / UNIT;
		at += here;
		left -= here;
	}
	mt_site_add(t, key, address, UNIT);
	s = mt_site_find(t, key);
	if (!s) {
		__atomic_fetch_add(&t->sites->lost, units - 1, __ATOMIC_RELAXED);
		return;
	}
	if (units > 1)
		mt_count_add_carry(&s->stride[MT_SITE_ELEMENT].same, units - 1);
	s->last = address + ((bytes - 1) & ~(uint64_t)(UNIT - 1));
}

/* ---- the collector */

static void tell_site(int tid, struct mt_site *s, void (*tell)(void *arg, const struct mt_site_row *r), void *arg)
{
	struct mt_site_row r = {
		.id = s->id, .ip = s->key & ((1ull << 56) - 1), .tid = tid, .write = s->key >> 62 & 1, .bytes = s->bytes,
		.n = s->begins, .first = s->first, .last = __atomic_load_n(&s->last, __ATOMIC_RELAXED),
	};

	for (unsigned int i = 0; i < MT_SITE_CLASSES; i++) {
		r.stride[i].value = __atomic_load_n(&s->stride[i].value, __ATOMIC_ACQUIRE);
		r.stride[i].same = __atomic_load_n(&s->stride[i].same, __ATOMIC_ACQUIRE);
		r.stride[i].others = __atomic_load_n(&s->stride[i].others, __ATOMIC_ACQUIRE);
		r.n += r.stride[i].same + r.stride[i].others;
	}
	if (r.n == s->told)
		return;
	s->told = r.n;
	tell(arg, &r);
}

void mt_sites_collect(struct mt_sites *s, bool all, bool (*alive)(int tid), void (*tell)(void *arg, const struct mt_site_row *r),
		      void *arg)
{
	struct mt_site_thread *t, *next, **link;

	for (t = __atomic_load_n(&s->threads, __ATOMIC_ACQUIRE); t; t = next) {
		const bool dead = alive && !alive(t->tid);
		const struct mt_site_table *table = __atomic_load_n(&t->table, __ATOMIC_ACQUIRE);

		next = t->next;
		for (size_t i = 0; (all || dead) && i < N_ENTRIES(table); i++)
			if (__atomic_load_n(&table->entry[i].key, __ATOMIC_ACQUIRE))
				tell_site(t->tid, table->entry[i].site, tell, arg);
		mt_lock(&s->count->lock);
		if (dead) {
			for (link = &s->threads; *link != t; link = &(*link)->next)
				;
			*link = next;
			free_sites(t);
			mt_count_free_block(s->count, t, 0);
		}
		mt_unlock(&s->count->lock);
	}
}

void mt_sites_fork_child(struct mt_sites *s, struct mt_site_thread *self, int tid)
{
	struct mt_site_thread *t, *next;

	for (t = s->threads; t; t = next) {
		next = t->next;
		free_sites(t);
		if (t != self)
			mt_count_free_block(s->count, t, 0);
	}
	s->threads = self;
	s->next_id = s->lost = 0;
	if (self) {
		self->table = take_table(s, FIRST_BITS);	/* there is one: it was just freed */
		self->next = NULL;
		self->tid = tid;
	}
}
