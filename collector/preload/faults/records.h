// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * records.h - the accesses of one interval: a record per (page, thread), and the
 * set of pages that have one.
 *
 * Used by the monitor thread only. Both tables grow by doubling up to a limit;
 * beyond it accesses are counted as lost, never silently dropped.
 */
#ifndef MEMTRACE_RECORDS_H
#define MEMTRACE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/arch.h"

#define ZAP_TID_NONE (-1)

#if MT_PAGE_MAX > 4096
#define ZAP_OFFSET_BITS 17
#else
#define ZAP_OFFSET_BITS 13	/* all of it in one word */
#endif

struct zap_record {
	uint64_t addr;		/* first access */
	uint64_t first_ns;	/* when it was, 0 unknown */
	uint64_t ip;
	int32_t tid;
	uint32_t nreads, nwrites;
	uint32_t flags : 6;	/* MT_ACCESS_* */
	uint32_t read_at : ZAP_OFFSET_BITS;	/* offset in the page of the first read + 1, 0 = none */
	uint32_t write_at : ZAP_OFFSET_BITS;	/* of the first write */
	uint64_t cpus[];	/* mask, zap_records.mask_words words */
};

struct zap_records {
	char *rec;		/* dense, in order of first access */
	uint32_t *slot;		/* (page, tid) -> index + 1, open addressing */
	uint64_t *pages;	/* page set: (page + 1) * 2, + 1: certainly touched; open addressing */
	size_t n, cap, nslots;
	size_t npages, page_slots;
	size_t stride, max;
	int mask_words;
	uint64_t now_ns;	/* time of the access that is added next, 0 unknown */
	uint32_t most;		/* reads, and writes, that its record may have before it is left out; 0 = any number */
	uint64_t lost;		/* accesses without room, since the last clear */
};

/* @ncpus: CPUs of the masks; @max: most records per interval. 0 or -ENOMEM. */
int zap_records_init(struct zap_records *t, int ncpus, size_t max);
void zap_records_free(struct zap_records *t);
/* Forgets all records, keeps the memory. */
void zap_records_clear(struct zap_records *t);

/* @rw: ZAP_READ | ZAP_WRITE bits, 0 = direction unknown. @cpu < 0: not known. */
void zap_records_add(struct zap_records *t, uint64_t addr, int32_t tid, int cpu, uint64_t ip, int rw,
		     uint32_t flags);
/*
 * A page found present: adds a record without thread unless the page has one.
 * 1 when a record was added.
 */
int zap_records_add_scanned(struct zap_records *t, uint64_t addr, uint32_t flags);

/*
 * A page found mapped that had no fault of its own, where the kernel maps pages around a read: perhaps
 * thread @tid, which read near it, touched it, perhaps nobody. Adds a record unless the page has one that
 * is certain, or the thread has one.
 */
void zap_records_add_around(struct zap_records *t, uint64_t addr, int32_t tid, int cpu, uint64_t ip, uint32_t flags);
/* Does the record only guess that the page was touched, while another one of the interval knows it? */
int zap_record_is_moot(const struct zap_records *t, const struct zap_record *r);

static inline struct zap_record *zap_record_at(const struct zap_records *t, size_t i)
{
	return (struct zap_record *)(t->rec + i * t->stride);
}

#endif
