/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/times.h"

#include <stdlib.h>

#include "cli/base/util.h"

void mon_times_add(struct mon_times *t, uint64_t ns)
{
	if (!t->stride)
		t->stride = 1;
	if (!t->count || ns < t->least)
		t->least = ns;
	if (ns > t->most)
		t->most = ns;
	t->sum += (double)ns;
	if (t->count++ % t->stride)
		return;
	if (t->n == MON_TIMES_KEPT) {
		for (size_t i = 0; i < t->n / 2; i++)
			t->ns[i] = t->ns[2 * i];
		t->n /= 2;
		t->stride *= 2;
	}
	MT_GROW(t->ns, t->n, t->cap);
	t->ns[t->n++] = ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

struct mon_quartiles mon_times_quartiles(struct mon_times *t)
{
	if (!t->n)
		return (struct mon_quartiles){ .least = 0 };
	qsort(t->ns, t->n, sizeof(*t->ns), compare);
	return (struct mon_quartiles){ .least = t->least, .q1 = t->ns[t->n / 4], .median = t->ns[t->n / 2], .q3 = t->ns[3 * t->n / 4],
		.most = t->most, .mean = t->sum / (double)t->count };
}
