/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: false sharing of counters of 8 bytes
 * finds: false-sharing counters
 * Repaired: a line for each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef REPAIRED
static struct { _Alignas(64) volatile long n; } counters[2];
#else
static struct { volatile long n; } counters[2] __attribute__((aligned(64)));
#endif

static void *work(void *arg)
{
	const long me = (long)arg;

	for (long i = 0; i < 400000000; i++)
		counters[me].n++;
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, (void *)1);
	work((void *)0);
	pthread_join(t, NULL);
	printf("%ld\n", counters[0].n + counters[1].n);
	return 0;
}
