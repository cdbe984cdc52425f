// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: memtrace contributors
/* session.c - what all parts of the module ask for: counters and memory of a session, and the queue for what can wait. */
#include "memtrace.h"

#include <linux/percpu.h>
#include <linux/workqueue.h>

struct workqueue_struct *mtr_workqueue;

/*
 * Memory for tasks, address spaces, hashes and notes, which a program can make grow: true when it may be taken. It is
 * a part of the quota, and of nobody's of a privileged session. Any context.
 */
bool mtr_reserve(struct mtr_session *s, size_t bytes)
{
	if (s->privileged || atomic_long_sub_return(bytes, &s->reserve) >= 0)
		return true;
	atomic_long_add(bytes, &s->reserve);
	return false;
}

/* Any context. */
void mtr_unreserve(struct mtr_session *s, size_t bytes)
{
	if (!s->privileged)
		atomic_long_add(bytes, &s->reserve);
}

static u64 counted(const struct mtr_session *s, unsigned int c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(s->counter, cpu)[c]);	/* others count on */
	return sum;
}

/*
 * What is counted in each fault is one counter, that of its kind, see count_kind(): faults are the sum of the kinds. At the
 * place of their number are those of them under the lock of the mappings: the rest was under the lock of a VMA.
 */
u64 mtr_counter(const struct mtr_session *s, unsigned int c)
{
	u64 faults, others;

	if (c != MEMTRACE_C_FAULTS && c != MEMTRACE_C_VMA_LOCK)
		return counted(s, c);
	others = c == MEMTRACE_C_VMA_LOCK ? counted(s, MEMTRACE_C_FAULTS) : 0;
	faults = counted(s, MEMTRACE_C_HIDDEN) + counted(s, MEMTRACE_C_REAL) + counted(s, MEMTRACE_C_WRITE_PROTECT) +
		 counted(s, MEMTRACE_C_SPURIOUS) + counted(s, MEMTRACE_C_HUGE);
	return faults > others ? faults - others : 0;
}
