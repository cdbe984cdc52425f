// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/twin.h"
#include "preload/memory/objects.h"

#include <string.h>
#include <sys/resource.h>

#include "common/rawplace.h"
#include "common/rawsys.h"
#include "preload/memory/space.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PIECES_MOST 4096
#define CHUNK (64ul << 10)
#define UNUSED_NS 1000000000ull

/* What was mapped at [start, end) in the last turn or before is copied at @at. */
struct piece {
	uint64_t start, end, at;
	unsigned int turn;
};

static struct {
	struct piece *p;		/* PIECES_MOST of them, in order; mt_rawmap() memory */
	size_t n;
	char *chunk;
	struct zap_regions filled;	/* what has contents in the copy; the rest reads as zeroes */
	unsigned int turn;
	uint64_t used_ns;
} twin;

/* The copy counts for the limits of the program. */
static int is_allowed(void)
{
	static const int what[] = { RLIMIT_AS, RLIMIT_DATA };
	struct rlimit rl;

	for (int i = 0; i < 2; i++)
		if (mt_sys(SYS_prlimit64, 0, what[i], 0, &rl) || rl.rlim_cur != RLIM_INFINITY)
			return 0;
	return 1;
}

static size_t find(uint64_t addr)
{
	size_t lo = 0, hi = twin.n;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (twin.p[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void drop(size_t i)
{
	const struct piece *p = &twin.p[i];

	mt_sys(SYS_munmap, p->at, p->end - p->start);
	zap_regions_remove(&twin.filled, p->start, p->end);
	memmove(twin.p + i, twin.p + i + 1, (twin.n - i - 1) * sizeof(*p));
	twin.n--;
}

static long insert(size_t i, uint64_t start, uint64_t end)
{
	long at;

	if (twin.n == PIECES_MOST)
		return -E2BIG;
	at = mt_rawmap_at_place(end - start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mt_failed(at))
		return at;
	if ((uint64_t)at < MT_PLACE_START || (uint64_t)at + (end - start) > MT_PLACE_END) {
		mt_sys(SYS_munmap, at, end - start);
		return -ENOMEM;
	}
	memmove(twin.p + i + 1, twin.p + i, (twin.n - i) * sizeof(*twin.p));
	twin.p[i] = (struct piece){ start, end, (uint64_t)at, twin.turn };
	twin.n++;
	return 0;
}

/* Nothing of the file is in [from, to) of the piece. */
static long empty(const struct piece *p, uint64_t from, uint64_t to)
{
	long err;

	if (from >= to || !zap_regions_overlap(&twin.filled, from, to))
		return 0;
	err = mt_sys(SYS_madvise, p->at + (from - p->start), to - from, MADV_DONTNEED);
	return err ? err : zap_regions_remove(&twin.filled, from, to);
}

/* The contents of [from, to) of the file. Pages that are the same stay as they are: children may have them, too. */
static long copy(const struct piece *p, uint64_t from, uint64_t to, int memfd)
{
	char *out = (char *)(p->at + (from - p->start));
	const int is_new = !zap_regions_overlap(&twin.filled, from, to);
	uint64_t at = from;

	if (is_new)	/* cheaper than a fault for each page; where the kernel cannot do that they come */
		mt_sys(SYS_madvise, out, to - from, MADV_POPULATE_WRITE);
	while (at < to) {
		const uint64_t left = to - at;
		const long n = mt_sys(SYS_pread64, memfd, is_new ? out : twin.chunk, left < CHUNK ? left : CHUNK, at);

		if (n == -EINTR)
			continue;
		if (n <= 0 || n & (long)(MT_PAGE - 1))
			return n < 0 ? n : -EIO;
		for (long k = 0; !is_new && k < n; k += MT_PAGE)
			if (memcmp(out + k, twin.chunk + k, MT_PAGE) != 0)
				memcpy(out + k, twin.chunk + k, MT_PAGE);
		out += n;
		at += (uint64_t)n;
	}
	return zap_regions_add(&twin.filled, from, to);
}

static long fill(const struct piece *p, uint64_t from, uint64_t to, int memfd)
{
	uint64_t at = from;
	long err = 0;

	while (!err && at < to) {
		const long data = mt_sys(SYS_lseek, memfd, at, 3 /* SEEK_DATA */);
		long hole;

		if (data == -ENXIO || (data >= 0 && (uint64_t)data >= to))
			return empty(p, at, to);
		hole = data < 0 ? data : mt_sys(SYS_lseek, memfd, data, 4 /* SEEK_HOLE */);
		if (hole < 0)
			return hole;
		if ((uint64_t)hole > to)
			hole = (long)to;
		err = empty(p, at, (uint64_t)data);
		if (!err)
			err = copy(p, (uint64_t)data, (uint64_t)hole, memfd);
		at = (uint64_t)hole;
	}
	return err;
}

/* All of a mapping has its copy. */
static long update(const struct mt_map *m, int memfd)
{
	uint64_t at = m->start;
	long err = 0;

	while (!err && at < m->end) {
		const size_t i = find(at);
		uint64_t to;

		if (i == twin.n || twin.p[i].start > at) {
			to = i < twin.n && twin.p[i].start < m->end ? twin.p[i].start : m->end;
			err = insert(i, at, to);
			if (err)
				break;
		}
		to = twin.p[i].end < m->end ? twin.p[i].end : m->end;
		twin.p[i].turn = twin.turn;
		err = fill(&twin.p[i], at, to, memfd);
		at = to;
	}
	return err;
}

static int is_wanted(const struct mt_map *m)
{
	return zap_is_mapping(m, zap_space.dev, zap_space.ino) && !zap_regions_contain(&zap_space.not_forked, m->start);
}

long zap_twin_update(struct mt_maps *maps, int memfd)
{
	struct mt_map m;
	long err = 0;

	if (!is_allowed()) {
		zap_twin_free();
		return -EPERM;
	}
	if (!twin.p)
		twin.p = mt_rawmap(PIECES_MOST * sizeof(*twin.p));
	if (!twin.chunk)
		twin.chunk = mt_rawmap(CHUNK);
	if (!twin.p || !twin.chunk)
		return -ENOMEM;
	twin.turn++;
	mt_maps_rewind(maps);
	while (!err && mt_maps_next(maps, &m))
		if (is_wanted(&m))
			err = update(&m, memfd);
	for (size_t i = twin.n; i-- > 0;)
		if (twin.p[i].turn != twin.turn)
			drop(i);
	if (err)
		zap_twin_free();
	twin.used_ns = mt_now_ns();
	return err;
}

long zap_twin_take(const struct mt_map *m)
{
	uint64_t at = m->start;

	while (at < m->end) {
		const size_t i = find(at);
		const struct piece *p = &twin.p[i];
		uint64_t to, from;
		long ret = 0;

		if (i == twin.n || p->start > at)
			return -ENOENT;
		to = p->end < m->end ? p->end : m->end;
		from = p->at + (at - p->start);
		if (m->prot != (PROT_READ | PROT_WRITE))
			ret = mt_sys(SYS_mprotect, from, to - at, m->prot);
		if (!ret)
			ret = mt_sys(SYS_mremap, from, to - at, to - at, MREMAP_MAYMOVE | MREMAP_FIXED, at);
		if (mt_failed(ret))
			return ret;
		zap_dump_again(at, to);
		at = to;
	}
	return 0;
}

void zap_twin_free(void)
{
	/* in a child parts may be gone: nothing else of ours comes to the same place meanwhile */
	while (twin.n)
		drop(twin.n - 1);
	zap_regions_clear(&twin.filled);
}

void zap_twin_age(void)
{
	if (twin.n && mt_now_ns() - twin.used_ns > UNUSED_NS)
		zap_twin_free();
}
