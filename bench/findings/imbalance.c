/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: four threads, one of which has most of the work
 * finds: imbalance rows
 * Two CPUs are busy anyway. Repaired: rows in turn. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#define THREADS 4

static double rows[N][N];

static void *work(void *arg)
{
	const long me = (long)arg;

	for (int round = 0; round < 60; round++)
#ifdef REPAIRED
		for (long i = me; i < N; i += THREADS)
#else
		for (long i = me * N / THREADS; i < (me + 1) * N / THREADS; i++)
#endif
			for (long j = 0; j <= i; j++)
				rows[i][j] += 1.5;
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", rows[N - 1][N - 1]);
	return 0;
}
