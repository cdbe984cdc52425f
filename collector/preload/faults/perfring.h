// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * perfring.h - every page fault of the process that was served, from two perf software events, one
 * ring per CPU. Opened, read and closed by the monitor thread.
 */
#ifndef MEMTRACE_PERFRING_H
#define MEMTRACE_PERFRING_H

#include <stddef.h>
#include <stdint.h>

#include "preload/faults/rw.h"

struct zap_fault {
	uint64_t ip, time, addr;	/* time: when it was served */
	int pid, tid, cpu;
	int kernel;		/* the fault happened in kernel mode; regs are the kernel's */
	struct zap_regs regs;
};

struct zap_ring {
	int fd, major_fd, cpu;
	int full;		/* was found full, or told of losses, since they were counted */
	uint64_t lost, major_lost;	/* that the kernel had counted then */
	void *map;		/* control page, then the data */
};

#define ZAP_FAULT_NS_MIN 1000	/* a CPU makes events of faults not faster than this */
#define ZAP_SAMPLE_BYTES(with_regs) ((with_regs) ? 48 + 8 * ZAP_N_REGS : 40)	/* of a fault in a ring */

struct zap_perf {
	struct zap_ring *ring;
	int nrings, ncpus;
	size_t data_bytes;	/* of one ring, a power of two of pages */
	int with_kernel;	/* faults in kernel mode are reported too */
	int with_regs;
	uint64_t lost;		/* events the kernel had no room for, since the last reset by the caller */
	int full;		/* a ring was found full since then */
	/* How many events of @fd the kernel had no room for until now, -1 = not known. NULL before Linux 6.0. */
	int64_t (*read_lost)(int fd);
	uint64_t told;		/* without it: lost events that were told before the kernel did */
	uint64_t bad;		/* records that could not be understood; reading resumed at the head */
};

#define ZAP_RING_PAGE 4096u	/* sizes of rings are told in pages of so many bytes, whatever the kernel's are */

/*
 * Opens the rings for the thread @tid and all threads it will create, with
 * @ring_pages of data per CPU or as many as the kernel grants (halving).
 * 0 or negative errno; *what then says which step failed.
 */
int zap_perf_open(struct zap_perf *p, int tid, uint32_t ring_pages, const char **what);
void zap_perf_close(struct zap_perf *p);

/*
 * Calls fn for the faults up to time @until that are in the rings and consumes
 * them; later ones stay. Per CPU in order of time, CPUs one after the other.
 * Returns the number of faults.
 */
uint64_t zap_perf_read(struct zap_perf *p, uint64_t until,
		       void (*fn)(void *arg, const struct zap_fault *f), void *arg);

/* Asks the kernel what was lost until now in rings that were full, or in @all. Before Linux 6.0: nothing. */
void zap_perf_count_lost(struct zap_perf *p, int all);
/*
 * Events lost between the last zap_perf_count_lost() and the one before, and resets. Before Linux 6.0: since the
 * last call, at least 1 when a ring was full; how many, the kernel tells with the next event, in an interval of which it
 * is not true.
 */
uint64_t zap_perf_take_lost(struct zap_perf *p);
/* How long a half of a ring lasts when its CPU faults as fast as it can. */
uint64_t zap_perf_half_ns(const struct zap_perf *p);
/* Is a ring more than half full, so that events may be lost soon, or are? Any thread. */
int zap_perf_is_tight(const struct zap_perf *p);
/* Is more than 1/@parts of a ring in use? Any thread. */
int zap_perf_is_filled(const struct zap_perf *p, unsigned int parts);

#endif
