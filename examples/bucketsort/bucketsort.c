// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Integer bucket sort (ranking) with OpenMP, after the idea of the IS kernel
 * of the NAS parallel benchmarks; written from its description.
 *
 * Each iteration: every thread counts its part of key_array per bucket; the
 * keys are copied to key_buff2, bucket by bucket; then the marked loop counts
 * and ranks the keys of each bucket in key_buff1. The keys follow a bell
 * curve, so the buckets in the middle have most of the work, and it matters
 * how the marked loop is divided:
 *
 *   dynamic  the next free thread takes the next bucket
 *   cyclic   bucket i belongs to thread i modulo threads
 *   fair     cyclic in blocks of BUCKETS / (2 * threads) buckets, so that
 *            each thread has one block of each half of the curve
 */
#include <omp.h>

#include "../common/example.h"

/* -DLOG2_KEYS=... makes a smaller one */
#ifndef LOG2_KEYS
#define LOG2_KEYS 22
#define LOG2_MAX_KEY 19
#define LOG2_BUCKETS 9
#endif

#define KEYS (1L << LOG2_KEYS)
#define MAX_KEY (1L << LOG2_MAX_KEY)
#define BUCKETS (1L << LOG2_BUCKETS)
#define SHIFT (LOG2_MAX_KEY - LOG2_BUCKETS)

/* The three arrays that the pictures are about, on pages of their own. */
static int32_t key_array[KEYS] __attribute__((aligned(4096)));
static int32_t key_buff1[MAX_KEY] __attribute__((aligned(4096)));
static int32_t key_buff2[KEYS] __attribute__((aligned(4096)));

static int32_t bucket_size[EXAMPLE_MAX_THREADS][BUCKETS] __attribute__((aligned(4096)));
static int32_t bucket_end[EXAMPLE_MAX_THREADS][BUCKETS] __attribute__((aligned(4096)));

/* Sum of four uniform numbers: the bell curve of IS. */
static int32_t make_key(long i)
{
	uint64_t h = ex_hash((uint64_t)i);
	uint64_t s = 0;

	for (int k = 0; k < 4; k++, h >>= 16)
		s += (h & 0xffff) * MAX_KEY >> 16;
	return (int32_t)(s / 4);
}

static void make_keys(void)
{
#pragma omp parallel for schedule(static)
	for (long i = 0; i < KEYS; i++)
		key_array[i] = make_key(i);
}

/* bucket_end[me][b]: where thread me writes its next key of bucket b. */
static void place_buckets(int me, int threads)
{
	int32_t *place = bucket_end[me];

	place[0] = 0;
	for (int t = 0; t < me; t++)
		place[0] += bucket_size[t][0];
	for (long b = 1; b < BUCKETS; b++) {
		place[b] = place[b - 1];
		for (int t = 0; t < me; t++)
			place[b] += bucket_size[t][b];
		for (int t = me; t < threads; t++)
			place[b] += bucket_size[t][b - 1];
	}
}

static void rank(void)
{
#pragma omp parallel
	{
		int me = omp_get_thread_num(), threads = omp_get_num_threads();
		int32_t *size = bucket_size[me], *place = bucket_end[me];

		memset(size, 0, sizeof(bucket_size[me]));
#pragma omp for schedule(static)
		for (long i = 0; i < KEYS; i++)
			size[key_array[i] >> SHIFT]++;

		place_buckets(me, threads);
#pragma omp for schedule(static)
		for (long i = 0; i < KEYS; i++) {
			int32_t k = key_array[i];

			key_buff2[place[k >> SHIFT]++] = k;
		}

		/* now every thread needs the end of each whole bucket */
		for (long b = 0; b < BUCKETS; b++)
			for (int t = me + 1; t < threads; t++)
				place[b] += bucket_size[t][b];

		/* the marked loop: its schedule is chosen on the command line */
#pragma omp for schedule(runtime)
		for (long b = 0; b < BUCKETS; b++) {
			long low = b << SHIFT, high = low + (1L << SHIFT);
			int32_t first = b ? place[b - 1] : 0;

			for (long k = low; k < high; k++)
				key_buff1[k] = 0;
			for (int32_t i = first; i < place[b]; i++)
				key_buff1[key_buff2[i]]++;
			key_buff1[low] += first;
			for (long k = low + 1; k < high; k++)
				key_buff1[k] += key_buff1[k - 1];
		}
	}
}

int main(int argc, char **argv)
{
	static const char variants[] = "dynamic|cyclic|fair";
	static const char *const names[] = { "dynamic", "cyclic", "fair" };
	long threads = 4, iterations = 200;
	const struct ex_option opts[] = {
		{ 't', "threads", &threads, 1, EXAMPLE_MAX_THREADS },
		{ 'i', "iterations", &iterations, 1, 100000 },
		{ 0, NULL, NULL, 0, 0 },
	};
	int v = ex_options(argc, argv, variants, opts);
	uint64_t sum = 0;
	double t0, t1, t2;

	omp_set_dynamic(0);
	omp_set_num_threads((int)threads);
	if (v == 0)
		omp_set_schedule(omp_sched_dynamic, 1);
	else if (v == 1)
		omp_set_schedule(omp_sched_static, 1);
	else
		omp_set_schedule(omp_sched_static,
				 (int)(BUCKETS / (2 * threads) > 0 ? BUCKETS / (2 * threads) : 1));

	t0 = ex_now();
	make_keys();
	t1 = ex_now();
	for (long i = 1; i <= iterations; i++) {
		/* as IS does: two keys change, so that no iteration is superfluous */
		key_array[i % KEYS] = (int32_t)(i % MAX_KEY);
		key_array[(i + iterations) % KEYS] = (int32_t)(MAX_KEY - 1 - i % MAX_KEY);
		rank();
	}
	t2 = ex_now();

	if (key_buff1[MAX_KEY - 1] != KEYS) {
		fprintf(stderr, "bucketsort: ranked %d of %ld keys\n",
			key_buff1[MAX_KEY - 1], KEYS);
		return 1;
	}
	for (long k = 0; k < MAX_KEY; k++)
		sum = sum * 31 + (uint64_t)key_buff1[k];
	printf("bucketsort %s keys=%ld iterations=%ld checksum=%016llx\n",
	       names[v], KEYS, iterations, (unsigned long long)sum);
	fprintf(stderr, "bucketsort: %ld threads, keys in %.3f s, ranked in %.3f s\n",
		threads, t1 - t0, t2 - t1);
	return 0;
}
