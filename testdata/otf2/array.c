/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* Threads share long loops over an array and then wait: nearly all accesses of it are in the loops. */
#include <stdio.h>

static double a[1 << 19];

int main(void)
{
	const int n = sizeof(a) / sizeof(*a);

	for (int round = 0; round < 2; round++) {
#pragma omp parallel for num_threads(4) schedule(dynamic, 4096)
		for (int i = 0; i < n; i++)
			for (int k = 0; k < 900; k++)
				a[i] = a[i] * 0.5 + (double)i * k;
	}
	printf("%g\n", a[n / 2]);
	return 0;
}
