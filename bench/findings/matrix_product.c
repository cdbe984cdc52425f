/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: wrong order of two loops of a matrix product
 * finds: strided|column-sweep b
 * The innermost loop walks down the columns of b; repaired: the two inner loops are exchanged. */
#include <stdio.h>
#include <stdlib.h>

#define N 760

static double a[N][N], b[N][N], c[N][N];

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i % 7;
			b[i][j] = j % 5;
		}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < N; i++)
#ifdef REPAIRED
			for (int k = 0; k < N; k++)
				for (int j = 0; j < N; j++)
#else
			for (int j = 0; j < N; j++)
				for (int k = 0; k < N; k++)
#endif
					c[i][j] += a[i][k] * b[k][j];
	printf("%g\n", c[3][5] + c[N - 1][N - 1]);
	return 0;
}
