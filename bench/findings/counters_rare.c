/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: false sharing, but a write in 4,096 steps
 * finds: - counters
 * It costs next to nothing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef REPAIRED
static struct { _Alignas(64) volatile long n; } counters[2];
#else
static struct { volatile long n; } counters[2] __attribute__((aligned(64)));
#endif
static volatile double result[2][64];

static void *work(void *arg)
{
	const long me = (long)arg;
	double x = 1;

	for (long i = 0; i < 500000000; i++) {
		x = x * 0.999999 + 1e-7;
		if (i % 4096 == 0)
			counters[me].n++;
	}
	result[me][0] = x;
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, (void *)1);
	work((void *)0);
	pthread_join(t, NULL);
	printf("%ld %g\n", counters[0].n + counters[1].n, result[0][0] + result[1][0]);
	return 0;
}
