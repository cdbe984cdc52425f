/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: lookups at random places of a table of 128 MiB
 * finds: ? table
 * No rule looks for it. Repaired: the lookups are in the order of the table. */
#include <stdio.h>
#include <stdlib.h>

#define N (16u << 20)

int main(void)
{
	double *table = malloc(N * sizeof(*table)), sum = 0;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < N; i++)
		table[i] = i % 11;
	for (unsigned int i = 0; i < 6 * N; i++) {
		seed = seed * 1664525 + 1013904223;
#ifdef REPAIRED
		sum += table[i % N] + (seed >> 31);
#else
		sum += table[(seed >> 3) % N] + (seed >> 31);
#endif
	}
	printf("%g\n", sum);
	return 0;
}
