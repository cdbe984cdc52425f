/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * An integer sort: each thread counts its keys, and then puts them where they belong, which is anywhere. The main thread makes the keys;
 * with --repaired each thread makes its own.
 */
#include "../planted/planted.h"

#define KEYS (1L << 20)
#define BUCKETS 1024

static int keys[KEYS], sorted[KEYS];
static struct {
	_Alignas(PAGE) int of[BUCKETS];
} counts[64];

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	long check = 0;

#pragma omp parallel for schedule(static) num_threads(p.repaired ? p.threads : 1)
	for (long i = 0; i < KEYS; i++)
		keys[i] = (int)(((unsigned)i * 2654435761u >> 7) % KEYS);
	while (planted_more(&p)) {
#pragma omp parallel num_threads(p.threads)
		{
			static int number;
			int me;

#pragma omp single
			number = 0;
#pragma omp atomic capture
			me = number++;
			memset(counts[me].of, 0, sizeof(counts[me].of));
#pragma omp for schedule(static)
			for (long i = 0; i < KEYS; i++)
				counts[me].of[keys[i] * (long)BUCKETS / KEYS]++;
#pragma omp single
			{
				int sum = 0;

				for (int b = 0; b < BUCKETS; b++)
					for (int t = 0; t < p.threads; t++) {
						int n = counts[t].of[b];

						counts[t].of[b] = sum;
						sum += n;
					}
			}
#pragma omp for schedule(static)
			for (long i = 0; i < KEYS; i++)
				sorted[counts[me].of[keys[i] * (long)BUCKETS / KEYS]++] = keys[i];
		}
	}
	for (long i = 1; i < KEYS; i++)
		check += sorted[i] / (KEYS / BUCKETS) < sorted[i - 1] / (KEYS / BUCKETS);
	printf("%ld\n", check);
	return check != 0;
}
