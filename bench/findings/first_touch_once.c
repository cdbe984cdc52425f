/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: one thread fills what two use a few times
 * finds: first-touch field
 * A part of the elapsed time: the page faults of one thread. Repaired: each thread fills its half. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N (48l << 20)

static double *field;
static pthread_barrier_t filled;

static void *work(void *arg)
{
	const long me = (long)arg;
	double *mine = field + me * (N / 2), sum = 0;

#ifdef REPAIRED
	for (long i = 0; i < N / 2; i++)
		mine[i] = (double)(i % 3);
#endif
	pthread_barrier_wait(&filled);
	for (int round = 0; round < 8; round++)
		for (long i = 0; i < N / 2; i++)
			sum += mine[i] *= 1.0001;
	mine[0] = sum;
	return NULL;
}

int main(void)
{
	pthread_t t;

	field = malloc(N * sizeof(*field));
#ifndef REPAIRED
	for (long i = 0; i < N; i++)
		field[i] = (double)(i % (N / 2) % 3);
#endif
	pthread_barrier_init(&filled, NULL, 2);
	pthread_create(&t, NULL, work, (void *)1);
	work((void *)0);
	pthread_join(t, NULL);
	printf("%g\n", field[0] + field[N / 2]);
	return 0;
}
