// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/trace/recordfile.c cli/base/util.c common/out.c common/records/recordwrite.c common/records/recordread.c
// libs: -ljansson -lzstd -lz
/* Blocks of records: what is written is read, whatever it is; what is damaged is refused; the worked example of the norm. */
#include <stdlib.h>

#include <unistd.h>

#include "harness.h"
#include "cli/base/util.h"
#include "cli/trace/recordfile.h"
#include "common/records/recordcolumns.h"
#include "common/records/recordblock.h"

#define MOST_WORDS 256

static uint64_t state;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t below(uint64_t n)
{
	return any() % n;
}

/* A number of any length. */
static uint64_t number(void)
{
	return any() >> below(64);
}

/* What backends write: @kind says how likely that is. */
static void make(struct mt_access_row *a, uint64_t *mask, int kind, uint64_t start)
{
	static uint64_t page;
	const int words = below(20) ? 1 : 1 + (int)below(MOST_WORDS);

	memset(mask, 0, MOST_WORDS * sizeof(*mask));
	page = kind ? page + below(8) - 3 : number();
	*a = (struct mt_access_row){ .nreads = 1, .cpus = mask, .cpu_words = words, .tid = 1000 + (int)below(3), .ip = 0x401000 + below(40),
				     .read_at = (int)below(4096), .write_at = -1, .first_ns = start + 1 + below(1000000) };
	mask[below((uint64_t)words)] = 1ull << below(64);
	if (below(3) == 0)
		a->nwrites = 1 + below(3);
	if (a->nwrites)
		a->write_at = (int)below(4096);
	a->virt = page << 12 | (unsigned int)(below(2) && a->nwrites ? a->write_at : a->read_at);
	if (kind > 1 || below(4))
		return;
	a->virt = number();
	a->phys = below(2) ? number() << 12 : number();
	a->nreads = number();
	a->nwrites = number();
	a->ip = number();
	a->tid = (int32_t)number();
	a->node = (int)(int16_t)number();
	a->flags = (unsigned int)number() & INT32_MAX;
	a->first_ns = below(2) ? 0 : start + number() / 4;
	a->read_at = (int)below(1u << below(31)) - 1;
	a->write_at = (int)below(1u << below(31)) - 1;
	for (int i = 0; i < words; i++)
		mask[i] = number();
}

static int same_mask(const struct mt_access_row *a, const struct mt_access_row *b)
{
	const int most = a->cpu_words > b->cpu_words ? a->cpu_words : b->cpu_words;

	for (int i = 0; i < most; i++)
		if ((i < a->cpu_words ? a->cpus[i] : 0) != (i < b->cpu_words ? b->cpus[i] : 0))
			return 0;
	return 1;
}

static int same(const struct mt_access_row *a, const struct mt_access_row *b, uint64_t start)
{
	const uint64_t first = a->first_ns && a->first_ns < start ? start : a->first_ns;

	return a->virt == b->virt && a->phys == b->phys && a->nreads == b->nreads && a->nwrites == b->nwrites && a->ip == b->ip &&
	       a->tid == b->tid && a->node == b->node && a->flags == b->flags && (a->read_at < 0 ? -1 : a->read_at) == b->read_at &&
	       (a->write_at < 0 ? -1 : a->write_at) == b->write_at && first == b->first_ns && same_mask(a, b);
}

static struct mt_access_row *kept;
static uint64_t (*kept_mask)[MOST_WORDS];
static struct mt_records_block *block;
static void *room;
#define ROOM (2u << 20)

/* The bytes of a block are the records that were kept, from @from on. */
static uint32_t check_block(struct mt_records_writer *w, size_t bytes, uint64_t start, uint32_t from)
{
	struct mt_records_head h;
	uint32_t right = 0;

	CHECK_EQ(mt_records_get_head(w->block, &h), 0);
	CHECK_EQ(h.bytes + MT_RECORDS_HEAD, bytes);
	CHECK(h.version == 1 && h.kind == 0 && h.start == start && h.end == start + 50 && h.before == from);
	CHECK_EQ(h.crc, mt_crc32c(0, w->block + MT_RECORDS_HEAD, h.bytes));
	CHECK_EQ(mt_records_read(&h, w->block + MT_RECORDS_HEAD, block), 0);
	for (uint32_t i = 0; i < block->n; i++)
		right += same(&kept[from + i], &block->row[i], start);
	CHECK_EQ(right, block->n);
	if (right != block->n)
		printf("seed %llu\n", (unsigned long long)state);
	return block->n;
}

static void round_trip(uint64_t seed)
{
	struct mt_records_writer w;
	const uint64_t start = 1000000 + number();
	uint32_t n, from = 0, blocks = 0;
	int kind;

	state = seed;
	kind = (int)below(3);
	n = (uint32_t)below(below(4) ? 300 : 6000);
	mt_records_init(&w, room, below(2) ? ROOM : MT_RECORDS_ROOM_MIN + below(1u << 18));
	mt_records_begin(&w, start, start + 50);
	CHECK_EQ(mt_records_take(&w), 0);
	for (uint32_t i = 0; i < n; i++) {
		make(&kept[i], kept_mask[i], kind, start);
		if (!mt_records_add(&w, &kept[i])) {
			const size_t bytes = mt_records_take(&w);

			CHECK(bytes && (char *)w.block + bytes <= (char *)room + ROOM);
			from += check_block(&w, bytes, start, from);
			blocks++;
			CHECK(mt_records_add(&w, &kept[i]));
		}
	}
	if (n) {
		const size_t bytes = mt_records_take(&w);

		CHECK(bytes);
		from += check_block(&w, bytes, start, from);
		CHECK_EQ(mt_records_take(&w), 0);
	}
	CHECK_EQ(from, n);
	CHECK_EQ(w.before, n);
}

/* Bytes that nobody has written: they are refused or read, and nothing else happens (make asan). */
static void hostile(uint64_t seed)
{
	struct mt_records_writer w;
	struct mt_records_head h;
	unsigned char *copy;
	size_t bytes;

	state = seed;
	mt_records_init(&w, room, ROOM);
	mt_records_begin(&w, 5, 9);
	for (uint32_t i = 0, n = 1 + (uint32_t)below(200); i < n; i++) {
		make(&kept[i], kept_mask[i], (int)below(3), 5);
		mt_records_add(&w, &kept[i]);
	}
	bytes = mt_records_take(&w);
	CHECK_EQ(mt_records_get_head(w.block, &h), 0);
	copy = malloc(bytes);
	for (int turn = 0; turn < 200; turn++) {
		const uint64_t hits = 1 + below(4);
		struct mt_records_head bad = h;

		memcpy(copy, w.block, bytes);
		for (uint64_t k = 0; k < hits; k++)
			copy[below(bytes)] = (unsigned char)any();
		/* a byte that is not as it was is always seen, by one of the two checksums */
		if (memcmp(copy, w.block, bytes))
			CHECK(mt_records_get_head(copy, &bad) || bad.crc != mt_crc32c(0, copy + MT_RECORDS_HEAD, h.bytes));
		bad = h;
		if (below(3) == 0)
			bad.records = (uint32_t)below(5000);
		if (below(3) == 0)
			bad.bytes = (uint32_t)below(h.bytes + 1);
		mt_records_read(&bad, copy + MT_RECORDS_HEAD, block);
	}
	free(copy);
}

static void heads(void)
{
	const struct mt_records_head h = { .version = 1, .kind = 1, .bytes = 0x01020304, .records = 77, .start = 1ull << 63, .end = ~0ull,
					   .before = 1ull << 40, .crc = 0xdeadbeef };
	unsigned char p[MT_RECORDS_HEAD];
	struct mt_records_head got;

	CHECK_EQ(mt_crc32c(0, "123456789", 9), 0xe3069283u);	/* what everybody's CRC32C is */
	CHECK_EQ(mt_crc32c(mt_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
	mt_records_put_head(p, &h);
	CHECK(!memcmp(p, "\x89MTR\x01\x01\0\0\x04\x03\x02\x01", 12));
	CHECK_EQ(mt_records_get_head(p, &got), 0);
	CHECK(got.version == 1 && got.kind == 1 && got.bytes == h.bytes && got.records == 77 && got.start == h.start && got.end == h.end &&
	      got.before == h.before && got.crc == h.crc);
	for (unsigned int i = 0; i < MT_RECORDS_HEAD * 8; i++) {
		p[i / 8] ^= (unsigned char)(1u << i % 8);
		CHECK(mt_records_get_head(p, &got) < 0);
		p[i / 8] ^= (unsigned char)(1u << i % 8);
	}
}

/* What each record needs; sizes are facts that a person reads about. */
static void size(void)
{
	const uint64_t cpu = 2;
	struct mt_records_writer w;
	size_t bytes;

	mt_records_init(&w, room, ROOM);
	CHECK_EQ(w.cap, MT_RECORDS_MOST);
	mt_records_begin(&w, 1000, 2000);
	for (uint32_t i = 0; i < MT_RECORDS_MOST; i++) {
		const struct mt_access_row a = { .virt = 0x7f0000000000 + i * 4096ull, .nreads = 1, .cpus = &cpu, .cpu_words = 1, .tid = 5,
						 .ip = 0x401000, .read_at = 0, .write_at = -1, .first_ns = 1000 + 3000ull * i };

		CHECK(mt_records_add(&w, &a));
	}
	CHECK(!mt_records_add(&w, &(struct mt_access_row){ .nreads = 1, .cpus = &cpu, .cpu_words = 1 }));
	bytes = mt_records_take(&w);
	CHECK(bytes < 160);		/* a sweep is a handful of runs */
}

#define EXAMPLE "../testdata/records-example/"

/* The records of testdata/records-example, in two intervals. */
static const uint64_t cpu0[] = { 1 }, cpu65[] = { 0, 2 }, no_cpu[] = { 0 };
static const struct mt_access_row example[] = {
	{ .virt = 0x7f0000001010, .nreads = 1, .ip = 0x401000, .cpus = cpu0, .cpu_words = 1, .tid = 1000, .read_at = 0x10, .write_at = -1,
	  .first_ns = 1000 },
	{ .virt = 0x7f0000002010, .nreads = 1, .ip = 0x401000, .cpus = cpu0, .cpu_words = 1, .tid = 1000, .read_at = 0x10, .write_at = -1,
	  .first_ns = 4000 },
	{ .virt = 0x7f0000003ff8, .nreads = 2, .nwrites = 1, .ip = 0x401234, .cpus = cpu0, .cpu_words = 1, .tid = 1001, .read_at = 0x8,
	  .write_at = 0xff8, .first_ns = 3500 },
	{ .virt = 0x7f0000001000, .nwrites = 10, .ip = 0x401234, .cpus = cpu65, .cpu_words = 2, .tid = 1001, .read_at = -1, .write_at = 0,
	  .first_ns = 9000 },
	{ .virt = 0x7f0000009000, .phys = 0x5000, .nreads = 1, .cpus = no_cpu, .cpu_words = 1, .tid = -1, .node = -1, .read_at = -1,
	  .write_at = -1, .flags = MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION },
	/* the second interval */
	{ .virt = 0x555555558123, .nreads = 1125899906842624, .nwrites = 513, .cpus = cpu0, .cpu_words = 1, .tid = 1000, .node = 1,
	  .read_at = -1, .write_at = -1, .first_ns = 200001 },
};
#define N_EXAMPLE (sizeof(example) / sizeof(example[0]))

/* Bytes of a file of hexadecimal digits, in which what is behind # is for people. */
static size_t read_hex(const char *path, unsigned char *to, size_t most)
{
	char *text = mt_read_file(path, NULL), *save = NULL;
	size_t n = 0;

	CHECK(text != NULL);
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		unsigned int byte;
		int used;

		for (char *p = line; n < most && sscanf(p, " %2x%n", &byte, &used) == 1; p += used)
			to[n++] = (unsigned char)byte;
	}
	free(text);
	return n;
}

static void write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(p, 1, n, f) == n);
	if (f)
		fclose(f);
}

/* What the writer makes of the records of the example. */
static size_t write_example(unsigned char *to)
{
	struct mt_records_writer w;
	size_t all = 0;

	mt_records_init(&w, room, ROOM);
	for (size_t i = 0; i < N_EXAMPLE; i++) {
		if (i == 0)
			mt_records_begin(&w, 1000, 100000);
		if (i == N_EXAMPLE - 1) {
			const size_t n = mt_records_take(&w);

			memcpy(to, w.block, n);
			all = n;
			mt_records_begin(&w, 200000, 300000);
		}
		CHECK(mt_records_add(&w, &example[i]));
	}
	{
		const size_t n = mt_records_take(&w);

		memcpy(to + all, w.block, n);
		return all + n;
	}
}

static void worked_example(void)
{
	static unsigned char made[4096], plain[4096], packed[4096];
	const size_t n = read_hex(EXAMPLE "plain.hex", plain, sizeof(plain)), n_packed = read_hex(EXAMPLE "packed.hex", packed, sizeof(packed));
	char dir[] = "/tmp/mt_records_XXXXXX", *chunk, *text, *want = mt_read_file(EXAMPLE "records.csv", NULL), *got;
	uint64_t saved = 0;

	CHECK(mkdtemp(dir) != NULL);
	chunk = mt_printf("%s/accesses-000000.mtr", dir);
	text = mt_printf("%s/text", dir);
	CHECK_EQ(write_example(made), n);
	CHECK(!memcmp(made, plain, n));
	for (int k = 0; k < 3; k++) {
		write_file(chunk, k == 1 ? packed : plain, k == 1 ? n_packed : n);
		if (k == 2)	/* what this zstd makes of it */
			CHECK_EQ(mt_recordfile_pack(chunk, 1, &saved), 0);
		CHECK_EQ(mt_recordfile_text(chunk, text), 0);
		got = mt_read_file(text, NULL);
		CHECK_STR(got ? got : "", want ? want : "?");
		free(got);
	}
	unlink(chunk);
	unlink(text);
	rmdir(dir);
	free(chunk);
	free(text);
	free(want);
}

static uint64_t seen;

static bool count(void *arg, const struct mt_records_head *h, const struct mt_records_block *b)
{
	(void)arg;
	(void)h;
	seen += b->n;
	return true;
}

/* Of @n bytes of a chunk: records that are read and lost, bytes that are damaged and cut off. */
static void expect(const void *p, size_t n, uint64_t records, uint64_t lost, uint64_t damaged, uint64_t cut)
{
	char path[] = "/tmp/mt_records_XXXXXX";
	const int fd = mkstemp(path);
	struct mt_recordfile_counts k;

	close(fd);
	write_file(path, p, n);
	seen = 0;
	CHECK_EQ(mt_recordfile_read(path, count, NULL, &k), 0);
	CHECK_EQ(seen, records);
	CHECK_EQ(k.records, records);
	CHECK_EQ(k.lost, lost);
	CHECK_EQ(k.damaged, damaged);
	CHECK_EQ(k.cut, cut);
	unlink(path);
}

/* What is whole is read, the rest is counted: of a chunk that is cut anywhere, and one with a damaged byte anywhere. */
static void damage(void)
{
	static unsigned char good[4096], bad[8192];
	const size_t n = write_example(good), second = MT_RECORDS_HEAD + get_u32(good + 8), last = n - second;

	CHECK(n > second && last > 7);
	if (n <= second || last <= 7)
		return;
	CHECK(freopen("/dev/null", "w", stderr) != NULL);
	for (size_t cut = 0; cut <= n; cut++) {
		const size_t in = cut < second ? cut : cut - second;
		const uint64_t lost = in < MT_RECORDS_HEAD ? 0 : cut < second ? 5 : cut < n ? 1 : 0;

		expect(good, cut, cut < second ? 0 : cut < n ? 5 : 6, lost, 0, cut < n ? in : 0);
	}
	for (size_t at = 0; at < n; at++) {
		memcpy(bad, good, n);
		bad[at] ^= 0x40;
		/* the block behind tells how many there were; behind the last one with a damaged head nobody does */
		if (at < second)
			expect(bad, n, 1, 5, second, 0);
		else
			expect(bad, n, 5, at < second + MT_RECORDS_HEAD ? 0 : 1, last, 0);
	}
	/* a piece of a block, as a writer leaves it that could not go on, and whole ones behind it */
	memcpy(bad, good, second);
	memcpy(bad + second, good + second, last - 7);
	memcpy(bad + n - 7, good + second, last);
	expect(bad, n - 7 + last, 6, 1, last - 7, 0);
}

int main(void)
{
	kept = calloc(6000, sizeof(*kept));
	kept_mask = calloc(6000, sizeof(*kept_mask));
	block = malloc(sizeof(*block));
	room = malloc(ROOM);
	heads();
	size();
	worked_example();
	for (uint64_t seed = 1; seed <= 300; seed++)
		round_trip(seed * 0x9e3779b97f4a7c15ull);
	for (uint64_t seed = 1; seed <= 100; seed++)
		hostile(seed * 0xc2b2ae3d27d4eb4full);
	damage();
	free(kept);
	free(kept_mask);
	free(block);
	free(room);
	return mt_test_done();
}
