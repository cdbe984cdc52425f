// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * governor.h - keeps the cost of tracing below a share of the program's CPU time.
 *
 * The cost of an interval is nearly independent of its length: each page that the
 * program uses faults once per (sub)interval. So the share falls when the interval
 * gets longer. Pure arithmetic; used by the monitor thread.
 */
#ifndef MEMTRACE_GOVERNOR_H
#define MEMTRACE_GOVERNOR_H

#include <stdint.h>

#include "tracefile.h"

struct zap_governor {
	double share;			/* cost / program CPU time allowed, 0 = off */
	uint64_t min_ns;		/* the interval that was asked for */
	uint64_t max_ns;
	uint64_t target_ns;		/* in force */
	double earned_ns, spent_ns, elapsed_ns;		/* since the start */
	double interval_cost_ns;	/* of an interval, weighted average */
	double earn_rate;		/* earned per ns of time, weighted average */
	uint32_t intervals;
	uint32_t settled;		/* intervals since the last change */
};

void zap_governor_init(struct zap_governor *g, uint64_t interval_ns, uint32_t max_ppm);

/* CPU time that tracing cost outside of intervals: its start. */
void zap_governor_charge(struct zap_governor *g, uint64_t cost_ns);

/*
 * After an interval that took @wall_ns: @cost_ns is CPU time spent for tracing (faults, scan,
 * zap, output), @program_cpu_ns the CPU time of the program without it.
 */
enum mt_stretch zap_governor_update(struct zap_governor *g, uint64_t cost_ns, uint64_t program_cpu_ns, uint64_t wall_ns);

#endif
