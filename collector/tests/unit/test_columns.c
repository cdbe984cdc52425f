// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: engines/dynamorio/columns.c count/count.c
/* Records of a thread become counts: against each access counted alone. */
#include "engines/dynamorio/columns.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "harness.h"

#define BASE 0x40000000ull
#define PAGES 2048u			/* four regions */

static uint64_t have[PAGES][2], want[PAGES][2], outside, lost_first, clock_ns;

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void zero(void *p, size_t bytes)
{
	memset(p, 0, bytes);
}

static uint64_t now(void)
{
	return ++clock_ns;
}

static void tell(void *arg, const struct mt_count_row *r)
{
	(void)arg;
	for (int w = 0; w < 2; w++) {
		if (r->page - BASE / 4096 < PAGES)
			have[r->page - BASE / 4096][w] += r->n[w];
		else
			outside += r->n[w];
		lost_first += r->n[w] && !r->first_ns[w];
	}
}

static void expect(uint64_t at, uint32_t bytes, unsigned int write)
{
	while (bytes) {
		const uint32_t left = 4096 - (uint32_t)(at & 4095), here = bytes < left ? bytes : left;

		want[(at - BASE) / 4096][write] += bytes <= 16 ? 1 : (here + 15) / 16;
		if (bytes <= 16)	/* where it begins */
			return;
		at += here;
		bytes -= here;
		if (bytes && bytes <= 16) {
			want[(at - BASE) / 4096][write] += 1;
			return;
		}
	}
}

static union {
	struct mt_block_site site;
	char bytes[4096];
} room[8];
static const struct mt_block_site *sites[8];

/* Column c has items from @item on; those without column come last. */
static struct mt_block_site *make(uint32_t number, uint32_t columns, const uint32_t items[], const struct mt_block_site_item *item,
				  uint32_t fixed)
{
	struct mt_block_site *s = &room[number].site;
	uint32_t n = 0;

	s->start = 0x1000;
	s->last = 0x1100;
	s->columns = columns;
	s->words = 1 + columns;
	s->fixed = fixed;
	for (uint32_t c = 0; c < columns; c++) {
		s->column[c] = (struct mt_block_site_column){ .word = 1 + c, .item = n, .items = items[c] };
		n += items[c];
	}
	s->items = n + fixed;
	memcpy(s->column + columns, item, s->items * sizeof(*item));
	for (uint32_t c = 0; c < columns; c++)
		mt_block_site_finish_column(&s->column[c], item + s->column[c].item);
	sites[number] = s;
	return s;
}

static void compare(struct mt_count *c)
{
	int wrong = 0;

	memset(have, 0, sizeof(have));
	outside = lost_first = 0;
	mt_count_collect(c, NULL, tell, NULL);
	for (unsigned int p = 0; p < PAGES; p++)
		for (int w = 0; w < 2; w++)
			wrong += have[p][w] != want[p][w];
	CHECK_EQ(wrong, 0);
	CHECK_EQ(outside, 0);
	memset(want, 0, sizeof(want));
}

/* Any mixture of sites, at any address, sequential and not. */
static void mixture(struct mt_count *c, struct mt_count_thread *t)
{
	static const struct mt_block_site_item one[] = { { 0, 8, MT_COUNT_READ, 0 } };
	static const struct mt_block_site_item several[] = {
		/* a column whose distances may lie in two pages, one with a wide access, one that spreads over more than a page */
		{ -8, 8, MT_COUNT_WRITE, 0 }, { 0, 4, MT_COUNT_READ, 4 }, { 24, 8, MT_COUNT_WRITE, 8 },
		{ 0, 32, MT_COUNT_WRITE, 12 }, { 40, 1, MT_COUNT_READ, 16 },
		{ -3000, 8, MT_COUNT_READ, 20 }, { 3000, 16, MT_COUNT_WRITE, 24 },
		/* without column */
		{ BASE + 77, 4, MT_COUNT_READ, 28 }, { BASE + 4090, 64, MT_COUNT_WRITE, 32 },
	};
	static const uint32_t items_one[] = { 1 }, items_several[] = { 3, 2, 2 };
	static uint64_t buffer[4096];
	unsigned int seed = 5;

	make(1, 1, items_one, one, 0);
	make(2, 3, items_several, several, 2);
	make(3, 0, NULL, &several[7], 2);
	for (int round = 0; round < 200; round++) {
		uint64_t at = BASE + 0x10000 + (uint64_t)rand_r(&seed) % 0x700000, *p = buffer;
		const uint64_t step = round % 3 ? (uint64_t)rand_r(&seed) % 64 : 4800;

		while (p < buffer + 4000) {
			const uint32_t number = round % 4 ? 1 + (uint32_t)rand_r(&seed) % 3 : 1 + (uint32_t)round % 3;
			const struct mt_block_site *s = sites[number];
			const struct mt_block_site_item *item = mt_block_site_items(s);

			/* the upper half is what stood there */
			p[0] = number | (uint64_t)rand_r(&seed) << 32;
			for (uint32_t k = 0; k < s->columns; k++) {
				at += step;
				if (at > BASE + (PAGES - 16) * 4096ull)
					at = BASE + 0x10000;
				p[1 + k] = at;
				for (uint32_t i = 0; i < s->column[k].items; i++, item++)
					expect(at + (uint64_t)item->off, item->bytes, item->write);
			}
			for (uint32_t i = 0; i < s->fixed; i++, item++)
				expect((uint64_t)item->off, item->bytes, item->write);
			p += s->words;
		}
		mt_block_site_drain(t, sites, buffer, p);
	}
	compare(c);
}

static void strings(struct mt_count *c, struct mt_count_thread *t)
{
	static const struct mt_block_site_item element[] = { { 0, 8, MT_COUNT_WRITE, 0 } };
	static const uint32_t items[] = { 1 };
	struct mt_block_site *s = make(4, 1, items, element, 0);
	uint64_t forward[] = { 4, BASE + 4000, BASE + 4000 + 200 }, backward[] = { 4, BASE + 8200, BASE + 8200 - 16 },
		 nothing[] = { 4, BASE, BASE };

	s->words = 3;
	s->column[0].string = 1;
	mt_block_site_drain(t, sites, forward, forward + 3);
	mt_block_site_drain(t, sites, nothing, nothing + 3);
	want[0][1] = 6;
	want[1][1] = 7;
	/* elements at 8200 and 8192: 16 bytes */
	mt_block_site_drain(t, sites, backward, backward + 3);
	want[2][1] = 1;
	compare(c);
}

/* A block that ended at its instruction 12. */
static void part(struct mt_count *c, struct mt_count_thread *t)
{
	const uint64_t record[] = { 2, BASE + 100, BASE + 5 * 4096, BASE + 9 * 4096 };

	mt_block_site_drain_part(t, sites[2], record, 0x1000 + 12);
	want[0][0] = 1;
	want[0][1] = 2;
	compare(c);
	/* and before its first one */
	mt_block_site_drain_part(t, sites[2], record, 0x1000);
	compare(c);
	mt_block_site_drain_part(t, sites[3], record, 0x1000 + 32);
	want[0][0] = 1;
	compare(c);
}

int main(void)
{
	static const struct mt_count_ops ops = { .map = map, .zero = zero, .now_ns = now };
	static struct mt_count c;
	struct mt_count_thread *t;

	mt_count_init(&c, &ops);
	t = mt_count_thread_new(&c, 1);
	mixture(&c, t);
	CHECK_EQ(lost_first, 0);
	strings(&c, t);
	part(&c, t);
	return mt_test_done();
}
