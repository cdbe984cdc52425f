// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Forks of a process whose other threads map, unmap, protect, allocate, and make threads meanwhile, and check what stands there.
 *
 * usage: forkstorm PROCESSES FORKS [SEED [WAY]]
 *
 * PROCESSES times it starts itself anew; each of these forks FORKS times, in several ways (or by WAY, 0 to 3), from the first thread or
 * another one. Where memory is not copied only the first fork of a process changes anything, so FORKS of 1 and many processes. What was
 * wrong is said on stderr, and the status is 1 then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define RW (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
enum { LIMIT_S = 60 };

extern char **environ;
static volatile int stop;

static void wrong(const char *what)
{
	char text[128];
	const int n = snprintf(text, sizeof(text), "%d: wrong: %s\n", getpid(), what);

	if (write(2, text, (size_t)n) < 0)
		abort();
	_exit(9);
}

static uint32_t random_of(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

static void fill(char *p, size_t pages, uint32_t stamp)
{
	for (size_t i = 0; i < pages; i++)
		*(uint32_t *)(void *)(p + i * PAGE) = *(uint32_t *)(void *)(p + i * PAGE + PAGE - 4) = stamp + (uint32_t)i;
}

static void check(const char *p, size_t pages, uint32_t stamp, const char *what)
{
	for (size_t i = 0; i < pages; i++)
		if (*(const uint32_t *)(const void *)(p + i * PAGE) != stamp + (uint32_t)i ||
		    *(const uint32_t *)(const void *)(p + i * PAGE + PAGE - 4) != stamp + (uint32_t)i)
			wrong(what);
}

static void check_zero(const char *p, size_t pages, const char *what)
{
	for (size_t i = 0; i < pages; i++)
		if (*(const uint32_t *)(const void *)(p + i * PAGE) || *(const uint32_t *)(const void *)(p + i * PAGE + PAGE - 4))
			wrong(what);
}

/* One piece of memory from its beginning to its end. */
static void memory(uint64_t *state)
{
	size_t pages = 2 + random_of(state) % 12;
	const uint32_t stamp = random_of(state) | 1;
	char *p = mmap(NULL, pages * PAGE, RW, ANONYMOUS, -1, 0), *q;

	if (p == MAP_FAILED)
		wrong("mmap");
	check_zero(p, pages, "new memory is not zero");
	fill(p, pages, stamp);
	switch (random_of(state) % 6) {
	case 0:
		if (madvise(p, PAGE, MADV_DONTNEED))
			wrong("madvise");
		check_zero(p, 1, "what was given back is not zero");
		break;
	case 1:
		q = mremap(p, pages * PAGE, (pages + 5) * PAGE, MREMAP_MAYMOVE);
		if (q == MAP_FAILED)
			wrong("mremap");
		p = q;
		check_zero(p + pages * PAGE, 5, "what grew is not zero");
		munmap(p + pages * PAGE, 5 * PAGE);
		break;
	case 2:
		if (mprotect(p, PAGE, PROT_READ) || mprotect(p, PAGE, RW))
			wrong("mprotect");
		break;
	case 3:
		if (mmap(p, PAGE, RW, ANONYMOUS | MAP_FIXED, -1, 0) != p)
			wrong("mmap at a place");
		check_zero(p, 1, "new memory at a place is not zero");
		break;
	case 4:
		if (mprotect(p, pages * PAGE, PROT_NONE) || mprotect(p, pages * PAGE, RW))
			wrong("mprotect of all");
		break;
	}
	fill(p, 1, stamp);
	if (random_of(state) % 4 == 0)
		sched_yield();
	check(p, pages, stamp, "contents");
	if (munmap(p, pages * PAGE))
		wrong("munmap");
}

static void allocate(uint64_t *state)
{
	const size_t bytes = 1 + random_of(state) % (random_of(state) % 8 ? 3000 : 300000);
	const char stamp = (char)random_of(state);
	char *p = malloc(bytes);

	memset(p, stamp, bytes);
	p = realloc(p, bytes + bytes / 2);
	for (size_t i = 0; i < bytes; i++)
		if (p[i] != stamp)
			wrong("a block");
	free(p);
}

static void *maps(void *arg)
{
	uint64_t state = (uintptr_t)arg;

	while (!stop)
		memory(&state);
	return NULL;
}

static void *allocates(void *arg)
{
	uint64_t state = (uintptr_t)arg;

	while (!stop)
		allocate(&state);
	return NULL;
}

static void *short_life(void *arg)
{
	uint64_t state = (uintptr_t)arg;

	memory(&state);
	return arg;
}

static void *makes_threads(void *arg)
{
	uint64_t state = (uintptr_t)arg;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	while (!stop) {
		pthread_t t;
		void *back, *const given = (void *)(uintptr_t)random_of(&state);

		pthread_attr_setstacksize(&attr, (64 + random_of(&state) % 64) * PAGE);
		if (pthread_create(&t, &attr, short_life, given))
			wrong("pthread_create");
		pthread_join(t, &back);
		if (back != given)
			wrong("what a thread returned");
	}
	return NULL;
}

/* Changes nothing that takes a place, only what may be done there. */
static void *protects(void *arg)
{
	uint64_t state = (uintptr_t)arg;
	char *p = mmap(NULL, 32 * PAGE, RW, ANONYMOUS, -1, 0);
	uint32_t stamp = 1;

	fill(p, 32, stamp);
	while (!stop) {
		const size_t at = random_of(&state) % 16, pages = 1 + random_of(&state) % 16;

		if (mprotect(p + at * PAGE, pages * PAGE, random_of(&state) % 2 ? PROT_NONE : PROT_READ) ||
		    mprotect(p + at * PAGE, pages * PAGE, RW))
			wrong("mprotect alone");
		check(p, 32, stamp, "what was protected");
		fill(p, 32, ++stamp);
	}
	return NULL;
}

/* Calls nothing: no store is lost, and none comes later. */
static void *stores(void *arg)
{
	enum { PAGES = 40 };
	volatile uint64_t *p = mmap(NULL, PAGES * PAGE, RW, ANONYMOUS, -1, 0);
	uint64_t count = 0;

	for (; !stop; count++)
		for (int i = 0; i < PAGES; i++) {
			volatile uint64_t *at = p + (size_t)i * PAGE / sizeof(*p) + (count & 63);

			if (*at != count >> 6)
				wrong("a store");
			*at = (count >> 6) + 1;
		}
	return arg;
}

struct forker {
	uint64_t state;
	int forks, form;
};

static int in_clone(void *arg)
{
	uint64_t state = *(uint64_t *)arg;

	memory(&state);
	_exit(3);
}

static pid_t make(int form, uint64_t *state, char *stack)
{
	switch (form) {
	case 0:
		return _Fork();
	case 1:
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	case 2:
		return clone(in_clone, stack + sizeof(uint64_t) * 8192, SIGCHLD, state);
	default:
		return fork();
	}
}

static void *forks(void *arg)
{
	struct forker *f = arg;
	static __thread uint64_t mine[64];
	static uint64_t stack[8192] __attribute__((aligned(64)));
	char *area = mmap(NULL, 64 * PAGE, RW, ANONYMOUS, -1, 0);

	fill(area, 64, 77);
	for (int i = 0; i < 64; i++)
		mine[i] = f->state + (uint64_t)i;
	for (int n = 0; n < f->forks; n++) {
		const int form = f->form >= 0 ? f->form : (int)(random_of(&f->state) % 6);
		const uint64_t before = f->state;
		int status = 0;
		pid_t pid;

		usleep(random_of(&f->state) % 300);
		pid = make(form, &f->state, (char *)stack);
		if (!pid) {
			uint64_t state = before;

			check(area, 64, 77, "memory in a child");
			for (int i = 1; i < 64; i++)
				if (mine[i] != mine[0] + (uint64_t)i)
					wrong("variables of the thread in a child");
			memory(&state);
			if (form > 2) {	/* the locks of libc were taken */
				allocate(&state);
				if (n % 4 == 0)
					exit(3);
			}
			_exit(3);
		}
		if (pid < 0)
			wrong("fork");
		fill(area, 64, 78);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status != 3 << 8) {
			char text[64];

			snprintf(text, sizeof(text), "a child by way %d has the status %x", form, (unsigned)status);
			wrong(text);
		}
		check(area, 64, 78, "memory of the parent");
		fill(area, 64, 77);
	}
	return NULL;
}

static int storm(int n, uint64_t seed, int form)
{
	enum { THREADS = 8 };
	void *(*const kinds[THREADS])(void *) = { maps, protects, makes_threads, allocates, stores, maps, protects, makes_threads };
	struct forker f = { seed, n, form }, g = f;
	pthread_t t[THREADS], other;
	const int threads = 1 + (int)(seed % THREADS), elsewhere = seed >> 8 & 1;

	alarm(LIMIT_S + 3 * (unsigned)n);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, kinds[i], (void *)(uintptr_t)(seed * 31 + (uint64_t)i)))
			wrong("pthread_create");
	if (elsewhere) {	/* at the same time as the first thread, too */
		g.state += 12345;
		pthread_create(&other, NULL, forks, &g);
	}
	forks(&f);
	if (elsewhere)
		pthread_join(other, NULL);
	stop = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const int processes = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 1;
	const int form = argc > 4 ? atoi(argv[4]) : -1;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	int bad = 0;

	if (!processes)
		return storm(n, seed, form);
	for (int i = 0; i < processes; i++) {
		char number[3][24];
		char *const again[] = { "forkstorm", "0", number[0], number[1], number[2], NULL };
		int status = 0;
		pid_t pid = 0;

		snprintf(number[0], sizeof(number[0]), "%d", n);
		snprintf(number[1], sizeof(number[1]), "%u", random_of(&seed));
		snprintf(number[2], sizeof(number[2]), "%d", form);
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environ))
			wrong("posix_spawn");
		waitpid(pid, &status, 0);
		if (status) {
			bad++;
			fprintf(stderr, "process %d of seed %s: status %x\n", (int)pid, argc > 3 ? argv[3] : "1", (unsigned)status);
		}
	}
	printf("%d processes of %d forks, %d wrong\n", processes, n, bad);
	return bad != 0;
}
