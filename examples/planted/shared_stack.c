/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: shared-stack stack */
/* All threads work on an array on the stack of the main thread. The repair has it on the heap, touched first by its users. */
#include "planted.h"

#define N (64L * PAGE / sizeof(double))

static void rounds(struct planted *p, double *x)
{
#pragma omp parallel for schedule(static) num_threads(p->threads)
	for (long i = 0; i < (long)N; i++)
		x[i] = 1;
	while (planted_more(p)) {
#pragma omp parallel for schedule(static) num_threads(p->threads)
		for (long i = 0; i < (long)N; i++)
			for (int k = 0; k < 100; k++)
				x[i] = 0.5 * x[i] + 0.25;
	}
	printf("%g\n", x[N / 2]);
}

static void on_stack(struct planted *p)
{
	double x[N];

	rounds(p, x);
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	if (p.repaired) {
		double *x = malloc(N * sizeof(double));

		rounds(&p, x);
		free(x);
	} else {
		on_stack(&p);
	}
	return 0;
}
