// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * exact: the interface, and small cases whose records are known exactly. The
 * intervals end when the test says so (MEMTRACE_CONFIG_MANUAL), so nothing
 * depends on time. A child does one thing per command; the parent ends the
 * interval and looks at the records. Last line: "exact: N passed, N failed".
 */
#include "kt.h"

#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static int passed, failed;

#define CHECK(c) do { if (c) passed++; else { failed++; printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #c); } } while (0)
#define CHECK_EQ(got, want) do { long long g_ = (long long)(got), w_ = (long long)(want); if (g_ == w_) passed++; else { \
	failed++; printf("FAILED %s:%d: %s: got %lld, want %lld\n", __FILE__, __LINE__, #got, g_, w_); } } while (0)

static int dev = -1, to_child[2], from_child[2];
static pid_t child;
static char *area;		/* 64 pages, shared knowledge of parent and child: same address */
static char *device_page;
#define BIG_PAGES (80ul << 8)	/* more than a fork sweeps at once */
static char *big;		/* of the child */

/* The node of a physical address, as the kernel tells where its zones begin. */
static int node_of(u64 phys)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	unsigned long first, nearest = 0;
	int node = -1, of = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Node %d", &of);
		if (sscanf(line, " start_pfn: %lu", &first) == 1 && first <= phys / PAGE && first >= nearest) {
			nearest = first;
			node = of;
		}
	}
	if (f)
		fclose(f);
	return node;
}

/* ---- what a child can do */

__attribute__((noinline)) static void do_read(char *p)
{
	(void)*(volatile char *)p;
}

__attribute__((noinline)) static void do_write(char *p)
{
	*(volatile char *)p = 7;
}

static void execute(void)
{
	pid_t k = fork();

	if (!k) {
		execl("/bin/busybox", "true", (char *)0);
		_exit(1);
	}
	waitpid(k, NULL, 0);
}

static void child_loop(void)
{
	char c[2];

	while (read(to_child[0], c, 2) == 2) {
		char *p = area + (unsigned char)c[1] * PAGE + 128;
		int st, fd, pp[2];
		pid_t k;

		switch (c[0]) {
		case 'r': do_read(p); break;
		case 'w': do_write(p); break;
		case 'b': do_read(p); do_write(p); break;
		case 'R': for (int i = 0; i < 10; i++) do_read(p + i * 16); break;
		case 'k':	/* the kernel writes into the page */
			fd = open("/dev/zero", O_RDONLY);
			if (read(fd, p, 64) != 64)
				_exit(1);
			close(fd);
			break;
		case 'f':	/* a child reads the page */
			k = fork();
			if (!k) {
				do_read(p);
				_exit(0);
			}
			waitpid(k, &st, 0);
			break;
		case 'c':	/* read and written while a child has the page as well: it keeps what it had */
			*p = 3;
			if (pipe(pp))
				_exit(1);
			k = fork();
			if (!k) {
				close(pp[1]);
				_exit(read(pp[0], &st, 1) || *p != 3);
			}
			do_read(p);
			do_write(p);
			close(pp[0]);
			close(pp[1]);
			if (waitpid(k, &st, 0) != k || st || *p != 7)
				_exit(1);
			break;
		case 'F':	/* a child lives on for a while, and reads at once */
			k = fork();
			if (!k) {
				do_read(p);
				if (write(from_child[1], c, 1) != 1)	/* the answer is its */
					_exit(1);
				for (;;)
					pause();
			}
			*(volatile pid_t *)(area + 63 * PAGE) = k;
			continue;
		case 'K':
			kill(*(volatile pid_t *)(area + 63 * PAGE), SIGKILL);
			waitpid(*(volatile pid_t *)(area + 63 * PAGE), &st, 0);
			break;
		case 'e': execute(); break;
		case 'm':	/* a file is mapped and one page of it read */
			fd = open("/tmp/exact.file", O_RDONLY);
			if (mmap(area + 32 * PAGE, 32 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
				_exit(1);
			close(fd);
			do_read(p);
			break;
		case 's':	/* shared memory: a page, not there yet, is read, then written */
			if (mmap(area + 32 * PAGE, 32 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
				 -1, 0) == MAP_FAILED)
				_exit(1);
			do_read(p);
			do_write(p);
			break;
		case 'h': {	/* a huge page of hugetlbfs */
			char *huge = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

			if (huge == MAP_FAILED)
				_exit(1);
			do_write(huge);
			break;
		}
		case 'v': {	/* the kernel takes the page itself, without copying */
			struct iovec one = { p, 64 };

			if (pipe(pp) || vmsplice(pp[1], &one, 1, 0) != 64)
				_exit(1);
			close(pp[0]);
			close(pp[1]);
			break;
		}
		case 'B':	/* much memory, then a child that looks at once at two pages of it */
			if (!big) {
				big = kt_map(BIG_PAGES * PAGE, MAP_PRIVATE);
				for (u64 i = 0; i < BIG_PAGES; i++)
					big[i * PAGE] = 1;
				*(char **)(area + 62 * PAGE) = big;
				break;
			}
			k = fork();
			if (!k) {
				do_read(big + PAGE);
				do_read(big + (BIG_PAGES - 2) * PAGE);
				if (write(from_child[1], c, 1) != 1)
					_exit(1);
				for (;;)
					pause();
			}
			*(volatile pid_t *)(area + 63 * PAGE) = k;
			continue;
		case 'p':
			if (pipe(pp))
				_exit(1);
			close(pp[0]);
			close(pp[1]);
			break;
		case 'q': _exit(0);
		}
		if (write(from_child[1], c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void tell(char what, int page)
{
	char c[2] = { what, (char)page };

	if (write(to_child[1], c, 2) != 2 || (what != 'q' && read(from_child[0], c, 1) != 1))
		DIE("child");
}

/* ---- messages of the last tick */

static char messages[16 << 20];
static size_t nmessages;

static void drain(void)
{
	ssize_t n;

	while ((n = read(dev, messages + nmessages, sizeof(messages) - nmessages)) > 0)
		nmessages += (size_t)n;
}

static void tick(void)
{
	nmessages = 0;
	CHECK_EQ(ioctl(dev, MEMTRACE_TICK), 0);
	drain();
}

#define EACH(m) (struct memtrace_head *m = (void *)messages; (char *)m < messages + nmessages; m = (void *)((char *)m + m->bytes))

/* The record of a page of the area; pid 0: of the child; tid 0: any. How many there are in *count. */
static struct memtrace_record *find(int page, pid_t pid, int *count)
{
	struct memtrace_record *found = NULL;
	int n = 0;

	for EACH(m) {
		struct memtrace_block *b = (void *)m;

		if (m->kind != MEMTRACE_BLOCK || b->pid != (pid ? pid : child))
			continue;
		for (u32 i = 0; i < b->records; i++)
			if (b->record[i].virt / PAGE == (u64)area / PAGE + (u64)page) {
				found = &b->record[i];
				n++;
			}
	}
	if (count)
		*count = n;
	return found;
}

static struct memtrace_record *rec(int page)
{
	static struct memtrace_record none;
	struct memtrace_record *r = find(page, 0, NULL);

	memset(&none, 0, sizeof(none));
	return r ? r : &none;
}

static int images(u32 how, struct memtrace_image *last)
{
	int n = 0;

	for EACH(m)
		if (m->kind == MEMTRACE_IMAGE && ((struct memtrace_image *)m)->how == how) {
			n++;
			if (last)
				*last = *(struct memtrace_image *)m;
		}
	return n;
}

static int kinds(u32 kind)
{
	int n = 0;

	for EACH(m)
		n += m->kind == kind;
	return n;
}

/* ---- the interface */

static struct memtrace_config good = { .interval_ns = 50000000, .subphases = 1, .pool_blocks = 1024,
	.flags = MEMTRACE_CONFIG_MANUAL | MEMTRACE_CONFIG_CHILDREN | MEMTRACE_CONFIG_PHYSICAL };

#define REFUSED(change, error) do { struct memtrace_config c = good; change; errno = 0; \
	CHECK_EQ(ioctl(dev, MEMTRACE_CONFIGURE, &c), -1); CHECK_EQ(errno, error); } while (0)

static void interface(void)
{
	struct memtrace_info info;
	struct memtrace_stats st;
	struct memtrace_attach a = { .pid = getpid() };
	struct pollfd p;
	char small[100];

	dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK(dev >= 0);
	CHECK_EQ(ioctl(dev, MEMTRACE_INFO, &info), 0);
	CHECK_EQ(info.major, MEMTRACE_ABI_MAJOR);
	CHECK_EQ(info.record_bytes, sizeof(struct memtrace_record));
	CHECK_EQ(info.counters, MEMTRACE_C_N);
	CHECK_EQ(info.features, MEMTRACE_FEATURE_PHYSICAL | MEMTRACE_FEATURE_ALL_USERS);
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == EINVAL);	/* not configured */
	CHECK(ioctl(dev, MEMTRACE_TICK) == -1 && errno == EINVAL);
	CHECK(ioctl(dev, MEMTRACE_STOP) == -1 && errno == EINVAL);
	CHECK(ioctl(dev, 0x1234) == -1 && errno == ENOTTY);
	CHECK(ioctl(dev, MEMTRACE_CONFIGURE, NULL) == -1 && errno == EFAULT);
	REFUSED(c.pad = 1, EINVAL);
	REFUSED((c.skip_start = 2, c.skip_end = 1), EINVAL);
	REFUSED(c.flags |= MEMTRACE_CONFIG_ALL + 1, EINVAL);
	REFUSED(c.interval_ns = 999999, EINVAL);
	REFUSED(c.interval_ns = ~0ull, EINVAL);
	REFUSED(c.subphases = 0, EINVAL);
	REFUSED(c.subphases = 65, EINVAL);
	REFUSED(c.pool_blocks = 3, EINVAL);
	REFUSED(c.pool_blocks = ~0u, EINVAL);
	REFUSED(c.max_interval_ns = 1, EINVAL);
	REFUSED((c.interval_ns = 2999999, c.subphases = 3), EINVAL);	/* each sweep empties TLBs */
	CHECK_EQ(ioctl(dev, MEMTRACE_CONFIGURE, &good), 0);
	REFUSED((void)c, EBUSY);
	CHECK(read(dev, small, sizeof(small)) == -1 && errno == EINVAL);
	CHECK_EQ(read(dev, messages, sizeof(messages)), 0);
	p = (struct pollfd){ .fd = dev, .events = POLLIN };
	CHECK_EQ(poll(&p, 1, 0), 0);
	a.flags = 2;
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == EINVAL);
	a.flags = 0;
	a.pad[1] = 1;
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == EINVAL);
	a.pad[1] = 0;
	a.pid = 999999;
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == ESRCH);
	a.pid = 2;				/* a kernel thread */
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == ESRCH);
	CHECK_EQ(ioctl(dev, MEMTRACE_STATS, &st), 0);
	CHECK_EQ(st.pool_blocks, 1024);
	CHECK_EQ(st.pool_free, 1024);
	CHECK_EQ(st.tasks, 0);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dev, 0) == MAP_FAILED && errno == EPERM);
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, dev, 0) == MAP_FAILED);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, dev, PAGE) == MAP_FAILED && errno == EINVAL);
	tick();
	CHECK_EQ(kinds(MEMTRACE_INTERVAL), 1);
	CHECK_EQ(ioctl(dev, MEMTRACE_TICK), 0);
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK_EQ(ioctl(dev, MEMTRACE_STOP), 0);
	CHECK_EQ(ioctl(dev, MEMTRACE_STOP), 0);
	CHECK(ioctl(dev, MEMTRACE_TICK) == -1 && errno == EINVAL);
	a.pid = getpid();
	CHECK(ioctl(dev, MEMTRACE_ATTACH, &a) == -1 && errno == EINVAL);
	CHECK(read(dev, messages, sizeof(messages)) > 0);
	CHECK_EQ(read(dev, messages, sizeof(messages)), 0);
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK(p.revents & POLLHUP);
	close(dev);
	dev = -1;
	/* without PTRACE and SYS_ADMIN: see unprivileged() */
}

/* ---- records */

static void begin(u32 flags)
{
	struct memtrace_config c = good;
	struct memtrace_attach a = {};

	c.flags |= flags;
	if (flags & 0x80000000u)
		c.flags = good.flags & ~MEMTRACE_CONFIG_CHILDREN;
	if (pipe(to_child) || pipe(from_child))
		DIE("pipe");
	child = fork();
	if (!child) {
		close(to_child[1]);
		close(from_child[0]);
		if (dev >= 0)
			close(dev);
		child_loop();
	}
	close(to_child[0]);
	close(from_child[1]);
	dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(dev, MEMTRACE_CONFIGURE, &c), 0);
	device_page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, dev, 0);
	CHECK(device_page != MAP_FAILED);
	for (int i = 0; i < 64; i++)
		tell('w', i);
	a.pid = child;
	CHECK_EQ(ioctl(dev, MEMTRACE_ATTACH, &a), 0);
	tick();
	CHECK_EQ(images(MEMTRACE_HOW_ATTACH, NULL), 1);
	nmessages = 0;
}

static void end(void)
{
	int st;

	tell('q', 0);
	waitpid(child, &st, 0);
	CHECK_EQ(st, 0);
	/* the image ends after its last blocks */
	nmessages = 0;
	for (int i = 0; i < 25; i++) {
		CHECK_EQ(ioctl(dev, MEMTRACE_TICK), 0);
		usleep(1000);
	}
	drain();
	CHECK_EQ(kinds(MEMTRACE_IMAGE_END) >= 1, 1);
	munmap(device_page, PAGE);
	close(dev);
	dev = -1;
	close(to_child[1]);
	close(from_child[0]);
}

static u64 counter(int c)
{
	struct memtrace_stats st;

	if (ioctl(dev, MEMTRACE_STATS, &st))
		DIE("stats");
	return st.counter[c];
}

static void simple(void)
{
	struct memtrace_record *r;
	int n;

	begin(0);
	CHECK_EQ(*(u64 *)device_page, 2);
	/* nothing touched: nothing recorded, in every following interval as well */
	tell('p', 0);
	tick();
	tick();
	CHECK(!find(3, 0, NULL));

	tell('r', 3);
	tick();
	r = rec(3);
	CHECK_EQ(find(3, 0, &n) != NULL, 1);
	CHECK_EQ(n, 1);
	CHECK_EQ(r->virt, (u64)area + 3 * PAGE + 128);
	CHECK_EQ(r->reads, 1);
	CHECK_EQ(r->writes, 0);
	CHECK_EQ(r->flags, MEMTRACE_RECORD_HIDDEN);
	CHECK(r->ip >= (u64)do_read && r->ip < (u64)do_read + 64);
	CHECK_EQ(r->phys & 0xfff, 128);
	CHECK(r->phys >= PAGE);
	CHECK_EQ(r->node, node_of(r->phys));
	CHECK_EQ(r->chain, 0);
	CHECK(r->cpus && !(r->cpus & (r->cpus - 1)));
	CHECK(!find(2, 0, NULL) && !find(4, 0, NULL));

	/* again: the same, once, whatever the number of accesses */
	tell('R', 3);
	tick();
	CHECK_EQ(rec(3)->reads, 1);
	tick();
	CHECK(!find(3, 0, NULL));

	tell('w', 5);
	tell('r', 6);
	tick();
	CHECK_EQ(rec(5)->reads, 0);
	CHECK_EQ(rec(5)->writes, 1);
	CHECK(rec(5)->ip >= (u64)do_write && rec(5)->ip < (u64)do_write + 64);
	CHECK_EQ(rec(6)->reads, 1);

	/* without write tracking the write after a read is missed */
	tell('b', 7);
	tick();
	CHECK_EQ(rec(7)->reads, 1);
	CHECK_EQ(rec(7)->writes, 0);

	/* the kernel writes for the program: attributed, the system call's address */
	tell('k', 8);
	tick();
	CHECK_EQ(rec(8)->writes, 1);
	CHECK(rec(8)->flags & MEMTRACE_RECORD_KERNEL);
	CHECK(rec(8)->ip && rec(8)->ip < 1ull << 47);
	CHECK(counter(MEMTRACE_C_KERNEL) > 0);

	/* ... or takes the page without a copy, by get_user_pages(): faults of its own since 6.6 only when it is told to */
	tell('v', 10);
	tick();
	CHECK_EQ(rec(10)->reads, 1);
	CHECK(rec(10)->flags & MEMTRACE_RECORD_KERNEL);

	/* another process looks: not an access of the program, and the data are right */
	{
		char c = 0;
		struct iovec l = { &c, 1 }, rm = { area + 9 * PAGE + 128, 1 };

		CHECK_EQ(process_vm_readv(child, &l, 1, &rm, 1, 0), 1);
		CHECK_EQ(c, 7);
	}
	tick();
	r = find(9, 0, NULL);
	CHECK(!r || (r->flags & MEMTRACE_RECORD_INFERRED));
	end();
}

/* How many write faults the kernel has resolved by giving the permission; -1: no such counter. */
static long reused(void)
{
	char line[128];
	FILE *f = fopen("/proc/vmstat", "re");
	long n = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "pgreuse %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static bool at_least(int major, int minor)
{
	struct utsname u;
	int a = 0, b = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &a, &b);
	return a > major || (a == major && b >= minor);
}

static void writes(void)
{
	long n;

	begin(MEMTRACE_CONFIG_WRITES);
	tell('b', 7);
	tell('r', 8);
	tell('w', 9);
	tick();
	CHECK_EQ(rec(7)->reads, 1);
	CHECK_EQ(rec(7)->writes, 1);
	CHECK_EQ(rec(8)->reads, 1);
	CHECK_EQ(rec(8)->writes, 0);
	CHECK_EQ(rec(9)->reads, 0);
	CHECK_EQ(rec(9)->writes, 1);
	tell('b', 7);
	tell('w', 8);
	tick();
	CHECK_EQ(rec(7)->reads, 1);
	CHECK_EQ(rec(7)->writes, 1);
	CHECK_EQ(rec(8)->writes, 1);
	/* the second fault of a page that nobody else has ends in the probe (a page knows that since 5.19) */
	n = reused();
	for (int i = 10; i < 40; i++)
		tell('b', i);
	n = reused() - n;
#ifdef __x86_64__
	CHECK(n < 10 || !at_least(5, 19));
#endif
	tick();
	for (int i = 10; i < 40; i++) {
		CHECK_EQ(rec(i)->reads, 1);
		CHECK_EQ(rec(i)->writes, 1);
		CHECK(rec(i)->flags & MEMTRACE_RECORD_WRITE_PROTECT);
	}
	/* and of one that a child has as well, in the kernel: the copy is its */
	tell('c', 50);
	tick();
	CHECK_EQ(rec(50)->writes, 2);
	end();
}

static long faults_of(pid_t pid);

/* Shared memory: the first read brings the page in; the write after it is seen as well. */
static void shared(void)
{
	long f;

	begin(MEMTRACE_CONFIG_WRITES);
	tell('s', 40);
	tell('r', 41);
	tick();
	CHECK_EQ(rec(40)->reads, 1);
	CHECK_EQ(rec(40)->writes, 1);
	CHECK(rec(40)->flags & MEMTRACE_RECORD_SHARED);
	CHECK_EQ(rec(41)->reads, 1);
	CHECK_EQ(rec(41)->writes, 0);
	tell('w', 41);
	tell('b', 40);
	tick();
	CHECK_EQ(rec(40)->reads, 1);
	CHECK_EQ(rec(40)->writes, 1);
	CHECK_EQ(rec(41)->writes, 1);
	/* afterwards the mapping is as before: one fault brings a page in for reading and writing */
	CHECK_EQ(ioctl(dev, MEMTRACE_STOP), 0);
	tell('r', 42);
	f = faults_of(child);
	tell('b', 43);
	CHECK_EQ(faults_of(child) - f, 1);
	tell('q', 0);
	waitpid(child, NULL, 0);
	munmap(device_page, PAGE);
	close(dev);
	dev = -1;
	close(to_child[1]);
	close(from_child[0]);
}

/* Mappings inside of these addresses belong to the recorder. */
static void skipped(void)
{
	const struct memtrace_config was = good;

	good.skip_start = (u64)area + 32 * PAGE;
	good.skip_end = good.skip_start + 32 * PAGE;
	begin(MEMTRACE_CONFIG_WRITES);
	tell('s', 40);
	tell('r', 10);
	tick();
	tell('b', 40);
	tell('r', 10);
	tick();
	CHECK(find(10, 0, NULL) != NULL);
	CHECK(!find(40, 0, NULL));
	end();
	good = was;
}

/* What cannot be traced is counted: pages of hugetlbfs. */
static void unseen(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	u64 before;

	if (!f) {
		printf("note: this kernel has no hugetlbfs\n");
		return;
	}
	CHECK(fputs("4", f) >= 0 && !fclose(f));
	begin(0);
	tick();
	CHECK_EQ(counter(MEMTRACE_C_UNSEEN_PAGES), 0);
	tell('h', 0);
	tick();
	before = counter(MEMTRACE_C_UNSEEN_PAGES);
	CHECK_EQ(before, 512);
	tick();
	CHECK_EQ(counter(MEMTRACE_C_UNSEEN_PAGES), 2 * before);
	end();
}

/* Of a file that is in memory only the pages that are read are seen. */
static void files(void)
{
	static char data[32 * 4096];
	int fd = open("/tmp/exact.file", O_RDWR | O_CREAT | O_TRUNC, 0600), n;

	CHECK_EQ(write(fd, data, sizeof(data)), sizeof(data));
	close(fd);
	begin(0);
	tell('m', 40);
	tick();
	for (int i = 32; i < 64; i++)
		CHECK_EQ(find(i, 0, NULL) != NULL, i == 40);
	CHECK_EQ(rec(40)->flags & ~MEMTRACE_RECORD_HIDDEN, MEMTRACE_RECORD_REAL | MEMTRACE_RECORD_SHARED);
	tell('r', 41);
	tell('r', 40);
	tick();
	CHECK(find(40, 0, NULL) && find(41, 0, NULL) && !find(42, 0, NULL));
	end();
	/* unless that is wanted */
	begin(MEMTRACE_CONFIG_AROUND);
	tell('m', 40);
	tick();
	n = 0;
	for (int i = 32; i < 64; i++)
		n += find(i, 0, NULL) != NULL;
#ifdef __x86_64__
	CHECK(n > 8);
#else
	CHECK(n >= 1);		/* arm64 maps the others, but not as accessed */
#endif
	CHECK(rec(40)->reads == 1 && !(rec(40)->flags & MEMTRACE_RECORD_INFERRED));
	end();
}

static void processes(void)
{
	struct memtrace_image im = {};
	struct memtrace_stats st;
	struct memtrace_record *r;
	pid_t k;
	int n;

	begin(0);
	/* the very first read of a child is seen, though the page was visible in the parent */
	tell('r', 11);
	tell('f', 11);
	tick();
	CHECK_EQ(images(MEMTRACE_HOW_FORK, &im), 1);
	CHECK_EQ(im.parent, 0);
	CHECK_EQ(im.image, 1);
	CHECK(im.pid > 0 && im.pid != child);
	r = find(11, im.pid, &n);
	CHECK_EQ(n, 1);
	CHECK(r && r->reads == 1 && (r->flags & MEMTRACE_RECORD_HIDDEN));

	/* exec: another image, recorded from the beginning, then the old one ends */
	tell('e', 0);
	tick();
	CHECK_EQ(images(MEMTRACE_HOW_EXEC, &im), 1);
	CHECK_EQ(images(MEMTRACE_HOW_FORK, NULL), 1);
	CHECK(!strcmp(im.comm, "busybox"));
	n = 0;
	for EACH(m)
		if (m->kind == MEMTRACE_BLOCK && ((struct memtrace_block *)m)->image == im.image)
			n += (int)((struct memtrace_block *)m)->records;
	CHECK(n > 20);

	tell('F', 12);
	tick();
	CHECK_EQ(images(MEMTRACE_HOW_FORK, &im), 1);
	k = im.pid;
	CHECK(find(12, k, NULL) != NULL);
	CHECK_EQ(ioctl(dev, MEMTRACE_STATS, &st), 0);
	CHECK_EQ(st.tasks, 2);
	tell('K', 12);
	/* the last block of a process may wait for a sweep that goes on, on a busy machine */
	for (int i = 0; i < 25 || (i < 250 && st.pool_free != st.pool_blocks); i++) {
		tick();
		CHECK_EQ(ioctl(dev, MEMTRACE_STATS, &st), 0);
	}
	CHECK_EQ(st.tasks, 1);
	CHECK_EQ(st.images, 1);
	CHECK_EQ(st.pool_free, st.pool_blocks);
	CHECK_EQ(st.counter[MEMTRACE_C_DROPPED], 0);
	end();

	/* a fork of much memory: what it does not hide at once is inferred, and hidden soon */
	begin(0);
	tell('B', 0);
	{
		u64 at = 0, late, before = counter(MEMTRACE_C_SWEPT);
		struct iovec l = { &at, 8 }, rm = { area + 62 * PAGE, 8 };

		tell('B', 0);
		CHECK_EQ(process_vm_readv(child, &l, 1, &rm, 1, 0), 8);
		late = 0;
		for (int i = 0; i < 1000 && !late; i++) {
			usleep(10000);
			late = counter(MEMTRACE_C_SWEPT) - before;
		}
		tick();
		CHECK_EQ(images(MEMTRACE_HOW_FORK, &im), 1);
		CHECK(find((int)(at / PAGE - (u64)area / PAGE) + 1, im.pid, NULL) != NULL);
		CHECK(find((int)(at / PAGE - (u64)area / PAGE + BIG_PAGES - 2), im.pid, NULL) != NULL);
		CHECK(counter(MEMTRACE_C_NEWBORN) < BIG_PAGES);		/* of the fork itself: bounded */
		CHECK(late > 0);	/* the rest, before the interval had ended */
		tell('K', 0);
	}
	end();

	/* children not followed: they run, and are not in the trace */
	begin(0x80000000u);
	tell('r', 11);
	tell('f', 11);
	tell('e', 0);
	tick();
	CHECK_EQ(images(MEMTRACE_HOW_FORK, NULL), 0);
	CHECK_EQ(images(MEMTRACE_HOW_EXEC, NULL), 0);
	CHECK(find(11, 0, NULL) != NULL);
	end();
}

/* ---- sweeps: the lock of the mappings, and whose TLBs are emptied */

#define TRACING "/sys/kernel/tracing/"
#define LOCKS TRACING "events/mmap_lock/mmap_lock_acquire_returned/"
#define PIECE_PAGES 8192		/* a sweep holds the lock for so many, sweep.c */

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		DIE("%s", file);
	close(fd);
}

static void trace_from_here(const char *event)
{
	put(TRACING "trace", "\n");
	put(event, "1");
}

/* Switches the event off; how many lines of the kernel's record have both texts. */
static int traced(const char *event, const char *a, const char *b)
{
	char line[512];
	int n = 0;
	FILE *f;

	put(event, "0");
	f = fopen(TRACING "trace", "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, a) && strstr(line, b);
	if (f)
		fclose(f);
	return n;
}

/* How often the end of an interval in which nothing was touched takes a lock of mappings. */
static int locks_of_a_tick(void)
{
	trace_from_here(LOCKS "enable");
	if (ioctl(dev, MEMTRACE_TICK))
		DIE("tick");
	return traced(LOCKS "enable", "mmap_lock_acquire_returned:", "");
}

/* Whoever waits for the lock of a large process need not wait for all of a sweep. */
static void pieces(void)
{
	char filter[32];
	int small, large;

	mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(LOCKS "filter", W_OK)) {
		printf("note: this kernel does not tell who takes the lock of the mappings: pieces of sweeps not tested\n");
		return;
	}
	snprintf(filter, sizeof(filter), "common_pid == %d", getpid());
	put(LOCKS "filter", filter);
	begin(0);
	small = locks_of_a_tick();
	tell('B', 0);
	tick();
	large = locks_of_a_tick();
	CHECK(small >= 1);
	CHECK(large - small >= (int)(BIG_PAGES / PIECE_PAGES));
	CHECK(large - small <= 2 * (int)(BIG_PAGES / PIECE_PAGES) + 1);
	end();
	put(LOCKS "filter", "0");
}

static void run_on(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		DIE("affinity");
}

#define CALLS TRACING "events/csd/csd_queue_cpu/enable"

/* How often the second CPU was made to empty its TLB: since 6.4 the kernel tells who is made to call what. */
static int flushes_during(int rounds, char what, char page)
{
	trace_from_here(CALLS);
	for (int i = 0; i < rounds; i++) {
		tell(what, page);
		tick();
	}
	return traced(CALLS, "cpu=1 ", "func=mtr_flush_this_cpu");
}

/* A CPU on which a program does not run is left alone: by the end of an interval, by fork and exec. */
static void flushes(void)
{
	enum { ROUNDS = 60 };
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2 || access(CALLS, W_OK)) {
		printf("note: no second CPU, or the kernel does not tell what it is made to call: flushes not tested\n");
		return;
	}
	run_on(0, 0);
	begin(0);
	CHECK_EQ(flushes_during(ROUNDS, 'w', 3), 0);
	CHECK_EQ(flushes_during(ROUNDS, 'e', 0), 0);
	run_on(child, 1);
	CHECK(flushes_during(ROUNDS, 'w', 3) >= ROUNDS);
	end();
	sched_setaffinity(0, sizeof(all), &all);
}

/* STOP makes everything visible: touching it all again costs no fault. */
static long faults_of(pid_t pid)
{
	char name[64], line[1024];
	long v = -1;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	f = fopen(name, "r");
	if (f && fgets(line, sizeof(line), f))
		sscanf(strrchr(line, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %ld", &v);
	if (f)
		fclose(f);
	return v;
}

/* What the reader works is a cost of the recording; there is no monitor here. */
static void ledger(void)
{
	u64 cost = 0;
	struct timespec t, begun;

	begin(0);
	tick();		/* reads */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((t.tv_sec - begun.tv_sec) * 1000000000l + t.tv_nsec - begun.tv_nsec < 60000000);
	tick();
	for EACH(m)
		if (m->kind == MEMTRACE_INTERVAL)
			cost = ((struct memtrace_interval *)m)->monitor_cpu_ns;
	CHECK(cost >= 40000000);	/* the clock of a task that runs is as old as the last tick */
	end();
}

static void stopping(void)
{
	struct memtrace_attach a = { .flags = 0 };
	int other;
	long f;

	begin(MEMTRACE_CONFIG_WRITES);
	for (int i = 0; i < 60; i++)
		tell('r', i);
	tick();
	/* one process belongs to one session */
	other = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(other, MEMTRACE_CONFIGURE, &good), 0);
	a.pid = child;
	CHECK(ioctl(other, MEMTRACE_ATTACH, &a) == -1 && errno == EBUSY);
	close(other);
	CHECK_EQ(ioctl(dev, MEMTRACE_STOP), 0);
	tell('r', 0);
	f = faults_of(child);
	for (int i = 0; i < 60; i++)
		tell('r', i);
	CHECK_EQ(faults_of(child) - f, 0);
	CHECK(f > 0);
	/* the same by closing alone, in a new session */
	close(dev);
	munmap(device_page, PAGE);
	dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(dev, MEMTRACE_CONFIGURE, &good), 0);
	CHECK_EQ(ioctl(dev, MEMTRACE_ATTACH, &a), 0);
	tick();
	f = faults_of(child);
	for (int i = 0; i < 60; i++)
		tell('r', i);
	CHECK(faults_of(child) - f >= 60);
	tick();
	close(dev);
	dev = -1;
	tell('r', 0);
	f = faults_of(child);
	for (int i = 0; i < 60; i++)
		tell('r', i);
	CHECK_EQ(faults_of(child) - f, 0);
	tell('q', 0);
	waitpid(child, NULL, 0);
	close(to_child[1]);
	close(from_child[0]);
}

/* ---- who may trace whom */

static void capabilities(u64 set)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = {
		{ .effective = (u32)set, .permitted = (u32)set }, { .effective = (u32)(set >> 32), .permitted = (u32)(set >> 32) } };

	if (syscall(SYS_capset, &h, d))
		_exit(101);
}

/* From now on somebody else; keeps the capabilities of a set. */
static void become(gid_t gid, uid_t uid, u64 set, int dumpable)
{
	if (set && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		_exit(102);
	if (syscall(SYS_setgroups, 0, NULL) || setgid(gid) || setuid(uid))
		_exit(100);
	if (set)
		capabilities(set);
	if (prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0))
		_exit(103);
}

/* A process that only waits, as somebody. */
static pid_t somebody(gid_t gid, uid_t uid, u64 set, int dumpable)
{
	int ready[2];
	char c;
	pid_t k;

	if (pipe(ready))
		DIE("pipe");
	k = fork();
	if (!k) {
		become(gid, uid, set, dumpable);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &c, 1) != 1)
		DIE("somebody");
	close(ready[0]);
	close(ready[1]);
	return k;
}

/* A session of somebody asks for a process. 0 or the error. */
static int attach_as(gid_t gid, uid_t uid, u64 set, pid_t pid)
{
	struct memtrace_config c = good;
	struct memtrace_attach a = { .pid = pid };
	int st;
	pid_t k = fork();

	if (!k) {
		become(gid, uid, set, 1);
		c.flags &= ~MEMTRACE_CONFIG_PHYSICAL;
		c.pool_blocks = 64;
		dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		if (dev < 0 || ioctl(dev, MEMTRACE_CONFIGURE, &c))
			_exit(99);
		_exit(ioctl(dev, MEMTRACE_ATTACH, &a) ? errno : 0);
	}
	waitpid(k, &st, 0);
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

/* As ptrace would say, for reading. */
static void attaching(void)
{
	const u64 ptrace = 1ull << CAP_SYS_PTRACE, nice = 1ull << CAP_SYS_NICE;
	pid_t own = somebody(1000, 1000, 0, 1), hidden = somebody(1000, 1000, 0, 0), group = somebody(1001, 1000, 0, 1),
	      able = somebody(1000, 1000, nice, 1), other = somebody(1000, 1001, 0, 1);

	if (chmod(MEMTRACE_DEVICE, 0666))
		DIE("chmod");
	CHECK_EQ(attach_as(1000, 1000, 0, own), 0);
	CHECK_EQ(attach_as(1000, 1000, 0, hidden), EPERM);	/* not dumpable */
	CHECK_EQ(attach_as(1000, 1000, 0, group), EPERM);	/* same user, another group */
	CHECK_EQ(attach_as(1000, 1000, 0, able), EPERM);	/* it may do more than the opener */
	CHECK_EQ(attach_as(1000, 1000, 0, other), EPERM);
	CHECK_EQ(attach_as(1000, 1000, 0, 1), EPERM);
	CHECK_EQ(attach_as(1000, 1000, nice, able), 0);
	/* the capability alone is enough, for each of them; without it root is a user like others */
	CHECK_EQ(attach_as(1000, 1002, ptrace, hidden), 0);
	CHECK_EQ(attach_as(1000, 1002, ptrace, other), 0);
	CHECK_EQ(attach_as(0, 0, 0, hidden), 0);
	CHECK_EQ(attach_as(0, 0, nice, own), EPERM);
	CHECK_EQ(attach_as(1000, 1000, 0, own), 0);
	for (int i = 0; i < 5; i++) {
		const pid_t all[] = { own, hidden, group, able, other };

		kill(all[i], SIGKILL);
		waitpid(all[i], NULL, 0);
	}
	if (chmod(MEMTRACE_DEVICE, 0600))
		DIE("chmod");
}

/* A user who may open the device traces his own programs only, without frames. */
static void unprivileged(void)
{
	struct memtrace_config c = good;
	struct memtrace_attach a = {};
	struct memtrace_info info;
	int st, go[2];
	pid_t k, mine;
	char x;

	if (chmod(MEMTRACE_DEVICE, 0666) || system("echo 26 > /sys/module/memtrace/parameters/user_mib; cp /bin/busybox /tmp/exact.unreadable && chmod 711 /tmp/exact.unreadable"))
		DIE("chmod");
	k = fork();
	if (!k) {
		int bad = 0;

		become(1000, 1000, 0, 1);
		dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		bad |= (ioctl(dev, MEMTRACE_INFO, &info) || info.features) << 0;
		bad |= !(ioctl(dev, MEMTRACE_CONFIGURE, &c) == -1 && errno == EPERM) << 1;
		c.flags &= ~MEMTRACE_CONFIG_PHYSICAL;
		c.pool_blocks = 65537;
		bad |= !(ioctl(dev, MEMTRACE_CONFIGURE, &c) == -1 && errno == EPERM) << 2;
		c.pool_blocks = 64;
		/* all sessions of a user together; closed ones are forgotten */
		for (int round = 0; round < 2; round++) {
			int n, held[12];

			c.pool_blocks = 2000;		/* 8 MiB, and 4 for the rest */
			for (n = 0; n < 10; n++) {
				held[n] = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
				errno = 0;
				if (ioctl(held[n], MEMTRACE_CONFIGURE, &c))
					break;
			}
			bad |= !(n == 2 && errno == EDQUOT) << 7;
			for (; n >= 0; n--)
				close(held[n]);
			c.pool_blocks = 64;
			for (n = 0; n < 10; n++) {
				held[n] = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
				errno = 0;
				if (ioctl(held[n], MEMTRACE_CONFIGURE, &c))
					break;
			}
			bad |= !(n == 8 && errno == EDQUOT) << 7;
			for (; n >= 0; n--)
				close(held[n]);
		}
		bad |= !!ioctl(dev, MEMTRACE_CONFIGURE, &c) << 3;
		/* a program that may be executed and not be read is left alone */
		if (pipe(go))
			_exit(99);
		mine = fork();
		if (!mine) {
			if (read(go[0], &x, 1) != 1)
				_exit(99);
			execl("/tmp/exact.unreadable", "true", (char *)0);
			_exit(98);
		}
		a.pid = mine;
		a.flags = MEMTRACE_ATTACH_ON_EXEC;
		bad |= !!ioctl(dev, MEMTRACE_ATTACH, &a) << 4;
		if (write(go[1], "x", 1) != 1 || waitpid(mine, &st, 0) != mine || st)
			_exit(97);
		bad |= (counter(MEMTRACE_C_DETACHED) != 1) << 5;
		bad |= (counter(MEMTRACE_C_RECORDS) != 0) << 6;
		_exit(bad);
	}
	waitpid(k, &st, 0);
	CHECK_EQ(WEXITSTATUS(st), 0);
	CHECK(WIFEXITED(st));
	if (chmod(MEMTRACE_DEVICE, 0600) || system("echo 384 > /sys/module/memtrace/parameters/user_mib"))
		DIE("chmod");
}

#define PARAMETER "/sys/module/memtrace/parameters/unprivileged"

/* An administrator takes the right back: the recordings of users end at once, root's go on, no more begin. */
static void withdrawn(void)
{
	struct memtrace_config c = good;
	int st, said[2], go[2];
	pid_t k, mine;
	char x;

	if (chmod(MEMTRACE_DEVICE, 0666) || pipe(said) || pipe(go))
		DIE("chmod");
	c.flags &= ~MEMTRACE_CONFIG_PHYSICAL;
	begin(0);
	k = fork();
	if (!k) {
		struct memtrace_attach a = {};
		struct pollfd p = { .events = POLLIN };
		struct memtrace_stats stats;
		static char messages[1 << 16];
		int bad = 0, again;

		close(go[1]);
		become(1000, 1000, 0, 1);
		mine = fork();
		if (!mine) {
			for (;;) {
				do_write(area);
				usleep(1000);
			}
		}
		a.pid = mine;
		dev = p.fd = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		bad |= (ioctl(dev, MEMTRACE_CONFIGURE, &c) || ioctl(dev, MEMTRACE_ATTACH, &a)) << 0;
		usleep(50000);
		if (write(said[1], "x", 1) != 1 || read(go[0], &x, 1) != 1)
			_exit(99);
		for (int i = 0; i < 600 && !(p.revents & POLLHUP); i++) {
			poll(&p, 1, 100);
			while (read(dev, messages, sizeof(messages)) > 0)
				;
		}
		bad |= !(p.revents & POLLHUP) << 1;
		bad |= (ioctl(dev, MEMTRACE_STATS, &stats) || stats.tasks) << 2;
		bad |= !(ioctl(dev, MEMTRACE_ATTACH, &a) == -1) << 3;
		again = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		bad |= !(ioctl(again, MEMTRACE_CONFIGURE, &c) == -1 && errno == EACCES) << 4;
		bad |= (waitpid(mine, &st, WNOHANG) != 0) << 5;	/* it goes on */
		if (write(said[1], "x", 1) != 1 || read(go[0], &x, 1) != 1)
			_exit(99);
		bad |= !!ioctl(again, MEMTRACE_CONFIGURE, &c) << 6;
		kill(mine, SIGKILL);
		waitpid(mine, &st, 0);
		_exit(bad);
	}
	close(go[0]);
	close(said[1]);
	CHECK_EQ(read(said[0], &x, 1), 1);
	put(PARAMETER, "0");
	CHECK_EQ(write(go[1], "x", 1), 1);
	CHECK_EQ(read(said[0], &x, 1), 1);
	tell('w', 5);
	tick();
	CHECK_EQ(rec(5)->writes, 1);		/* root's own session */
	put(PARAMETER, "1");
	CHECK_EQ(write(go[1], "x", 1), 1);
	waitpid(k, &st, 0);
	CHECK_EQ(WEXITSTATUS(st), 0);
	CHECK(WIFEXITED(st));
	close(go[1]);
	close(said[0]);
	end();
	if (chmod(MEMTRACE_DEVICE, 0600))
		DIE("chmod");
}

int main(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	area = kt_map(64 * PAGE, MAP_PRIVATE);
	interface();
	simple();
	writes();
	shared();
	skipped();
	unseen();
	files();
	processes();
	pieces();
	flushes();
	ledger();
	stopping();
	unprivileged();
	withdrawn();
	attaching();
	printf("exact: %d passed, %d failed\n", passed, failed);
	return failed != 0;
}
