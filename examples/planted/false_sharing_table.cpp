/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: false-sharing table */
/* Element i of a table belongs to thread i modulo the number of threads: each line has all threads. The repair gives them blocks. */
#include "planted.h"

static const long N = 64L * PAGE / sizeof(long);

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	long *table = (long *)aligned_alloc(PAGE, N * sizeof(long));

#pragma omp parallel num_threads(p.threads)
	{
		bool more = true;
		unsigned round = 0;

		while (more) {
			if (p.repaired) {
#pragma omp for schedule(static)
				for (long i = 0; i < N; i++)
					for (int k = 0; k < 50; k++)
						((volatile long *)table)[(i + 37 * round) % N] += i;
			} else {
				/* from another place each time, so that samples are spread */
#pragma omp for schedule(static, 1)
				for (long i = 0; i < N; i++)
					for (int k = 0; k < 50; k++)
						((volatile long *)table)[(i + p.threads * 37 * round) % N] += i;
			}
			round += p.repaired ? 0 : 1;
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
	}
	printf("%ld\n", table[7]);
	free(table);
	return 0;
}
