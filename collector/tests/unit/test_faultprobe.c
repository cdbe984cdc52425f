// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/faultprobe.c common/rawmem.c
/* What the probe says against what a mapping of our own does. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/faultprobe.h"
#include "harness.h"

#define P 4096ul
#define PAGES 256ul

static void words(void)
{
	CHECK_EQ(mt_without(NULL), 0);
	CHECK_EQ(mt_without(""), 0);
	CHECK_EQ(mt_without("userfaultfd"), MT_WITHOUT_USERFAULTFD);
	CHECK_EQ(mt_without("soft_dirty,close_range"), MT_WITHOUT_SOFT_DIRTY | MT_WITHOUT_CLOSE_RANGE);
	CHECK_EQ(mt_without(",pagemap_scan,,nothing,dontneed_locked,"), MT_WITHOUT_PAGEMAP_SCAN | MT_WITHOUT_DONTNEED_LOCKED);
	CHECK_EQ(mt_without("userfault"), 0);
	CHECK_EQ(mt_without("userfaultfds"), 0);
}

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_minflt;
}

/* Faults of @pages reads from the middle of the mapping, one page after the other. */
static long reading(volatile char *m, unsigned long pages)
{
	long before = faults();

	for (unsigned long i = 0; i < pages; i++)
		(void)m[(PAGES / 2 + i) * P];
	return faults() - before;
}

static void against_faults(unsigned int without)
{
	int fd = memfd_create("probe", 0), clear = open("/proc/self/clear_refs", O_WRONLY);
	struct mt_fault_traits t = { 0, 0 };
	volatile char *room, *m;
	struct stat st;
	long n;

	CHECK_EQ(ftruncate(fd, 1l << 47), 0);
	CHECK_EQ(mt_fault_probe(fd, 1l << 40, without, &t), 0);
	CHECK(t.around >= 1 && t.around <= MT_FAULT_PROBE_BYTES / P && !(t.around & (t.around - 1)));
	CHECK(!fstat(fd, &st) && st.st_blocks == 0);	/* the file is as it was */
	/* the groups are aligned */
	room = mmap(NULL, 2 * PAGES * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = (char *)(((uintptr_t)room + PAGES * P - 1) & ~(PAGES * P - 1));
	CHECK(mmap((char *)m, PAGES * P, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == (char *)m);
	for (unsigned long i = 0; i < PAGES; i++)
		m[i * P] = 1;
	if (!(without & MT_WITHOUT_SOFT_DIRTY) && clear >= 0)
		mt_writes_fault(clear);
	CHECK_EQ(madvise((char *)m, PAGES * P, MADV_DONTNEED), 0);
	CHECK_EQ(reading(m, t.around), 1);
	if (t.around < PAGES / 2) {
		CHECK_EQ(reading(m, t.around + 1), 1);
		CHECK_EQ(madvise((char *)m, PAGES * P, MADV_DONTNEED), 0);
		CHECK_EQ(reading(m, 2 * t.around), 2);
	}
	n = faults();
	m[PAGES / 2 * P] = 2;
	CHECK_EQ(faults() - n, t.writes_fault);
	if (without & MT_WITHOUT_SOFT_DIRTY)
		CHECK_EQ(t.writes_fault, 0);
	munmap((char *)room, 2 * PAGES * P);
	close(fd);
	close(clear);
}

int main(void)
{
	struct mt_fault_traits t;

	words();
	against_faults(0);
	against_faults(MT_WITHOUT_SOFT_DIRTY);
	/* nothing to try it with: the worst is assumed */
	CHECK(mt_fault_probe(-1, 0, 0, &t) < 0);
	CHECK(t.around == 16 && !t.writes_fault);
	return mt_test_done();
}
