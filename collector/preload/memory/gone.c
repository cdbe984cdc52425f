// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/gone.h"

#include <string.h>

#include "common/rawsys.h"

#define GONE_EXACT 4096		/* more ranges than this are merged with their neighbours */

/* Index of the first range that ends behind addr. */
static size_t gone_find(const struct zap_gone *g, uint64_t addr)
{
	size_t lo = 0, hi = g->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (g->r[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static int gone_reserve(struct zap_gone *g)
{
	size_t cap = g->cap ? g->cap * 2 : 256;
	struct zap_gone_range *r;

	if (g->n + 2 <= g->cap)
		return 0;
	r = mt_rawmap(cap * sizeof(*r));
	if (!r)
		return -ENOMEM;
	if (g->r) {
		memcpy(r, g->r, g->n * sizeof(*r));
		mt_rawunmap(g->r, g->cap * sizeof(*r));
	}
	g->r = r;
	g->cap = cap;
	return 0;
}

void zap_gone_add(struct zap_gone *g, uint64_t start, uint64_t end, uint64_t time, int shared)
{
	size_t i, j;

	if (gone_reserve(g))
		return;
	i = gone_find(g, start);
	if (i < g->n && g->r[i].start < start && g->r[i].end > end) {
		/* inside of one: cut it in two */
		memmove(g->r + i + 1, g->r + i, (g->n - i) * sizeof(*g->r));
		g->n++;
		g->r[i].end = start;
		g->r[i + 1].start = end;
		i++;
		j = i;
	} else {
		if (i < g->n && g->r[i].start < start)
			g->r[i++].end = start;
		for (j = i; j < g->n && g->r[j].end <= end; j++)
			;
		if (j < g->n && g->r[j].start < end)
			g->r[j].start = end;
	}
	if (g->n > GONE_EXACT && i && g->r[i - 1].end == start && g->r[i - 1].shared == shared) {
		g->r[i - 1].end = end;
		g->r[i - 1].time = time;
		memmove(g->r + i, g->r + j, (g->n - j) * sizeof(*g->r));
		g->n -= j - i;
		return;
	}
	memmove(g->r + i + 1, g->r + j, (g->n - j) * sizeof(*g->r));
	g->n = g->n + 1 - (j - i);
	g->r[i] = (struct zap_gone_range){ start, end, time, shared };
}

const struct zap_gone_range *zap_gone_at(const struct zap_gone *g, uint64_t addr, uint64_t time)
{
	const size_t i = gone_find(g, addr);

	return i < g->n && g->r[i].start <= addr && time <= g->r[i].time ? &g->r[i] : NULL;
}
