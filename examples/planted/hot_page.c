/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: hot-page histogram */
/* The threads count values of which most fall into the same page of a large histogram. The repair counts these in copies. */
#include "planted.h"

#define BINS (256L * PAGE / sizeof(long))
#define HOT (100L * PAGE / sizeof(long))

static long histogram[BINS];

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

#pragma omp parallel num_threads(p.threads)
	{
		unsigned seed = 1;
		long mine[8] = { 0 };
		bool more = true;

		while (more) {
#pragma omp for schedule(static)
			for (long i = 0; i < (long)BINS; i++) {
				for (int k = 0; k < 10; k++)
					((volatile long *)histogram)[i]++;
				seed = seed * 1103515245u + 12345;
				if (p.repaired)
					mine[seed >> 16 & 7]++;
				else
#pragma omp atomic
					histogram[HOT + (seed >> 16 & 7)]++;
			}
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
#pragma omp critical
		for (int i = 0; i < 8; i++)
			histogram[HOT + i] += mine[i];
	}
	printf("%ld\n", histogram[HOT]);
	return 0;
}
