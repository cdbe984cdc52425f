/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * planted.h - what the planted programs have in common.
 *
 * usage: PROGRAM [--repaired] [-t THREADS] [-c SECONDS]
 *
 * A program works in rounds until it has used SECONDS of CPU time (all threads
 * together), so that a loaded machine sees as much work as an idle one.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE 4096

struct planted {
	int threads;
	bool repaired;
	double seconds;
	double begin;
	/* set by one thread between two barriers */
	volatile bool more;
	pthread_barrier_t barrier;
	void (*work)(struct planted *p, int thread);
};

static double planted_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static inline struct planted planted_start(int argc, char **argv)
{
	struct planted p;

	memset(&p, 0, sizeof(p));
	p.threads = 4;
	p.seconds = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--repaired")) {
			p.repaired = true;
		} else if (!strcmp(argv[i], "-t") && i + 1 < argc) {
			p.threads = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "-c") && i + 1 < argc) {
			p.seconds = atof(argv[++i]);
		} else {
			fprintf(stderr, "usage: %s [--repaired] [-t THREADS] [-c SECONDS]\n", argv[0]);
			exit(2);
		}
	}
	if (p.threads < 1 || p.threads > 256) {
		fprintf(stderr, "%s: 1 to 256 threads\n", argv[0]);
		exit(2);
	}
	p.begin = planted_cpu();
	return p;
}

/* Whether there is a further round. One thread asks. */
static inline bool planted_more(struct planted *p)
{
	return p->more = planted_cpu() - p->begin < p->seconds;
}

struct planted_thread {
	struct planted *p;
	int thread;
};

static inline void *planted_thread(void *arg)
{
	struct planted_thread *t = (struct planted_thread *)arg;
	struct planted *p = t->p;

	do {
		p->work(p, t->thread);
		if (pthread_barrier_wait(&p->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			planted_more(p);
		pthread_barrier_wait(&p->barrier);
	} while (p->more);
	return NULL;
}

/* Rounds of @work in all threads; the main thread only waits. */
static inline void planted_pthreads(struct planted *p, void (*work)(struct planted *, int))
{
	pthread_t id[256];
	struct planted_thread t[256];

	p->work = work;
	pthread_barrier_init(&p->barrier, NULL, (unsigned)p->threads);
	for (int k = 0; k < p->threads; k++) {
		t[k].p = p;
		t[k].thread = k;
		if (pthread_create(&id[k], NULL, planted_thread, &t[k]))
			abort();
	}
	for (int k = 0; k < p->threads; k++)
		pthread_join(id[k], NULL);
}

/* Part of [0, n) of a thread. */
static inline long planted_from(const struct planted *p, int thread, long n)
{
	return n * thread / p->threads;
}

#endif
