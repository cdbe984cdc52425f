/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* advice.c - what the program advised about huge pages. */
#include <stdlib.h>

#include "cli/names/advice.h"
#include "cli/base/util.h"

static uint64_t page_up(const struct mt_context *c, uint64_t v)
{
	const uint64_t page = c->page_bytes ? c->page_bytes : 4096;

	return (v + page - 1) & ~(page - 1);
}

/* Of what is unmapped only that is kept which had an advice: a program that gives none has none of this. */
void mt_advise(struct mt_context *c, int64_t time, uint64_t start, uint64_t len, int what)
{
	bool matters = what && len;

	for (size_t i = 0; i < c->n_advice && len && !matters; i++)
		matters = c->advice[i].what && c->advice[i].start < start + len && c->advice[i].end > start;
	if (!matters)
		return;
	MT_GROW(c->advice, c->n_advice, c->cap_advice);
	c->advice[c->n_advice++] = (struct mt_advice){ time, start, start + page_up(c, len), what };
}

/* The advice for an address that is in force before a time. */
int mt_advice_at(const struct mt_context *c, uint64_t addr, int64_t until)
{
	for (size_t i = c->n_advice; i-- > 0; )
		if (c->advice[i].time < until && c->advice[i].start <= addr && addr < c->advice[i].end)
			return c->advice[i].what;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t mt_context_advised(const struct mt_context *c, const struct mt_structure *s, int advice)
{
	const int64_t until = s->death < 0 ? INT64_MAX : s->death;
	uint64_t *border = NULL, bytes = 0;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < c->n_advice; i++) {
		const struct mt_advice *a = &c->advice[i];

		if (a->time < until && a->start < s->end && a->end > s->start) {
			MT_GROW(border, n, cap);
			border[n++] = a->start > s->start ? a->start : s->start;
			MT_GROW(border, n, cap);
			border[n++] = a->end < s->end ? a->end : s->end;
		}
	}
	if (n)
		qsort(border, n, sizeof(*border), by_address);
	for (size_t i = 1; i < n; i++)
		if (border[i] > border[i - 1] && mt_advice_at(c, border[i - 1], until) == advice)
			bytes += border[i] - border[i - 1];
	free(border);
	return bytes;
}
