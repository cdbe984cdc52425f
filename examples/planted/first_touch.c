/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: first-touch field */
/* The main thread touches all pages of field first; each thread works on its own part of it. */
#include "planted.h"

#define N (512L * PAGE / sizeof(double))

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	double *field = malloc(N * sizeof(double)), sum = 0;

	if (p.repaired) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < (long)N; i++)
			field[i] = 1;
	} else {
		for (long i = 0; i < (long)N; i++)
			field[i] = 1;
	}
	while (planted_more(&p)) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < (long)N; i++)
			for (int k = 0; k < 20; k++)
				field[i] = 0.5 * field[i] + 0.25;
	}
#pragma omp parallel for schedule(static) num_threads(p.threads) reduction(+:sum)
	for (long i = 0; i < (long)N; i++)
		sum += field[i];
	printf("%g\n", sum);
	free(field);
	return 0;
}
