// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/threads.h"

#include <string.h>

#include "common/rawsys.h"

#define SLOTS (FINE_THREADS * 2)

int fine_threads_init(struct fine_threads *s, uint64_t (*cpu_of)(int tid))
{
	memset(s, 0, sizeof(*s));
	s->cpu_of = cpu_of;
	s->t = mt_rawmap(FINE_THREADS * sizeof(*s->t));
	s->slot = mt_rawmap(SLOTS * sizeof(*s->slot));
	return s->t && s->slot ? 0 : -ENOMEM;
}

void fine_threads_free(struct fine_threads *s)
{
	mt_rawunmap(s->t, FINE_THREADS * sizeof(*s->t));
	mt_rawunmap(s->slot, SLOTS * sizeof(*s->slot));
	memset(s, 0, sizeof(*s));
}

static size_t slot_of(const struct fine_threads *s, int tid)
{
	size_t h = (uint32_t)tid * 0x9e3779b1u % SLOTS;

	while (s->slot[h] && s->t[s->slot[h] - 1].tid != tid)
		h = (h + 1) % SLOTS;
	return h;
}

uint16_t fine_threads_index(struct fine_threads *s, int tid)
{
	const size_t h = slot_of(s, tid);

	if (s->slot[h]) {
		s->t[s->slot[h] - 1].gone = 0;	/* numbers of threads come again */
		return s->slot[h];
	}
	if (s->n == FINE_THREADS)
		return 0;
	s->t[s->n] = (struct fine_thread){ .tid = tid, .cpu_ns = s->cpu_of(tid) };
	s->t[s->n].tick_ns = s->t[s->n].mark_ns = s->t[s->n].cpu_ns;
	s->slot[h] = (uint16_t)++s->n;
	return s->slot[h];
}

void fine_threads_forget(struct fine_threads *s)
{
	memset(s->slot, 0, SLOTS * sizeof(*s->slot));
	s->n = s->next = 0;
}

static void ask(struct fine_threads *s, struct fine_thread *t)
{
	const uint64_t cpu = t->gone ? 0 : s->cpu_of(t->tid);

	if (!cpu) {
		t->gone = 1;
		return;
	}
	if (cpu < t->cpu_ns)	/* another thread with its number */
		t->tick_ns = t->mark_ns = 0;
	t->cpu_ns = cpu;
}

static uint64_t in_bin(const struct fine_thread *t)
{
	return t->cpu_ns > t->tick_ns ? t->cpu_ns - t->tick_ns : 0;
}

void fine_threads_ask(struct fine_threads *s)
{
	uint64_t most = 0;
	size_t asked = 0;

	if (s->n <= FINE_ASKED) {
		for (size_t i = 0; i < s->n; i++)
			ask(s, &s->t[i]);
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		if (in_bin(&s->t[i]) > most)
			most = in_bin(&s->t[i]);
	for (size_t i = 0; i < s->n && most && asked < FINE_ASKED / 2; i++)
		if (in_bin(&s->t[i]) >= most / 2) {
			ask(s, &s->t[i]);
			asked++;
		}
	for (size_t i = 0; i < s->n && asked < FINE_ASKED; i++, s->next = (s->next + 1) % s->n)
		if (!s->t[s->next].gone) {
			ask(s, &s->t[s->next]);
			asked++;
		}
}

void fine_threads_tick(struct fine_threads *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->t[i].tick_ns = s->t[i].cpu_ns;
}

uint64_t fine_threads_since_tick(const struct fine_threads *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->n; i++)
		if (in_bin(&s->t[i]) > most)
			most = in_bin(&s->t[i]);
	return most;
}

void fine_threads_interval(struct fine_threads *s, uint64_t *faults, uint64_t *cpu_ns, uint64_t *most_ns)
{
	*faults = *cpu_ns = *most_ns = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct fine_thread *t = &s->t[i];

		if (t->cpu_ns > t->mark_ns && t->cpu_ns - t->mark_ns > *most_ns)
			*most_ns = t->cpu_ns - t->mark_ns;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct fine_thread *t = &s->t[i];
		const uint64_t cpu = t->cpu_ns > t->mark_ns ? t->cpu_ns - t->mark_ns : 0;

		if (cpu && cpu >= *most_ns / 10 && (!*cpu_ns || (double)t->faults / (double)cpu > (double)*faults / (double)*cpu_ns)) {
			*faults = t->faults;
			*cpu_ns = cpu;
		}
		t->faults = 0;
		t->mark_ns = t->cpu_ns;
	}
}
