// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * fine.h - the fine clock: bins of CPU time of the busiest thread of the program, in which a sample of the pages is looked at
 * (docs/reference/trace-fine.md, docs/how/fine-clock.md).
 *
 * Used by the monitor, which calls it from its loop, around its complete looks, and for each fault. "Under the lock" is zap_space.lock.
 */
#ifndef MEMTRACE_FINE_H
#define MEMTRACE_FINE_H

#include <stdint.h>

#include "preload/faults/events.h"
#include "preload/fine/files.h"
#include "preload/fine/panel.h"
#include "preload/fine/pages.h"
#include "preload/fine/strata.h"
#include "preload/fine/threads.h"
#include "preload/memory/scan.h"

struct fine_shares {
	struct fine_share *share;
	uint16_t *slot;		/* (stratum, user) -> index + 1, open addressing */
	size_t n;
	int full;		/* there was no room for one: the bin is not known */
};

struct fine {
	int on;
	/* of the monitor */
	struct zap_events *events;
	struct zap_scan *scan;
	void (*read)(uint64_t until);	/* faults up to that time; takes the lock */
	int (*lock)(void);		/* takes the lock; 0: nothing may be taken away now, and it is not taken */
	void (*unlock)(void);
	uint64_t (*process_cpu)(void);	/* ns, of all threads of the program */
	double budget;			/* of CPU time, what the fine clock may cost; 0: as much as it costs */
	uint64_t fault_ns;		/* what a fault costs */

	uint64_t length_ns;
	size_t most, k;			/* pages a bin, panel included: asked for, in force */
	struct fine_pages pages;
	struct fine_strata strata;
	struct fine_panel panel;
	struct fine_threads threads;
	struct fine_shares shares;
	struct fine_files files;
	uint64_t (*large)[2];
	uint64_t *list;			/* pages that are to be taken away */
	struct zap_regions ours, shared;	/* they, by what they are */

	/* the running bin */
	int in_bin, stopped;
	unsigned int look;		/* of the panel, done in it */
	struct fine_bin bin;
	uint64_t bin_cpu_ns;		/* of the process, when it began */
	uint64_t check_ns;		/* when to look at the clock again */
	uint64_t next_bin;
	uint64_t lost_seen;		/* of the events that the rings have counted as lost */
	int looking;			/* a complete look goes on */
	/* since fine_interval() */
	uint64_t faults, cpu_ns;
};

/* Of an interval: what the fine clock cost; and of fine_threads_interval(), for the price of complete looks. */
struct fine_cost {
	uint64_t faults, cpu_ns;
	uint64_t thread_faults, thread_ns, busiest_ns;
};

/*
 * The threads of the faults are told apart from now on, with or without a fine clock. 0 or -ENOMEM. The functions and numbers of the
 * monitor are set by then.
 */
int fine_watch(struct fine *f);
/*
 * After that: files in the directory @dirfd; bins of @length_ns, a sample of @pages. 0 or negative errno. Without events of all faults
 * there is no fine clock: it is not to be opened.
 */
int fine_open(struct fine *f, int dirfd, uint64_t length_ns, size_t pages, uint64_t seed);
void fine_free(struct fine *f);

/* In the loop: does what is due. When to call again; ~0: never. */
uint64_t fine_turn(struct fine *f, uint64_t now_ns);
/* Before a complete look: a bin ends where that is near. @last: nothing is taken away, and no bin begins. */
void fine_look_begin(struct fine *f, uint64_t now_ns, int last);
/* Under the lock: all pages are away since @away_ns. @all: they are; else tracing has stopped. */
void fine_look_end(struct fine *f, uint64_t away_ns, int all);
/* The interval ends. */
void fine_interval(struct fine *f, struct fine_cost *cost);

#endif
