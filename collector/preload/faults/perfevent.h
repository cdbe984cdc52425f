// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * perfevent.h - a perf software event of a thread, and of the threads that it will make, on one CPU, and the bytes of its ring. On older
 * kernels it is opened with what they know. Called by the monitor.
 */
#ifndef MEMTRACE_PERFEVENT_H
#define MEMTRACE_PERFEVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct perf_event_attr;

/* Highest number of a CPU that may ever be online + 1. */
int zap_possible_cpus(void);

/*
 * Opens the event of @a for the thread @tid and all threads it will make, but no children, until an exec. The caller fills in which event,
 * what is in a sample and when the ring wakes somebody; the rest is set here. *@counts_lost asks for losses, and is cleared where the
 * kernel does not count them (before 6.0). The descriptor or negative errno.
 */
long zap_perf_event(struct perf_event_attr *a, int tid, int cpu, int *counts_lost);

/* How many records of the event @fd the kernel had no room for until now, -1: not known. */
int64_t zap_perf_event_lost(int fd);

/* @n bytes at position @pos of a ring of @data_bytes, a power of two; they may wrap. */
static inline void zap_ring_copy(const char *data, size_t data_bytes, uint64_t pos, void *to, size_t n)
{
	size_t off = pos & (data_bytes - 1), first = data_bytes - off;

	if (first > n)
		first = n;
	memcpy(to, data + off, first);
	memcpy((char *)to + first, data, n - first);
}

#endif
