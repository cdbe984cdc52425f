/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: a block of 4 MiB for each step: all page faults anew
 * finds: short-lived|recycled-heap block
 * glibc maps and unmaps it. Repaired: one block for all steps. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (4 << 20)

int main(void)
{
	double sum = 0;
#ifdef REPAIRED
	char *kept = malloc(BYTES);
#endif

	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	for (int step = 0; step < 400; step++) {
#ifdef REPAIRED
		char *block = kept;
#else
		char *block = malloc(BYTES);
#endif
		for (int i = 0; i < BYTES; i += 64)
			block[i] = (char)step;
		for (int i = 0; i < BYTES; i += 64)
			sum += block[i];
#ifndef REPAIRED
		free(block);
#endif
	}
	printf("%g\n", sum);
	return 0;
}
