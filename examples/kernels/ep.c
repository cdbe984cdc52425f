/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Embarrassingly parallel: each thread makes random pairs in a buffer of its own and counts them by annulus. The counters of the threads
 * lie side by side; with --repaired each thread has a line of its own.
 */
#include "../planted/planted.h"

#define PAIRS 16384
#define ANNULI 2

static double *buffers[256];
static long annuli[256][ANNULI];
static struct {
	_Alignas(64) long of[ANNULI];
} apart[256];

static void work(struct planted *p, int thread)
{
	double *pairs = buffers[thread];
	volatile long *count = p->repaired ? apart[thread].of : annuli[thread];
	unsigned seed = (unsigned)thread * 77 + 1;

	if (!pairs)
		pairs = buffers[thread] = malloc(2 * PAIRS * sizeof(*pairs));
	for (int round = 0; round < 20; round++) {
		for (long i = 0; i < 2 * PAIRS; i++) {
			seed = seed * 1103515245u + 12345;
			pairs[i] = (seed >> 8) / 16777216.0;
		}
		for (long i = 0; i < PAIRS; i++)
			count[pairs[2 * i] * pairs[2 * i] + pairs[2 * i + 1] * pairs[2 * i + 1] < 1]++;
	}
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	long sum[ANNULI] = { 0 };

	planted_pthreads(&p, work);
	for (int t = 0; t < p.threads; t++)
		for (int k = 0; k < ANNULI; k++)
			sum[k] += annuli[t][k] + apart[t].of[k];
	printf("%.4f\n", 4.0 * (double)sum[1] / (double)(sum[0] + sum[1]));
	return 0;
}
