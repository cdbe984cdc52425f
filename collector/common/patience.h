// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * patience.h - for how long to wait for another thread of the same process, on a machine whose
 * processors are sometimes taken away.
 *
 * A deadline by the clock would pass while the whole process stands still (a virtual machine that
 * is paused, CPU bandwidth control, SIGSTOP): then the other thread had no time either. So the time
 * between two looks counts as @step_ns at most. And as long as the other thread makes progress,
 * however slowly, nothing counts: what it works at is finite.
 */
#ifndef MEMTRACE_PATIENCE_H
#define MEMTRACE_PATIENCE_H

#include <stdint.h>

/* All zeroes before the first look. */
struct mt_patience {
	uint64_t looked_ns, waited_ns;
	uint64_t progress;
};

/* A look at the time @now_ns (never 0). Not 0: the other thread made no progress for @limit_ns. */
static inline int mt_patience_over(struct mt_patience *p, uint64_t now_ns, uint64_t progress,
				   uint64_t step_ns, uint64_t limit_ns)
{
	uint64_t since = p->looked_ns ? now_ns - p->looked_ns : 0;

	if (!p->looked_ns || progress != p->progress)
		p->waited_ns = 0;
	else
		p->waited_ns += since < step_ns ? since : step_ns;
	p->looked_ns = now_ns;
	p->progress = progress;
	return p->waited_ns > limit_ns;
}

#endif
