/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: columns of a matrix whose rows are 12,352 bytes
 * finds: strided|column-sweep grid
 * Repaired: along the rows. */
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4096
#define COLUMNS 1544

int main(void)
{
	double(*grid)[COLUMNS] = malloc(sizeof(double[ROWS][COLUMNS])), sum = 0;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			grid[i][j] = i ^ j;
	for (int round = 0; round < 14; round++)
#ifdef REPAIRED
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLUMNS; j++)
#else
		for (int j = 0; j < COLUMNS; j++)
			for (int i = 0; i < ROWS; i++)
#endif
				grid[i][j] += 0.5;
	for (int i = 0; i < ROWS; i++)
		sum += grid[i][i % COLUMNS];
	printf("%g\n", sum);
	return 0;
}
