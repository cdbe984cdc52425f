// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * hostile: what a user of the device might try, on purpose or by chance, against the kernel, against others and
 * against programs that are recorded. Run as root in the virtual machine; the kernel's log is looked at by the caller.
 * Prints "ok ..." or "FAILED ..." for each case.
 *
 *	hostile all | CASE...
 */
#include "kt.h"

#include <grp.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MEMBER 1000
#define ANOTHER 1007		/* one whose sessions nobody else has */

static const char *self;

static void verdict(bool good, const char *what, const char *format, ...)
{
	va_list l;

	printf("%s %s: ", good ? "ok" : "FAILED", what);
	va_start(l, format);
	vprintf(format, l);
	va_end(l);
	putchar('\n');
}

/* A member of a group that may open the device. */
static void drop(uid_t uid)
{
	gid_t g = MEMBER;

	if (setgroups(1, &g) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		DIE("drop");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int configure(double ms, u32 pool_blocks, u32 flags)
{
	struct memtrace_config c = { .interval_ns = (u64)(ms * 1e6), .subphases = 1, .pool_blocks = pool_blocks, .flags = flags,
				     .fault_cost_ns = 1000 };
	int fd = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, MEMTRACE_CONFIGURE, &c)) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

static int session(double ms, u32 pool_blocks, u32 flags)
{
	int fd = configure(ms, pool_blocks, flags);

	if (fd < 0)
		DIE("no session");
	return fd;
}

static int attach(int fd, pid_t pid)
{
	struct memtrace_attach a = { .pid = pid };

	return ioctl(fd, MEMTRACE_ATTACH, &a);
}

static struct memtrace_stats stats(int fd)
{
	struct memtrace_stats s;

	if (ioctl(fd, MEMTRACE_STATS, &s))
		DIE("stats");
	return s;
}

/* Runs a case in a process of its own, as a member or as root; true: it ended by itself with 0 within the time. */
static bool child_does(int (*what)(void), uid_t uid, int seconds)
{
	pid_t k;
	int st;

	if (!access("/proc/lockdep_stats", F_OK))	/* a debug kernel takes ten times as long */
		seconds *= 10;
	fflush(stdout);
	k = fork();
	if (!k) {
		if (uid)
			drop(uid);
		_exit(what());
	}
	for (int i = 0; i < seconds * 10; i++) {
		if (waitpid(k, &st, WNOHANG) == k)
			return WIFEXITED(st) && !WEXITSTATUS(st);
		usleep(100000);
	}
	kill(k, SIGKILL);
	for (int i = 0; i < 10 * seconds; i++) {	/* it has memory to give back */
		if (waitpid(k, &st, WNOHANG) == k)
			return false;
		usleep(100000);
	}
	printf("FAILED a process cannot be killed any more\n");
	return false;
}

/* ---- the end of a session beside everything else */

static volatile int over;

static void *nothing(void *v)
{
	return v;
}

static void *make_threads(void *v)
{
	pthread_attr_t a;
	pthread_t p;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	while (!over)
		if (!pthread_create(&p, &a, nothing, v))
			pthread_join(p, NULL);
	return NULL;
}

static void *idle(void *v)
{
	for (;;)
		pause();
	return v;
}

static void *make_processes(void *v)
{
	while (!over) {
		pid_t k = fork();

		if (!k)
			_exit(0);
		waitpid(k, NULL, 0);
	}
	return v;
}

static int race_body(void)
{
	pthread_t p[3];
	pid_t victim = fork();
	int rounds = 20;

	if (!victim) {
		/* with many tasks to take out, the others wait for the lock meanwhile */
		for (int i = 0; i < 100; i++)
			pthread_create(&p[0], NULL, idle, NULL);
		pthread_create(&p[0], NULL, make_threads, NULL);
		pthread_create(&p[1], NULL, make_threads, NULL);
		pthread_create(&p[2], NULL, make_processes, NULL);
		for (;;)
			pause();
	}
	usleep(500000);
	for (int i = 0; i < rounds; i++) {
		int fd = session(500, 256, MEMTRACE_CONFIG_CHILDREN);

		if (attach(fd, victim))
			return 1;
		usleep(2000 + i * 7919 % 20000);
		close(fd);
	}
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return 0;
}

static void race(void)
{
	verdict(child_does(race_body, 0, 240), "race", "sessions that end while threads and processes are made");
}

static int shared_fd;
static pthread_barrier_t gate;

static void *stopper(void *v)
{
	pthread_barrier_wait(&gate);
	ioctl(shared_fd, MEMTRACE_STOP);
	return v;
}

static void *ticker(void *v)
{
	pthread_barrier_wait(&gate);
	for (int i = 0; i < 20 && !ioctl(shared_fd, MEMTRACE_TICK); i++)
		;
	return v;
}

static int stop_body(void)
{
	pthread_t a, b, c;

	for (int i = 0; i < 30; i++) {
		shared_fd = session(1, 16, 0);
		pthread_barrier_init(&gate, NULL, 3);
		pthread_create(&a, NULL, stopper, NULL);
		pthread_create(&b, NULL, stopper, NULL);
		pthread_create(&c, NULL, ticker, NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		pthread_join(c, NULL);
		close(shared_fd);
	}
	return 0;
}

static void stop(void)
{
	verdict(child_does(stop_body, MEMBER, 120), "stop", "two threads stop one session at once, a third one ticks");
}

/* ---- state of the kernel */

static int page_body(void)
{
	int fd = session(1000, 64, MEMTRACE_CONFIG_MANUAL);
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED || !mprotect(p, PAGE, PROT_READ | PROT_WRITE) || errno != EACCES;
}

static void page(void)
{
	verdict(child_does(page_body, MEMBER, 30), "page", "the page of the interval's number stays read only");
}

static bool write_to(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Does a session see the faults of a program? */
static bool sees(int fd)
{
	char *m = kt_map(100 * PAGE, MAP_PRIVATE);
	u64 before = stats(fd).counter[MEMTRACE_C_FAULTS];

	madvise(m, 100 * PAGE, MADV_NOHUGEPAGE);
	if (attach(fd, getpid()))
		return false;
	memset(m, 1, 100 * PAGE);
	munmap(m, 100 * PAGE);
	return stats(fd).counter[MEMTRACE_C_FAULTS] >= before + 100;
}

/* A probe that is switched off sees nothing: no session rather than one without accesses. The second switch is not ours on all kernels. */
static void blind(void)
{
	static const char *const off[] = { "/proc/sys/kernel/ftrace_enabled", "/sys/kernel/debug/kprobes/enabled" };

	for (int i = 0; i < 2; i++) {
		int fd;

		if (!write_to(off[i], "0")) {
			printf("note: %s cannot be switched off here\n", off[i]);
			continue;
		}
		fd = configure(1000, 64, MEMTRACE_CONFIG_MANUAL);
		verdict(fd < 0 ? errno == EOPNOTSUPP : i == 1 && sees(fd), "blind", "no session with %s = 0, or one that sees (%s)", off[i],
			fd < 0 ? strerror(errno) : "there is one");
		if (fd >= 0)
			close(fd);
		write_to(off[i], "1");
		fd = configure(1000, 64, MEMTRACE_CONFIG_MANUAL);
		verdict(fd >= 0 && sees(fd), "blind", "a session afterwards");
		if (fd >= 0)
			close(fd);
	}
}

/* ---- programs that are recorded, and others */

static bool huge_pages_allowed(const char *status)
{
	char line[200];
	FILE *f = fopen(status, "r");
	int on = 1;	/* a kernel that does not tell */

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "THP_enabled: %d", &on);
	if (f)
		fclose(f);
	return on;
}

/* A child that is not followed has huge pages, it and what it executes, during the session and afterwards. */
static void huge(void)
{
	int fd = session(10, 256, 0), st = -1;
	pid_t k = fork();

	if (!k) {
		if (attach(fd, getpid()))
			_exit(9);
		usleep(50000);
		k = fork();
		if (!k) {
			if (!huge_pages_allowed("/proc/self/status"))
				_exit(1);
			execl(self, self, "is-huge", (char *)0);
			_exit(8);
		}
		waitpid(k, &st, 0);
		_exit(WEXITSTATUS(st));
	}
	waitpid(k, &st, 0);
	close(fd);
	verdict(WIFEXITED(st) && !WEXITSTATUS(st), "huge", "a child that is not followed keeps its huge pages (%d)", WEXITSTATUS(st));
}

static char buffer[1 << 20];

/* Blocks of a process that have been told. */
static int blocks_of(int fd, pid_t pid)
{
	int n = 0;
	ssize_t r;

	while ((r = read(fd, buffer, sizeof(buffer))) > 0)
		for (char *q = buffer; q < buffer + r; q += ((struct memtrace_head *)q)->bytes) {
			const struct memtrace_block *b = (const void *)q;

			n += b->head.kind == MEMTRACE_BLOCK && b->pid == pid && b->tid >= 0;
		}
	return n;
}

/* posix_spawn() of a session that follows no children: its child is not followed either. */
static void spawned(void)
{
	int fd = session(1000, 1024, MEMTRACE_CONFIG_MANUAL), up[2], st, own, other;
	char *av[] = { (char *)self, "touch", NULL };
	pid_t k, c = 0;

	if (pipe(up))
		DIE("pipe");
	k = fork();
	if (!k) {
		if (attach(fd, getpid()) || posix_spawn(&c, self, NULL, NULL, av, NULL) || write(up[1], &c, sizeof(c)) != sizeof(c))
			_exit(9);
		waitpid(c, &st, 0);
		_exit(st != 0);
	}
	if (read(up[0], &c, sizeof(c)) != sizeof(c))
		DIE("no child");
	waitpid(k, &st, 0);
	ioctl(fd, MEMTRACE_TICK);
	ioctl(fd, MEMTRACE_STOP);
	/* before its exec it is in its parent's memory, and told: a handful of pages, one block */
	other = blocks_of(fd, c);
	own = stats(fd).counter[MEMTRACE_C_RECORDS] > 0;
	close(fd);
	verdict(!st && other <= 1 && own, "spawned", "a spawned child is not followed: %d blocks", other);
}

/* A program that has just ended can be written, and what it had mapped can be unmounted. */
static int held(bool traced, int *busy)
{
	const int rounds = 100;
	int fd = session(20, 4096, MEMTRACE_CONFIG_CHILDREN);
	char *m = kt_map(20000 * PAGE, MAP_PRIVATE);

	for (int i = 0; i < 20000; i++)
		m[i * PAGE] = 1;
	if (traced && attach(fd, getpid()))
		return 1;
	mkdir("/tmp/held", 0755);
	for (int r = 0; r < rounds; r++) {
		pid_t k = fork();
		int f;

		if (!k) {
			execl("/tmp/hostile.copy", "hostile", "is-huge", (char *)0);
			_exit(1);
		}
		waitpid(k, NULL, 0);
		f = open("/tmp/hostile.copy", O_RDWR);
		if (f < 0)
			busy[0] += errno == ETXTBSY;
		else
			close(f);
		if (mount("none", "/tmp/held", "tmpfs", 0, NULL))
			return 1;
		k = fork();
		if (!k) {
			char *x;

			f = open("/tmp/held/f", O_RDWR | O_CREAT, 0600);
			if (ftruncate(f, 16 * (off_t)PAGE))
				_exit(1);
			x = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
			close(f);
			for (int i = 0; i < 16; i++)
				x[i * PAGE] = 1;
			_exit(0);
		}
		waitpid(k, NULL, 0);
		if (umount("/tmp/held")) {
			busy[1] += errno == EBUSY;
			while (umount("/tmp/held") && errno == EBUSY)
				usleep(1000);
		}
	}
	close(fd);
	return 0;
}

static int *shared_count;

static int held_alone(void)
{
	return held(false, shared_count);
}

static int held_traced(void)
{
	return held(true, shared_count + 2);
}

static void pins(void)
{
	bool good;
	int *b;

	shared_count = b = kt_map(PAGE, MAP_SHARED);
	good = child_does(held_alone, 0, 120) & child_does(held_traced, 0, 240);
	/* a processor that is taken away in the middle of a piece holds it: up to 4 on a busy host. Held through whole sweeps 17 and 21. */
	verdict(good && b[2] <= b[0] + 8 && b[3] <= b[1] + 8, "pins",
		"of 100 programs that ended, busy alone %d, recorded %d; of 100 file systems alone %d, recorded %d", b[0], b[2], b[1], b[3]);
}

/* ---- memory and time of others */

static int opens_body(void)
{
	int n;

	for (n = 0; n < 1000; n++)
		if (open(MEMTRACE_DEVICE, O_RDWR) < 0)
			break;
	return !(n == 64 && errno == EMFILE);
}

static void opens(void)
{
	verdict(child_does(opens_body, MEMBER, 60), "opens", "a member has 64 descriptors at most");
}

/* Children that have ended do not wait for the end of the interval. */
static int ended_body(void)
{
	int fd = session(100000, 64, MEMTRACE_CONFIG_MANUAL | MEMTRACE_CONFIG_CHILDREN);
	u32 most = 0;

	if (attach(fd, getpid()))
		return 1;
	for (int i = 0; i < 3000; i++) {
		pid_t k = fork();

		if (!k)
			_exit(0);
		waitpid(k, NULL, 0);
		if (i % 100 == 99) {
			u32 now = stats(fd).tasks;

			most = now > most ? now : most;
		}
	}
	printf("note: 3,000 children have ended, at most %u tasks stayed; %llu were lost\n", most,
	       (unsigned long long)stats(fd).counter[MEMTRACE_C_TASK_LOST]);
	return most > 1500;
}

static void ended(void)
{
	verdict(child_does(ended_body, MEMBER, 240), "ended", "tasks that have ended are given back within an interval");
}

static void *wait_thread(void *v)
{
	while (!over)
		usleep(100000);
	return v;
}

/* An attach that fails has changed nothing. */
static int whole_body(void)
{
	int fd = session(1000, 16, MEMTRACE_CONFIG_MANUAL), n;
	pthread_attr_t a;
	pthread_t p;
	struct memtrace_stats s;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	for (n = 0; n < 1200; n++)
		if (pthread_create(&p, &a, wait_thread, NULL))
			break;
	n = attach(fd, getpid());
	s = stats(fd);
	printf("note: attach of 1,200 threads: %s; tasks %u, images %u\n", n ? strerror(errno) : "worked", s.tasks, s.images);
	return !(n && !s.tasks && !s.images);
}

static void whole(void)
{
	verdict(child_does(whole_body, MEMBER, 120), "whole", "an attach that finds no memory leaves nothing behind");
}

/*
 * 30,000 mappings without pages, intervals of 1 ms: how much of a processor do the sweeps take? Counted over whole turns, a sweep
 * and the rest behind it, by the machine's clock: a machine with a tenth of a processor sweeps for seconds, and rests four times
 * as long.
 */
static int burn_body(void)
{
	const long n = 30000;
	char *a = mmap(NULL, n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = session(1, 64, 0);
	struct memtrace_stats first, s;
	double t = 0, share, end = kt_now() + 100;

	for (long i = 0; i < n; i++)
		if (mprotect(a + i * PAGE, PAGE, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE))
			return 1;
	if (attach(fd, getpid()))
		return 1;
	for (first = s = stats(fd); kt_now() < end && (!t || s.intervals < first.intervals + 10); usleep(1000)) {
		const u64 before = s.intervals;

		s = stats(fd);
		if (!t && s.intervals > before) {	/* a sweep has just ended */
			first = s;
			t = kt_now();
		}
	}
	if (s.intervals <= first.intervals || !t) {
		printf("note: burn is not judged, %llu intervals ended in 100 s\n", (unsigned long long)s.intervals);
		return 0;
	}
	share = (s.sweep_ns - first.sweep_ns) * 1e-9 / (kt_now() - t);
	printf("note: sweeps took %.0f %% of a processor, %.1f ms each\n", 100 * share,
	       (s.sweep_ns - first.sweep_ns) * 1e-6 / (s.intervals - first.intervals));
	return share > 0.25;
}

static void burn(void)
{
	verdict(child_does(burn_body, MEMBER, 120), "burn", "the sweeps of a member take a fifth of a processor");
}

/* A user whose own /proc never answers holds up nobody else. Needs fuse. */
static void fuse(void)
{
	int go[2], st, done = 0;
	pid_t a, b;
	char x = 0;

	if (access("/dev/fuse", W_OK)) {
		printf("note: this machine has no fuse\n");
		return;
	}
	chmod("/dev/fuse", 0666);
	if (pipe(go))
		DIE("pipe");
	fflush(stdout);
	a = fork();
	if (!a) {
		int fd, f;
		char o[100], map[100];

		setpgid(0, 0);
		drop(MEMBER);
		fd = session(200, 64, MEMTRACE_CONFIG_CHILDREN);
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			DIE("unshare");
		snprintf(map, sizeof(map), "0 %d 1", MEMBER);
		if (!write_to("/proc/self/setgroups", "deny") || !write_to("/proc/self/uid_map", map) || !write_to("/proc/self/gid_map", map))
			DIE("maps of ids");
		f = open("/dev/fuse", O_RDWR);
		snprintf(o, sizeof(o), "fd=%d,rootmode=40000,user_id=0,group_id=0", f);
		if (f < 0 || mount("fuse", "/proc", "fuse", 0, o))
			DIE("mount");
		if (write(go[1], "x", 1) != 1)
			_exit(1);
		attach(fd, 1);		/* never answers */
		_exit(0);
	}
	close(go[1]);
	if (read(go[0], &x, 1) != 1) {
		verdict(false, "fuse", "the file system of the first user cannot be made");
		return;
	}
	usleep(500000);
	b = fork();
	if (!b) {
		drop(MEMBER + 1);
		close(session(200, 64, 0));
		_exit(0);
	}
	for (int i = 0; i < 200 && !done; i++) {
		done = waitpid(b, &st, WNOHANG) == b;
		usleep(100000);
	}
	kill(-a, SIGKILL);
	waitpid(a, NULL, 0);
	verdict(done, "fuse", "a file system of one user that never answers holds up no other user");
}

/* ---- what is not seen is counted */

static char *pages;
static volatile int *turn;

static int stranger_loop(void *v)
{
	(void)v;
	for (int n = 1;; n++) {
		while (*turn < 2 * n - 1)
			usleep(1000);
		for (int i = 0; i < 500; i++)
			pages[i * PAGE]++;
		*turn = 2 * n;
	}
	return 0;
}

/* A process that shares the memory without being a thread: its pages are told, and that its thread is not known. */
static int stranger_body(void)
{
	int fd = session(1000, 1024, MEMTRACE_CONFIG_MANUAL);
	struct memtrace_stats s;
	pid_t k;

	pages = kt_map(500 * PAGE, MAP_PRIVATE);
	madvise(pages, 500 * PAGE, MADV_NOHUGEPAGE);
	memset(pages, 1, 500 * PAGE);
	turn = kt_map(PAGE, MAP_PRIVATE);
	k = clone(stranger_loop, (char *)kt_map(65536, MAP_PRIVATE) + 65536, CLONE_VM | SIGCHLD, NULL);
	if (k < 0 || attach(fd, getpid()) || ioctl(fd, MEMTRACE_TICK))
		return 1;
	*turn = 1;
	while (*turn != 2)
		usleep(1000);
	ioctl(fd, MEMTRACE_TICK);
	s = stats(fd);
	kill(k, SIGKILL);
	waitpid(k, NULL, 0);
	printf("note: 500 pages by a process that shares the memory: %llu faults of an unknown thread, %llu pages inferred\n",
	       (unsigned long long)s.counter[MEMTRACE_C_STRANGER], (unsigned long long)s.counter[MEMTRACE_C_INFERRED]);
	return !(s.counter[MEMTRACE_C_STRANGER] >= 500 && s.counter[MEMTRACE_C_INFERRED] >= 500);
}

static void stranger(void)
{
	verdict(child_does(stranger_body, 0, 60), "stranger", "accesses of a process that shares the memory are told and counted");
}

/* Accessed bits that somebody else clears: the pages are counted as not known. */
static int aged_body(void)
{
	const int n = 500;
	int fd = session(1000, 1024, MEMTRACE_CONFIG_MANUAL);
	char *m = kt_map(n * PAGE, MAP_PRIVATE);
	u64 before;

	madvise(m, n * PAGE, MADV_NOHUGEPAGE);
	memset(m, 1, n * PAGE);
	if (attach(fd, getpid()))
		return 1;
	ioctl(fd, MEMTRACE_TICK);
	ioctl(fd, MEMTRACE_TICK);
	before = stats(fd).counter[MEMTRACE_C_AGED];
	mprotect(m, n * PAGE, PROT_READ);
	mprotect(m, n * PAGE, PROT_READ | PROT_WRITE);
	for (int i = 0; i < n; i++)
		m[i * PAGE]++;
	if (!write_to("/proc/self/clear_refs", "1"))
		return 1;
	ioctl(fd, MEMTRACE_TICK);
	before = stats(fd).counter[MEMTRACE_C_AGED] - before;
	printf("note: %d pages without an accessed bit, of %d that were touched and aged\n", (int)before, n);
	/* where mprotect() leaves the entries hidden, they fault and are told */
	return !(before >= (u64)n || stats(fd).counter[MEMTRACE_C_HIDDEN] >= (u64)n);
}

static void aged(void)
{
	verdict(child_does(aged_body, 0, 60), "aged", "pages whose accessed bits were cleared by others are counted");
}

/* Records of a mapping, of anybody. */
static int records_in(int fd, const char *start, const char *end)
{
	int n = 0;
	ssize_t r;

	while ((r = read(fd, buffer, sizeof(buffer))) > 0)
		for (char *q = buffer; q < buffer + r; q += ((struct memtrace_head *)q)->bytes) {
			const struct memtrace_block *b = (const void *)q;

			for (u32 i = 0; b->head.kind == MEMTRACE_BLOCK && i < b->records; i++)
				n += b->record[i].virt >= (uintptr_t)start && b->record[i].virt < (uintptr_t)end;
		}
	return n;
}

/* A virtual machine, which has page tables of its own: its accesses are not seen, and that is told. Needs KVM; SVM is emulated. */
static int followed_body(void)
{
	/* mov di,0x1000; 1: mov [di],al; add di,0x1000; jnz 1b; hlt: writes pages 1 to 15 */
	static const unsigned char code[] = { 0xbf, 0x00, 0x10, 0x88, 0x05, 0x81, 0xc7, 0x00, 0x10, 0x75, 0xf8, 0xf4 };
	int kvm = open("/dev/kvm", O_RDWR), fd = session(1000, 1024, MEMTRACE_CONFIG_MANUAL), vm, cpu, seen[3];
	char *m = kt_map(16 * PAGE, MAP_PRIVATE);
	struct kvm_userspace_memory_region r = { .memory_size = 16 * PAGE, .userspace_addr = (uintptr_t)m };
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;
	struct kvm_run *run;
	u32 before, after;

	madvise(m, 16 * PAGE, MADV_NOHUGEPAGE);
	memset(m, 1, 16 * PAGE);
	memcpy(m, code, sizeof(code));
	if (kvm < 0 || attach(fd, getpid()) || ioctl(fd, MEMTRACE_TICK))
		return 1;
	before = stats(fd).followed;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	cpu = vm < 0 || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &r) ? -1 : ioctl(vm, KVM_CREATE_VCPU, 0);
	run = cpu < 0 ? MAP_FAILED : mmap(NULL, (size_t)ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (run == MAP_FAILED || ioctl(cpu, KVM_GET_SREGS, &sregs))
		DIE("a virtual machine");
	sregs.cs.base = sregs.cs.selector = 0;
	if (ioctl(cpu, KVM_SET_SREGS, &sregs))
		DIE("its segments");
	for (int i = 0; i < 3; i++) {
		ioctl(fd, MEMTRACE_TICK);
		records_in(fd, m, m);
		if (ioctl(cpu, KVM_SET_REGS, &regs) || ioctl(cpu, KVM_RUN, 0) || run->exit_reason != KVM_EXIT_HLT)
			DIE("the machine ends with %u", run->exit_reason);
		ioctl(fd, MEMTRACE_TICK);
		seen[i] = records_in(fd, m + PAGE, m + 16 * PAGE);
	}
	after = stats(fd).followed;
	printf("note: of 15 pages that a virtual machine writes in an interval %d, %d and %d are told; address spaces that others follow: %u, then %u\n",
	       seen[0], seen[1], seen[2], before, after);
	return before != 0 || after != 1;
}

static void followed(void)
{
	if (access("/dev/kvm", W_OK)) {
		printf("note: this machine has no KVM\n");
		return;
	}
	verdict(child_does(followed_body, 0, 60), "followed", "an address space whose pages a virtual machine uses is counted");
}

/* ---- what is not the caller's */

#define HELPER "/tmp/hostile.suid"

/* Set-user-ID root: makes a child that uses memory. */
static int helper(void)
{
	char *m = kt_map(64 * PAGE, MAP_PRIVATE);
	pid_t k = fork();

	if (!k) {
		for (int i = 0; i < 64 * 20; i++) {
			m[i % 64 * PAGE]++;
			usleep(500);
		}
		_exit(0);
	}
	waitpid(k, NULL, 0);
	return geteuid() != 0;
}

/* Images of forks, and records of them, that are to be read. */
static int of_children(int fd)
{
	static char buffer[1 << 20];
	bool is_child[64] = { false };
	ssize_t n;
	int found = 0;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (char *p = buffer; p < buffer + n; p += ((struct memtrace_head *)p)->bytes) {
			const struct memtrace_image *im = (void *)p;
			const struct memtrace_block *b = (void *)p;

			if (im->head.kind == MEMTRACE_IMAGE && im->how == MEMTRACE_HOW_FORK) {
				is_child[im->image % 64] = true;
				found++;
			}
			if (b->head.kind == MEMTRACE_BLOCK && is_child[b->image % 64])
				found += (int)b->records;
		}
	return found;
}

static struct { int rounds, refused, detached, other, told; } *suid_counts;

/*
 * Attaches again and again to a program that executes a set-user-ID one at that moment. Who attaches is the last to get
 * the processor, so that the exec falls between its steps: the first version of the module told of a child in 1 of some 60 rounds.
 */
static int suid_body(void)
{
	volatile char *go = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const double end = kt_now() + 120;	/* of a busy host; else 40 rounds take 20 s */
	cpu_set_t first, second;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	CPU_ZERO(&second);
	CPU_SET(1, &second);
	for (int r = 0; r < 40 && (r < 10 || kt_now() < end); r++) {
		const struct sched_param p = { 0 };
		struct memtrace_stats st;
		int fd, e, status;
		pid_t k, busy;

		*go = 0;
		fd = session(20, 64, MEMTRACE_CONFIG_CHILDREN);
		k = fork();
		if (!k) {
			sched_setaffinity(0, sizeof(second), &second);
			while (!*go)
				;
			for (volatile int i = 0; i < r * 7919 % 60000; i++)
				;
			execl(HELPER, HELPER, "helper", (char *)0);
			_exit(1);
		}
		busy = fork();
		if (!busy) {
			sched_setaffinity(0, sizeof(first), &first);
			for (;;)
				;
		}
		sched_setaffinity(0, sizeof(first), &first);
		usleep(20000);
		sched_setscheduler(0, SCHED_IDLE, &p);
		*go = 1;
		e = attach(fd, k) ? errno : 0;
		kill(busy, SIGKILL);
		sched_setscheduler(0, SCHED_OTHER, &p);
		waitpid(busy, NULL, 0);
		if (waitpid(k, &status, 0) != k || status)
			return 1;
		st = stats(fd);
		suid_counts->rounds++;
		suid_counts->refused += e == EPERM;
		suid_counts->detached += !e && st.counter[MEMTRACE_C_DETACHED];
		suid_counts->other += e && e != EPERM;
		suid_counts->told += of_children(fd);
		close(fd);
	}
	return 0;
}

static void suid(void)
{
	bool done;

	suid_counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (system("cp /bin/hostile " HELPER) || chown(HELPER, 0, 0) || chmod(HELPER, 04755))
		DIE(HELPER);
	done = child_does(suid_body, MEMBER, 600);
	verdict(done && !suid_counts->told, "suid", "a set-user-ID program that begins while a member attaches: %d rounds, refused %d, "
		"left alone %d, other errors %d, told of its children %d", suid_counts->rounds, suid_counts->refused,
		suid_counts->detached, suid_counts->other, suid_counts->told);
	unlink(HELPER);
}

static int unshared[2], mapped[2];

/* A user with all sessions that a user may have takes another number of his, in a namespace that he has made. */
static int namespaces_child(void)
{
	char x;

	drop(ANOTHER);
	for (int i = 0; i < 8; i++)
		session(1000, 64, MEMTRACE_CONFIG_MANUAL);
	if (unshare(CLONE_NEWUSER) || write(unshared[1], "x", 1) != 1 || read(mapped[0], &x, 1) != 1)
		return 1;
	if (setresuid(1, 1, 1))
		return 2;
	errno = 0;
	return configure(1000, 64, MEMTRACE_CONFIG_MANUAL) < 0 && errno == EDQUOT ? 0 : 3;
}

static int namespaces_body(void)
{
	char path[64], x;
	int st, fd;
	pid_t k, w;

	if (pipe(unshared) || pipe(mapped))
		return 5;
	k = fork();
	if (!k)
		_exit(namespaces_child());
	close(unshared[1]);	/* or its end would be waited for for ever */
	if (read(unshared[0], &x, 1) != 1)
		return 6;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", k);
	if (!write_to(path, "0 1007 1\n1 100000 10\n") || write(mapped[1], "x", 1) != 1)
		return 7;
	if (waitpid(k, &st, 0) != k || st)
		return WIFEXITED(st) ? WEXITSTATUS(st) : 8;
	fd = session(1000, 64, MEMTRACE_CONFIG_MANUAL);
	k = fork();
	if (!k) {
		if (unshare(CLONE_NEWPID))
			_exit(9);
		w = fork();
		if (!w)		/* process 1 of its own namespace */
			_exit(attach(fd, 1) && errno == EPERM ? 0 : 10);
		_exit(waitpid(w, &st, 0) != w || st);
	}
	return waitpid(k, &st, 0) != k || st;
}

static void namespaces(void)
{
	verdict(child_does(namespaces_body, 0, 60), "namespaces", "a user's other numbers have no quota of their own, and numbers of processes are the opener's");
}

/* ---- memory that was needed once */

#define MANY_PAGES 66000

static int grow_of[2], grown[2];

static int grower(void)
{
	pthread_attr_t at;
	pthread_t p;
	char *m, x;

	m = kt_map(MANY_PAGES * PAGE, MAP_PRIVATE);
	if (read(grow_of[0], &x, 1) != 1)
		return 1;
	for (int i = 0; i < MANY_PAGES; i++)
		m[i * PAGE] = 1;
	if (write(grown[1], "x", 1) != 1 || read(grow_of[0], &x, 1) != 1)
		return 1;
	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, 16384);
	for (int i = 0; i < 550; i++)
		if (pthread_create(&p, &at, idle, NULL))
			return 2;
	if (write(grown[1], "x", 1) != 1 || read(grow_of[0], &x, 1) != 1)
		return 3;
	return 0;
}

/*
 * A thread that has touched 66,000 pages in an interval has a hash of 512 KiB, half of what a session of this size has for what
 * grows; 550 threads need more than the other half. After @calm intervals: how many of them are lost, or -1.
 */
static int lost_after(int calm)
{
	static char buffer[1 << 20];
	int fd, lost, st;
	pid_t k;
	char x;

	if (pipe(grow_of) || pipe(grown))
		return -1;
	fd = session(1000, 1024, MEMTRACE_CONFIG_MANUAL | MEMTRACE_CONFIG_CHILDREN);
	k = fork();
	if (!k)
		_exit(grower());
	if (attach(fd, k) || write(grow_of[1], "x", 1) != 1 || read(grown[0], &x, 1) != 1)
		return -1;
	for (int i = 0; i <= calm; i++) {
		if (ioctl(fd, MEMTRACE_TICK))
			return -1;
		while (read(fd, buffer, sizeof(buffer)) > 0)
			;
	}
	if (write(grow_of[1], "x", 1) != 1 || read(grown[0], &x, 1) != 1)
		return -1;
	lost = (int)stats(fd).counter[MEMTRACE_C_TASK_LOST];
	if (write(grow_of[1], "x", 1) != 1 || waitpid(k, &st, 0) != k || st)
		return -1;
	close(fd);
	return lost;
}

static int *grow_lost;

static int grow_body(void)
{
	grow_lost[0] = lost_after(0);
	grow_lost[1] = lost_after(40);
	return 0;
}

static void grow(void)
{
	bool done;

	grow_lost = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	done = child_does(grow_body, MEMBER, 600);
	verdict(done && grow_lost[0] > 0 && !grow_lost[1], "grow", "what a thread needed once is given back: of 550 threads %d are lost at once, %d later",
		grow_lost[0], grow_lost[1]);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "race", race }, { "stop", stop }, { "page", page }, { "blind", blind }, { "huge", huge }, { "spawned", spawned },
	{ "pins", pins }, { "opens", opens }, { "ended", ended }, { "whole", whole }, { "burn", burn }, { "fuse", fuse },
	{ "stranger", stranger }, { "aged", aged }, { "followed", followed },
	{ "suid", suid }, { "namespaces", namespaces }, { "grow", grow },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	self = argv[0];
	if (argc == 2 && !strcmp(argv[1], "is-huge"))
		return huge_pages_allowed("/proc/self/status") ? 0 : 2;
	if (argc == 2 && !strcmp(argv[1], "helper"))
		return helper();
	if (argc == 2 && !strcmp(argv[1], "touch")) {
		char *m = kt_map(1000 * PAGE, MAP_PRIVATE);

		for (int i = 0; i < 1000; i++)
			m[i * PAGE]++;
		return 0;
	}
	if (chmod(MEMTRACE_DEVICE, 0666))
		DIE("%s", MEMTRACE_DEVICE);
	for (int a = 1; a < argc; a++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			if (!strcmp(argv[a], "all") || !strcmp(argv[a], cases[i].name))
				cases[i].run();
	return chmod(MEMTRACE_DEVICE, 0600);
}
