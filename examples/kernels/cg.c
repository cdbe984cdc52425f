/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * The sparse matrix-vector product of a conjugate gradient: rows are divided among the threads, columns are at random, so all threads read
 * all of x, and each writes its part of it. The main thread makes the matrix; with --repaired each thread makes its rows.
 */
#include "../planted/planted.h"

#define ROWS 65536L
#define PER_ROW 12L

static double a[ROWS * PER_ROW];
static int column[ROWS * PER_ROW];
static double x[ROWS], y[ROWS];

static void make(long row)
{
	unsigned seed = (unsigned)row * 2654435761u + 1;

	x[row] = 1;
	y[row] = 0;
	for (long k = row * PER_ROW; k < (row + 1) * PER_ROW; k++) {
		seed = seed * 1103515245u + 12345;
		column[k] = (int)((seed >> 8) % ROWS);
		a[k] = 1.0 / PER_ROW;
	}
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

#pragma omp parallel for schedule(static) num_threads(p.repaired ? p.threads : 1)
	for (long i = 0; i < ROWS; i++)
		make(i);
	while (planted_more(&p)) {
#pragma omp parallel num_threads(p.threads)
		{
#pragma omp for schedule(static)
			for (long i = 0; i < ROWS; i++) {
				double sum = 0;

				for (long k = i * PER_ROW; k < (i + 1) * PER_ROW; k++)
					sum += a[k] * x[column[k]];
				y[i] = sum;
			}
#pragma omp for schedule(static)
			for (long i = 0; i < ROWS; i++)
				x[i] = 0.5 * (x[i] + y[i]);
		}
	}
	printf("%g\n", x[1]);
	return 0;
}
