// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/monitor/price.c
/* What a recording costs the run: threads that spin buy nothing. */
#include "harness.h"
#include "preload/monitor/price.h"

#define MS 1000000ull

static double share(struct zap_price p)
{
	return (double)p.cost_ns / (double)p.run_ns;
}

int main(void)
{
	struct zap_interval_cost c = { .faults = 1000, .fault_ns = 2000, .other_ns = 1 * MS, .program_ns = 100 * MS, .wall_ns = 1000 * MS };
	struct zap_price one, spinning;

	/* threads are not known: CPU time, as it always was */
	one = zap_price_of(&c);
	CHECK_EQ(one.cost_ns, 3 * MS);
	CHECK_EQ(one.run_ns, 98 * MS);

	/* one thread: the same, however long it waits */
	c.thread_faults = 1000;
	c.thread_ns = c.busiest_ns = 100 * MS;
	CHECK_EQ(zap_price_of(&c).cost_ns, one.cost_ns);
	CHECK_EQ(zap_price_of(&c).run_ns, one.run_ns);

	/* sixteen threads that work, each with its faults: not a sixteenth of their sum, since they are served one after the other */
	c = (struct zap_interval_cost){ .faults = 16000, .fault_ns = 2000, .program_ns = 1600 * MS, .wall_ns = 100 * MS,
					.thread_faults = 1000, .thread_ns = 100 * MS, .busiest_ns = 100 * MS };
	CHECK(share(zap_price_of(&c)) > 16000 * 2000 / 1.5 / (100.0 * MS));
	/* and what they do while they wait for each other buys nothing: twice the CPU time in twice the time for the same work and faults */
	spinning = zap_price_of(&c);
	c.program_ns *= 2;
	CHECK(share(zap_price_of(&c)) >= share(spinning));

	/* the machine is busy, and the program runs for a tenth of the time: the time in which it ran counts */
	c = (struct zap_interval_cost){ .faults = 2000, .fault_ns = 2000, .program_ns = 20 * MS, .wall_ns = 100 * MS,
					.thread_faults = 1000, .thread_ns = 10 * MS, .busiest_ns = 10 * MS };
	CHECK_EQ(zap_price_of(&c).cost_ns, 2 * MS);
	CHECK_EQ(zap_price_of(&c).run_ns, 8 * MS);

	/* one of two threads has all faults: it is late by them */
	c.thread_faults = 2000;
	CHECK_EQ(zap_price_of(&c).cost_ns, 4 * MS);

	/* more faults than time */
	c.faults = c.thread_faults = 100000;
	CHECK_EQ(zap_price_of(&c).run_ns, 0);
	CHECK(zap_price_of(&c).cost_ns >= 200 * MS);
	return mt_test_done();
}
