// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Memory of the program that is taken away from it and given back, but never changed: what it shares with others, and files that it reads.
 *
 * A page of a file comes back from the page cache. So a mapping of which nobody can have pages of his own is as good as shared memory,
 * also a private one. That it is such a mapping is known from its beginning to the first mprotect() that lets somebody write to it, which
 * waits for the lock like all that changes it: never does a look come between this call and the write. zap_space.files are these ranges.
 *
 * A userfaultfd keeps the kernel from mapping up to 2 MiB of a file around one read; MADV_RANDOM does not. It refuses shared mappings of
 * files that were opened for reading only, as most are. In their place comes a private one, which shows the same pages, and which
 * mprotect() is kept from making writable, as the other one would be. zap_space.lent are these ranges.
 */
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "preload/memory/space.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x080000
#endif
#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif
#define FS_TMPFS 0x01021994
#define FS_HUGETLBFS 0x958458f6

static uint64_t page_up(uint64_t v)
{
	return (v + MT_PAGE - 1) & ~(MT_PAGE - 1);
}

static void unmap(uint64_t start, uint64_t end)
{
	if (mt_sys(SYS_madvise, start, end - start, MADV_DONTNEED_LOCKED) == -EINVAL)
		mt_sys(SYS_madvise, start, end - start, MADV_DONTNEED);
}

void zap_unmap_shared(void)
{
	const struct zap_regions *shared = &zap_space.shared;

	/* a child has none of the pages of files */
	for (size_t i = 0; i < shared->n; i++)
		for (uint64_t at = shared->r[i].start, until; at < shared->r[i].end; at = until)
			if (!zap_regions_run(&zap_space.files, at, shared->r[i].end, &until))
				unmap(at, until);
}

/* May its pages be unmapped by us? No for device memory, and for huge pages, which another page size would hide. */
static int can_be_zapped(uint64_t addr, uint64_t len)
{
	/* the kernel wants whole pages of the mapping: a huge page does not begin here */
	uint64_t probe = len >= MT_HUGE_PAGE_MIN ? addr + MT_PAGE : addr;

	if (mt_sys(SYS_madvise, probe, MT_PAGE, MADV_DONTNEED_LOCKED) != -EINVAL)
		return 1;
	return mt_sys(SYS_madvise, probe, MT_PAGE, MADV_DONTNEED) != -EINVAL;	/* before 5.18 */
}

/* Under the lock. 1 when it is traced from now on. */
static int adopt(uint64_t addr, uint64_t len)
{
	if (!can_be_zapped(addr, len) || zap_register(addr, len))
		return 0;
	return !zap_regions_add(&zap_space.shared, addr, addr + len);
}

/* The same for what is read from a file, without a try that would take away what somebody has written. */
static int adopt_file(uint64_t addr, uint64_t len)
{
	if (zap_register(addr, len) || zap_regions_add(&zap_space.files, addr, addr + len))
		return 0;
	return !zap_regions_add(&zap_space.shared, addr, addr + len);
}

/* Devices are left alone. */
enum kind { KIND_OTHER, KIND_ZERO, KIND_MEMORY, KIND_FILE };

static enum kind kind_of_file(int fd)
{
	struct stat st;
	struct statfs fs;

	if (mt_sys(SYS_fstat, fd, &st))
		return KIND_OTHER;
	if (S_ISCHR(st.st_mode))
		return st.st_rdev == makedev(1, 5) ? KIND_ZERO : KIND_OTHER;	/* /dev/zero */
	if (!S_ISREG(st.st_mode) || mt_sys(SYS_fstatfs, fd, &fs) || fs.f_type == FS_HUGETLBFS)
		return KIND_OTHER;
	return fs.f_type == FS_TMPFS ? KIND_MEMORY : KIND_FILE;
}

/* Memory that is a disk has no pages in the page cache, and none that a look would find. */
static int is_disk(int fd)
{
	struct statx st;

	return !mt_sys(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &st) && st.stx_attributes & STATX_ATTR_DAX;
}

/* A private mapping in the place of a shared one. The address, or negative errno: there is no mapping any more. */
static long lend(uint64_t addr, uint64_t len, int prot, int flags, int fd, int64_t offset)
{
	const int how = MAP_FIXED | (flags & MAP_NORESERVE);
	long ret = mt_sys(SYS_mmap, addr, len, prot, MAP_PRIVATE | how, fd, offset);

	if (!mt_failed(ret) && !zap_regions_add(&zap_space.lent, addr, addr + len) && adopt_file(addr, len))
		return ret;
	zap_leave_out(addr, len);
	zap_regions_remove(&zap_space.lent, addr, addr + len);
	if (ret == -EAGAIN)	/* memory is locked, and more would not be allowed for a moment: nothing has changed */
		return (long)addr;
	ret = mt_sys(SYS_mmap, addr, len, prot, MAP_SHARED | how, fd, offset);
	if (mt_failed(ret))
		mt_sys(SYS_munmap, addr, len);
	return ret;
}

long zap_adopt(uint64_t addr, uint64_t len, int prot, int flags, int fd, int64_t offset)
{
	const int private = (flags & MAP_TYPE) == MAP_PRIVATE, reads = !(prot & PROT_WRITE) && !(flags & (MAP_ANONYMOUS | MAP_LOCKED));
	enum kind kind;

	len = page_up(len);
	if (!len || (prot & PROT_EXEC) || (flags & MAP_HUGETLB) || (private && !reads))
		return (long)addr;
	kind = flags & MAP_ANONYMOUS ? KIND_ZERO : kind_of_file(fd);
	if (kind == KIND_OTHER || (kind == KIND_FILE && !zap_space.files_too))
		return (long)addr;
	if (!private && adopt(addr, len)) {
		if (reads && flags & MAP_POPULATE)
			unmap(addr, addr + len);
		return (long)addr;
	}
	/* without a userfaultfd it would not be known what of 2 MiB was read */
	if (!reads || kind == KIND_ZERO || zap_space.no_uffd || !zap_space.files_too || zap_space.rwp || is_disk(fd) || flags & MAP_SYNC)
		return (long)addr;
	if (!private)
		return lend(addr, len, prot, flags, fd, offset);
	/* what the kernel has read ahead is in memory all the same */
	if (adopt_file(addr, len) && flags & MAP_POPULATE)
		unmap(addr, addr + len);
	return (long)addr;
}

void zap_adopt_moved(uint64_t old, uint64_t old_len, uint64_t addr, uint64_t len)
{
	struct zap_space *s = &zap_space;
	const uint64_t end = old + page_up(old_len);
	const int overlaps = zap_regions_overlap(&s->files, old, end), is_file = zap_regions_cover(&s->files, old, end);
	const int lent = zap_regions_overlap(&s->lent, old, end);

	if (!lent && !zap_regions_overlap(&s->shared, old, end))
		return;
	if (addr != old || len < old_len) {
		uint64_t from = addr == old ? old + page_up(len) : old;

		zap_unshare(from, end - from);
	}
	len = page_up(len);
	if (lent)
		zap_regions_add(&s->lent, addr, addr + len);
	/* of what is a file in part it is not known whether somebody has written to the rest */
	if (is_file)
		adopt_file(addr, len);
	else if (overlaps)
		zap_leave_out(addr, len);
	else if (!lent)
		adopt(addr, len);
}

void zap_let_alone(uint64_t addr, uint64_t len)
{
	const struct zap_regions *shared = &zap_space.shared;
	const uint64_t end = addr + page_up(len);

	for (size_t i = zap_regions_find(shared, addr); i < shared->n && shared->r[i].start < end; i++) {
		const uint64_t from = shared->r[i].start > addr ? shared->r[i].start : addr;
		struct uffdio_range r = { from, (shared->r[i].end < end ? shared->r[i].end : end) - from };

		zap_note_present(r.start, r.len);
		mt_sys(SYS_ioctl, zap_space.uffd, UFFDIO_UNREGISTER, &r);
	}
	zap_leave_out(addr, len);
}

static long protect(uint64_t addr, uint64_t len, int prot, int key)
{
	return key < 0 ? mt_sys(SYS_mprotect, addr, len, prot) : mt_sys(SYS_pkey_mprotect, addr, len, prot, key);
}

long zap_protect(uint64_t addr, uint64_t len, int prot, int key)
{
	const struct zap_regions *lent = &zap_space.lent;
	const uint64_t end = addr & (MT_PAGE - 1) ? addr : addr + page_up(len);	/* else the kernel does nothing */
	const size_t i = zap_regions_find(lent, addr);
	long ret;

	if (prot & PROT_WRITE && end > addr && i < lent->n && lent->r[i].start < end) {
		/* what lies in front of the mapping that the kernel refuses is changed */
		ret = lent->r[i].start > addr ? protect(addr, lent->r[i].start - addr, prot, key) : 0;
		if (ret != -ENOMEM && ret)
			return ret;
		zap_let_alone(addr, lent->r[i].start > addr ? lent->r[i].start - addr : 0);
		return ret ? ret : -EACCES;
	}
	/* also where the call fails: it may have changed a part */
	if (prot & (PROT_WRITE | PROT_EXEC) && end > addr && zap_regions_overlap(&zap_space.files, addr, end))
		zap_let_alone(addr, len);
	return protect(addr, len, prot, key);
}

/* ---- as the kernel has it */

static int begins_with(const struct mt_map *m, const char *text)
{
	return !strncmp(m->path, text, strlen(text));
}

/* A MAP_SHARED mapping that no hook brought to us, or that was refused: is it memory (1), a file (2), or none of both? */
static int kind_of_shared(const struct mt_map *m)
{
	if ((m->prot & PROT_EXEC) || !m->prot)
		return 0;
	if (begins_with(m, "/memfd:memtrace "))
		return 0;	/* a view of ours, or of the parent's while it is copied */
	if (begins_with(m, "/dev/zero (deleted)") || begins_with(m, "/memfd:") || begins_with(m, "/SYSV") ||
	    begins_with(m, "/dev/shm/") || begins_with(m, "/anon_hugepage") || begins_with(m, "/dev/hugepages/"))
		return 1;
	if (begins_with(m, "/dev/") || begins_with(m, "/sys/") || begins_with(m, "/proc/") || m->path[0] != '/')
		return 0;
	return m->prot & PROT_WRITE ? 2 : 0;
}

/* What there was until now. */
static struct zap_regions old_shared, old_files, old_lent;

static void take(struct zap_regions *old, struct zap_regions *now)
{
	const struct zap_regions was = *old;

	*old = *now;
	*now = was;
	zap_regions_clear(now);
}

static void refresh_begin(void)
{
	take(&old_shared, &zap_space.shared);
	take(&old_files, &zap_space.files);
	take(&old_lent, &zap_space.lent);
	zap_space.unseen_shared = 0;
}

/* Of a private mapping of a file. */
static int refresh_file(const struct mt_map *m)
{
	int found = 0;

	for (uint64_t at = m->start, until; at < m->end; at = until)
		if (zap_regions_run(&old_lent, at, m->end, &until))
			zap_regions_add(&zap_space.lent, at, until);
	if (m->prot & (PROT_WRITE | PROT_EXEC))
		return 0;
	for (uint64_t at = m->start, until; at < m->end; at = until)
		if (zap_regions_run(&old_files, at, m->end, &until) && ++found && !zap_regions_add(&zap_space.files, at, until))
			zap_regions_add(&zap_space.shared, at, until);
	return found;
}

static int refresh_adopted(const struct mt_map *m)
{
	const int kind = m->shared ? kind_of_shared(m) : 0;

	if (!m->shared)
		return m->ino && refresh_file(m);
	if (!zap_space.rwp && zap_is_mapping(m, zap_space.dev, zap_space.ino))
		return 0;
	if (zap_regions_cover(&old_shared, m->start, m->end))
		zap_regions_add(&zap_space.shared, m->start, m->end);
	else if (kind && (kind == 2 || !adopt(m->start, m->end - m->start)))
		zap_space.unseen_shared += m->end - m->start;
	return 1;
}

const struct zap_adopted zap_adopted = { refresh_begin, refresh_adopted };
