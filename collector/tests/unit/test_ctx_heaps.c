// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/heaps.c preload/context/sys.c common/rawmem.c
// libs: -lpthread
/* Heaps of further threads: how far they are used, told when they grow, again in a child, by several threads at once. */
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/context/ctx.h"
#include "harness.h"

_Atomic uint64_t ctx_lost_lock, ctx_lost_memory;

#define HEAP ((uintptr_t)64 << 20)
#define FIRST ((uintptr_t)0x7f0000000000)

/* the log: words of each line */
static struct {
	uint64_t birth, start, end;
} told[20000];
static size_t n_told;
static int word;

void ctx_line_begin(struct ctx_line *l, char kind)
{
	(void)l;
	CHECK_EQ(kind, 'H');
	word = 0;
}

void ctx_line_dec(struct ctx_line *l, uint64_t v)
{
	(void)l;
	CHECK_EQ(word++, 0);
	told[n_told].birth = v;
}

void ctx_line_hex(struct ctx_line *l, uint64_t v)
{
	(void)l;
	*(word++ == 1 ? &told[n_told].start : &told[n_told].end) = v;
}

void ctx_line_put(struct ctx_line *l, unsigned int shard)
{
	(void)l;
	(void)shard;
	CHECK_EQ(word, 3);
	n_told++;
}

/* the last line of a heap since line @from, and how many there are */
static size_t last(uintptr_t start, size_t from, int *lines)
{
	size_t at = n_told;

	*lines = 0;
	for (size_t i = from; i < n_told; i++)
		if (told[i].start == start) {
			at = i;
			(*lines)++;
		}
	return at;
}

#define THREADS 4
#define EACH 300		/* heaps, the same of all */

static void *fill(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uintptr_t h = 0; h < EACH; h++)
		for (uintptr_t k = 0; k < 20; k++)
			ctx_heap_used(FIRST + (2000 + h) * HEAP + (k * THREADS + me) * 64, 64);
	return NULL;
}

/* in a thread that is not the first one glibc takes another arena */
static void *block(void *arg)
{
	void *volatile p = malloc(100);

	*(bool *)arg = ((size_t *)p)[-1] & 4;
	free(p);
	return NULL;
}

int main(void)
{
	size_t from, at;
	pthread_t th[THREADS];
	bool flag = false;
	int lines;

	ctx_heaps_init((void *)malloc_usable_size);
#ifndef __SANITIZE_ADDRESS__
	CHECK(ctx_heaps_told);
	pthread_create(&th[0], NULL, block, &flag);
	pthread_join(th[0], NULL);
	CHECK(flag);		/* what the whole method stands on */
#else
	(void)block;
	(void)flag;
#endif
	ctx_heaps_init((void *)main);	/* an allocator of its own */
	CHECK(!ctx_heaps_told);
	setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=2", 1);	/* heaps of another size */
	ctx_heaps_init((void *)malloc_usable_size);
	CHECK(!ctx_heaps_told);
	unsetenv("GLIBC_TUNABLES");

	ctx_heaps_flush();
	CHECK_EQ(n_told, 0);
	ctx_heaps_fork_child(5);	/* of a process without heaps */
	CHECK_EQ(n_told, 0);

	/* the first and the last byte of a heap; what lies behind a block is in it, too */
	ctx_heap_used(FIRST + 2048, 24);
	ctx_heap_used(FIRST + HEAP - 64, 16);
	ctx_heap_used(FIRST + HEAP, 1);
	ctx_heaps_flush();
	CHECK_EQ(n_told, 2);
	at = last(FIRST, 0, &lines);
	CHECK_EQ(lines, 1);
	CHECK_EQ(told[at].end, FIRST + HEAP - 64 + 16 + 32);
	CHECK(told[at].birth > 0);
	at = last(FIRST + HEAP, 0, &lines);
	CHECK_EQ(lines, 1);
	CHECK_EQ(told[at].end, FIRST + HEAP + 1 + 32);

	/* told again only when it has grown, with the same birth */
	ctx_heap_used(FIRST + 4096, 2000);
	ctx_heaps_flush();
	CHECK_EQ(n_told, 2);
	ctx_heap_used(FIRST + HEAP + 8192, 16);
	ctx_heaps_flush();
	CHECK_EQ(n_told, 3);
	CHECK_EQ(told[2].start, FIRST + HEAP);
	CHECK_EQ(told[2].end, FIRST + HEAP + 8192 + 16 + 32);
	CHECK_EQ(told[2].birth, told[at].birth);

	/* a child tells all of them, as old as itself */
	ctx_heaps_fork_child(77);
	ctx_heaps_flush();
	CHECK_EQ(n_told, 5);
	for (size_t i = 3; i < 5; i++)
		CHECK_EQ(told[i].birth, 77);
	CHECK_EQ(told[last(FIRST, 3, &lines)].end, FIRST + HEAP - 64 + 16 + 32);
	CHECK_EQ(told[last(FIRST + HEAP, 3, &lines)].end, FIRST + HEAP + 8192 + 16 + 32);

	/* several threads find the same heaps: one of each, as long as the furthest block */
	from = n_told;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&th[i], NULL, fill, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	ctx_heaps_flush();
	CHECK_EQ(n_told - from, EACH);
	for (uintptr_t h = 0; h < EACH; h++) {
		uintptr_t start = FIRST + (2000 + h) * HEAP;

		at = last(start, from, &lines);
		CHECK_EQ(lines, 1);
		CHECK_EQ(told[at].end, start + 20 * THREADS * 64 + 32);
	}

	/* more than there is room for: counted, nothing else */
	CHECK_EQ(atomic_load(&ctx_lost_memory), 0);
	from = n_told;
	for (uintptr_t h = 0; h < 4096; h++)
		ctx_heap_used(FIRST + (10000 + h) * HEAP, 16);
	ctx_heaps_flush();
	CHECK_EQ(n_told - from, 4096 - 2 - EACH);
	CHECK_EQ(atomic_load(&ctx_lost_memory), 2 + EACH);
	return mt_test_done();
}
