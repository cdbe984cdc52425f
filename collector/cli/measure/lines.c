/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* Two threads on two CPUs. Only pieces count during which the other one is seen to go on, at the beginning and at the end. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cli/base/util.h"
#include "cli/measure/parts.h"

#define APART _Alignas(4 * MT_LINE)
#define RELAXED memory_order_relaxed
#define HALF 1024		/* additions in half of a piece */

/* What both do again and again. */
enum kind { OWN_LINES, ONE_LINE, OWN_WORDS, ONE_WORD };

static struct {
	APART _Atomic int turn;
	APART _Atomic uint64_t mine;	/* beside it, in the same line: */
	_Atomic uint64_t near;
	APART _Atomic uint64_t far;
	APART _Atomic uint64_t progress;	/* of the other one, seldom written */
	APART _Atomic int stop;
	int cpu;
	enum kind kind;
} s;

static void *answers(void *arg)
{
	(void)arg;
	mt_measure_pin(s.cpu);
	for (;;) {
		while (!atomic_load_explicit(&s.turn, RELAXED))
			if (atomic_load_explicit(&s.stop, RELAXED))
				return NULL;
		atomic_store_explicit(&s.turn, 0, RELAXED);
	}
}

static void begin(enum kind kind, int cpu)
{
	atomic_store(&s.stop, 0);
	atomic_store(&s.turn, 0);
	atomic_store(&s.progress, 0);
	s.kind = kind;
	s.cpu = cpu;
}

/* A line that goes to the other core and comes back: half of that. */
static void handed_over(struct mt_measuring *m, const char *name, const char *text)
{
	pthread_t t;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	begin(OWN_LINES, m->cpu[1]);
	if (pthread_create(&t, NULL, answers, NULL))
		return mt_measure_refused(m, name, "ns", text, "no thread could be started");
	mt_measure_start(m);
	while (mt_measure_more(m)) {
		const uint64_t from = mt_monotonic_ns();

		for (int i = 0; i < 16; i++) {
			atomic_store_explicit(&s.turn, 1, RELAXED);
			while (atomic_load_explicit(&s.turn, RELAXED))
				;
		}
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - from) / 32);
	}
	atomic_store(&s.stop, 1);
	pthread_join(t, NULL);
	mt_measure_told(m, name, "ns", text);
}

static inline void add(_Atomic uint64_t *word)
{
	atomic_store_explicit(word, atomic_load_explicit(word, RELAXED) + 1, RELAXED);
}

static inline void once(int other)
{
	switch (s.kind) {
	case OWN_LINES:
		return add(other ? &s.far : &s.mine);
	case ONE_LINE:
		return add(other ? &s.near : &s.mine);
	case OWN_WORDS:
		atomic_fetch_add(other ? &s.far : &s.mine, 1);
		return;
	case ONE_WORD:
		atomic_fetch_add(&s.mine, 1);
		return;
	}
}

static void *writes(void *arg)
{
	(void)arg;
	mt_measure_pin(s.cpu);
	while (!atomic_load_explicit(&s.stop, RELAXED)) {
		for (int i = 0; i < 16; i++)
			once(1);
		add(&s.progress);
	}
	return NULL;
}

static void beside(struct mt_measuring *m, enum kind kind, const char *name, const char *text)
{
	pthread_t t;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	begin(kind, m->cpu[1]);
	if (pthread_create(&t, NULL, writes, NULL))
		return mt_measure_refused(m, name, "ns", text, "no thread could be started");
	mt_measure_start(m);
	while (mt_measure_more(m)) {
		const uint64_t first = atomic_load_explicit(&s.progress, RELAXED), from = mt_monotonic_ns();
		uint64_t middle, to;

		for (int i = 0; i < HALF; i++)
			once(0);
		middle = atomic_load_explicit(&s.progress, RELAXED);
		for (int i = 0; i < HALF; i++)
			once(0);
		to = mt_monotonic_ns();
		if (middle != first && atomic_load_explicit(&s.progress, RELAXED) != middle)
			mt_piece(&m->pieces, (double)(to - from) / (2 * HALF));
	}
	atomic_store(&s.stop, 1);
	pthread_join(t, NULL);
	mt_measure_told(m, name, "ns", text);
}

void mt_measure_lines(struct mt_measuring *m)
{
	static const struct {
		enum kind kind;
		const char *name, *text;
	} parts[] = {
		{ OWN_LINES, "write_own_line", "an addition in memory while another CPU does so in another line" },
		{ ONE_LINE, "write_shared_line", "an addition in memory while another CPU does so in the same line" },
		{ OWN_WORDS, "atomic_own", "an atomic addition while another CPU does so in another line" },
		{ ONE_WORD, "atomic_shared", "an atomic addition while another CPU does so in the same word" },
	};
	static const char *const way = "a line that another core has written comes to this one";

	if (m->n_cpus < 2)
		mt_measure_refused(m, "line_transfer", "ns", way, "there is one CPU");
	else
		handed_over(m, "line_transfer", way);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (m->n_cpus < 2)
			mt_measure_refused(m, parts[i].name, "ns", parts[i].text, "there is one CPU");
		else
			beside(m, parts[i].kind, parts[i].name, parts[i].text);
	}
}
