// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * uses.c - a program that notes each use of a page, so that what the fine clock says of it can be compared. uses NOTES CPU_MS [PLAN]
 *
 * Two threads do a fixed amount of work, CPU_MS of CPU time each. PLAN is a word:
 *
 *	phases	each sweeps 8 MiB of its own and reads a shared table of 2 MiB; thread 0 uses 4 MiB more, ten times for 3 % of the run
 *	wander	each uses 1 MiB of 32 MiB, which wanders
 *	bursts	8 MiB are used in a burst of a fifth of the time, 256 KiB always
 *	hash	random pages of 8 MiB, by both, a quarter written
 *	blocks	a new block of 2 MiB for each sweep, freed after it; half a MiB stays
 *
 * To the file NOTES: a line "structure START END NAME" for each (hexadecimal), an empty line, then records of 16 bytes: time (ns of
 * CLOCK_MONOTONIC), page (address / 4096) in the low 48 bits, above them 1 for a write. The memory of the notes is a structure "notes".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define NOTES (1ul << 24)
#define PAUSE 600	/* steps of work beside the uses of a page: as a program that computes */

struct note {
	uint64_t time, page;
};

static struct note *notes[2];
static size_t n_notes[2];
static uint64_t cpu_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;

static uint64_t clock_of(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void use(int t, char *p, int write, double *x)
{
	volatile double *d = (double *)((uintptr_t)p & ~(PAGE - 1));

	if (n_notes[t] < NOTES)
		notes[t][n_notes[t]++] = (struct note){ clock_of(CLOCK_MONOTONIC), (uintptr_t)d / PAGE | (uint64_t)write << 48 };
	for (int i = 8; i < 500; i += 8)
		if (write)
			d[i] = d[i] * 0.5 + 1;
		else
			*x += d[i];
	for (int i = 0; i < PAUSE; i++)
		*x = *x * 0.99 + 1;
}

static char *block(const char *name, size_t bytes)
{
	char *p = malloc(bytes);

	if (!p)
		exit(2);
	pthread_mutex_lock(&lock);
	fprintf(out, "structure %lx %lx %s\n", (unsigned long)p, (unsigned long)(p + bytes), name);
	pthread_mutex_unlock(&lock);
	return p;
}

static char *own[2], *table, *more;
static const char *plan;

/* Pages of a block that lie in it whole. */
static char *page_of(char *b, size_t i)
{
	return (char *)(((uintptr_t)b + PAGE - 1) & ~(PAGE - 1)) + i * PAGE;
}

static void phases(int t, uint64_t i, double share, double *x)
{
	use(t, page_of(own[t], i % 2047), 1, x);
	use(t, page_of(table, (i * 5 + (uint64_t)t * 77) % 511), 0, x);
	if (!t && (int)(share * 100) % 10 < 3)
		use(t, page_of(more, i % 1023), 1, x);
}

static void wander(int t, uint64_t i, double share, double *x)
{
	use(t, page_of(own[t], (size_t)(share * 7900) + i * 7 % 255), i % 2 == 0, x);
}

static void bursts(int t, uint64_t i, double share, double *x)
{
	use(t, page_of(table, (size_t)t * 32 + i % 31), 1, x);
	if ((int)(share * 50) % 5 == 0)
		use(t, page_of(own[t], i % 1023), 1, x);
}

static void hash(int t, uint64_t i, double share, double *x)
{
	uint64_t h = (i + (uint64_t)t * 1000003) * 0x9e3779b97f4a7c15ull;

	(void)share;
	use(t, page_of(own[0], (h >> 32) % 2047), h >> 60 < 4, x);
}

static void blocks(int t, uint64_t i, double share, double *x)
{
	char *p = block("block", 2 << 20);

	(void)share;
	for (size_t k = 0; k < 511; k++) {
		use(t, page_of(p, k), 1, x);
		use(t, page_of(own[t], (i + k) % 127), 0, x);
	}
	free(p);
}

static void *work(void *arg)
{
	const int t = (int)(intptr_t)arg;
	const uint64_t begin = clock_of(CLOCK_THREAD_CPUTIME_ID);
	double x = 0, share = 0;

	for (uint64_t i = 0; share < 1; i++) {
		if (i % 16 == 0 || !strcmp(plan, "blocks"))
			share = (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)cpu_ns;
		if (!strcmp(plan, "wander"))
			wander(t, i, share < 1 ? share : 0.999, &x);
		else if (!strcmp(plan, "bursts"))
			bursts(t, i, share, &x);
		else if (!strcmp(plan, "hash"))
			hash(t, i, share, &x);
		else if (!strcmp(plan, "blocks"))
			blocks(t, i, share, &x);
		else
			phases(t, i, share, &x);
	}
	return (void *)(intptr_t)x;
}

static struct note *room(void)
{
	long p = syscall(SYS_mmap, NULL, NOTES * sizeof(struct note), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == -1)
		exit(2);
	fprintf(out, "structure %lx %lx notes\n", (unsigned long)p, (unsigned long)(p + (long)(NOTES * sizeof(struct note))));
	return (struct note *)p;
}

int main(int argc, char **argv)
{
	const size_t bytes = argc > 3 && !strcmp(argv[3], "wander") ? 32u << 20 : argc > 3 && !strcmp(argv[3], "blocks") ? 512u << 10 : 8u << 20;
	pthread_t th[2];

	if (argc < 3 || !(out = fopen(argv[1], "w")))
		return 2;
	cpu_ns = strtoull(argv[2], NULL, 10) * 1000000;
	plan = argc > 3 ? argv[3] : "phases";
	for (int t = 0; t < 2; t++)
		notes[t] = room();
	own[0] = block("own0", bytes);
	own[1] = block("own1", bytes);
	table = block("table", 2 << 20);
	more = block("more", 4 << 20);
	for (intptr_t t = 0; t < 2; t++)
		if (pthread_create(&th[t], NULL, work, (void *)t))
			return 2;
	for (int t = 0; t < 2; t++)
		pthread_join(th[t], NULL);
	fputc('\n', out);
	for (int t = 0; t < 2; t++)
		fwrite(notes[t], sizeof(struct note), n_notes[t], out);
	printf("uses: %zu %zu\n", n_notes[0], n_notes[1]);
	return fclose(out) ? 2 : 0;
}
