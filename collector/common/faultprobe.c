// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Kernel side: do_fault_around() maps resident neighbours of a page that is read, unless
 * userfaultfd protects the mapping; vma_wants_writenotify() takes the write permission from the
 * page protection of a shared mapping when soft-dirty tracking has begun for it (VM_SOFTDIRTY is
 * cleared), which "4" in clear_refs does.
 */
#include "common/faultprobe.h"

#include <linux/falloc.h>
#include <string.h>

#include "common/rawsys.h"

#define PAGE MT_PAGE
#define PAGES (MT_FAULT_PROBE_BYTES / PAGE)
#define PRESENT (1ull << 63)
#define SOFT_DIRTY (1ull << 55)
#define WORST_AROUND ((unsigned int)(65536 / PAGE))	/* fault_around_bytes is 64 KiB, unless root has set it */

unsigned int mt_without(const char *words)
{
	static const char *const name[] = { "userfaultfd", "pagemap_scan", "dontneed_locked", "close_range", "soft_dirty",
		"_Fork" };
	unsigned int bits = 0;

	while (words && *words) {
		size_t n = strcspn(words, ",");

		for (unsigned int i = 0; i < sizeof(name) / sizeof(*name); i++)
			if (strlen(name[i]) == n && !memcmp(words, name[i], n))
				bits |= 1u << i;
		words += n;
		words += *words == ',';
	}
	return bits;
}

long mt_writes_fault(int clear_refs_fd)
{
	long ret = mt_sys(SYS_write, clear_refs_fd, "4", 1);

	return ret == 1 ? 0 : ret < 0 ? ret : -EIO;
}

static uint64_t entry(int pagemap, long page)
{
	uint64_t e = 0;

	mt_sys(SYS_pread64, pagemap, &e, 8, (uint64_t)page / PAGE * 8);
	return e;
}

static int without_soft_dirty(void)
{
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/self/clear_refs", O_WRONLY | O_CLOEXEC, 0);
	long ret = fd < 0 ? fd : mt_writes_fault((int)fd);

	if (fd >= 0)
		mt_sys(SYS_close, fd);
	return ret != 0;
}

int mt_fault_probe(int memfd, uint64_t offset, unsigned int without, struct mt_fault_traits *t)
{
	long w = mt_rawmap_at_place(MT_FAULT_PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, offset);
	long middle = w + (long)(PAGES / 2 * PAGE);
	int pagemap, no_writes;
	uint64_t before;

	*t = (struct mt_fault_traits){ .around = WORST_AROUND };
	if (mt_failed(w))
		return (int)w;
	pagemap = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	if (pagemap < 0)
		goto out;
	for (unsigned long i = 0; i < PAGES; i++)
		*(volatile char *)(w + (long)(i * PAGE)) = 1;
	no_writes = without & MT_WITHOUT_SOFT_DIRTY ? 1 : without_soft_dirty();
	mt_sys(SYS_madvise, w, MT_FAULT_PROBE_BYTES, MADV_DONTNEED);
	(void)*(volatile char *)middle;
	t->around = 0;
	for (unsigned long i = 0; i < PAGES; i++)
		t->around += (unsigned int)(entry(pagemap, w + (long)(i * PAGE)) >> 63);
	/* the bit is set by a fault only; without the configuration, or before clear_refs, it does not change */
	before = entry(pagemap, middle);
	*(volatile char *)middle = 1;
	t->writes_fault = !no_writes && (before & PRESENT) && !(before & SOFT_DIRTY) && (entry(pagemap, middle) & SOFT_DIRTY);
	if (!t->around)
		t->around = WORST_AROUND;	/* pagemap tells nothing */
	mt_sys(SYS_close, pagemap);
out:
	mt_sys(SYS_munmap, w, MT_FAULT_PROBE_BYTES);
	mt_sys(SYS_fallocate, memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, MT_FAULT_PROBE_BYTES);
	return pagemap < 0 ? pagemap : 0;
}
