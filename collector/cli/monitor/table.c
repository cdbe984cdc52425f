/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/base/util.h"

double mon_share(const struct mon_level *l, double v)
{
	double least = l->least, most = l->most;

	if (isnan(v) || isnan(least) || isnan(most))
		return NAN;
	/* what is never below 0 begins there; one value alone fills its bar */
	if (least > 0 && !l->def->has_min && !l->def->log_scale)
		least = 0;
	if (l->def->log_scale && least >= 0) {
		v = log1p(v < 0 ? 0 : v);
		least = log1p(least);
		most = log1p(most);
	}
	if (most <= least)
		return v > 0 ? 1 : 0;
	v = (v - least) / (most - least);
	return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* Four digits and a unit: 1.234, 12.3k, 4.5G; "-" without a value. */
static const char *number(double v, char *to, size_t n)
{
	static const char units[] = " kMGTPE";
	double a = fabs(v);
	int u = 0;

	while (a >= 9999.5 && u < 6) {
		a /= 1000;
		v /= 1000;
		u++;
	}
	if (isnan(v))
		snprintf(to, n, "-");
	else if (a != 0 && a < 0.0005)
		snprintf(to, n, "%.1e", v);
	else
		snprintf(to, n, "%.*f%.*s", a >= 100 && u == 0 && v == floor(v) ? 0 : a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3, v,
			 u > 0, units + u);
	return to;
}

static void bar(FILE *to, double share, int width)
{
	int full = isnan(share) ? 0 : (int)(share * width + 0.5);

	fputc('[', to);
	for (int i = 0; i < width; i++)
		fputc(i < full ? '|' : ' ', to);
	fputc(']', to);
}

/* A character for each place, for levels that have more of them than there are rows. */
static void heat(FILE *to, const struct mon_set *s, const struct mon_level *l, int width)
{
	static const char scale[] = " .:-=+*#%@";

	fputc('[', to);
	for (int i = 0; i < width && (size_t)i < l->n; i++) {
		/* several places in one character: the largest of them */
		size_t from = l->n <= (size_t)width ? (size_t)i : l->n * (size_t)i / (size_t)width;
		size_t end = l->n <= (size_t)width ? from + 1 : l->n * (size_t)(i + 1) / (size_t)width;
		double most = NAN;

		for (size_t k = from; k < end; k++) {
			const struct mon_monitor *m = &s->monitor[l->first + k];
			double share = m->active ? mon_share(l, m->shown) : NAN;

			if (!isnan(share) && !(share <= most))
				most = share;
		}
		fputc(isnan(most) ? '_' : scale[(int)(most * 9 + 0.5)], to);
	}
	fputc(']', to);
}

static void cut(FILE *to, const char *text, int width)
{
	fprintf(to, "%-*.*s", width, width, text);
}

static size_t rows_of(const struct mon_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_levels; i++)
		n += s->level[i].def->silent ? 0 : s->level[i].n;
	return n;
}

static void type_of(const struct mon_set *s, const struct mon_level *l, char *to, size_t n)
{
	snprintf(to, n, "%.*s", l->n ? (int)strcspn(s->monitor[l->first].place, ":") : 0, l->n ? s->monitor[l->first].place : "");
}

void mon_table_draw(const struct mon_set *s, FILE *to, int rows, int columns, const char *status)
{
	bool each = (int)rows_of(s) + 3 <= rows;
	int width = columns - 20 - 14 - 10 - 10 - 6, left = rows - 3;
	char value[32], change[32];

	if (width < 5)
		width = 5;
	fputs("\033[H", to);
	cut(to, status, columns - 1);
	fputs("\033[K\n\033[7m", to);
	cut(to, each ? "MONITOR              PLACE               VALUE     CHANGE" : "MONITOR              PLACE               LEAST       MOST",
	    columns - 1);
	fputs("\033[0m\033[K\n", to);
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct mon_level *l = &s->level[i];

		if (l->def->silent)
			continue;
		if (!each && left-- > 0) {
			char type[80];

			type_of(s, l, type, sizeof(type));
			cut(to, l->def->name, 20);
			fputc(' ', to);
			cut(to, type, 14);
			fprintf(to, "%10s %10s ", number(l->least, value, sizeof(value)), number(l->most, change, sizeof(change)));
			heat(to, s, l, width);
			fputs("\033[K\n", to);
		}
		for (size_t k = l->first; k < l->first + l->n && each; k++) {
			const struct mon_monitor *m = &s->monitor[k];

			cut(to, l->def->name, 20);
			fputc(' ', to);
			cut(to, m->place, 14);
			fprintf(to, "%10s %10s ", m->active ? number(m->shown, value, sizeof(value)) : "-",
				m->active && !isnan(m->before) ? number(m->shown - m->before, change, sizeof(change)) : "");
			bar(to, m->active ? mon_share(l, m->shown) : NAN, width);
			fputs("\033[K\n", to);
		}
	}
	fputs("\033[J", to);
	fflush(to);
}

void mon_table_lines(const struct mon_set *s, FILE *to, int columns, int most)
{
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct mon_level *l = &s->level[i];
		char type[80], value[32];
		int width = columns - 50;

		if (l->def->silent)
			continue;
		type_of(s, l, type, sizeof(type));
		fprintf(to, "%10.3f s  %-20s %-10s ", (double)s->context->now_ns * 1e-9, l->def->name, type);
		heat(to, s, l, width < 10 ? 10 : width);
		for (size_t k = l->first; k < l->first + l->n && (int)(k - l->first) < most; k++)
			fprintf(to, " %s", s->monitor[k].active ? number(s->monitor[k].shown, value, sizeof(value)) : "-");
		fputs((int)l->n > most && most ? " ...\n" : "\n", to);
	}
	fflush(to);
}

void mon_table_end(const struct mon_set *s, FILE *to)
{
	fprintf(to, "%-20s %-14s %16s %16s %10s\n", "MONITOR", "PLACE", "LAST", "MEAN", "SAMPLES");
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct mon_level *l = &s->level[i];

		for (size_t k = l->first; k < l->first + l->n && !l->def->silent; k++) {
			const struct mon_monitor *m = &s->monitor[k];

			if (m->n_outputs != 1 || !m->n_shown) {
				fprintf(to, "%-20s %-14s", l->def->name, m->place);
				for (int v = 0; v < m->n_outputs; v++)
					fprintf(to, "%s%s=%.6g", v ? " " : "   ", l->label[v], m->out[v]);
				fprintf(to, "   (%" PRIu64 " samples)\n", m->n_values);
				continue;
			}
			fprintf(to, "%-20s %-14s %16.6g %16.6g %10" PRIu64 "\n", l->def->name, m->place, m->shown,
				m->sum / (double)m->n_shown, m->n_values);
		}
	}
}
