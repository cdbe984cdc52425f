/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: a hundredth of 1 GiB is used
 * finds: unused big
 * It takes addresses, not time. Repaired: what is needed. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#ifdef REPAIRED
	const size_t bytes = 11 << 20;
#else
	const size_t bytes = 1 << 30;
#endif
	char *big = malloc(bytes);
	double sum = 0;

	for (int round = 0; round < 400; round++)
		for (size_t i = 0; i < (10 << 20); i += 16)
			sum += (big[i] += 1);
	printf("%g\n", sum);
	return 0;
}
