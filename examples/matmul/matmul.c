// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * C = A * B with pthreads, three ways of dividing and ordering the work.
 *
 *   naive    thread t has a block of rows of C; every element of C walks down
 *            one column of B
 *   modulo   thread t has the columns j with j % threads == t, in every row
 *   blocked  rows as naive, but the sum over k is cut in tiles of TILE, and
 *            the tile of B is used for all rows before the next one is read
 *
 * The main thread allocates and initialises all three matrices. All values
 * are small integers, so every order of additions gives the same sum.
 */
#include <pthread.h>

#include "../common/example.h"

#define TILE 64L

enum variant { NAIVE, MODULO, BLOCKED };

struct job {
	enum variant variant;
	long n, threads, me;
	const double *A, *B;
	double *C;
};

static long min_long(long a, long b)
{
	return a < b ? a : b;
}

/* One element of C; A by row, B by column. */
static double dot(const double *A, const double *B, long n, long i, long j)
{
	double s = 0;

	for (long k = 0; k < n; k++)
		s += A[i * n + k] * B[k * n + j];
	return s;
}

static void rows_blocked(const struct job *w, long first, long last)
{
	long n = w->n;

	for (long kk = 0; kk < n; kk += TILE)
		for (long jj = 0; jj < n; jj += TILE)
			for (long i = first; i < last; i++) {
				double *c = w->C + i * n;
				long jend = min_long(jj + TILE, n);
				long kend = min_long(kk + TILE, n);

				for (long k = kk; k < kend; k++) {
					double a = w->A[i * n + k];
					const double *b = w->B + k * n;

					for (long j = jj; j < jend; j++)
						c[j] += a * b[j];
				}
			}
}

static void *multiply(void *arg)
{
	const struct job *w = arg;
	long n = w->n, first = n * w->me / w->threads;
	long last = n * (w->me + 1) / w->threads;

	switch (w->variant) {
	case NAIVE:
		for (long i = first; i < last; i++)
			for (long j = 0; j < n; j++)
				w->C[i * n + j] = dot(w->A, w->B, n, i, j);
		break;
	case MODULO:
		for (long i = 0; i < n; i++)
			for (long j = w->me; j < n; j += w->threads)
				w->C[i * n + j] = dot(w->A, w->B, n, i, j);
		break;
	case BLOCKED:
		rows_blocked(w, first, last);
		break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char variants[] = "naive|modulo|blocked";
	static const char *const names[] = { "naive", "modulo", "blocked" };
	static struct job jobs[EXAMPLE_MAX_THREADS];
	static pthread_t ids[EXAMPLE_MAX_THREADS];
	long n = 1024, threads = 4;
	const struct ex_option opts[] = {
		{ 'n', "rows and columns of each matrix", &n, 1, 20000 },
		{ 't', "threads", &threads, 1, EXAMPLE_MAX_THREADS },
		{ 0, NULL, NULL, 0, 0 },
	};
	enum variant v = (enum variant)ex_options(argc, argv, variants, opts);
	size_t bytes = (size_t)n * (size_t)n * sizeof(double);
	uint64_t sum = 0;
	double t0, t1, t2;

	/* whole pages, so that no page belongs to two matrices */
	bytes = (bytes + EXAMPLE_PAGE - 1) / EXAMPLE_PAGE * EXAMPLE_PAGE;
	double *A = aligned_alloc(EXAMPLE_PAGE, bytes);
	double *B = aligned_alloc(EXAMPLE_PAGE, bytes);
	double *C = aligned_alloc(EXAMPLE_PAGE, bytes);

	ex_need(A, "A", bytes);
	ex_need(B, "B", bytes);
	ex_need(C, "C", bytes);

	t0 = ex_now();
	for (long i = 0; i < n * n; i++) {
		A[i] = (double)(i % 7);
		B[i] = (double)(i % 5);
		C[i] = 0;
	}
	t1 = ex_now();
	for (long t = 0; t < threads; t++) {
		jobs[t] = (struct job){ v, n, threads, t, A, B, C };
		if (pthread_create(&ids[t], NULL, multiply, &jobs[t])) {
			fprintf(stderr, "matmul: cannot start thread %ld\n", t);
			return 1;
		}
	}
	for (long t = 0; t < threads; t++)
		pthread_join(ids[t], NULL);
	t2 = ex_now();

	for (long i = 0; i < n * n; i++)
		sum = sum * 31 + (uint64_t)C[i];
	printf("matmul %s n=%ld checksum=%016llx\n", names[v], n,
	       (unsigned long long)sum);
	fprintf(stderr, "matmul: %ld threads, initialised in %.3f s, multiplied in %.3f s\n",
		threads, t1 - t0, t2 - t1);
	free(A);
	free(B);
	free(C);
	return 0;
}
