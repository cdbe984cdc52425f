// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * rwp-odd CASE: touches pages of its memory at known times, where the backend rwp could go wrong, and says so:
 *   touched FROM TO PAGE PAGES      each page has a record in an interval that meets this stretch of time
 *   untouched FROM TO PAGE PAGES    no page has one in an interval that lies in it
 * Without a case: their names.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 64ul

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Several intervals, also of a machine that is late. */
static void pause_long(void)
{
	usleep(1500000);
}

static char *map(size_t pages, int prot)
{
	char *m = mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return m;
}

static void say(const char *what, uint64_t from, const char *m, size_t pages)
{
	printf("%s %llu %llu %llu %zu\n", what, (unsigned long long)from, (unsigned long long)now(),
	       (unsigned long long)((uintptr_t)m / PAGE), pages);
}

static void write_all(char *m, size_t pages)
{
	uint64_t t = now();

	for (size_t i = 0; i < pages; i++)
		((volatile char *)m)[i * PAGE]++;
	say("touched", t, m, pages);
}

static void read_all(const char *m, size_t pages)
{
	uint64_t t = now();

	for (size_t i = 0; i < pages; i++)
		(void)((const volatile char *)m)[i * PAGE];
	say("touched", t, m, pages);
}

/* Nobody comes near for some intervals. */
static void rest(const char *m, size_t pages)
{
	uint64_t t;

	pause_long();
	t = now();
	pause_long();
	say("untouched", t, m, pages);
}

static void plain(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE);

	write_all(m, PAGES);
	rest(m, PAGES);
	read_all(m, PAGES / 2);
	rest(m, PAGES);
}

/* A reservation of which parts become accessible, as allocators make them. */
static void reserved(void)
{
	char *m = map(4 * PAGES, PROT_NONE);

	pause_long();
	mprotect(m + PAGES * PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE);
	write_all(m + PAGES * PAGE, PAGES);
	rest(m + PAGES * PAGE, PAGES);
	mprotect(m + PAGES * PAGE, PAGES * PAGE, PROT_NONE);
	rest(m, 4 * PAGES);
	mprotect(m, 4 * PAGES * PAGE, PROT_READ | PROT_WRITE);
	write_all(m, 3 * PAGES);
	rest(m, 4 * PAGES);
	read_all(m, 3 * PAGES);
}

static void moved(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE), *wall = map(1, PROT_NONE), *n;

	write_all(m, PAGES);
	pause_long();
	n = mremap(m, PAGES * PAGE, 4096 * PAGE, MREMAP_MAYMOVE);
	(void)wall;
	if (n == MAP_FAILED || n == m)
		exit(1);
	rest(n, 4096);		/* the move itself is no access */
	read_all(n, PAGES);
	rest(n, 4096);
	write_all(n, 2 * PAGES);
}

static void given_back(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE);

	write_all(m, PAGES);
	pause_long();
	madvise(m, PAGES * PAGE, MADV_DONTNEED);
	rest(m, PAGES);
	read_all(m, PAGES);
	if (m[0] || m[PAGE])
		exit(1);
	rest(m, PAGES);
	write_all(m, PAGES);
}

/* Huge pages, which would hide 511 of 512 pages. */
static void huge(void)
{
	char *m = map(2048, PROT_READ | PROT_WRITE);

	m = (char *)(((uintptr_t)m + (2u << 20) - 1) & ~((2ul << 20) - 1));
	madvise(m, 4u << 20, MADV_HUGEPAGE);
	m[PAGE] = 1;
	rest(m, 1024);
	write_all(m + 3 * PAGE, 1);
	pause_long();
	{
		const uint64_t t = now();

		(void)*(volatile char *)(m + 7 * PAGE);
		pause_long();
		say("untouched", t, m + 8 * PAGE, 500);
	}
}

/* A userfaultfd of the program's own takes memory away from ours; afterwards it is traced again. */
static void own_userfaultfd(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE), *other = map(PAGES, PROT_READ | PROT_WRITE);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { (uintptr_t)m, PAGES * PAGE }, .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_range range = reg.range;

	write_all(m, PAGES);
	pause_long();
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg)) {
		perror("userfaultfd");
		exit(1);
	}
	m[0]++;
	write_all(other, PAGES);
	if (ioctl(fd, UFFDIO_UNREGISTER, &range))
		exit(1);
	pause_long();
	pause_long();
	pause_long();
	read_all(m, PAGES);
	rest(m, PAGES);
}

/* All descriptors are closed, ours as well. */
static void descriptors(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE), *n;

	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	n = map(PAGES, PROT_READ | PROT_WRITE);
	write_all(m, PAGES);
	pause_long();
	pause_long();
	write_all(n, PAGES);
	rest(n, PAGES);
	read_all(m, PAGES);
	read_all(n, PAGES);
}

/* After a fork the parent's pages are write-protected for the copy, and stay traced. */
static void forked(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE);
	int status;

	write_all(m, PAGES);
	pause_long();
	if (!fork()) {
		m[0] = 77;
		_exit(m[0] == 77 && m[PAGE] == 1 ? 0 : 1);
	}
	wait(&status);
	if (status || m[0] != 1)
		exit(1);
	rest(m, PAGES);
	read_all(m, PAGES);
	rest(m, PAGES);
	write_all(m, PAGES);
}

/* The stack grows, far. */
static void deep(int n)
{
	volatile char frame[8 * PAGE];

	frame[0] = frame[7 * PAGE] = (char)n;
	if (n)
		deep(n - 1);
	else
		write_all((char *)(((uintptr_t)frame + PAGE) & ~(PAGE - 1)), 4);
	frame[0]++;
}

static void stack(void)
{
	deep(100);
}

/* Code that is written and run, and a page that is only executed. */
static void code(void)
{
	char *m = map(PAGES, PROT_READ | PROT_WRITE | PROT_EXEC);
	uint64_t t;

	memset(m, 0xc3, PAGES * PAGE);		/* ret */
	rest(m, PAGES);
	t = now();
	((void (*)(void))(uintptr_t)(m + 5 * PAGE))();
	say("touched", t, m + 5 * PAGE, 1);
	pause_long();
	say("untouched", t, m + 6 * PAGE, 40);
}

/* For its cost: children that do little, of a parent with memory. */
static void forks(void)
{
	char *m = map(4096, PROT_READ | PROT_WRITE);

	memset(m, 1, 4096 * PAGE);
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(m[i * PAGE] == 1 ? 0 : 1);
		waitpid(pid, NULL, 0);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
	int listed;
} cases[] = {
	{ "plain", plain, 1 }, { "reserved", reserved, 1 }, { "moved", moved, 1 }, { "given-back", given_back, 1 },
	{ "huge", huge, 1 }, { "own-userfaultfd", own_userfaultfd, 1 }, { "descriptors", descriptors, 1 }, { "forked", forked, 1 },
	{ "stack", stack, 1 }, { "code", code, 1 }, { "forks", forks, 0 },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc < 2 && cases[i].listed)
			puts(cases[i].name);
		else if (argc > 1 && !strcmp(argv[1], cases[i].name))
			return cases[i].run(), 0;
	}
	return argc > 1;
}
