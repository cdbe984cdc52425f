// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Files that are mapped for reading, and what may happen to such a mapping meanwhile, one per argument. A thread reads it all the time, so
 * that looks come at any moment. Each checks its own result, prints a deterministic line, and must behave the same with and without
 * memtrace. "readfiles list" prints the names, one per line with the status that is expected ("name status").
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define PAGES 64UL
#define ROUNDS 150

#define CHECK(condition) do { \
	if (!(condition)) { \
		printf("%s:%d: failed: %s (errno %d)\n", __func__, __LINE__, #condition, errno); \
		fflush(stdout); \
		_exit(99); \
	} } while (0)

static int writing, reading;	/* the file, opened for both and for reading */

/* Page i of the file begins with seed + i. */
static void fill(uint64_t seed)
{
	for (uint64_t i = 0; i < PAGES; i++) {
		const uint64_t v = seed + i;

		CHECK(pwrite(writing, &v, sizeof(v), (off_t)(i * PAGE)) == sizeof(v));
	}
}

static void make(void)
{
	writing = open("readfiles.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	reading = open("readfiles.tmp", O_RDONLY);
	CHECK(writing >= 0 && reading >= 0 && !unlink("readfiles.tmp"));
	fill(1);
	CHECK(!ftruncate(writing, (off_t)(PAGES * PAGE)));
}

static char *map(int prot, int flags, int fd)
{
	char *p = mmap(NULL, PAGES * PAGE, prot, flags, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static uint64_t at(const char *p, uint64_t page)
{
	return *(const volatile uint64_t *)(const void *)(p + page * PAGE);
}

static void put(char *p, uint64_t page, uint64_t v)
{
	*(volatile uint64_t *)(void *)(p + page * PAGE) = v;
}

static int holds(const char *p, uint64_t from, uint64_t to, uint64_t seed)
{
	for (uint64_t i = from; i < to; i++)
		if (at(p, i) != seed + i)
			return 0;
	return 1;
}

static void nap(long us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* ---- a thread that reads */

static struct {
	const char *p;
	atomic_int on;
	pthread_t thread;
	volatile uint64_t sum;
} reader;

static void *read_on(void *arg)
{
	while (atomic_load(&reader.on))
		for (uint64_t i = 0; i < PAGES; i++)
			reader.sum += at(reader.p, i);
	return arg;
}

static void begin(const char *p)
{
	reader.p = p;
	atomic_store(&reader.on, 1);
	CHECK(!pthread_create(&reader.thread, NULL, read_on, NULL));
}

static void end(void)
{
	atomic_store(&reader.on, 0);
	CHECK(!pthread_join(reader.thread, NULL));
}

/* ---- who else writes to the file */

static void other_view(void)
{
	char *a = map(PROT_READ, MAP_SHARED, reading), *b = map(PROT_READ, MAP_PRIVATE, reading);
	char *w = map(PROT_READ | PROT_WRITE, MAP_SHARED, writing);

	begin(a);
	for (uint64_t k = 1; k <= ROUNDS; k++) {
		for (uint64_t i = 0; i < PAGES; i++)
			put(w, i, k * 1000 + i);
		CHECK(holds(a, 0, PAGES, k * 1000) && holds(b, 0, PAGES, k * 1000));
		nap(1000);
	}
	end();
}

static void other_write(void)
{
	char *a = map(PROT_READ, MAP_SHARED, reading), *b = map(PROT_READ, MAP_PRIVATE, reading);

	begin(b);
	for (uint64_t k = 1; k <= ROUNDS; k++) {
		fill(k * 1000);
		CHECK(holds(a, 0, PAGES, k * 1000) && holds(b, 0, PAGES, k * 1000));
		nap(1000);
	}
	end();
}

/* ---- the right to write */

/* @how: mprotect(), the system call, with a key. */
static int protect(char *p, size_t bytes, int prot, int how)
{
	return how == 0 ? mprotect(p, bytes, prot) : how == 1 ? (int)syscall(SYS_mprotect, p, bytes, prot) :
	       (int)syscall(SYS_pkey_mprotect, p, bytes, prot, 0);
}

/* What was written to a private mapping must stay, whenever that began. */
static void becomes_writable(void)
{
	for (int k = 0; k < ROUNDS; k++) {
		char *p = map(PROT_READ, MAP_PRIVATE, reading);

		begin(p);
		CHECK(holds(p, 0, PAGES, 1));
		nap(200 + k * 17 % 1500);
		CHECK(!protect(p + 8 * PAGE, 16 * PAGE, PROT_READ | PROT_WRITE, k % 2));
		for (uint64_t i = 8; i < 24; i++)
			put(p, i, 7000 + i);
		nap(200 + k * 13 % 1500);
		CHECK(holds(p, 0, 8, 1) && holds(p, 8, 24, 7000) && holds(p, 24, PAGES, 1));
		/* read-only again, with pages of its own */
		CHECK(!mprotect(p + 8 * PAGE, 16 * PAGE, PROT_READ));
		nap(1000);
		CHECK(holds(p, 0, 8, 1) && holds(p, 8, 24, 7000) && holds(p, 24, PAGES, 1));
		end();
		CHECK(!munmap(p, PAGES * PAGE));
	}
	CHECK(lseek(reading, 0, SEEK_SET) == 0);
}

static void with_a_key(void)
{
	for (int k = 0; k < 30; k++) {
		char *p = map(PROT_READ, MAP_PRIVATE, reading);
		int ret;

		begin(p);
		nap(1500);
		ret = pkey_mprotect(p, PAGES * PAGE, PROT_READ | PROT_WRITE, k % 2 ? -1 : 0);
		if (ret && errno == EINVAL)	/* no keys here */
			ret = protect(p, PAGES * PAGE, PROT_READ | PROT_WRITE, 1);
		CHECK(!ret);
		for (uint64_t i = 0; i < PAGES; i++)
			put(p, i, 9000 + i);
		nap(3000);
		CHECK(holds(p, 0, PAGES, 9000));
		end();
		munmap(p, PAGES * PAGE);
	}
}

/* Written from the begin, then read-only: nobody may ever take it away. */
static void was_writable(void)
{
	char *p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, reading);

	for (uint64_t i = 0; i < PAGES; i += 2)
		put(p, i, 500 + i);
	CHECK(!mprotect(p, PAGES * PAGE, PROT_READ));
	begin(p);
	nap(300000);
	end();
	for (uint64_t i = 0; i < PAGES; i++)
		CHECK(at(p, i) == (i % 2 ? 1 : 500) + i);
}

/* A shared mapping of a file that was opened for reading can never be written to; one of a file that was opened for both can. */
static void refused(void)
{
	char *p = map(PROT_READ, MAP_SHARED, reading), *q, *w = map(PROT_READ, MAP_SHARED, writing);

	begin(p);
	for (int how = 0; how < 2; how++) {
		errno = 0;
		CHECK(protect(p, PAGES * PAGE, PROT_READ | PROT_WRITE, how) == -1 && errno == EACCES);
		errno = 0;
		CHECK(protect(p + 5 * PAGE, PAGE, PROT_WRITE, how) == -1 && errno == EACCES);
		errno = 0;
		CHECK(protect(p + 1, PAGE, PROT_READ | PROT_WRITE, how) == -1 && errno == EINVAL);
	}
	CHECK(!mprotect(p, PAGE, PROT_NONE) && !mprotect(p, PAGE, PROT_READ));
	end();
	q = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(q != MAP_FAILED);
	CHECK(mmap(q + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, reading, 0) == q + PAGE);
	put(q, 0, 1);
	CHECK(!mprotect(q, PAGE, PROT_READ));
	/* what lies in front of it is changed */
	CHECK(mprotect(q, 3 * PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
	put(q, 0, 2);
	put(q, 2, 3);
	CHECK(at(q, 0) == 2 && at(q, 1) == 1 && at(q, 2) == 3);
	begin(w);
	nap(50000);
	CHECK(!mprotect(w, PAGES * PAGE, PROT_READ | PROT_WRITE));
	put(w, 3, 77);
	end();
	CHECK(at(p, 3) == 77 && at(w, 3) == 77);
}

static void executable(void)
{
	char *p = map(PROT_READ, MAP_PRIVATE, reading), *q = map(PROT_READ, MAP_SHARED, reading);

	begin(p);
	nap(50000);
	CHECK(!mprotect(p, PAGES * PAGE, PROT_READ | PROT_EXEC));
	CHECK(!mprotect(q, PAGES * PAGE, PROT_READ | PROT_EXEC));
	nap(50000);
	CHECK(holds(p, 0, PAGES, 1) && holds(q, 0, PAGES, 1));
	CHECK(mprotect(q, PAGES * PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
	end();
}

/* ---- the mapping and the file change */

static sigjmp_buf jump;

static void on_bus(int sig)
{
	siglongjmp(jump, sig);
}

static void truncated(void)
{
	const int flags[] = { MAP_SHARED, MAP_PRIVATE };
	volatile int buses = 0;

	signal(SIGBUS, on_bus);
	for (volatile int k = 0; k < 2; k++) {
		char *p = map(PROT_READ, flags[k], reading);

		CHECK(holds(p, 0, PAGES, 1));
		CHECK(!ftruncate(writing, (off_t)(10 * PAGE)));
		nap(60000);
		for (volatile uint64_t i = 0; i < PAGES; i++) {
			if (sigsetjmp(jump, 1))
				buses++;
			else
				CHECK(at(p, i) == i + 1 && i < 10);
		}
		CHECK(read(writing, NULL, 0) == 0 && write(STDERR_FILENO, p + 20 * PAGE, 1) == -1 && errno == EFAULT);
		fill(1);
		CHECK(!ftruncate(writing, (off_t)(PAGES * PAGE)));
		CHECK(holds(p, 0, PAGES, 1));
		munmap(p, PAGES * PAGE);
	}
	CHECK(buses == 2 * (int)(PAGES - 10));
}

static void moved(void)
{
	const int flags[] = { MAP_SHARED, MAP_PRIVATE };

	for (int k = 0; k < 60; k++) {
		char *p = map(PROT_READ, flags[k % 2], reading), *q;

		CHECK(holds(p, 0, PAGES, 1));
		nap(1000);
		q = mremap(p, PAGES * PAGE, PAGES / 2 * PAGE, 0);	/* smaller */
		CHECK(q == p && holds(q, 0, PAGES / 2, 1));
		q = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(q != MAP_FAILED);
		q = mremap(p, PAGES / 2 * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);	/* elsewhere, and larger */
		CHECK(q != MAP_FAILED && holds(q, 0, PAGES, 1));
		nap(1000);
		if (flags[k % 2] == MAP_SHARED) {
			CHECK(mprotect(q, PAGES * PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
		} else {
			CHECK(!mprotect(q + PAGE, PAGE, PROT_READ | PROT_WRITE));
			put(q, 1, 4711);
			nap(1000);
			CHECK(at(q, 1) == 4711 && at(q, 0) == 1 && at(q, 2) == 3);
		}
		munmap(q, 2 * PAGES * PAGE);
	}
}

/* Other memory in the middle of it, and where it was. */
static void replaced(void)
{
	for (int k = 0; k < 60; k++) {
		char *p = map(PROT_READ, k % 2 ? MAP_SHARED : MAP_PRIVATE, reading);

		begin(p);
		nap(500);
		CHECK(mmap(p + 20 * PAGE, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, reading, 0) == p + 20 * PAGE);
		for (uint64_t i = 20; i < 30; i++)
			put(p, i, 300 + i);
		CHECK(mmap(p + 40 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		      p + 40 * PAGE);
		put(p, 41, 6);
		nap(1500);
		CHECK(holds(p, 0, 20, 1) && holds(p, 20, 30, 300) && holds(p, 30, 40, 1) && at(p, 40) == 0 && at(p, 41) == 6 &&
		      holds(p, 44, PAGES, 1));
		end();
		munmap(p, PAGES * PAGE);
	}
}

static void locked(void)
{
	char *p = map(PROT_READ, MAP_SHARED, reading), *q = map(PROT_READ, MAP_PRIVATE | MAP_LOCKED, reading);

	CHECK(!mlock(p, 16 * PAGE));
	begin(p);
	nap(50000);
	CHECK(holds(p, 0, PAGES, 1) && holds(q, 0, PAGES, 1));
	CHECK(madvise(p, PAGES * PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
	CHECK(!munlock(p, 16 * PAGE));
	end();
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	p = map(PROT_READ, MAP_SHARED, reading);
	CHECK(holds(p, 0, PAGES, 1));
	CHECK(mprotect(p, PAGES * PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
	munlockall();
}

static void advised(void)
{
	char *p = map(PROT_READ, MAP_SHARED | MAP_POPULATE, reading), *q = map(PROT_READ, MAP_PRIVATE | MAP_POPULATE, reading);
	unsigned char there[PAGES];
	const int advice[] = { MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED, MADV_DONTNEED, MADV_NORMAL, MADV_DONTFORK, MADV_DOFORK };

	for (size_t k = 0; k < sizeof(advice) / sizeof(advice[0]); k++) {
		CHECK(!madvise(p, PAGES * PAGE, advice[k]) && !madvise(q, PAGES * PAGE, advice[k]));
		nap(1000);
		CHECK(holds(p, 0, PAGES, 1) && holds(q, 0, PAGES, 1));
	}
	CHECK(madvise(p, PAGES * PAGE, MADV_REMOVE) == -1);
	CHECK(!mincore(p, PAGES * PAGE, there) && (there[0] & 1));
	CHECK(!msync(p, PAGES * PAGE, MS_SYNC));
}

/* ---- processes */

static void forked(void)
{
	char *a = map(PROT_READ, MAP_SHARED, reading), *b = map(PROT_READ, MAP_PRIVATE, reading);

	begin(a);
	for (int k = 0; k < 20; k++) {
		int status = 0;
		pid_t child = fork();

		if (!child) {
			CHECK(holds(a, 0, PAGES, 1) && holds(b, 0, PAGES, 1));
			CHECK(!mprotect(b, 4 * PAGE, PROT_READ | PROT_WRITE));
			put(b, 2, 99);
			nap(5000);
			CHECK(at(b, 2) == 99 && at(a, 2) == 3);
			CHECK(mprotect(a, PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
		CHECK(holds(a, 0, PAGES, 1) && holds(b, 0, PAGES, 1));
	}
	end();
}

/* By the kernel, into and out of it. */
static void system_calls(void)
{
	char *p = map(PROT_READ, MAP_SHARED, reading), *q = map(PROT_READ, MAP_PRIVATE, reading);
	const int out = open("readfiles.out", O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t back;

	CHECK(out >= 0 && !unlink("readfiles.out"));
	for (int k = 0; k < 40; k++) {
		CHECK(pwrite(out, k % 2 ? p : q, PAGES * PAGE, 0) == (ssize_t)(PAGES * PAGE));
		nap(1000);
		for (uint64_t i = 0; i < PAGES; i++)
			CHECK(pread(out, &back, sizeof(back), (off_t)(i * PAGE)) == sizeof(back) && back == i + 1);
		CHECK(pread(writing, p, 8, 0) == -1 && errno == EFAULT);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "other-view", other_view }, { "other-write", other_write }, { "becomes-writable", becomes_writable },
	{ "with-a-key", with_a_key }, { "was-writable", was_writable }, { "refused", refused }, { "executable", executable },
	{ "truncated", truncated }, { "moved", moved }, { "replaced", replaced }, { "locked", locked }, { "advised", advised },
	{ "forked", forked }, { "system-calls", system_calls },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!strcmp(argv[1], "list")) {
			printf("%s 0\n", tests[i].name);
		} else if (!strcmp(argv[1], tests[i].name)) {
			make();
			tests[i].run();
			printf("%s is well\n", argv[1]);
			return 0;
		}
	}
	return argc == 2 && !strcmp(argv[1], "list") ? 0 : 2;
}
