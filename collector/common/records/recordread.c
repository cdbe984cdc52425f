// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* recordread.c - the reader of plain blocks. It believes nothing: what it is given may be made by anybody. */
#include <string.h>

#include "common/records/recordcolumns.h"
#include "common/records/recordblock.h"

/* The symbols of a column, one after the other. A column that is not there has zeroes without end. */
struct column {
	const unsigned char *p, *end;
	uint64_t symbol, left;	/* of a run: how many more there are */
	int there, runs, wrong;
};

static uint64_t get_varint(struct column *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; c->p < c->end; shift += 7) {
		const unsigned char byte = *c->p++;

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
		if (shift == 63)
			break;
	}
	c->wrong = 1;
	return 0;
}

static inline uint64_t next(struct column *c)
{
	if (!c->there)
		return 0;
	if (!c->runs) {
		if (c->p < c->end && *c->p < 128)
			return *c->p++;
		return get_varint(c);
	}
	if (c->left) {
		c->left--;
		return c->symbol;
	}
	c->symbol = get_varint(c);
	c->left = get_varint(c);
	return c->symbol;
}

static int has_more(const struct column *c)
{
	return c->there && !c->wrong && (c->p < c->end || c->left);
}

/* All symbols were taken, and each was there. */
static int is_done(const struct column *c)
{
	return !c->wrong && c->p == c->end && !c->left;
}

/* Finds the columns. 0 or -1. */
static int find(const unsigned char *p, size_t n, struct column *c)
{
	const unsigned char *const end = p + n;

	memset(c, 0, N_COLUMN_IDS * sizeof(*c));
	while (p < end) {
		uint32_t bytes;

		if (end - p < COLUMN_HEAD)
			return -1;
		bytes = get_u16(p + 2);
		if (p[1] >= N_CODINGS || bytes > (size_t)(end - p - COLUMN_HEAD))
			return -1;
		if (p[0] < N_COLUMN_IDS) {	/* others are of later versions, which this one does without */
			if (c[p[0]].there)
				return -1;
			c[p[0]] = (struct column){ .p = p + COLUMN_HEAD, .end = p + COLUMN_HEAD + bytes, .there = 1, .runs = p[1] == CODING_RUNS };
		}
		p += COLUMN_HEAD + bytes;
	}
	return 0;
}

static void read_counts(struct column *c, struct mt_records_block *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t both = next(&c[COLUMN_COUNTS]);

		b->row[i].nreads = both / COUNT_BASE;
		b->row[i].nwrites = both % COUNT_BASE;
		if (b->row[i].nreads > MOST_COUNT)
			c[COLUMN_COUNTS].wrong = 1;
	}
	for (uint32_t i = 0; i < b->n; i++)
		if (b->row[i].nreads == MOST_COUNT)
			b->row[i].nreads += next(&c[COLUMN_READS]);
	for (uint32_t i = 0; i < b->n; i++)
		if (b->row[i].nwrites == MOST_COUNT)
			b->row[i].nwrites += next(&c[COLUMN_WRITES]);
}

/* An offset in a page, which is no larger than 1 GiB. */
static int offset(struct column *c, uint64_t v)
{
	if (v >= 1u << 30)
		c->wrong = 1;
	return c->wrong ? 0 : (int)v;
}

static void read_places(struct column *c, const struct mt_records_head *h, struct mt_records_block *b)
{
	uint64_t page = 0, first = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		struct mt_access_row *r = &b->row[i];
		const uint64_t shape = next(&c[COLUMN_SHAPE]) ^ usual_shape(r->nreads > 0, r->nwrites > 0);
		uint64_t low = 0;

		if (shape > (SHAPE_FIRST << 1) - 1)
			c[COLUMN_SHAPE].wrong = 1;
		r->read_at = shape & SHAPE_READ_AT ? offset(&c[COLUMN_READ_AT], next(&c[COLUMN_READ_AT])) : -1;
		r->write_at = -1;
		if (shape & SHAPE_WRITE_AT)
			r->write_at = offset(&c[COLUMN_WRITE_AT],
					     unzigzag(next(&c[COLUMN_WRITE_AT])) + (uint64_t)(r->read_at < 0 ? 0 : r->read_at));
		switch (shape & SHAPE_LOW) {
		case LOW_READ:
			low = r->read_at < 0 ? 0 : (uint64_t)r->read_at;
			break;
		case LOW_WRITE:
			low = r->write_at < 0 ? 0 : (uint64_t)r->write_at;
			break;
		case LOW_COLUMN:
			low = next(&c[COLUMN_LOW]);
			break;
		}
		page += unzigzag(next(&c[COLUMN_PAGE]));
		r->virt = page << LOW_BITS | (low & ((1u << LOW_BITS) - 1));
		r->first_ns = 0;
		if (shape & SHAPE_FIRST) {
			first += unzigzag(next(&c[COLUMN_FIRST]));
			r->first_ns = h->start + first;
			r->first_ns += !r->first_ns;
		}
	}
}

/* The values of a dictionary into b->entry; how many. */
static uint32_t read_values(struct column *c, struct mt_records_block *b)
{
	uint64_t v = 0;
	uint32_t n = 0;

	b->entry[0] = 0;
	for (; n < MT_RECORDS_MOST && has_more(c); n++) {
		v += unzigzag(next(c));
		b->entry[n] = v;
	}
	return n ? n : 1;
}

static uint32_t number(struct column *c, uint32_t n)
{
	const uint64_t v = next(c);

	if (v >= n)
		c->wrong = 1;
	return c->wrong ? 0 : (uint32_t)v;
}

static void read_numbered(struct column *c, struct mt_records_block *b)
{
	uint32_t n = read_values(&c[COLUMN_TASKS], b);

	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t v = b->entry[number(&c[COLUMN_TASK], n)];

		if ((uint64_t)(int64_t)(int32_t)v != v)
			c[COLUMN_TASK].wrong = 1;
		b->row[i].tid = (int32_t)v;
	}
	n = read_values(&c[COLUMN_IPS], b);
	for (uint32_t i = 0; i < b->n; i++)
		b->row[i].ip = b->entry[number(&c[COLUMN_IP], n)];
}

/* Each mask stands in b->word behind its number of words. */
static void read_masks(struct column *c, struct mt_records_block *b)
{
	static const uint64_t none;
	uint32_t masks = 0, words = 0;

	while (masks < MT_RECORDS_MOST && has_more(&c[COLUMN_MASKS])) {
		const uint64_t n = next(&c[COLUMN_MASKS]);

		if (!n || n > MT_RECORDS_WORDS - 1 - words || words == MT_RECORDS_WORDS) {
			c[COLUMN_MASKS].wrong = 1;
			return;
		}
		b->mask_at[masks++] = words;
		b->word[words++] = n;
		for (uint64_t i = 0; i < n; i++)
			b->word[words++] = next(&c[COLUMN_MASKS]);
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const uint32_t k = number(&c[COLUMN_MASK], masks ? masks : 1);

		b->row[i].cpus = masks ? b->word + b->mask_at[k] + 1 : &none;
		b->row[i].cpu_words = masks ? (int)b->word[b->mask_at[k]] : 1;
	}
}

static void read_rest(struct column *c, struct mt_records_block *b)
{
	uint64_t phys = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t node = unzigzag(next(&c[COLUMN_NODE])), flags = next(&c[COLUMN_FLAGS]);

		phys += unzigzag(next(&c[COLUMN_PHYS]));
		b->row[i].phys = frame_last(phys);
		if ((uint64_t)(int64_t)(int16_t)node != node)
			c[COLUMN_NODE].wrong = 1;
		if (flags > INT32_MAX)
			c[COLUMN_FLAGS].wrong = 1;
		b->row[i].node = (int)node;
		b->row[i].flags = (unsigned int)flags;
	}
}

int mt_records_read(const struct mt_records_head *h, const unsigned char *p, struct mt_records_block *b)
{
	struct column c[N_COLUMN_IDS];

	if (h->version != MT_RECORDS_VERSION || h->kind != MT_RECORDS_PLAIN || !h->records || h->records > MT_RECORDS_MOST ||
	    find(p, h->bytes, c))
		return -1;
	b->n = h->records;
	read_counts(c, b);
	read_places(c, h, b);
	read_numbered(c, b);
	read_masks(c, b);
	read_rest(c, b);
	for (int i = 0; i < N_COLUMN_IDS; i++)
		if (!is_done(&c[i]))
			return -1;
	return 0;
}
