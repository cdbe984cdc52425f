// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: module/core.c
/* The core of the kernel module, the same source, in user space. */
#include <stdlib.h>

#include "harness.h"
#include "module/core.h"

static struct mtr_block *blocks;
static void *data;

static void make(struct mtr_pool *p, u32 n)
{
	blocks = calloc(n, sizeof(*blocks));
	/* C wants a size that is a multiple of the alignment; a block is smaller than a page */
	data = aligned_alloc(4096, ((size_t)n * MTR_BLOCK_BYTES + 4095) / 4096 * 4096);
	memset(data, 0xee, (size_t)n * MTR_BLOCK_BYTES);
	mtr_pool_init(p, blocks, data, n);
}

static void drop(struct mtr_chunk *c)
{
	free(c->heads);
	free(blocks);
	free(data);
}

static enum mtr_added add(struct mtr_chunk *c, struct mtr_pool *p, u64 label, u64 virt, bool write)
{
	const struct mtr_access a = { .virt = virt, .phys = virt + 0x100000000, .ip = 0x401000 + virt % 16, .cpu = (u32)(virt / 4096 % 70),
				      .flags = write ? 4 : 1, .write = write };

	return mtr_chunk_add(c, p, label, &a);
}

static u32 records_of(const struct mtr_fifo *f)
{
	u32 n = 0;

	for (const struct mtr_block *b = f->head; b; b = b->next)
		n += b->data->records;
	return n;
}

static void pools(void)
{
	struct mtr_pool p;
	struct mtr_chunk none = { 0 };
	struct mtr_block *b[3];

	make(&p, 3);
	for (int i = 0; i < 3; i++) {
		b[i] = mtr_pool_get(&p);
		CHECK(b[i] != NULL);
		CHECK_EQ((char *)b[i]->data - (char *)data, i * MTR_BLOCK_BYTES);
	}
	CHECK(mtr_pool_get(&p) == NULL);
	CHECK_EQ(p.nfree, 0);
	mtr_pool_put(&p, b[1]);
	CHECK_EQ(p.nfree, 1);
	CHECK_EQ(p.low, 0);
	CHECK(mtr_pool_get(&p) == b[1]);
	/* numbers of records: from 1, over the blocks */
	CHECK(mtr_pool_record(&p, 1) == &b[0]->data->record[0]);
	CHECK(mtr_pool_record(&p, MTR_BLOCK_RECORDS) == &b[0]->data->record[MTR_BLOCK_RECORDS - 1]);
	CHECK(mtr_pool_record(&p, MTR_BLOCK_NUMBERS + 1) == &b[1]->data->record[0]);
	CHECK(MTR_BLOCK_NUMBERS >= MTR_BLOCK_RECORDS);
	CHECK(b[2]->first == 2 * MTR_BLOCK_NUMBERS + 1);
	/* the last record ends inside of its block */
	CHECK((char *)&b[0]->data->record[MTR_BLOCK_RECORDS] <= (char *)b[0]->data + MTR_BLOCK_BYTES);
	drop(&none);
}

static const struct memtrace_record *on_cpus(const u32 *cpu, int n)
{
	static struct mtr_pool p;
	static struct mtr_chunk c;
	struct mtr_access a = { .virt = 0x1000 };

	make(&p, 1);
	memset(&c, 0, sizeof(c));
	c.bits = mtr_chunk_bits(1);
	c.heads = calloc(1u << c.bits, sizeof(u32));
	for (int i = 0; i < n; i++) {
		a.cpu = cpu[i];
		mtr_chunk_add(&c, &p, 1, &a);
	}
	CHECK_EQ(c.open.head->data->records, 1);
	CHECK_EQ(c.open.head->data->record[0].reads, n);
	free(c.heads);
	return &c.open.head->data->record[0];
}

/* CPUs of a record: a mask, a list, or not known. */
static void cpus(void)
{
	static const struct {
		u32 cpu[6];
		int n;
		u64 cpus;
		u16 flags;
	} cases[] = {
		{ { 0 }, 1, 1, 0 },
		{ { 63, 0, 63 }, 3, 1ull << 63 | 1, 0 },
		{ { 0, 1, 2, 3, 4, 63 }, 6, 1ull << 63 | 31, 0 },
		{ { 64 }, 1, 65, MEMTRACE_RECORD_CPU_LIST },
		{ { 64, 64, 0, 64 }, 4, 1 << 16 | 65, MEMTRACE_RECORD_CPU_LIST },
		{ { 3, 65534, 3 }, 3, 0xffffull << 16 | 4, MEMTRACE_RECORD_CPU_LIST },
		/* a mask becomes a list, lowest first */
		{ { 0, 63, 5, 100, 5 }, 5, 101ull << 48 | 64ull << 32 | 6ull << 16 | 1, MEMTRACE_RECORD_CPU_LIST },
		{ { 0, 1, 2, 3, 64 }, 5, 0, MEMTRACE_RECORD_CPUS_MANY },
		{ { 64, 65, 66, 67, 1, 64 }, 6, 0, MEMTRACE_RECORD_CPUS_MANY },
		{ { 64, 65, 66, 67, 64 }, 5, 68ull << 48 | 67ull << 32 | 66ull << 16 | 65, MEMTRACE_RECORD_CPU_LIST },
		{ { 65535 }, 1, 0, MEMTRACE_RECORD_CPUS_MANY },
		{ { 1, 70000, 1 }, 3, 0, MEMTRACE_RECORD_CPUS_MANY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct memtrace_record *r = on_cpus(cases[i].cpu, cases[i].n);

		CHECK_EQ(r->cpus, cases[i].cpus);
		CHECK_EQ(r->flags, cases[i].flags);
		free(blocks);
		free(data);
	}
}

static void chunks(void)
{
	struct mtr_pool p;
	struct mtr_chunk c = { .image = 3, .tid = 10, .pid = 9 };
	struct mtr_fifo out = { 0 };
	struct memtrace_record *r;
	struct mtr_block *b;

	make(&p, 8);
	c.bits = mtr_chunk_bits(1);
	CHECK_EQ(c.bits, 8);
	c.heads = calloc(1u << c.bits, sizeof(u32));
	CHECK_EQ(add(&c, &p, 5, 0x10010, false), MTR_NEW);
	CHECK_EQ(add(&c, &p, 5, 0x10ff8, true), MTR_MERGED);	/* the same page */
	CHECK_EQ(add(&c, &p, 5, 0x11000, true), MTR_NEW);
	b = c.open.head;
	CHECK_EQ(b->data->records, 2);
	CHECK_EQ(b->data->image, 3);
	CHECK_EQ(b->data->tid, 10);
	CHECK_EQ(b->data->pid, 9);
	CHECK_EQ(b->data->interval, 5);
	CHECK_EQ(b->data->closed_ns | b->data->pad | b->data->head.pad, 0);
	r = &b->data->record[0];
	CHECK_EQ(r->virt, 0x10010);		/* of the first access */
	CHECK_EQ(r->ip, 0x401000);
	CHECK_EQ(r->reads, 1);
	CHECK_EQ(r->writes, 1);
	CHECK_EQ(r->flags, 5);
	CHECK_EQ(r->cpus, 1ull << 16);
	CHECK_EQ(r->node, -1);
	CHECK_EQ(add(&c, &p, 5, 64 * 4096, true), MTR_NEW);
	CHECK_EQ(b->data->record[2].cpus, 65);		/* CPU 64: a list */
	CHECK_EQ(b->data->record[2].flags, 4 | MEMTRACE_RECORD_CPU_LIST);

	/* a new interval begins by itself, the old one waits to be taken */
	CHECK_EQ(add(&c, &p, 6, 0x10010, false), MTR_NEW);
	CHECK_EQ(c.filled, 1);
	mtr_chunk_take(&c, 5, &out);
	CHECK_EQ(records_of(&out), 3);
	CHECK(c.open.head && c.open.head == c.cur && c.cur->data->interval == 6);
	CHECK_EQ(add(&c, &p, 6, 0x10020, false), MTR_MERGED);
	mtr_chunk_take(&c, 6, &out);
	CHECK(!c.open.head && !c.cur && !c.filled);
	CHECK_EQ(records_of(&out), 4);
	/* the hash is empty again: another record of the same page in the same interval */
	CHECK_EQ(add(&c, &p, 6, 0x10020, false), MTR_NEW);
	mtr_chunk_take(&c, 9, &out);
	while ((b = mtr_fifo_get(&out)))
		mtr_pool_put(&p, b);
	CHECK_EQ(p.nfree, 8);

	/* full: counted by the caller, merging still works */
	for (u64 i = 0; i < 8 * MTR_BLOCK_RECORDS; i++)
		CHECK_EQ(add(&c, &p, 20, i << 12, false), MTR_NEW);
	CHECK_EQ(add(&c, &p, 20, 1ull << 40, false), MTR_DROPPED);
	CHECK_EQ(add(&c, &p, 20, 0x3000, true), MTR_MERGED);
	CHECK_EQ(p.nfree, 0);
	CHECK_EQ(p.low, 0);
	/* more heads: nothing is lost, nothing twice */
	{
		u32 *heads = malloc(sizeof(u32) << 12);

		free(mtr_chunk_rehash(&c, heads, 12));
	}
	for (u64 i = 0; i < 8 * MTR_BLOCK_RECORDS; i++)
		CHECK_EQ(add(&c, &p, 20, (i << 12) + 8, true), MTR_MERGED);
	mtr_chunk_take(&c, 20, &out);
	CHECK_EQ(records_of(&out), 8 * MTR_BLOCK_RECORDS);
	for (b = out.head; b; b = b->next)
		for (u32 i = 0; i < b->data->records; i++)
			CHECK_EQ(b->data->record[i].writes, b->data->record[i].virt == 0x3000 ? 2 : 1);
	drop(&c);

	CHECK_EQ(mtr_chunk_bits(0), 8);
	CHECK_EQ(mtr_chunk_bits(257), 9);
	CHECK_EQ(mtr_chunk_bits(~0u), 17);
}

/* Inferred records have no hash: the set keeps them apart. */
static void inferred(void)
{
	struct mtr_pool p;
	struct mtr_chunk task = { .image = 1, .tid = 5 }, anon = { .image = 1, .tid = -1 };
	struct mtr_fifo out = { 0 };
	struct mtr_set s;
	struct mtr_set_entry *e = calloc(1u << 8, sizeof(*e));
	struct mtr_block *b;

	make(&p, 4);
	task.bits = 8;
	task.heads = calloc(256, sizeof(u32));
	mtr_set_init(&s, e, 8);
	CHECK_EQ(add(&task, &p, 1, 0x1000, false), MTR_NEW);
	CHECK_EQ(add(&task, &p, 1, 0x2000, false), MTR_NEW);
	b = task.open.head;
	CHECK_EQ(mtr_set_take_block(&s, b), 0);
	CHECK_EQ(b->in_set, 2);
	CHECK_EQ(add(&task, &p, 1, 0x3000, false), MTR_NEW);
	CHECK_EQ(mtr_set_take_block(&s, b), 0);	/* only what is new */
	CHECK_EQ(s.used, 3);
	CHECK_EQ(mtr_set_frame(mtr_set_find(&s, 0x3fff, 1)), 0);	/* the sweep notes it */
	CHECK(!mtr_set_find(&s, 0x3000, 2));		/* another image */
	CHECK(!mtr_set_find(&s, 0x4000, 1));
	for (u64 page = 2; page < 7; page++)
		CHECK_EQ(add(&anon, &p, 1, page << 12, false), MTR_NEW);
	CHECK_EQ(add(&anon, &p, 1, 5 << 12, false), MTR_NEW);	/* twice, by two sweeps */
	mtr_chunk_take(&anon, 1, &out);
	CHECK_EQ(mtr_set_filter_block(&s, out.head), 3);	/* pages 4, 5, 6 */
	CHECK_EQ(out.head->data->record[0].virt, 0x4000);
	CHECK_EQ(out.head->data->record[1].virt, 0x5000);
	CHECK_EQ(out.head->data->record[2].virt, 0x6000);
	CHECK_EQ(mtr_set_filter_block(&s, out.head), 0);	/* handed out once */
	mtr_set_clear(&s);
	CHECK(!mtr_set_find(&s, 0x1000, 1));
	CHECK_EQ(s.used, 0);
	drop(&task);
	free(e);
}

static void sets(void)
{
	struct mtr_set s;
	struct mtr_set_entry *e = calloc(1u << 10, sizeof(*e)), *x;
	u64 seed = 1;
	u32 n = 0;

	mtr_set_init(&s, e, 10);
	for (int round = 0; round < 50; round++) {
		u64 page[700];

		for (int i = 0; i < 700; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			page[i] = (seed >> 20) << 12 & ((1ull << 57) - 1);
			x = mtr_set_add(&s, page[i], (u32)(i % 3));
			CHECK(x != NULL);
			if (x)
				mtr_set_note_frame(x, (u64)i);
		}
		for (int i = 0; i < 700; i++) {
			x = mtr_set_find(&s, page[i] + 123, (u32)(i % 3));
			CHECK(x && mtr_set_frame(x) == (u64)i + 1);
			CHECK(mtr_set_find(&s, page[i], 7) == NULL);
		}
		mtr_set_clear(&s);
	}
	/* three quarters, then it is full; what is in it is still found */
	while (mtr_set_add(&s, (u64)n << 12, 0))
		n++;
	CHECK_EQ(n, 768);
	CHECK(mtr_set_find(&s, 767ull << 12, 0) != NULL);
	CHECK(mtr_set_add(&s, 5ull << 12, 0) != NULL);
	/* flags and the frame do not disturb each other */
	x = mtr_set_find(&s, 0, 0);
	x->val |= MTR_SET_FAULTED | MTR_SET_EMITTED;
	mtr_set_note_frame(x, (1ull << 40) - 2);
	CHECK_EQ(mtr_set_frame(x), (1ull << 40) - 1);
	CHECK_EQ(x->val & 3, 3);
	CHECK(mtr_set_find(&s, 0, 0) == x);
	/* generations come round: nothing old turns up */
	s.gen = (1u << 19) - 1;
	mtr_set_clear(&s);
	CHECK_EQ(s.gen, 1);
	CHECK(!mtr_set_find(&s, 0, 0) && !mtr_set_find(&s, 767ull << 12, 0));
	free(e);
}

/* ---- which pages subphases hide again */

struct model {
	struct mtr_pool pool;
	struct mtr_set set;
	struct mtr_past past;
	struct mtr_chunk task[3];
	u64 label;
	struct mtr_fifo done;
};

static void model_begin(struct model *m)
{
	memset(m, 0, sizeof(*m));
	make(&m->pool, 64);
	mtr_set_init(&m->set, calloc(1024, sizeof(struct mtr_set_entry)), 10);
	m->past.e = calloc(1024, sizeof(u32));
	m->past.bits = 10;
	for (int t = 0; t < 3; t++) {
		m->task[t].tid = 1000 + t;
		m->task[t].bits = 8;
		m->task[t].heads = calloc(256, sizeof(u32));
	}
}

static void model_end(struct model *m)
{
	for (int t = 0; t < 3; t++)
		free(m->task[t].heads);
	free(m->set.e);
	free(m->past.e);
	free(blocks);
	free(data);
}

/* A thread faults on a page, the monitor looks at what there is: a subphase. True: the page stays visible. */
static bool model_touch(struct model *m, int t, u64 virt)
{
	struct mtr_set_entry *e;

	if (t >= 0)
		add(&m->task[t], &m->pool, m->label, virt, false);
	for (int i = 0; i < 3; i++)
		for (struct mtr_block *b = m->task[i].open.head; b; b = b->next)
			mtr_set_take_block(&m->set, b);
	m->past.turn++;
	e = mtr_set_find(&m->set, virt, 0);
	return e && mtr_past_spares(&m->past, e);
}

static void model_interval(struct model *m)
{
	struct mtr_block *b;

	for (int i = 0; i < 3; i++)
		mtr_chunk_take(&m->task[i], m->label, &m->done);
	for (b = m->done.head; b; b = b->next) {
		mtr_set_take_block(&m->set, b);
		mtr_past_take_block(&m->past, &m->set, b);
	}
	while ((b = mtr_fifo_get(&m->done)))
		mtr_pool_put(&m->pool, b);
	mtr_set_clear(&m->set);
	m->label++;
}

/* In how many of 64 subphases, in 64 intervals, the page is spared when these threads touch it. */
static int spared(struct model *m, u64 virt, int first, int second)
{
	int n = 0;

	for (int i = 0; i < 64; i++) {
		model_touch(m, first, virt);
		if (second >= 0)
			model_touch(m, second, virt);
		m->past.turn = (u32)i;
		n += model_touch(m, -1, virt);
		model_interval(m);
	}
	return n;
}

static void sparing(void)
{
	struct model m;
	const u64 page = 0x7f0000001000, other = 0x7f0000002000;
	int n;

	model_begin(&m);
	/* a new page is hidden again in each subphase of its first interval */
	for (int i = 0; i < 40; i++)
		CHECK(!model_touch(&m, 0, page));
	model_interval(&m);
	CHECK_EQ(m.past.turn, 40);
	/* one thread only: spared from then on, but for one subphase in 16 */
	n = 0;
	for (int i = 0; i < 64; i++)
		n += model_touch(&m, 0, page);
	CHECK_EQ(n, 60);
	/* a second thread in the interval was more than usual: nothing else to look for */
	n = 0;
	for (int i = 0; i < 16; i++)
		n += model_touch(&m, 1, page);
	CHECK_EQ(n, 15);
	model_interval(&m);
	/* two are usual now: with one of them it is hidden, until the other one is there */
	for (int i = 0; i < 40; i++)
		CHECK(!model_touch(&m, 1, page));
	n = 0;
	for (int i = 0; i < 16; i++)
		n += model_touch(&m, 0, page);
	CHECK_EQ(n, 15);
	model_interval(&m);
	/* for seven intervals one of them is missed; then one thread is usual */
	for (int k = 0; k < 8; k++) {
		for (int i = 0; i < 20; i++)
			CHECK(!model_touch(&m, 1, page));
		model_interval(&m);
	}
	CHECK(model_touch(&m, 1, page) || model_touch(&m, 1, page));
	model_interval(&m);
	/* one in each interval, but not the same one: two */
	model_touch(&m, 2, page);
	model_interval(&m);
	for (int i = 0; i < 40; i++)
		CHECK(!model_touch(&m, 2, page));
	/* other pages, and the same page of another address space, are new */
	for (int i = 0; i < 20; i++)
		CHECK(!model_touch(&m, 0, other));
	for (int t = 0; t < 3; t++) {
		mtr_chunk_take(&m.task[t], m.label, &m.done);
		m.task[t].image = 1;
	}
	model_interval(&m);
	for (int i = 0; i < 20; i++) {
		model_touch(&m, 0, other);
		CHECK(!mtr_past_spares(&m.past, mtr_set_find(&m.set, other, 1)));
	}
	model_interval(&m);
	for (int t = 0; t < 3; t++)
		m.task[t].image = 0;
	/* an inferred page has no thread: never spared */
	mtr_set_add(&m.set, other, 0);
	for (int i = 0; i < 20; i++)
		CHECK(!model_touch(&m, -1, other));
	model_interval(&m);
	/* all pages together: of 64 subphases, 4 look */
	n = spared(&m, 0x7f0000005000, 0, -1);
	CHECK(n >= 56 && n <= 60);
	n = spared(&m, 0x7f0000006000, 0, 1);
	CHECK(n >= 56 && n <= 60);
	model_end(&m);

	/* many pages in a small table: never a wrong page, at worst a new one */
	model_begin(&m);
	for (int i = 0; i < 3; i++) {
		for (u64 p = 0; p < 600; p++)
			model_touch(&m, (int)(p % 3), 0x10000000 + p * 4096);
		model_interval(&m);
	}
	n = 0;
	for (u64 p = 0; p < 600; p++)
		n += model_touch(&m, (int)(p % 3), 0x10000000 + p * 4096);
	CHECK(n > 300 && n < 600);
	model_end(&m);
}

static void rules(void)
{
	const u64 ms = 1000000;
	struct mtr_rule r = { .target_ns = 50 * ms, .max_ns = 200 * ms, .now_ns = 50 * ms, .max_load_ppm = 500000,
			      .fault_cost_ns = 1000 };

	/* 10,000 faults = 10 ms of 50 ms: 25 % of the program's own 40 ms */
	CHECK_EQ(mtr_rule_next(&r, 10000, ms / 10, 50 * ms), MTR_SAME);
	/* 40,000 faults: 40 ms of cost beside 10 ms */
	CHECK_EQ(mtr_rule_next(&r, 40000, ms, 50 * ms), MTR_LONGER);
	CHECK_EQ(r.now_ns, 75 * ms);
	CHECK_EQ(mtr_rule_next(&r, 60000, ms, 75 * ms), MTR_LONGER);
	CHECK_EQ(mtr_rule_next(&r, 100000, ms, 112 * ms), MTR_LONGER);
	CHECK_EQ(mtr_rule_next(&r, 160000, ms, 168 * ms), MTR_LONGER);
	CHECK_EQ(r.now_ns, 200 * ms);			/* not beyond */
	CHECK_EQ(mtr_rule_next(&r, 200000, ms, 200 * ms), MTR_SAME);
	/* calm: shorter only after four in a row */
	for (int i = 0; i < 3; i++)
		CHECK_EQ(mtr_rule_next(&r, 1000, ms, 200 * ms), MTR_SAME);
	CHECK_EQ(mtr_rule_next(&r, 1000, ms, 200 * ms), MTR_SHORTER);
	CHECK_EQ(r.now_ns, 180 * ms);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(mtr_rule_next(&r, 1000, ms, 180 * ms), MTR_SAME);
	CHECK_EQ(mtr_rule_next(&r, 50000, ms, 180 * ms), MTR_SAME);	/* between: the count begins again */
	for (int i = 0; i < 3; i++)
		CHECK_EQ(mtr_rule_next(&r, 1000, ms, 180 * ms), MTR_SAME);
	/* an idle program tells nothing */
	CHECK_EQ(mtr_rule_next(&r, 0, ms, 0), MTR_SAME);
	CHECK_EQ(r.calm, 3);
	for (int i = 0; i < 400; i++)
		mtr_rule_next(&r, 10, 1000, 100 * ms);
	CHECK_EQ(r.now_ns, 50 * ms);			/* back at the target, not below */
	/* the program had no time of its own: cost is above any limit */
	CHECK_EQ(mtr_rule_next(&r, 50000, ms, 50 * ms), MTR_LONGER);
	CHECK_EQ(r.now_ns, 75 * ms);
	/* it sleeps most of the time: 0.5 ms of cost in 75 ms is nothing, 1 ms would be too much */
	CHECK_EQ(mtr_rule_next(&r, 100, ms * 4 / 10, ms / 2), MTR_SAME);
	CHECK_EQ(mtr_rule_next(&r, 100, ms, ms / 2), MTR_LONGER);
	/* off */
	r.max_load_ppm = 0;
	CHECK_EQ(mtr_rule_next(&r, 1000000, ms, 50 * ms), MTR_SAME);
	/* no overflow with 1000 CPUs for 100 s */
	r.max_load_ppm = 4000000000u;
	CHECK_EQ(mtr_rule_next(&r, 1, ms, 100000000000000ull), MTR_SAME);
}

int main(void)
{
	pools();
	cpus();
	chunks();
	inferred();
	sets();
	sparing();
	rules();
	return mt_test_done();
}
