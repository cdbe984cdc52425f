// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/trace/accesses.c cli/base/util.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c common/out.c cli/trace/recordpack.c
// includes: cli/trace/accesses.c
// libs: -lzstd -lz
/* Records of a chunk: what is plain, what is not, and what is no record; a buffer that ends anywhere. */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/trace/accesses.c"

/* Of tracedir.c, which needs much more. */
bool mt_chunk_name(const char *name)
{
	return !strncmp(name, "accesses-", 9);
}

static struct mt_access got[64];
static size_t n_got;

static bool take_one(void *arg, const struct mt_access *a)
{
	(void)arg;
	got[n_got++ & 63] = *a;
	return true;
}

static struct mt_access_counts read_text(const char *header, const char *text)
{
	struct mt_access_counts k = { 0 };
	char path[] = "/tmp/test_accesses.XXXXXX";
	const int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, header, strlen(header)) == (ssize_t)strlen(header) &&
	      write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	n_got = 0;
	memset(got, 0x55, sizeof(got));
	CHECK_EQ(mt_access_chunk_read(path, take_one, NULL, &k), 0);
	unlink(path);
	CHECK_EQ(k.records, n_got);
	return k;
}

#define HEADER "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Other,Flags\n"

static void plain(void)
{
	struct mt_access_counts k = read_text(HEADER,
		"7f00deadbeef,0,1,18446744073709551615,ff,5,9,77,401000,what?,1f\n"
		"ffffffffffffffff,10,0,2,0,9223372036854775807,0,1,0,,0\n");

	CHECK(k.records == 2 && !k.bad && !k.torn);
	CHECK(got[0].virt == 0x7f00deadbeef && !got[0].phys && got[0].reads == 1 && got[0].writes == UINT64_MAX);
	CHECK(got[0].start == 5 && got[0].end == 9 && got[0].tid == 77 && got[0].ip == 0x401000 && got[0].flags == 0x1f);
	CHECK(got[0].node == -1);
	CHECK_STR(got[0].cpus, "ff");
	CHECK(got[1].virt == UINT64_MAX && got[1].phys == 16 && got[1].start == INT64_MAX && got[1].end == 0);
	CHECK_STR(got[1].cpus, "0");
	/* columns in another order, and without those that may be missing */
	k = read_text("TaskId,End,Start,CPUMask,Nwrites,Nreads,@Phy,@Virt\n", "8,7,6,5,4,3,2,1\n");
	CHECK(k.records == 1 && got[0].virt == 1 && got[0].phys == 2 && got[0].reads == 3 && got[0].writes == 4 &&
	      got[0].start == 6 && got[0].end == 7 && got[0].tid == 8 && !got[0].ip && !got[0].flags && got[0].node == -1);
	k = read_text("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Node\n", "1,2,3,4,5,6,7,8,9\n1,2,3,4,5,6,7,8,-1\n");
	CHECK(k.records == 2 && got[0].node == 9 && got[1].node == -1);
}

/* What lines have in common with the one before is not read again: lines that nearly have, too. */
static void in_common(void)
{
	struct mt_access_counts k = read_text(HEADER,
		"1,0,1,0,1,100,200,30,a,,0\n"
		"2,0,1,0,1,100,200,30,b,,0\n"		/* the same */
		"3,0,1,0,1,100,200,300,c,,0\n"		/* longer */
		"4,0,1,0,1,100,200,3,d,,0\n"		/* shorter */
		"5,0,1,0,1,100,201,3,e,,0\n"
		"6,0,1,0,1,1002,01,3,f,,0\n"		/* the same digits */
		"7,0,1,0,1,100,x,3,f,,0\n"		/* not a record */
		"8,0,1,0,1,-1,201,-1,f,,0\n"		/* not plain */
		"9,0,1,0,1,1002,01,3,10,,0\n");	/* as three lines ago */
	static const int64_t want[][3] = { { 100, 200, 30 }, { 100, 200, 30 }, { 100, 200, 300 }, { 100, 200, 3 }, { 100, 201, 3 },
		{ 1002, 1, 3 }, { -1, 201, -1 }, { 1002, 1, 3 } };

	CHECK_EQ(k.records, 8);
	CHECK_EQ(k.bad, 1);
	for (size_t i = 0; i < 8; i++) {
		CHECK(got[i].start == want[i][0] && got[i].end == want[i][1] && got[i].tid == want[i][2]);
		CHECK_EQ(got[i].virt, i + 1 + (i >= 6));
		CHECK_EQ(got[i].ip, i < 6 ? 10 + i : i + 9);
	}
	/* a line that ends with them, and one that ends within */
	k = read_text("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n",
		"1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7\n1,2,3,4,5,6,7,89\n");
	CHECK(k.records == 3 && k.bad == 1 && got[1].tid == 8 && got[2].tid == 89);
	k = read_text("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip\n",
		"1,2,3,4,5,6,7,8,9\n1,2,3,4,5,6,7,8,\n1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,8,a\n");
	CHECK(k.records == 2 && k.bad == 2 && got[1].tid == 8 && got[1].ip == 10);
}

static void unusual(void)
{
	char text[300] = "1,2,3,4,";
	struct mt_access_counts k = read_text(HEADER,
		"1,2,3,4,5,-6,-7,-1,8,,0\n"
		"0xAB,CD,+3,4,5,6,7,8,9,,A\n"
		"1,2,3,4,5,6,7,8,9,,0,more,fields\n"
		"1,2,99999999999999999999,4,5,6,7,8,9,,0\n");

	CHECK(k.records == 4 && !k.bad && got[3].reads == UINT64_MAX);
	CHECK(got[0].start == -6 && got[0].end == -7 && got[0].tid == -1);
	CHECK(got[1].virt == 0xab && got[1].phys == 0xcd && got[1].reads == 3 && got[1].flags == 10);
	CHECK(got[2].virt == 1 && got[2].ip == 9);
	/* a mask of many CPUs is cut */
	memset(text + 8, 'f', 200);
	strcpy(text + 208, ",6,7,8,9,,0\n");
	k = read_text(HEADER, text);
	CHECK(k.records == 1 && strlen(got[0].cpus) == 63 && got[0].start == 6 && got[0].ip == 9);
}

static void no_records(void)
{
	struct mt_access_counts k = read_text(HEADER, "1,2,3,4,5,6,7,8,9\n" "\n" ",2,3,4,5,6,7,8,9,,0\n" "1,2,3,4,5,6,7,8,x,,0\n"
		"1,2,3,4,5,6,7,8,9,,0x\n" "g,2,3,4,5,6,7,8,9,,0\n" "1 ,2,3,4,5,6,7,8,9,,0\n" "1,2,3,4,5,6,7,8,9,,0\n" "1,2,3");

	CHECK(k.records == 1 && k.bad == 7 && k.torn == 1);
}

/* Lines over the border of what is read at once. */
static void borders(void)
{
	const size_t n = 20000;
	char *text = malloc(n * 64), *p = text;
	struct mt_access_counts k;

	for (size_t i = 0; i < n; i++)
		p += sprintf(p, "%zx,0,%zu,%zu,1,%zu,%zu,1,0,%.*s,0\n", i << 12, i, i + 1, i + 2, i + 3, (int)(i % 13), "xxxxxxxxxxxxx");
	k = read_text(HEADER, text);
	CHECK(k.records == n && !k.bad && !k.torn);
	for (size_t i = n - 64; i < n; i++)
		CHECK(got[i & 63].virt == i << 12 && got[i & 63].reads == i && got[i & 63].writes == i + 1 &&
		      got[i & 63].start == (int64_t)i + 2 && got[i & 63].end == (int64_t)i + 3);
	free(text);
}

int main(void)
{
	plain();
	in_common();
	unusual();
	no_records();
	borders();
	return mt_test_done();
}
