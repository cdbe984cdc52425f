/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: replicate lookup */
/* All threads read all of a table that nobody writes later. The repair gives each thread the part that it needs. */
#include "planted.h"

static const long N = 128L * PAGE / sizeof(double);

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	double *lookup = new double[N], sum = 0;

	if (p.repaired) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < N; i++)
			lookup[i] = i;
	} else {
		for (long i = 0; i < N; i++)
			lookup[i] = i;
	}
#pragma omp parallel num_threads(p.threads) reduction(+:sum)
	{
		bool more = true;

		while (more) {
			if (p.repaired) {
				for (int k = 0; k < 40; k++) {
#pragma omp for schedule(static) nowait
					for (long i = 0; i < N; i++)
						sum += ((volatile double *)lookup)[i];
				}
			} else {
				unsigned long at = 12345;

				for (long k = 0; k < 2000000 / p.threads; k++) {
					at = at * 6364136223846793005ul + 1442695040888963407ul;
					sum += lookup[(at >> 33) % N];
				}
			}
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
	}
	printf("%g\n", sum);
	delete[] lookup;
	return 0;
}
