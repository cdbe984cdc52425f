/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: columns of a matrix whose rows are a power of two
 * finds: strided|column-sweep grid
 * Repaired: along the rows. */
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048
#define COLUMNS 4096

int main(void)
{
	double(*grid)[COLUMNS] = malloc(sizeof(double[ROWS][COLUMNS])), sum = 0;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			grid[i][j] = i ^ j;
	for (int round = 0; round < 8; round++)
#ifdef REPAIRED
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLUMNS; j++)
#else
		for (int j = 0; j < COLUMNS; j++)
			for (int i = 0; i < ROWS; i++)
#endif
				grid[i][j] += 0.5;
	for (int i = 0; i < ROWS; i++)
		sum += grid[i][i];
	printf("%g\n", sum);
	return 0;
}
