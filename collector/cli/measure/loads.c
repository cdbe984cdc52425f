/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/base/util.h"
#include "cli/measure/parts.h"

static volatile uint64_t sink;

static uint64_t next(uint64_t *s)
{
	return *s = *s * 6364136223846793005ull + 1442695040888963407ull;	/* Knuth, MMIX */
}

/*
 * A ring through @n places, @step bytes apart, in random order. Of more than the caches hold one line in each page, and then no line is
 * visited twice: what the caches hold of them is swept out by walking over all of it.
 */
static void **ring(char *m, size_t n, size_t step)
{
	uint32_t *order = mt_alloc(n * sizeof(*order));
	uint64_t seed = 1;
	void **start;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t left = n; left > 1; left--) {
		const size_t i = left - 1, j = (next(&seed) >> 33) % left;
		const uint32_t x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
	for (size_t i = 0; i < n; i++)
		*(void **)(m + order[i] * step) = m + order[(i + 1) % n] * step;
	start = (void **)(m + order[0] * step);
	free(order);
	return start;
}

/* Loads of which each one needs the one before. */
static void chase(struct mt_measuring *m, char *mem, size_t bytes, const char *name, const char *text)
{
	const int far = bytes >= m->large;
	const size_t step = far ? m->page + MT_LINE : MT_LINE, n = bytes / step, most = far ? n / 100 - 1 : MT_PIECES;
	void **p;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	p = ring(mem, n, step);
	for (size_t i = 0; far && i < bytes; i += MT_LINE)
		sink = (uint64_t)mem[i];
	for (size_t i = 0; !far && i < n; i++)
		p = *p;
	mt_measure_start(m);
	while (mt_measure_more(m) && m->pieces.n < most) {
		const uint64_t begin = mt_monotonic_ns();

		for (int i = 0; i < 100; i++)
			p = *p;
		sink = (uint64_t)(uintptr_t)p;
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / 100);
	}
	mt_measure_told(m, name, "ns", text);
}

/* Independent loads at random places: what is left of the latency when they overlap. */
static void scattered(struct mt_measuring *m, const char *mem, size_t bytes, const char *name, const char *text)
{
	const size_t words = bytes / 8;
	uint64_t seed = 1, sum = 0;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	while (mt_measure_more(m)) {
		const uint64_t begin = mt_monotonic_ns();

		for (int i = 0; i < 500; i++)
			sum += ((const uint64_t *)mem)[((next(&seed) >> 32) * words) >> 32];
		sink = sum;
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / 500);
	}
	mt_measure_told(m, name, "ns", text);
}

/* An addition in place each @step bytes over all of it, as sweeps of programs are; by access. At the end it goes on one column further. */
static void sweep(struct mt_measuring *m, char *mem, size_t bytes, size_t step, const char *name, const char *text)
{
	size_t at = 0, column = 0;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	while (mt_measure_more(m)) {
		const uint64_t begin = mt_monotonic_ns();

		for (int i = 0; i < 256; i++) {
			*(volatile double *)(mem + at) += 1;
			at += step;
			if (at + 8 > bytes)
				at = column = (column + 8) % step;
		}
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / 256);
	}
	mt_measure_told(m, name, "ns", text);
}

void mt_measure_loads(struct mt_measuring *m)
{
	const size_t middle = m->l2 * 4;
	char *small = mt_measure_memory(m, m->large, 0), *large = m->huge ? mt_measure_memory(m, m->large, 1) : NULL;

	if (small) {
		chase(m, small, m->l1 / 2, "latency_l1", "a load that waits for the one before, half of the L1 cache");
		chase(m, small, m->l2 / 2, "latency_l2", "the same, half of the L2 cache");
		chase(m, small, middle, "latency_l3", "the same, four times the L2 cache");
		chase(m, small, m->large, "latency_memory", "the same, memory, random pages of normal size");
		scattered(m, small, m->l2 / 2, "random_l2", "a load that waits for none at random places, half of the L2 cache");
		scattered(m, small, middle, "random_l3", "the same, four times the L2 cache");
		scattered(m, small, m->large, "random_memory", "the same, memory, pages of normal size");
		sweep(m, small, m->l2 / 2, 8, "sweep_l2", "an addition in place, 8 bytes further each time, half of the L2 cache");
		sweep(m, small, m->large, 8, "sweep_memory", "the same, memory");
		sweep(m, small, m->large, 64, "sweep_line", "the same, memory, 64 bytes further each time");
		sweep(m, small, m->large, 128, "sweep_2_lines", "the same, memory, 128 bytes further each time");
		sweep(m, small, m->large, 320, "sweep_5_lines", "the same, memory, 320 bytes further each time");
		sweep(m, small, middle, 4160, "sweep_column_l3", "the same, 4160 bytes further each time, four times the L2 cache");
		sweep(m, small, m->large, 12352, "sweep_column", "the same, memory, 12352 bytes further each time");
		sweep(m, small, m->large, 16384, "sweep_column_16k", "the same, memory, 16 KiB further each time");
		munmap(small, m->large);
	}
	if (large) {
		chase(m, large, m->large, "latency_memory_huge", "a load that waits for the one before, memory, huge pages");
		scattered(m, large, m->large, "random_memory_huge", "a load that waits for none at random places, memory, huge pages");
		munmap(large, m->large);
	}
}
