/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Four threads count in four members of one structure, which lie in one line. A fifth member follows them; the values at the beginning
 * count. Four, as two threads on two processors may always reach the page in one order: then a recording sees only one of them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counters {
	volatile long hits;
	/* paste: in the declaration of counters, before misses */
	volatile long misses;
	/* paste: in the declaration of counters, before loads */
	volatile long loads;
	/* paste: in the declaration of counters, before stores */
	volatile long stores;
	/* paste: in the declaration of counters, before limit */
	long limit;
};

static struct counters counters = { 3, 4, 5, 6, 200000000 };

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

static void count_loads(void)
{
	for (long i = 0; i < counters.limit; i++)
		counters.loads += 3;
}

static void count_stores(void)
{
	for (long i = 0; i < counters.limit; i++)
		counters.stores += 4;
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

static void *loads(void *arg)
{
	count_loads();
	return arg;
}

static void *stores(void *arg)
{
	count_stores();
	return arg;
}
#endif

int main(int argc, char **argv)
{
	if (argc > 1)
		counters.limit = atol(argv[1]);
#ifdef _OPENMP
#pragma omp parallel sections num_threads(4)
	{
#pragma omp section
		count_hits();
#pragma omp section
		count_misses();
#pragma omp section
		count_loads();
#pragma omp section
		count_stores();
	}
#else
	void *(*count[])(void *) = { hits, misses, loads, stores };
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, count[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
#endif
	printf("%ld %ld %ld %ld\n", counters.hits, counters.misses, counters.loads, counters.stores);
	return 0;
}
