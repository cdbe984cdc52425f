/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/measure/figure.h"

#include <stdlib.h>

#define PREEMPTED 3		/* times what a good piece took: another program ran in it */

void mt_piece(struct mt_pieces *p, double v)
{
	if (p->n < MT_PIECES)
		p->v[p->n++] = v;
}

static int up(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct mt_figure mt_figure_of(struct mt_pieces *p)
{
	struct mt_figure f = { .refused = NULL };
	size_t n = p->n;

	if (n)
		qsort(p->v, n, sizeof(p->v[0]), up);
	while (n && p->v[n - 1] > PREEMPTED * p->v[n / 10])
		n--;
	f.pieces = n;
	p->n = 0;
	if (n < MT_FEWEST_PIECES) {
		f.refused = "too few pieces without an interruption";
		return f;
	}
	f.low = p->v[n / 10];
	f.value = p->v[n / 4];
	f.high = p->v[n / 2];
	if (!(f.low > 0) || f.high > MT_WIDEST * f.low)
		f.refused = "the pieces differ too much";
	return f;
}

/* Four digits: more is noise. */
static json_t *rounded(double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.4g", v);
	return json_real(strtod(text, NULL));
}

json_t *mt_figure_json(const struct mt_figure *f, const char *unit, const char *text)
{
	json_t *o = json_object();

	if (f->refused)
		json_object_set_new(o, "refused", json_string(f->refused));
	else
		json_object_set_new(o, "value", rounded(f->value));
	if (f->low > 0) {
		json_object_set_new(o, "low", rounded(f->low));
		json_object_set_new(o, "high", rounded(f->high));
	}
	json_object_set_new(o, "pieces", json_integer((json_int_t)f->pieces));
	json_object_set_new(o, "unit", json_string(unit));
	json_object_set_new(o, "text", json_string(text));
	return o;
}
