// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * brief: a process that forks children which are over soon, one after the other, and between them changes its memory in each way. Each
 * child looks whether it has what the parent had at the fork, changes all of it, and the parent looks whether it still has its own. Then
 * children that do more than that: one works and grows, one makes a thread, one a child of its own, one goes on as another program, one
 * may have few descriptors. Prints the same lines whatever watches it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 96ul
#define ROUNDS 14

static unsigned char *memory;		/* byte 0 of page i is want[i] */
static unsigned char want[PAGES];
static int prot[PAGES];
static unsigned char *heap, *other;
static size_t heap_bytes, other_bytes;
static unsigned char data[3 * PAGE] = { 1 };
static __thread int own = 7;

static void set(size_t page, unsigned char value)
{
	memory[page * PAGE] = memory[page * PAGE + 4095] = want[page] = value;
}

/* What is wrong, 0: nothing. */
static int look(int round)
{
	for (size_t i = 0; i < PAGES; i++)
		if ((prot[i] & PROT_READ) && (memory[i * PAGE] != want[i] || memory[i * PAGE + 4095] != want[i]))
			return 1;
	for (size_t i = 0; i < heap_bytes; i += 512)
		if (heap[i] != (unsigned char)round)
			return 2;
	for (size_t i = 0; i < other_bytes; i += PAGE)
		if (other[i] != (i / PAGE == (size_t)round ? 9 : 0))
			return 3;
	return data[0] != 1 || data[2 * PAGE] != (unsigned char)round ? 4 : own != 7 ? 5 : 0;
}

static void protect(size_t page, size_t pages, int to)
{
	if (mprotect(memory + page * PAGE, pages * PAGE, to))
		abort();
	for (size_t i = page; i < page + pages; i++)
		prot[i] = to;
}

static void change(int round)
{
	set((size_t)round * 5 % 40, (unsigned char)(round + 100));
	if (round % 3 == 0) {		/* contents are gone */
		madvise(memory + 40 * PAGE, 4 * PAGE, MADV_DONTNEED);
		memset(want + 40, 0, 4);
	} else {
		set(41, (unsigned char)round);
	}
	if (round == 4)			/* not readable, and read by children later */
		protect(50, 8, PROT_NONE);
	if (round == 7)
		protect(50, 8, PROT_READ);
	if (round == 9)
		protect(54, 2, PROT_READ | PROT_WRITE);
	if (round == 5) {		/* another mapping in the place of a part */
		if (mmap(memory + 60 * PAGE, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			abort();
		memset(want + 60, 0, 8);
	}
	if (round == 6)
		set(61, 61);
	heap_bytes = 20000ul + 40000ul * (unsigned)(round % 5);
	heap = realloc(heap, heap_bytes);
	memset(heap, round, heap_bytes);
	if (other_bytes)
		munmap(other, other_bytes);
	other_bytes = (16 + (size_t)round) * PAGE;
	other = mmap(NULL, other_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	other[(size_t)round * PAGE] = 9;
	data[2 * PAGE] = (unsigned char)round;
}

static void spoil(void)
{
	for (size_t i = 0; i < PAGES; i++)
		if (prot[i] & PROT_WRITE)
			memset(memory + i * PAGE, 0xee, PAGE);
	memset(heap, 0xee, heap_bytes);
	memset(other, 0xee, other_bytes);
	memset(data, 0xee, sizeof(data));
	own = 8;
}

static void work(long ms)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
}

static void *thread(void *arg)
{
	memset(arg, 5, 1000);
	return arg;
}

static int more(const char *what)
{
	int status = 0;
	pthread_t t;
	char *p;

	if (!strcmp(what, "works")) {
		work(30);
		for (int i = 0; i < 3; i++) {
			p = malloc(400000);
			memset(p, i, 400000);
			if (i != 1)
				free(p);
		}
		work(60);
	} else if (!strcmp(what, "thread")) {
		p = malloc(1000);
		if (pthread_create(&t, NULL, thread, p) || pthread_join(t, NULL) || p[999] != 5)
			return 10;
	} else if (!strcmp(what, "child")) {
		const pid_t pid = fork();

		if (!pid) {
			status = look(ROUNDS - 1);
			spoil();
			_exit(status);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 11;
	} else if (!strcmp(what, "exec")) {
		execl("/bin/true", "true", NULL);
		return 12;
	} else if (!strcmp(what, "few descriptors")) {
		const struct rlimit six = { 6, 6 };

		if (setrlimit(RLIMIT_NOFILE, &six) || pthread_create(&t, NULL, thread, malloc(1000)) || pthread_join(t, NULL))
			return 13;
		for (int fd = 3; fd < 6; fd++)
			if (dup(0) != fd)
				return 14;
	} else if (!strcmp(what, "signal")) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
	}
	status = look(ROUNDS - 1);
	spoil();
	return status;
}

static void one(int round, const char *what)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (what)
			_exit(more(what));
		status = look(round);
		spoil();
		_exit(status);
	}
	if (waitpid(pid, &status, 0) != pid)
		abort();
	printf("%s %d: %d %d, then %d\n", what ? what : "round", round, WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	       look(round));
}

int main(void)
{
	static const char *const others[] = { "works", "none", "none", "none", "none", "thread", "child", "none", "none", "exec", "signal",
		"none", "none", "few descriptors" };

	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < PAGES; i++) {
		prot[i] = PROT_READ | PROT_WRITE;
		if (i % 4)
			set(i, (unsigned char)i);
	}
	for (int round = 0; round < ROUNDS; round++) {
		change(round);
		one(round, NULL);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		one(ROUNDS - 1, others[i]);
	return 0;
}
