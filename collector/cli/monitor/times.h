/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* times.h - durations by the number: least, quartiles, mean, most. Of very many every second one is kept, again and again. */
#ifndef MEMTRACE_MONITOR_TIMES_H
#define MEMTRACE_MONITOR_TIMES_H

#include <stddef.h>
#include <stdint.h>

#define MON_TIMES_KEPT (1u << 17)

struct mon_times {
	uint64_t *ns;
	size_t n, cap;			/* that are kept */
	uint64_t stride, count;		/* one of stride is kept; all */
	uint64_t least, most;
	double sum;
};

struct mon_quartiles {
	uint64_t least, q1, median, q3, most;
	double mean;
};

void mon_times_add(struct mon_times *t, uint64_t ns);
/* All 0 without a time. Sorts what is kept. */
struct mon_quartiles mon_times_quartiles(struct mon_times *t);

#endif
