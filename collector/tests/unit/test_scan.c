// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/scan.c preload/memory/kept.c preload/memory/ranges.c common/rawmem.c
/*
 * Finds and unmaps pages of a memory file as the monitor does, with PAGEMAP_SCAN and with
 * /proc/self/pagemap.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "preload/memory/rwp.h"
#include "preload/memory/scan.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#define PAGES 512ul
#define P 4096ul

static char *area;
static struct zap_regions traced, shared;
static struct zap_scan s;
static char hidden[256];	/* pages of the area, in the order of the calls */

/* What is ours with the backend rwp; no kernel here has it. */
void zap_rwp_hide(uint64_t start, uint64_t end)
{
	const size_t n = strlen(hidden);

	snprintf(hidden + n, sizeof(hidden) - n, "%s%ld-%ld", n ? " " : "", (long)(start - (uint64_t)area) / (long)P,
		 (long)(end - (uint64_t)area) / (long)P);
}

/* A write: around a read the kernel maps what the file has already. */
static void touch(size_t page)
{
	((volatile char *)area)[page * P] = (char)page;
}

/* The runs found, as pages of the area: "3-4 9-12". */
static const char *found(void)
{
	static char text[4096];
	size_t n = 0;

	zap_scan(&s, &traced, &shared);
	text[0] = 0;
	for (size_t i = 0; i < s.nruns; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%ld-%ld", i ? " " : "",
				      (long)(s.run[i].start - (uint64_t)area) / (long)P,
				      (long)(s.run[i].end - (uint64_t)area) / (long)P);
	return text;
}

static void one_way(int ioctl)
{
	struct zap_regions reading = { 0 };

	zap_scan_unmap(&s, &traced, &shared, 1ull << 40);
	s.has_ioctl = ioctl;
	CHECK_STR(found(), "");
	touch(3);
	touch(9);
	touch(10);
	touch(11);
	touch(200);	/* not traced */
	touch(300);
	CHECK_STR(found(), "3-4 9-12 300-301");
	/* without a gap only what was found goes */
	touch(5);
	zap_scan_unmap(&s, &traced, &shared, 0);
	CHECK_STR(found(), "5-6");
	/* with a gap, what lies between near runs goes as well, never over the border of a range */
	touch(3);
	touch(9);
	touch(300);
	found();
	touch(7);
	touch(200);
	zap_scan_unmap(&s, &traced, &shared, 1ull << 40);
	CHECK_STR(found(), "");
	CHECK_EQ(s.has_ioctl, ioctl);
	/* but of files that are read only what was found: between its pages there may be those of somebody */
	zap_regions_add(&reading, (uint64_t)area, (uint64_t)area + 8 * P);
	s.files = &reading;
	touch(3);
	touch(6);
	touch(12);
	touch(14);
	found();
	touch(4);
	touch(13);
	zap_scan_unmap(&s, &traced, &shared, 1ull << 40);
	CHECK_STR(found(), "4-5");
	zap_scan_unmap(&s, &traced, &shared, 0);
	s.files = NULL;
	zap_regions_free(&reading);
	{
		uint64_t entry = 0;

		CHECK_EQ(pread(s.pagemap_fd, &entry, 8, (off_t)((uint64_t)(area + 200 * P) / P * 8)), 8);
		CHECK(entry >> 63);
	}
}

/* What faulted between the scan and the boundary: it is zapped, too, as far as it is traced and the file's. */
static void missed(int ioctl)
{
	struct zap_regions m = { 0 };
	uint64_t page[8];

	s.has_ioctl = ioctl;
	found();
	zap_scan_unmap(&s, &traced, &shared, 0);
	touch(2);
	touch(30);
	touch(31);
	touch(399);
	CHECK_STR(found(), "2-3 30-32 399-400");
	touch(1);
	touch(5);
	touch(33);
	touch(200);	/* not traced */
	page[0] = (uint64_t)area + 33 * P;
	page[1] = (uint64_t)area + 2 * P;	/* found */
	page[2] = (uint64_t)area + 31 * P;	/* found, the last of a run */
	page[3] = (uint64_t)area + 1 * P;
	page[4] = (uint64_t)area + 33 * P;	/* twice */
	page[5] = (uint64_t)area + 200 * P;
	page[6] = (uint64_t)area + 399 * P;
	page[7] = (uint64_t)area + 50 * P;	/* gone again */
	zap_scan_unmap(&s, &traced, &shared, 0);
	zap_scan_missed(&s, &traced, &shared, page, 8, &m, &m);
	CHECK_EQ(m.n, 3);
	CHECK_EQ(zap_regions_bytes(&m), 3 * P);
	zap_scan(&s, &shared, &m);
	CHECK_EQ(s.nruns, 2);
	zap_scan_unmap(&s, &shared, &m, 0);
	CHECK_STR(found(), "5-6");	/* no fault of it was read: found by the next scan */
	zap_scan_missed(&s, &traced, &shared, NULL, 0, &m, &m);
	zap_regions_free(&m);
}

/* What is ours is hidden and stays mapped, what the program shares is unmapped, and no call is for both. */
static void what_is_hidden(void)
{
	struct zap_regions ours = { 0 }, programs = { 0 };

	zap_scan_unmap(&s, &traced, &shared, 1ull << 40);
	zap_regions_add(&ours, (uint64_t)area, (uint64_t)area + 10 * P);
	zap_regions_add(&programs, (uint64_t)area + 10 * P, (uint64_t)area + 20 * P);
	zap_regions_add(&ours, (uint64_t)area + 20 * P, (uint64_t)area + 30 * P);
	for (size_t i = 8; i < 22; i++)
		touch(i);
	s.rwp = 0;
	s.has_ioctl = 1;
	zap_scan(&s, &ours, &programs);
	CHECK_EQ(s.nruns, 1);
	s.rwp = 1;
	hidden[0] = 0;
	zap_scan_unmap(&s, &ours, &programs, 0);
	CHECK_STR(hidden, "8-10 20-22");
	s.rwp = 0;
	s.has_ioctl = 1;
	zap_scan(&s, &ours, &programs);
	CHECK_EQ(s.nruns, 2);
	CHECK_EQ(s.run[0].start, (uint64_t)area + 8 * P);
	CHECK_EQ(s.run[0].end, (uint64_t)area + 10 * P);
	CHECK_EQ(s.run[1].end, (uint64_t)area + 22 * P);
	/* touched is what is there and has not the bit of userfaultfd, which only registered memory gets */
	s.rwp = 1;
	s.has_ioctl = 0;
	zap_scan(&s, &ours, &programs);
	CHECK_EQ(s.nruns, 2);
	CHECK(mt_rwp_touched(1ull << 63) && mt_rwp_touched(1ull << 62));
	CHECK(!mt_rwp_touched(1ull << 63 | 1ull << 57) && !mt_rwp_touched(1ull << 62 | 1ull << 57) && !mt_rwp_touched(0));
	s.rwp = 0;
	s.has_ioctl = 1;
	zap_scan_unmap(&s, &ours, &programs, 0);
	zap_regions_free(&ours);
	zap_regions_free(&programs);
}

/* More runs than there was room for, and than one call of the kernel tells; none twice. */
static void growth(void)
{
	const size_t pages = 300000;
	struct zap_regions all = { 0 };
	size_t right = 0;
	int fd = memfd_create("scan-test-large", 0);
	char *large;

	CHECK_EQ(ftruncate(fd, (off_t)(pages * P)), 0);
	large = mmap(NULL, pages * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	zap_regions_add(&all, (uint64_t)large, (uint64_t)large + pages * P);
	for (size_t i = 0; i < pages; i += 2)
		((volatile char *)large)[i * P] = 1;
	s.has_ioctl = 1;
	zap_scan(&s, &all, &shared);
	CHECK_EQ(s.nruns, pages / 2);
	for (size_t i = 0; i < s.nruns; i++)
		right += s.run[i].start == (uint64_t)large + i * 2 * P && s.run[i].end == s.run[i].start + P;
	CHECK_EQ(right, pages / 2);
	munmap(large, pages * P);
	close(fd);
	zap_regions_free(&all);
}

/* Of a private mapping of a file only what was written is the program's own. */
static void copies(int ioctl)
{
	struct zap_regions files = { 0 };
	int fd = memfd_create("scan-test-private", 0);
	volatile char *file;

	CHECK_EQ(ftruncate(fd, 64 * P), 0);
	file = mmap(NULL, 64 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	zap_regions_add(&files, (uint64_t)file, (uint64_t)file + 64 * P);
	s.has_ioctl = ioctl;
	CHECK_EQ(zap_scan_copies(&s, &files), 0);
	for (size_t i = 0; i < 64; i++)
		CHECK_EQ(file[i * P], 0);
	CHECK_EQ(zap_scan_copies(&s, &files), 0);
	file[5 * P] = file[6 * P] = file[63 * P] = 1;
	CHECK_EQ(zap_scan_copies(&s, &files), 3 * P);
	munmap((void *)(uintptr_t)file, 64 * P);
	close(fd);
	zap_regions_free(&files);
}

/* Before Linux 5.18 mlocked pages stay; what lies around them in a run goes. */
static void locked(void)
{
	s.has_ioctl = 0;
	s.dontneed = MADV_DONTNEED;
	for (size_t i = 40; i < 80; i++)
		touch(i);
	/* not mlock(): with the sanitizers it does nothing */
	CHECK_EQ(syscall(SYS_mlock, area + 50 * P, 2 * P), 0);
	CHECK_STR(found(), "40-80");
	zap_scan_unmap(&s, &traced, &shared, 0);
	CHECK_STR(found(), "50-52");
	CHECK_EQ(syscall(SYS_munlock, area + 50 * P, 2 * P), 0);
	zap_scan_unmap(&s, &traced, &shared, 0);
	CHECK_STR(found(), "");
	s.dontneed = MADV_DONTNEED_LOCKED;
}

/* Ranges of the memory file and of others, in turn; no page of either is left out or found twice. */
static void two_kinds(void)
{
	int fd = memfd_create("scan-test-shared", 0);

	CHECK_EQ(ftruncate(fd, 50 * P), 0);
	/* between the two traced ranges, and touching the second one */
	CHECK(mmap(area + 200 * P, 50 * P, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == area + 200 * P);
	zap_regions_add(&shared, (uint64_t)area + 200 * P, (uint64_t)area + 250 * P);
	for (s.has_ioctl = 0; s.has_ioctl < 2; s.has_ioctl++) {
		size_t page[] = { 99, 120, 200, 248, 249, 250, 251 };

		zap_scan(&s, &traced, &shared);
		zap_scan_unmap(&s, &traced, &shared, 0);
		for (size_t i = 0; i < sizeof(page) / sizeof(*page); i++)
			touch(page[i]);
		CHECK_STR(found(), "99-100 200-201 248-252");
		zap_scan_unmap(&s, &traced, &shared, 1ull << 40);
		CHECK_STR(found(), "");
	}
	CHECK_EQ(area[249 * P], (char)249);
	zap_regions_clear(&shared);
	close(fd);
}

int main(void)
{
	int fd = memfd_create("scan-test", 0), pagemap = open("/proc/self/pagemap", O_RDONLY);
	uint64_t frame = 1;

	area = mmap(NULL, PAGES * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(ftruncate(fd, 1l << 47), 0);
	CHECK(mmap(area, PAGES * P, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)area) == area);
	zap_regions_add(&traced, (uint64_t)area, (uint64_t)area + 100 * P);
	zap_regions_add(&traced, (uint64_t)area + 250 * P, (uint64_t)area + 400 * P);
	CHECK_EQ(zap_scan_init(&s, fd, pagemap, 0), 0);
	one_way(1);
	one_way(0);
	missed(1);
	missed(0);
	what_is_hidden();
	/* contents stay in the file */
	CHECK_EQ(area[3 * P], 3);
	CHECK_EQ(area[11 * P], 11);
	/* a page that is not the file's is never found: unmapping it would lose it */
	CHECK(mmap(area + 20 * P, P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == area + 20 * P);
	zap_scan_unmap(&s, &traced, &shared, 0);
	for (s.has_ioctl = 0; s.has_ioctl < 2; s.has_ioctl++) {
		touch(20);
		found();
		zap_scan_unmap(&s, &traced, &shared, 0);
		touch(21);
		touch(20);
		CHECK_STR(found(), "21-22");
		zap_scan_unmap(&s, &traced, &shared, 0);
	}
	CHECK_EQ(area[20 * P], 20);
	CHECK(zap_scan_node(&s, (uint64_t)area / P, &frame) >= -1);
	CHECK_EQ(frame, 0);
	growth();
	copies(1);
	copies(0);
	locked();
	two_kinds();
	zap_scan_free(&s);
	CHECK(s.run == NULL);
	return mt_test_done();
}
