// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Rule: the budget is kept over the whole run, its start and its end included. The program
 * earns its share of CPU time, but of an idle program at least EARN_IDLE of the time of a
 * CPU; what tracing costs is spent. With the cost of an interval (averaged with weight 1/2
 * for the past), what is earned per second and the balance, the length is such that the
 * balance is even again after a horizon: as long as the run has lasted, one to five seconds.
 *
 *	length = cost of an interval * horizon / (earned in the horizon + balance)
 *
 * A debt takes away at most 40 % of what is earned meanwhile, so that the start, which is
 * dear, does not leave a short program with two or three intervals; a credit adds at most
 * 10 %, a quarter of it counts. The length grows when 15 % more is needed, at most to four
 * times the old one at once, and shrinks by at most a third, when a quarter less would do
 * and four intervals have passed since the last change. The gap between the two keeps it
 * from swinging.
 */
#include "governor.h"

#define LONGEST_NS 10000000000ull
#define HORIZON_MIN_NS 1e9
#define HORIZON_MAX_NS 5e9
#define EARN_IDLE 0.05
#define END_NS 2e7		/* the last interval, and the recorder's work on it */

void zap_governor_init(struct zap_governor *g, uint64_t interval_ns, uint32_t max_ppm)
{
	*g = (struct zap_governor){
		.share = (double)max_ppm / 1e6, .min_ns = interval_ns, .target_ns = interval_ns,
		.max_ns = interval_ns > LONGEST_NS ? interval_ns : LONGEST_NS, .spent_ns = END_NS,
	};
}

void zap_governor_charge(struct zap_governor *g, uint64_t cost_ns)
{
	g->spent_ns += (double)cost_ns;
}

static double clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

enum mt_stretch zap_governor_update(struct zap_governor *g, uint64_t cost_ns, uint64_t program_cpu_ns, uint64_t wall_ns)
{
	const double cost = (double)cost_ns, wall = wall_ns ? (double)wall_ns : 1, target = (double)g->target_ns;
	double earned = (double)program_cpu_ns * g->share, horizon, due, balance, want;

	if (g->share <= 0)
		return MT_STRETCH_NONE;
	if (earned < wall * EARN_IDLE)
		earned = wall * EARN_IDLE;
	g->earned_ns += earned;
	g->spent_ns += cost;
	g->elapsed_ns += wall;
	g->interval_cost_ns = g->intervals ? (g->interval_cost_ns + cost) / 2 : cost;
	g->earn_rate = g->intervals ? (g->earn_rate + earned / wall) / 2 : earned / wall;
	g->intervals++;
	g->settled++;

	horizon = clamp(g->elapsed_ns, HORIZON_MIN_NS, HORIZON_MAX_NS);
	due = g->earn_rate * horizon;
	balance = g->earned_ns - g->spent_ns;
	want = g->interval_cost_ns * horizon / (due + clamp(balance > 0 ? balance / 4 : balance, -0.4 * due, 0.1 * due));
	want = clamp(want, (double)g->min_ns, (double)g->max_ns);
	if (want > target * 1.15) {
		g->target_ns = (uint64_t)clamp(want, 0, target * 4);
		g->settled = 0;
		return MT_STRETCH_LONGER;
	}
	if (want < target * 0.75 && g->settled >= 4) {
		g->target_ns = (uint64_t)clamp(want, target * 2 / 3, target);
		g->settled = 0;
		return MT_STRETCH_SHORTER;
	}
	return MT_STRETCH_NONE;
}
