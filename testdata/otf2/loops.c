/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* Parallel loops with a critical section: what traces of OpenMP have. */
#include <stdio.h>

int main(void)
{
	static double a[4096];
	double sum = 0;

	for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(2)
		{
#pragma omp for schedule(dynamic, 512)
			for (int i = 0; i < 4096; i++)
				a[i] += i * 0.5 + round;
#pragma omp critical
			sum += a[round];
		}
	}
	printf("%g\n", sum);
	return 0;
}
