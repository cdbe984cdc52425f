/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: imbalance triangle */
/* Row i of a triangle costs i: with equal blocks of rows the last thread has most to do. The repair deals the rows out in turn. */
#include "planted.h"

#define ROWS 512
#define COLUMNS (PAGE / (long)sizeof(double))

static double triangle[ROWS][COLUMNS] __attribute__((aligned(PAGE)));

static void row(long i)
{
	for (long k = 0; k < i / 8; k++)
		for (long j = 0; j < COLUMNS; j += 4)
			triangle[i][j] = 0.5 * triangle[i][j] + 0.25;
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	if (p.threads < 3)	/* with two, one can be busy 1.33 times the mean at most here */
		p.threads = 3;
	while (planted_more(&p)) {
		if (p.repaired) {
#pragma omp parallel for schedule(static, 1) num_threads(p.threads)
			for (long i = 0; i < ROWS; i++)
				row(i);
		} else {
#pragma omp parallel for schedule(static) num_threads(p.threads)
			for (long i = 0; i < ROWS; i++)
				row(i);
		}
	}
	printf("%g\n", triangle[ROWS - 1][0]);
	return 0;
}
