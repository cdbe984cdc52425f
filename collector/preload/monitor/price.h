// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * price.h - what a recording costs the run, not the processors.
 *
 * CPU time is no measure of it: threads that spin while they wait use more of it the slower the recording makes the run, and would buy
 * looks with it. Bounds: the thread that has the most faults for its CPU time is late by all of them; and the run is late by all faults of
 * all threads, where they wait for each other. Pure arithmetic; used by the monitor.
 */
#ifndef MEMTRACE_PRICE_H
#define MEMTRACE_PRICE_H

#include <stdint.h>

/* An interval. Times in ns. */
struct zap_interval_cost {
	uint64_t faults;		/* of all threads, that came of looking */
	uint64_t fault_ns;		/* what one costs */
	uint64_t other_ns;		/* CPU time for recording but faults */
	uint64_t program_ns;		/* CPU time of the program, faults included */
	uint64_t wall_ns;
	/* of the thread with the most faults for its CPU time; and the CPU time of the busiest one. 0: threads are not known */
	uint64_t thread_faults, thread_ns, busiest_ns;
};

/* A cost and the time without it that it is a share of. */
struct zap_price {
	uint64_t cost_ns, run_ns;
};

/* The larger bound. Where threads are not known, or one works, it is the share of CPU time. */
struct zap_price zap_price_of(const struct zap_interval_cost *c);

#endif
