// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/records.h"

#include <string.h>

#include "common/rawsys.h"
#include "common/tracefile.h"
#include "preload/faults/rw.h"

#define START_RECORDS 8192

static uint64_t mix(uint64_t page, int32_t tid)
{
	uint64_t h = (page * 0x9e3779b97f4a7c15ull) ^ ((uint64_t)(uint32_t)tid * 0xc2b2ae3d27d4eb4full);

	return h ^ h >> 29;
}

/* Tables for cap records: slots twice as many, so that chains stay short. */
static int allocate(struct zap_records *t, size_t cap)
{
	t->cap = cap;
	t->nslots = cap * 2;
	t->page_slots = cap * 2;
	t->rec = mt_rawmap(t->cap * t->stride);
	t->slot = mt_rawmap(t->nslots * sizeof(*t->slot));
	t->pages = mt_rawmap(t->page_slots * sizeof(*t->pages));
	return t->rec && t->slot && t->pages ? 0 : -ENOMEM;
}

static void release(struct zap_records *t)
{
	mt_rawunmap(t->rec, t->cap * t->stride);
	mt_rawunmap(t->slot, t->nslots * sizeof(*t->slot));
	mt_rawunmap(t->pages, t->page_slots * sizeof(*t->pages));
}

int zap_records_init(struct zap_records *t, int ncpus, size_t max)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->mask_words = ncpus < 1 ? 1 : (ncpus + 63) / 64;
	t->stride = sizeof(struct zap_record) + (size_t)t->mask_words * sizeof(uint64_t);
	t->max = max;
	err = allocate(t, max < START_RECORDS ? max : START_RECORDS);
	if (err)
		zap_records_free(t);
	return err;
}

void zap_records_free(struct zap_records *t)
{
	release(t);
	memset(t, 0, sizeof(*t));
}

void zap_records_clear(struct zap_records *t)
{
	/* touching fewer cache lines than there are slots pays when little was recorded */
	if (t->n < t->nslots / 16) {
		for (size_t i = 0; i < t->n; i++) {
			struct zap_record *r = zap_record_at(t, i);
			uint64_t page = r->addr >> MT_PAGE_SHIFT;
			size_t h;

			for (h = mix(page, r->tid) & (t->nslots - 1); t->slot[h]; h = (h + 1) & (t->nslots - 1))
				t->slot[h] = 0;
			for (h = mix(page, 0) & (t->page_slots - 1); t->pages[h]; h = (h + 1) & (t->page_slots - 1))
				t->pages[h] = 0;
		}
	} else {
		memset(t->slot, 0, t->nslots * sizeof(*t->slot));
		memset(t->pages, 0, t->page_slots * sizeof(*t->pages));
	}
	t->n = 0;
	t->npages = 0;
	t->lost = 0;
}

/* The slot of a page: 0, or (page + 1) * 2 + certain. There is always room: npages <= n <= cap. */
static uint64_t *page_slot(const struct zap_records *t, uint64_t page)
{
	size_t h = mix(page, 0) & (t->page_slots - 1);

	while (t->pages[h] && t->pages[h] >> 1 != page + 1)
		h = (h + 1) & (t->page_slots - 1);
	return &t->pages[h];
}

static void page_add(struct zap_records *t, uint64_t page, int certain)
{
	uint64_t *p = page_slot(t, page);

	t->npages += !*p;
	*p |= (page + 1) << 1 | (uint64_t)certain;
}

static int page_has(const struct zap_records *t, uint64_t page)
{
	return *page_slot(t, page) != 0;
}

static int page_is_certain(const struct zap_records *t, uint64_t page)
{
	return *page_slot(t, page) & 1;
}

static size_t find_slot(const struct zap_records *t, uint64_t page, int32_t tid)
{
	size_t h = mix(page, tid) & (t->nslots - 1);

	while (t->slot[h]) {
		const struct zap_record *r = zap_record_at(t, t->slot[h] - 1);

		if (r->addr >> MT_PAGE_SHIFT == page && r->tid == tid)
			break;
		h = (h + 1) & (t->nslots - 1);
	}
	return h;
}

static int grow(struct zap_records *t)
{
	struct zap_records old = *t;
	size_t cap = old.cap * 2 > old.max ? old.max : old.cap * 2;

	if (cap <= old.cap || (cap & (cap - 1)))
		return -ENOSPC;
	if (allocate(t, cap)) {
		release(t);
		*t = old;
		return -ENOMEM;
	}
	memcpy(t->rec, old.rec, old.n * old.stride);
	t->npages = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct zap_record *r = zap_record_at(t, i);

		t->slot[find_slot(t, r->addr >> MT_PAGE_SHIFT, r->tid)] = (uint32_t)(i + 1);
		page_add(t, r->addr >> MT_PAGE_SHIFT, !(r->flags & MT_ACCESS_AROUND));
	}
	release(&old);
	return 0;
}

/* @certain: the page was touched. What was only a guess of the thread begins anew then. */
static struct zap_record *lookup(struct zap_records *t, uint64_t addr, int32_t tid, int certain)
{
	uint64_t page = addr >> MT_PAGE_SHIFT;
	size_t h = find_slot(t, page, tid);
	struct zap_record *r;

	if (t->slot[h]) {
		r = zap_record_at(t, t->slot[h] - 1);
		if (certain && r->flags & MT_ACCESS_AROUND) {
			memset(r, 0, t->stride);
			r->addr = addr;
			r->tid = tid;
			page_add(t, page, 1);
		}
		return r;
	}
	if (t->n == t->cap) {
		if (grow(t)) {
			t->lost++;
			return NULL;
		}
		h = find_slot(t, page, tid);
	}
	r = zap_record_at(t, t->n);
	memset(r, 0, t->stride);
	r->addr = addr;
	r->first_ns = t->now_ns;
	r->tid = tid;
	t->slot[h] = (uint32_t)++t->n;
	page_add(t, page, certain);
	return r;
}

void zap_records_add(struct zap_records *t, uint64_t addr, int32_t tid, int cpu, uint64_t ip, int rw, uint32_t flags)
{
	struct zap_record *r = lookup(t, addr, tid, 1);

	if (!r)
		return;
	r->flags |= flags;
	if (!r->first_ns)
		r->first_ns = t->now_ns;
	if (!r->ip)
		r->ip = ip;
	if (!(rw & (ZAP_READ | ZAP_WRITE))) {
		r->flags |= MT_ACCESS_NO_DIRECTION;
		rw = ZAP_READ;
	}
	if (rw & ZAP_READ && (!t->most || r->nreads < t->most) && !r->nreads++)
		r->read_at = (addr & (MT_PAGE - 1)) + 1;
	if (rw & ZAP_WRITE && (!t->most || r->nwrites < t->most) && !r->nwrites++)
		r->write_at = (addr & (MT_PAGE - 1)) + 1;
	if (cpu >= 0 && cpu < t->mask_words * 64)
		r->cpus[cpu / 64] |= 1ull << (cpu % 64);
}

int zap_records_add_scanned(struct zap_records *t, uint64_t addr, uint32_t flags)
{
	struct zap_record *r;

	if (page_has(t, addr >> MT_PAGE_SHIFT))
		return 0;
	t->now_ns = 0;
	r = lookup(t, addr, ZAP_TID_NONE, 1);
	if (!r)
		return 0;
	r->nreads = 1;
	r->flags = MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION | flags;
	return 1;
}

void zap_records_add_around(struct zap_records *t, uint64_t addr, int32_t tid, int cpu, uint64_t ip, uint32_t flags)
{
	struct zap_record *r;

	if (page_is_certain(t, addr >> MT_PAGE_SHIFT))
		return;
	t->now_ns = 0;
	r = lookup(t, addr, tid, 0);
	if (!r)
		return;
	r->nreads = 1;
	r->ip = ip;
	r->flags = MT_ACCESS_AROUND | MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION | flags;
	if (cpu >= 0 && cpu < t->mask_words * 64)
		r->cpus[cpu / 64] |= 1ull << (cpu % 64);
}

int zap_record_is_moot(const struct zap_records *t, const struct zap_record *r)
{
	return r->flags & MT_ACCESS_AROUND && page_is_certain(t, r->addr >> MT_PAGE_SHIFT);
}
