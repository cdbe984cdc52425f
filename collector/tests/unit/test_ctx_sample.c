// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/sample.c
// libs: -lm
/* Samples of small blocks: distances of an exponential distribution, and sums without bias, whatever the sizes of the blocks. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "preload/context/ctx.h"
#include "preload/ground/process.h"

struct mt_process mt_process;
int ctx_stack_depth = 16;
static uint64_t now, told, told_mean;
static double estimated;

uint64_t ctx_now(void)
{
	return now;
}

int64_t ctx_stack_capture(const void *caller)
{
	(void)caller;
	return 7;
}

void ctx_line_begin(struct ctx_line *l, char kind)
{
	CHECK_EQ(kind, 'L');
	l->n = 0;
}

static uint64_t field[6];

static void put(struct ctx_line *l, uint64_t v)
{
	field[l->n++] = v;
}

void ctx_line_dec(struct ctx_line *l, uint64_t v)
{
	put(l, v);
}

void ctx_line_int(struct ctx_line *l, int64_t v)
{
	put(l, (uint64_t)v);
}

void ctx_line_hex(struct ctx_line *l, uint64_t v)
{
	put(l, v);
}

void ctx_line_end(struct ctx_line *l)
{
	CHECK_EQ(l->n, 6);
	told++;
	told_mean = field[5];
	estimated += (double)field[3] / -expm1(-(double)field[3] / (double)field[5]);
}

/* As the hook does it. */
static void allocate(struct ctx_thread *t, size_t n)
{
	t->small_bytes += n;
	t->sample_left -= (int64_t)n;
	if (t->sample_left < 0)
		ctx_sample(t, &now, n, NULL);
}

/* A thread allocates blocks of these sizes by turns; the sum of the samples against the bytes. */
static void estimates(const size_t *sizes, int n, long blocks, double error)
{
	static struct ctx_thread t;
	uint64_t bytes = 0;

	memset(&t, 0, sizeof(t));
	estimated = 0;
	told = 0;
	for (long i = 0; i < blocks; i++) {
		allocate(&t, sizes[i % n]);
		bytes += sizes[i % n];
		now += 100;
	}
	CHECK(fabs(estimated / (double)bytes - 1) < error);
	printf("%lu bytes, %lu samples, estimated %.3f\n", (unsigned long)bytes, (unsigned long)told, estimated / (double)bytes);
}

int main(void)
{
	static const size_t small[] = { 16 }, mixed[] = { 16, 2064, 48, 4000, 24, 24, 24 }, large[] = { 4095 };
	uint64_t state = 1, above = 0;
	double sum = 0, squares = 0;
	struct ctx_thread t = { .tid = 1 };
	const long n = 1000000;

	for (long i = 0; i < n; i++) {
		const double d = (double)ctx_sample_distance(&state, 16384);

		sum += d;
		squares += d * d;
		above += d > 3 * 16384;
	}
	CHECK(fabs(sum / n / 16384 - 1) < 0.005);
	CHECK(fabs(squares / n / (2.0 * 16384 * 16384) - 1) < 0.02);
	CHECK(fabs((double)above / n / exp(-3) - 1) < 0.03);

	estimates(small, 1, 20000000, 0.05);
	estimates(mixed, 7, 1000000, 0.05);
	estimates(large, 1, 100000, 0.05);

	/* samples that come fast become rare when very much has been allocated, and come back when they are slow */
	told = 0;
	for (long i = 0; i < 4000000; i++) {
		allocate(&t, 4000);
		now += 10;
	}
	CHECK(told > 16384 && told < 100000);
	CHECK(told_mean > 400000);
	for (long i = 0; i < 100000; i++) {
		allocate(&t, 4000);
		now += 10000000;
	}
	CHECK_EQ(told_mean, 16384);

	/* without call stacks there are no places */
	ctx_stack_depth = 0;
	memset(&t, 0, sizeof(t));
	told = 0;
	for (long i = 0; i < 100000; i++)
		allocate(&t, 4000);
	CHECK_EQ(told, 0);
	return mt_test_done();
}
