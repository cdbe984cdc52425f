/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: a block of 96 KiB for each step, which the heap keeps
 * finds: - block
 * It costs next to nothing: the pages stay. Repaired: one block for all steps. */
#include <stdio.h>
#include <stdlib.h>

#define BYTES (96 << 10)

int main(void)
{
	double sum = 0;
#ifdef REPAIRED
	char *kept = malloc(BYTES);
#endif

	for (int step = 0; step < 60000; step++) {
#ifdef REPAIRED
		char *block = kept;
#else
		char *block = malloc(BYTES);
#endif
		for (int i = 0; i < BYTES; i += 16)
			block[i] = (char)(step % 100);
		for (int i = 0; i < BYTES; i += 16)
			sum += block[i];
#ifndef REPAIRED
		free(block);
#endif
	}
	printf("%g\n", sum);
	return 0;
}
