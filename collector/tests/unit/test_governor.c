// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/zap/governor.c
#include "harness.h"
#include "zap/governor.h"

#define MS 1000000ull

/* A program on one CPU whose pages cost cost_ms per interval, whatever its length. */
static int run(struct zap_governor *g, uint64_t cost_ms, int intervals)
{
	int changes = 0;

	for (int i = 0; i < intervals; i++)
		changes += zap_governor_update(g, cost_ms * MS, g->target_ns) != MT_STRETCH_NONE;
	return changes;
}

int main(void)
{
	struct zap_governor g;

	/* off: nothing ever changes */
	zap_governor_init(&g, 50 * MS, 0);
	CHECK_EQ(run(&g, 1000, 100), 0);
	CHECK_EQ(g.target_ns, 50 * MS);

	/* within the budget: nothing changes */
	zap_governor_init(&g, 50 * MS, 500000);
	CHECK_EQ(run(&g, 20, 100), 0);

	/* 100 ms per interval, budget one half: at least 200 ms, at most one step more */
	run(&g, 100, 100);
	CHECK(g.target_ns >= 200 * MS && g.target_ns <= 300 * MS);
	/* and it does not swing */
	CHECK_EQ(run(&g, 100, 200), 0);

	/* far above the budget: there in four steps, 50 -> 200 -> 300 -> 450 -> 675 ms; 500 are needed */
	zap_governor_init(&g, 50 * MS, 500000);
	CHECK_EQ(run(&g, 250, 4), 4);
	CHECK_EQ(g.target_ns, 675 * MS);
	CHECK_EQ(run(&g, 250, 50), 0);

	/* load gone: back to what was asked for within 30 intervals, not further */
	CHECK(run(&g, 1, 30) > 2);
	CHECK_EQ(g.target_ns, 50 * MS);

	/* a little below half of the budget: by 10 %, to where the share is one half of it */
	zap_governor_init(&g, 50 * MS, 500000);
	g.target_ns = 450 * MS;
	CHECK_EQ(run(&g, 100, 3), 0);
	CHECK_EQ(run(&g, 100, 1), 1);
	CHECK_EQ(g.target_ns, 405 * MS);
	run(&g, 100, 100);
	CHECK(g.target_ns >= 200 * MS && g.target_ns <= 405 * MS);

	/* an idle program says nothing */
	CHECK_EQ(zap_governor_update(&g, 900000, 0), MT_STRETCH_NONE);

	/* bounded, even when nothing helps */
	run(&g, 100000, 1000);
	CHECK_EQ(g.target_ns, 10000 * MS);
	zap_governor_init(&g, 20000 * MS, 1);
	run(&g, 100000, 10);
	CHECK_EQ(g.target_ns, 20000 * MS);
	return mt_test_done();
}
