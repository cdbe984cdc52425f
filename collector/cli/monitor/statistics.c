/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/util.h"

#define MAX_WEIGHTS 32

void mon_window_push(struct mon_window *w, const double *row)
{
	memcpy(w->value + (size_t)w->next * (size_t)w->n, row, (size_t)w->n * sizeof(*row));
	w->next = (w->next + 1) % w->capacity;
	if (w->rows < w->capacity)
		w->rows++;
}

const double *mon_row(const struct mon_window *w, int k)
{
	int first = w->rows < w->capacity ? 0 : w->next;

	return w->value + (size_t)((first + k) % w->capacity) * (size_t)w->n;
}

/* ---- one value from several */

double mon_sum(const double *v, int n)
{
	double sum = 0;
	int have = 0;

	for (int i = 0; i < n; i++)
		if (!isnan(v[i])) {
			sum += v[i];
			have++;
		}
	return have ? sum : NAN;
}

double mon_mean(const double *v, int n)
{
	int have = 0;

	for (int i = 0; i < n; i++)
		have += !isnan(v[i]);
	return have ? mon_sum(v, n) / have : NAN;
}

double mon_variance(const double *v, int n)
{
	double mean = mon_mean(v, n), sum = 0;
	int have = 0;

	for (int i = 0; i < n; i++)
		if (!isnan(v[i])) {
			sum += (v[i] - mean) * (v[i] - mean);
			have++;
		}
	return have > 1 ? sum / (have - 1) : NAN;
}

static double least(const double *v, int n)
{
	double m = NAN;

	for (int i = 0; i < n; i++)
		if (!isnan(v[i]) && !(v[i] >= m))
			m = v[i];
	return m;
}

static double most(const double *v, int n)
{
	double m = NAN;

	for (int i = 0; i < n; i++)
		if (!isnan(v[i]) && !(v[i] <= m))
			m = v[i];
	return m;
}

static double last(const double *v, int n)
{
	return n ? v[n - 1] : NAN;
}

/* ---- each event over the window */

static void each(const struct mon_window *w, double *out, int n_out, double (*f)(const double *, int))
{
	double *column = mt_alloc((size_t)w->rows * sizeof(*column) + 1);

	for (int e = 0; e < n_out; e++) {
		for (int k = 0; k < w->rows && e < w->n; k++)
			column[k] = mon_row(w, k)[e];
		out[e] = e < w->n ? f(column, w->rows) : NAN;
	}
	free(column);
}

static void events_sum(const struct mon_window *w, double *out, int n_out)
{
	each(w, out, n_out, mon_sum);
}

static void events_mean(const struct mon_window *w, double *out, int n_out)
{
	each(w, out, n_out, mon_mean);
}

static void events_var(const struct mon_window *w, double *out, int n_out)
{
	each(w, out, n_out, mon_variance);
}

static void events_min(const struct mon_window *w, double *out, int n_out)
{
	each(w, out, n_out, least);
}

static void events_max(const struct mon_window *w, double *out, int n_out)
{
	each(w, out, n_out, most);
}

/*
 * out[0]: the square of the error with which the weights of before predict the newest $0 from the other
 * events, divided by their number; out[1..]: the weights, fitted by least squares when the window is full.
 * The normal equations are solved by Gauss' elimination with pivots; a small multiple of the identity
 * keeps columns that depend on each other from failing.
 */
static void lsq_fit(const struct mon_window *w, double *out, int n_out)
{
	int m = n_out - 1;
	const double *now = mon_row(w, w->rows - 1);
	double a[MAX_WEIGHTS][MAX_WEIGHTS + 1] = { { 0 } }, predicted = 0, trace = 0;

	if (m < 1 || m > MAX_WEIGHTS || m > w->n - 1) {
		for (int i = 0; i < n_out; i++)
			out[i] = NAN;
		return;
	}
	for (int i = 0; i < m; i++)
		predicted += out[1 + i] * now[1 + i];
	out[0] = (predicted - now[0]) * (predicted - now[0]) / m;
	if (w->rows < w->capacity)
		return;
	for (int k = 0; k < w->rows; k++) {
		const double *r = mon_row(w, k);
		bool whole = true;

		for (int i = 0; i <= m; i++)
			whole &= isfinite(r[i]);
		for (int i = 0; i < m && whole; i++) {
			for (int j = 0; j < m; j++)
				a[i][j] += r[1 + i] * r[1 + j];
			a[i][m] += r[1 + i] * r[0];
		}
	}
	for (int i = 0; i < m; i++)
		trace += a[i][i];
	if (!(trace > 0))
		return;
	for (int i = 0; i < m; i++)
		a[i][i] += 1e-12 * trace;
	for (int i = 0; i < m; i++) {
		int pivot = i;

		for (int k = i + 1; k < m; k++)
			if (fabs(a[k][i]) > fabs(a[pivot][i]))
				pivot = k;
		for (int j = 0; j <= m && pivot != i; j++) {
			double t = a[i][j];

			a[i][j] = a[pivot][j];
			a[pivot][j] = t;
		}
		for (int k = 0; k < m; k++) {
			double f = k == i ? 0 : a[k][i] / a[i][i];

			for (int j = i; j <= m && f != 0; j++)
				a[k][j] -= f * a[i][j];
		}
	}
	for (int i = 0; i < m; i++)
		out[1 + i] = a[i][m] / a[i][i];
}

/* The square of the distance of two rows whose columns are normalised. */
static double distance(const double *a, const double *b, int n)
{
	double d = 0;

	for (int i = 0; i < n; i++)
		d += (a[i] - b[i]) * (a[i] - b[i]);
	return d;
}

/*
 * Two clusters of the samples of the window by k-means: out[k] is the label, 0 or 1, of the k-th sample, the oldest first.
 * Columns are normalised to mean 0 and variance 1. It begins with the oldest sample and the one farthest
 * from it, so equal windows have equal labels; the oldest has the label 0.
 */
static void clustering(const struct mon_window *w, double *out, int n_out)
{
	int n = w->n, rows = w->rows, count = rows < n_out ? rows : n_out;
	double *p = mt_alloc((size_t)rows * (size_t)n * sizeof(*p) + 1), *centre = mt_alloc(2 * (size_t)n * sizeof(*centre) + 1);
	double *column = mt_alloc((size_t)rows * sizeof(*column) + 1);
	int *label = mt_alloc((size_t)rows * sizeof(*label) + 1), far = 0;

	for (int e = 0; e < n; e++) {
		double mean, deviation;

		for (int k = 0; k < rows; k++)
			column[k] = mon_row(w, k)[e];
		mean = mon_mean(column, rows);
		deviation = sqrt(mon_variance(column, rows));
		for (int k = 0; k < rows; k++)
			p[k * n + e] = isnan(column[k]) || !(deviation > 0) ? 0 : (column[k] - mean) / deviation;
	}
	for (int k = 1; k < rows; k++)
		if (distance(p + (size_t)k * n, p, n) > distance(p + (size_t)far * n, p, n))
			far = k;
	memcpy(centre, p, (size_t)n * sizeof(*p));
	memcpy(centre + n, p + (size_t)far * n, (size_t)n * sizeof(*p));
	for (int round = 0; round < 100; round++) {
		int size[2] = { 0, 0 };
		bool moved = !round;

		for (int k = 0; k < rows; k++) {
			int l = distance(p + (size_t)k * n, centre + n, n) < distance(p + (size_t)k * n, centre, n);

			moved |= l != label[k];
			label[k] = l;
		}
		if (!moved)
			break;
		memset(centre, 0, 2 * (size_t)n * sizeof(*centre));
		for (int k = 0; k < rows; k++) {
			size[label[k]]++;
			for (int e = 0; e < n; e++)
				centre[label[k] * n + e] += p[k * n + e];
		}
		for (int l = 0; l < 2; l++)
			for (int e = 0; e < n && size[l]; e++)
				centre[l * n + e] /= size[l];
	}
	for (int k = 0; k < n_out; k++)
		out[k] = k < count ? (label[k] != label[0]) : NAN;
	free(p);
	free(centre);
	free(column);
	free(label);
}

const struct mon_function mon_functions[] = {
	{ .name = "SAMPLES_LAST", .text = "the newest sample", .values = last },
	{ .name = "SAMPLES_SUM", .text = "sum of the samples that are kept", .values = mon_sum },
	{ .name = "SAMPLES_MIN", .text = "least sample", .values = least },
	{ .name = "SAMPLES_MAX", .text = "largest sample", .values = most },
	{ .name = "SAMPLES_MEAN", .text = "mean of the samples", .values = mon_mean },
	{ .name = "SAMPLES_VAR", .text = "variance of the samples, by n - 1", .values = mon_variance },
	{ .name = "EVSET_SUM", .text = "sum of the events", .values = mon_sum },
	{ .name = "EVSET_MIN", .text = "least event", .values = least },
	{ .name = "EVSET_MAX", .text = "largest event", .values = most },
	{ .name = "EVSET_MEAN", .text = "mean of the events", .values = mon_mean },
	{ .name = "EVSET_VAR", .text = "variance of the events, by n - 1", .values = mon_variance },
	{ .name = "EVENTS_SUM", .text = "sum of each event over the window", .window = events_sum },
	{ .name = "EVENTS_MEAN", .text = "mean of each event over the window", .window = events_mean },
	{ .name = "EVENTS_VAR", .text = "variance of each event over the window", .window = events_var },
	{ .name = "EVENTS_MIN", .text = "least value of each event in the window", .window = events_min },
	{ .name = "EVENTS_MAX", .text = "largest value of each event in the window", .window = events_max },
	{ .name = "lsq_fit", .text = "error of the prediction of $0, then the weights of the other events", .window = lsq_fit },
	{ .name = "clustering", .text = "two clusters of the samples of the window: the label of each", .window = clustering },
	{ .name = NULL },
};

const struct mon_function *mon_function_find(const char *name)
{
	if (!strncasecmp(name, "monitor_", 8))
		name += 8;
	for (const struct mon_function *f = mon_functions; f->name; f++)
		if (!strcasecmp(f->name, name))
			return f;
	return NULL;
}
