// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * calls: the calls of the device with random arguments, in random order, by several processes of several threads at once,
 * half of them root, half a member of a group that may open it. What they are asked to trace is themselves, each other, and
 * programs that map, fork, execute and end. On a kernel with fault injection memory fails now and then.
 *
 * Checked are the answers (errors that the interface knows, whole messages, numbers that fit together) and the data of the
 * traced programs; the kernel's own checks are in its log, which the caller looks at. Run as root in the virtual machine.
 *
 *	calls [-s SEED] [-n CALLS] [-d SECONDS]
 */
#include "kt.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WORKERS 4
#define THREADS 3
#define SLOTS 6
#define MEMBER 1000
#define VICTIMS 4

enum call { OPEN, CLOSE, DUP, INFO, CONFIGURE, ATTACH, STATS, TICK, STOP, OTHER, READ, POLL, MAP, FORK, SIGNAL, AGE, N_CALLS };
static const char *const call_name[N_CALLS] = {
	"open", "close", "dup", "info", "configure", "attach", "stats", "tick", "stop", "other", "read", "poll", "mmap", "fork", "signal", "age",
};
/* how often, in parts of 1,000: what begins and ends sessions takes long, the rest does not */
static const int weight[N_CALLS] = { 12, 4, 3, 110, 12, 40, 130, 12, 1, 180, 260, 140, 86, 2, 4, 4 };

struct shared {
	volatile u64 calls, good[N_CALLS], failed_memory, messages, wrong;
	volatile pid_t victim[VICTIMS];
	volatile int over;
};
static struct shared *all;
static u64 limit = 1000000;
static double deadline;
static volatile int slot[SLOTS];	/* descriptors of this process, or -1; threads race for them on purpose */
static char *inside, *edge;		/* a page; where it ends, and one begins that cannot be used */

static u64 next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static u64 below(u64 *r, u64 n)
{
	return next(r) % n;
}

static bool one_in(u64 *r, u64 n)
{
	return !below(r, n);
}

static void add(volatile u64 *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
}

static void wrong(const char *what, long a, long b)
{
	add(&all->wrong);
	printf("wrong: %s: %ld, %ld\n", what, a, b);
}

/* Numbers at which something begins or ends, and any. */
static u64 number(u64 *r)
{
	static const u64 at[] = { 0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537, 999999, 1000000, 1000001, 4194303, 4194304,
		4194305, 0x7fffffff, 0x80000000, 0xffffffff, 100000000000, 100000000001, 1ull << 47, 1ull << 63, ~0ull };

	return one_in(r, 3) ? next(r) : at[below(r, sizeof(at) / sizeof(*at))];
}

/* An address for @bytes: mostly a good one; else none, the kernel's, read only, or one whose end cannot be used. */
static void *address(u64 *r, void *good, size_t bytes)
{
	switch (below(r, 24)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(0xffff888000000000ull + below(r, 1ull << 40));
	case 2:
		return (void *)call_name;
	case 3:
		return edge - below(r, (bytes < PAGE ? bytes : PAGE) + 1);	/* below are stacks */
	case 4:
		return (void *)next(r);
	}
	return good;
}

static int some(u64 *r)
{
	return slot[below(r, SLOTS)];
}

static __thread int nth = -1;		/* /proc/thread-self/fail-nth */

/* The n-th allocation of the next call of this thread fails. */
static bool inject(u64 *r)
{
	char n[16];

	if (nth < 0 || !one_in(r, 16))
		return false;
	snprintf(n, sizeof(n), "%d", 1 + (int)below(r, 24));
	return pwrite(nth, n, strlen(n), 0) > 0;
}

static void inject_no_more(void)
{
	char n = '0';

	if (pread(nth, &n, 1, 0) == 1 && n == '0')
		add(&all->failed_memory);	/* it has failed */
	else if (pwrite(nth, "0", 1, 0) != 1)
		wrong("fail-nth", errno, 0);
}

/* What the interface may say. */
static void answered(enum call c, long result, int error)
{
	static const int known[] = { EBADF, EFAULT, EINVAL, EPERM, EACCES, ENOMEM, EMFILE, ENFILE, EDQUOT, EBUSY, ESRCH, EINTR, EAGAIN, ENOTTY,
		ENODEV, EOPNOTSUPP, EOVERFLOW, ENXIO, ESPIPE };

	if (result >= 0) {
		add(&all->good[c]);
		return;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (error == known[i])
			return;
	wrong(call_name[c], result, error);
}

static long do_configure(u64 *r, int fd)
{
	struct memtrace_config c = {
		.interval_ns = 1000000 + below(r, 30000000), .subphases = 1, .pool_blocks = 4 + (u32)below(r, 200),
		.flags = (u32)below(r, MEMTRACE_CONFIG_ALL + 1) & ~(one_in(r, 3) ? 0u : MEMTRACE_CONFIG_PHYSICAL), .fault_cost_ns = 1000,
		.max_load_ppm = one_in(r, 2) ? 0 : (u32)below(r, 1000000),
	};

	if (one_in(r, 3))
		c.subphases = 1 + (u32)below(r, 4);
	if (one_in(r, 2)) {	/* one or two fields are anything */
		for (int i = 1 + (int)below(r, 2); i--;)
			switch (below(r, 9)) {
			case 0: c.interval_ns = number(r); break;
			case 1: c.max_interval_ns = number(r); break;
			case 2: c.subphases = (u32)number(r); break;
			case 3: c.flags = (u32)number(r); break;
			/* what is allowed and does not fit is tried, but rarely: the machine is busy with it */
			case 4: c.pool_blocks = one_in(r, 50) ? (u32)number(r) : (u32)below(r, 5); break;
			case 5: c.max_load_ppm = (u32)number(r); break;
			case 6: c.fault_cost_ns = (u32)number(r); break;
			case 7: c.pad = (u32)number(r); break;
			case 8: c.skip_start = number(r); c.skip_end = number(r); break;
			}
	}
	return ioctl(fd, MEMTRACE_CONFIGURE, address(r, &c, sizeof(c)));
}

static long do_attach(u64 *r, int fd)
{
	struct memtrace_attach a = { .pid = getpid() };

	switch (below(r, 8)) {
	case 0: a.pid = (int)number(r); break;
	case 1: a.pid = 1 + (int)below(r, 300); break;
	case 2: a.pid = kt_gettid(); break;
	case 3: case 4: case 5: a.pid = all->victim[below(r, VICTIMS)]; break;
	}
	if (one_in(r, 4))
		a.flags = MEMTRACE_ATTACH_ON_EXEC;
	if (one_in(r, 10))
		a.flags = (u32)number(r);
	if (one_in(r, 20))
		a.pad[below(r, 2)] = (u32)number(r);
	return ioctl(fd, MEMTRACE_ATTACH, address(r, &a, sizeof(a)));
}

static long do_stats(u64 *r, int fd)
{
	struct memtrace_stats s;
	void *p = address(r, &s, sizeof(s));
	long n = ioctl(fd, MEMTRACE_STATS, p);

	if (!n && p == &s && (s.pool_free > s.pool_blocks || s.pool_low > s.pool_blocks || s.tasks > 1u << 20 || s.images > 1u << 20 ||
			      s.pad[0] || s.pad[1]))
		wrong("stats", s.pool_free, s.tasks);
	return n;
}

static long do_read(u64 *r, int fd, char *buffer, size_t room)
{
	size_t len = one_in(r, 8) ? number(r) % room : MEMTRACE_MESSAGE_MAX + below(r, room - MEMTRACE_MESSAGE_MAX);
	char *p = address(r, buffer, len), *q;
	long n = one_in(r, 30) ? pread(fd, p, len, (off_t)number(r)) : read(fd, p, len);

	if (n <= 0 || p != buffer)
		return n;
	for (q = p; q < p + n; q += ((struct memtrace_head *)q)->bytes) {
		const struct memtrace_head *h = (const void *)q;
		const struct memtrace_block *b = (const void *)q;

		add(&all->messages);
		if (h->kind < MEMTRACE_BLOCK || h->kind > MEMTRACE_IMAGE_END || h->pad || h->bytes < sizeof(*h) ||
		    h->bytes > MEMTRACE_MESSAGE_MAX || h->bytes > p + n - q) {
			wrong("message", h->kind, h->bytes);
			break;
		}
		if (h->kind == MEMTRACE_BLOCK && (sizeof(*b) + b->records * sizeof(*b->record) != h->bytes || !b->records))
			wrong("records of a block", b->records, h->bytes);
		for (u32 i = 0; h->kind == MEMTRACE_BLOCK && i < b->records; i++)
			if (b->record[i].virt >> 47 || b->record[i].chain || (!b->record[i].reads && !b->record[i].writes) ||
			    (b->tid < 0 && b->record[i].ip))
				wrong("record", (long)b->record[i].virt, b->record[i].flags);
	}
	return n;
}

static long do_map(u64 *r, int fd)
{
	static const int prot[] = { PROT_READ, PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_NONE, PROT_READ | PROT_EXEC };
	const size_t len = one_in(r, 3) ? number(r) % (1u << 20) + 1 : PAGE;
	const off_t at = one_in(r, 4) ? (off_t)(number(r) & ~(PAGE - 1)) : 0;
	char *p = mmap(NULL, len, prot[below(r, 6)], one_in(r, 4) ? MAP_PRIVATE : MAP_SHARED, fd, at);

	if (p == MAP_FAILED)
		return -1;
	if (len > PAGE)
		wrong("more than a page is mapped", (long)len, 0);
	if (!mprotect(p, PAGE, PROT_READ | PROT_WRITE))
		wrong("the page becomes writable", 0, 0);
	if (!mprotect(p, PAGE, PROT_READ))
		inside[0] = p[below(r, PAGE)];
	if (one_in(r, 2))
		madvise(p, PAGE, MADV_DONTNEED);
	return munmap(p, len);
}

static void clear_refs(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, "1", 1) != 1)
			errno = 0;
		close(fd);
	}
}

/* The memory of a program that is recorded stays what it is. */
static void *busy(void *seed)
{
	u64 r = (u64)(uintptr_t)seed;
	const long pages = 64 + (long)below(&r, 400);
	char *m = kt_map((size_t)pages * PAGE, MAP_PRIVATE);
	u64 sum = 0, is;

	for (int round = 0; round < 20 && !all->over; round++) {
		for (int i = 0; i < 200; i++) {
			u64 *at = (u64 *)(m + below(&r, (u64)pages) * PAGE) + below(&r, PAGE / 8);
			const u64 v = next(&r);

			sum += v - *at;
			*at = v;
		}
		is = 0;
		for (long i = 0; i < pages * (long)PAGE / 8; i++)
			is += ((u64 *)m)[i];
		if (is != sum)
			wrong("sum of the memory", (long)is, (long)sum);
		switch (below(&r, 5)) {
		case 0:
			mprotect(m, PAGE, PROT_READ);
			mprotect(m, PAGE, PROT_READ | PROT_WRITE);
			break;
		case 1: {
			char *to = kt_map((size_t)pages * PAGE, MAP_PRIVATE);

			m = mremap(m, (size_t)pages * PAGE, (size_t)pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
			if (m == MAP_FAILED)
				DIE("mremap");
			break;
		}
		case 2:
			clear_refs();
			break;
		case 3:
			usleep((unsigned int)below(&r, 3000));
			break;
		}
	}
	munmap(m, (size_t)pages * PAGE);
	return NULL;
}

static void drop(void)
{
	gid_t g = MEMBER;

	if (setgroups(1, &g) || setresgid(MEMBER, MEMBER, MEMBER) || setresuid(MEMBER, MEMBER, MEMBER))
		DIE("drop");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Programs that live for a while, and whose numbers are known. */
static void victims(u64 r, const char *self, int first)
{
	char seed[24];

	while (!all->over) {
		const int i = first + (int)below(&r, VICTIMS / 2);
		pid_t k = all->victim[i];

		if (k > 0) {	/* perhaps stopped; not more than there are places */
			kill(k, SIGKILL);
			waitpid(k, NULL, 0);
		}
		k = fork();
		next(&r);
		if (!k) {
			pthread_t p[2];
			int how = (int)below(&r, 4);

			for (int t = 0; t < 2; t++)
				pthread_create(&p[t], NULL, busy, (void *)(uintptr_t)next(&r));
			if (how == 0 && fork() == 0) {
				busy((void *)(uintptr_t)next(&r));
				_exit(0);
			}
			if (how == 1) {
				usleep((unsigned int)below(&r, 20000));
				snprintf(seed, sizeof(seed), "%llu", (unsigned long long)next(&r));
				execl(self, self, "-b", seed, (char *)0);
			}
			for (int t = 0; t < 2; t++)
				pthread_join(p[t], NULL);
			_exit(0);
		}
		all->victim[i] = k;
		usleep((unsigned int)below(&r, 100000));
	}
}

/* The slot has it, unless another thread was faster. */
static int put(int s, int fd)
{
	int none = -1;

	if (fd >= 0 && !__atomic_compare_exchange_n(&slot[s], &none, fd, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		close(fd);
	return fd;
}

static long do_call(u64 *r, enum call c, char *buffer, size_t room)
{
	const int s = (int)below(r, SLOTS), fd = some(r);
	struct memtrace_info info;
	struct pollfd p = { .fd = fd, .events = (short)next(r) };
	int other, st;
	pid_t k;

	switch (c) {
	case OPEN:
		if (slot[s] >= 0)
			return 0;
		other = open(MEMTRACE_DEVICE, (one_in(r, 4) ? O_RDONLY : O_RDWR) | O_CLOEXEC);
		return put(s, other);
	case CLOSE:
		other = __atomic_exchange_n(&slot[s], -1, __ATOMIC_SEQ_CST);	/* else two close one number */
		return other < 0 ? 0 : close(other);
	case DUP:
		if (slot[s] >= 0 || fd < 0)
			return 0;
		return put(s, dup(fd));
	case INFO:
		return ioctl(fd, MEMTRACE_INFO, address(r, &info, sizeof(info)));
	case CONFIGURE:
		return do_configure(r, fd);
	case ATTACH:
		return do_attach(r, fd);
	case STATS:
		return do_stats(r, fd);
	case TICK:
		return ioctl(fd, MEMTRACE_TICK, next(r));
	case STOP:
		return ioctl(fd, MEMTRACE_STOP, next(r));
	case OTHER:	/* no request: one of another direction, size or number, or none of ours */
		return ioctl(fd, one_in(r, 4) ? (unsigned long)next(r) :
			     _IOC(below(r, 4), MEMTRACE_IOC, 6 + below(r, 250), below(r, 1 << _IOC_SIZEBITS)), address(r, inside, 64));
	case READ:
		return do_read(r, fd, buffer, room);
	case POLL:
		return poll(&p, 1, 0);
	case MAP:
		return do_map(r, fd);
	case FORK:	/* with all descriptors */
		k = fork();
		if (!k) {
			u64 mine = next(r);

			for (int i = 0; i < 20; i++)
				do_call(&mine, READ + (enum call)below(&mine, 3), buffer, room);
			_exit(0);
		}
		next(r);
		return k < 0 ? k : waitpid(k, &st, 0);
	case SIGNAL:
		k = all->victim[below(r, VICTIMS)];
		return k > 1 ? kill(k, one_in(r, 3) ? SIGKILL : one_in(r, 2) ? SIGSTOP : SIGCONT) : 0;
	case AGE:
		clear_refs();
		return 0;
	case N_CALLS:
		break;
	}
	return 0;
}

static void *caller(void *seed)
{
	const size_t room = 64 * 1024;
	char *buffer = kt_map(room, MAP_PRIVATE);
	u64 r = (u64)(uintptr_t)seed;

	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	while (!all->over && __atomic_load_n(&all->calls, __ATOMIC_RELAXED) < limit && kt_now() < deadline) {
		int which = (int)below(&r, 1000), c = 0;
		bool fails;
		long n;
		int e;

		while (c < N_CALLS - 1 && which >= weight[c])
			which -= weight[c++];
		fails = c != FORK && c != SIGNAL && inject(&r);
		errno = 0;
		n = do_call(&r, (enum call)c, buffer, room);
		e = errno;
		if (fails)
			inject_no_more();
		if (c != SIGNAL && c != AGE && c != FORK)
			answered((enum call)c, n, e);
		add(&all->calls);
	}
	return NULL;
}

static int worker(u64 r, bool member)
{
	pthread_t p[THREADS];

	if (member)
		drop();
	for (int i = 0; i < SLOTS; i++)
		slot[i] = -1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&p[i], NULL, caller, (void *)(uintptr_t)next(&r));
	for (int i = 0; i < THREADS; i++)
		pthread_join(p[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	u64 seed = kt_ns();
	double seconds = 3600;
	pid_t k[WORKERS], v[2];
	int c, st, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	all = kt_map(sizeof(*all), MAP_SHARED);
	inside = kt_map(2 * PAGE, MAP_PRIVATE);
	edge = inside + PAGE;
	mprotect(edge, PAGE, PROT_NONE);	/* nothing else shall come there */
	while ((c = getopt(argc, argv, "s:n:d:b:")) != -1)
		switch (c) {
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'n': limit = strtoull(optarg, NULL, 0); break;
		case 'd': seconds = atof(optarg); break;
		case 'b': busy((void *)(uintptr_t)strtoull(optarg, NULL, 0)); return all->wrong != 0;
		default: return 2;
		}
	if (chmod(MEMTRACE_DEVICE, 0666))
		DIE("%s", MEMTRACE_DEVICE);
	deadline = kt_now() + seconds;
	printf("note: calls -s %llu\n", (unsigned long long)seed);
	for (int i = 0; i < 2; i++) {
		v[i] = fork();
		if (!v[i]) {
			if (i)
				drop();
			victims(seed ^ (u64)(i + 1) << 40, argv[0], i * VICTIMS / 2);
			_exit(0);
		}
	}
	for (int i = 0; i < WORKERS; i++) {
		k[i] = fork();
		if (!k[i])
			_exit(worker(seed + (u64)i, i & 1));
	}
	for (int i = 0; i < WORKERS; i++)
		if (waitpid(k[i], &st, 0) != k[i] || st) {
			printf("wrong: a process of calls ended with status %x\n", st);
			bad++;
		}
	all->over = 1;
	for (int i = 0; i < 2; i++)
		waitpid(v[i], &st, 0);
	for (int i = 0; i < VICTIMS; i++)	/* those that were stopped */
		if (all->victim[i] > 1)
			kill(all->victim[i], SIGKILL);
	printf("note:");
	for (int i = 0; i < N_CALLS; i++)
		printf(" %s %llu", call_name[i], (unsigned long long)all->good[i]);
	printf(" succeeded\n");
	bad += all->wrong || !all->good[CONFIGURE] || !all->good[ATTACH] || !all->messages;
	printf("%s calls: %llu random ones of seed %llu, %llu messages, memory failed in %llu, %llu wrong\n", bad ? "FAILED" : "ok",
	       (unsigned long long)all->calls, (unsigned long long)seed, (unsigned long long)all->messages,
	       (unsigned long long)all->failed_memory, (unsigned long long)all->wrong);
	return chmod(MEMTRACE_DEVICE, 0600) || bad;
}
