// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* recordwrite.c - the heads of blocks, and their writer. */
#include "common/records/recordblock.h"

#include <string.h>

#include "common/records/recordcolumns.h"

/* Of a byte, and of a byte with 1 to 7 others behind it. Made when they are needed; two threads that do it make the same. */
static uint32_t crc_table[8][256];
static int crc_made;

static void make_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
		crc_table[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			crc_table[t][i] = crc_table[t - 1][i] >> 8 ^ crc_table[0][crc_table[t - 1][i] & 255];
	__atomic_store_n(&crc_made, 1, __ATOMIC_RELEASE);
}

uint32_t mt_crc32c(uint32_t crc, const void *data, size_t n)
{
	const unsigned char *p = data;

	if (!__atomic_load_n(&crc_made, __ATOMIC_ACQUIRE))
		make_crc_table();
	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		const uint64_t v = get_u64(p) ^ crc;

		crc = crc_table[7][v & 255] ^ crc_table[6][v >> 8 & 255] ^ crc_table[5][v >> 16 & 255] ^ crc_table[4][v >> 24 & 255] ^
		      crc_table[3][v >> 32 & 255] ^ crc_table[2][v >> 40 & 255] ^ crc_table[1][v >> 48 & 255] ^ crc_table[0][v >> 56];
	}
	while (n--)
		crc = crc >> 8 ^ crc_table[0][(crc ^ *p++) & 255];
	return ~crc;
}

/* Offsets in a head. */
enum { AT_MAGIC = 0, AT_VERSION = 4, AT_KIND = 5, AT_ZERO = 6, AT_BYTES = 8, AT_RECORDS = 12, AT_START = 16, AT_END = 24, AT_BEFORE = 32,
	AT_CRC = 40, AT_HEAD_CRC = 44 };

void mt_records_put_head(unsigned char *p, const struct mt_records_head *h)
{
	put_u32(p + AT_MAGIC, MT_RECORDS_MAGIC);
	p[AT_VERSION] = (unsigned char)h->version;
	p[AT_KIND] = (unsigned char)h->kind;
	p[AT_ZERO] = p[AT_ZERO + 1] = 0;
	put_u32(p + AT_BYTES, h->bytes);
	put_u32(p + AT_RECORDS, h->records);
	put_u64(p + AT_START, h->start);
	put_u64(p + AT_END, h->end);
	put_u64(p + AT_BEFORE, h->before);
	put_u32(p + AT_CRC, h->crc);
	put_u32(p + AT_HEAD_CRC, mt_crc32c(0, p, AT_HEAD_CRC));
}

int mt_records_get_head(const unsigned char *p, struct mt_records_head *h)
{
	if (get_u32(p + AT_MAGIC) != MT_RECORDS_MAGIC || get_u32(p + AT_HEAD_CRC) != mt_crc32c(0, p, AT_HEAD_CRC))
		return -1;
	h->version = p[AT_VERSION];
	h->kind = p[AT_KIND];
	h->bytes = get_u32(p + AT_BYTES);
	h->records = get_u32(p + AT_RECORDS);
	h->start = get_u64(p + AT_START);
	h->end = get_u64(p + AT_END);
	h->before = get_u64(p + AT_BEFORE);
	h->crc = get_u32(p + AT_CRC);
	return 0;
}

/* A record that is kept. */
struct mt_records_row {
	uint64_t virt, phys, nreads, nwrites, ip, first;	/* first: 1 + ns since Start, 0 unknown */
	int32_t tid, node;
	int read_at, write_at;
	uint32_t flags, mask;			/* mask: its number in the block */
	uint32_t number;			/* of its thread or code address, while a block is made */
};

/* Bytes of a block for a record at most, but for its mask: each of its numbers, in the longest form. */
#define ROW_BYTES 128u
/* The same for a word of a mask, with the numbers of words. */
#define WORD_BYTES 20u

void mt_records_init(struct mt_records_writer *w, void *room, size_t size)
{
	char *p = room;
	const size_t each = sizeof(*w->row) + ROW_BYTES + sizeof(*w->symbol) + 4 * sizeof(*w->slot);
	size_t cap;

	memset(w, 0, sizeof(*w));
	w->word_cap = size < (1u << 17) ? 264 : size < (1u << 19) ? 1024 : MT_RECORDS_WORDS;
	cap = (size - (2 * sizeof(*w->word) + WORD_BYTES) * w->word_cap - 1024) / each;
	w->cap = cap < MT_RECORDS_MOST ? (uint32_t)cap : MT_RECORDS_MOST;
	for (w->slots = 2; w->slots < w->cap * 2; )
		w->slots *= 2;
	w->row = (void *)p;
	p += w->cap * sizeof(*w->row);
	w->word = (void *)p;
	p += w->word_cap * sizeof(*w->word);
	w->symbol = (void *)p;			/* of a column: one for each record, or for each word */
	p += (w->cap + w->word_cap) * sizeof(*w->symbol);
	w->slot = (void *)p;
	p += w->slots * sizeof(*w->slot);
	w->block = (void *)p;
}

void mt_records_begin(struct mt_records_writer *w, uint64_t start, uint64_t end)
{
	w->start = start;
	w->end = end;
}

/*
 * The number of a mask in the block, -1: no room. Masks stand one after the other, each behind the number of its words. One that
 * another one has taken the place of in the table of recent ones gets another number: that costs bytes, nothing else.
 */
static int64_t mask_number(struct mt_records_writer *w, const uint64_t *mask, uint32_t n)
{
	const size_t bytes = n * sizeof(*mask);
	const unsigned int h = (unsigned int)((mask[0] ^ mask[n - 1]) * 0x9e3779b97f4a7c15ull >> 58);

	if (w->recent[h].at && w->word[w->recent[h].at - 1] == n && !memcmp(w->word + w->recent[h].at, mask, bytes))
		return w->recent[h].number;
	if (w->words + n + 1 > w->word_cap)
		return -1;
	w->word[w->words] = n;
	memcpy(w->word + w->words + 1, mask, bytes);
	w->recent[h].at = w->words + 1;
	w->recent[h].number = w->masks;
	w->words += n + 1;
	return w->masks++;
}

int mt_records_add(struct mt_records_writer *w, const struct mt_access_row *a)
{
	struct mt_records_row *r = &w->row[w->n];
	uint32_t words = (uint32_t)a->cpu_words;
	int64_t mask;

	if (w->n == w->cap)
		return 0;
	while (words > 1 && !a->cpus[words - 1])
		words--;
	if (words > w->word_cap - 1)
		words = w->word_cap - 1;	/* more CPUs than any machine has */
	mask = mask_number(w, a->cpus, words);
	if (mask < 0)
		return 0;
	r->virt = a->virt;
	r->phys = a->phys;
	r->nreads = a->nreads;
	r->nwrites = a->nwrites;
	r->ip = a->ip;
	/* a fault that began before the boundary may be told behind it: its access is of this interval */
	r->first = !a->first_ns ? 0 : a->first_ns > w->start ? a->first_ns - w->start + 1 : 1;
	r->tid = a->tid;
	r->node = a->node;
	r->read_at = a->read_at;
	r->write_at = a->write_at;
	r->flags = a->flags;
	r->mask = (uint32_t)mask;
	w->n++;
	return 1;
}

static unsigned char *put_varint(unsigned char *p, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*p++ = (unsigned char)(v | 128);
	*p++ = (unsigned char)v;
	return p;
}

static size_t varint_bytes(uint64_t v)
{
	return (size_t)(70 - __builtin_clzll(v | 1)) / 7;
}

/* The first @n symbols as a column, in the coding that is shorter. Nothing when all are 0. */
static unsigned char *put_column(struct mt_records_writer *w, unsigned char *p, enum mt_column id, uint32_t n)
{
	const uint64_t *s = w->symbol;
	size_t varints = 0, runs = 0;
	unsigned char *q = p + COLUMN_HEAD;
	uint64_t any = 0;

	for (uint32_t i = 0, begin = 0; i < n; i++) {
		const size_t bytes = varint_bytes(s[i]);

		any |= s[i];
		varints += bytes;
		if (i + 1 == n || s[i + 1] != s[i]) {
			runs += bytes + varint_bytes(i - begin);
			begin = i + 1;
		}
	}
	if (!any)
		return p;
	if (runs < varints) {
		for (uint32_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && s[end] == s[i]; )
				end++;
			q = put_varint(put_varint(q, s[i]), end - i - 1);
		}
	} else {
		for (uint32_t i = 0; i < n; i++)
			q = put_varint(q, s[i]);
	}
	p[0] = id;
	p[1] = runs < varints ? CODING_RUNS : CODING_VARINTS;
	put_u16(p + 2, (uint32_t)(q - p - COLUMN_HEAD));
	return q;
}

static unsigned char *put_pages(struct mt_records_writer *w, unsigned char *p)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const uint64_t page = w->row[i].virt >> LOW_BITS;

		w->symbol[i] = zigzag(page - before);
		before = page;
	}
	return put_column(w, p, COLUMN_PAGE, w->n);
}

static unsigned char *put_counts(struct mt_records_writer *w, unsigned char *p)
{
	uint32_t more = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const uint64_t r = w->row[i].nreads, c = w->row[i].nwrites;

		w->symbol[i] = (r < MOST_COUNT ? r : MOST_COUNT) * COUNT_BASE + (c < MOST_COUNT ? c : MOST_COUNT);
	}
	p = put_column(w, p, COLUMN_COUNTS, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].nreads >= MOST_COUNT)
			w->symbol[more++] = w->row[i].nreads - MOST_COUNT;
	p = put_column(w, p, COLUMN_READS, more);
	more = 0;
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].nwrites >= MOST_COUNT)
			w->symbol[more++] = w->row[i].nwrites - MOST_COUNT;
	return put_column(w, p, COLUMN_WRITES, more);
}

static unsigned int low_of(const struct mt_records_row *r)
{
	const unsigned int low = r->virt & ((1u << LOW_BITS) - 1);

	if (r->read_at >= 0 && ((unsigned int)r->read_at & ((1u << LOW_BITS) - 1)) == low)
		return LOW_READ;
	if (r->write_at >= 0 && ((unsigned int)r->write_at & ((1u << LOW_BITS) - 1)) == low)
		return LOW_WRITE;
	return low ? LOW_COLUMN : LOW_ZERO;
}

/* Where in the page. */
static unsigned char *put_places(struct mt_records_writer *w, unsigned char *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct mt_records_row *r = &w->row[i];
		const unsigned int shape = low_of(r) | (r->read_at >= 0 ? SHAPE_READ_AT : 0) | (r->write_at >= 0 ? SHAPE_WRITE_AT : 0) |
					   (r->first ? SHAPE_FIRST : 0);

		w->symbol[i] = shape ^ usual_shape(r->nreads > 0, r->nwrites > 0);
	}
	p = put_column(w, p, COLUMN_SHAPE, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].read_at >= 0)
			w->symbol[n++] = (unsigned int)w->row[i].read_at;
	p = put_column(w, p, COLUMN_READ_AT, n);
	n = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct mt_records_row *r = &w->row[i];

		if (r->write_at >= 0)
			w->symbol[n++] = zigzag((uint64_t)((int64_t)r->write_at - (r->read_at < 0 ? 0 : r->read_at)));
	}
	p = put_column(w, p, COLUMN_WRITE_AT, n);
	n = 0;
	for (uint32_t i = 0; i < w->n; i++)
		if (low_of(&w->row[i]) == LOW_COLUMN)
			w->symbol[n++] = w->row[i].virt & ((1u << LOW_BITS) - 1);
	return put_column(w, p, COLUMN_LOW, n);
}

static unsigned char *put_firsts(struct mt_records_writer *w, unsigned char *p)
{
	uint64_t before = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].first) {
			w->symbol[n++] = zigzag(w->row[i].first - 1 - before);
			before = w->row[i].first - 1;
		}
	return put_column(w, p, COLUMN_FIRST, n);
}

static uint64_t task_of(const struct mt_records_row *r)
{
	return (uint64_t)(int64_t)r->tid;
}

static uint64_t ip_of(const struct mt_records_row *r)
{
	return r->ip;
}

/* The different values in the order in which they come, and the number of its value for each record. */
static unsigned char *put_numbered(struct mt_records_writer *w, unsigned char *p, uint64_t (*value)(const struct mt_records_row *r),
				   enum mt_column values, enum mt_column numbers)
{
	uint64_t before = 0;
	uint32_t slots = 2, n = 0;

	while (slots < w->n * 2)
		slots *= 2;
	memset(w->slot, 0, slots * sizeof(*w->slot));
	/* a slot has 1 + the record in which its value came first, which keeps the number of the value */
	for (uint32_t i = 0; i < w->n; i++) {
		const uint64_t v = value(&w->row[i]);
		uint32_t h = (uint32_t)(v * 0x9e3779b97f4a7c15ull >> 32) & (slots - 1);

		while (w->slot[h] && value(&w->row[w->slot[h] - 1]) != v)
			h = (h + 1) & (slots - 1);
		if (!w->slot[h]) {
			w->slot[h] = i + 1;
			w->row[i].number = n++;
		}
		w->row[i].number = w->row[w->slot[h] - 1].number;
	}
	n = 0;
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].number == n) {
			const uint64_t v = value(&w->row[i]);

			w->symbol[n++] = zigzag(v - before);
			before = v;
		}
	p = put_column(w, p, values, n);
	for (uint32_t i = 0; i < w->n; i++)
		w->symbol[i] = w->row[i].number;
	return put_column(w, p, numbers, w->n);
}

static unsigned char *put_masks(struct mt_records_writer *w, unsigned char *p)
{
	memcpy(w->symbol, w->word, w->words * sizeof(*w->word));
	p = put_column(w, p, COLUMN_MASKS, w->words);
	for (uint32_t i = 0; i < w->n; i++)
		w->symbol[i] = w->row[i].mask;
	return put_column(w, p, COLUMN_MASK, w->n);
}

static unsigned char *put_rest(struct mt_records_writer *w, unsigned char *p)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const uint64_t phys = frame_first(w->row[i].phys);

		w->symbol[i] = zigzag(phys - before);
		before = phys;
	}
	p = put_column(w, p, COLUMN_PHYS, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		w->symbol[i] = zigzag((uint64_t)(int64_t)w->row[i].node);
	p = put_column(w, p, COLUMN_NODE, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		w->symbol[i] = w->row[i].flags;
	return put_column(w, p, COLUMN_FLAGS, w->n);
}

size_t mt_records_take(struct mt_records_writer *w)
{
	unsigned char *const begin = w->block + MT_RECORDS_HEAD, *p = begin;
	struct mt_records_head h = { .version = MT_RECORDS_VERSION, .kind = MT_RECORDS_PLAIN, .records = w->n, .start = w->start, .end = w->end,
				     .before = w->before };

	if (!w->n)
		return 0;
	p = put_pages(w, p);
	p = put_counts(w, p);
	p = put_places(w, p);
	p = put_firsts(w, p);
	p = put_numbered(w, p, task_of, COLUMN_TASKS, COLUMN_TASK);
	p = put_numbered(w, p, ip_of, COLUMN_IPS, COLUMN_IP);
	p = put_masks(w, p);
	p = put_rest(w, p);
	h.bytes = (uint32_t)(p - begin);
	h.crc = mt_crc32c(0, begin, h.bytes);
	mt_records_put_head(w->block, &h);
	w->before += w->n;
	w->n = w->words = w->masks = 0;
	memset(w->recent, 0, sizeof(w->recent));
	return (size_t)(p - w->block);
}
