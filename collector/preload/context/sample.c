/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * sample.c - which places allocate small blocks, by samples.
 *
 * A point falls on each thread's bytes of small blocks as in a Poisson process; the block that it falls into is told with its call
 * stack and with the mean distance of the points. With that a block of n bytes was taken with probability 1 - exp(-n / mean), so that
 * it stands for n / (1 - exp(-n / mean)) bytes: without bias, whatever the sizes, and also where the mean changes, because it is set
 * before the block is known.
 *
 * The mean is MEAN. It is less for the first bytes of a thread, so that small programs have some. It is more for a thread that has
 * allocated very much, as long as its samples come fast: their number grows with the logarithm of the bytes, or with the time.
 *
 * A thread has its state to itself, no lock is taken here and nothing allocated; what is told goes the way of other births.
 */
#include "preload/context/ctx.h"
#include "preload/ground/process.h"

#define FEW_BYTES 65536u
#define FEW_MEAN 1024u
#define MEAN 16384u
#define MOST_SHIFT 14		/* so many times as many bytes as the mean distance have been allocated when that grows */
#define SLOW_NS 20000000ull	/* between two samples: then the mean shrinks again */

/* log2(1 + i / 32), 16 bits behind the point */
static const uint32_t log2_of[33] = {
	0, 2909, 5732, 8473, 11136, 13727, 16248, 18704, 21098, 23433, 25711, 27936, 30109, 32234, 34312, 36346, 38336, 40286, 42196, 44068,
	45904, 47705, 49472, 51207, 52911, 54584, 56229, 57845, 59434, 60997, 62534, 64047, 65536,
};

/* xorshift64*; never 0 */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

uint64_t ctx_sample_distance(uint64_t *state, uint64_t mean)
{
	const uint64_t r = next_random(state) | 1;
	const int zeros = __builtin_clzll(r);
	const uint64_t f = r << zeros << 1;	/* behind the first 1 */
	const uint32_t i = (uint32_t)(f >> 59), part = (uint32_t)(f >> 43) & 0xffff;
	const uint64_t log = log2_of[i] + ((uint64_t)(log2_of[i + 1] - log2_of[i]) * part >> 16);
	const uint64_t minus_log2 = ((uint64_t)(zeros + 1) << 16) - log;	/* of r as a part of 1 */

	return (uint64_t)((unsigned __int128)minus_log2 * 45426 * mean >> 32) + 1;	/* ln 2 with 16 bits behind the point */
}

/* Caller counts the bytes of the block before. */
static void next_mean(struct ctx_thread *t, uint64_t now)
{
	const uint64_t bytes = atomic_load_explicit(&t->small_bytes, memory_order_relaxed);
	const uint64_t most = bytes >> MOST_SHIFT > MEAN ? bytes >> MOST_SHIFT : MEAN;
	uint64_t mean = t->sample_mean;

	mean = now - t->sample_when > SLOW_NS ? mean / 2 : mean * 2;
	mean = mean > most ? most : mean < MEAN ? MEAN : mean;
	t->sample_mean = bytes < FEW_BYTES ? FEW_MEAN : mean;
	t->sample_when = now;
}

void ctx_sample(struct ctx_thread *t, const void *p, size_t n, const void *caller)
{
	const uint64_t now = ctx_now();
	struct ctx_line l;

	if (ctx_stack_depth <= 0) {	/* there are no places */
		t->sample_left = INT64_MAX;
		return;
	}
	if (!t->sample_mean) {		/* the first block of the thread: no distance was drawn before it */
		t->sample_state = 0x9e3779b97f4a7c15ull * (uint64_t)(uint32_t)(t->tid - mt_process.image.pid + 1);
		t->sample_mean = FEW_MEAN;
		t->sample_when = now;
		t->sample_left = (int64_t)ctx_sample_distance(&t->sample_state, FEW_MEAN) - (int64_t)n;
		if (t->sample_left >= 0)
			return;
	}
	ctx_line_begin(&l, 'L');
	ctx_line_dec(&l, now);
	ctx_line_int(&l, t->tid);
	ctx_line_hex(&l, (uintptr_t)p);
	ctx_line_dec(&l, n);
	ctx_line_int(&l, ctx_stack_capture(caller));
	ctx_line_dec(&l, t->sample_mean);
	ctx_line_end(&l);
	next_mean(t, now);
	t->sample_left = (int64_t)ctx_sample_distance(&t->sample_state, t->sample_mean);
}
