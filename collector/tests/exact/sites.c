// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * sites.c - a program of which each function below is one access, and which prints what each of them did:
 *
 *	block PID START END		addresses, hexadecimal: that is what is accessed
 *	site PID TID FUNCTION WRITE COUNT CLASS:VALUE:SAME:OTHERS ...	as in instructions.csv, for each thread
 *
 * One argument: the scenario. With `routines` it calls memcpy(), too, of which Valgrind sees other instructions.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memtrace.h"

#define BYTES (8ul << 20)
#define CLASSES 11

static char *block;
static int outside;			/* no window is open */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { LOAD1, LOAD8, STORE4, ADD8, LOAD16, ATOMIC8, COPY, N_SITES };
static const char *const names[] = { "load1", "load8", "store4", "add8", "load16", "atomic8", "copy" };

struct known {
	uintptr_t last;
	long n, first[CLASSES], same[CLASSES], others[CLASSES];
};
static __thread struct known mine[N_SITES][2];

static int class_of(long stride, long bytes)
{
	const long d = labs(stride);
	const int c = !d ? 0 : d == bytes ? 1 : d <= 64 ? 2 : d <= 4096 ? 3 : d <= 2 << 20 ? 4 : 5;

	return 5 + (stride < 0 ? -c : c);
}

static void know(int site, int write, const void *p, long bytes)
{
	struct known *k = &mine[site][write];
	const long stride = (long)((uintptr_t)p - k->last);
	const int c = class_of(stride, bytes);

	if (outside)
		return;
	k->last = (uintptr_t)p;
	if (!k->n++)
		return;
	if (!k->same[c] && !k->others[c])
		/* the width of an access is the value of its class, whichever was first */
		k->first[c] = stride;
	if (k->first[c] == stride)
		k->same[c]++;
	else
		k->others[c]++;
}

static void know_copy(int write, const char *p, long bytes)
{
	for (const char *end = p + bytes, *q = p; q < end && !outside; ) {
		long here = 4096 - (long)((uintptr_t)q % 4096);

		if (here > end - q)
			here = end - q;
		for (long i = 0; i < here; i += 16) {
			if (q == p && !i) {
				know(COPY, write, p, 16);
			} else {	/* all behind the first one count as 16 bytes behind the one before */
				mine[COPY][write].last = (uintptr_t)p;
				know(COPY, write, p + 16, 16);
			}
		}
		q += here;
	}
	if (!outside)
		mine[COPY][write].last = (uintptr_t)p + (uintptr_t)((bytes - 1) & ~15l);
}

/* ---- the instructions */

typedef double pair __attribute__((vector_size(16)));
#define SITE __attribute__((noinline, noclone)) static

SITE long load1(const char *p) { return *(const volatile char *)p; }
SITE long load8(const char *p) { return *(const volatile long *)p; }
SITE void store4(char *p) { *(volatile int *)p = 7; }
SITE void add8(char *p) { *(volatile long *)p += 1; }
SITE double load16(const char *p) { return ((pair)*(const volatile pair *)p)[0]; }
SITE long atomic8(char *p) { return atomic_fetch_add((_Atomic long *)p, 1) + 1; }
SITE void copy(char *d, const char *s, size_t n) { memcpy(d, s, n); asm volatile("" : : : "memory"); }

static volatile long sum;

static void load(int site, const char *p)
{
	static const long bytes[] = { [LOAD1] = 1, [LOAD8] = 8, [LOAD16] = 16 };

	know(site, 0, p, bytes[site]);
	sum += site == LOAD1 ? load1(p) : site == LOAD8 ? load8(p) : (long)load16(p);
}

static void store(char *p)
{
	know(STORE4, 1, p, 4);
	store4(p);
}

static void both(int site, char *p)
{
	know(site, 0, p, 8);
	know(site, 1, p, 8);
	if (site == ADD8)
		add8(p);
	else
		sum += atomic8(p);
}

static void work(unsigned seed, int routines)
{
	char *from = block + seed % 7 * 64, *q = block + BYTES / 2;

	for (long i = 0; i < 300; i++)			/* rows, forth and back */
		load(LOAD8, from + i * 8);
	for (long i = 299; i >= 0; i--)
		load(LOAD8, from + i * 8);
	for (long j = 0; j < 3; j++)			/* columns */
		for (long i = 0; i < 200; i++)
			load(LOAD1, from + i * 4800 + j * 8);
	for (long i = 0; i < 500; i++)			/* anywhere */
		store(block + (unsigned)rand_r(&seed) % (BYTES / 4) * 4);
	for (long i = 0; i < 100; i++) {
		both(ADD8, q);				/* one place */
		both(ATOMIC8, q + i % 2 * 32);		/* two in a line */
		load(LOAD16, i % 10 ? q + i * 64 : block);	/* lines, and far away */
	}
	for (long i = 0; i < 5 && routines; i++) {
		const long n = 100 + i * 900;

		know_copy(0, block + i * 10000, n);
		know_copy(1, q + i * 5000, n);
		copy(q + i * 5000, block + i * 10000, (size_t)n);
	}
}

static void say(const char *format, ...)
{
	char line[1000];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (syscall(SYS_write, 1, line, n) != n)
		_exit(9);
}

static void tell_block(void)
{
	say("block %d %lx %lx\n", getpid(), (unsigned long)block, (unsigned long)block + BYTES);
}

static void tell(void)
{
	pthread_mutex_lock(&lock);
	for (int s = 0; s < N_SITES; s++)
		for (int w = 0; w < 2; w++) {
			const struct known *k = &mine[s][w];
			char text[800] = "";
			int n = 0;

			for (int c = 0; c < CLASSES; c++)
				if (k->same[c] || k->others[c])
					n += snprintf(text + n, sizeof(text) - (size_t)n, " %d:%ld:%ld:%ld", c - 5, k->first[c], k->same[c], k->others[c]);
			if (k->n)
				say("site %d %d %s %d %ld%s\n", getpid(), (int)syscall(SYS_gettid), names[s], w, k->n, text);
		}
	pthread_mutex_unlock(&lock);
}

static int with_routines;

static void *worker(void *arg)
{
	work((unsigned)(uintptr_t)arg, with_routines);
	tell();
	return NULL;
}

static void threads(int n)
{
	pthread_t id[64];

	for (int i = 0; i < n; i++)
		if (pthread_create(&id[i], NULL, worker, (void *)(uintptr_t)(i + 1)))
			abort();
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
}

static void child(int level)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		memset(mine, 0, sizeof(mine));
		tell_block();
		work((unsigned)level + 20, with_routines);
		if (level < 2)
			child(level + 1);
		tell();
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	with_routines = argc > 2;
	block = aligned_alloc(4096, BYTES);
	tell_block();
	if (!strcmp(what, "one")) {
		work(1, with_routines);
	} else if (!strcmp(what, "threads")) {
		threads(64);
		work(3, with_routines);
	} else if (!strcmp(what, "churn")) {
		for (int i = 0; i < 8; i++)
			threads(8);
	} else if (!strcmp(what, "fork")) {
		work(4, with_routines);
		child(0);
		work(5, with_routines);
	} else if (!strcmp(what, "windows")) {
		outside = 1;
		work(6, with_routines);
		for (int i = 0; i < 3; i++) {
			memtrace_window_open();
			outside = 0;
			work(7 + (unsigned)i, with_routines);
			outside = 1;
			memtrace_window_close();
			work(9, with_routines);
		}
	} else {
		return 2;
	}
	tell();
	return 0;
}
