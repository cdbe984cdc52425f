// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/ranges.c common/rawmem.c
#include <stdlib.h>

#include "harness.h"
#include "common/rawsys.h"
#include "preload/memory/ranges.h"

static void examples(void)
{
	struct zap_regions s = { 0 };

	CHECK_EQ(zap_regions_add(&s, 10, 20), 0);
	CHECK_EQ(zap_regions_add(&s, 30, 40), 0);
	CHECK_EQ(s.n, 2);
	zap_regions_add(&s, 20, 30);	/* touches both: one range */
	CHECK_EQ(s.n, 1);
	CHECK(zap_regions_cover(&s, 10, 40));
	CHECK(!zap_regions_cover(&s, 9, 40));
	zap_regions_remove(&s, 15, 16);
	CHECK_EQ(s.n, 2);
	CHECK(zap_regions_contain(&s, 14) && !zap_regions_contain(&s, 15) && zap_regions_contain(&s, 16));
	CHECK(!zap_regions_cover(&s, 14, 17));
	CHECK(zap_regions_overlap(&s, 15, 17));
	CHECK(!zap_regions_overlap(&s, 15, 16));
	CHECK_EQ(zap_regions_bytes(&s), 29);
	zap_regions_add(&s, 5, 5);	/* empty */
	CHECK_EQ(s.n, 2);
	zap_regions_remove(&s, 0, 100);
	CHECK_EQ(s.n, 0);
	zap_regions_free(&s);
}

/* Law: after any sequence of add and remove the set is what a bitmap says. */
static void law(unsigned seed)
{
	enum { N = 600 };
	struct zap_regions s = { 0 };
	char bit[N] = { 0 };
	int bad = 0;

	srand(seed);
	for (int step = 0; step < 4000; step++) {
		int a = rand() % N, b = a + rand() % (rand() % 8 ? 5 : 100), add = rand() % 2;

		if (b > N)
			b = N;
		if (add)
			zap_regions_add(&s, (uint64_t)a, (uint64_t)b);
		else
			zap_regions_remove(&s, (uint64_t)a, (uint64_t)b);
		memset(bit + a, add, (size_t)(b - a));
		for (size_t i = 0; i < s.n; i++)
			if (s.r[i].start >= s.r[i].end || (i && s.r[i - 1].end >= s.r[i].start))
				bad++;
		for (int i = 0; i < N; i++)
			if (zap_regions_contain(&s, (uint64_t)i) != bit[i])
				bad++;
	}
	if (bad)
		printf("seed %u\n", seed);
	CHECK_EQ(bad, 0);
	zap_regions_free(&s);
}

/* Pieces that are in the set, and pieces that are not, in turn. */
static void runs(void)
{
	struct zap_regions s = { 0 };
	uint64_t until;

	CHECK(!zap_regions_run(&s, 5, 30, &until) && until == 30);
	zap_regions_add(&s, 10, 20);
	CHECK(!zap_regions_run(&s, 5, 30, &until) && until == 10);
	CHECK(zap_regions_run(&s, 10, 30, &until) && until == 20);
	CHECK(zap_regions_run(&s, 12, 15, &until) && until == 15);
	CHECK(!zap_regions_run(&s, 20, 30, &until) && until == 30);
	CHECK(!zap_regions_run(&s, 5, 8, &until) && until == 8);
	zap_regions_free(&s);
}

static void raw_memory(void)
{
	uint64_t hs, he;
	char *p = mt_rawmap(10000);

	CHECK(p != NULL);
	CHECK(mt_is_rawmem((uint64_t)p - 4096, (uint64_t)p + 1, &hs, &he));
	CHECK(hs == (uint64_t)p && he == (uint64_t)p + 12288);
	mt_rawunmap(p, 10000);
	CHECK(!mt_is_rawmem((uint64_t)p, (uint64_t)p + 1, &hs, &he));
}

int main(void)
{
	examples();
	for (unsigned seed = 1; seed <= 5; seed++)
		law(seed);
	runs();
	raw_memory();
	return mt_test_done();
}
