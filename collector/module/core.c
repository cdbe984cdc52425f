// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
#include "core.h"

/* ---- pool */

void mtr_pool_init(struct mtr_pool *p, struct mtr_block *blocks, void *data, u32 count)
{
	u32 i;

	mtr_spin_init(&p->lock);
	p->blocks = blocks;
	p->free = NULL;
	for (i = count; i--;) {
		blocks[i].data = (void *)((char *)data + (size_t)i * MTR_BLOCK_BYTES);
		blocks[i].first = i * MTR_BLOCK_NUMBERS + 1;
		blocks[i].next = p->free;
		p->free = &blocks[i];
	}
	p->count = p->nfree = p->low = count;
}

struct mtr_block *mtr_pool_get(struct mtr_pool *p)
{
	struct mtr_block *b;

	mtr_spin_lock(&p->lock);
	b = p->free;
	if (b) {
		p->free = b->next;
		p->nfree--;
		if (p->nfree < p->low)
			p->low = p->nfree;
		b->next = NULL;
	}
	mtr_spin_unlock(&p->lock);
	return b;
}

void mtr_pool_put(struct mtr_pool *p, struct mtr_block *b)
{
	mtr_spin_lock(&p->lock);
	b->next = p->free;
	p->free = b;
	p->nfree++;
	mtr_spin_unlock(&p->lock);
}

/* ---- chunk */

void mtr_chunk_begin(struct mtr_chunk *c, u64 label)
{
	c->label = label;
	c->cur = NULL;
	if (c->filled && c->heads)
		memset(c->heads, 0, sizeof(*c->heads) << c->bits);
	c->filled = 0;
}

/* Puts a CPU into a list of at most four. Any context. */
static bool list_cpu(u64 *list, u32 cpu)
{
	u32 shift;

	for (shift = 0; cpu < 0xffff && shift < 64; shift += 16) {
		u32 old = *list >> shift & 0xffff;

		if (!old)
			*list |= (u64)(cpu + 1) << shift;
		if (!old || old == cpu + 1)
			return true;
	}
	return false;
}

/*
 * A mask as long as all CPUs of the record are below 64, as they are on most machines; else a list; and
 * when that has no room, nothing. Lock: that of the chunk.
 */
void mtr_record_cpu(struct memtrace_record *r, u32 cpu)
{
	u64 list = 0;
	bool fits = true;
	u32 i;

	if (r->flags & MEMTRACE_RECORD_CPUS_MANY)
		return;
	if (r->flags & MEMTRACE_RECORD_CPU_LIST) {
		list = r->cpus;
	} else if (cpu < 64) {
		r->cpus |= 1ull << cpu;
		return;
	} else {
		for (i = 0; i < 64; i++)
			if (r->cpus >> i & 1)
				fits = fits && list_cpu(&list, i);
	}
	fits = fits && list_cpu(&list, cpu);
	r->cpus = fits ? list : 0;
	r->flags &= (u16)~MEMTRACE_RECORD_CPU_LIST;
	r->flags |= fits ? MEMTRACE_RECORD_CPU_LIST : MEMTRACE_RECORD_CPUS_MANY;
}

struct mtr_block *mtr_chunk_block(struct mtr_chunk *c, struct mtr_pool *p, u64 label)
{
	struct mtr_block *b = mtr_pool_get(p);

	if (!b)
		return NULL;
	memset(b->data, 0, sizeof(*b->data));
	b->data->head.kind = MEMTRACE_BLOCK;
	b->data->image = c->image;
	b->data->tid = c->tid;
	b->data->pid = c->pid;
	b->data->interval = label;
	b->in_set = 0;
	mtr_fifo_put(&c->open, b);
	c->cur = b;
	return b;
}

enum mtr_added mtr_chunk_add(struct mtr_chunk *c, struct mtr_pool *p, u64 label, const struct mtr_access *a)
{
	return mtr_chunk_add_here(c, p, label, a);
}

void mtr_chunk_take(struct mtr_chunk *c, u64 label, struct mtr_fifo *out)
{
	while (c->open.head && c->open.head->data->interval <= label) {
		struct mtr_block *b = mtr_fifo_get(&c->open);

		if (b == c->cur)
			c->cur = NULL;
		mtr_fifo_put(out, b);
	}
	if (c->label <= label && c->filled)
		mtr_chunk_begin(c, c->label);
}

u32 *mtr_chunk_rehash(struct mtr_chunk *c, u32 *heads, u32 bits)
{
	u32 *old = c->heads;
	struct mtr_block *b;
	u32 i, h;

	memset(heads, 0, sizeof(*heads) << bits);
	c->heads = heads;
	c->bits = bits;
	for (b = c->open.head; b; b = b->next) {
		if (b->data->interval != c->label)
			continue;
		for (i = 0; i < b->data->records; i++) {
			struct memtrace_record *r = &b->data->record[i];

			h = mtr_hash_page(r->virt >> MTR_PAGE_SHIFT, bits);
			r->chain = heads[h];
			heads[h] = b->first + i;
		}
	}
	return old;
}

u32 mtr_chunk_bits(u32 records)
{
	u32 bits = 8;

	while (bits < 17 && 1u << bits < records)
		bits++;
	return bits;
}

/* ---- set */

void mtr_set_init(struct mtr_set *s, struct mtr_set_entry *e, u32 bits)
{
	s->e = e;
	s->bits = bits;
	s->used = 0;
	s->gen = 1;
}

void mtr_set_clear(struct mtr_set *s)
{
	s->used = 0;
	if (++s->gen == 1u << MTR_GEN_BITS) {
		memset(s->e, 0, sizeof(*s->e) << s->bits);
		s->gen = 1;
	}
}

u32 mtr_set_take_block(struct mtr_set *s, struct mtr_block *b)
{
	const u32 n = b->data->records;
	u32 full = 0;

	for (; b->in_set < n; b->in_set++)
		full += !mtr_set_take(s, &b->data->record[b->in_set], b->data->image);
	return full;
}

u32 mtr_set_filter_block(struct mtr_set *s, struct mtr_block *b)
{
	u32 i, n = 0;

	for (i = 0; i < b->data->records; i++) {
		const struct memtrace_record *r = &b->data->record[i];
		struct mtr_set_entry *e = mtr_set_find(s, r->virt, b->data->image);

		if (e && (e->val & (MTR_SET_FAULTED | MTR_SET_EMITTED)))
			continue;
		if (!e)
			e = mtr_set_add(s, r->virt, b->data->image);
		if (e)
			e->val |= MTR_SET_EMITTED;
		if (n != i)
			b->data->record[n] = *r;
		n++;
	}
	b->data->records = n;
	return n;
}

/* ---- past */

#define PAST_SPARE 16u			/* looks again in one of so many subphases */
#define PAST_CALM 8u			/* intervals with fewer threads until one is usual less */

static u64 past_hash(u64 key)
{
	return key * 0x9e3779b97f4a7c15ull;
}

static u32 past_tag(u64 hash)		/* never 0 */
{
	return (u32)(hash & 0xffff) | 1;
}

bool mtr_past_spares(const struct mtr_past *p, const struct mtr_set_entry *e)
{
	const u64 hash = past_hash(e->key);
	const u32 v = p->e[hash >> (64 - p->bits)];

	if (v >> 16 != past_tag(hash))
		return false;
	return mtr_set_threads(e) >= (v & 7) && ((u32)(hash >> 20) + p->turn) % PAST_SPARE;
}

void mtr_past_take_block(struct mtr_past *p, struct mtr_set *s, const struct mtr_block *b)
{
	const u32 who = b->data->tid & 0xff;
	u32 i;

	for (i = 0; i < b->data->records; i++) {
		struct mtr_set_entry *e = mtr_set_find(s, b->data->record[i].virt, b->data->image);
		u32 threads, usual, calm, *v;
		u64 hash;

		threads = e ? mtr_set_threads(e) : 0;
		if (!threads)		/* not in the set, or another record of the page was first */
			continue;
		e->val &= ~((u64)MTR_SET_THREADS_MAX << MTR_SET_THREADS_SHIFT);
		hash = past_hash(e->key);
		v = &p->e[hash >> (64 - p->bits)];
		usual = *v & 7;
		calm = *v >> 3 & 31;
		if (*v >> 16 != past_tag(hash)) {
			usual = threads;
			calm = 0;
		} else if (threads >= usual) {
			/* always one, but not always the same one */
			usual = threads == 1 && (*v >> 8 & 0xff) != who ? 2 : threads;
			calm = 0;
		} else if (++calm == PAST_CALM) {
			usual--;
			calm = 0;
		}
		*v = past_tag(hash) << 16 | who << 8 | calm << 3 | usual;
	}
}

/* ---- rule */

enum mtr_stretch mtr_rule_next(struct mtr_rule *r, u64 faults, u64 monitor_ns, u64 program_ns)
{
	u64 cost = faults * r->fault_cost_ns, own, limit;
	const u64 before = r->now_ns;

	if (!r->max_load_ppm)
		return MTR_SAME;
	/* the faults are in the program's CPU time, the monitor is not */
	own = program_ns > cost ? program_ns - cost : 0;
	cost += monitor_ns;
	if (!program_ns && !faults)
		return MTR_SAME;
	/* program_ns of 100 s on 1000 CPUs times a million fits into 64 bits */
	limit = own / 1000 * r->max_load_ppm / 1000;
	if (limit < r->now_ns / 100)
		limit = r->now_ns / 100;
	if (cost > limit) {
		r->calm = 0;
		r->now_ns += r->now_ns / 2;
		if (r->now_ns > r->max_ns)
			r->now_ns = r->max_ns;
	} else if (cost < limit / 2) {
		if (++r->calm < 4)
			return MTR_SAME;
		r->calm = 0;
		r->now_ns -= r->now_ns / 10;
		if (r->now_ns < r->target_ns)
			r->now_ns = r->target_ns;
	} else {
		r->calm = 0;
	}
	return r->now_ns > before ? MTR_LONGER : r->now_ns < before ? MTR_SHORTER : MTR_SAME;
}
