/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * stack.c - call stacks as return addresses.
 *
 * A stack is written to the log once; later it is only its number. Numbers are
 * found by a 64-bit hash of the addresses. Readers take no lock: entries are
 * never changed or removed, and the table they are in stays mapped when it
 * grows.
 */
#include "preload/context/ctx.h"

#define FIRST_SLOTS 4096u

struct entry {
	_Atomic uint64_t hash;	/* 0 = free; written after id */
	uint64_t id;
};

struct stacks {
	size_t mask;
	struct entry e[];
};

static _Atomic(struct stacks *) table;
static _Atomic int lock;
static uint64_t next_id;	/* under lock */

bool ctx_stack_init(void)
{
	struct stacks *s = ctx_map(sizeof(*s) + FIRST_SLOTS * sizeof(s->e[0]));

	if (!s)
		return false;
	s->mask = FIRST_SLOTS - 1;
	atomic_store(&table, s);
	return true;
}

static int64_t look_up(struct stacks *s, uint64_t hash)
{
	for (size_t i = hash & s->mask; ; i = (i + 1) & s->mask) {
		uint64_t h = atomic_load_explicit(&s->e[i].hash, memory_order_acquire);

		if (h == hash)
			return (int64_t)s->e[i].id;
		if (!h)
			return -1;
	}
}

static void insert(struct stacks *s, uint64_t hash, uint64_t id)
{
	size_t i = hash & s->mask;

	while (atomic_load_explicit(&s->e[i].hash, memory_order_relaxed))
		i = (i + 1) & s->mask;
	s->e[i].id = id;
	atomic_store_explicit(&s->e[i].hash, hash, memory_order_release);
}

/* Caller holds the lock. NULL when there is no room. */
static struct stacks *make_room(void)
{
	struct stacks *s = atomic_load_explicit(&table, memory_order_relaxed), *t;
	size_t n = s->mask + 1;

	if (next_id * 2 < n)
		return s;
	t = ctx_map(sizeof(*t) + 2 * n * sizeof(t->e[0]));
	if (!t)
		return next_id * 8 < n * 7 ? s : NULL;
	t->mask = 2 * n - 1;
	for (size_t i = 0; i < n; i++) {
		uint64_t h = atomic_load_explicit(&s->e[i].hash, memory_order_relaxed);

		if (h)
			insert(t, h, s->e[i].id);
	}
	atomic_store_explicit(&table, t, memory_order_release);
	return t;
}

/* A stack that is not in the table, at least not yet. -1: no room, or no lock. */
static __attribute__((noinline)) int64_t make(const uintptr_t *ip, int n, uint64_t hash)
{
	static struct ctx_line l;	/* under lock: stacks of threads may be small */
	struct stacks *s;
	int64_t id;

	ctx_objects_scan();	/* new code, so perhaps a new library */
	if (!ctx_lock(&lock))
		return -1;
	id = look_up(atomic_load_explicit(&table, memory_order_relaxed), hash);
	if (id < 0) {
		s = make_room();
		if (s) {
			id = (int64_t)next_id++;
			if (ctx_unlikely(ctx_suspecting))
				ctx_suspect_stack(id, ip, n);	/* before another thread finds the number */
			insert(s, hash, (uint64_t)id);
			ctx_line_begin(&l, 'S');
			ctx_line_int(&l, id);
			for (int i = 0; i < n; i++)
				ctx_line_hex(&l, ip[i]);
			ctx_line_end(&l);
		} else {
			atomic_fetch_add(&ctx_lost_memory, 1);
		}
	}
	ctx_unlock(&lock);
	return id;
}

/*
 * Number of the stack of the caller of the hook. Called with ctx_nest > 0.
 */
int64_t ctx_stack_capture(const void *caller)
{
	uintptr_t ip[CTX_MAX_DEPTH], sp;
	uint64_t hash = 0x243f6a8885a308d3ull;
	struct ctx_memo *memo;
	int64_t id;
	int n;

	if (ctx_stack_depth <= 0)
		return -1;
	n = ctx_unwind(ip, ctx_stack_depth, caller, &memo, &sp);
	if (n < 0)
		return memo->id;
	if (!n)
		return -1;
	for (int i = 0; i < n; i++) {
		hash = (hash ^ ip[i]) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	hash |= !hash;
	id = look_up(atomic_load_explicit(&table, memory_order_acquire), hash);
	if (id < 0)
		id = make(ip, n, hash);
	if (memo && id >= 0) {
		memo->id = id;
		memo->sp = sp;
	}
	return id;
}

void ctx_stack_lock_all(void)
{
	ctx_lock(&lock);
}

void ctx_stack_unlock_all(void)
{
	ctx_unlock(&lock);
}
