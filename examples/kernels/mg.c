/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * The smoother of a multigrid: a stencil of seven points, planes are divided among the threads. The main thread fills both grids; with
 * --repaired each thread fills its planes.
 */
#include "../planted/planted.h"

#define N 66L
#define AT(i, j, k) (((i) * N + (j)) * N + (k))

static double u[N * N * N], r[N * N * N];

static void smooth(double *to, const double *from, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (long i = 1; i < N - 1; i++)
		for (long j = 1; j < N - 1; j++)
			for (long k = 1; k < N - 1; k++)
				to[AT(i, j, k)] = 0.4 * from[AT(i, j, k)] + 0.1 * (from[AT(i - 1, j, k)] + from[AT(i + 1, j, k)]
					+ from[AT(i, j - 1, k)] + from[AT(i, j + 1, k)] + from[AT(i, j, k - 1)] + from[AT(i, j, k + 1)]);
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

#pragma omp parallel for schedule(static) num_threads(p.repaired ? p.threads : 1)
	for (long i = 0; i < N; i++)
		for (long j = 0; j < N * N; j++)
			u[i * N * N + j] = r[i * N * N + j] = (double)(i + j % 7);
	while (planted_more(&p)) {
		smooth(r, u, p.threads);
		smooth(u, r, p.threads);
	}
	printf("%g\n", u[AT(N / 2, N / 2, N / 2)]);
	return 0;
}
