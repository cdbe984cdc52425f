// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Small programs that do what a collector easily breaks, one per argument.
 * Each checks its own result, prints a deterministic line, and must behave the
 * same with and without memtrace. "quirks list" prints the names, one per line
 * with the status that is expected ("name status").
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096UL

extern char **environ;
static char *self;

#define CHECK(condition) do { \
	if (!(condition)) { \
		printf("%s:%d: failed: %s (errno %d)\n", __func__, __LINE__, #condition, errno); \
		fflush(stdout); \
		_exit(99); \
	} } while (0)

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static char *pages(size_t n)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static void stamp(char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		*(uint64_t *)(void *)(p + i * PAGE) = seed + i;
}

static int stamped(const char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		if (*(const uint64_t *)(const void *)(p + i * PAGE) != seed + i)
			return 0;
	return 1;
}

static int child_status(pid_t child)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- signals ------------------------------------------------------------ */

static sigjmp_buf escape;
static volatile sig_atomic_t signals_seen;
static void *volatile fault_address;

static void on_segv(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	fault_address = info->si_addr;
	signals_seen++;
	siglongjmp(escape, 1);
}

static int segv_handler(void)
{
	struct sigaction a = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO };
	char *p = pages(2);

	CHECK(!mprotect(p + PAGE, PAGE, PROT_NONE));
	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 100; i++)
		if (!sigsetjmp(escape, 1))
			*(volatile char *)(p + PAGE + i) = 1;
		else
			CHECK(fault_address == p + PAGE + i);
	printf("%d faults handled\n", (int)signals_seen);
	return 0;
}

static char *guarded;

static void on_segv_open(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	signals_seen++;
	mprotect((void *)((uintptr_t)info->si_addr & ~(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

/* A program with its own memory tracking: mprotect and SIGSEGV. */
static int segv_mprotect(void)
{
	struct sigaction a = { .sa_sigaction = on_segv_open, .sa_flags = SA_SIGINFO };

	guarded = pages(64);
	stamp(guarded, 64, 5);
	sigaction(SIGSEGV, &a, NULL);
	for (int round = 0; round < 20; round++) {
		CHECK(!mprotect(guarded, 64 * PAGE, round % 2 ? PROT_NONE : PROT_READ));
		for (int i = 0; i < 64; i++)
			guarded[(size_t)i * PAGE + 100] = (char)round;
	}
	CHECK(stamped(guarded, 64, 5));
	printf("%d faults\n", (int)signals_seen);
	return 0;
}

/*
 * The barriers of a garbage collector, at an address that is known: what faults there without ever being allowed is no
 * access. robustness.sh looks at the records of the four groups of 16 pages.
 */
#define BARRIERS ((char *)0x6a0000000000)

static void fault_at(int page, int write)
{
	volatile char *p = BARRIERS + (size_t)page * PAGE + 24;

	if (!sigsetjmp(escape, 1)) {
		if (write)
			*p = 1;
		else
			(void)*p;
	}
}

static int barriers(void)
{
	struct sigaction skip = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO };
	struct sigaction open_it = { .sa_sigaction = on_segv_open, .sa_flags = SA_SIGINFO };
	char *p = mmap(BARRIERS, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int never = 0;

	CHECK(p == BARRIERS);
	CHECK(!mprotect(p, 16 * PAGE, PROT_NONE));		/* never allowed */
	CHECK(!mprotect(p + 16 * PAGE, 16 * PAGE, PROT_READ));	/* allowed by the handler: one write */
	stamp(p + 32 * PAGE, 16, 1);				/* written, then forbidden: one write, no read */
	CHECK(!mprotect(p + 32 * PAGE, 16 * PAGE, PROT_NONE));
	stamp(p + 48 * PAGE, 16, 1);				/* written */
	sigaction(SIGSEGV, &skip, NULL);
	for (int i = 0; i < 16; i++) {
		fault_at(i, i & 1);
		fault_at(32 + i, i & 1);
		/* the kernel's own try ends with EFAULT */
		never += write(1, p + (size_t)i * PAGE, 1) < 0 && errno == EFAULT;
	}
	sigaction(SIGSEGV, &open_it, NULL);
	for (int i = 16; i < 32; i++)
		p[(size_t)i * PAGE + 24] = 1;
	printf("%d faults, %d times EFAULT\n", (int)signals_seen, never);
	return 0;
}

static int deep(int n)
{
	volatile char buffer[1024];

	buffer[0] = (char)n;
	return n ? deep(n - 1) + buffer[0] - (char)n + 1 : 0;
}

static int endless(volatile int *n)
{
	volatile char buffer[512];

	buffer[0] = 1;
	if (++*n == INT32_MAX)
		return 0;
	return endless(n) + buffer[0];
}

/* Stack overflow, caught on an alternate stack. */
static int altstack(void)
{
	struct sigaction a = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char memory[65536];
	stack_t s = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	volatile int depth = 0;

	getrlimit(RLIMIT_STACK, &limit);
	limit.rlim_cur = 4 << 20;
	setrlimit(RLIMIT_STACK, &limit);
	sigaltstack(&s, NULL);
	sigaction(SIGSEGV, &a, NULL);
	if (!sigsetjmp(escape, 1))
		endless(&depth);
	printf("overflow caught, %s\n", depth > 2000 ? "deep enough" : "too early");
	return 0;
}

static void count_signal(int signal)
{
	(void)signal;
	signals_seen++;
}

/* Timer signals while memory is allocated and system calls are interrupted. */
static int alarms(void)
{
	struct sigaction a = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	struct itimerval t = { { 0, 500 }, { 0, 500 } }, off = { { 0, 0 }, { 0, 0 } };
	char *p[64] = { NULL };

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	for (int i = 0; signals_seen < 200; i++) {
		free(p[i % 64]);
		p[i % 64] = malloc(100 + (size_t)i % 50 * 4096);
		CHECK(p[i % 64]);
		memset(p[i % 64], i, 100);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	printf("200 alarms survived\n");
	return 0;
}

static int sigchld(void)
{
	struct sigaction a = { .sa_handler = count_signal };
	sigset_t set;
	int sum = 0;

	sigaction(SIGCHLD, &a, NULL);
	sigemptyset(&set);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(i);
		sum += child_status(child);
	}
	printf("10 children, statuses add up to %d, SIGCHLD %s\n", sum,
	       signals_seen > 0 && signals_seen <= 10 ? "came" : "did not come as expected");
	return 0;
}

/* The mask and the handlers that the program starts with must be the inherited ones. */
static int signal_state(void)
{
	sigset_t set;
	int blocked = 0, handled = 0;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int s = 1; s < 32; s++) {
		struct sigaction a;

		blocked += sigismember(&set, s);
		if (!sigaction(s, NULL, &a))
			handled += a.sa_handler != SIG_DFL;
	}
	printf("%d signals blocked, %d not at their default\n", blocked, handled);
	return 0;
}

static int sigwait_all(void)
{
	sigset_t set;
	int s;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	CHECK(!sigwait(&set, &s));
	printf("signal %d waited for\n", s);
	return 0;
}

/* A process-directed signal must reach the program, not a helper thread. */
static int kill_self_handler(void)
{
	signal(SIGUSR2, count_signal);
	for (int i = 0; i < 1000; i++)
		kill(getpid(), SIGUSR2);
	printf("%d signals\n", (int)signals_seen);
	return 0;
}

/* ---- control flow ------------------------------------------------------- */

static jmp_buf jump;

static int leap(int n)
{
	volatile char buffer[2000];

	buffer[0] = 1;
	if (n < 0)
		return 0;
	if (!n)
		longjmp(jump, buffer[0]);
	return leap(n - 1) + buffer[0];
}

static int longjmps(void)
{
	volatile int n = 0;

	while (n < 2000)
		if (!setjmp(jump))
			leap(n % 50);
		else
			n++;
	printf("%d jumps\n", n);
	return 0;
}

static int recursion(void)
{
	/* about 5 MiB of the main stack, twice */
	printf("depth %d %d\n", deep(5000), deep(5000));
	return 0;
}

static int big_alloca(void)
{
	long sum = 0;

	for (size_t n = 1; n <= 6; n++) {
		volatile char *p = alloca(n << 18);

		for (size_t i = 0; i < n << 18; i += PAGE)
			p[i] = (char)n;
		sum += p[0];
	}
	printf("sum %ld\n", sum);
	return 0;
}

static ucontext_t main_context, other_context;
static int switches;

static void other_side(void)
{
	for (;;) {
		switches++;
		swapcontext(&other_context, &main_context);
	}
}

/* Coroutines: stacks that no thread library knows. */
static int contexts(void)
{
	const size_t size = 64 * PAGE;

	getcontext(&other_context);
	other_context.uc_stack.ss_sp = pages(64);
	other_context.uc_stack.ss_size = size;
	other_context.uc_link = NULL;
	makecontext(&other_context, other_side, 0);
	for (int i = 0; i < 1000; i++)
		swapcontext(&main_context, &other_context);
	printf("%d switches\n", switches);
	return 0;
}

/* ---- memory ------------------------------------------------------------- */

static int mremap_storm(void)
{
	char *p[20];
	size_t n[20];
	uint32_t r = 1;

	for (int i = 0; i < 20; i++) {
		n[i] = 4;
		p[i] = pages(4);
		stamp(p[i], 4, (unsigned)i * 1000);
	}
	for (int round = 0; round < 3000; round++) {
		int i = (int)((r = r * 1103515245 + 12345) >> 16) % 20;
		size_t m = 1 + (r >> 8) % 40;
		char *q = mremap(p[i], n[i] * PAGE, m * PAGE, MREMAP_MAYMOVE);

		CHECK(q != MAP_FAILED);
		CHECK(stamped(q, m < n[i] ? m : n[i], (unsigned)i * 1000));
		for (size_t k = n[i]; k < m; k++)
			CHECK(*(uint64_t *)(void *)(q + k * PAGE) == 0);
		stamp(q, m, (unsigned)i * 1000);
		p[i] = q;
		n[i] = m;
	}
	printf("3000 times mremap\n");
	return 0;
}

static int mremap_kinds(void)
{
	char *a = pages(8), *b = pages(8), *c;

	stamp(a, 8, 1);
	stamp(b, 8, 50);
	c = mremap(a, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, b);
	CHECK(c == b && stamped(b, 4, 1) && stamped(b + 4 * PAGE, 4, 54));
	CHECK(stamped(a + 4 * PAGE, 4, 5));
	CHECK(mremap(a + 4 * PAGE, 4 * PAGE, 8 * PAGE, 0) != a || errno == 0);
	CHECK(mremap((char *)1, PAGE, PAGE, 0) == MAP_FAILED && errno == EINVAL);
	c = mremap(b, 8 * PAGE, 2 * PAGE, 0);
	CHECK(c == b && stamped(b, 2, 1));
	CHECK(msync(b + 2 * PAGE, PAGE, MS_ASYNC) == -1 && errno == ENOMEM);
	printf("mremap kinds ok\n");
	return 0;
}

static int madvises(void)
{
	char *p = pages(32);

	stamp(p, 32, 9);
	CHECK(!madvise(p + 8 * PAGE, 8 * PAGE, MADV_DONTNEED));
	for (int i = 8; i < 16; i++)
		CHECK(*(uint64_t *)(void *)(p + (size_t)i * PAGE) == 0);
	CHECK(stamped(p, 8, 9) && stamped(p + 16 * PAGE, 16, 25));
	CHECK(!madvise(p, 32 * PAGE, MADV_WILLNEED));
	CHECK(!madvise(p, 32 * PAGE, MADV_RANDOM));
	CHECK(!madvise(p, 32 * PAGE, MADV_DONTFORK));
	CHECK(!madvise(p, 32 * PAGE, MADV_DOFORK));
	CHECK(madvise(p + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
	CHECK(!madvise(p, 4 * PAGE, MADV_FREE));
	for (int i = 0; i < 4; i++) {
		uint64_t v = *(uint64_t *)(void *)(p + (size_t)i * PAGE);

		CHECK(v == 0 || v == 9 + (uint64_t)i);
	}
	CHECK(stamped(p + 16 * PAGE, 16, 25));
	munmap(p + 30 * PAGE, PAGE);
	CHECK(madvise(p + 28 * PAGE, 4 * PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM);
	printf("madvise ok\n");
	return 0;
}

/* Advice about memory of its own by the call for other processes (since Linux 6.13): what is given back is zero then. */
static int madvise_self(void)
{
	char *p = pages(32);
	const int self_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	const struct iovec two[] = { { p, 2 * PAGE }, { p + 8 * PAGE, 4 * PAGE } }, bad[] = { { p + 20 * PAGE, PAGE }, { p + 1, PAGE } };
	long ret[5];
	int zeroes = 0;

	stamp(p, 32, 9);
	ret[0] = syscall(SYS_process_madvise, self_fd, two, 2, MADV_DONTNEED, 0);
	ret[1] = syscall(SYS_process_madvise, self_fd, two, 2, MADV_REMOVE, 0);
	ret[2] = syscall(SYS_process_madvise, self_fd, two, 2, MADV_WILLNEED, 0);
	ret[3] = syscall(SYS_process_madvise, self_fd, bad, 2, MADV_DONTNEED, 0);
	ret[4] = syscall(SYS_process_madvise, -1, two, 2, MADV_DONTNEED, 0);
	for (int i = 0; i < 32; i++)
		zeroes += *(uint64_t *)(void *)(p + (size_t)i * PAGE) == 0;
	printf("process_madvise %ld %ld %ld %ld %ld, %d pages are zero\n", ret[0], ret[1], ret[2], ret[3], ret[4], zeroes);
	close(self_fd);
	return 0;
}

static int mlocks(void)
{
	char *p = pages(16);

	CHECK(!mlock(p, 16 * PAGE));
	stamp(p, 16, 3);
	for (int i = 0; i < 20; i++) {
		CHECK(stamped(p, 16, 3));
		nap_ms(5);
	}
	CHECK(!munlock(p, 8 * PAGE));
	CHECK(stamped(p, 16, 3));
	munmap(p, 16 * PAGE);
	printf("mlock ok\n");
	return 0;
}

static int mlockalls(void)
{
	/* may be refused by the limit; the same with and without memtrace */
	int r = mlockall(MCL_CURRENT);
	char *p = pages(16);

	stamp(p, 16, 3);
	nap_ms(50);
	CHECK(stamped(p, 16, 3));
	if (!r)
		munlockall();
	CHECK(stamped(p, 16, 3));
	printf("mlockall %s\n", r ? "refused" : "ok");
	return 0;
}

static int map_fixed(void)
{
	char *p = pages(16);
	int fd = memfd_create("x", 0);

	stamp(p, 16, 1);
	CHECK(mmap(p + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 4 * PAGE);
	for (int i = 4; i < 8; i++)
		CHECK(*(uint64_t *)(void *)(p + (size_t)i * PAGE) == 0);
	CHECK(stamped(p, 4, 1) && stamped(p + 8 * PAGE, 8, 9));
	CHECK(!ftruncate(fd, 4 * PAGE));
	CHECK(pwrite(fd, "file", 4, 0) == 4);
	CHECK(mmap(p, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == p);
	CHECK(!memcmp(p, "file", 4));
	p[0] = 'F';
	char c;
	CHECK(pread(fd, &c, 1, 0) == 1 && c == 'F');
	CHECK(mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
	      == MAP_FAILED && errno == EEXIST);
	/* private file mappings: own copy, file unchanged */
	char *q = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	CHECK(q != MAP_FAILED);
	q[1] = 'x';
	nap_ms(60);
	CHECK(q[1] == 'x' && p[1] == 'i');
	printf("mappings ok\n");
	return 0;
}

/* Big reservations as of Java, Go, jemalloc. */
static int reservation(void)
{
	const size_t size = 64UL << 30;
	char *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	for (size_t i = 0; i < 64; i++) {
		char *q = p + (i << 30);

		CHECK(!mprotect(q, 16 * PAGE, PROT_READ | PROT_WRITE));
		stamp(q, 16, (unsigned)i);
	}
	nap_ms(60);
	for (size_t i = 0; i < 64; i++)
		CHECK(stamped(p + (i << 30), 16, (unsigned)i));
	CHECK(!madvise(p, 16 * PAGE, MADV_DONTNEED));
	CHECK(*(uint64_t *)(void *)p == 0);
	CHECK(!munmap(p, size));
	printf("64 GiB reserved\n");
	return 0;
}

/* What the kernel tells about bad buffers must not change. */
static int efault(void)
{
	char *p = pages(4);
	int fd[2];

	munmap(p + 2 * PAGE, PAGE);
	mprotect(p + 3 * PAGE, PAGE, PROT_READ);
	CHECK(!pipe(fd));
	CHECK(write(fd[1], p + 2 * PAGE, 1) == -1 && errno == EFAULT);
	CHECK(write(fd[1], "abc", 3) == 3);
	CHECK(read(fd[0], p + 3 * PAGE, 1) == -1 && errno == EFAULT);
	CHECK(read(fd[0], p + PAGE, 3) == 3 && !memcmp(p + PAGE, "abc", 3));
	CHECK(stat((char *)8, (struct stat *)(void *)p) == -1 && errno == EFAULT);
	printf("EFAULT as it should be\n");
	return 0;
}

/* Fresh buffers straight into system calls: the kernel touches them first. */
static int syscalls(void)
{
	char *p = pages(512), *q = pages(512);
	int fd = memfd_create("x", 0), s[2];
	struct iovec v[8];
	ssize_t done = 0;

	stamp(p, 512, 77);
	CHECK(pwrite(fd, p, 512 * PAGE, 0) == (ssize_t)(512 * PAGE));
	CHECK(pread(fd, q, 512 * PAGE, 0) == (ssize_t)(512 * PAGE));
	CHECK(!memcmp(p, q, 512 * PAGE));
	munmap(q, 512 * PAGE);
	q = pages(512);
	for (int i = 0; i < 8; i++)
		v[i] = (struct iovec){ q + (size_t)(7 - i) * 64 * PAGE, 64 * PAGE };
	CHECK(preadv(fd, v, 8, 0) == (ssize_t)(512 * PAGE));
	CHECK(!memcmp(p, q + 7 * 64 * PAGE, 64 * PAGE));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		for (ssize_t n = 0; n < (ssize_t)(512 * PAGE);) {
			ssize_t k = write(s[1], p + n, 512 * PAGE - (size_t)n);

			if (k < 0)
				_exit(1);
			n += k;
		}
		_exit(0);
	}
	memset(q, 0, 512 * PAGE);
	while (done < (ssize_t)(512 * PAGE)) {
		ssize_t k = read(s[0], q + done, 512 * PAGE - (size_t)done);

		CHECK(k > 0);
		done += k;
	}
	CHECK(!memcmp(p, q, 512 * PAGE) && child_status(child) == 0);
	printf("buffers ok\n");
	return 0;
}

static int big_heap(void)
{
	char **p = calloc(4000, sizeof(*p));
	uint32_t r = 7;
	uint64_t sum = 0;

	for (int round = 0; round < 40000; round++) {
		size_t i = (r = r * 1103515245 + 12345) % 4000, n = 16 + (r >> 12) % 20000;

		if (p[i] && r & 1 << 20)
			p[i] = realloc(p[i], n);
		else {
			free(p[i]);
			p[i] = malloc(n);
		}
		CHECK(p[i]);
		memset(p[i], (int)i, 16);
	}
	for (int i = 0; i < 4000; i++) {
		if (p[i])
			sum += (uint64_t)(unsigned char)p[i][0];
		free(p[i]);
	}
	malloc_trim(0);
	printf("heap sum %lu\n", (unsigned long)sum);
	return 0;
}

static int brks(void)
{
	char *start = sbrk(0), *p;

	CHECK(start != (void *)-1);
	for (int i = 0; i < 50; i++) {
		p = sbrk(8 * (intptr_t)PAGE);
		CHECK(p != (void *)-1);
		memset(p, i, 8 * PAGE);
	}
	nap_ms(60);
	for (int i = 0; i < 50; i++)
		CHECK(start[(size_t)i * 8 * PAGE] == (char)i);
	CHECK(sbrk(-200 * (intptr_t)PAGE) != (void *)-1);
	p = sbrk(200 * (intptr_t)PAGE);
	CHECK(p != (void *)-1);
	for (size_t i = 0; i < 200; i++)
		CHECK(p[i * PAGE + 100] == 0);
	CHECK(!brk(start));
	printf("brk ok\n");
	return 0;
}

static int limit_as(void)
{
	struct rlimit l = { 3UL << 30, 3UL << 30 };
	void *p;

	setrlimit(RLIMIT_AS, &l);
	p = malloc(8UL << 30);
	printf("8 GiB under a limit of 3: %s\n", p ? "got it" : "refused");
	p = malloc(100 << 20);
	CHECK(p);
	memset(p, 1, 100 << 20);
	free(p);
	return 0;
}

static int growsdown(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);

	CHECK(p != MAP_FAILED);
	stamp(p, 4, 1);
	nap_ms(60);
	CHECK(stamped(p, 4, 1));
	printf("growing mapping ok\n");
	return 0;
}

/* ---- threads ------------------------------------------------------------ */

static atomic_long total;
static __thread long own[2048];

static void *add_up(void *arg)
{
	for (int i = 0; i < 2048; i++)
		own[i] += (long)(intptr_t)arg;
	for (int i = 0; i < 2048; i++)
		total += own[i];
	return arg;
}

static int threads64(void)
{
	pthread_t t[64];
	void *result;
	long sum = 0;

	for (int round = 0; round < 5; round++) {
		for (intptr_t i = 0; i < 64; i++)
			CHECK(!pthread_create(&t[i], NULL, add_up, (void *)i));
		for (int i = 0; i < 64; i++) {
			CHECK(!pthread_join(t[i], &result));
			sum += (long)(intptr_t)result;
		}
	}
	printf("%ld %ld\n", sum, (long)total);
	return 0;
}

static sem_t done_sem;

static void *post(void *arg)
{
	sem_post(&done_sem);
	return arg;
}

static int detached(void)
{
	pthread_attr_t a;
	pthread_t t;

	sem_init(&done_sem, 0, 0);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 500; i++) {
		CHECK(!pthread_create(&t, &a, post, NULL));
		sem_wait(&done_sem);
	}
	printf("500 detached threads\n");
	return 0;
}

static void *use_stack(void *arg)
{
	volatile char room[100 * 1024];

	for (size_t i = 0; i < sizeof(room); i += 512)
		room[i] = 1;
	return arg;
}

static int own_stacks(void)
{
	pthread_attr_t a;
	pthread_t t[8];

	pthread_attr_init(&a);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 8; i++) {
			CHECK(!pthread_attr_setstack(&a, pages(64), 64 * PAGE));
			CHECK(!pthread_create(&t[i], &a, use_stack, NULL));
		}
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	}
	printf("80 threads on their own stacks\n");
	return 0;
}

static void *forever(void *arg)
{
	for (;;)
		nap_ms(1000);
	return arg;
}

static int cancels(void)
{
	void *result;
	pthread_t t;

	for (int i = 0; i < 50; i++) {
		CHECK(!pthread_create(&t, NULL, forever, NULL));
		CHECK(!pthread_cancel(t));
		CHECK(!pthread_join(t, &result));
		CHECK(result == PTHREAD_CANCELED);
	}
	printf("50 threads cancelled\n");
	return 0;
}

static void *exit_here(void *arg)
{
	(void)arg;
	printf("exit from a thread\n");
	exit(7);
}

static int exit_from_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exit_here, NULL);
	for (;;)
		pause();
	return 0;
}

static void *outlive(void *arg)
{
	nap_ms(50);
	printf("the main thread has gone\n");
	fflush(stdout);
	_exit(5);
	return arg;
}

static int main_exits_first(void)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive, NULL);
	pthread_exit(NULL);
	return 0;
}

static int thread_count(void)
{
	char path[64];
	pthread_t t;
	void *r;

	/* helpers of a collector must not show where programs look */
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getpid());
	CHECK(!access(path, R_OK));
	CHECK(!pthread_create(&t, NULL, add_up, NULL) && !pthread_join(t, &r));
	printf("name of the main thread: ");
	fflush(stdout);
	char name[17] = "";

	prctl(PR_GET_NAME, name);
	puts(name);
	return 0;
}

/* ---- processes ---------------------------------------------------------- */

static int forks(void)
{
	char *p = pages(256);
	int sum = 0;

	stamp(p, 256, 1);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			CHECK(stamped(p, 256, 1));
			stamp(p, 256, (unsigned)i + 100);
			nap_ms(10);
			CHECK(stamped(p, 256, (unsigned)i + 100));
			_exit(i);
		}
		nap_ms(5);
		CHECK(stamped(p, 256, 1));
		sum += child_status(child);
	}
	printf("statuses add up to %d\n", sum);
	return 0;
}

static int fork_tree(int depth)
{
	int sum = 1;
	pid_t child[2];

	if (!depth)
		return 1;
	for (int i = 0; i < 2; i++) {
		child[i] = fork();
		CHECK(child[i] >= 0);
		if (!child[i])
			_exit(fork_tree(depth - 1));
	}
	for (int i = 0; i < 2; i++)
		sum += child_status(child[i]);
	return sum;
}

static int fork_trees(void)
{
	printf("%d processes\n", fork_tree(4));
	return 0;
}

static atomic_int stop_threads;

static void *churn(void *arg)
{
	while (!stop_threads) {
		char *p = malloc(200000);

		memset(p, 1, 200000);
		free(p);
	}
	return arg;
}

/* fork while other threads hold the locks of malloc and of the collector */
static int fork_with_threads(void)
{
	pthread_t t[3];
	int sum = 0;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&t[i], NULL, churn, NULL));
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			char *p = malloc(1 << 20);

			memset(p, 3, 1 << 20);
			free(p);
			_exit(p ? i : 200);
		}
		sum += child_status(child);
	}
	stop_threads = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("statuses add up to %d\n", sum);
	return 0;
}

static void *fork_once(void *arg)
{
	volatile long mine = (long)(intptr_t)arg;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child)
		_exit(mine == (long)(intptr_t)arg ? (int)mine : 200);
	return (void *)(intptr_t)child_status(child);
}

static int fork_from_threads(void)
{
	pthread_t t[4];
	void *result;
	long sum = 0;

	for (intptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, fork_once, (void *)(i + 10)));
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &result);
		sum += (long)(intptr_t)result;
	}
	printf("statuses add up to %ld\n", sum);
	return 0;
}

static void *empty_thread(void *arg)
{
	return arg;
}

static void *starts_threads(void *arg)
{
	while (!stop_threads) {
		pthread_t t[2];

		for (int i = 0; i < 2; i++)
			CHECK(!pthread_create(&t[i], NULL, empty_thread, NULL));
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	}
	return arg;
}

/* fork while libc's list of thread stacks changes all the time; the child of fork() walks it */
static int fork_among_threads(void)
{
	pthread_t t[3];
	int right = 0;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&t[i], NULL, starts_threads, NULL));
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(7);
		right += child_status(child) == 7;
	}
	stop_threads = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d of 100 children\n", right);
	return 0;
}

/* The pool of a server: the child works on while the parent works on. */
static int fork_and_work(void)
{
	const size_t n = 2000;
	char *p = pages(n);
	pid_t child[3];
	int sum = 0;

	stamp(p, n, 1);
	for (int c = 0; c < 3; c++) {
		child[c] = fork();
		CHECK(child[c] >= 0);
		if (!child[c]) {
			for (int round = 0; round < 30; round++) {
				stamp(p, n, (unsigned)(round + c * 100));
				CHECK(stamped(p, n, (unsigned)(round + c * 100)));
				nap_ms(2);
			}
			_exit(c + 1);
		}
	}
	for (int round = 0; round < 30; round++) {
		stamp(p, n, (unsigned)(round + 900));
		nap_ms(2);
		CHECK(stamped(p, n, (unsigned)(round + 900)));
	}
	for (int c = 0; c < 3; c++)
		sum += child_status(child[c]);
	printf("statuses add up to %d\n", sum);
	return 0;
}

static int shared_after_fork(void)
{
	volatile long *s = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	CHECK(s != MAP_FAILED);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		*s = 42;
		_exit(0);
	}
	child_status(child);
	printf("the child said %ld\n", *s);
	return 0;
}

static int vforks(void)
{
	static volatile int touched;

	while (touched < 10) {
		pid_t child = vfork();

		if (!child) {
			touched++;
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		CHECK(child > 0 && child_status(child) == 0);
	}
	printf("%d children shared our memory\n", touched);
	return 0;
}

static int spawns(void)
{
	char *const args[] = { "sh", "-c", "echo spawned; exit 3", NULL };
	pid_t child;

	fflush(stdout);
	CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ));
	printf("status %d\n", child_status(child));
	return 0;
}

static int shells(void)
{
	char line[100] = "";
	FILE *f;

	fflush(stdout);
	CHECK(WEXITSTATUS(system("echo from system; exit 4")) == 4);
	f = popen("echo from popen; exit 6", "r");
	CHECK(f && fgets(line, sizeof(line), f));
	printf("%s%d\n", line, WEXITSTATUS(pclose(f)));
	return 0;
}

static int clone_child(void *arg)
{
	*(volatile int *)arg += 1;
	return 0;
}

/* clone(CLONE_VM): a process in our memory that libc does not know. */
static int clones(void)
{
	static int counter;

	for (int i = 0; i < 5; i++) {
		char *stack = pages(16);
		pid_t child = clone(clone_child, stack + 16 * PAGE, CLONE_VM | SIGCHLD, &counter);

		CHECK(child > 0 && child_status(child) == 0);
	}
	printf("counted %d\n", counter);
	return 0;
}

static int exec_chain(void)
{
	const char *left = getenv("QUIRKS_LEFT");
	int n = left ? atoi(left) : 5;
	char text[16];

	printf("%d ", n);
	fflush(stdout);
	if (!n) {
		puts("end of the chain");
		return 0;
	}
	snprintf(text, sizeof(text), "%d", n - 1);
	setenv("QUIRKS_LEFT", text, 1);
	execl(self, "quirks", "exec-chain", (char *)NULL);
	return 98;
}

static int exec_from_thread_end(void)
{
	puts("exec from a thread worked");
	return 0;
}

static void *exec_now(void *arg)
{
	execl(self, "quirks", "exec-from-thread-end", (char *)NULL);
	return arg;
}

static int exec_from_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_now, NULL);
	for (;;)
		pause();
	return 0;
}

static int exec_clean(void)
{
	char *const args[] = { "sh", "-c", "echo clean environment", NULL };
	char *const none[] = { NULL };

	fflush(stdout);
	execve("/bin/sh", args, none);
	return 98;
}

static int exec_fails(void)
{
	char *p = pages(8);

	stamp(p, 8, 1);
	for (int i = 0; i < 5; i++)
		CHECK(execl("/nowhere/at/all", "x", (char *)NULL) == -1 && errno == ENOENT);
	nap_ms(60);
	CHECK(stamped(p, 8, 1));
	printf("failed execs do no harm\n");
	return 0;
}

static int daemonize(void)
{
	int fd[2];
	char c = 0;
	pid_t child;

	CHECK(!pipe(fd));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		close(fd[0]);
		setsid();
		if (fork())
			_exit(0);
		if (chdir("/"))
			_exit(1);
		for (int i = 0; i < 3; i++) {
			close(i);
			open("/dev/null", O_RDWR);
		}
		char *p = malloc(1 << 20);

		memset(p, 1, 1 << 20);
		nap_ms(30);
		c = p[77] == 1 ? 'k' : 'x';
		_exit(write(fd[1], &c, 1) != 1);
	}
	close(fd[1]);
	CHECK(child_status(child) == 0);
	CHECK(read(fd[0], &c, 1) == 1);
	printf("the daemon says %c\n", c);
	return 0;
}

/* ---- descriptors, ends -------------------------------------------------- */

static int closefroms(void)
{
	char *p = pages(64);

	stamp(p, 64, 4);
#if __GLIBC_PREREQ(2, 34)
	closefrom(3);
#else
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
#endif
	for (int i = 0; i < 5; i++) {
		nap_ms(30);
		CHECK(stamped(p, 64, 4));
		stamp(p, 64, 4);
	}
	printf("closefrom(3) survived\n");
	return 0;
}

static int close_loop(void)
{
	struct rlimit l;
	char *p = pages(64);

	getrlimit(RLIMIT_NOFILE, &l);
	for (int fd = 3; fd < (int)(l.rlim_cur < 70000 ? l.rlim_cur : 70000); fd++)
		close(fd);
	stamp(p, 64, 4);
	nap_ms(80);
	CHECK(stamped(p, 64, 4));
	int fd = open("/dev/null", O_RDONLY);

	printf("all closed, next descriptor is %d\n", fd);
	return 0;
}

static int first_descriptor(void)
{
	int a = open("/dev/null", O_RDONLY), b = dup2(a, 10), n = 0;
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &l);
	printf("%d %d\n", a, b);
	/* as many as without a collector, nearly: descriptors are few */
	l.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &l);
	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	printf("%s\n", errno == EMFILE && n >= 59 ? "enough descriptors" : "too few descriptors");
	return 0;
}

static void last_words(void)
{
	char *p = pages(10);

	stamp(p, 10, 1);
	puts("at exit");
}

static int atexits(void)
{
	atexit(last_words);
	puts("returning 21");
	return 21;
}

static int quick(void)
{
	fputs("quick\n", stdout);
	fflush(stdout);
	quick_exit(22);
}

static int under_exit(void)
{
	fputs("never seen", stdout);
	_exit(23);
}

static int raw_exit(void)
{
	syscall(SYS_exit_group, 24);
	return 0;
}

static volatile char dispatch;		/* 1: calls from elsewhere than libc come to dispatched() */
static volatile long dispatched_calls;

static void *under_dispatch(void *arg)
{
	return arg;
}

/* Calls of libc for memory, threads and processes: how many do what they do alone. */
static int calls_of_libc(void)
{
	char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *more, *heap;
	static char *const nothing[] = { "true", NULL };
	pthread_t thread;
	int good = 0, status;
	pid_t pid;

	good += map != MAP_FAILED && !mprotect(map, 4096, PROT_READ) && !mprotect(map, 4096, PROT_READ | PROT_WRITE);
	map[5000] = 1;
	more = mremap(map, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
	good += more != MAP_FAILED && more[5000] == 1 && !madvise(more, 2 << 20, MADV_DONTNEED) && !more[5000] && !munmap(more, 2 << 20);
	heap = malloc(3 << 20);
	memset(heap, 1, 3 << 20);
	heap = realloc(heap, 5 << 20);
	good += heap[(3 << 20) - 1] == 1;
	free(heap);
	good += !pthread_create(&thread, NULL, under_dispatch, NULL) && !pthread_join(thread, NULL);
	pid = fork();
	if (!pid)
		_exit(7);
	good += pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7;
	good += !posix_spawnp(&pid, "true", NULL, NULL, nothing, environ) && waitpid(pid, &status, 0) == pid && !status;
	return good;
}

static void dispatched(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	dispatch = 0;
	dispatched_calls += info->si_code == 2;		/* SYS_USER_DISPATCH */
}

/* System calls from elsewhere than libc go to a handler of the program: those of libc stay libc's, syscall() as well. */
static int user_dispatch(void)
{
	struct sigaction sa = { .sa_sigaction = dispatched, .sa_flags = SA_SIGINFO };
	const int pid = getpid(), parent = getppid();
	uintptr_t start = 0, end = 0;
	char line[500];
	FILE *f = fopen("/proc/self/maps", "r");
	long got[3];
	int good;

	while (f && fgets(line, sizeof(line), f) && !(start <= (uintptr_t)getpid && (uintptr_t)getpid < end))
		if (sscanf(line, "%lx-%lx", &start, &end) != 2)
			return 1;
	if (f)
		fclose(f);
	sigaction(SIGSYS, &sa, NULL);
	if (prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, start, end - start, &dispatch)) {
		puts("no user dispatch");
		return 0;
	}
	dispatch = 1;
	got[0] = getpid();
	got[1] = syscall(SYS_getppid);
	got[2] = syscall(SYS_close, -1);
	const int err = errno;

	good = calls_of_libc();
	dispatch = 0;

	prctl(59, 0, 0, 0, NULL);
	printf("getpid %d, syscall %d, error %ld %d, %d of libc, %ld calls came to the handler\n", got[0] == pid, got[1] == parent, got[2],
	       err, good, dispatched_calls);
	return 0;
}

static int aborts(void)
{
	puts("about to abort");
	fflush(stdout);
	abort();
}

static volatile int *volatile nowhere = (volatile int *)8;

static int crash(void)
{
	puts("about to crash");
	fflush(stdout);
	*nowhere = 1;
	return 0;
}

static void *crash_thread(void *arg)
{
	nap_ms(20);
	*nowhere = 1;
	return arg;
}

static int crash_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, crash_thread, NULL);
	pthread_join(t, NULL);
	return 0;
}

static int terminated(void)
{
	kill(getpid(), SIGTERM);
	return 0;
}

static int killed(void)
{
	kill(getpid(), SIGKILL);
	return 0;
}

static const struct quirk {
	const char *name;
	int (*run)(void);
	int status;		/* as a shell sees it: 128 + signal */
} quirks[] = {
	{ "segv-handler", segv_handler, 0 }, { "segv-mprotect", segv_mprotect, 0 },
	{ "barriers", barriers, 0 },
	{ "altstack", altstack, 0 }, { "alarms", alarms, 0 }, { "sigchld", sigchld, 0 },
	{ "signal-state", signal_state, 0 }, { "sigwait", sigwait_all, 0 },
	{ "kill-self-handler", kill_self_handler, 0 },
	{ "longjmps", longjmps, 0 }, { "recursion", recursion, 0 },
	{ "big-alloca", big_alloca, 0 }, { "contexts", contexts, 0 },
	{ "mremap-storm", mremap_storm, 0 }, { "mremap-kinds", mremap_kinds, 0 },
	{ "madvise", madvises, 0 }, { "madvise-self", madvise_self, 0 }, { "mlock", mlocks, 0 }, { "mlockall", mlockalls, 0 },
	{ "map-fixed", map_fixed, 0 }, { "reservation", reservation, 0 }, { "efault", efault, 0 },
	{ "syscalls", syscalls, 0 }, { "big-heap", big_heap, 0 }, { "brk", brks, 0 },
	{ "limit-as", limit_as, 0 }, { "growsdown", growsdown, 0 },
	{ "threads64", threads64, 0 }, { "detached", detached, 0 }, { "own-stacks", own_stacks, 0 },
	{ "cancel", cancels, 0 }, { "exit-from-thread", exit_from_thread, 7 },
	{ "main-exits-first", main_exits_first, 5 }, { "thread-name", thread_count, 0 },
	{ "forks", forks, 0 }, { "fork-tree", fork_trees, 0 },
	{ "fork-with-threads", fork_with_threads, 0 }, { "fork-from-threads", fork_from_threads, 0 },
	{ "fork-among-threads", fork_among_threads, 0 },
	{ "fork-and-work", fork_and_work, 0 }, { "shared-after-fork", shared_after_fork, 0 },
	{ "vfork", vforks, 0 }, { "spawn", spawns, 0 }, { "shell", shells, 0 },
	{ "clone", clones, 0 }, { "exec-chain", exec_chain, 0 },
	{ "exec-from-thread", exec_from_thread, 0 },
	{ "exec-from-thread-end", exec_from_thread_end, 0 },
	{ "exec-clean", exec_clean, 0 }, { "exec-fails", exec_fails, 0 },
	{ "daemonize", daemonize, 0 }, { "closefrom", closefroms, 0 },
	{ "close-loop", close_loop, 0 }, { "first-descriptor", first_descriptor, 0 },
	{ "atexit", atexits, 21 }, { "quick-exit", quick, 22 }, { "under-exit", under_exit, 23 },
	{ "raw-exit", raw_exit, 24 }, { "user-dispatch", user_dispatch, 0 }, { "abort", aborts, 134 }, { "crash", crash, 139 },
	{ "crash-in-thread", crash_in_thread, 139 }, { "sigterm", terminated, 143 },
	{ "sigkill", killed, 137 },
};

int main(int argc, char **argv)
{
	const size_t n = sizeof(quirks) / sizeof(quirks[0]);

	self = realpath("/proc/self/exe", NULL);
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < n; i++)
			printf("%s %d\n", quirks[i].name, quirks[i].status);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "raise")) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		raise(atoi(argv[2]));
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < n; i++)
		if (!strcmp(argv[1], quirks[i].name)) {
			struct rlimit none = { 0, 0 };

			setrlimit(RLIMIT_CORE, &none);
			return quirks[i].run();
		}
	fputs("usage: quirks list | NAME | exit STATUS | raise SIGNAL\n", stderr);
	return 2;
}
