/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * statistics.h - the reductions that a definition file names: of the events of one
 * sample, of the samples of a window, of each event over the window, and two that
 * learn. A value that is missing is NaN; it is left out. No allocation but in
 * clustering. Each monitor calls with its own memory: any thread.
 */
#ifndef MEMTRACE_MONITOR_STATISTICS_H
#define MEMTRACE_MONITOR_STATISTICS_H

#include <stddef.h>
#include <stdio.h>

/* The samples of a monitor: rows of n values, the oldest one first when read by mon_row(). */
struct mon_window {
	double *value;			/* capacity rows of n */
	int n;				/* values of a row */
	int capacity;			/* rows */
	int rows;			/* that are filled */
	int next;			/* where the next one goes */
};

void mon_window_push(struct mon_window *w, const double *row);
/* k = 0: the oldest that is kept */
const double *mon_row(const struct mon_window *w, int k);

struct mon_function {
	const char *name;		/* any case; "monitor_" in front may be there or not */
	const char *text;
	/* of a set or of samples: one value from n */
	double (*values)(const double *v, int n);
	/* of a window of event sets: @n_out values, which are still those of the last call */
	void (*window)(const struct mon_window *w, double *out, int n_out);
};

/* Ends with a function without a name. */
extern const struct mon_function mon_functions[];
const struct mon_function *mon_function_find(const char *name);

double mon_sum(const double *v, int n);
double mon_mean(const double *v, int n);
double mon_variance(const double *v, int n);	/* of a sample: divided by n - 1 */

#endif
