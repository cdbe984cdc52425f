// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * events.h - faults become the records of an interval. Used by the monitor thread;
 * what reads the set of traced ranges is called under zap_space.lock.
 */
#ifndef MEMTRACE_EVENTS_H
#define MEMTRACE_EVENTS_H

#include <stdint.h>

#include "preload/faults/around.h"
#include "preload/faults/decode.h"
#include "preload/faults/perfring.h"
#include "preload/faults/records.h"
#include "preload/memory/ranges.h"
#include "preload/memory/space.h"
#include "preload/faults/closelook.h"

/* What is known of an interval by faults. */
struct zap_part {
	struct zap_records records;
	uint64_t faults;	/* that are in the records, or lost by them; without those of pages that are looked at closely */
	int first_tid;		/* 0 = no fault yet */
	int several;		/* more threads than that one had faults */
};

struct zap_events {
	struct zap_perf perf;
	int works;		/* there are events; else only what scans find */
	struct zap_part now, next;	/* of the running interval, and of the one after boundary_ns */
	uint64_t boundary_ns;	/* faults after it belong to the next interval, 0 = none do */
	struct zap_decode decode;
	const struct zap_regions *traced;
	struct zap_regions shared;	/* memory that the program shares, as it was at the last boundary */
	/* Is the address traced, or was it at @time? */
	enum zap_traced (*was_traced)(uint64_t addr, uint64_t time);
	int pid;		/* faults of others are left out */
	uint64_t begin_ns;	/* earlier faults are our own */
	uint32_t interval;	/* number of the running one */
	/*
	 * The backend rwp with soft-dirty tracking: a write to a hidden page faults twice, since the first fault does not know that it is
	 * one. Both are faults, but one access. The last fault of this ring:
	 */
	int twice;
	struct zap_fault last;
	uint64_t unattributed;	/* records without a thread */
	uint64_t moot;		/* records that are not written, see zap_record_is_moot(); of the last zap_events_settle() */
	/* who read, where the kernel maps pages around a read: in the running subphase, and after turn_ns in the next */
	struct zap_around around, around_next;
	uint64_t turn_ns;
	/* pages of the faults read since zap_events_note(), in the order of reading; more than fit are left out */
	uint64_t *noted;
	size_t nnoted;
	int note;
	/*
	 * Pages that are looked at closely (record --zoom): their faults are samples, and no more of them are counted in the
	 * records than without: looks so far in the running interval, for each direction.
	 */
	struct zap_zoom zoom;
	uint32_t looks;
	/*
	 * The fine clock (fine/fine.h), NULL: there is none. Told of each fault; 1: it is one of its own. @sampled: it takes pages away, and
	 * records have no more reads and writes than without.
	 */
	int (*fine)(void *arg, const struct zap_fault *f, int rw);
	void *fine_arg;
	int sampled;
};

/*
 * Opens the rings for @tid and the threads it creates, with @ring_pages per CPU, and makes
 * room for at most @max_records. @around: pages that a read fault maps, 1 = none around it. 0 or
 * negative errno; when only the rings are missing, works is 0, *why the step, *why_err its errno, and
 * 0 is returned.
 */
int zap_events_open(struct zap_events *e, int tid, uint32_t ring_pages, size_t max_records,
		    unsigned int around, const char **why, int *why_err);
/* Reads the faults up to time @until. Under the lock. */
void zap_events_read(struct zap_events *e, uint64_t until);
/* From now on the pages of faults are noted (@on), from the first; or no more. */
void zap_events_note(struct zap_events *e, int on);
/* What a ring delivers (@arg: the struct zap_events). Under the lock. */
void zap_events_on_fault(void *arg, const struct zap_fault *f);
/*
 * Pages found mapped get a record without thread, unless they have one. Where the kernel maps pages
 * around a read, it is one with MT_ACCESS_AROUND, and with the thread that read near it.
 */
void zap_events_scanned(struct zap_events *e, const struct zap_range *run, size_t n);
/*
 * The interval ends at @time, but goes on to be worked at: faults may be read meanwhile, so that no ring
 * becomes full, and later ones are those of the next.
 */
void zap_events_end(struct zap_events *e, uint64_t time);
/* A subphase ends at @time, but goes on to be worked at: later reads are those of the next. Before the scan. */
void zap_events_turn_at(struct zap_events *e, uint64_t time);
/* All that was found mapped is recorded: earlier reads map nothing more. */
void zap_events_turn(struct zap_events *e);
/* The interval is complete: counts the records that are to be written and those without a thread. */
void zap_events_settle(struct zap_events *e);
/* The next interval begins, with what was read of it already. */
void zap_events_next(struct zap_events *e);
/* fork, in the child: memory is given back; the rings were not inherited. */
void zap_events_after_fork(struct zap_events *e);

/*
 * Data of libraries that no hook could convert: it is lost once, when it was there at two
 * refreshes of the maps, however long it stays.
 */
struct zap_late {
	uint64_t bytes[2], reported;
};
/* @bytes: at this refresh. Returns the bytes that are lost from now on. */
uint64_t zap_late_update(struct zap_late *l, uint64_t bytes);

#endif
