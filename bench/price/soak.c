/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * soak ROUNDS: few CPU time, changing memory. Four threads allocate, use and free blocks of varying size; mappings and threads come
 * and go; between two rounds a thread sleeps for 20 ms.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, KEPT = 32 };
static long rounds = 400;

static void *short_lived(void *arg)
{
	char *p = malloc(300000);

	memset(p, 1, 300000);
	free(p);
	return arg;
}

static void *run(void *arg)
{
	unsigned long s = (unsigned long)arg * 31 + 7;
	char *kept[KEPT] = { 0 };

	for (long i = 0; i < rounds; i++) {
		unsigned int k;
		size_t n, m;
		char *q;

		s = s * 6364136223846793005ul + 1442695040888963407ul;
		k = s >> 33 & (KEPT - 1);
		n = 4096 + (s >> 40 & 0xfffff);
		free(kept[k]);
		kept[k] = malloc(n);
		memset(kept[k], (int)i, n);
		m = (1 + (s >> 20 & 15)) << 16;
		q = mmap(NULL, m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t b = 0; b < m; b += 4096)
			q[b] = 1;
		munmap(q, m);
		if (i % 20 == 0) {
			pthread_t t;

			pthread_create(&t, NULL, short_lived, NULL);
			pthread_join(t, NULL);
		}
		usleep(20000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc > 1)
		rounds = atol(argv[1]);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%ld rounds\n", rounds);
	return 0;
}
