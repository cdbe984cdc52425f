// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Kernel side: a hidden page has PROT_NONE and the bit of userfaultfd in its page table entry (mm/mprotect.c). A fault on it
 * does not look whether it is a read or a write: it makes the entry what the mapping allows, writable as well unless
 * soft-dirty tracking wants to see the first write (do_uffd_rwp() in mm/memory.c). Read-write protection and write protection use the
 * same bit, so a mapping can have only one of both.
 */
#include "common/rwprotect.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "common/faultprobe.h"
#include "common/rawsys.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
/* Linux 5.19, 6.7 and 7.3; older headers lack them */
#define FEATURE_WP_SHARED (1ull << 12)
#define FEATURE_WP_ASYNC (1ull << 15)
#define FEATURE_RWP (1ull << 17)
#define FEATURE_RWP_ASYNC (1ull << 18)
#define REGISTER_MODE_RWP (1ull << 3)
struct rwprotect {
	struct uffdio_range range;
	uint64_t mode;		/* 1: hide */
};
#define IOCTL_RWPROTECT _IOWR(UFFDIO, 0x09, struct rwprotect)

#define SOFT_DIRTY (1ull << 55)

long mt_rwp_open(const char **why)
{
	struct uffdio_api api = { .api = UFFD_API,
		.features = FEATURE_RWP | FEATURE_RWP_ASYNC | FEATURE_WP_SHARED | FEATURE_WP_ASYNC };
	long fd = mt_sys(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY), err;

	*why = "userfaultfd is refused";
	if (fd < 0)
		return fd;
	*why = "this kernel has no read-write protection in userfaultfd (Linux 7.3)";
	err = mt_sys(SYS_ioctl, fd, UFFDIO_API, &api);
	if (!err)
		return fd;
	mt_sys(SYS_close, fd);
	return err;
}

long mt_rwp_register(int uffd, uint64_t addr, uint64_t len)
{
	struct uffdio_register reg = { .range = { addr, len }, .mode = REGISTER_MODE_RWP };

	return mt_sys(SYS_ioctl, uffd, UFFDIO_REGISTER, &reg);
}

long mt_rwp_unregister(int uffd, uint64_t addr, uint64_t len)
{
	struct uffdio_range range = { addr, len };

	return mt_sys(SYS_ioctl, uffd, UFFDIO_UNREGISTER, &range);
}

long mt_rwp_hide(int uffd, uint64_t addr, uint64_t len)
{
	struct rwprotect hide = { .range = { addr, len }, .mode = 1 };

	return mt_sys(SYS_ioctl, uffd, IOCTL_RWPROTECT, &hide);
}

#define PAGES 4
#define BYTES (PAGES * MT_PAGE)

static uint64_t entry(int pagemap, const volatile char *page)
{
	uint64_t e = 0;

	mt_sys(SYS_pread64, pagemap, &e, 8, (uint64_t)page / MT_PAGE * 8);
	return e;
}

/* Does the first write after a read fault once soft-dirty tracking has begun anew? Only then the kernel sets its bit. */
static int sees_writes(int uffd, int pagemap, volatile char *page)
{
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/clear_refs", O_WRONLY | O_CLOEXEC, 0);
	uint64_t before;

	if (fd < 0)
		return 0;
	*page = 1;
	mt_rwp_hide(uffd, (uint64_t)page, MT_PAGE);
	if (mt_writes_fault((int)fd)) {
		mt_sys(SYS_close, fd);
		return 0;
	}
	mt_sys(SYS_close, fd);
	(void)*page;
	before = entry(pagemap, page);
	*page = 2;
	return mt_rwp_touched(before) && !(before & SOFT_DIRTY) && (entry(pagemap, page) & SOFT_DIRTY);
}

int mt_rwp_probe(int uffd, unsigned int without, struct mt_rwp_traits *t, const char **why)
{
	long w = mt_rawmap_at_place(BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), err;
	long pagemap = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	volatile char *m = (volatile char *)w;
	uint64_t hidden, touched, other;

	*t = (struct mt_rwp_traits){ 0 };
	*why = "no memory";
	err = mt_failed(w) ? w : 0;
	if (!err && pagemap < 0) {
		*why = "the page table cannot be read";
		err = pagemap;
	}
	if (err)
		goto out;
	mt_sys(SYS_madvise, w, BYTES, MADV_NOHUGEPAGE);
	m[0] = m[MT_PAGE] = 'a';
	*why = "memory cannot be registered with userfaultfd for read-write protection";
	err = mt_rwp_register(uffd, (uint64_t)w, BYTES);
	if (err)
		goto out;
	*why = "pages cannot be hidden with userfaultfd";
	err = mt_rwp_hide(uffd, (uint64_t)w, BYTES);
	if (err)
		goto out;
	hidden = entry((int)pagemap, m);
	t->works = m[0] == 'a';
	touched = entry((int)pagemap, m);
	other = entry((int)pagemap, m + MT_PAGE);
	t->works = t->works && !mt_rwp_touched(hidden) && mt_rwp_touched(touched) && !mt_rwp_touched(other) && other >> 63;
	*why = "an access does not take the protection away from its page";
	if (!t->works)
		err = -EIO;
	else if (!(without & MT_WITHOUT_SOFT_DIRTY))
		t->writes_fault = sees_writes(uffd, (int)pagemap, m + MT_PAGE);
out:
	if (pagemap >= 0)
		mt_sys(SYS_close, pagemap);
	if (!mt_failed(w))
		mt_sys(SYS_munmap, w, BYTES);
	return (int)err;
}
