// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * stress paths [ROUNDS]: takes hidden pages through the paths of the kernel
 *        that look at page tables, and verifies data and signals each time.
 * stress storm SECONDS: four threads map, fill, move, protect, discard, fork.
 * stress processes N: N short processes, each verifies what it inherited.
 * stress alive SECONDS: three threads verify 8 MiB until the time is over or
 *        /tmp/stress.stop exists; says how many page faults the last round took.
 * Exit status 0: no failure.
 */
#include "kt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

static int failures;
#define CHECK(c, ...) do { if (!(c)) { failures++; printf("FAIL line %d: ", __LINE__); printf(__VA_ARGS__); printf("\n"); } } while (0)
#define V(p, i) (*(volatile u64 *)((p) + (size_t)(i) * PAGE))

static sigjmp_buf jump;
static volatile int segv;

static void on_segv(int sig)
{
	(void)sig;
	segv++;
	siglongjmp(jump, 1);
}

/* How many signals does an access to the page raise? */
__attribute__((noinline)) static int signals_of(char *p, int i, int write)
{
	segv = 0;
	if (!sigsetjmp(jump, 1)) {
		if (write)
			V(p, i) = 1;
		else
			(void)V(p, i);
	}
	return segv;
}

static void fill(char *p, size_t n, u64 k)
{
	for (size_t i = 0; i < n; i++)
		V(p, i) = k + i;
}

static u64 wrong(char *p, size_t n, u64 k)
{
	u64 bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += V(p, i) != k + i;
	return bad;
}

/* Some intervals: everything is hidden afterwards. */
static void nap(void)
{
	usleep(90000);
}

static int ended_well(pid_t k)
{
	int status = -1;

	return waitpid(k, &status, 0) == k && status == 0;
}

static void forks(size_t n)
{
	char *p = kt_map(n * PAGE, MAP_PRIVATE);
	pid_t k[3];
	u64 bad = 0;

	fill(p, n, 1000);
	nap();
	for (int c = 0; c < 3; c++) {
		k[c] = fork();
		if (!k[c]) {
			if (c == 1)
				nap();
			bad = wrong(p, n, 1000);
			fill(p, n, 2000);
			if (c == 2)
				nap();
			bad += wrong(p, n, 2000);
			_exit(bad != 0);
		}
	}
	for (size_t i = 0; i < n; i += 3)
		V(p, i) = 5;
	for (int c = 0; c < 3; c++)
		CHECK(ended_well(k[c]), "child %d of fork", c);
	for (size_t i = 0; i < n; i++)
		bad += V(p, i) != (i % 3 ? 1000 + i : 5);
	CHECK(!bad, "copy on write in the parent: %llu", (unsigned long long)bad);
	munmap(p, n * PAGE);

	p = kt_map(n * PAGE, MAP_SHARED);
	fill(p, n, 50);
	nap();
	k[0] = fork();
	if (!k[0]) {
		bad = wrong(p, n, 50);
		fill(p, n, 60);
		nap();
		fill(p, n, 70);
		_exit(bad != 0);
	}
	CHECK(ended_well(k[0]), "child of a shared mapping");
	CHECK(!wrong(p, n, 70), "shared mapping");
	munmap(p, n * PAGE);
}

static void mappings(size_t n)
{
	char *p = kt_map(n * PAGE, MAP_PRIVATE), *q, *r;

	fill(p, n, 3);
	nap();
	q = mremap(p, n * PAGE, 2 * n * PAGE, MREMAP_MAYMOVE);
	CHECK(q != MAP_FAILED && !wrong(q, n, 3), "mremap");
	nap();
	r = kt_map(2 * n * PAGE, MAP_PRIVATE);
	CHECK(mremap(q, n * PAGE, n * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, r) == r, "mremap to a place");
	CHECK(!wrong(r, n, 3), "data after mremap");
	fill(r, n, 9);
	nap();
	CHECK(!wrong(r, n, 9), "data after mremap and a nap");
	munmap(r, 2 * n * PAGE);

	p = kt_map(n * PAGE, MAP_PRIVATE);
	fill(p, n, 11);
	nap();
	mprotect(p, n * PAGE, PROT_READ);
	CHECK(signals_of(p, 3, 1) == 1, "a write to read-only memory did not fault");
	CHECK(!wrong(p, n, 11), "read-only data");
	nap();
	CHECK(signals_of(p, 4, 1) == 1, "a write to hidden read-only memory did not fault");
	mprotect(p, n * PAGE, PROT_NONE);
	CHECK(signals_of(p, 3, 0) == 1, "a read of PROT_NONE did not fault");
	nap();
	CHECK(signals_of(p, 300, 0) == 1, "a read of PROT_NONE did not fault after a nap");
	mprotect(p, n * PAGE, PROT_READ | PROT_WRITE);
	CHECK(!wrong(p, n, 11), "data after mprotect");
	fill(p, n, 12);
	nap();
	CHECK(!wrong(p, n, 12), "data after mprotect and a nap");

	madvise(p, n * PAGE, MADV_DONTNEED);
	for (size_t i = 0; i < n; i++)
		CHECK(!V(p, i), "MADV_DONTNEED, page %zu", i);
	fill(p, n, 77);
	nap();
	madvise(p, n * PAGE, 21 /* MADV_PAGEOUT */);
	CHECK(!wrong(p, n, 77), "swapped out and in");
	nap();
	madvise(p, n * PAGE, 21);
	pid_t k = fork();
	if (!k)
		_exit(wrong(p, n, 77) != 0);
	CHECK(ended_well(k), "fork over swap");
	CHECK(!wrong(p, n, 77), "swapped, in the parent");
	fill(p, n, 78);
	madvise(p, n * PAGE, 20 /* MADV_COLD */);
	nap();
	CHECK(!wrong(p, n, 78), "cold");
	nap();
	madvise(p, n * PAGE, 21);
	CHECK(!wrong(p, n, 78), "swapped out while hidden");

	q = kt_map(n * PAGE, MAP_PRIVATE);
	memset(q, 0x5a, n * PAGE);
	madvise(q, n * PAGE, MADV_MERGEABLE);
	for (int i = 0; i < 5; i++)
		nap();
	for (size_t i = 0; i < n; i++)
		CHECK(V(q, i) == 0x5a5a5a5a5a5a5a5aull, "merged page %zu", i);
	fill(q, n, 4);
	nap();
	CHECK(!wrong(q, n, 4), "merged pages written");
	munmap(q, n * PAGE);
	munmap(p, n * PAGE);
}

static void calls(size_t n)
{
	char *p = kt_map(n * PAGE, MAP_PRIVATE), *q;
	int fd, pp[2];
	pid_t k, me = getpid();
	struct timespec ms = { 0, 1000000 };

	fill(p, n, 1);
	if (pipe(pp))
		DIE("pipe");
	nap();
	for (size_t i = 0; i < n; i += 16) {
		char *d = p + ((i + 8) % n) * PAGE;
		size_t got = 0;

		CHECK(write(pp[1], p + i * PAGE, 8 * PAGE) == 8 * (ssize_t)PAGE, "write from hidden pages");
		while (got < 8 * PAGE) {
			ssize_t x = read(pp[0], d + got, 8 * PAGE - got);

			CHECK(x > 0, "read into hidden pages: %d", errno);
			if (x <= 0)
				break;
			got += (size_t)x;
		}
		CHECK(!memcmp(d, p + i * PAGE, 8 * PAGE), "data through a pipe");
	}
	close(pp[0]);
	close(pp[1]);

	fd = open("/tmp/stress.data", O_CREAT | O_TRUNC | O_RDWR, 0600);
	fill(p, n, 31);
	nap();
	CHECK(pwrite(fd, p, n * PAGE, 0) == (ssize_t)(n * PAGE), "pwrite %d", errno);
	memset(p, 0, n * PAGE);
	nap();
	CHECK(pread(fd, p, n * PAGE, 0) == (ssize_t)(n * PAGE) && !wrong(p, n, 31), "pread");
	q = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(!wrong(q, n, 31), "shared file");
	nap();
	fill(q, n, 32);
	nap();
	msync(q, n * PAGE, MS_SYNC);
	fill(q, n, 33);
	nap();
	CHECK(pread(fd, p, n * PAGE, 0) == (ssize_t)(n * PAGE) && !wrong(p, n, 33), "shared file, written");
	munmap(q, n * PAGE);
	q = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(!wrong(q, n, 33), "private file");
	nap();
	fill(q, n, 34);
	nap();
	CHECK(!wrong(q, n, 34), "private file, written");
	munmap(q, n * PAGE);
	close(fd);

	fill(p, n, 90);
	nap();
	k = fork();
	if (!k) {
		char *d = kt_map(n * PAGE, MAP_PRIVATE);
		struct iovec l = { d, n * PAGE }, r = { p, n * PAGE };
		ssize_t x = process_vm_readv(me, &l, 1, &r, 1, 0);

		_exit(x != (ssize_t)(n * PAGE) || wrong(d, n, 90));
	}
	CHECK(ended_well(k), "process_vm_readv of hidden pages");
	k = fork();
	if (!k) {
		struct iovec l, r = { p, n * PAGE };

		fill(p, n, 91);		/* a copy: does not change the parent's */
		l = (struct iovec){ p, n * PAGE };
		_exit(process_vm_writev(me, &l, 1, &r, 1, 0) != (ssize_t)(n * PAGE));
	}
	CHECK(ended_well(k), "process_vm_writev to hidden pages");
	CHECK(!wrong(p, n, 91), "data of process_vm_writev");

	nap();
	V(p, 7) = 1;
	nap();
	syscall(SYS_futex, p + 7 * PAGE, FUTEX_WAIT, 1, &ms, 0, 0);
	CHECK(errno == ETIMEDOUT, "futex on a hidden page: %d", errno);
	syscall(SYS_futex, p + 7 * PAGE, FUTEX_WAKE, 1, 0, 0, 0);
	V(p, 7) = 98;
	nap();
	CHECK(!mlock(p, n * PAGE), "mlock");
	nap();
	CHECK(!wrong(p, n, 91), "locked");
	munlock(p, n * PAGE);
	k = vfork();
	if (!k) {
		execl("/bin/busybox", "true", (char *)0);
		_exit(9);
	}
	CHECK(ended_well(k), "vfork and exec");
	munmap(p, n * PAGE);
}

static void stack_and_heap(void)
{
	volatile char st[256 * 1024];

	for (int i = 0; i < 256; i++)
		st[i * 1024] = (char)i;
	nap();
	for (int i = 0; i < 256; i++)
		CHECK(st[i * 1024] == (char)i, "stack");
	for (int i = 0; i < 200; i++) {
		char *h = malloc(200000);

		memset(h, i, 200000);
		CHECK(h[1000] == (char)i, "heap");
		free(h);
	}
}

struct storm {
	pthread_t id;
	unsigned seed;
	double end;
	u64 bad, rounds;
};

static void *storm(void *arg)
{
	struct storm *t = arg;

	for (; kt_now() < t->end || t->rounds < 6; t->rounds++) {
		size_t n = 16 + (size_t)rand_r(&t->seed) % 200;
		u64 k = (u64)rand_r(&t->seed);
		char *p = kt_map(n * PAGE, MAP_PRIVATE);

		fill(p, n, k);
		if (t->rounds & 1)
			usleep((useconds_t)rand_r(&t->seed) % 60000);
		switch (rand_r(&t->seed) % 5) {
		case 0:
			p = mremap(p, n * PAGE, (n + 300) * PAGE, MREMAP_MAYMOVE);
			t->bad += wrong(p, n, k);
			n += 300;
			break;
		case 1:
			mprotect(p, n * PAGE, PROT_READ);
			t->bad += wrong(p, n, k);
			mprotect(p, n * PAGE, PROT_READ | PROT_WRITE);
			fill(p, n, k + 1);
			t->bad += wrong(p, n, k + 1);
			break;
		case 2:
			madvise(p, n * PAGE, 21 /* MADV_PAGEOUT */);
			t->bad += wrong(p, n, k);
			break;
		case 3:
			if (!(t->rounds % 3)) {
				pid_t c = fork();

				if (!c)
					_exit(wrong(p, n, k) != 0);
				t->bad += !ended_well(c);
			}
			t->bad += wrong(p, n, k);
			break;
		case 4:
			madvise(p, n * PAGE, MADV_DONTNEED);
			for (size_t i = 0; i < n; i++)
				t->bad += V(p, i) != 0;
			break;
		}
		munmap(p, n * PAGE);
	}
	return NULL;
}

static char *shared_area;
static volatile int over;
static volatile u64 alive_bad;

static void *alive(void *arg)
{
	const size_t per = 2048 / 3, id = (size_t)arg;
	char *p = shared_area + id * per * PAGE;

	for (u64 round = 0; !over; round++) {
		fill(p, per, round);
		if (wrong(p, per, round))
			alive_bad++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_segv };
	const char *what = argc > 1 ? argv[1] : "";
	const double amount = argc > 2 ? atof(argv[2]) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	if (!strcmp(what, "paths")) {
		for (int i = 0; i < (int)amount; i++) {
			forks(512);
			mappings(512);
			calls(512);
			stack_and_heap();
		}
	} else if (!strcmp(what, "storm")) {
		struct storm t[4] = {};
		u64 rounds = 0;

		for (int i = 0; i < 4; i++) {
			t[i].seed = (unsigned)i * 7919 + 1;
			t[i].end = kt_now() + amount;
			if (pthread_create(&t[i].id, NULL, storm, &t[i]))
				DIE("pthread_create");
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(t[i].id, NULL);
			CHECK(!t[i].bad, "%llu wrong", (unsigned long long)t[i].bad);
			rounds += t[i].rounds;
		}
		CHECK(rounds > 20, "only %llu rounds", (unsigned long long)rounds);
		printf("storm: %llu rounds\n", (unsigned long long)rounds);
	} else if (!strcmp(what, "processes")) {
		const int n = (int)amount;
		char *p = kt_map(64 * PAGE, MAP_PRIVATE);
		pid_t *k = calloc((size_t)n, sizeof(*k));

		fill(p, 64, 3);
		for (int i = 0; i < n; i++) {
			k[i] = fork();
			if (!k[i]) {
				u64 bad = wrong(p, 64, 3);

				fill(p, 64, (u64)i);
				usleep(30000);
				_exit(bad + wrong(p, 64, (u64)i) != 0);
			}
		}
		for (int i = 0; i < n; i++)
			CHECK(ended_well(k[i]), "process %d", i);
	} else if (!strcmp(what, "alive")) {
		struct rusage a, b;
		pthread_t id[3];

		shared_area = kt_map(2048 * PAGE, MAP_PRIVATE);
		for (size_t i = 0; i < 3; i++)
			if (pthread_create(&id[i], NULL, alive, (void *)i))
				DIE("pthread_create");
		for (double end = kt_now() + amount; kt_now() < end && access("/tmp/stress.stop", F_OK);)
			usleep(20000);
		over = 1;
		for (int i = 0; i < 3; i++)
			pthread_join(id[i], NULL);
		CHECK(!alive_bad, "%llu wrong rounds", (unsigned long long)alive_bad);
		/* on a slow machine the threads may not have come round since the end of a session */
		fill(shared_area, 2048, 0);
		getrusage(RUSAGE_SELF, &a);
		fill(shared_area, 2048, 1);
		CHECK(!wrong(shared_area, 2048, 1), "last round");
		getrusage(RUSAGE_SELF, &b);
		printf("alive: faults of the last round %ld\n", b.ru_minflt - a.ru_minflt);
	} else {
		return 2;
	}
	printf("stress: %s, %d failures\n", what, failures);
	return failures != 0;
}
