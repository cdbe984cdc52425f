// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The memory of memtrace itself. It must never be converted into traced memory:
 * the monitor would then record its own accesses. The kernel merges neighbouring
 * anonymous mappings, so /proc/self/maps cannot tell it apart; a list can.
 */
#include "common/rawplace.h"
#include "common/rawsys.h"

#define MAX_RAW 512
static struct {
	uint64_t start, end;
} raw[MAX_RAW];
static int nraw;
static struct mt_lock raw_lock;

#define PLACE_GAP 65536ull

static uint64_t next_place;

long mt_rawmap_at_place(size_t bytes, int prot, int flags, int fd, uint64_t offset)
{
	const uint64_t step = ((bytes + MT_PAGE - 1) & ~(MT_PAGE - 1)) + PLACE_GAP;
	long ret;

	for (int attempt = 0; attempt < 8; attempt++) {
		uint64_t at = __atomic_fetch_add(&next_place, step, __ATOMIC_RELAXED) + MT_PLACE_START;

		if (at + step > MT_PLACE_END) {
			__atomic_store_n(&next_place, 0, __ATOMIC_RELAXED);
			continue;
		}
		ret = mt_sys(SYS_mmap, at, bytes, prot, flags | MAP_FIXED_NOREPLACE, fd, offset);
		if (ret == (long)at)
			return ret;
		if (!mt_failed(ret))	/* Linux < 4.17 takes the address as a hint */
			mt_sys(SYS_munmap, ret, bytes);
		else if (ret == -ENOMEM)
			break;		/* a small address space does not reach so far */
		else if (ret != -EEXIST)
			return ret;
	}
	return mt_sys(SYS_mmap, 0, bytes, prot, flags, fd, offset);
}

void *mt_rawmap(size_t bytes)
{
	long ret = mt_rawmap_at_place(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				      -1, 0);
	int ok;

	if (mt_failed(ret))
		return NULL;
	mt_lock(&raw_lock);
	ok = nraw < MAX_RAW;
	if (ok) {
		raw[nraw].start = (uint64_t)ret;
		raw[nraw++].end = ((uint64_t)ret + bytes + MT_PAGE - 1) & ~(MT_PAGE - 1);
	}
	mt_unlock(&raw_lock);
	if (!ok) {
		mt_sys(SYS_munmap, ret, bytes);
		return NULL;
	}
	return (void *)ret;
}

void mt_rawunmap(void *p, size_t bytes)
{
	if (!p)
		return;
	mt_lock(&raw_lock);
	for (int i = 0; i < nraw; i++)
		if (raw[i].start == (uint64_t)p) {
			raw[i] = raw[--nraw];
			break;
		}
	mt_unlock(&raw_lock);
	mt_sys(SYS_munmap, p, bytes);
}

int mt_is_rawmem(uint64_t start, uint64_t end, uint64_t *hit_start, uint64_t *hit_end)
{
	int found = 0;

	/* the first hit, so that the caller can go on behind it */
	mt_lock(&raw_lock);
	for (int i = 0; i < nraw; i++) {
		if (raw[i].start >= end || raw[i].end <= start)
			continue;
		if (!found || raw[i].start < *hit_start) {
			*hit_start = raw[i].start;
			*hit_end = raw[i].end;
			found = 1;
		}
	}
	mt_unlock(&raw_lock);
	return found;
}

void mt_rawmem_after_fork(void)
{
	raw_lock.word = 0;
}
