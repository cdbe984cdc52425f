/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: remote-mapping blocks */
/* The loop that fills the blocks and the loop that uses them divide them differently. The repair divides them in the same way. */
#include "planted.h"

#define N (512L * PAGE / sizeof(double))

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	double *blocks = aligned_alloc(PAGE, N * sizeof(double));

#pragma omp parallel for schedule(static) num_threads(p.threads)
	for (long i = 0; i < (long)N; i++)
		blocks[p.repaired ? i : ((long)N - 1 - i + (p.threads & 1 ? (long)N / p.threads : 0)) % (long)N] = 1;
	while (planted_more(&p)) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < (long)N; i++)
			for (int k = 0; k < 20; k++)
				blocks[i] = 0.5 * blocks[i] + 0.25;
	}
	printf("%g\n", blocks[N / 2]);
	free(blocks);
	return 0;
}
