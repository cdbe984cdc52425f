/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* A program of about 0.2 s: goes over 8 MiB again and again. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const size_t n = 1ul << 20;
	unsigned long *a = malloc(n * sizeof(*a)), s = 1;

	for (size_t i = 0; i < n; i++)
		a[i] = i;
	for (int k = 0; k < 110; k++)
		for (size_t i = 0; i < n; i++) {
			s = s * 3 + a[i];
			a[i] = s;
		}
	printf("%lu\n", s);
	free(a);
	return 0;
}
