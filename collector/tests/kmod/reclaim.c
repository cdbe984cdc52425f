// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * reclaim HOT-MiB STREAM-MiB ROUNDS: one thread writes STREAM-MiB of pages once per round (at
 * least two), which pushes pages out when the cgroup is smaller than both areas. After each MiB
 * of it the other reads and writes all pages of the hot area TURNS times. The two take turns, so
 * that the order of all accesses is the same on any machine, recorded or not. A page of the hot
 * area that had to be read from swap after the first round is a major fault of the hot thread.
 * Output: "reclaim: hot pages N turns N major N cold_major N".
 *
 * reclaim referenced [recorded]: how many pages of its own the kernel takes for accessed
 * (Referenced of /proc/self/smaps, what reclaim would read): after all were touched, after
 * clear_refs, and after every other page was touched again. "recorded" waits at each step
 * until a page that is touched without end has been hidden four times.
 * Output: "referenced: pages N touched N cleared N again N".
 */
#include "kt.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define TURNS 4

static char *hot, *cold;
static size_t hot_pages, cold_pages, rounds;
static long hot_major, turns;
/* the hot thread's turn begins and ends; what it reads of these two is written between turns */
static sem_t begin, end;
static int done, warm;

static long major(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_majflt;
}

static void *keep_hot(void *arg)
{
	long before = -1;

	(void)arg;
	for (size_t i = 0; i < hot_pages; i++)
		hot[i * PAGE] = (char)i;
	for (;;) {
		while (sem_wait(&begin))
			;
		if (done)
			break;
		/* the first round, when memory fills, says nothing: everything has the same age */
		if (warm && before < 0)
			before = major();
		for (int t = 0; t < TURNS; t++, turns++)
			for (size_t i = 0; i < hot_pages; i++)
				hot[i * PAGE + 64]++;
		sem_post(&end);
	}
	hot_major = major() - before;
	for (size_t i = 0; i < hot_pages; i++)
		if (hot[i * PAGE] != (char)i)
			DIE("wrong data");
	return NULL;
}

static void hot_turn(void)
{
	sem_post(&begin);
	while (sem_wait(&end))
		;
}

static char control[2 * PAGE];

static void some_sweeps(int recorded)
{
	volatile char *c = (char *)(((uintptr_t)control + PAGE - 1) & ~(PAGE - 1));
	const double deadline = kt_now() + 60;
	struct rusage u;
	long faults, seen = -1;

	/* the first fault may be the first touch */
	for (int n = 0; recorded && n < 6;) {
		(*c)++;
		getrusage(RUSAGE_THREAD, &u);
		faults = u.ru_minflt;
		n += faults != seen;
		seen = faults;
		if (kt_now() > deadline)
			DIE("nothing was hidden in 60 s");
		usleep(1000);
	}
}

/* pages of the mapping that begins at a of which the kernel says that they were accessed */
static size_t referenced(const char *a)
{
	char line[512], start[32];
	FILE *f = fopen("/proc/self/smaps", "r");
	size_t kb = 0;
	int here = 0;

	if (!f)
		DIE("smaps");
	snprintf(start, sizeof start, "%lx-", (unsigned long)a);
	while (fgets(line, sizeof line, f)) {
		if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			here = !strncmp(line, start, strlen(start));
		if (here && sscanf(line, "Referenced: %zu", &kb) == 1)
			here = 2;
		if (here == 2)
			break;
	}
	fclose(f);
	if (here != 2)
		DIE("no such mapping");
	return kb * 1024 / PAGE;
}

static int ask_the_kernel(int recorded)
{
	const size_t n = 1024;
	size_t touched, cleared, again;
	char *a = mmap(NULL, (n + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int f = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (a == MAP_FAILED || f < 0)
		DIE("mapping");
	a += PAGE;	/* pages without access around it: a mapping of its own */
	if (mprotect(a, n * PAGE, PROT_READ | PROT_WRITE))
		DIE("mapping");
	for (size_t i = 0; i < n; i++)
		a[i * PAGE] = 1;
	some_sweeps(recorded);
	touched = referenced(a);
	if (write(f, "1", 1) != 1)
		DIE("clear_refs");
	some_sweeps(recorded);
	cleared = referenced(a);
	for (size_t i = 0; i < n; i += 2)
		a[i * PAGE] = 2;
	some_sweeps(recorded);
	again = referenced(a);
	printf("referenced: pages %zu touched %zu cleared %zu again %zu\n", n, touched, cleared, again);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (argc > 1 && !strcmp(argv[1], "referenced"))
		return ask_the_kernel(argc > 2);
	if (argc != 4)
		return 2;
	hot_pages = (size_t)atol(argv[1]) << 8;
	cold_pages = (size_t)atol(argv[2]) << 8;
	rounds = (size_t)atol(argv[3]);
	hot = kt_map(hot_pages * PAGE, MAP_PRIVATE);
	cold = kt_map(cold_pages * PAGE, MAP_PRIVATE);
	sem_init(&begin, 0, 0);
	sem_init(&end, 0, 0);
	if (pthread_create(&t, NULL, keep_hot, NULL))
		DIE("thread");
	hot_turn();
	for (size_t r = 0; r < rounds; r++) {
		warm = r > 0;
		for (size_t i = 0; i < cold_pages; i++) {
			cold[i * PAGE] = 1;
			if (i % 256 == 255)
				hot_turn();
		}
	}
	done = 1;
	sem_post(&begin);
	pthread_join(t, NULL);
	printf("reclaim: hot pages %zu turns %ld major %ld cold_major %ld\n", hot_pages, turns, hot_major, major());
	return 0;
}
