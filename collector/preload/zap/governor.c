// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Rule: the share is averaged with weight 1/2 for the past. Above the budget the
 * interval grows by 3/2 at once, above three (eight) times the budget by 2 (4): a program
 * that touches each page once per pass can spend nearly all its time in faults; below half of the budget, for at least four
 * intervals in a row, it shrinks by 10 %, below a quarter by a third. The gap between the two keeps it from
 * swinging: growth by 3/2 brings the share to 2/3 of the old one, above one half.
 * Intervals with less than 1 ms of program CPU say nothing about the share.
 */
#include "governor.h"

#define LONGEST_NS 10000000000ull

void zap_governor_init(struct zap_governor *g, uint64_t interval_ns, uint32_t max_ppm)
{
	g->max_ppm = max_ppm;
	g->min_ns = interval_ns;
	g->max_ns = interval_ns > LONGEST_NS ? interval_ns : LONGEST_NS;
	g->target_ns = interval_ns;
	g->cost_ns = 0;
	g->cpu_ns = 0;
	g->settled = 0;
}

enum mt_stretch zap_governor_update(struct zap_governor *g, uint64_t cost_ns, uint64_t program_cpu_ns)
{
	uint64_t budget;

	if (!g->max_ppm || program_cpu_ns + cost_ns < 1000000)
		return MT_STRETCH_NONE;
	g->cost_ns = g->cost_ns / 2 + cost_ns;
	g->cpu_ns = g->cpu_ns / 2 + program_cpu_ns;
	g->settled++;
	budget = (uint64_t)((double)g->cpu_ns * g->max_ppm / 1e6);
	if (g->cost_ns > budget) {
		if (g->target_ns >= g->max_ns)
			return MT_STRETCH_NONE;
		if (g->cost_ns > budget * 8)
			g->target_ns *= 4;
		else if (g->cost_ns > budget * 3)
			g->target_ns *= 2;
		else
			g->target_ns += g->target_ns / 2;
		if (g->target_ns > g->max_ns)
			g->target_ns = g->max_ns;
		g->settled = 0;
		/* what was measured belongs to the old length */
		g->cost_ns = g->cpu_ns = 0;
		return MT_STRETCH_LONGER;
	}
	if (g->cost_ns < budget / 2 && g->settled >= 4 && g->target_ns > g->min_ns) {
		/* far below it was not this program's nature but a moment of it, its start say */
		g->target_ns -= g->cost_ns < budget / 4 ? g->target_ns / 3 : g->target_ns / 10;
		if (g->target_ns < g->min_ns)
			g->target_ns = g->min_ns;
		g->settled = 0;
		g->cost_ns = g->cpu_ns = 0;
		return MT_STRETCH_SHORTER;
	}
	return MT_STRETCH_NONE;
}
