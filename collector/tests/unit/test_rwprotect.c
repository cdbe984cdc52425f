// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/rwprotect.c common/faultprobe.c common/rawmem.c
/*
 * Read-write protection of userfaultfd: where the kernel has it (Linux 7.3, kmod/rwp.sh boots one) what the probe says is compared
 * with what an access does; elsewhere it says that there is none.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/faultprobe.h"
#include "common/rwprotect.h"

static char *area;

static int touched(int pagemap, int page)
{
	uint64_t e = 0;

	CHECK_EQ(pread(pagemap, &e, 8, (off_t)((uint64_t)area / MT_PAGE + (uint64_t)page) * 8), 8);
	return mt_rwp_touched(e);
}

static void with_it(int uffd)
{
	const int pagemap = open("/proc/self/pagemap", O_RDONLY);
	struct mt_rwp_traits t;
	const char *why;

	CHECK_EQ(mt_rwp_probe(uffd, 0, &t, &why), 0);
	CHECK_EQ(t.works, 1);
	CHECK_EQ(mt_rwp_probe(uffd, MT_WITHOUT_SOFT_DIRTY, &t, &why), 0);
	CHECK_EQ(t.works, 1);
	CHECK_EQ(t.writes_fault, 0);
	area = mmap(NULL, 8 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(area, 8 * MT_PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < 4; i++)
		area[(unsigned long)i * MT_PAGE] = (char)('a' + i);
	CHECK_EQ(mt_rwp_register(uffd, (uint64_t)area, 8 * MT_PAGE), 0);
	CHECK_EQ(touched(pagemap, 1), 1);
	CHECK_EQ(touched(pagemap, 5), 0);
	CHECK_EQ(mt_rwp_hide(uffd, (uint64_t)area, 8 * MT_PAGE), 0);
	CHECK_EQ(touched(pagemap, 1), 0);
	CHECK_EQ(*(volatile char *)(area + MT_PAGE), 'b');
	CHECK_EQ(touched(pagemap, 1), 1);
	CHECK_EQ(touched(pagemap, 2), 0);
	mprotect(area, MT_PAGE, PROT_NONE);
	CHECK_EQ(mt_rwp_register(uffd, (uint64_t)area, 8 * MT_PAGE), -EINVAL);
	CHECK_EQ(mt_rwp_unregister(uffd, (uint64_t)area, 8 * MT_PAGE), 0);
	CHECK_EQ(mt_rwp_hide(uffd, (uint64_t)area, 8 * MT_PAGE), -ENOENT);
	CHECK_EQ(*(volatile char *)(area + 2 * MT_PAGE), 'c');
	close(pagemap);
}

int main(void)
{
	const char *why = NULL;
	long uffd = mt_rwp_open(&why);

	CHECK(why != NULL);
	if (uffd >= 0) {
		with_it((int)uffd);
	} else if (uffd == -EINVAL) {
		CHECK(strstr(why, "Linux 7.3") != NULL);
	} else {
		CHECK_STR(why, "userfaultfd is refused");
	}
	CHECK(mt_rwp_touched(1ull << 63) && mt_rwp_touched(1ull << 62));	/* there, swapped out */
	CHECK(!mt_rwp_touched(1ull << 63 | 1ull << 57) && !mt_rwp_touched(0));
	return mt_test_done();
}
