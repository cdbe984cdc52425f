// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/table.c preload/context/sys.c common/rawmem.c
// libs: -lpthread
/* The set of recorded blocks against a plain array, and readers beside a writer. */
#include <pthread.h>
#include <stdio.h>

#include "preload/context/ctx.h"
#include "harness.h"

_Atomic uint64_t ctx_lost_lock, ctx_lost_memory;

#define N 20000
static bool in[N];
static uint64_t seed = 20260102;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* addresses as malloc gives them: multiples of 16, many equal low bits */
static uintptr_t addr(size_t i)
{
	return 0x7f0000000010ull + (uintptr_t)i * 4096;
}

static _Atomic int stop;
static _Atomic long wrong;

/* Entries 0..99 are always there: a reader must see them whatever the writer moves. */
static void *reader(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		for (size_t i = 0; i < 100; i++)
			if (!ctx_table_has(addr(i)))
				atomic_fetch_add(&wrong, 1);
	return NULL;
}

int main(void)
{
	size_t count = 0, bad = 0;
	pthread_t th;

	printf("seed %llu\n", (unsigned long long)seed);
	CHECK(ctx_table_init());
	CHECK(!ctx_table_has(addr(1)));
	CHECK(!ctx_table_remove(addr(1)));
	for (int step = 0; step < 200000; step++) {
		size_t i = rnd() % N;

		if (rnd() & 1) {
			bad += !ctx_table_add(addr(i));
			count += !in[i];
			in[i] = true;
		} else {
			bad += ctx_table_remove(addr(i)) != in[i];
			count -= in[i];
			in[i] = false;
		}
	}
	CHECK_EQ(bad, 0);
	CHECK_EQ(ctx_table_count(), count);
	for (size_t i = 0; i < N; i++)
		bad += ctx_table_has(addr(i)) != in[i];
	CHECK_EQ(bad, 0);
	/* adding twice is one entry */
	CHECK(ctx_table_add(addr(0)) && ctx_table_add(addr(0)));
	CHECK(ctx_table_remove(addr(0)));
	CHECK(!ctx_table_has(addr(0)));

	for (size_t i = 0; i < 100; i++)
		ctx_table_add(addr(i));
	CHECK(!pthread_create(&th, NULL, reader, NULL));
	for (int step = 0; step < 200000; step++) {
		size_t i = 100 + rnd() % (N - 100);

		if (rnd() & 1)
			ctx_table_add(addr(i));
		else
			ctx_table_remove(addr(i));
	}
	atomic_store(&stop, 1);
	pthread_join(th, NULL);
	CHECK_EQ(atomic_load(&wrong), 0);

	/* a fork holds all locks; they are free again afterwards */
	ctx_table_lock_all();
	ctx_table_unlock_all();
	CHECK(ctx_table_add(addr(5)));
	CHECK_EQ(atomic_load(&ctx_lost_lock), 0);
	CHECK_EQ(atomic_load(&ctx_lost_memory), 0);
	return mt_test_done();
}
