// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The memory of memtrace itself. It must never be converted into traced memory:
 * the monitor would then record its own accesses. The kernel merges neighbouring
 * anonymous mappings, so /proc/self/maps cannot tell it apart; a list can.
 */
#include "rawsys.h"

#define MAX_RAW 512
static struct {
	uint64_t start, end;
} raw[MAX_RAW];
static int nraw;
static struct mt_lock raw_lock;

void *mt_rawmap(size_t bytes)
{
	long ret = mt_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int ok;

	if (mt_failed(ret))
		return NULL;
	mt_lock(&raw_lock);
	ok = nraw < MAX_RAW;
	if (ok) {
		raw[nraw].start = (uint64_t)ret;
		raw[nraw++].end = ((uint64_t)ret + bytes + 4095) & ~4095ull;
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
