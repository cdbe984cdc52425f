/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* Four threads, 800,000 malloc and free, an eighth of them of 4 to 256 KiB; 512 blocks of each thread are live. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LIVE = 512 };
static long rounds = 200000;

static void *run(void *arg)
{
	unsigned long s = (unsigned long)arg * 77 + 1, sum = 0;
	char *block[LIVE] = { 0 };

	for (long i = 0; i < rounds; i++) {
		unsigned int j;
		size_t n;

		s = s * 6364136223846793005ul + 1442695040888963407ul;
		j = s >> 33 & (LIVE - 1);
		free(block[j]);
		n = 1 + (s >> 20 & ((s >> 50 & 7) == 0 ? 262143 : 2047));
		block[j] = malloc(n);
		memset(block[j], (int)j, n > 64 ? 64 : n);
		block[j][n - 1] = 3;
		sum += (unsigned char)block[j][0];
	}
	for (int i = 0; i < LIVE; i++)
		free(block[i]);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	unsigned long sum = 0;

	if (argc > 1)
		rounds = atol(argv[1]);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *one;

		pthread_join(t[i], &one);
		sum += (unsigned long)one;
	}
	printf("%lu\n", sum);
	return 0;
}
