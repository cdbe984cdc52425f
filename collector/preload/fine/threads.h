// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * threads.h - the threads of the program that had faults: short numbers for them, their faults and their CPU time. That of the busiest
 * one is the fine clock; and what a fault costs is paid by the thread that has it. No system calls; who uses it tells the CPU times. Used
 * by the monitor.
 */
#ifndef MEMTRACE_FINE_THREADS_H
#define MEMTRACE_FINE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#define FINE_THREADS 16384u	/* at a time; a power of two. The table begins anew when more came and went */
#define FINE_ASKED 64u		/* whose CPU time is asked for at a time */

struct fine_thread {
	int tid;
	int gone;		/* it has no CPU time any more */
	uint64_t cpu_ns;	/* when it was asked last */
	uint64_t tick_ns;	/* when the running bin began */
	uint64_t mark_ns;	/* when the running interval began */
	uint64_t faults;	/* in the interval, that came of complete looks */
};

struct fine_threads {
	struct fine_thread *t;
	uint16_t *slot;		/* tid -> index + 1, open addressing */
	size_t n;
	size_t next;		/* asked in turn, where there are many */
	uint64_t (*cpu_of)(int tid);	/* ns, 0: it is gone */
};

/* 0 or -ENOMEM */
int fine_threads_init(struct fine_threads *s, uint64_t (*cpu_of)(int tid));
void fine_threads_free(struct fine_threads *s);
/* Index + 1 of the thread; 0: there is no room, and all are to be forgotten (fine_threads_forget). */
uint16_t fine_threads_index(struct fine_threads *s, int tid);
/* All but what counts: indices mean others from now on. */
void fine_threads_forget(struct fine_threads *s);

/* Asks for CPU times: of all threads, or of FINE_ASKED of them, those that used most among them. */
void fine_threads_ask(struct fine_threads *s);
/* A bin begins. */
void fine_threads_tick(struct fine_threads *s);
/* The most CPU time that a thread has used since then, as far as was asked. */
uint64_t fine_threads_since_tick(const struct fine_threads *s);

/*
 * The interval ends: the thread that has the most faults for its CPU time is *faults and *cpu_ns, of those with at least a tenth of the
 * CPU time of the busiest one; the busiest one has *most_ns. What counts begins anew.
 */
void fine_threads_interval(struct fine_threads *s, uint64_t *faults, uint64_t *cpu_ns, uint64_t *most_ns);

#endif
