/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: columns of a matrix that fits the L2 cache
 * finds: - grid
 * It costs next to nothing: the lines of a column stay in the cache until the next one. */
#include <stdio.h>
#include <stdlib.h>

#define ROWS 300
#define COLUMNS 200

int main(void)
{
	double(*grid)[COLUMNS] = malloc(sizeof(double[ROWS][COLUMNS])), sum = 0;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			grid[i][j] = i ^ j;
	for (int round = 0; round < 9000; round++)
#ifdef REPAIRED
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLUMNS; j++)
#else
		for (int j = 0; j < COLUMNS; j++)
			for (int i = 0; i < ROWS; i++)
#endif
				*(volatile double *)&grid[i][j] += 0.5;
	for (int i = 0; i < ROWS; i++)
		sum += grid[i][i % COLUMNS];
	printf("%g\n", sum);
	return 0;
}
