// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * What a program may expect of its memory and its process, checked by itself. Run
 * untraced it says what the system does, run traced it must say the same: run.sh
 * compares. Without arguments it lists its cases; each case is run in a process of
 * its own. Exit 0 and "ok", or a line "semantics.c:N: ..." and exit 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define CLONE_PIDFD_FLAG 0x1000ul		/* of sched.h, which older headers do not have */
#define CLONE_PARENT_SETTID_FLAG 0x100000ul
#define CLONE_CHILD_SETTID_FLAG 0x1000000ul
#define MUST(cond) do { if (!(cond)) fail(__LINE__, #cond); } while (0)

extern char **environ;

static void fail(int line, const char *what)
{
	printf("semantics.c:%d: %s (errno %d)\n", line, what, errno);
	fflush(stdout);
	_exit(1);
}

static char *anon(size_t n)
{
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	return p;
}

static void fill(char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i += 8)
		*(uint64_t *)(p + i) = (i + seed) * 0x9e3779b97f4a7c15ull;
}

static int same(const char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i += 8)
		if (*(const uint64_t *)(p + i) != (i + seed) * 0x9e3779b97f4a7c15ull)
			return 0;
	return 1;
}

static int zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return 0;
	return 1;
}

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* ---- address space */

static void c_mmap(void)
{
	char *p = anon(16 * PAGE), *q;

	MUST(zero(p, 16 * PAGE));
	fill(p, 16 * PAGE, 1);
	nap(30);
	MUST(same(p, 16 * PAGE, 1));
	/* a hole, and fresh zeroes when it is mapped again */
	MUST(!munmap(p + 4 * PAGE, 4 * PAGE));
	q = mmap(p + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	MUST(q == p + 4 * PAGE && zero(q, 4 * PAGE));
	/* replaced in place */
	fill(p, 16 * PAGE, 2);
	q = mmap(p, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	MUST(q == p && zero(p, 8 * PAGE));
	MUST(mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST);
	MUST(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
	MUST(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED && errno == EBADF);
	MUST(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 0, 5) == MAP_FAILED && errno == EINVAL);
	MUST(munmap(p + 1, PAGE) == -1 && errno == EINVAL);
	/* odd length */
	q = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	MUST(q != MAP_FAILED && zero(q, PAGE));
	q[PAGE - 1] = 1;
	MUST(!munmap(q, 100));
	/* a huge reservation, partly committed, as managed languages do it */
	p = mmap(NULL, 64ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(p != MAP_FAILED);
	MUST(!mprotect(p + (1ul << 30), 1 << 20, PROT_READ | PROT_WRITE));
	fill(p + (1ul << 30), 1 << 20, 3);
	q = mmap(p + (2ul << 30), 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	MUST(q == p + (2ul << 30));
	fill(q, 1 << 20, 4);
	nap(120);
	MUST(same(p + (1ul << 30), 1 << 20, 3) && same(q, 1 << 20, 4));
	MUST(!munmap(p, 64ul << 30));
}

static void c_mremap(void)
{
	char *p, *q, *r;

	p = anon(8 * PAGE);
	fill(p, 8 * PAGE, 1);
	/* shrink */
	MUST(mremap(p, 8 * PAGE, 4 * PAGE, 0) == p && same(p, 4 * PAGE, 1));
	/* grow again: in place or moved, new pages are zero */
	q = mremap(p, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 4 * PAGE, 1) && zero(q + 4 * PAGE, 60 * PAGE));
	/* must not move: blocked by a neighbour */
	r = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(mremap(r, PAGE, 3 * PAGE, 0) == MAP_FAILED && errno == ENOMEM);
	fill(r, 3 * PAGE, 5);
	p = mremap(r, PAGE, 9 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && p != r && same(p, PAGE, 5) && zero(p + PAGE, 8 * PAGE));
	MUST(same(r + PAGE, 0, 0));
	/* to a fixed place, over existing memory */
	r = anon(32 * PAGE);
	fill(r, 32 * PAGE, 6);
	fill(q, 64 * PAGE, 7);
	MUST(mremap(q, 8 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, r + 8 * PAGE) == r + 8 * PAGE);
	MUST(same(r, 8 * PAGE, 6));
	MUST(same(r + 8 * PAGE, 8 * PAGE, 7) && zero(r + 16 * PAGE, 8 * PAGE));
	/* leaves zeroes behind */
	p = anon(4 * PAGE);
	fill(p, 4 * PAGE, 8);
	q = mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, NULL);
	MUST(q != MAP_FAILED && q != p && same(q, 4 * PAGE, 8) && zero(p, 4 * PAGE));
	/* refusals */
	MUST(mremap(p, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EINVAL);
	MUST(mremap(p, PAGE, 0, MREMAP_MAYMOVE) == MAP_FAILED && errno == EINVAL);
	MUST(mremap(p + 1, PAGE, PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EINVAL);
	MUST(mremap(p, PAGE, PAGE, MREMAP_FIXED, r) == MAP_FAILED && errno == EINVAL);
	MUST(mremap(p, 2 * PAGE, 2 * PAGE, MREMAP_FIXED | MREMAP_MAYMOVE, p + PAGE) == MAP_FAILED && errno == EINVAL);
	munmap(p, 4 * PAGE);
	MUST(mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
	/* protections move along */
	p = anon(2 * PAGE);
	fill(p, 2 * PAGE, 9);
	mprotect(p, 2 * PAGE, PROT_READ);
	q = mremap(p, 2 * PAGE, 4096 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 2 * PAGE, 9));
	MUST(read(open("/dev/zero", O_RDONLY), q, 1) == -1 && errno == EFAULT);
	/* shared memory of the program is not ours: old size 0 makes a second mapping */
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	q = mremap(p, 0, PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED);
	p[5] = 77;
	MUST(q[5] == 77);
	/* realloc uses mremap */
	p = malloc(300000);
	fill(p, 300000, 10);
	for (size_t n = 400000; n < 40000000; n *= 2) {
		p = realloc(p, n);
		MUST(p && same(p, 300000, 10));
	}
	free(p);
}

static void c_madvise(void)
{
	char *p = anon(64 * PAGE), *shared;
	int fd;

	fill(p, 64 * PAGE, 1);
	MUST(!madvise(p, 8 * PAGE, MADV_DONTNEED));
	MUST(zero(p, 8 * PAGE) && *(uint64_t *)(p + 8 * PAGE) != 0);
	MUST(!madvise(p + 8 * PAGE, 8 * PAGE, MADV_FREE));
	fill(p + 8 * PAGE, 8 * PAGE, 2);
	MUST(same(p + 8 * PAGE, 8 * PAGE, 2));
	MUST(madvise(p, PAGE, MADV_REMOVE) == -1 && errno == EINVAL);
	MUST(madvise(p + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
	MUST(madvise(p, PAGE, 12345) == -1 && errno == EINVAL);
	MUST(!madvise(p, 64 * PAGE, MADV_HUGEPAGE));
	MUST(!madvise(p, 64 * PAGE, MADV_WILLNEED));
	MUST(!madvise(p, 0, MADV_DONTNEED));
	/* a file of the program must keep its contents */
	fd = memfd_create("x", 0);
	MUST(!ftruncate(fd, 4 * PAGE));
	shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fill(shared, 4 * PAGE, 3);
	MUST(!madvise(shared, 4 * PAGE, MADV_DONTNEED));
	MUST(same(shared, 4 * PAGE, 3));
	/* wiped in the child, kept here */
	MUST(!madvise(p + 32 * PAGE, PAGE, MADV_WIPEONFORK));
	fill(p + 32 * PAGE, PAGE, 4);
	if (!fork())
		_exit(zero(p + 32 * PAGE, PAGE) ? 0 : 1);
	int st;
	wait(&st);
	MUST(st == 0 && same(p + 32 * PAGE, PAGE, 4));
}

static int child_status(pid_t pid)
{
	int st = -1;

	MUST(waitpid(pid, &st, 0) == pid);
	return st;
}

static sigjmp_buf out_of_handler;

static void jump_out(int sig)
{
	(void)sig;
	siglongjmp(out_of_handler, 1);
}

static int faults(char *p)
{
	if (sigsetjmp(out_of_handler, 1))
		return 1;
	*(volatile char *)p = 1;
	return 0;
}

static volatile int served;

static void *serve_pages(void *arg)
{
	struct uffd_msg m;
	char page[PAGE];

	while (read(*(int *)arg, &m, sizeof(m)) == sizeof(m) && m.event == UFFD_EVENT_PAGEFAULT) {
		struct uffdio_copy c = { .dst = m.arg.pagefault.address & ~(PAGE - 1), .src = (uint64_t)page, .len = PAGE };

		memset(page, 5, PAGE);
		served++;
		MUST(!ioctl(*(int *)arg, UFFDIO_COPY, &c));
	}
	return NULL;
}

/* What is for private memory only, of which the recorder has none: guard pages, seals, the program's own userfaultfd. */
static void c_private_only(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *p = anon(16 * PAGE), *q;
	int st, uffd;
	pthread_t t;

	signal(SIGSEGV, jump_out);
	fill(p, 16 * PAGE, 1);
	if (!madvise(p + 2 * PAGE, PAGE, 102 /* MADV_GUARD_INSTALL */)) {
		pid_t pid = fork();

		if (!pid)
			_exit(faults(p + 2 * PAGE) ? 0 : 1);
		MUST(child_status(pid) == 0 && faults(p + 2 * PAGE));
		MUST(!madvise(p + 2 * PAGE, PAGE, 103) && zero(p + 2 * PAGE, PAGE));
		MUST(same(p, 2 * PAGE, 1));
	}
	/* what cannot be read is kept, too, and what is private in part moves like the rest */
	fill(p, 16 * PAGE, 1);
	MUST(!mprotect(p + 8 * PAGE, 4 * PAGE, PROT_NONE) && !madvise(p + 6 * PAGE, 4 * PAGE, MADV_WIPEONFORK));
	MUST(!mprotect(p + 8 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE) && same(p, 16 * PAGE, 1));
	MUST(!madvise(p + 6 * PAGE, 4 * PAGE, MADV_KEEPONFORK));
	q = mremap(p, 16 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 16 * PAGE, 1) && zero(q + 16 * PAGE, 4 * PAGE));
	MUST(!munmap(q, 20 * PAGE));

	/* locked memory cannot be dropped */
	p = anon(4 * PAGE);
	fill(p, 4 * PAGE, 2);
	if (!mlock(p, 4 * PAGE))
		MUST(madvise(p, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL && same(p, 4 * PAGE, 2));

	p = anon(4 * PAGE);
	fill(p, 4 * PAGE, 3);
	if (!syscall(462 /* mseal */, p, 4 * PAGE, 0ul)) {
		pid_t pid;

		MUST(munmap(p, PAGE) == -1 && errno == EPERM);
		MUST(mremap(p, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EPERM);
		MUST(mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EPERM);
		pid = fork();
		if (!pid) {
			fill(p, 4 * PAGE, 4);
			_exit(5);
		}
		st = child_status(pid);
		MUST(WEXITSTATUS(st) == 5 && same(p, 4 * PAGE, 3));
	}

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		return;
	p = anon(8 * PAGE);
	fill(p, 2 * PAGE, 6);
	reg.range.start = (uint64_t)p;
	reg.range.len = 8 * PAGE;
	MUST(!ioctl(uffd, UFFDIO_REGISTER, &reg) && !pthread_create(&t, NULL, serve_pages, &uffd));
	MUST(same(p, 2 * PAGE, 6));
	for (unsigned i = 2; i < 8; i++)
		MUST(p[i * PAGE + 7] == 5);
	MUST(served == 6);
}

/* A block that comes where another one was: zeroes, and what nobody has touched is missing for the program's own userfaultfd. */
static void c_again(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char page[PAGE];

	for (unsigned i = 0; i < 200; i++) {
		char *p = anon((8 + i % 5) * PAGE);

		MUST(zero(p, (8 + i % 5) * PAGE));
		fill(p, (8 + i % 5) * PAGE, 3);
		if (i % 50 == 0)
			nap(10);
		MUST(!munmap(p, (8 + i % 5) * PAGE));
	}
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		return;
	memset(page, 7, PAGE);
	for (unsigned round = 0; round < 4; round++) {
		char *p = anon(16 * PAGE);

		fill(p, 16 * PAGE, 1);
		MUST(!munmap(p, 16 * PAGE));
		p = anon(16 * PAGE);
		MUST(zero(p, 4 * PAGE));
		p[5 * PAGE] = 0;
		if (round & 1)
			nap(20);
		p[7 * PAGE] = 0;
		if (round & 2)
			p = mremap(p, 16 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, anon(16 * PAGE));
		reg.range.start = (uint64_t)p;
		reg.range.len = 16 * PAGE;
		MUST(!ioctl(uffd, UFFDIO_REGISTER, &reg));
		for (unsigned i = 0; i < 16; i++) {
			struct uffdio_copy c = { .dst = (uint64_t)p + i * PAGE, .src = (uint64_t)page, .len = PAGE };
			const int is_there = i < 4 || i == 5 || i == 7;

			MUST(ioctl(uffd, UFFDIO_COPY, &c) == (is_there ? -1 : 0));
			MUST(p[i * PAGE + 1] == (is_there ? 0 : 7));
		}
		MUST(!munmap(p, 16 * PAGE));
	}
}

static void c_brk(void)
{
	char *a = sbrk(0), *b;

	MUST(sbrk(100 * PAGE) == a);
	MUST(zero(a, 100 * PAGE));
	fill(a, 100 * PAGE, 1);
	nap(60);
	MUST(same(a, 100 * PAGE, 1));
	b = sbrk(-50 * (long)PAGE);
	MUST(b == a + 100 * PAGE && same(a, 50 * PAGE, 1));
	MUST(sbrk(50 * PAGE) == a + 50 * PAGE);
	/* up to the page of the break contents may stay */
	MUST(zero(a + 51 * PAGE, 49 * PAGE));
	for (int i = 1; i < 3000; i++)
		MUST(sbrk(i % 100) != (void *)-1);
	MUST(brk((void *)~0ul) == -1 && errno == ENOMEM);
}

static void c_mlock(void)
{
	char *p = anon(64 * PAGE);
	struct rlimit rl;
	int status = 0;
	pid_t pid;

	getrlimit(RLIMIT_MEMLOCK, &rl);
	MUST(!mlock(p, 64 * PAGE));
	fill(p, 64 * PAGE, 1);
	nap(120);
	MUST(same(p, 64 * PAGE, 1));
	MUST(!munlock(p, 32 * PAGE));
	/* a fork changes nothing of it here; the child has the contents */
	pid = fork();
	if (!pid)
		_exit(!same(p, 64 * PAGE, 1));
	MUST(waitpid(pid, &status, 0) == pid && !status);
	MUST(madvise(p + 40 * PAGE, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
	MUST(!madvise(p, PAGE, MADV_DONTNEED) && zero(p, PAGE));
	if (!mlockall(MCL_CURRENT | MCL_FUTURE)) {
		char *q = anon(64 * PAGE);

		fill(q, 64 * PAGE, 2);
		nap(120);
		MUST(same(q, 64 * PAGE, 2));
		MUST(!munlockall());
	}
}

/* A hole among mappings may be unmapped once more; nothing of the collector may be in it. */
static void c_holes(void)
{
	char *p = anon(4096 * PAGE);

	for (int i = 0; i < 40; i++) {
		munmap(p + (64 + 100 * i) * PAGE, 64 * PAGE);
		free(malloc(200000));
		nap(2);
	}
	for (int i = 0; i < 3; i++) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	MUST(!munmap(p, 4096 * PAGE));
	p = anon(PAGE);
	fill(p, PAGE, 1);
	nap(60);
	MUST(same(p, PAGE, 1));
}

/* ---- stacks and signals */

static int deep(int n)
{
	volatile char frame[1000];

	memset((char *)frame, n & 127, sizeof(frame));
	if (n == 0)
		return 0;
	return deep(n - 1) + (frame[n % 1000] == (n & 127));
}

static sigjmp_buf back;
static volatile int hits;

static void on_segv(int sig, siginfo_t *si, void *ctx)
{
	(void)sig, (void)si, (void)ctx;
	hits++;
	siglongjmp(back, 1);
}

static void c_stack(void)
{
	static char alt[65536];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof(alt) };
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	pthread_attr_t attr;
	void *addr;
	size_t size;

	MUST(deep(7000) == 7000);	/* 7 MB of the usual 8 */
	/* overflow, on an alternate stack, and back: twice */
	MUST(!sigaltstack(&ss, NULL) && !sigaction(SIGSEGV, &sa, NULL));
	for (volatile int i = 0; i < 2; i++)
		if (!sigsetjmp(back, 1))
			deep(1 << 30);
	MUST(hits == 2);
	/* an access to nothing, and to something protected */
	if (!sigsetjmp(back, 1))
		*(volatile int *)16 = 1;
	char *p = anon(PAGE);
	mprotect(p, PAGE, PROT_READ);
	if (!sigsetjmp(back, 1))
		*(volatile char *)p = 1;
	MUST(hits == 4);
	/* what libc believes about the main stack */
	MUST(!pthread_getattr_np(pthread_self(), &attr) && !pthread_attr_getstack(&attr, &addr, &size));
	MUST((char *)&attr > (char *)addr && (char *)&attr < (char *)addr + size && size >= 7 << 20);
}

static volatile int ticks;

static void on_tick(int sig)
{
	char *p;

	(void)sig;
	ticks++;
	p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || p[5000])
		_exit(9);
	p[5000] = 1;
	munmap(p, 3 * PAGE);
}

/* Handlers that map memory while the program maps memory. */
static void c_signals(void)
{
	struct itimerval it = { { 0, 300 }, { 0, 300 } };

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &it, NULL);
	while (ticks < 300) {
		char *p = anon(8 * PAGE);

		p[0] = 1;
		p = mremap(p, 8 * PAGE, 80 * PAGE, MREMAP_MAYMOVE);
		MUST(p != MAP_FAILED && p[0] == 1);
		munmap(p, 80 * PAGE);
	}
	memset(&it, 0, sizeof(it));
	setitimer(ITIMER_REAL, &it, NULL);
}

/* ---- threads */

static __thread int tls_value = 5;

static void *worker(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	char local[30000];

	tls_value += (int)me;
	fill(local, 29000, me);
	for (int i = 0; i < 40; i++) {
		size_t n = 1000 + (me * 7919u + (unsigned)i * 104729u) % 400000u;
		char *p = malloc(n + 8);

		fill(p, n & ~7ul, me);
		if (i % 10 == 0)
			nap(1);
		MUST(same(p, n & ~7ul, me));
		free(p);
	}
	MUST(same(local, 29000, me) && tls_value == 5 + (int)me);
	return arg;
}

static void c_threads(void)
{
	pthread_t t[8];
	pthread_attr_t attr;
	char *stack;
	void *ret;

	for (int round = 0; round < 6; round++) {
		for (uintptr_t i = 0; i < 8; i++)
			MUST(!pthread_create(&t[i], NULL, worker, (void *)i));
		for (uintptr_t i = 0; i < 8; i++) {
			MUST(!pthread_join(t[i], &ret));
			MUST(ret == (void *)i);
		}
	}
	stack = anon(256 * PAGE);
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstack(&attr, stack, 256 * PAGE));
	MUST(!pthread_create(&t[0], &attr, worker, (void *)3));
	MUST(!pthread_join(t[0], NULL));
	munmap(stack, 256 * PAGE);
	for (int i = 0; i < 20; i++) {
		MUST(!pthread_create(&t[0], NULL, worker, (void *)1));
		MUST(!pthread_detach(t[0]));
	}
	nap(50);
}

static void *last_one(void *arg)
{
	nap(50);
	printf("ok\n");
	return arg;
}

/* The main thread ends first; the process ends with status 0 when the last one does. */
static void c_pthread_exit(void)
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, last_one, NULL));
	pthread_exit(NULL);
}

/* All threads end without libc; nobody else may keep the process alive. */
static void c_raw_exit(void)
{
	printf("ok\n");
	fflush(stdout);
	syscall(SYS_exit, 7);
}

/* ---- processes */

static char data_before[PAGE] = "data";
static int bss_before[5000];

static void c_fork(void)
{
	char *big = anon(2000 * PAGE), *none = anon(PAGE), local[100] = "stack";
	char *heap = malloc(100000);
	pid_t pid, self = getpid();
	int fds[2];

	MUST(!pipe(fds));
	fill(big, 2000 * PAGE, 1);
	fill(heap, 100000, 2);
	fill(none, PAGE, 3);
	mprotect(none, PAGE, PROT_NONE);
	bss_before[4999] = 42;
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		char byte;

		MUST(getppid() == self && getpid() != self && gettid() == getpid());
		/* the parent changes its copy first */
		MUST(read(fds[0], &byte, 1) == 1);
		MUST(same(big, 2000 * PAGE, 1) && same(heap, 100000, 2) && bss_before[4999] == 42);
		MUST(!strcmp(local, "stack") && !strcmp(data_before, "data"));
		mprotect(none, PAGE, PROT_READ);
		MUST(same(none, PAGE, 3));
		fill(big, 2000 * PAGE, 9);
		strcpy(local, "child");
		strcpy(data_before, "child");
		free(heap);
		heap = malloc(5000000);
		fill(heap, 5000000, 8);
		nap(70);
		MUST(same(big, 2000 * PAGE, 9) && same(heap, 5000000, 8));
		/* a grandchild, and threads in a child */
		pid = fork();
		if (!pid) {
			c_threads();
			_exit(3);
		}
		MUST(WEXITSTATUS(child_status(pid)) == 3);
		exit(5);
	}
	MUST(getpid() == self && gettid() == self);
	fill(big, 2000 * PAGE, 4);
	strcpy(local, "parent");
	bss_before[4999] = 43;
	fill(heap, 100000, 5);
	MUST(write(fds[1], "x", 1) == 1);
	MUST(WEXITSTATUS(child_status(pid)) == 5);
	MUST(same(big, 2000 * PAGE, 4) && same(heap, 100000, 5) && bss_before[4999] == 43);
	MUST(!strcmp(local, "parent") && !strcmp(data_before, "data"));
}

static volatile int stop_noise;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *noise(void *arg)
{
	while (!stop_noise) {
		char *p = malloc(200000);

		p[100000] = 1;
		free(p);
	}
	return arg;
}

static void lock_held(void)
{
	pthread_mutex_lock(&held);
}

static void unlock_held(void)
{
	pthread_mutex_unlock(&held);
}

/* fork while other threads allocate, with atfork handlers, from a thread that is not the first. */
static void *forker(void *arg)
{
	for (int i = 0; i < 15; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (!pid) {
			MUST(gettid() == getpid());
			MUST(pthread_mutex_trylock(&held) == 0);
			free(malloc(300000));
			raise(SIGUSR1);		/* ignored: uses the thread id */
			_exit(i);
		}
		MUST(WEXITSTATUS(child_status(pid)) == i);
	}
	return arg;
}

static void c_fork_threads(void)
{
	pthread_t t[3], f;

	signal(SIGUSR1, SIG_IGN);
	pthread_atfork(lock_held, unlock_held, unlock_held);
	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&t[i], NULL, noise, NULL));
	MUST(!pthread_create(&f, NULL, forker, NULL));
	MUST(!pthread_join(f, NULL));
	stop_noise = 1;
	for (int i = 0; i < 3; i++)
		MUST(!pthread_join(t[i], NULL));
}

/* execve() that takes longer than an interval: so many arguments that the kernel copies them for milliseconds. */
static void c_long_exec(void)
{
	enum { ARGS = 45, BYTES = 120 * 1024 };
	char *argv[ARGS + 2] = { "true" };
	struct rlimit stack;
	int args = ARGS;

	/* a quarter of the limit may be arguments, and never more than 6 MiB */
	MUST(!getrlimit(RLIMIT_STACK, &stack));
	stack.rlim_cur = stack.rlim_max;
	MUST(!setrlimit(RLIMIT_STACK, &stack));
	if (stack.rlim_cur / 4 / BYTES < ARGS + 2)
		args = (int)(stack.rlim_cur / 4 / BYTES) - 2;
	for (int i = 1; i <= args; i++) {
		argv[i] = malloc(BYTES);
		MUST(argv[i]);
		memset(argv[i], 'a', BYTES - 1);
		argv[i][BYTES - 1] = 0;
	}
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			execv("/bin/true", argv);
			_exit(1);
		}
		MUST(child_status(pid) == 0);
	}
}

/* An execve() that fails late: the program goes on, and so do its intervals (run.sh counts them). */
static void c_failed_exec(void)
{
	char path[] = "/tmp/memtrace-no-program-XXXXXX", *argv[] = { path, NULL };
	int fd = mkstemp(path);

	MUST(fd >= 0 && write(fd, "none\n", 5) == 5 && !fchmod(fd, 0755) && !close(fd));
	MUST(execv(path, argv) == -1 && errno == ENOEXEC);
	unlink(path);
	nap(200);
}

static void c_spawn(void)
{
	char *argv[] = { "sh", "-c", "exit 11", NULL };
	pid_t pid;
	FILE *f;
	char line[100];

	MUST(!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ));
	MUST(WEXITSTATUS(child_status(pid)) == 11);
	MUST(WEXITSTATUS(system("exit 12")) == 12);
	f = popen("echo from a pipe", "r");
	MUST(f && fgets(line, sizeof(line), f) && !strcmp(line, "from a pipe\n"));
	MUST(pclose(f) == 0);
	pid = vfork();
	if (!pid) {
		execl("/does/not/exist", "x", NULL);
		execl("/bin/sh", "sh", "-c", "exit 13", NULL);
		_exit(1);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 13);
	pid = vfork();
	if (!pid)
		_exit(14);
	MUST(WEXITSTATUS(child_status(pid)) == 14);
	pid = fork();
	if (!pid) {
		execlp("sh", "sh", "-c", "exit 15", NULL);
		_exit(1);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 15);
	/* killed children */
	pid = fork();
	if (!pid)
		abort();
	MUST(WTERMSIG(child_status(pid)) == SIGABRT);
	pid = fork();
	if (!pid)
		*(volatile int *)8 = 1;
	MUST(WTERMSIG(child_status(pid)) == SIGSEGV);
	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid)
		_exit(0);
	MUST(waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
}

/* fork and vfork without the libc functions of that name */
static int clone_fn(void *arg)
{
	*(int *)arg = 99;
	_exit(21);
}

static void c_raw_clone(void)
{
	static int shared_value;
	char *stack = anon(64 * PAGE);
	pid_t pid;

	shared_value = 1;
	pid = (pid_t)syscall(SYS_fork);
	if (!pid) {
		shared_value = 2;
		_exit(22);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 22 && shared_value == 1);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		shared_value = 2;
		_exit(23);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 23 && shared_value == 1);
	pid = clone(clone_fn, stack + 64 * PAGE, SIGCHLD, &shared_value);
	MUST(pid > 0 && WEXITSTATUS(child_status(pid)) == 21 && shared_value == 1);
	pid = clone(clone_fn, stack + 64 * PAGE, SIGCHLD | CLONE_VM, &shared_value);
	MUST(pid > 0 && WEXITSTATUS(child_status(pid)) == 21 && shared_value == 99);
#if __GLIBC_PREREQ(2, 34)
	pid = _Fork();
	if (!pid)
		_exit(24);
	MUST(WEXITSTATUS(child_status(pid)) == 24);
#endif
}

/* ---- descriptors and limits */

static void too_late(int sig)
{
	(void)sig;
	_exit(98);
}

/*
 * What sandboxes do (bubblewrap, Chromium's zygote): a raw clone into a new process namespace,
 * whose first process forks and allocates. It must not wait for what its parent held.
 */
static void c_namespace(void)
{
	static const unsigned long flags[] = { CLONE_NEWPID, CLONE_NEWUSER | CLONE_NEWPID, CLONE_PARENT };

	for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
		pid_t pid = (pid_t)syscall(SYS_clone, flags[k] | SIGCHLD, NULL, NULL, NULL, NULL);

		if (pid < 0)
			continue;		/* needs rights that we do not have */
		if (!pid) {
			/*
			 * 1 s of the program's own CPU time, on any machine; by default the signal does not end
			 * the first process. The kernel's time is not counted: where several processes end at
			 * once it waits for the entries of /proc in a loop (shrink_dcache_parent), 10 s and more.
			 */
			signal(SIGVTALRM, too_late);
			setitimer(ITIMER_VIRTUAL, &(struct itimerval){ .it_value.tv_sec = 1 }, NULL);
			for (int i = 0; i < 5; i++) {
				char *p = malloc(1 << 20);
				pid_t second = fork();

				memset(p, i, 1 << 20);
				if (!second)
					_exit(i);
				if (WEXITSTATUS(child_status(second)) != i)
					_exit(90 + i);
				free(p);
			}
			execl("/bin/sh", "sh", "-c", "/bin/true; exit 7", NULL);
			_exit(99);
		}
		if (flags[k] & CLONE_PARENT) {	/* not ours to wait for */
			while (!kill(pid, 0) && errno != ESRCH) {
				char path[64], state[512] = "";
				FILE *f;

				snprintf(path, sizeof(path), "/proc/%d/stat", pid);
				f = fopen(path, "r");
				if (!f || !fgets(state, sizeof(state), f) || strstr(state, ") Z"))
					break;
				fclose(f);
				nap(5);
			}
		} else {
			MUST(WEXITSTATUS(child_status(pid)) == 7);
		}
	}
}

static void c_close_all(void)
{
	pid_t pid;
	char *p;

	for (int fd = 3; fd < 5000; fd++)
		close(fd);
	p = anon(100 * PAGE);
	fill(p, 100 * PAGE, 1);
	nap(120);
	MUST(same(p, 100 * PAGE, 1));
	for (int fd = 3; fd < 1100; fd++)
		dup2(1, fd);
	p = mremap(p, 100 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && same(p, 100 * PAGE, 1) && zero(p + 100 * PAGE, 900 * PAGE));
	MUST(!madvise(p, PAGE, MADV_DONTNEED) && zero(p, PAGE));
	pid = fork();
	if (!pid) {
		MUST(zero(p, PAGE));
		p[0] = 1;
		_exit(4);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 4);
	MUST(p[0] == 0);
#if __GLIBC_PREREQ(2, 34)
	close_range(3, ~0u, 0);
#else
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
#endif
	p = malloc(1 << 20);
	fill(p, 1 << 20, 2);
	MUST(same(p, 1 << 20, 2));
	/* a daemon: closes all, forks twice */
	pid = fork();
	if (!pid) {
		setsid();
		pid = fork();
		if (!pid)
			_exit(same(p, 1 << 20, 2) ? 6 : 7);
		MUST(pid > 0);
		_exit(WEXITSTATUS(child_status(pid)));
	}
	MUST(WEXITSTATUS(child_status(pid)) == 6);
}

static void *in_thread(void *arg)
{
	return arg;
}

/*
 * A child that has, and keeps, what the parent had, and whose writes the parent does not see. @child: what the way of making
 * a process gave.
 */
static void goes_apart(pid_t pid, char *memory, int mark)
{
	MUST(pid >= 0);
	if (!pid) {
		char local[64];

		if (memory[0] != mark)
			_exit(1);
		memory[0] = (char)(mark + 1);
		memset(local, mark, sizeof(local));
		nap(30);
		_exit(memory[0] == mark + 1 && local[63] == mark ? 3 : 2);
	}
	nap(10);
	MUST(memory[0] == mark);
	memory[0] = (char)(mark + 2);
	MUST(WEXITSTATUS(child_status(pid)) == 3);
	MUST(memory[0] == mark + 2);
	memory[0] = (char)mark;
}

/* Twice: the first may change how the process goes on. Its memory stays what a program expects, too. */
static void fork_twice(char *memory)
{
	memory[0] = 40;
	goes_apart(fork(), memory, 40);
	goes_apart(fork(), memory, 40);
	memory[PAGE] = 1;
	MUST(!madvise(memory + PAGE, PAGE, MADV_DONTNEED) && zero(memory + PAGE, PAGE) && memory[0] == 40);
	memory[PAGE] = 1;
}

/* Neither /proc nor a number for a new descriptor is there, in the parent and in the child. */
static void c_few_descriptors(void)
{
	const struct rlimit three = { 3, 3 };
	char *p = anon(100 * PAGE);

	for (int fd = 3; fd < 900; fd++)
		close(fd);
	MUST(!setrlimit(RLIMIT_NOFILE, &three));
	fork_twice(p);
	p = mremap(p, 100 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && p[0] == 40 && p[PAGE] == 1 && zero(p + 100 * PAGE, 900 * PAGE));
}

static void in_chroot(const char *dir)
{
	char *p = anon(100 * PAGE);
	pid_t pid;

	if (chroot(dir)) {	/* for root only */
		MUST(errno == EPERM);
		return;
	}
	MUST(!chdir("/"));
	for (int fd = 3; fd < 2000; fd++)
		close(fd);
	fork_twice(p);
	p = mremap(p, 100 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && p[0] == 40 && p[PAGE] == 1 && zero(p + 100 * PAGE, 900 * PAGE));
	MUST(!munmap(p + 500 * PAGE, 500 * PAGE));
	p = mremap(p, 500 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && p[0] == 40 && zero(p + 500 * PAGE, 500 * PAGE));
	/* a child has children of its own */
	pid = fork();
	if (!pid) {
		MUST(!mprotect(p + PAGE, PAGE, PROT_READ) && !madvise(p + PAGE, PAGE, MADV_DONTNEED) && zero(p + PAGE, PAGE));
		pid = fork();
		if (!pid) {
			p[0] = 41;
			_exit(3);
		}
		MUST(pid > 0 && WEXITSTATUS(child_status(pid)) == 3 && p[0] == 40);
		_exit(4);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 4 && p[PAGE] == 1);
}

static void c_chroot(void)
{
	char dir[] = "/tmp/semantics-XXXXXX";
	pid_t pid;

	MUST(mkdtemp(dir));
	pid = fork();
	if (!pid) {
		in_chroot(dir);
		_exit(2);
	}
	MUST(WEXITSTATUS(child_status(pid)) == 2 && !rmdir(dir));
}

/* What a program may do with its memory after it has forked: the same as before. */
static void c_after_fork(void)
{
	char *p = anon(300 * PAGE), *q;
	pid_t pid;

	fill(p, 300 * PAGE, 5);
	/* a neighbour: what grows must not find it */
	pid = fork();
	if (pid)
		MUST(WEXITSTATUS(child_status(pid)) == 6);
	MUST(!munmap(p + 250 * PAGE, 50 * PAGE));
	q = mremap(p + 100 * PAGE, 10 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 10 * PAGE, 5 + 100 * PAGE) && zero(q + 10 * PAGE, 10 * PAGE));
	fill(q + 10 * PAGE, 10 * PAGE, 6);
	q = mremap(q, 20 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 10 * PAGE, 5 + 100 * PAGE) && same(q + 10 * PAGE, 10 * PAGE, 6) && zero(q + 20 * PAGE, 20 * PAGE));
	q = mremap(q, 40 * PAGE, 15 * PAGE, 0);
	MUST(q != MAP_FAILED && same(q, 10 * PAGE, 5 + 100 * PAGE));
	MUST(!madvise(p + 10 * PAGE, 10 * PAGE, MADV_DONTNEED) && zero(p + 10 * PAGE, 10 * PAGE));
	MUST(same(p, 10 * PAGE, 5) && same(p + 20 * PAGE, 10 * PAGE, 5 + 20 * PAGE));
	q = mremap(p + 240 * PAGE, 10 * PAGE, 60 * PAGE, MREMAP_MAYMOVE);
	MUST(q != MAP_FAILED && same(q, 10 * PAGE, 5 + 240 * PAGE) && zero(q + 10 * PAGE, 50 * PAGE));
	MUST(mmap(p + 30 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 30 * PAGE);
	MUST(zero(p + 30 * PAGE, PAGE) && same(p + 31 * PAGE, 10 * PAGE, 5 + 31 * PAGE));
	MUST(!mprotect(p + 40 * PAGE, PAGE, PROT_READ));
	MUST(!madvise(p + 39 * PAGE, 3 * PAGE, MADV_DONTNEED) && zero(p + 39 * PAGE, 3 * PAGE));
	p[39 * PAGE] = p[41 * PAGE] = 1;
	MUST(!madvise(p + 50 * PAGE, 10 * PAGE, MADV_DONTFORK));
	MUST(!madvise(p + 55 * PAGE, 5 * PAGE, MADV_DOFORK));
	MUST(!madvise(p + 70 * PAGE, PAGE, MADV_WIPEONFORK));
	if (pid) {
		pid_t second = fork();

		if (!second) {
			unsigned char there;

			MUST(mincore(p + 50 * PAGE, PAGE, &there) && errno == ENOMEM);
			MUST(same(p + 55 * PAGE, 5 * PAGE, 5 + 55 * PAGE) && zero(p + 70 * PAGE, PAGE));
			_exit(7);
		}
		MUST(WEXITSTATUS(child_status(second)) == 7);
		MUST(same(p + 50 * PAGE, 20 * PAGE, 5 + 50 * PAGE));
	} else {
		_exit(6);
	}
}

/* As many ways as there are through syscall(). */
static void c_clone3(void)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
	} a = { .exit_signal = SIGCHLD };
	char *p = anon(10 * PAGE);
	int pidfd = -1, tid[2] = { 0, 0 };
	pid_t pid;

	p[0] = 50;
	pid = (pid_t)syscall(435, &a, 64ul);
	if (pid < 0 && errno == ENOSYS)
		return;
	goes_apart(pid, p, 50);
	a.flags = CLONE_PIDFD_FLAG | CLONE_PARENT_SETTID_FLAG | CLONE_CHILD_SETTID_FLAG;
	a.pidfd = (uint64_t)&pidfd;
	a.parent_tid = (uint64_t)&tid[0];
	a.child_tid = (uint64_t)&tid[1];
	pid = (pid_t)syscall(435, &a, sizeof(a));
	if (!pid)
		_exit(tid[1] == (int)syscall(SYS_gettid) ? 8 : 9);
	MUST(pid > 0 && pidfd >= 0 && tid[0] == pid && tid[1] == 0);
	MUST(WEXITSTATUS(child_status(pid)) == 8);
	pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD_FLAG | SIGCHLD, 0, &pidfd, 0, 0);
	goes_apart(pid, p, 50);
	MUST(syscall(435, &a, 8ul) == -1 && errno == EINVAL);
	MUST(syscall(435, 8ul, 64ul) == -1 && errno == EFAULT);
}

static void c_dlopen(void)
{
	void *h = dlopen("libz.so.1", RTLD_NOW);
	pthread_t t;

	MUST(!pthread_create(&t, NULL, in_thread, NULL) && !pthread_join(t, NULL));
	if (h) {
		const char *(*version)(void) = (const char *(*)(void))dlsym(h, "zlibVersion");

		MUST(version && version()[0] == '1');
		nap(120);
		MUST(version()[0] == '1');
		MUST(!dlclose(h));
	}
	nap(60);
}

/* System calls read and write traced memory that is not mapped at that moment. */
static void c_syscalls(void)
{
	char *p = anon(1000 * PAGE), *q = anon(1000 * PAGE);
	int fd = memfd_create("x", 0), fds[2];

	for (unsigned round = 0; round < 4; round++) {
		fill(p, 1000 * PAGE, round);
		nap(60);
		MUST(pwrite(fd, p, 1000 * PAGE, 0) == 1000 * (long)PAGE);
		nap(60);
		MUST(pread(fd, q, 1000 * PAGE, 0) == 1000 * (long)PAGE);
		MUST(same(q, 1000 * PAGE, round));
	}
	MUST(!pipe(fds));
	MUST(write(fds[1], p, 60000) == 60000);
	memset(p, 0, 60000);
	MUST(read(fds[0], q, 60000) == 60000 && same(q, 60000, 3));
}

#ifdef __x86_64__
/*
 * What makes system calls in programs of Go: the function of all of them, that of vfork(), and that of madvise(), as the compiler of
 * Go 1.26 makes them; and the note that says that this is such a program.
 */
long go_call(long n, long a, long b, long c, long d);
long go_vfork_call(long n, long a, long b, long c);
int go_madvise(void *at, size_t bytes, int advice);
asm(
"	.pushsection .note.go.buildid, \"a\", @note\n"
"	.p2align 2\n"
"	.long 4, 4, 4\n"
"	.ascii \"Go\\0\\0none\"\n"
"	.popsection\n"
"	.text\n"
"	.p2align 5\n"
"go_call:\n"
"	push %rbx\n"
"	mov %rdi, %rax\n"
"	mov %rsi, %rbx\n"
"	mov %rcx, %rdi\n"
"	mov %rdx, %rcx\n"
"	mov %r8, %rsi\n"
"	xor %r8d, %r8d\n"
"	xor %r9d, %r9d\n"
"	jmp 1f\n"
"	.p2align 5\n"
"1:	mov %rsi, %r10\n"
"	mov %rdi, %rdx\n"
"	mov %rcx, %rsi\n"
"	mov %rbx, %rdi\n"
"	syscall\n"
"	cmp $0xfffffffffffff001, %rax\n"
"	pop %rbx\n"
"	ret\n"
"go_vfork_call:\n"
"	push %r12\n"
"	sub $0x38, %rsp\n"
"	mov %rdi, (%rsp)\n"
"	mov %rsi, 8(%rsp)\n"
"	mov %rdx, 16(%rsp)\n"
"	mov %rcx, 24(%rsp)\n"
"	call 1f\n"
"	add $0x38, %rsp\n"
"	pop %r12\n"
"	ret\n"
"1:	mov 0x10(%rsp), %rdi\n"
"	mov 0x18(%rsp), %rsi\n"
"	mov 0x20(%rsp), %rdx\n"
"	mov $0, %r10\n"
"	mov $0, %r8\n"
"	.byte 0x49, 0xc7, 0xc1, 0, 0, 0, 0\n"		/* mov $0, %r9 */
"	mov 8(%rsp), %rax\n"
"	pop %r12\n"
"	syscall\n"
"	push %r12\n"
"	cmp $0xfffffffffffff001, %rax\n"
"	ret\n"
"go_madvise:\n"
"	sub $0x28, %rsp\n"
"	mov %rdi, (%rsp)\n"
"	mov %rsi, 8(%rsp)\n"
"	mov %edx, 16(%rsp)\n"
"	call 1f\n"
"	mov 24(%rsp), %eax\n"
"	add $0x28, %rsp\n"
"	ret\n"
"1:	mov 8(%rsp), %rdi\n"
"	mov 16(%rsp), %rsi\n"
"	mov 24(%rsp), %edx\n"
"	movq $28, %rax\n"
"	syscall\n"
"	mov %eax, 32(%rsp)\n"
"	ret\n");

static void c_go(void)
{
	int pidfd = -1, tid = 0, status = 0;
	char *p = anon(10 * PAGE);

	/* what is given back is zero from then on */
	p[0] = p[PAGE] = 59;
	errno = E2BIG;
	MUST(go_madvise(p, PAGE, MADV_DONTNEED) == 0 && p[0] == 0 && p[PAGE] == 59);
	MUST(go_madvise(p + 1, PAGE, MADV_DONTNEED) == -EINVAL && p[PAGE] == 59 && errno == E2BIG);
	MUST(go_call(SYS_madvise, (long)(p + PAGE), PAGE, MADV_DONTNEED, 0) == 0 && p[PAGE] == 0);
	p[0] = 60;
	MUST(go_call(SYS_getpid, 0, 0, 0, 0) == getpid());
	MUST(go_call(SYS_write, -1, 0, 0, 0) == -EBADF);
	MUST(go_call(SYS_getresuid, (long)&tid, (long)&pidfd, (long)&status, 0) == 0 && tid == (int)getuid() && pidfd == tid);
	goes_apart((pid_t)go_call(SYS_fork, 0, 0, 0, 0), p, 60);
	goes_apart((pid_t)go_call(SYS_clone, SIGCHLD, 0, 0, 0), p, 60);
	goes_apart((pid_t)go_vfork_call(SYS_clone, SIGCHLD, 0, 0), p, 60);
	goes_apart((pid_t)go_vfork_call(SYS_clone, CLONE_PIDFD_FLAG | SIGCHLD, 0, (long)&pidfd), p, 60);
	MUST(pidfd > 2);
	MUST(go_call(SYS_clone, 0x10000 /* CLONE_THREAD */, 0, 0, 0) == -EINVAL);
}
#endif

static char data_of_file[8 * PAGE] __attribute__((aligned(4096))) = "of the file";
static char data_of_none[8 * PAGE] __attribute__((aligned(4096)));

/* What is given back of initialised data is the file again. */
static void c_data(void)
{
	int status;
	pid_t pid;

	strcpy(data_of_file, "changed");
	strcpy(data_of_file + 5 * PAGE, "changed");
	memset(data_of_none, 1, sizeof(data_of_none));
	MUST(madvise(data_of_file, PAGE, MADV_FREE) == -1 && errno == EINVAL);
	MUST(madvise(data_of_file, PAGE, MADV_WIPEONFORK) == -1 && errno == EINVAL);
	MUST(madvise(data_of_file, PAGE, MADV_REMOVE) == -1 && errno == EACCES);
	MUST(!madvise(data_of_none, PAGE, MADV_FREE) && !madvise(data_of_none + PAGE, PAGE, MADV_DONTNEED) && !data_of_none[PAGE]);
	MUST(!strcmp(data_of_file, "changed"));
	pid = fork();
	if (!pid) {
		if (strcmp(data_of_file, "changed") || madvise(data_of_file, PAGE, MADV_DONTNEED) || strcmp(data_of_file, "of the file"))
			_exit(1);
		_exit(strcmp(data_of_file + 5 * PAGE, "changed") ? 2 : 7);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 7 << 8);
	MUST(!strcmp(data_of_file, "changed"));
	/* some pages, then all, then what was given back before */
	MUST(!madvise(data_of_file + 5 * PAGE, PAGE, MADV_DONTNEED) && !data_of_file[5 * PAGE] && !strcmp(data_of_file, "changed"));
	MUST(!madvise(data_of_file, 8 * PAGE, MADV_DONTNEED) && !strcmp(data_of_file, "of the file"));
	strcpy(data_of_file, "once more");
	pid = fork();
	if (!pid)
		_exit(strcmp(data_of_file, "once more") || strcpy(data_of_file, "child") != data_of_file);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status && !strcmp(data_of_file, "once more"));
	MUST(!madvise(data_of_file, 8 * PAGE, MADV_DONTNEED) && !strcmp(data_of_file, "of the file"));
}

/* remap_file_pages() is for shared memory. */
static void c_other_order(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *q = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED && q != MAP_FAILED);
	for (int i = 0; i < 4; i++)
		p[i * (int)PAGE] = q[i * (int)PAGE] = (char)('a' + i);
	MUST(remap_file_pages(p, PAGE, 0, 3, 0) == -1 && errno == EINVAL && *p == 'a');
	MUST(syscall(SYS_remap_file_pages, p + PAGE, PAGE, 0, 3, 0) == -1 && errno == EINVAL && p[PAGE] == 'b');
	MUST(remap_file_pages(data_of_none, PAGE, 0, 3, 0) == -1 && errno == EINVAL);
	MUST(!remap_file_pages(q, PAGE, 0, 3, 0) && *q == 'd');
}

/* Is the memory kept out of core dumps? */
static int is_not_dumped(const void *at)
{
	char line[4400];
	unsigned long start, end, in = 0;
	int found = -1;
	FILE *f = fopen("/proc/self/smaps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			in = start <= (unsigned long)at && (unsigned long)at < end;
		if (in && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, " dd") != NULL;
	}
	if (f)
		fclose(f);
	return found;
}

static void c_not_dumped(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	MUST(p != MAP_FAILED && !madvise(p, 2 * PAGE, MADV_DONTDUMP) && !madvise(p + PAGE, PAGE, MADV_DODUMP));
	for (int k = 0; k < 2; k++) {
		MUST(is_not_dumped(p) == 1 && !is_not_dumped(p + PAGE) && !is_not_dumped(p + 2 * PAGE));
		pid = fork();
		if (!pid)
			_exit(is_not_dumped(p) == 1 && !is_not_dumped(p + PAGE) && !is_not_dumped(p + 2 * PAGE) ? 7 : 8);
		MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 7 << 8);
	}
	p = mremap(p, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	MUST(p != MAP_FAILED && is_not_dumped(p) == 1 && is_not_dumped(p + 7 * PAGE) == 1);
	MUST(!munmap(p, 8 * PAGE) && mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p && !is_not_dumped(p));
}

static const struct {
	const char *name;
	void (*fn)(void);
} cases[] = {
#ifdef __x86_64__
	{ "go", c_go },
#endif
	{ "mmap", c_mmap }, { "mremap", c_mremap }, { "madvise", c_madvise }, { "private_only", c_private_only }, { "again", c_again },
	{ "brk", c_brk }, { "data", c_data }, { "other_order", c_other_order }, { "not_dumped", c_not_dumped },
	{ "mlock", c_mlock }, { "holes", c_holes }, { "stack", c_stack }, { "signals", c_signals }, { "threads", c_threads },
	{ "pthread_exit", c_pthread_exit }, { "raw_exit", c_raw_exit }, { "fork", c_fork }, { "long_exec", c_long_exec },
	{ "failed_exec", c_failed_exec },
	{ "fork_threads", c_fork_threads }, { "spawn", c_spawn }, { "raw_clone", c_raw_clone }, { "namespace", c_namespace },
	{ "close_all", c_close_all }, { "dlopen", c_dlopen },
	{ "few_descriptors", c_few_descriptors }, { "chroot", c_chroot }, { "after_fork", c_after_fork }, { "clone3", c_clone3 },
	{ "syscalls", c_syscalls },
};

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc < 2) {
			printf("%s\n", cases[i].name);
		} else if (!strcmp(argv[1], cases[i].name)) {
			cases[i].fn();
			printf("ok\n");
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
