/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * brief.c - blocks that live so briefly, and are so many, that to list each of them would cost more than the program.
 *
 * A line of the log for a birth, one for a death, and what `finish` does with them cost LISTED_NS; the allocator is done in a hundredth
 * of it. So the birth of a block waits in its thread. Whoever frees the block finds it there:
 *
 *  - while there are not too many of them both lines are written, and nothing is different;
 *  - beyond that the block is counted as one that is not listed, and none is written.
 *
 * A block that is still there after SETTLED_NS, or when its place is needed for a younger one, is listed in any case. So what is not
 * listed are short lives, of which there were more than a part of the budget (--max-overhead) allows.
 *
 * Births that wait are in sets by address, WAYS in each; only the thread itself puts one in. Who takes it out does so by its state,
 * once: who frees the block (any thread), or who lists it (the thread, or under the lock of ctx_flush). While it is being listed the
 * others wait: it is in the table of blocks (table.c) before it is out of here. Otherwise no lock; free() may also be called in a signal
 * handler that interrupts any of this.
 */
#include <time.h>

#include "common/arch.h"
#include "preload/context/ctx.h"
#include "common/patience.h"
#include "common/rawsys.h"

#define LISTED_NS 2000			/* CPU time of one that is listed */
#define AT_ONCE 1024			/* listed without a look at the time */
#define LOOK_NS 1000000			/* the CPU time is asked no more often */
#define SETTLED_NS 100000000		/* older births do not wait any more */

#define WAYS 4u
#define SETS 64u
#define WAITING_THREADS 64		/* others list at once: who frees the block of another thread asks all of them */

#define WAITS 1u			/* state: this, or LISTING, or neither; the rest counts the births in this place */
#define LISTING 2u
#define STEP 4u

struct place {
	_Atomic uint64_t state;
	struct ctx_birth b;
};

struct ctx_waiting {
	struct place place[SETS][WAYS];
};

bool ctx_brief_on;
_Atomic bool ctx_deaths_missed;

static struct ctx_waiting *_Atomic all[WAITING_THREADS];
static _Atomic int n_all;

static uint64_t every_ns;		/* of CPU time of the process, one may be listed */
static _Atomic int64_t credit;		/* that may be listed now */
static _Atomic uint64_t looked;		/* ns; who moves it on gives credit for the CPU time since then */
static uint64_t looked_cpu;		/* ns, of the process */
static _Atomic uint64_t gone_count, gone_bytes;

void ctx_brief_init(uint32_t max_overhead_ppm, unsigned int share)
{
	every_ns = max_overhead_ppm ? LISTED_NS * 1000000ull * share / max_overhead_ppm : 0;
	atomic_store(&credit, AT_ONCE);
	ctx_brief_on = max_overhead_ppm != 0;
}

static struct place *set_of(struct ctx_waiting *w, uintptr_t addr)
{
	return w->place[((uint64_t)addr >> 4) * 0x9e3779b97f4a7c15ull >> 40 & (SETS - 1)];
}

static bool take(struct place *p, uint64_t state, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&p->state, &state, to, memory_order_acq_rel, memory_order_relaxed);
}

static void list(const struct ctx_birth *b, bool monitor)
{
	struct ctx_line l;

	ctx_line_begin(&l, 'A');
	ctx_line_dec(&l, b->when);
	ctx_line_int(&l, b->tid);
	ctx_line_hex(&l, b->addr);
	ctx_line_dec(&l, b->bytes);
	ctx_line_int(&l, b->stack);
	l.b[l.n++] = ' ';
	l.b[l.n++] = b->how;
	ctx_line_put_by(&l, (unsigned int)b->tid, monitor);
}

/* What waits in @p is listed, and is in the table from here on. The thread itself, or under the lock of ctx_flush. */
static void settle(struct place *p, uint64_t state, bool monitor)
{
	if (!take(p, state, state + LISTING - WAITS))
		return;
	if (ctx_table_add(p->b.addr))
		list(&p->b, monitor);
	atomic_store_explicit(&p->state, state + STEP - WAITS, memory_order_release);
}

/* Credit for the CPU time since the last look. One thread does it. */
static void look(uint64_t now)
{
	uint64_t last = atomic_load_explicit(&looked, memory_order_relaxed), cpu, more;

	if (now - last < LOOK_NS || !atomic_compare_exchange_strong(&looked, &last, now))
		return;
	cpu = mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	more = cpu > looked_cpu ? (cpu - looked_cpu) / every_ns : 0;
	looked_cpu = cpu;
	atomic_store_explicit(&credit, more < AT_ONCE ? (int64_t)more : AT_ONCE, memory_order_relaxed);
}

static struct ctx_waiting *waiting_of(struct ctx_thread *t)
{
	struct ctx_waiting *w = t->waiting;
	int n = atomic_load_explicit(&n_all, memory_order_relaxed);

	if (ctx_likely(w != NULL))
		return w;
	if (n >= WAITING_THREADS)
		return NULL;
	w = ctx_map(sizeof(*w));
	if (!w)
		return NULL;
	n = atomic_fetch_add(&n_all, 1);
	if (n >= WAITING_THREADS) {
		atomic_fetch_sub(&n_all, 1);
		mt_rawunmap(w, sizeof(*w));
		return NULL;
	}
	atomic_store_explicit(&all[n], w, memory_order_release);
	t->waiting = w;
	return w;
}

/* false: it is to be listed at once. ctx_nest is 1 */
static bool ctx_brief_born(const struct ctx_birth *b)
{
	struct ctx_thread *t = ctx_brief_on ? ctx_thread_self() : NULL;
	struct ctx_waiting *w = t ? waiting_of(t) : NULL;
	struct place *set, *oldest = NULL;
	uint64_t state = 0;

	/* one that is in the table died unseen, which this birth will tell */
	if (!w || (ctx_unlikely(atomic_load_explicit(&ctx_deaths_missed, memory_order_relaxed)) && ctx_table_has(b->addr)))
		return false;
	if (atomic_load_explicit(&credit, memory_order_relaxed) <= 0)
		look(b->when);
	set = set_of(w, b->addr);
	for (unsigned int i = 0; i < WAYS; i++) {
		state = atomic_load_explicit(&set[i].state, memory_order_acquire);
		if (!(state & (WAITS | LISTING))) {
			oldest = &set[i];
			break;
		}
		if (state & WAITS && (!oldest || set[i].b.when < oldest->b.when))
			oldest = &set[i];
	}
	if (!oldest)
		return false;
	state = atomic_load_explicit(&oldest->state, memory_order_acquire);
	if (state & WAITS) {
		settle(oldest, state, false);
		state = atomic_load_explicit(&oldest->state, memory_order_acquire);
	}
	if (state & (WAITS | LISTING))
		return false;	/* the monitor is at it */
	oldest->b = *b;
	atomic_store_explicit(&oldest->state, state + STEP + WAITS, memory_order_release);
	return true;
}

/* 1: it is in *b and nowhere else from here on. 0: it does not wait here. -1: it was being listed, ask the table. */
static int out_of(struct ctx_waiting *w, uintptr_t addr, struct ctx_birth *b, bool may_wait)
{
	struct place *set = set_of(w, addr);

	for (unsigned int i = 0; i < WAYS; i++) {
		uint64_t state = atomic_load_explicit(&set[i].state, memory_order_acquire);
		struct mt_patience patience = { 0 };

		if (!(state & (WAITS | LISTING)) || set[i].b.addr != addr)
			continue;
		if (state & WAITS) {
			*b = set[i].b;
			if (take(&set[i], state, state + STEP - WAITS))
				return b->addr == addr;
			state = state + LISTING - WAITS;
		}
		for (unsigned int k = 1; may_wait && atomic_load_explicit(&set[i].state, memory_order_acquire) == state; k++) {
			mt_relax();
			if (k & 63)
				continue;
			mt_sys(SYS_sched_yield);
			if (mt_patience_over(&patience, ctx_now(), 0, 10000000, 2000000000)) {
				atomic_fetch_add_explicit(&ctx_lost_lock, 1, memory_order_relaxed);
				break;
			}
		}
		return -1;
	}
	return 0;
}

bool ctx_brief_out_own(uintptr_t addr, struct ctx_birth *b)
{
	struct ctx_thread *t = ctx_self;

	return t && t->waiting && out_of(t->waiting, addr, b, ctx_nest <= 1) > 0;
}

bool ctx_brief_out(uintptr_t addr, struct ctx_birth *b)
{
	const int n = atomic_load_explicit(&n_all, memory_order_acquire);

	for (int i = 0; i < n && i < WAITING_THREADS; i++) {
		struct ctx_waiting *w = atomic_load_explicit(&all[i], memory_order_acquire);
		const int found = w ? out_of(w, addr, b, ctx_nest <= 1) : 0;

		if (found)
			return found > 0;
	}
	return false;
}

void ctx_brief_unlisted(const struct ctx_birth *b)
{
	struct ctx_thread *t = ctx_nest <= 1 ? ctx_thread_self() : NULL;

	if (ctx_likely(t != NULL)) {
		/* one writer: no locked instruction */
		atomic_store_explicit(&t->brief_count, 1 + atomic_load_explicit(&t->brief_count, memory_order_relaxed),
				      memory_order_relaxed);
		atomic_store_explicit(&t->brief_bytes, b->bytes + atomic_load_explicit(&t->brief_bytes, memory_order_relaxed),
				      memory_order_relaxed);
	} else {
		atomic_fetch_add(&gone_count, 1);
		atomic_fetch_add(&gone_bytes, b->bytes);
	}
}

bool ctx_brief_listed(const struct ctx_birth *b)
{
	/* more than one thread may take the last: of no importance */
	if (atomic_load_explicit(&credit, memory_order_relaxed) > 0 && atomic_fetch_sub_explicit(&credit, 1, memory_order_relaxed) > 0) {
		list(b, false);
		return true;
	}
	ctx_brief_unlisted(b);
	return false;
}

void ctx_brief_back(struct ctx_birth *b, size_t bytes)
{
	if (bytes > b->bytes)
		b->bytes = bytes;	/* the largest it ever had */
	if (!ctx_brief_born(b) && ctx_table_add(b->addr))
		list(b, false);
}

void ctx_brief_settle(bool everything, bool monitor)
{
	const int n = atomic_load_explicit(&n_all, memory_order_acquire);
	const uint64_t now = ctx_now();

	for (int i = 0; i < n && i < WAITING_THREADS; i++) {
		struct ctx_waiting *w = atomic_load_explicit(&all[i], memory_order_acquire);

		for (unsigned int k = 0; w && k < SETS * WAYS; k++) {
			struct place *p = &w->place[k / WAYS][k % WAYS];
			const uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);

			if (state & WAITS && (everything || p->b.when + SETTLED_NS < now))
				settle(p, state, monitor);
		}
	}
}

void ctx_brief_thread_gone(struct ctx_thread *t)
{
	atomic_fetch_add(&gone_count, atomic_exchange(&t->brief_count, 0));
	atomic_fetch_add(&gone_bytes, atomic_exchange(&t->brief_bytes, 0));
}

void ctx_brief_gone(uint64_t *count, uint64_t *bytes)
{
	*count = atomic_load(&gone_count);
	*bytes = atomic_load(&gone_bytes);
}

/* What another thread put in during the fork is listed by the parent, if it lives on there; its death here must be told. */
void ctx_brief_fork_child(void)
{
	for (int i = 0; i < WAITING_THREADS; i++) {
		struct ctx_waiting *w = atomic_load(&all[i]);

		for (unsigned int k = 0; w && k < SETS * WAYS; k++) {
			struct place *p = &w->place[k / WAYS][k % WAYS];
			const uint64_t state = atomic_load(&p->state);

			if (state & (WAITS | LISTING))
				ctx_table_add(p->b.addr);
			atomic_store(&p->state, (state & ~(uint64_t)(WAITS | LISTING)) + STEP);
		}
	}
	atomic_store(&gone_count, 0);
	atomic_store(&gone_bytes, 0);
	atomic_store(&credit, AT_ONCE);
	looked_cpu = 0;
}
