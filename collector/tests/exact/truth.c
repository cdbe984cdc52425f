// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * truth.c - a program that counts its own accesses to its own blocks, and prints them:
 *
 *	block PID GENERATION START END		addresses, hexadecimal; the program knows all accesses in it
 *	count PID GENERATION TID PAGE READS WRITES
 *
 * GENERATION counts the programs in a process (exec). Every access to a block is one of the
 * macros below, which do it and count it. One argument: the scenario. In the scenario of windows only
 * accesses in windows are told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memtrace.h"

#define PAGE 4096ul
#define BLOCK_PAGES 64u
#define BLOCKS 4
#define PAGES (BLOCKS * BLOCK_PAGES)

static char fixed[BLOCK_PAGES * PAGE] __attribute__((aligned(4096)));
static char *block[BLOCKS];	/* fixed, heap, two mappings */
static int generation;
static volatile unsigned long seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* No window is open: nobody shall know. */
static volatile int outside;

/* Of this thread: [page of all blocks][read, write]. Filled by signal handlers, too. */
static __thread volatile unsigned long mine[PAGES][2];

static void say(const char *format, ...)
{
	char line[200];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (syscall(SYS_write, 1, line, n) != n)
		_exit(9);
}

/* One instruction, because of handlers. */
static void know(const volatile void *p, int write, unsigned long n)
{
	for (unsigned b = 0; b < BLOCKS && !outside; b++) {
		const unsigned long at = (unsigned long)((const volatile char *)p - block[b]);

		if (at >= BLOCK_PAGES * PAGE)
			continue;
		asm volatile("addq %1, %0" : "+m"(mine[b * BLOCK_PAGES + at / PAGE][write]) : "r"(n));
		return;
	}
	if (!outside)
		abort();
}

static void know_range(const void *p, unsigned long bytes, int write)
{
	while (bytes) {
		unsigned long here = PAGE - (unsigned long)p % PAGE;

		if (here > bytes)
			here = bytes;
		know(p, write, (here + 15) / 16);
		p = (const char *)p + here;
		bytes -= here;
	}
}

#define GET(type, p) ({ know(p, 0, 1); *(volatile type *)(p); })
/* The value is used: where nobody does, Valgrind leaves the load out. */
#define LOOK(type, p) (seen += (unsigned long)GET(type, p))
#define PUT(type, p, v) (know(p, 1, 1), (void)(*(volatile type *)(p) = (v)))
#define ADD(type, p) (know(p, 0, 1), know(p, 1, 1), (void)(*(volatile type *)(p) += 1))

static void tell(void)
{
	const int tid = (int)syscall(SYS_gettid), pid = getpid();

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < PAGES; i++)
		if (mine[i][0] || mine[i][1])
			say("count %d %d %d %lx %lu %lu\n", pid, generation, tid,
			    (unsigned long)block[i / BLOCK_PAGES] + i % BLOCK_PAGES * PAGE, mine[i][0], mine[i][1]);
	pthread_mutex_unlock(&lock);
}

static void tell_blocks(void)
{
	for (int b = 0; b < BLOCKS; b++)
		say("block %d %d %lx %lx\n", getpid(), generation, (unsigned long)block[b],
		    (unsigned long)block[b] + BLOCK_PAGES * PAGE);
}

static void make_blocks(void)
{
	void *p;

	block[0] = fixed;
	if (posix_memalign(&p, PAGE, BLOCK_PAGES * PAGE))
		abort();
	block[1] = p;
	for (int b = 2; b < BLOCKS; b++)
		block[b] = mmap(NULL, BLOCK_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tell_blocks();
}

static void some(unsigned seed, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		const unsigned r = (unsigned)rand_r(&seed);
		char *p = block[r % BLOCKS] + r / 8 % BLOCK_PAGES * PAGE + r / 1024 % 500 * 8;

		switch (r / 2048 % 4) {
		case 0: (void)GET(long, p); break;
		case 1: PUT(long, p, i); break;
		case 2: ADD(int, p + 4); break;
		case 3: PUT(char, p + 1, 1); break;
		}
	}
}

/* ---- scenarios */

typedef double pair __attribute__((vector_size(16)));
struct large { char c[1000]; };

/* Loads and stores of all kinds, with @routines those of the C library, too, and what the kernel does for a thread. */
static void kinds(int routines)
{
	char *a = block[0], *b = block[1], *c = block[2];
	char path[] = "/tmp/memtrace-exact.XXXXXX";
	struct iovec v[2] = { { c + 100, 3000 }, { c + 3 * PAGE + 5, 5000 } };
	volatile size_t size = 9001;
	long expected;
	int fd;

	for (int i = 0; i < 10; i++) {
		LOOK(char, a + i);
		PUT(char, a + i, 1);
		LOOK(short, a + PAGE + i * 2);
		PUT(short, a + PAGE + i * 2, 1);
		LOOK(int, a + 2 * PAGE);
		PUT(int, a + 2 * PAGE, 1);
		LOOK(long, a + 3 * PAGE);
		PUT(long, a + 3 * PAGE, 1);
		seen += (unsigned long)GET(pair, a + 4 * PAGE)[0];
		PUT(pair, a + 4 * PAGE, ((pair){ 1, 2 }));
		ADD(long, a + 5 * PAGE);
		/* not aligned, and over the border of pages: counted where it begins */
		LOOK(long, a + 6 * PAGE + 1);
		LOOK(long, a + 7 * PAGE - 3);
		PUT(int, a + 8 * PAGE - 1, 7);
	}
	if (!routines)
		goto kernel;
	/* aggregates and routines that move memory */
	know_range(a + 100, sizeof(struct large), 0);
	know_range(b + 4000, sizeof(struct large), 1);
	*(struct large *)(b + 4000) = *(volatile struct large *)(a + 100);
	know_range(a + 10, size, 0);
	know_range(b + 8 * PAGE + 3, size, 1);
	memcpy(b + 8 * PAGE + 3, a + 10, size);
	know_range(b + 8 * PAGE, size, 0);
	know_range(b + 8 * PAGE + 64, size, 1);
	memmove(b + 8 * PAGE + 64, b + 8 * PAGE, size);
	know_range(c, size, 1);
	memset(c, 'x', size);
	know_range(c + 20 * PAGE, 24, 1);
	memset(c + 20 * PAGE, 'y', 24);		/* of a size that compilers expand in place */
	know_range(c + 20 * PAGE, 24, 0);
	know_range(c + 21 * PAGE, 24, 1);
	memcpy(c + 21 * PAGE, c + 20 * PAGE, 24);
	know_range(c + 20 * PAGE, 25, 0);
	if (strlen(c + 20 * PAGE) != 24)
		abort();
	know_range(c + 20 * PAGE, 25, 0);
	know_range(c + 22 * PAGE + 4090, 25, 1);
	strcpy(c + 22 * PAGE + 4090, c + 20 * PAGE);
	know_range(c + 20 * PAGE, 24, 0);
	know_range(c + 21 * PAGE, 24, 0);
	if (memcmp(c + 20 * PAGE, c + 21 * PAGE, 24 + (size_t)(size == 0)))
		abort();
kernel:
	fd = mkstemp(path);
	unlink(path);
	know_range(c, size, 0);
	if (write(fd, c, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	know_range(c + 30 * PAGE, size, 1);
	if (read(fd, c + 30 * PAGE, size + 1) != (ssize_t)size || read(fd, c, 100))
		abort();
	know_range(c + 40 * PAGE + 9, 77, 1);
	if (pread(fd, c + 40 * PAGE + 9, 77, 5) != 77)
		abort();
	know_range(v[0].iov_base, 3000, 1);
	know_range(v[1].iov_base, 5000, 1);
	lseek(fd, 0, SEEK_SET);
	if (readv(fd, v, 2) != 8000)
		abort();
	close(fd);
	if (read(-1, c, 10) != -1 || errno != EBADF)
		abort();
	/* atomic operations */
	PUT(long, b + 30 * PAGE, 0);
	know(b + 30 * PAGE, 0, 3);
	know(b + 30 * PAGE, 1, 3);
	if (atomic_fetch_add((_Atomic long *)(b + 30 * PAGE), 5) || atomic_exchange((_Atomic long *)(b + 30 * PAGE), 9) != 5)
		abort();
	expected = 9;
	if (!atomic_compare_exchange_strong((_Atomic long *)(b + 30 * PAGE), &expected, 11))
		abort();
	know(b + 31 * PAGE, 1, 1);
	know(b + 31 * PAGE, 0, 1);
	atomic_store_explicit((_Atomic int *)(b + 31 * PAGE), 3, memory_order_release);	/* no xchg, which reads */
	if (atomic_load((_Atomic int *)(b + 31 * PAGE)) != 3 || GET(long, b + 30 * PAGE) != 11)
		abort();
}

static void *worker(void *arg)
{
	const unsigned n = (unsigned)(uintptr_t)arg;

	some(n, 3000);
	/* some wait for the end, so that all threads live at a time */
	tell();
	return NULL;
}

static void threads(int n, int generations)
{
	pthread_t id[64];

	for (int g = 0; g < generations; g++) {
		for (int i = 0; i < n; i++)
			if (pthread_create(&id[i], NULL, worker, (void *)(uintptr_t)(g * n + i + 1)))
				abort();
		some(77, 500);
		for (int i = 0; i < n; i++)
			pthread_join(id[i], NULL);
	}
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
	ADD(long, block[0]);
	ADD(long, block[handled % BLOCKS] + handled % BLOCK_PAGES * PAGE + 8);
}

static void signals(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = handler };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 300) {
		ADD(long, block[0] + 8);
		some((unsigned)handled, 3);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);	/* one that waits would come while this is told */
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void forks(void)
{
	pid_t pid;

	some(1, 1000);
	for (int k = 0; k < 3; k++) {
		pid = fork();
		if (!pid) {
			memset((void *)mine, 0, sizeof(mine));
			tell_blocks();
			some(2, 700);
			pid = fork();
			if (!pid) {
				memset((void *)mine, 0, sizeof(mine));
				tell_blocks();
				some(3, 300);
				tell();
				exit(0);
			}
			wait_for(pid);
			some(8, 50);
			tell();
			exit(0);
		}
		wait_for(pid);
		some(4, 200);
	}
}

static void exec_again(char **argv)
{
	char next[12];

	some(5, 400);
	if (generation == 2)
		return;
	tell();
	snprintf(next, sizeof(next), "%d", generation + 1);
	setenv("TRUTH_GENERATION", next, 1);
	execv("/nonexistent", argv);
	execv(argv[0], argv);
	abort();
}

static void library(void)
{
	for (int i = 0; i < 3; i++) {
		void *h = dlopen("./libtruth.so", RTLD_NOW | (i ? RTLD_GLOBAL : 0));
		long (*sum)(long *, long) = h ? (long (*)(long *, long))dlsym(h, "sum_and_set") : NULL;

		if (!sum)
			abort();
		/* reads and writes 512 longs: a page each */
		for (unsigned p = 0; p < 5; p++) {
			know(block[3] + p * PAGE, 0, 512);
			know(block[3] + p * PAGE, 1, 512);
			sum((long *)(block[3] + p * PAGE), 512);
		}
		if (i == 1)
			dlclose(h);
	}
}

/* The same addresses for other memory. */
static void reuse(void)
{
	for (int i = 0; i < 20; i++) {
		some((unsigned)i + 50, 300);
		if (mmap(block[2], BLOCK_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != block[2])
			abort();
		if (madvise(block[3], BLOCK_PAGES * PAGE, MADV_DONTNEED))
			abort();
	}
}

static void spawns(void)
{
	char *argv[] = { (char *)"true", NULL };
	extern char **environ;
	pid_t pid;

	for (int i = 0; i < 5; i++) {
		some((unsigned)i, 100);
		if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
			abort();
		wait_for(pid);
		pid = vfork();
		if (!pid)
			_exit(0);
		wait_for(pid);
	}
}

/* ---- windows */

static void open_window(void)
{
	memtrace_window_open();
	outside = 0;
}

static void close_window(void)
{
	outside = 1;
	memtrace_window_close();
}

static pthread_barrier_t phase;
static atomic_int round_of_spinner, done_by_spinner;

/* Born while all is closed, or open: works in both. */
static void *window_worker(void *arg)
{
	const unsigned n = (unsigned)(uintptr_t)arg;

	for (unsigned k = 0; k < 4; k++) {
		pthread_barrier_wait(&phase);
		some(n + k, 700);
		pthread_barrier_wait(&phase);
	}
	tell();
	return NULL;
}

/* Never calls anything while it works. */
static void *spinner(void *arg)
{
	int seen = 0;

	(void)arg;
	while (seen >= 0) {
		const int now = atomic_load_explicit(&round_of_spinner, memory_order_acquire);

		if (now == seen)
			continue;
		seen = now;
		if (now >= 0)
			some(1000 + (unsigned)now, 300);
		atomic_store_explicit(&done_by_spinner, now, memory_order_release);
	}
	tell();
	return NULL;
}

static void spin(int round)
{
	atomic_store_explicit(&round_of_spinner, round, memory_order_release);
	while (atomic_load_explicit(&done_by_spinner, memory_order_acquire) != round)
		;
}

static void child_of_window(void)
{
	const pid_t pid = fork();

	if (pid) {
		wait_for(pid);
		return;
	}
	memset((void *)mine, 0, sizeof(mine));
	tell_blocks();
	some(5, 200);		/* as the parent's was */
	if (outside) {
		open_window();
		some(6, 300);
		close_window();
		some(7, 300);
	} else {
		close_window();
		some(8, 300);
	}
	tell();
	exit(0);
}

static void windows(void)
{
	pthread_t id[5], spins;

	outside = 1;
	some(1, 500);
	kinds(1);
	child_of_window();
	pthread_barrier_init(&phase, NULL, 6);
	pthread_create(&spins, NULL, spinner, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&id[i], NULL, window_worker, (void *)(uintptr_t)(i * 10 + 1));
	spin(1);
	for (int k = 0; k < 4; k++) {
		/* two of them are born in a window */
		if (k % 2 == 0) {
			open_window();
			if (!k)
				kinds(1);
		}
		for (int i = 3; i < 5 && !k; i++)
			pthread_create(&id[i], NULL, window_worker, (void *)(uintptr_t)(i * 10 + 1));
		pthread_barrier_wait(&phase);
		some(40, 200);
		spin(2 + k);
		pthread_barrier_wait(&phase);
		if (k % 2 == 0) {
			child_of_window();
			/* nested: still open */
			memtrace_window_open();
			memtrace_window_close();
			some(41, 100);
			close_window();
			memtrace_window_close();	/* of nobody */
		}
		some(42, 200);
	}
	atomic_store(&round_of_spinner, -1);
	pthread_join(spins, NULL);
	for (int i = 0; i < 5; i++)
		pthread_join(id[i], NULL);
	for (int k = 0; k < 3; k++) {
		open_window();
		library();
		some(43, 10);
		close_window();
		library();
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (getenv("TRUTH_GENERATION"))
		generation = atoi(getenv("TRUTH_GENERATION"));
	make_blocks();
	if (!strcmp(what, "kinds"))
		kinds(1);
	else if (!strcmp(what, "instructions"))
		kinds(0);
	else if (!strcmp(what, "threads"))
		threads(64, 1);
	else if (!strcmp(what, "churn"))
		threads(10, 12);
	else if (!strcmp(what, "signals"))
		signals();
	else if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "exec"))
		exec_again(argv);
	else if (!strcmp(what, "library"))
		library();
	else if (!strcmp(what, "reuse"))
		reuse();
	else if (!strcmp(what, "spawn"))
		spawns();
	else if (!strcmp(what, "windows"))
		windows();
	else
		return 2;
	tell();
	return 0;
}
