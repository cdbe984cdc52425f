/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Two threads count in two members of one structure, which lie in one line. A third member follows them; the values at the beginning
 * count.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counters {
	volatile long hits;
	/* paste: in the declaration of counters, before misses */
	volatile long misses;
	/* paste: in the declaration of counters, before limit */
	long limit;
};

static struct counters counters = { 3, 4, 200000000 };

static void count_hits(void)
{
	for (long i = 0; i < counters.limit; i++)
		counters.hits++;
}

static void count_misses(void)
{
	for (long i = 0; i < counters.limit; i++)
		counters.misses += 2;
}

#ifndef _OPENMP
static void *hits(void *arg)
{
	count_hits();
	return arg;
}

static void *misses(void *arg)
{
	count_misses();
	return arg;
}
#endif

int main(int argc, char **argv)
{
	if (argc > 1)
		counters.limit = atol(argv[1]);
#ifdef _OPENMP
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		count_hits();
#pragma omp section
		count_misses();
	}
#else
	pthread_t t[2];

	pthread_create(&t[0], NULL, hits, NULL);
	pthread_create(&t[1], NULL, misses, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
#endif
	printf("%ld %ld\n", counters.hits, counters.misses);
	return 0;
}
