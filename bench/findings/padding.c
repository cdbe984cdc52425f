/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: elements of 64 bytes of which 8 are used, one after the other
 * finds: padding cells
 * Repaired: the elements are packed. */
#include <stdio.h>
#include <stdlib.h>

struct cell {
	double value;
#ifndef REPAIRED
	char padding[56];
#endif
};

#define N (1 << 20)

int main(void)
{
	struct cell *cells = calloc(N, sizeof(*cells));
	double sum = 0;

	for (int i = 0; i < N; i++)
		cells[i].value = i;
	for (int round = 0; round < 400; round++)
		for (int i = 0; i < N; i++)
			sum += cells[i].value;
	printf("%g\n", sum);
	return 0;
}
