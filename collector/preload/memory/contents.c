// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* contents.c - what stands in traced memory is copied: between ranges, to the file of a child, to private memory. See space.h. */
#include "preload/memory/kept.h"
#include "preload/memory/objects.h"
#include "preload/memory/space.h"

#include <string.h>
#include <sys/stat.h>

#include "common/maps.h"
#include "common/rawsys.h"

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

/* n bytes at @in to offset @dst of the memory file @to. */
static long store(int to, uint64_t dst, const char *in, uint64_t n, int may_write)
{
	long out;

	/* twice as fast as a mapping: new pages are neither zeroed nor mapped */
	while (may_write && n) {
		long ret = mt_sys(SYS_pwrite64, to, in, n, dst);

		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			return ret ? ret : -EIO;
		in += ret;
		dst += (uint64_t)ret;
		n -= (uint64_t)ret;
	}
	if (!n)
		return 0;
	out = mt_rawmap_at_place(n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, to, dst);
	if (mt_failed(out))
		return out;
	memcpy((void *)out, in, n);
	mt_sys(SYS_munmap, out, n);
	return 0;
}

/*
 * Copies the data ranges of [src, src+len) of one memory file to another through a window:
 * no mapping of the program is touched (its pages would become "accessed"), and PROT_NONE
 * does not matter.
 */
static long copy_data(int to, uint64_t dst, int from, uint64_t src, uint64_t len)
{
	const uint64_t chunk = 32ull << 20;
	uint64_t end = src + len, at = src;
	int may_write = zap_files_reach(ZAP_FILE_BYTES);

	while (at < end) {
		long data = mt_sys(SYS_lseek, from, at, 3 /* SEEK_DATA */), hole, in, ret;
		uint64_t n;

		if (data == -ENXIO || (data >= 0 && (uint64_t)data >= end))
			return 0;
		if (data < 0)
			return data;
		hole = mt_sys(SYS_lseek, from, data, 4 /* SEEK_HOLE */);
		if (hole < 0)
			return hole;
		n = ((uint64_t)hole > end ? end : (uint64_t)hole) - (uint64_t)data;
		if (n > chunk)
			n = chunk;
		in = mt_rawmap_at_place(n, PROT_READ, MAP_SHARED | MAP_POPULATE, from, (uint64_t)data);
		if (mt_failed(in))
			return in;
		ret = store(to, (uint64_t)data - src + dst, (const char *)in, n, may_write);
		mt_sys(SYS_munmap, in, n);
		if (ret)
			return ret;
		at = (uint64_t)data + n;
	}
	return 0;
}

long zap_copy_file(int to, int from, uint64_t start, uint64_t end)
{
	return copy_data(to, start, from, start, end - start);
}

struct copy {
	uint64_t to, from, len;
};

static long copy_on(void *arg, int maps_fd, int memfd)
{
	const struct copy *c = arg;

	(void)maps_fd;
	return copy_data(memfd, c->to, memfd, c->from, c->len);
}

long zap_copy(uint64_t to, uint64_t from, uint64_t len)
{
	struct copy c = { to, from, len };
	const long ret = zap_with_memfd(copy_on, &c);

	zap_look_at_untouched();
	zap_untouched_copied(to, from, len);
	return ret;
}

struct private_copy {
	uint64_t addr, len, to;
	int of_program;		/* from the memory file of this process */
};

/* What the file has of the range; the rest stays a hole. */
static long read_out(void *arg, int maps_fd, int memfd)
{
	const struct private_copy *c = arg;
	const uint64_t end = c->addr + c->len;
	uint64_t at = c->addr;

	(void)maps_fd;
	while (at < end) {
		long data = mt_sys(SYS_lseek, memfd, at, 3 /* SEEK_DATA */), hole, n;

		if (data == -ENXIO || (data >= 0 && (uint64_t)data >= end))
			break;
		if (data < 0)
			return data;
		hole = mt_sys(SYS_lseek, memfd, data, 4 /* SEEK_HOLE */);
		if (hole < 0)
			return hole;
		if ((uint64_t)hole > end)
			hole = (long)end;
		for (at = (uint64_t)data; at < (uint64_t)hole; at += (uint64_t)n) {
			const int by_page = c->of_program && zap_has_untouched(at, (uint64_t)hole);

			n = MT_PAGE;	/* what nobody has touched stays missing */
			if (by_page && zap_has_untouched(at, at + MT_PAGE))
				continue;
			n = mt_sys(SYS_pread64, memfd, c->to + (at - c->addr), by_page ? MT_PAGE : (uint64_t)hole - at, at);
			if (n <= 0)
				return n ? n : -EIO;
		}
	}
	return 0;
}

long zap_copy_private(uint64_t addr, uint64_t len, int prot, int memfd)
{
	struct private_copy c = { addr, len, 0, memfd == -1 };
	long tmp = mt_rawmap_at_place(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), ret = 0;

	if (mt_failed(tmp))
		return tmp;
	c.to = (uint64_t)tmp;
	if (c.of_program)
		zap_look_at_untouched();
	if (memfd == ZAP_FROZEN && !(prot & PROT_READ))
		ret = mt_sys(SYS_mprotect, addr, len, prot | PROT_READ);
	if (!ret && memfd == ZAP_FROZEN)
		memcpy((void *)tmp, (void *)addr, len);
	else if (!ret)
		ret = memfd >= 0 ? read_out(&c, -1, memfd) : zap_with_memfd(read_out, &c);
	if (!ret)
		ret = mt_sys(SYS_mprotect, tmp, len, prot);
	if (!ret)
		ret = mt_sys(SYS_mremap, tmp, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, addr);
	if (mt_failed(ret)) {
		mt_sys(SYS_munmap, tmp, len);
		return ret;
	}
	zap_dump_again(addr, addr + len);
	return 0;
}

long zap_make_private(uint64_t addr, uint64_t len)
{
	const uint64_t end = addr + len;
	struct mt_maps maps = { 0 };
	struct mt_map m;
	long err = zap_maps_read(&maps);

	while (!err && mt_maps_next(&maps, &m) && m.start < end) {
		const uint64_t from = m.start > addr ? m.start : addr, to = m.end < end ? m.end : end;
		const int ours = zap_is_mapping(&m, zap_space.dev, zap_space.ino);

		if (m.end <= addr || (!ours && !(zap_regions_overlap(&zap_space.frozen, from, to) && zap_is_frozen(&m))))
			continue;
		zap_note_present(from, to - from);
		err = zap_copy_private(from, to - from, m.prot, ours ? -1 : ZAP_FROZEN);
		if (!err)
			zap_unshare(from, to - from);
	}
	mt_maps_free(&maps);
	return err;
}

int zap_is_locked(uint64_t addr)
{
	return mt_sys(SYS_madvise, addr, MT_PAGE, MADV_COLD) == -EINVAL;
}

static long freeze_on(void *arg, int maps_fd, int memfd)
{
	const struct zap_regions *not = &zap_space.not_forked;
	const int locks = zap_locks_anything();
	struct mt_maps *maps = arg;
	uint64_t done = 0;
	struct mt_map m;

	(void)maps_fd;
	/* first, so that nothing of it is ever taken for other memory */
	mt_maps_rewind(maps);
	while (mt_maps_next(maps, &m))
		if (zap_is_mapping(&m, zap_space.dev, zap_space.ino) && zap_regions_add(&zap_space.frozen, m.start, m.end))
			return -ENOMEM;
	mt_maps_rewind(maps);
	while (mt_maps_next(maps, &m)) {
		int locked;
		long ret;

		if (!zap_is_mapping(&m, zap_space.dev, zap_space.ino) || m.end <= done)
			continue;
		/* the kernel's maps are read in pieces: what grew together meanwhile is there twice, and has been written to since */
		if (m.start < done)
			m.start = done;
		locked = locks && zap_is_locked(m.start);
		ret = mt_sys(SYS_mmap, m.start, m.end - m.start, m.prot,
			     MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, memfd, m.start);
		if (mt_failed(ret))
			return ret;
		if (locked)
			mt_sys(SYS_mlock2, m.start, m.end - m.start, 1 /* MLOCK_ONFAULT */);
		zap_dump_again(m.start, m.end);
		done = m.end;
	}
	for (size_t i = 0; i < not->n; i++)
		mt_sys(SYS_madvise, not->r[i].start, not->r[i].end - not->r[i].start, MADV_DONTFORK);
	zap_space.mapped = 0;
	return 0;
}

long zap_freeze(struct mt_maps *m)
{
	return zap_with_memfd(freeze_on, m);
}

/* By the path that the mappings of the object below this have. There is little room on the stack, so it stays where it was read. */
static long open_file(const struct zap_object *o, struct mt_maps *maps)
{
	char *path = NULL, *end = NULL;
	struct stat st;
	struct mt_map m;
	long fd;

	while (mt_maps_next(maps, &m) && m.start < o->start)
		if (m.ino == o->ino && m.path[0] == '/') {
			end = maps->text + (maps->at - maps->text) - 1;
			path = end - m.path_len;
		}
	if (!path)
		return -ENOENT;
	*end = 0;
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	*end = '\n';
	if (fd >= 0 && (mt_sys(SYS_fstat, fd, &st) || st.st_ino != o->ino)) {
		mt_sys(SYS_close, fd);
		return -ENOENT;
	}
	return fd;
}

long zap_object_again(uint64_t start, uint64_t end)
{
	struct mt_maps maps = { 0 };
	struct mt_map m;
	const struct zap_object *found = zap_object_at(start);
	struct zap_object o;
	long fd, ret;

	if (!found)
		return -ENOENT;
	o = *found;
	ret = zap_maps_read(&maps);
	fd = ret ? ret : open_file(&o, &maps);
	if (fd < 0) {
		mt_maps_free(&maps);
		return fd;
	}
	mt_maps_rewind(&maps);
	while (ret >= 0 && mt_maps_next(&maps, &m)) {
		const uint64_t from = m.start > start ? m.start : start, to = m.end < end ? m.end : end;

		if (from >= to)
			continue;
		ret = mt_sys(SYS_mmap, from, to - from, m.prot, MAP_PRIVATE | MAP_FIXED, fd, o.offset + (from - o.start));
		if (mt_failed(ret))
			break;
		zap_dump_again(from, to);
		if (zap_regions_overlap(&zap_space.not_forked, from, to))
			mt_sys(SYS_madvise, from, to - from, MADV_DONTFORK);
		ret = 0;
	}
	mt_sys(SYS_close, fd);
	mt_maps_free(&maps);
	if (ret)
		return ret;
	zap_unshare(start, end - start);
	return 0;
}

void zap_advice_moved(uint64_t old, uint64_t old_len, uint64_t at, uint64_t len)
{
	if (zap_regions_overlap(&zap_space.not_forked, old, old + old_len))
		zap_regions_add(&zap_space.not_forked, at, at + len);
	zap_dump_moved(old, old_len, at, len);
}
