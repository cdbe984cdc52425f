// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/space.h"

#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "preload/ground/context.h"
#include "preload/ground/image.h"
#include "preload/memory/kept.h"
#include "preload/memory/late.h"
#include "preload/memory/objects.h"
#include "common/out.h"
#include "common/rwprotect.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

struct zap_space zap_space = { .memfd = -1, .uffd = -1 };

static uint64_t page_up(uint64_t v)
{
	return (v + MT_PAGE - 1) & ~(MT_PAGE - 1);
}

/*
 * ftruncate() obeys RLIMIT_FSIZE (and sends SIGXFSZ), although no file of the program
 * grows: the soft limit is lifted meanwhile.
 */
static long set_file_size(int fd)
{
	struct rlimit old, lifted;
	long ret;

	if (mt_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &old))
		return -EFBIG;
	if (old.rlim_cur >= ZAP_FILE_BYTES)
		return mt_sys(SYS_ftruncate, fd, ZAP_FILE_BYTES);
	if (old.rlim_max < ZAP_FILE_BYTES)
		return -EFBIG;
	lifted = old;
	lifted.rlim_cur = lifted.rlim_max;
	mt_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, &lifted, 0);
	ret = mt_sys(SYS_ftruncate, fd, ZAP_FILE_BYTES);
	mt_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, &old, 0);
	return ret;
}

/* A userfaultfd that protects shared memory, in s->uffd. 0 or negative errno, and s->no_uffd. */
static long open_uffd(void)
{
	struct zap_space *s = &zap_space;
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_ASYNC };
	long ret = mt_sys(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (ret == -EINVAL)	/* before 5.11 */
		ret = mt_sys(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	s->no_uffd = "userfaultfd is refused";
	if (ret >= 0)
		ret = mt_fd_keep((int)ret);
	if (ret < 0)
		return ret;
	s->uffd = (int)ret;
	/* since 6.7 mappings of files on disks can be registered, too */
	ret = mt_sys(SYS_ioctl, s->uffd, UFFDIO_API, &api);
	s->files_too = !ret;
	if (ret) {
		api = (struct uffdio_api){ .api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM };
		ret = mt_sys(SYS_ioctl, s->uffd, UFFDIO_API, &api);
	}
	s->no_uffd = ret ? "userfaultfd cannot protect shared memory" : NULL;
	if (ret) {
		mt_fd_close(s->uffd);
		s->uffd = -1;
	}
	return ret;
}

int zap_space_create(unsigned int without, const char **what)
{
	struct zap_space *s = &zap_space;
	struct stat st;
	long fd, ret;

	if (s->rwp)
		return zap_space.private_memory->create(without, what);
	s->memfd = s->uffd = -1;
	zap_forget_kept();
	*what = "memfd_create";
	fd = mt_sys(SYS_memfd_create, "memtrace", 1 /* MFD_CLOEXEC */);
	if (fd < 0)
		return (int)fd;
	s->memfd = mt_fd_keep((int)fd);
	if (s->memfd < 0)
		return s->memfd;
	*what = "the size of the memory file (RLIMIT_FSIZE)";
	ret = set_file_size(s->memfd);
	if (ret)
		goto fail;
	ret = mt_sys(SYS_fstat, s->memfd, &st);
	if (ret)
		goto fail;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (s->faults.around)
		return 0;	/* a child: the parent found that there is none */
	s->no_uffd = "not asked for";
	if (!(without & MT_WITHOUT_USERFAULTFD) && !open_uffd())
		return 0;
	/* the second best: nothing has to be registered, and files on disks are as good as any other */
	mt_fault_probe(s->memfd, ZAP_OWN_OFFSET, without, &s->faults);
	s->files_too = 1;
	return 0;
fail:
	zap_space_forget();
	return (int)ret;
}

void zap_space_forget(void)
{
	mt_fd_close(zap_space.uffd);
	mt_fd_close(zap_space.memfd);
	zap_space.memfd = zap_space.uffd = -1;
}

static int is_memfd(int fd)
{
	struct stat st;

	return fd >= 0 && !mt_sys(SYS_fstat, fd, &st) && st.st_dev == zap_space.dev && st.st_ino == zap_space.ino;
}

/*
 * The descriptor in this thread's table. A program may have closed it or put a file of
 * its own there; the monitor's table still has ours.
 */
int zap_memfd(void)
{
	struct zap_space *s = &zap_space;
	char path[64], *p = path;
	long fd;

	if (is_memfd(s->memfd))
		return s->memfd;
	memcpy(p, "/proc/", 6);
	p = mt_put_u64(p + 6, (uint64_t)s->monitor_tid);
	memcpy(p, "/fd/", 4);
	p = mt_put_u64(p + 4, (uint64_t)s->memfd);
	*p = 0;
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	/* the same number again when it is free, so that this is not needed each time */
	if (mt_sys(SYS_fcntl, s->memfd, F_GETFD) == -EBADF &&
	    mt_sys(SYS_dup3, fd, s->memfd, O_CLOEXEC) == s->memfd) {
		mt_sys(SYS_close, fd);
		fd = s->memfd;
	}
	s->rescue_uffd = 1;
	return is_memfd((int)fd) ? (int)fd : -EBADF;
}

void zap_memfd_done(int fd)
{
	if (fd >= 0 && fd != zap_space.memfd)
		mt_sys(SYS_close, fd);
}

long (*zap_on_monitor)(long (*fn)(void *arg, int maps_fd, int memfd), void *arg);

static long on_monitor(long (*fn)(void *arg, int maps_fd, int memfd), void *arg)
{
	return zap_on_monitor ? zap_on_monitor(fn, arg) : -ESRCH;
}

long zap_with_memfd(long (*fn)(void *arg, int maps_fd, int memfd), void *arg)
{
	const int fd = zap_memfd();
	long ret;

	if (fd < 0)
		return on_monitor(fn, arg);
	ret = fn(arg, -1, fd);
	zap_memfd_done(fd);
	return ret;
}

static long read_maps(void *arg, int maps_fd, int memfd)
{
	(void)memfd;
	return maps_fd < 0 ? maps_fd : mt_maps_read(arg, maps_fd);
}

int zap_maps_read(struct mt_maps *m)
{
	const int err = mt_maps_read_self(m);

	return err ? (int)on_monitor(read_maps, m) : 0;
}

/*
 * Registered, not armed: that alone switches off fault-around (16 pages per read fault)
 * and maps read faults read-only, so that the first write faults again. Without userfaultfd
 * it is noted that the latter must be asked for in another way.
 */
long zap_register(uint64_t addr, uint64_t len)
{
	struct uffdio_register reg = { .range = { addr, len }, .mode = UFFDIO_REGISTER_MODE_WP };

	if (zap_space.no_uffd) {
		zap_space.writes_unseen = 1;
		return 0;
	}
	return mt_sys(SYS_ioctl, zap_space.uffd, UFFDIO_REGISTER, &reg);
}

void zap_see_writes(int clear_refs_fd)
{
	int fd = clear_refs_fd;

	if (!zap_space.faults.writes_fault || !zap_space.writes_unseen)
		return;
	if (fd < 0)
		fd = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/clear_refs", O_WRONLY | O_CLOEXEC, 0);
	if (fd >= 0 && !mt_writes_fault(fd))
		zap_space.writes_unseen = 0;
	if (fd >= 0 && fd != clear_refs_fd)
		mt_sys(SYS_close, fd);
}

void zap_register_all(void)
{
	struct zap_regions *shared = &zap_space.shared;

	for (size_t i = 0; i < zap_space.regions.n; i++) {
		struct zap_range *r = &zap_space.regions.r[i];

		if (zap_space.rwp)
			zap_space.private_memory->add(r->start, r->end - r->start);
		else
			zap_register(r->start, r->end - r->start);
	}
	for (size_t i = 0; i < shared->n; i++)
		zap_register(shared->r[i].start, shared->r[i].end - shared->r[i].start);
}

long zap_map_file(uint64_t addr, uint64_t len, int prot, int flags, int fd)
{
	const long ret = mt_sys(SYS_mmap, addr, len, prot, MAP_SHARED | MAP_FIXED | flags, fd, addr);

	if (mt_failed(ret))
		return ret;
	zap_space.mapped = 1;
	/* without it only a child that no hook makes would have it; the next fork of ours gives it to all of the range again */
	if (mt_sys(SYS_madvise, addr, len, MADV_DONTFORK))
		mt_sys(SYS_madvise, addr, len, MADV_DONTFORK);
	return 0;
}

struct share {
	uint64_t addr, len;
	int prot, flags;
};

static long share_on(void *arg, int maps_fd, int memfd)
{
	const struct share *m = arg;
	const long ret = zap_make_zero(memfd, m->addr, m->len);

	(void)maps_fd;
	return ret ? ret : zap_map_file(m->addr, m->len, m->prot, m->flags, memfd);
}

long zap_share(uint64_t addr, uint64_t len, int prot, int flags)
{
	struct zap_space *s = &zap_space;
	struct share m = { addr, page_up(len), prot, flags & (MAP_NORESERVE | MAP_POPULATE | MAP_LOCKED | MAP_NONBLOCK) };
	long ret;

	if (s->rwp)
		return zap_space.private_memory->share(addr, len, prot), 0;
	len = m.len;
	if (addr + len > ZAP_OWN_OFFSET)	/* where programs get memory only when they ask for the place */
		return -ERANGE;
	ret = zap_with_memfd(share_on, &m);
	if (ret)
		return ret;
	if (zap_register(addr, len))
		s->rescue_uffd = 1;
	/* without room in the table the range is found again by zap_refresh() */
	zap_regions_add(&s->regions, addr, addr + len);
	return 0;
}

long zap_share_file(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset)
{
	struct zap_space *s = &zap_space;
	struct stat st;
	uint64_t done = 0;
	long w, ret;
	int memfd;

	if (s->rwp)
		return zap_space.private_memory->share_file(addr, len, prot, fd, offset);
	memfd = zap_memfd();
	if (memfd < 0)
		return memfd;
	len = page_up(len);
	ret = zap_make_zero(memfd, addr, len);
	if (ret)
		goto out;
	w = mt_rawmap_at_place(len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memfd, addr);
	ret = w;
	if (mt_failed(w))
		goto out;
	while (done < len) {
		ret = mt_sys(SYS_pread64, fd, w + (long)done, len - done, offset + done);
		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			break;
		done += (uint64_t)ret;
	}
	mt_sys(SYS_munmap, w, len);
	if (ret < 0)
		goto out;
	ret = zap_map_file(addr, len, prot, MAP_NORESERVE, memfd);
	if (ret)
		goto out;
	if (zap_register(addr, len))
		s->rescue_uffd = 1;
	zap_regions_add(&s->regions, addr, addr + len);
	if (!mt_sys(SYS_fstat, fd, &st))
		zap_object_data(addr, addr + len, offset, st.st_ino);
	ret = 0;
out:
	if (ret)
		zap_make_zero(memfd, addr, len);
	zap_memfd_done(memfd);
	return ret;
}

/* Only the traced parts of the range. */
static void remember_gone(const struct zap_regions *s, uint64_t start, uint64_t end)
{
	uint64_t now = mt_now_ns();

	for (size_t i = zap_regions_find(s, start); i < s->n && s->r[i].start < end; i++)
		zap_gone_add(&zap_space.gone[0], s->r[i].start > start ? s->r[i].start : start,
			 s->r[i].end < end ? s->r[i].end : end, now, s == &zap_space.shared);
}

void zap_turn_gone(void)
{
	struct zap_gone oldest = zap_space.gone[1];

	zap_space.gone[1] = zap_space.gone[0];
	oldest.n = 0;
	zap_space.gone[0] = oldest;
}

enum zap_traced zap_was_traced(uint64_t addr, uint64_t time)
{
	if (zap_regions_contain(&zap_space.regions, addr))
		return ZAP_TRACED;
	if (zap_regions_contain(&zap_space.shared, addr))
		return ZAP_TRACED_SHARED;
	for (int k = 0; k < 2; k++) {
		const struct zap_gone_range *r = zap_gone_at(&zap_space.gone[k], addr, time);

		if (r)
			return r->shared ? ZAP_TRACED_SHARED : ZAP_TRACED;
	}
	return ZAP_NOT_TRACED;
}

/* One page-table scan of [start, end), @ours: of our file, or hidden by us; the descriptor is the caller's. */
static void note_present_range(int pagemap, uint64_t start, uint64_t end, int ours)
{
	uint64_t entry[64];

	while (start < end) {
		uint64_t want = (end - start) / MT_PAGE;
		long n;

		/* an untouched part of a big mapping is skipped by the holes of the file */
		long data = ours && !zap_space.rwp ? mt_sys(SYS_lseek, zap_space.memfd, start, 3 /* SEEK_DATA */) : (long)start;

		if (data < 0 || (uint64_t)data >= end)
			return;
		if ((uint64_t)data > start) {
			start = (uint64_t)data & ~(MT_PAGE - 1);
			continue;
		}
		n = mt_sys(SYS_pread64, pagemap, entry, (want > 64 ? 64 : want) * 8, start / MT_PAGE * 8) / 8;
		if (n <= 0)
			return;
		for (long i = 0; i < n; i++)	/* bit 63 present, bit 61 file or shared */
			if (ours && zap_space.rwp ? mt_rwp_touched(entry[i]) : (entry[i] >> 63) && (entry[i] >> 61 & 1))
				zap_regions_add(&zap_space.dropped, start + (uint64_t)i * MT_PAGE,
						start + (uint64_t)(i + 1) * MT_PAGE);
		start += (uint64_t)n * MT_PAGE;
	}
}

static int events_may_be_lost(void)
{
	if (!zap_space.events_lost && zap_space.rings_tight && zap_space.rings_tight())
		zap_space.events_lost = 1;
	return zap_space.events_lost;
}

void zap_note_present(uint64_t addr, uint64_t len)
{
	const struct zap_regions *set[] = { &zap_space.regions, &zap_space.shared };
	uint64_t end = addr + page_up(len);
	int pagemap;

	if (!zap_space.active || (!zap_space.note_dropped && !events_may_be_lost()) ||
	    (!zap_regions_overlap(set[0], addr, end) && !zap_regions_overlap(set[1], addr, end)))
		return;
	pagemap = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	if (pagemap < 0)
		return;
	for (int k = 0; k < 2; k++) {
		const struct zap_regions *s = set[k];

		for (size_t i = zap_regions_find(s, addr); i < s->n && s->r[i].start < end; i++)
			note_present_range(pagemap, s->r[i].start > addr ? s->r[i].start : addr,
					   s->r[i].end < end ? s->r[i].end : end, !k);
	}
	mt_sys(SYS_close, pagemap);
}

void zap_leave_out(uint64_t addr, uint64_t len)
{
	if (!zap_regions_overlap(&zap_space.shared, addr, addr + page_up(len)))
		return;
	remember_gone(&zap_space.shared, addr, addr + page_up(len));
	/* without memory for two ranges in the place of one: nothing of what somebody may write to soon is looked at any more */
	if (zap_regions_remove(&zap_space.shared, addr, addr + page_up(len)))
		zap_regions_clear(&zap_space.shared);
	zap_regions_remove(&zap_space.files, addr, addr + page_up(len));
}

void zap_unshare(uint64_t addr, uint64_t len)
{
	len = page_up(len);
	zap_regions_remove(&zap_space.frozen, addr, addr + len);
	zap_regions_remove(&zap_space.lent, addr, addr + len);
	zap_leave_out(addr, len);
	if (zap_regions_overlap(&zap_space.reserved, addr, addr + len))
		zap_regions_remove(&zap_space.reserved, addr, addr + len);
	if (!zap_regions_overlap(&zap_space.regions, addr, addr + len))
		return;
	if (!zap_space.rwp && (zap_reads_in_groups() || !zap_keep(addr, len)))	/* around a read the kernel would map them */
		zap_zero(addr, len);
	remember_gone(&zap_space.regions, addr, addr + len);
	zap_regions_remove(&zap_space.regions, addr, addr + len);
	zap_regions_remove(&zap_space.not_forked, addr, addr + len);
	zap_object_gone(addr, addr + len);
}

void zap_let_go(void)
{
	zap_note_present(0, UINT64_MAX / 2);
	remember_gone(&zap_space.regions, 0, UINT64_MAX);
	remember_gone(&zap_space.shared, 0, UINT64_MAX);
	zap_regions_clear(&zap_space.regions);
	zap_regions_clear(&zap_space.shared);
	zap_regions_clear(&zap_space.files);
	zap_space.active = 0;
}

static long zero_on(void *arg, int maps_fd, int memfd)
{
	const struct zap_range *r = arg;

	(void)maps_fd;
	return zap_make_zero(memfd, r->start, r->end - r->start);
}

long zap_zero(uint64_t addr, uint64_t len)
{
	struct zap_range r = { addr, addr + len };

	return len ? zap_with_memfd(zero_on, &r) : 0;
}

static long anew(uint64_t start, uint64_t end, int prot)
{
	const long ret = mt_sys(SYS_mmap, start, end - start, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	return mt_failed(ret) ? ret : 0;
}

/* Without the kernel's maps: what may be written to is overwritten; of the rest it is found out whether it can be read. */
static long overwrite(uint64_t start, uint64_t end)
{
	char byte;

	for (uint64_t at = start; at < end; at += MT_PAGE) {
		long err = 0;

		/* stores two words, or says that it may not */
		if (!mt_sys(SYS_clock_gettime, CLOCK_MONOTONIC, at))
			memset((void *)at, 0, MT_PAGE);
		else
			err = anew(at, at + MT_PAGE, mt_can_read((void *)at, &byte, 1) ? PROT_NONE : PROT_READ);
		if (err)
			return -EAGAIN;
	}
	return 0;
}

/* @m: NULL, it is not known what is there. */
static long zero_frozen_in(const struct mt_map *m, uint64_t start, uint64_t end)
{
	const struct zap_regions *s = &zap_space.frozen;
	long err = 0;

	for (size_t i = zap_regions_find(s, start); !err && i < s->n && s->r[i].start < end; i++) {
		const uint64_t from = s->r[i].start > start ? s->r[i].start : start, to = s->r[i].end < end ? s->r[i].end : end;

		err = m ? anew(from, to, m->prot) : overwrite(from, to);
	}
	return err;
}

int zap_is_frozen(const struct mt_map *m)
{
	return m->ino == zap_space.ino && m->major == major(zap_space.dev) && m->minor == minor(zap_space.dev) ? 1 :
	       !m->shared && !m->ino;
}

long zap_zero_frozen(uint64_t addr, uint64_t len)
{
	struct mt_map m;
	long err = 0;

	if (zap_maps_read(&zap_space.maps))
		return zero_frozen_in(NULL, addr, addr + len);
	while (!err && mt_maps_next(&zap_space.maps, &m))
		if (m.start < addr + len && m.end > addr && zap_is_frozen(&m))
			err = zero_frozen_in(&m, m.start > addr ? m.start : addr, m.end < addr + len ? m.end : addr + len);
	return err;
}

long zap_let_fork(int yes)
{
	const struct zap_regions *s = &zap_space.regions, *not = &zap_space.not_forked;
	long ret;

	if (zap_space.rwp)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		uint64_t at = s->r[i].start;

		/* around what the program keeps to itself */
		while (at < s->r[i].end) {
			const size_t k = zap_regions_find(not, at);
			const uint64_t kept = k < not->n ? not->r[k].start : UINT64_MAX, end = kept < s->r[i].end ? kept : s->r[i].end;

			if (kept <= at) {
				at = not->r[k].end;
				continue;
			}
			ret = mt_sys(SYS_madvise, at, end - at, yes ? MADV_DOFORK : MADV_DONTFORK);
			if (ret)	/* once more: -ENOMEM is a hole, of a change that no hook saw, and there is nothing to give */
				ret = mt_sys(SYS_madvise, at, end - at, yes ? MADV_DOFORK : MADV_DONTFORK);
			if (ret && ret != -ENOMEM && yes)
				return ret;
			at = end;
		}
	}
	return 0;
}

int zap_is_mapping(const struct mt_map *m, uint64_t dev, uint64_t ino)
{
	return m->ino == ino && m->shared && m->major == major(dev) && m->minor == minor(dev) && m->offset == m->start;
}

int zap_locks_anything(void)
{
	uint64_t kb;

	return !mt_proc_number("/proc/thread-self/status", "\nVmLck:", &kb) && kb;
}

int zap_prot_at(uint64_t addr)
{
	struct mt_map m;
	const int there = mt_map_at(addr, &m);

	if (there >= 0)
		return there ? m.prot : -EFAULT;
	/* what nearly all memory has that a program drops, moves or lets grow */
	if (zap_maps_read(&zap_space.maps))
		return PROT_READ | PROT_WRITE;
	while (mt_maps_next(&zap_space.maps, &m))
		if (m.start <= addr && addr < m.end)
			return m.prot;
	return -EFAULT;
}

uint64_t zap_segment_bytes(uint64_t addr)
{
	uint64_t ino = 0, end = addr;
	struct mt_map m;

	if (zap_maps_read(&zap_space.maps))
		return 0;
	/* its number is the inode; mprotect() may have cut the mapping into several */
	while (mt_maps_next(&zap_space.maps, &m)) {
		if (m.start == addr)
			ino = m.ino;
		if (m.start == end && m.shared && m.ino == ino && m.offset == m.start - addr && !strncmp(m.path, "/SYSV", 5))
			end = m.end;
	}
	return end - addr;
}

int zap_refresh(struct mt_maps *m, int maps_fd)
{
	struct zap_space *s = &zap_space;
	struct zap_regions old_own = s->regions;
	struct zap_late_walk late = { 0 };
	uint64_t late_bytes = 0, before = zap_regions_bytes(&s->regions), own_end = 0;
	struct mt_map map;
	int err = mt_maps_read(m, maps_fd);

	if (err || !m->len)	/* empty: the address space is going away */
		return err ? err : -ESRCH;
	late.own_ino = zap_own_ino(m);
	s->regions = s->regions_scratch;
	zap_regions_clear(&s->regions);
	zap_regions_clear(&s->reserved);
	zap_regions_clear(&s->file_copies);
	s->adopted->begin();
	while (mt_maps_next(m, &map)) {
		const int is_late = !map.shared && zap_is_late_data(&late, &map);

		if (s->adopted->look(&map) || (s->rwp && zap_space.private_memory->refresh(&old_own, &map, &own_end, late.own_ino)))
			continue;
		if (!s->rwp && zap_is_mapping(&map, s->dev, s->ino))
			err |= zap_regions_add(&s->regions, map.start, map.end);
		else if (is_late)
			late_bytes += map.end - map.start;
		else if (map.ino && (map.prot & PROT_WRITE) && map.ino != late.own_ino)
			zap_regions_add(&s->file_copies, map.start, map.end);
	}
	if (s->no_uffd && zap_regions_bytes(&s->regions) != before)
		s->writes_unseen = 1;
	s->regions_scratch = old_own;
	s->late_bytes = late_bytes;
	s->late_pending = late_bytes != 0;
	return err;
}
