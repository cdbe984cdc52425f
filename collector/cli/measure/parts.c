/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/measure/parts.h"

#include <sched.h>
#include <sys/mman.h>

#include "cli/base/util.h"

#define LATE "no time was left: the machine is busy"

void mt_measure_start(struct mt_measuring *m)
{
	m->end_ns = mt_monotonic_ns() + m->part_ns;
	m->last_ns = m->end_ns + 2 * m->part_ns;
}

bool mt_measure_begin(struct mt_measuring *m, const char *name, const char *unit, const char *text)
{
	m->pieces.n = 0;
	mt_measure_start(m);
	if (mt_monotonic_ns() < m->until_ns)
		return true;
	mt_measure_refused(m, name, unit, text, LATE);
	return false;
}

bool mt_measure_more(const struct mt_measuring *m)
{
	const uint64_t now = mt_monotonic_ns();

	return m->pieces.n < MT_PIECES && (now < m->end_ns || (m->pieces.n < 2 * MT_FEWEST_PIECES && now < m->last_ns));
}

void mt_measure_told(struct mt_measuring *m, const char *name, const char *unit, const char *text)
{
	const struct mt_figure f = mt_figure_of(&m->pieces);

	json_object_set_new(m->figures, name, mt_figure_json(&f, unit, text));
}

void mt_measure_refused(struct mt_measuring *m, const char *name, const char *unit, const char *text, const char *why)
{
	const struct mt_figure f = { .refused = why };

	json_object_set_new(m->figures, name, mt_figure_json(&f, unit, text));
}

void mt_measure_pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

char *mt_measure_memory(const struct mt_measuring *m, size_t bytes, int huge)
{
	const size_t step = m->huge ? m->huge : m->page;
	/* what stands in front and behind is never touched: it costs addresses only */
	char *all = mmap(NULL, bytes + step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

	if (all == MAP_FAILED)
		return NULL;
	p = (char *)(((uintptr_t)all + step - 1) & ~(uintptr_t)(step - 1));
	if (p > all)
		munmap(all, (size_t)(p - all));
	if (p - all < (ptrdiff_t)step)
		munmap(p + bytes, step - (size_t)(p - all));
	madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += m->page)
		p[i] = 1;
	return p;
}
