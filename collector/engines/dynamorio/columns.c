// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "engines/dynamorio/columns.h"

#define PAGE_BYTES ((uint64_t)1 << MT_COUNT_PAGE_SHIFT)

void mt_block_site_count_item(struct mt_count_thread *t, const struct mt_block_site_item *i, uint64_t word, uint64_t n)
{
	const uint64_t at = word + (uint64_t)i->off;

	if (i->bytes <= MT_BLOCK_SITE_UNIT)
		mt_count_add(t, at, i->write, n);
	else
		for (uint64_t k = 0; k < n; k++)
			mt_count_range(t, at, i->bytes, i->write);
}

void mt_block_site_finish_column(struct mt_block_site_column *c, const struct mt_block_site_item *item)
{
	int64_t low = 0, high = 0;

	c->n[0] = c->n[1] = 0;
	c->first[0] = c->first[1] = 0;
	for (uint32_t k = 0; k < c->items; k++) {
		const struct mt_block_site_item *i = &item[k];
		const int64_t end = i->off + (i->bytes > MT_BLOCK_SITE_UNIT ? (int64_t)i->bytes - 1 : 0);

		low = !k || i->off < low ? i->off : low;
		high = !k || end > high ? end : high;
		if (!c->n[i->write])
			c->first[i->write] = (int32_t)i->off;
		c->n[i->write] += i->bytes > MT_BLOCK_SITE_UNIT ? (i->bytes + MT_BLOCK_SITE_UNIT - 1) / MT_BLOCK_SITE_UNIT : 1;
	}
	c->low = (int32_t)low;
	c->high = (int32_t)high;
}

static void drain_strings(struct mt_count_thread *t, const struct mt_block_site_item *i, const uint64_t *v, uint64_t runs, uint32_t words)
{
	for (uint64_t k = 0; k < runs; k++, v += words) {
		if (v[1] >= v[0])
			mt_count_range(t, v[0], v[1] - v[0], i->write);
		else
			mt_count_range(t, v[1] + i->bytes, v[0] - v[1], i->write);
	}
}

/* Where the counters of pages of one region are: read and write, one after the other, for each. */
struct place {
	uint64_t region;		/* ~0: none */
	uint64_t base;			/* as in struct mt_count_slot */
};

/* Adds what a column makes @n times in a page. @first: a word of it. */
static inline void add_page(struct mt_count_thread *t, struct place *at, uint64_t page, const struct mt_block_site_column *c,
			    uint64_t first, uint64_t n)
{
	const uint64_t region = page >> (MT_COUNT_REGION_SHIFT - MT_COUNT_PAGE_SHIFT);
	uint64_t *counter;

	if (__builtin_expect(region != at->region, 0)) {
		const struct mt_count_slot *s = &t->slot[region & (MT_COUNT_SLOTS - 1)];

		if (s->region != region) {
			for (unsigned int w = 0; w < 2; w++)
				if (c->n[w])
					mt_count_add(t, first + (uint64_t)(int64_t)c->first[w], w, n * c->n[w]);
			return;
		}
		/* leaves stay where they are */
		at->region = region;
		at->base = s->base;
	}
	counter = (uint64_t *)(at->base + page * 16);
	for (unsigned int w = 0; w < 2; w++)
		if (c->n[w] && __builtin_expect(mt_count_add_carry(&counter[w], n * c->n[w]), 0))
			mt_count_slow(t, first + (uint64_t)(int64_t)c->first[w], w, 0, true);
}

static void drain_column(struct mt_count_thread *t, const struct mt_block_site_column *c, const struct mt_block_site_item *item,
			 const uint64_t *v, uint64_t runs, uint32_t words)
{
	const uint64_t *const end = v + runs * words;
	const uint64_t low = (uint64_t)(int64_t)c->low, spread = (uint64_t)((int64_t)c->high - c->low);
	const uint64_t room = PAGE_BYTES - spread;
	struct place at = { ~0ull, 0 };

	while (v < end) {
		const uint64_t first = *v, begin = first + low, inside = begin & (PAGE_BYTES - 1);
		uint64_t base, n = 1;

		v += words;
		if (__builtin_expect(inside + spread >= PAGE_BYTES, 0)) {
			for (uint32_t k = 0; k < c->items; k++)
				mt_block_site_count_item(t, &item[k], first, 1);
			continue;
		}
		/* all whose words are in [base, base + room) are in this page */
		base = first - inside;
		if (v < end && *v - base < room) {
			n++;
			v += words;
			/* four at a time: none of them is larger than all their bits */
			for (; (size_t)(end - v) >= 4 * (size_t)words; v += 4 * (size_t)words, n += 4)
				if (((v[0] - base) | (v[words] - base) | (v[2 * (size_t)words] - base) | (v[3 * (size_t)words] - base)) >= room)
					break;
			for (; v < end && *v - base < room; v += words)
				n++;
		}
		add_page(t, &at, begin >> MT_COUNT_PAGE_SHIFT, c, first, n);
	}
}

void mt_block_site_drain(struct mt_count_thread *t, const struct mt_block_site *const *sites, const uint64_t *from, const uint64_t *to)
{
	while (from < to) {
		const uint32_t number = (uint32_t)*from;
		const struct mt_block_site *s = sites[number];
		const struct mt_block_site_item *item = mt_block_site_items(s);
		const uint32_t words = s->words;
		const uint64_t *next = from + words;
		uint64_t runs = 1;

		for (; (size_t)(to - next) >= 4 * (size_t)words; next += 4 * (size_t)words, runs += 4)
			if (((uint32_t)next[0] ^ number) | ((uint32_t)next[words] ^ number) | ((uint32_t)next[2 * (size_t)words] ^ number) |
			    ((uint32_t)next[3 * (size_t)words] ^ number))
				break;
		for (; next < to && (uint32_t)*next == number; next += words)
			runs++;
		for (uint32_t k = 0; k < s->columns; k++) {
			const struct mt_block_site_column *c = &s->column[k];

			if (c->string)
				drain_strings(t, item + c->item, from + c->word, runs, words);
			else
				drain_column(t, c, item + c->item, from + c->word, runs, words);
		}
		for (uint32_t k = s->items - s->fixed; k < s->items; k++)
			mt_block_site_count_item(t, &item[k], 0, runs);
		from = next;
	}
}

void mt_block_site_drain_part(struct mt_count_thread *t, const struct mt_block_site *s, const uint64_t *record, uint64_t ip)
{
	const struct mt_block_site_item *item = mt_block_site_items(s);

	for (uint32_t k = 0; k < s->columns; k++) {
		const struct mt_block_site_column *c = &s->column[k];

		for (uint32_t i = c->item; i < c->item + c->items; i++) {
			if (s->start + item[i].at >= ip)
				continue;
			if (c->string)
				drain_strings(t, &item[i], record + c->word, 1, s->words);
			else
				mt_block_site_count_item(t, &item[i], record[c->word], 1);
		}
	}
	for (uint32_t k = s->items - s->fixed; k < s->items; k++)
		if (s->start + item[k].at < ip)
			mt_block_site_count_item(t, &item[k], 0, 1);
}
