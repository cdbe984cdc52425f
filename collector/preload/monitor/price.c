// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/monitor/price.h"

/*
 * Faults of one process go on beside each other for a small part only. Wall time for a fault more, of a program of 1, 2, 4, 8 and 16
 * threads on 16 processors: 2.6, 1.7, 1.05, 0.8 and 2.1 us. So of two threads on 1.5 of them are served at a time.
 */
#define BESIDE 1.5

static struct zap_price price(double cost, double run)
{
	return (struct zap_price){ (uint64_t)cost, run > cost ? (uint64_t)(run - cost) : 0 };
}

/* Is the share of @a larger than that of @b? */
static int is_dearer(struct zap_price a, struct zap_price b)
{
	return (double)a.cost_ns * (double)b.run_ns > (double)b.cost_ns * (double)a.run_ns;
}

struct zap_price zap_price_of(const struct zap_interval_cost *c)
{
	const double all = (double)c->faults * (double)c->fault_ns;
	struct zap_price thread, wall;
	double beside, other;

	if (!c->busiest_ns || !c->thread_ns || c->program_ns <= c->busiest_ns)
		return (struct zap_price){ (uint64_t)(all + (double)c->other_ns),
					   (double)c->program_ns > all ? c->program_ns - (uint64_t)all : 0 };
	/* what the monitor and hooks do takes a part of each thread */
	beside = (double)c->program_ns / (double)c->busiest_ns;
	other = (double)c->other_ns / beside;
	thread = price((double)c->thread_faults * (double)c->fault_ns, (double)c->thread_ns);
	thread.cost_ns += (uint64_t)(other * (double)c->thread_ns / (double)c->busiest_ns);
	wall = price(all / (beside < BESIDE ? beside : BESIDE), (double)c->wall_ns);
	wall.cost_ns += (uint64_t)other;
	return is_dearer(wall, thread) ? wall : thread;
}
