/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cli/base/util.h"
#include "cli/measure/parts.h"

#define PIECE (1u << 17)	/* bytes */

static volatile uint64_t sink;

/* A thread that reads its part of the memory again and again. */
struct reader {
	pthread_t thread;
	const char *mem;
	size_t bytes;
	int cpu;
	_Atomic int *stop;
	_Alignas(2 * MT_LINE) _Atomic uint64_t pieces;	/* its progress */
};

static void read_all(const char *m, size_t n)
{
	const uint64_t *q = (const uint64_t *)(const void *)m;
	uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

	for (size_t i = 0; i < n / 8; i += 4) {
		s0 += q[i];
		s1 += q[i + 1];
		s2 += q[i + 2];
		s3 += q[i + 3];
	}
	sink = s0 + s1 + s2 + s3;
}

static void write_all(char *m, size_t n)
{
	volatile uint64_t *q = (volatile uint64_t *)(void *)m;

	for (size_t i = 0; i < n / 8; i++)
		q[i] = i;
}

static void *reads(void *arg)
{
	struct reader *r = arg;
	size_t at = 0;

	mt_measure_pin(r->cpu);
	while (!atomic_load(r->stop)) {
		read_all(r->mem + at, PIECE / 2);
		atomic_fetch_add_explicit(&r->pieces, 1, memory_order_relaxed);
		at = (at + PIECE / 2) % r->bytes;
	}
	return NULL;
}

static void alone(struct mt_measuring *m, char *mem, int write, const char *name, const char *text)
{
	size_t at = 0;

	if (!mt_measure_begin(m, name, "ns/B", text))
		return;
	for (; mt_measure_more(m); at = (at + PIECE) % m->large) {
		const uint64_t begin = mt_monotonic_ns();

		if (write)
			write_all(mem + at, PIECE);
		else
			read_all(mem + at, PIECE);
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / PIECE);
	}
	mt_measure_told(m, name, "ns/B", text);
}

/* Whether all others have made progress since @was, which is brought up to date. */
static int all_went_on(struct reader *r, int n, uint64_t *was)
{
	int yes = 1;

	for (int i = 0; i < n; i++) {
		const uint64_t now = atomic_load_explicit(&r[i].pieces, memory_order_relaxed);

		yes &= now != was[i];
		was[i] = now;
	}
	return yes;
}

/* All CPUs read, each its own part; only pieces count in which each of the others went on. */
static void together(struct mt_measuring *m, const char *mem, const char *name, const char *text)
{
	const int others = m->n_cpus - 1;
	const size_t part = m->large / (size_t)m->n_cpus / PIECE * PIECE;
	struct reader *r;
	uint64_t *was, now;
	_Atomic int stop = 0;
	size_t at = 0;
	int n = 0;

	if (!mt_measure_begin(m, name, "ns/B", text))
		return;
	if (!others || !part) {
		mt_measure_refused(m, name, "ns/B", text, others ? "more CPUs than memory to read" : "there is one CPU");
		return;
	}
	r = aligned_alloc(2 * MT_LINE, (size_t)others * sizeof(*r));
	was = mt_alloc((size_t)others * sizeof(*was));
	for (; r && n < others; n++) {
		r[n] = (struct reader){ .mem = mem + part * (size_t)(n + 1), .bytes = part, .cpu = m->cpu[n + 1], .stop = &stop };
		if (pthread_create(&r[n].thread, NULL, reads, &r[n]))
			break;
	}
	mt_measure_start(m);
	for (; n == others && mt_measure_more(m); at = (at + PIECE) % part) {
		const uint64_t begin = mt_monotonic_ns();

		read_all(mem + at, PIECE);
		now = mt_monotonic_ns();
		if (all_went_on(r, n, was))
			mt_piece(&m->pieces, (double)(now - begin) / PIECE);
	}
	atomic_store(&stop, 1);
	while (n-- > 0)
		pthread_join(r[n].thread, NULL);
	free(r);
	free(was);
	mt_measure_told(m, name, "ns/B", text);
}

void mt_measure_streams(struct mt_measuring *m)
{
	char *mem = mt_measure_memory(m, m->large, 0);

	if (!mem)
		return;
	alone(m, mem, 0, "read_1", "reading memory in order, one CPU");
	alone(m, mem, 1, "write_1", "writing memory in order, one CPU");
	together(m, mem, "read_all", "reading memory in order, of one CPU while all read");
	munmap(mem, m->large);
}
