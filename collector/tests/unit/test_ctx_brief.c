// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/brief.c preload/context/table.c common/rawmem.c
// libs: -lpthread
/* Births that wait: nothing is listed and not listed, and each block is one of both; also with other threads and during a look. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/context/ctx.h"
#include "harness.h"
#include "common/rawsys.h"

_Atomic uint64_t ctx_lost_lock, ctx_lost_memory;
CTX_TLS struct ctx_thread *ctx_self;
CTX_TLS int ctx_nest = 1;

struct ctx_thread *ctx_thread_self(void)
{
	static struct ctx_thread slot[16];
	static _Atomic int used;

	if (!ctx_self)
		ctx_self = &slot[atomic_fetch_add(&used, 1)];
	return ctx_self;
}

/* A clock that stands still but when it is moved on: there is no credit for CPU time meanwhile. */
static _Atomic uint64_t now = 5000000000;

uint64_t ctx_now(void)
{
	return atomic_load(&now);
}

void *ctx_map(size_t bytes)
{
	return mt_rawmap(bytes);
}

bool ctx_lock(_Atomic int *lock)
{
	while (atomic_exchange(lock, 1))
		;
	return true;
}

void ctx_unlock(_Atomic int *lock)
{
	atomic_store(lock, 0);
}

/* ---- the log */

static _Atomic long listed;
static _Atomic uint64_t last_addr, last_bytes;

void ctx_line_begin(struct ctx_line *l, char kind)
{
	l->n = (size_t)snprintf(l->b, sizeof(l->b), "%c", kind);
}

void ctx_line_dec(struct ctx_line *l, uint64_t v)
{
	l->n += (size_t)snprintf(l->b + l->n, sizeof(l->b) - l->n, " %llu", (unsigned long long)v);
}

void ctx_line_int(struct ctx_line *l, int64_t v)
{
	l->n += (size_t)snprintf(l->b + l->n, sizeof(l->b) - l->n, " %lld", (long long)v);
}

void ctx_line_hex(struct ctx_line *l, uint64_t v)
{
	l->n += (size_t)snprintf(l->b + l->n, sizeof(l->b) - l->n, " %llx", (unsigned long long)v);
}

void ctx_line_put_by(struct ctx_line *l, unsigned int shard, bool monitor)
{
	unsigned long long when, addr, bytes;
	int tid;

	(void)shard;
	(void)monitor;
	l->b[l->n] = 0;
	if (sscanf(l->b, "A %llu %d %llx %llu", &when, &tid, &addr, &bytes) == 4) {
		atomic_store(&last_addr, addr);
		atomic_store(&last_bytes, bytes);
	}
	atomic_fetch_add(&listed, 1);
}

/* ---- as the hooks do it */

static void born(uintptr_t addr, size_t bytes)
{
	struct ctx_birth b = { .when = ctx_now(), .addr = addr, .bytes = bytes, .stack = 7, .tid = 1, .how = 'm' };

	ctx_brief_back(&b, bytes);
}

enum { UNKNOWN, UNLISTED, LISTED };
static int died(uintptr_t addr)
{
	struct ctx_birth b;

	if (ctx_brief_out_own(addr, &b) || (!ctx_table_has(addr) && ctx_brief_out(addr, &b)))
		return ctx_brief_listed(&b) ? LISTED : UNLISTED;
	return ctx_table_remove(addr) ? LISTED : UNKNOWN;
}

static uintptr_t addr_of(unsigned long i)
{
	return 0x7f0000000010ul + i * 4096;
}

static void use_up(void)
{
	for (int i = 0; i < 100000; i++) {
		born(addr_of(1), 4096);
		if (died(addr_of(1)) == UNLISTED)
			return;
	}
}

static void few_are_all_listed(void)
{
	int bad = 0;

	for (unsigned long i = 0; i < 1000; i++) {
		born(addr_of(i), 5000);
		bad += died(addr_of(i)) != LISTED;
	}
	CHECK_EQ(bad, 0);
	CHECK_EQ(atomic_load(&listed), 1000);
	CHECK_EQ(died(addr_of(3)), UNKNOWN);
}

static void who_lives_is_listed(void)
{
	long before;

	use_up();
	before = atomic_load(&listed);
	born(addr_of(5), 4711);
	CHECK_EQ(atomic_load(&listed), before);
	CHECK(!ctx_table_has(addr_of(5)));
	ctx_brief_settle(false, false);		/* it is young */
	CHECK_EQ(atomic_load(&listed), before);
	atomic_fetch_add(&now, 10000000000);
	ctx_brief_settle(false, false);
	CHECK_EQ(atomic_load(&listed), before + 1);
	CHECK_EQ(atomic_load(&last_addr), addr_of(5));
	CHECK_EQ(atomic_load(&last_bytes), 4711);
	CHECK(ctx_table_has(addr_of(5)));
	CHECK_EQ(died(addr_of(5)), LISTED);
	CHECK_EQ(died(addr_of(5)), UNKNOWN);
	/* more than there are places: none is lost */
	for (unsigned long i = 0; i < 5000; i++)
		born(addr_of(i), 4096);
	ctx_brief_settle(true, false);
	CHECK_EQ(ctx_table_count(), 5000);
	for (unsigned long i = 0; i < 5000; i++)
		before -= died(addr_of(i)) != LISTED;
	CHECK_EQ(atomic_load(&listed), before + 1 + 5000);
}

static void sizes_and_failures(void)
{
	struct ctx_birth b;

	use_up();
	born(addr_of(9), 5000);
	CHECK(ctx_brief_out_own(addr_of(9), &b));
	CHECK(!ctx_brief_out(addr_of(9), &b));
	ctx_brief_back(&b, 9000);
	CHECK(ctx_brief_out_own(addr_of(9), &b));
	ctx_brief_back(&b, 6000);		/* smaller: the largest it ever had */
	ctx_brief_settle(true, false);
	CHECK_EQ(atomic_load(&last_bytes), 9000);
	/* one whose death nobody saw is in the table: the next birth there is told, so that it ends the life */
	atomic_store(&ctx_deaths_missed, true);
	born(addr_of(9), 4096);
	CHECK_EQ(atomic_load(&last_bytes), 4096);
	CHECK_EQ(died(addr_of(9)), LISTED);
	atomic_store(&ctx_deaths_missed, false);
}

static void *free_there(void *arg)
{
	CHECK_EQ(died((uintptr_t)arg), UNLISTED);
	return NULL;
}

static void of_another_thread(void)
{
	uint64_t count, bytes, count2, bytes2;
	pthread_t t;

	use_up();
	ctx_brief_gone(&count, &bytes);
	born(addr_of(77), 12345);
	ctx_nest = 2;		/* there is no thread to count it in a signal handler */
	CHECK_EQ(died(addr_of(77)), UNLISTED);
	ctx_nest = 1;
	ctx_brief_gone(&count2, &bytes2);
	CHECK_EQ(count2 - count, 1);
	CHECK_EQ(bytes2 - bytes, 12345);
	born(addr_of(78), 4096);
	pthread_create(&t, NULL, free_there, (void *)addr_of(78));
	pthread_join(t, NULL);
	CHECK_EQ(died(addr_of(78)), UNKNOWN);
}

static void after_fork(void)
{
	uint64_t count, bytes;

	use_up();
	born(addr_of(11), 4096);
	ctx_brief_fork_child();
	ctx_brief_gone(&count, &bytes);
	CHECK_EQ(count, 0);
	CHECK_EQ(died(addr_of(11)), LISTED);	/* by the parent */
}

/* ---- threads that hand blocks to each other, beside one that lists */

#define THREADS 4
#define ROUNDS 60000
static _Atomic uintptr_t box[64];
static _Atomic long told[3];
static _Atomic int stop;

static void *exchange(void *arg)
{
	const unsigned long me = (unsigned long)arg;
	uint64_t s = 88172645463325252ull + me;

	for (unsigned long i = 0; i < ROUNDS; i++) {
		/* an address is nobody else's until it is dead */
		uintptr_t mine = addr_of(1000000 + me * ROUNDS + i), old;

		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		born(mine, 4096);
		old = atomic_exchange(&box[s & 63], mine);
		if (old)
			atomic_fetch_add(&told[died(old)], 1);
	}
	return NULL;
}

static void *lists(void *arg)
{
	while (!atomic_load(&stop))
		ctx_brief_settle(true, true);
	return arg;
}

static void races(void)
{
	pthread_t t[THREADS], l;
	long before = atomic_load(&listed), rest[3] = { 0 };

	CHECK_EQ(ctx_table_count(), 0);
	pthread_create(&l, NULL, lists, NULL);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, exchange, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&stop, 1);
	pthread_join(l, NULL);
	for (int i = 0; i < 64; i++)
		if (box[i])
			rest[died(box[i])]++;
	printf("listed %ld, not listed %ld\n", (long)told[LISTED], (long)told[UNLISTED]);
	CHECK_EQ(told[UNKNOWN] + rest[UNKNOWN], 0);
	CHECK(told[LISTED] > 0 && told[UNLISTED] > 0);
	CHECK_EQ(atomic_load(&listed) - before, told[LISTED] + rest[LISTED]);
	CHECK_EQ(told[LISTED] + told[UNLISTED] + rest[LISTED] + rest[UNLISTED], THREADS * ROUNDS);
	CHECK_EQ(ctx_table_count(), 0);
	CHECK_EQ(atomic_load(&ctx_lost_lock), 0);
}

int main(void)
{
	CHECK(ctx_table_init());
	born(addr_of(2), 4096);		/* no budget: all are listed at once */
	CHECK_EQ(atomic_load(&listed), 1);
	CHECK_EQ(died(addr_of(2)), LISTED);
	atomic_store(&listed, 0);
	ctx_brief_init(350000, 8);
	few_are_all_listed();
	who_lives_is_listed();
	sizes_and_failures();
	of_another_thread();
	after_fork();
	races();
	return mt_test_done();
}
