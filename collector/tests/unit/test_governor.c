// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/monitor/governor.c
#include "harness.h"
#include "preload/monitor/governor.h"

#define MS 1000000ull

/* A program that uses @cpu of one CPU, whose looks cost cost_ms each, whatever their length. */
struct run {
	struct zap_governor g;
	double cpu, wall_ns, cost_ns;
	int intervals, changes, looks;
	int slowed;		/* the program itself pays for its faults, within its CPU time */
};

/* Looks of an interval that may be as many as @subphases. */
static struct run begin_looks(uint64_t interval_ms, int subphases, uint32_t ppm, double cpu)
{
	struct run r = { .cpu = cpu };

	zap_governor_init(&r.g, interval_ms * MS, interval_ms * MS, subphases, ppm);
	return r;
}

static struct run begin(uint64_t interval_ms, uint32_t ppm, double cpu)
{
	return begin_looks(interval_ms, 1, ppm, cpu);
}

/* Until @ms of the run are over, at least one interval. Returns how often the length was changed. */
static int run_as(struct run *r, int alone, double cost_ms, uint64_t ms)
{
	int before = r->changes;

	do {
		uint64_t wall = r->g.target_ns;
		double cost = cost_ms * MS * r->g.subphases, used = (double)wall * r->cpu;

		if (r->slowed && used < cost * 1.05) {	/* it does not come further than that */
			used = cost * 1.05;
			wall = (uint64_t)(used / r->cpu);
		}
		used -= r->slowed ? cost : 0;

		r->looks += r->g.subphases;
		r->changes += zap_governor_update(&r->g, (uint64_t)cost, (uint64_t)used, wall, alone) !=
			MT_STRETCH_NONE;
		r->wall_ns += (double)wall;
		r->cost_ns += cost;
		r->intervals++;
	} while (r->wall_ns < (double)ms * MS);
	return r->changes - before;
}

static int run(struct run *r, double cost_ms, uint64_t ms)
{
	return run_as(r, 0, cost_ms, ms);
}

/* What the recording cost, start and end included, as a share of the program's CPU time. */
static double share(const struct run *r)
{
	return r->g.spent_ns / (r->wall_ns * r->cpu);
}

static struct run begin_fine(int subphases, uint32_t ppm, double cpu)
{
	struct run r = { .cpu = cpu, .slowed = 1 };

	zap_governor_init(&r.g, 50 * MS, 25 * MS / 4, subphases, ppm);
	return r;
}

/* Nobody asked for the length of an interval: short runs have twenty within the budget, too. */
static void short_runs(void)
{
	struct run r;

	/* one thread: 0.125 to 1 s */
	for (uint64_t ms = 125; ms <= 1000; ms *= 2) {
		r = begin_fine(5, 350000, 1);
		CHECK(run_as(&r, 1, 0.5, ms) == 0);
		CHECK(r.intervals >= 19);
		CHECK(r.cost_ns < 0.35 * (r.wall_ns - r.cost_ns));
	}
	CHECK(r.intervals >= 48 && r.intervals <= 52);
	/* then as asked for, at the length that was asked for */
	CHECK_EQ(run_as(&r, 1, 0.5, 6000), 0);
	CHECK(r.g.target_ns == 50 * MS && r.intervals <= 152);

	/* several threads: half of it, with all looks */
	r = begin_fine(5, 350000, 2);
	run(&r, 0.5, 0);
	CHECK(run(&r, 0.5, 480) == 0);
	CHECK(r.g.subphases == 5 && r.g.target_ns == 25 * MS);
	CHECK(r.intervals >= 20 && r.looks >= 95);
	run(&r, 0.5, 1000);
	CHECK(r.g.target_ns == 50 * MS && r.g.subphases == 5);
	CHECK(r.cost_ns < 0.35 * (r.wall_ns * 2 - r.cost_ns));

	/* dear: the budget comes first */
	for (int ms = 5; ms <= 80; ms *= 2) {
		r = begin_fine(5, 350000, 1);
		zap_governor_charge(&r.g, 5 * MS);
		run_as(&r, 1, ms, 1000);
		CHECK(r.cost_ns < 0.36 * (r.wall_ns - r.cost_ns) + ms * MS);
		printf("%d ms for a look: %d intervals in a second, cost %.0f of %.0f ms\n", ms, r.intervals, r.cost_ns / 1e6,
		       (r.wall_ns - r.cost_ns) / 1e6);
	}
	/* no budget, or asked for by a person: nothing of this */
	r = begin_fine(5, 0, 1);
	CHECK(r.g.target_ns == 50 * MS && r.g.subphases == 5);
	r = begin_looks(50, 5, 350000, 1);
	CHECK_EQ(r.g.target_ns, 50 * MS);
}

/* A program that waits for a processor all the time earns what it uses, not what an idle one does. */
static void who_waits_for_a_processor_is_not_idle(void)
{
	const double cpu = 0.01, cost = 2;
	struct run idle = begin(50, 200000, cpu), starved = begin(50, 200000, cpu);

	run_as(&idle, 1, cost, 60000);
	for (int i = 0; starved.wall_ns < 60e9 && i < 10000; i++) {
		starved.g.waited_ns = starved.g.target_ns / 100 * 99;
		run_as(&starved, 1, cost, 0);
	}
	/* 2 % of the time; a fifth of 1 % of it */
	CHECK(idle.g.earned_ns >= 0.019 * idle.wall_ns);
	CHECK(starved.g.earned_ns <= 0.0023 * starved.wall_ns);
	CHECK(starved.intervals * 5 < idle.intervals);
}

int main(void)
{
	who_waits_for_a_processor_is_not_idle();
	struct run r = begin(50, 0, 1);

	/* off: nothing ever changes */
	CHECK_EQ(run(&r, 1000, 5000), 0);
	CHECK_EQ(r.g.target_ns, 50 * MS);

	/* within the budget: nothing changes */
	r = begin(50, 500000, 1);
	CHECK_EQ(run(&r, 20, 5000), 0);

	/* 100 ms per interval, budget one half: 200 ms in the long run, in few steps, and no swinging */
	r = begin(50, 500000, 1);
	CHECK(run(&r, 100, 40000) <= 6);
	CHECK(r.g.target_ns >= 190 * MS && r.g.target_ns <= 250 * MS);
	CHECK(share(&r) > 0.4 && share(&r) < 0.52);
	CHECK(run(&r, 100, 120000) <= 4);
	CHECK(share(&r) > 0.45 && share(&r) < 0.51);

	/* a short run keeps its budget, too, and does not pay for its start with all its intervals */
	r = begin(50, 500000, 1);
	run(&r, 50, 1000);
	CHECK(share(&r) < 0.55);
	CHECK(r.intervals >= 9);
	r = begin(50, 500000, 1);
	zap_governor_charge(&r.g, 150 * MS);
	run(&r, 20, 1000);
	CHECK(r.intervals >= 14 && share(&r) < 0.55);

	/* what the start cost is paid back later */
	r = begin(50, 500000, 1);
	zap_governor_charge(&r.g, 500 * MS);
	run(&r, 30, 20000);
	CHECK(share(&r) < 0.5);
	CHECK(r.g.target_ns < 80 * MS);

	/* far above the budget: at once to what is needed, 500 ms, or twice as long while the debt is paid back */
	r = begin(50, 500000, 1);
	run(&r, 250, 300);
	CHECK(r.g.target_ns >= 500 * MS && r.g.target_ns <= 1000 * MS);
	run(&r, 250, 60000);
	CHECK(r.g.target_ns >= 470 * MS && r.g.target_ns <= 600 * MS);

	/* load gone: back to what was asked for, not further, from whatever length it had */
	run(&r, 1, 90000);
	CHECK_EQ(r.g.target_ns, 50 * MS);

	/* a start that is as dear as half of the run takes half of the looks meanwhile, no more and no less */
	r = begin(50, 350000, 1);
	zap_governor_charge(&r.g, 1000 * MS);
	run(&r, 40, 4000);
	CHECK(r.cost_ns > 0.18 * r.wall_ns && r.cost_ns < 0.212 * r.wall_ns);

	/* a program that sleeps and uses 4 ms of CPU per second: cheap intervals stay as they are */
	r = begin(50, 500000, 0.004);
	CHECK_EQ(run(&r, 0.5, 10000), 0);
	CHECK(r.intervals >= 199);
	/* but it does not get all of a CPU */
	r = begin(50, 500000, 0.004);
	run(&r, 10, 10000);
	CHECK(r.cost_ns < 0.07 * r.wall_ns);

	/* bounded, even when nothing helps */
	r = begin(50, 500000, 1);
	run(&r, 100000, 1000000);
	CHECK_EQ(r.g.target_ns, 10000 * MS);
	r = begin(20000, 1, 1);
	run(&r, 100000, 100000);
	CHECK_EQ(r.g.target_ns, 20000 * MS);

	/* costs that vary by ten, in turns: the budget holds, and most intervals leave the length alone */
	r = begin(50, 500000, 1);
	for (int i = 0; i < 400; i++)
		run(&r, (double[]){ 20, 100, 200, 60 }[i % 4], 0);
	CHECK(share(&r) > 0.4 && share(&r) < 0.53);
	CHECK(r.changes < 130);

	/* several looks, affordable: all that were asked for, at the length that was asked for */
	r = begin_looks(50, 5, 500000, 1);
	CHECK(run(&r, 2, 5000) <= 2);
	CHECK_EQ(r.g.target_ns, 50 * MS);
	CHECK_EQ(r.g.subphases, 5);
	/* switched off: as asked for, from the first on */
	r = begin_looks(50, 5, 0, 1);
	CHECK_EQ(run(&r, 1000, 5000), 0);
	CHECK_EQ(r.g.subphases, 5);

	/* 20 ms per look, one half: 40 ms between looks. In a second 20 intervals are wanted, so two looks in each */
	r = begin_looks(50, 5, 500000, 1);
	run(&r, 20, 1000);
	CHECK(share(&r) < 0.6);
	CHECK_EQ(r.g.subphases, 2);
	CHECK(r.intervals >= 10);
	/* in a long run there are intervals enough: all looks */
	run(&r, 20, 30000);
	CHECK(share(&r) > 0.4 && share(&r) < 0.52);
	CHECK_EQ(r.g.subphases, 5);
	CHECK(r.g.target_ns >= 180 * MS && r.g.target_ns <= 260 * MS);
	CHECK(r.intervals >= 100);

	/* a dear program of four seconds: what its start made long does not stay long for the rest of it */
	r = begin_looks(50, 5, 350000, 1);
	r.slowed = 1;
	zap_governor_charge(&r.g, 5 * MS);
	run_as(&r, 1, 60, 4000);
	CHECK(r.intervals >= 14);
	CHECK(r.cost_ns < 0.35 * (r.wall_ns - r.cost_ns));
	r = begin_looks(50, 5, 350000, 1);
	r.slowed = 1;
	zap_governor_charge(&r.g, 5 * MS);
	run_as(&r, 1, 30, 2000);
	CHECK(r.intervals >= 15);
	CHECK(r.cost_ns < 0.35 * (r.wall_ns - r.cost_ns));

	/* one thread alone: one look, so that intervals are as short as the budget lets them be */
	r = begin_looks(50, 5, 500000, 1);
	run_as(&r, 1, 20, 2000);
	CHECK_EQ(r.g.subphases, 1);
	CHECK_EQ(r.g.target_ns, 50 * MS);
	CHECK(r.intervals >= 36);
	/* others begin: at once more looks than one, and alone again: one */
	run(&r, 20, 0);
	CHECK(r.g.subphases >= 2);
	run_as(&r, 1, 20, 0);
	CHECK_EQ(r.g.subphases, 1);
	short_runs();
	return mt_test_done();
}
