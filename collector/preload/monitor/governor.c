// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Rule: the budget is kept over the whole run, its start and its end included. The program
 * earns its share of CPU time, but while nothing of it waits for a CPU at least EARN_IDLE of the time of a
 * CPU; what tracing costs is spent. With the cost of a look (averaged with weight 1/2
 * for the past), what is earned per second and the balance, the time between two looks is such
 * that the balance is even again after a horizon: as long as the run has lasted, one to five
 * seconds.
 *
 *	time per look = cost of a look * horizon / (earned in the horizon + balance)
 *
 * A debt takes away at most half of what is earned meanwhile, so that the start, which is
 * dear, does not leave a short program with two or three intervals; a credit adds at most
 * 10 %, a quarter of it counts.
 *
 * Looks are shared out among intervals so that a run as long as this one has INTERVALS of them,
 * while each has at least two looks, by which threads on one page are told apart; where one
 * thread works alone one look is enough.
 *
 * A run begins with intervals that are shorter than asked for by powers of two, if they may be: so that one that soon ends
 * has INTERVALS of them, too. They are as asked for after INTERVALS times that length. Where several threads work they are
 * halved only, so that there is time for all looks.
 *
 * The time per look grows when 15 % more is needed, at most to four times the old one at once,
 * and shrinks by at most a third, when a quarter less would do and four intervals have passed
 * since the last change. The gap between the two keeps it from swinging. The first INTERVALS
 * intervals may shrink at once: four intervals that the dear start has made long could be the rest of a short run.
 */
#include "preload/monitor/governor.h"

#define LONGEST_NS 10000000000ull
#define HORIZON_MIN_NS 1e9
#define HORIZON_MAX_NS 5e9
#define EARN_IDLE 0.02
#define END_NS 5e7		/* the recorder's start, the last interval, and the recorder's work at the end */
#define INTERVALS 20

/* The shortest interval for now. */
static uint64_t least_ns(const struct zap_governor *g, int most)
{
	uint64_t least = g->min_ns, half = least / 2;

	for (; half >= g->first_ns && (double)half >= g->elapsed_ns / INTERVALS && (most == 1 || least == g->min_ns); half /= 2)
		least = half;
	return least;
}

void zap_governor_init(struct zap_governor *g, uint64_t interval_ns, uint64_t first_ns, int subphases, uint32_t max_ppm)
{
	*g = (struct zap_governor){
		.share = (double)max_ppm / 1e6, .min_ns = interval_ns,
		.first_ns = max_ppm && first_ns < interval_ns ? first_ns : interval_ns,
		.max_ns = interval_ns > LONGEST_NS ? interval_ns : LONGEST_NS, .spent_ns = END_NS,
		.most = subphases, .subphases = max_ppm ? 1 : subphases,	/* a program begins with one thread */
	};
	g->target_ns = least_ns(g, g->subphases);
}

void zap_governor_charge(struct zap_governor *g, uint64_t cost_ns)
{
	g->spent_ns += (double)cost_ns;
}

static double clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

/* Length and subphases for a time between two looks. */
static enum mt_stretch share_out(struct zap_governor *g, double look_ns, int most)
{
	const int fewest = most < 2 ? most : 2;
	const uint64_t before = g->target_ns, least = least_ns(g, most);
	double length = clamp(g->elapsed_ns / INTERVALS, (double)least, (double)g->max_ns);

	g->subphases = (int)clamp(length / look_ns, fewest, most);
	g->target_ns = (uint64_t)clamp(look_ns * g->subphases, (double)least, (double)g->max_ns);
	if (g->target_ns - least < least / 10)
		g->target_ns = least;
	/* what a run begins with is no matter of its cost */
	if (g->target_ns == least && before <= g->min_ns)
		return MT_STRETCH_NONE;
	return g->target_ns > before ? MT_STRETCH_LONGER : g->target_ns < before ? MT_STRETCH_SHORTER : MT_STRETCH_NONE;
}

enum mt_stretch zap_governor_update(struct zap_governor *g, uint64_t cost_ns, uint64_t program_cpu_ns, uint64_t wall_ns,
				    int alone)
{
	const double cost = (double)cost_ns / g->subphases, wall = wall_ns ? (double)wall_ns : 1;
	const double look = (double)g->target_ns / g->subphases;
	const int most = alone ? 1 : g->most;
	double least, idle;
	const uint32_t calm = g->intervals < INTERVALS ? 1 : 4;
	double earned = (double)program_cpu_ns * g->share, horizon, due, balance, want, wish;
	int more;

	if (g->share <= 0)
		return MT_STRETCH_NONE;
	/* who waits for a processor is not idle */
	idle = g->waited_ns < wall_ns ? (wall - (double)g->waited_ns) * EARN_IDLE : 0;
	if (earned < idle)
		earned = idle;
	g->earned_ns += earned;
	g->spent_ns += (double)cost_ns;
	g->elapsed_ns += wall;
	g->look_cost_ns = g->intervals ? (g->look_cost_ns + cost) / 2 : cost;
	g->earn_rate = g->intervals ? (g->earn_rate + earned / wall) / 2 : earned / wall;
	g->intervals++;
	g->settled++;

	horizon = clamp(g->elapsed_ns, HORIZON_MIN_NS, HORIZON_MAX_NS);
	due = g->earn_rate * horizon;
	balance = g->earned_ns - g->spent_ns;
	want = g->look_cost_ns * horizon / (due + clamp(balance > 0 ? balance / 4 : balance, -0.5 * due, 0.1 * due));
	least = (double)least_ns(g, most);
	wish = want;
	want = clamp(want, least / g->most, (double)g->max_ns);
	/* with fewer looks than could be in an interval of the length that this run may have */
	more = g->subphases < most && want < look * 1.15 && g->settled >= calm &&
	       look * (g->subphases + 1) <= clamp(g->elapsed_ns / INTERVALS, least, (double)g->max_ns);
	if (want > look * 1.15)
		want = clamp(want, 0, look * 4);
	else if (g->subphases == 1 && most > 1)
		want = want < look ? want : look;
	else if (wish < look * 0.75 && want < look && g->settled >= calm)
		want = clamp(want, look * 2 / 3, look);
	else if (g->subphases > most || more || (double)g->target_ns < least)
		want = look;
	else
		return MT_STRETCH_NONE;
	g->settled = 0;
	return share_out(g, want, most);
}
