// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * ledger.h - by how much recording makes the run longer, at least and at most: overhead.csv of the image, a line for each interval.
 *
 * At least: only what the program would not have had alone, at the price of a fault that was measured before it began, and spread evenly
 * over all threads. At most: all faults of all threads, one after the other, at the price that system time per fault says; hooks as a
 * whole; and the monitor, as if no other processor were free. Not in it: what hooks of malloc and its kin cost. Used by the monitor.
 */
#ifndef MEMTRACE_LEDGER_H
#define MEMTRACE_LEDGER_H

#include <stdint.h>

#include "common/out.h"

/* Of an interval. Times in ns. */
struct zap_costs {
	uint32_t interval;
	uint64_t faults, new_pages;	/* of all kinds of looks; first touches of the memory file, which are among them or had no event */
	uint64_t hook_ns, monitor_ns;
	uint64_t start_ns;		/* of the recorder's start, in the first interval */
	uint64_t program_ns, wall_ns;	/* CPU time of the program, faults and hooks included */
	uint64_t busiest_ns;		/* of the busiest thread; 0: threads are not known */
	uint64_t fault_ns;		/* of a fault, as it was measured alone */
	unsigned int processors;	/* more of its threads never run at a time; 0: not known */
};

struct zap_slower {
	uint64_t low_ns, high_ns, run_ns;	/* @run_ns: the interval without it, as long as the program ran */
	uint64_t fault_ns;			/* what a fault costs at most, now */
};

struct zap_ledger {
	struct mt_out out;
	int pid;
	uint64_t faults, system_ns;	/* of the run until now */
};

/* @system_ns: system time of the program in the run until now, 0 not known; @faults: all of the run until now. Pure arithmetic. */
void zap_slower_of(const struct zap_costs *c, uint64_t system_ns, uint64_t faults, struct zap_slower *s);

/* In the directory of the image; without room or memory nothing is written. */
void zap_ledger_open(struct zap_ledger *l, int dirfd, int pid);
void zap_ledger_interval(struct zap_ledger *l, const struct zap_costs *c);
void zap_ledger_after_fork(struct zap_ledger *l);

#endif
