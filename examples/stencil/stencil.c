// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * 3-D 7-point stencil (heat in a cube) with OpenMP, two grids that change
 * places after every step. The planes are divided among the threads. The two
 * variants differ in one line: who touches the grids first.
 *
 *   serial    the main thread initialises everything
 *   parallel  each thread initialises the planes that it works on later
 */
#include <omp.h>

#include "../common/example.h"

static double start_value(long x, long y, long z)
{
	return (double)((x * 7 + y * 5 + z * 3) % 17);
}

static void init_plane(double *u, double *v, long n, long z)
{
	for (long y = 0; y < n; y++)
		for (long x = 0; x < n; x++)
			u[(z * n + y) * n + x] = v[(z * n + y) * n + x] = start_value(x, y, z);
}

static void step(const double *u, double *v, long n)
{
#pragma omp parallel for schedule(static)
	for (long z = 1; z < n - 1; z++)
		for (long y = 1; y < n - 1; y++)
			for (long x = 1; x < n - 1; x++) {
				long i = (z * n + y) * n + x;

				v[i] = 0.4 * u[i] + 0.1 * (u[i - 1] + u[i + 1] +
					u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n]);
			}
}

int main(int argc, char **argv)
{
	static const char variants[] = "serial|parallel";
	static const char *const names[] = { "serial", "parallel" };
	long n = 128, steps = 600, threads = 4;
	const struct ex_option opts[] = {
		{ 'n', "points along each side of the cube", &n, 3, 2000 },
		{ 's', "steps", &steps, 1, 1000000 },
		{ 't', "threads", &threads, 1, EXAMPLE_MAX_THREADS },
		{ 0, NULL, NULL, 0, 0 },
	};
	int v = ex_options(argc, argv, variants, opts);
	size_t bytes = (size_t)n * (size_t)n * (size_t)n * sizeof(double);
	uint64_t sum = 0;
	double t0, t1, t2;

	bytes = (bytes + EXAMPLE_PAGE - 1) / EXAMPLE_PAGE * EXAMPLE_PAGE;
	double *old_grid = aligned_alloc(EXAMPLE_PAGE, bytes);
	double *new_grid = aligned_alloc(EXAMPLE_PAGE, bytes);

	ex_need(old_grid, "old_grid", bytes);
	ex_need(new_grid, "new_grid", bytes);
	omp_set_dynamic(0);
	omp_set_num_threads((int)threads);

	t0 = ex_now();
	if (v == 0) {
		for (long z = 0; z < n; z++)
			init_plane(old_grid, new_grid, n, z);
	} else {
		/* the same division of the planes as in step() */
#pragma omp parallel for schedule(static)
		for (long z = 1; z < n - 1; z++)
			init_plane(old_grid, new_grid, n, z);
		init_plane(old_grid, new_grid, n, 0);
		init_plane(old_grid, new_grid, n, n - 1);
	}
	t1 = ex_now();
	for (long s = 0; s < steps; s++) {
		double *t;

		step(old_grid, new_grid, n);
		t = old_grid;
		old_grid = new_grid;
		new_grid = t;
	}
	t2 = ex_now();

	for (long i = 0; i < n * n * n; i++) {
		uint64_t bits;

		memcpy(&bits, &old_grid[i], sizeof(bits));
		sum = sum * 31 + bits;
	}
	printf("stencil %s n=%ld steps=%ld checksum=%016llx\n", names[v], n, steps,
	       (unsigned long long)sum);
	fprintf(stderr, "stencil: %ld threads, initialised in %.3f s, %ld steps in %.3f s\n",
		threads, t1 - t0, steps, t2 - t1);
	free(old_grid);
	free(new_grid);
	return 0;
}
