// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/kept.c preload/memory/ranges.c common/rawmem.c
/* Pages of unmapped memory that stay in the file: what is mapped reads as zeroes or as written, whatever was there before. */
#include "harness.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/memory/kept.h"
#include "common/rawsys.h"

#define PAGES 256

static int fd;
static unsigned char model[PAGES];	/* first byte of each page of what is mapped */
static char is_mapped[PAGES];

/* As a program that may not write long files. */
static void limit_files(int yes)
{
	struct rlimit rl;

	getrlimit(RLIMIT_FSIZE, &rl);
	rl.rlim_cur = yes ? MT_PAGE : rl.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &rl), 0);
}

static void put(unsigned int page, unsigned char byte)
{
	CHECK_EQ(pwrite(fd, &byte, 1, (off_t)page * (off_t)MT_PAGE), 1);
	model[page] = byte;
}

/* As zap_unshare() does it. */
static void unmap(unsigned int from, unsigned int n)
{
	if (!zap_keep(from * MT_PAGE, n * MT_PAGE))
		CHECK_EQ(zap_make_zero(fd, from * MT_PAGE, n * MT_PAGE), 0);
	memset(is_mapped + from, 0, n);
}

static void map(unsigned int from, unsigned int n)
{
	CHECK_EQ(zap_make_zero(fd, from * MT_PAGE, n * MT_PAGE), 0);
	memset(is_mapped + from, 1, n);
	memset(model + from, 0, n);
}

static int is_right(void)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		unsigned char page[MT_PAGE];

		if (!is_mapped[i])
			continue;
		if (pread(fd, page, MT_PAGE, (off_t)i * (off_t)MT_PAGE) != (ssize_t)MT_PAGE || page[0] != model[i])
			return 0;
		for (unsigned int k = 1; k < MT_PAGE; k++)
			if (page[k])
				return 0;
	}
	return 1;
}

static long blocks_of_file(void)
{
	struct stat st;

	return fstat(fd, &st) ? -1 : st.st_blocks * 512 / (long)MT_PAGE;
}

static void blocks_come_and_go(void)
{
	unsigned int right = 0, turns = 4000;

	srand(7);
	for (unsigned int i = 0; i < turns; i++) {
		const unsigned int from = (unsigned int)rand() % (PAGES - 40), n = 1 + (unsigned int)rand() % 40;

		const int limited = rand() % 50 == 0;

		if (limited)
			limit_files(1);
		if (rand() % 2)
			unmap(from, n);
		else
			map(from, n);
		if (limited)
			limit_files(0);
		for (unsigned int k = from; k < from + n; k += 1 + (unsigned int)rand() % 3)
			if (is_mapped[k])
				put(k, (unsigned char)(1 + i % 255));
		if (rand() % 100 == 0)
			zap_drop_kept(fd);
		right += (unsigned int)is_right();
	}
	CHECK_EQ(right, turns);
}

static void what_stays(void)
{
	zap_drop_kept(fd);
	unmap(0, PAGES);
	zap_drop_kept(fd);
	CHECK_EQ(blocks_of_file(), 0);
	map(0, 16);
	for (unsigned int i = 0; i < 8; i++)
		put(i, 1);
	unmap(0, 16);
	CHECK_EQ(blocks_of_file(), 8);		/* kept */
	map(0, 32);
	CHECK_EQ(blocks_of_file(), 8);		/* what nobody touched has no pages */
	zap_drop_kept(fd);
	CHECK_EQ(blocks_of_file(), 8);		/* it is mapped, and not kept any more */
	CHECK(is_right());
	unmap(0, 32);
	zap_drop_kept(fd);
	CHECK_EQ(blocks_of_file(), 0);
	/* more than there is room for */
	CHECK(zap_keep(0, 16 << 20));
	CHECK(!zap_keep(1ul << 30, MT_PAGE));
	zap_forget_kept();
	CHECK(!zap_keep(0, (16ul << 20) + MT_PAGE));
}

/* A page that is kept, mapped again and not touched is told from one that is. */
static void what_nobody_touched(void)
{
	zap_drop_kept(fd);
	map(0, 64);
	for (unsigned int i = 0; i < 8; i++)
		put(i, 1);
	CHECK(!zap_has_untouched(0, 64 * MT_PAGE));
	unmap(0, 64);
	map(0, 64);
	CHECK(zap_has_untouched(0, MT_PAGE) && zap_has_untouched(7 * MT_PAGE, 8 * MT_PAGE));
	CHECK(!zap_has_untouched(8 * MT_PAGE, 64 * MT_PAGE));	/* they are not in the file */
	zap_touched(2 * MT_PAGE, 3 * MT_PAGE);
	CHECK(!zap_has_untouched(2 * MT_PAGE, 3 * MT_PAGE) && zap_has_untouched(3 * MT_PAGE, 4 * MT_PAGE));
	zap_untouched_copied(100 * MT_PAGE, MT_PAGE, 3 * MT_PAGE);
	CHECK(zap_has_untouched(100 * MT_PAGE, 101 * MT_PAGE) && zap_has_untouched(102 * MT_PAGE, 103 * MT_PAGE));
	CHECK(!zap_has_untouched(101 * MT_PAGE, 102 * MT_PAGE) && !zap_has_untouched(103 * MT_PAGE, 104 * MT_PAGE));
	zap_touched(100 * MT_PAGE, 104 * MT_PAGE);
	/* given back: it is not there any more */
	CHECK_EQ(zap_make_zero(fd, 4 * MT_PAGE, MT_PAGE), 0);
	CHECK(!zap_has_untouched(4 * MT_PAGE, 5 * MT_PAGE));
	unmap(0, 64);
	CHECK(!zap_has_untouched(0, 64 * MT_PAGE));
	zap_drop_kept(fd);
}

/* Those that are mapped now have been touched. */
static void what_is_mapped_now(void)
{
	char *p = mmap(NULL, 200 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = (uint64_t)p;
	const int own = memfd_create("own", MFD_CLOEXEC);
	int right = 0;

	CHECK_EQ(ftruncate(own, 1l << 47), 0);
	for (unsigned int i = 0; i < 200; i++)
		CHECK_EQ(pwrite(own, "x", 1, (off_t)(at + i * MT_PAGE)), 1);
	CHECK(zap_keep(at, 200 * MT_PAGE));
	CHECK_EQ(zap_make_zero(own, at, 200 * MT_PAGE), 0);
	for (unsigned int i = 0; i < 200; i += 7)
		p[i * MT_PAGE] = 1;
	zap_look_at_untouched();
	for (unsigned int i = 0; i < 200; i++)
		right += zap_has_untouched(at + i * MT_PAGE, at + (i + 1) * MT_PAGE) == (i % 7 != 0);
	CHECK_EQ(right, 200);
	close(own);
}

int main(void)
{
	fd = memfd_create("kept", MFD_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, PAGES * (off_t)MT_PAGE), 0);
	blocks_come_and_go();
	what_stays();
	what_nobody_touched();
	what_is_mapped_now();
	return mt_test_done();
}
