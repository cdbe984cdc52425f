// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * governor.h - keeps the cost of tracing below a share of the program's CPU time.
 *
 * The cost of a look (a subphase) is nearly independent of its length: each page that
 * the program uses faults once. So the share falls when looks become rarer: first
 * fewer of them in an interval, then longer intervals. Pure arithmetic; used by the
 * monitor thread.
 */
#ifndef MEMTRACE_GOVERNOR_H
#define MEMTRACE_GOVERNOR_H

#include <stdint.h>

#include "common/tracefile.h"

struct zap_governor {
	double share;			/* cost / program CPU time allowed, 0 = off */
	uint64_t min_ns;		/* the interval that was asked for */
	uint64_t first_ns;		/* shortest one at the begin of the run; the same where it was asked for by a person */
	uint64_t max_ns;
	int most;			/* subphases that were asked for */
	uint64_t target_ns;		/* length in force */
	int subphases;			/* in force */
	double earned_ns, spent_ns, elapsed_ns;		/* since the start */
	double look_cost_ns;		/* of a subphase, weighted average */
	double earn_rate;		/* earned per ns of time, weighted average */
	uint64_t waited_ns;		/* of the interval that ends, without a processor although there was work; set before the update */
	uint32_t intervals;
	uint32_t settled;		/* intervals since the last change */
};

/* @first_ns: what an interval may begin with, at most @interval_ns. Without a budget all are as asked for. */
void zap_governor_init(struct zap_governor *g, uint64_t interval_ns, uint64_t first_ns, int subphases, uint32_t max_ppm);

/* CPU time that tracing cost outside of intervals: its start. */
void zap_governor_charge(struct zap_governor *g, uint64_t cost_ns);

/*
 * After an interval that took @wall_ns: @cost_ns is CPU time spent for tracing (faults, hooks,
 * scan, zap, output), @program_cpu_ns the CPU time of the program without it. @alone: only one
 * thread used memory lately, so that several looks in an interval would tell nothing more. Sets
 * the length and the subphases of the next interval; returns what became of the length.
 */
enum mt_stretch zap_governor_update(struct zap_governor *g, uint64_t cost_ns, uint64_t program_cpu_ns, uint64_t wall_ns,
				    int alone);

#endif
