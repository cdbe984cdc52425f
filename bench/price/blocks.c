/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* 20,000 times a mapping of 64 KiB is made, all of it written, and unmapped. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	const size_t n = 65536;
	unsigned long sum = 0;

	for (int i = 0; i < 20000; i++) {
		char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(p, i, n);
		sum += (unsigned char)p[n / 2];
		munmap(p, n);
	}
	printf("%lu\n", sum);
	return 0;
}
