// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A program that makes processes in each way that goes through libc, and looks after every step whether its memory is as it must be.
 * Prints one line for each step; the same lines come whatever watches it, or a line that says what is wrong. Takes some
 * milliseconds. ways again: what it goes on as by exec. What fails is tried once more: a kernel may refuse anything once.
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
#define PAGES 40

/* The value of @call, made again when @failed is true of it. */
#define AGAIN(call, failed) ({ __typeof__(call) r = (call); if (failed) r = (call); r; })

extern char **environ;
static char *memory;		/* page i begins with the byte i */
static char data[PAGE] = "data";
static __thread int own = 7;

static void look(const char *step)
{
	for (int i = 0; i < PAGES; i++)
		if (memory[i * PAGE] != i)
			printf("%s: page %d is %d\n", step, i, memory[i * PAGE]);
	if (strcmp(data, "data") || own != 7)
		printf("%s: static data '%.9s' and %d\n", step, data, own);
	printf("%s\n", step);
	fflush(stdout);
}

/* A child: changes all that it has. */
static int change(void *arg)
{
	char *block = AGAIN(malloc(100000), !r);

	(void)arg;
	for (int i = 0; i < PAGES; i++) {
		if (memory[i * PAGE] != i)
			_exit(1);
		memory[i * PAGE] = 77;
	}
	if (!block)
		_exit(4);
	memset(block, 1, 100000);
	free(block);
	strcpy(data, "child");
	own = 8;
	usleep(300);
	return memory[0] == 77 && own == 8 ? 5 : 2;
}

static void wait_for(const char *step, pid_t pid)
{
	int status = 0;

	if (pid < 0)
		printf("%s: %s\n", step, strerror(errno));
	else if (waitpid(pid, &status, 0) != pid)
		printf("%s: wait: %s\n", step, strerror(errno));
	else if (status != 5 << 8)
		printf("%s: status %x\n", step, status);
	look(step);
}

static void *thread(void *arg)
{
	char *block = AGAIN(calloc(1, 300000), !r);
	pid_t pid;

	if (!block)
		return arg;
	memset(block, 2, 300000);
	pid = AGAIN(fork(), r < 0);
	if (!pid)
		_exit(block[299999] == 2 ? change(NULL) : 3);
	wait_for("fork in a thread", pid);
	free(block);
	return arg;
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], (char *)"again", NULL }, *sh[] = { (char *)"sh", (char *)"-c", (char *)"exit 5", NULL }, *more;
	pthread_t t;
	pid_t pid;
	int err;

	memory = AGAIN(mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), r == MAP_FAILED);
	if (memory == MAP_FAILED)
		return 1;
	for (int i = 0; i < PAGES; i++)
		memory[i * PAGE] = (char)i;
	look(argc > 1 ? "goes on" : "begins");
	pid = AGAIN(fork(), r < 0);
	if (!pid)
		_exit(change(NULL));
	wait_for("fork", pid);
	if (argc > 1)
		return 0;
	pid = AGAIN((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), r < 0);
	if (!pid)
		_exit(change(NULL));
	wait_for("clone by syscall()", pid);
	more = AGAIN(mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), r == MAP_FAILED);
	if (more != MAP_FAILED)
		wait_for("clone with a stack", AGAIN(clone(change, more + 65536, SIGCHLD, NULL), r < 0));
	err = AGAIN(posix_spawnp(&pid, "sh", NULL, NULL, sh, environ), r);
	wait_for("posix_spawn", err ? -1 : pid);
	printf("system %d\n", AGAIN(system("exit 5"), r < 0 || r >> 8 == 127) >> 8);
	err = AGAIN(pthread_create(&t, NULL, thread, NULL), r);
	if (err || pthread_join(t, NULL))
		printf("pthread_create: %s\n", strerror(err));
	more = AGAIN(mremap(memory, PAGES * PAGE, 3 * PAGES * PAGE, MREMAP_MAYMOVE), r == MAP_FAILED);
	if (more == MAP_FAILED)
		printf("mremap: %s\n", strerror(errno));
	else
		memory = more;
	look("mremap");
	memory[50 * PAGE] = 1;
	err = AGAIN(madvise(memory + PAGES * PAGE, 2 * PAGES * PAGE, MADV_DONTNEED), r);
	printf("madvise %d %d\n", err, memory[50 * PAGE]);
	munmap(memory + PAGES * PAGE, PAGES * PAGE);
	pid = AGAIN(fork(), r < 0);
	if (!pid)
		_exit(change(NULL));
	wait_for("fork again", pid);
	for (int i = 0; i < 2; i++)
		execv("/proc/self/exe", again);
	printf("exec: %s\n", strerror(errno));
	return 9;
}
