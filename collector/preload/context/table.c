/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * table.c - the set of the addresses of recorded, living blocks.
 *
 * Open addressing with linear probing, sharded by a hash of the address. Each
 * free() of the program asks "is it recorded?", so that the question takes no
 * lock: a reader takes the sequence number of the shard before and after and
 * asks again when a writer was active. Whoever frees a block has got its
 * address from the thread that allocated it, so that it also sees the table
 * that held it; "not there" is therefore exact, "there" is checked again under
 * the lock of the shard.
 *
 * Deletion moves the following entries back, so there are no tombstones. A
 * table grows by doubling; the old one stays mapped because a reader may be in
 * it (all old ones together are smaller than the current one).
 */
#include "common/arch.h"
#include "preload/context/ctx.h"

#define FIRST_SLOTS 1024u

struct slots {
	size_t mask;
	_Atomic uintptr_t key[];
};

struct shard {
	_Alignas(64) _Atomic int lock;
	_Atomic unsigned int seq;
	_Atomic(struct slots *) slots;
	size_t used;		/* under lock */
};

static struct shard *shards;	/* raw-mapped: not in traced memory */

static uint64_t mix(uintptr_t a)
{
	uint64_t h = (uint64_t)a >> 4;

	h *= 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

static struct shard *shard_of(uint64_t h)
{
	return &shards[(h >> 40) & (CTX_SHARDS - 1)];
}

static struct slots *make_slots(size_t n)
{
	struct slots *s = ctx_map(sizeof(*s) + n * sizeof(s->key[0]));

	if (s)
		s->mask = n - 1;
	return s;
}

bool ctx_table_init(void)
{
	shards = ctx_map(sizeof(*shards) * CTX_SHARDS);
	if (!shards)
		return false;
	for (int i = 0; i < CTX_SHARDS; i++) {
		struct slots *s = make_slots(FIRST_SLOTS);

		if (!s)
			return false;
		atomic_store(&shards[i].slots, s);
	}
	return true;
}

static uintptr_t get(struct slots *s, size_t i)
{
	return atomic_load_explicit(&s->key[i], memory_order_relaxed);
}

static void put(struct slots *s, size_t i, uintptr_t v)
{
	atomic_store_explicit(&s->key[i], v, memory_order_relaxed);
}

bool ctx_table_has(uintptr_t addr)
{
	uint64_t h = mix(addr);
	struct shard *sh = shard_of(h);

	for (int tries = 0; tries < 1000; tries++) {
		unsigned int seq = atomic_load_explicit(&sh->seq, memory_order_acquire);
		struct slots *s = atomic_load_explicit(&sh->slots, memory_order_acquire);
		bool found = false;

		if (seq & 1) {
			mt_relax();
			continue;
		}
		for (size_t i = h & s->mask, n = 0; n <= s->mask; i = (i + 1) & s->mask, n++) {
			uintptr_t k = get(s, i);

			if (k == addr) {
				found = true;
				break;
			}
			if (!k)
				break;
		}
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&sh->seq, memory_order_relaxed) == seq)
			return found;
	}
	return true;		/* undecided: let the caller look under the lock */
}

/* Caller holds the lock. */
static void write_begin(struct shard *sh)
{
	atomic_store_explicit(&sh->seq, atomic_load_explicit(&sh->seq, memory_order_relaxed) + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void write_end(struct shard *sh)
{
	atomic_store_explicit(&sh->seq, atomic_load_explicit(&sh->seq, memory_order_relaxed) + 1, memory_order_release);
}

static void insert(struct slots *s, uint64_t h, uintptr_t addr)
{
	size_t i = h & s->mask;

	while (get(s, i))
		i = (i + 1) & s->mask;
	put(s, i, addr);
}

/* Caller holds the lock. */
static bool grow(struct shard *sh)
{
	struct slots *old = atomic_load_explicit(&sh->slots, memory_order_relaxed);
	struct slots *s = make_slots((old->mask + 1) * 2);

	if (!s)
		return false;
	for (size_t i = 0; i <= old->mask; i++) {
		uintptr_t k = get(old, i);

		if (k)
			insert(s, mix(k), k);
	}
	write_begin(sh);
	atomic_store_explicit(&sh->slots, s, memory_order_release);
	write_end(sh);
	return true;
}

static size_t find(struct slots *s, uint64_t h, uintptr_t addr)
{
	for (size_t i = h & s->mask, n = 0; n <= s->mask; i = (i + 1) & s->mask, n++) {
		uintptr_t k = get(s, i);

		if (k == addr)
			return i;
		if (!k)
			break;
	}
	return SIZE_MAX;
}

bool ctx_table_add(uintptr_t addr)
{
	uint64_t h = mix(addr);
	struct shard *sh = shard_of(h);
	struct slots *s;
	bool ok = true;

	if (!ctx_lock(&sh->lock))
		return false;
	s = atomic_load_explicit(&sh->slots, memory_order_relaxed);
	if (find(s, h, addr) == SIZE_MAX) {
		if (sh->used * 10 >= s->mask * 6) {
			if (grow(sh))
				s = atomic_load_explicit(&sh->slots, memory_order_relaxed);
			else if (sh->used * 10 >= s->mask * 9)
				ok = false;
		}
		if (ok) {
			write_begin(sh);
			insert(s, h, addr);
			sh->used++;
			write_end(sh);
		} else {
			atomic_fetch_add(&ctx_lost_memory, 1);
		}
	}
	ctx_unlock(&sh->lock);
	return ok;
}

bool ctx_table_remove(uintptr_t addr)
{
	uint64_t h = mix(addr);
	struct shard *sh = shard_of(h);
	struct slots *s;
	size_t i, j;
	bool found = false;

	if (!ctx_lock(&sh->lock))
		return false;
	s = atomic_load_explicit(&sh->slots, memory_order_relaxed);
	i = find(s, h, addr);
	if (i != SIZE_MAX) {
		write_begin(sh);
		/* close the gap: an entry may move to i when its home is not
		 * cyclically in (i, j] */
		for (j = (i + 1) & s->mask; get(s, j); j = (j + 1) & s->mask) {
			size_t home = mix(get(s, j)) & s->mask;

			if (((j - home) & s->mask) >= ((j - i) & s->mask)) {
				put(s, i, get(s, j));
				i = j;
			}
		}
		put(s, i, 0);
		sh->used--;
		write_end(sh);
		found = true;
	}
	ctx_unlock(&sh->lock);
	return found;
}

size_t ctx_table_count(void)
{
	size_t n = 0;

	for (int i = 0; i < CTX_SHARDS; i++)
		n += shards[i].used;
	return n;
}

void ctx_table_lock_all(void)
{
	for (int i = 0; i < CTX_SHARDS; i++)
		ctx_lock(&shards[i].lock);
}

void ctx_table_unlock_all(void)
{
	for (int i = 0; i < CTX_SHARDS; i++)
		ctx_unlock(&shards[i].lock);
}
