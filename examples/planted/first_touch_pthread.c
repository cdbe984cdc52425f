/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: first-touch grid */
/* As first_touch, with POSIX threads, in static memory. */
#include "planted.h"

#define N (400L * PAGE / sizeof(double))

static double grid[N];

static void fill(struct planted *p, int thread)
{
	for (long i = planted_from(p, thread, N); i < planted_from(p, thread + 1, N); i++)
		grid[i] = 1;
}

static void work(struct planted *p, int thread)
{
	if (p->repaired && !grid[planted_from(p, thread, N)])
		fill(p, thread);
	for (long i = planted_from(p, thread, N); i < planted_from(p, thread + 1, N); i++)
		for (int k = 0; k < 20; k++)
			grid[i] = 0.5 * grid[i] + 0.25;
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	if (!p.repaired)
		for (long i = 0; i < (long)N; i++)
			grid[i] = 1;
	planted_pthreads(&p, work);
	printf("%g\n", grid[N / 2]);
	return 0;
}
