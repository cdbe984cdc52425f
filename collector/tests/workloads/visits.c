// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A program that knows its own accesses. Threads visit pages of several kinds
 * (heap, shared, static, stack, short-lived mappings) and log every visit with
 * the times before and after it; tests/fidelity/fidelity.c compares the log
 * with a trace. It also remembers what it wrote and stops with status 3 when
 * memory does not hold it any more, so that a collector that moves memory
 * around is caught.
 *
 * Log: one file per process image, PREFIX.PID.GENERATION, text:
 *	# memtrace visits 1 pid=PID generation=G start=NS
 *	Address,T0,T1,Kind,Class,TaskId
 *	7f12ab000010,123,456,r,p,4711
 * Kind: r load, w store by the thread; R, W read, written by the kernel only, in a
 * system call of that thread. Class: p private heap, s shared heap, b static,
 * k stack, v short-lived mapping. T0 and T1 are ns of CLOCK_MONOTONIC.
 *
 * The log is kept in memory mapped without libc, which the zap backend does not
 * trace, and written at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PAGE
#define PAGE 4096UL	/* of the kernel on which it will run */
#endif
#define BSS_PAGES 1024
#define MAX_THREADS 512
#define VOLATILE_PAGES 16
#define LEAST_VISITS 20000L	/* of all threads, however long they take */
#define WORD (PAGE / sizeof(uint64_t))

struct visit {
	uint64_t address, t0, t1;
	int32_t tid;
	char kind, class;
};

static struct options {
	long threads, ms, visits, write_percent, kernel_percent, private_pages;
	int reading;		/* nobody may write to the shared pages */
	long shared_pages, bss_pages, stack_pages, repeat, pause_every, pause_us;
	long busy_ms, asleep_ms, seed, generation;
	int churn, mremap, madvise, brk, fork, exec, prefault;
	const char *log, *memory;
} opt = {
	.threads = 4, .ms = 2000, .visits = 150000, .write_percent = 50,
	.private_pages = 300, .shared_pages = 300, .bss_pages = 256,
	.stack_pages = 32, .repeat = 20, .pause_every = 64, .seed = 1, .memory = "heap",
};

static char bss[BSS_PAGES * PAGE] __attribute__((aligned(PAGE)));
static char *private_heap, *shared_heap;
static uint64_t end_ns;
static int zero_fd, sink_fd;
static char **args;

struct worker {
	long index;
	uint64_t random;
	int32_t tid;
	struct visit *log;
	long count, max;
	/* what this thread wrote last into each of its private pages */
	uint64_t *written;
	pthread_t id;
};

static struct worker workers[MAX_THREADS];

static void die(int status, const char *format, ...)
{
	va_list ap;

	fputs("visits: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(status);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(struct worker *w)
{
	uint64_t x = w->random += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Memory of the log itself: by an instruction of our own, so that no hook in libc sees it. */
static void *log_memory(size_t bytes)
{
#ifdef __x86_64__
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	register long fd __asm__("r8") = -1;
	register long offset __asm__("r9") = 0;
	long ret = SYS_mmap;

	__asm__ volatile("syscall" : "+a"(ret) : "D"(0), "S"(bytes), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(fd),
			 "r"(offset) : "rcx", "r11", "memory");
	if (ret < 0 && ret > -4096)
		die(1, "cannot map %zu bytes for the log: %s", bytes, strerror((int)-ret));
	return (void *)ret;
#elif defined(__aarch64__)
	register long ret __asm__("x0") = 0;
	register long length __asm__("x1") = (long)bytes;
	register long prot __asm__("x2") = PROT_READ | PROT_WRITE;
	register long flags __asm__("x3") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	register long fd __asm__("x4") = -1;
	register long offset __asm__("x5") = 0;
	register long number __asm__("x8") = SYS_mmap;

	__asm__ volatile("svc #0" : "+r"(ret) : "r"(length), "r"(prot), "r"(flags), "r"(fd), "r"(offset), "r"(number) : "memory");
	if (ret < 0 && ret > -4096)
		die(1, "cannot map %zu bytes for the log: %s", bytes, strerror((int)-ret));
	return (void *)ret;
#else
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die(1, "cannot map %zu bytes for the log: %s", bytes, strerror(errno));
	return p;
#endif
}

/* What of a new file may only be read: its pages are there, as those of a file that somebody has made before. */
static void *view(int fd, size_t bytes, int again, int flags)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		if (pwrite(fd, &i, sizeof(i), (off_t)i) != sizeof(i))
			die(1, "cannot write to a file: %s", strerror(errno));
	if (again < 0)
		die(1, "cannot open a file again: %s", strerror(errno));
	opt.reading = 1;
	return mmap(NULL, bytes, PROT_READ, flags, again, 0);
}

/* The memory that all threads visit, of the kind that -M names. */
static void *shared_memory(const char *kind, size_t bytes)
{
	const int rw = PROT_READ | PROT_WRITE;
	char name[64];
	void *p = NULL;
	int fd = -1;

	if (!strcmp(kind, "heap"))
		return aligned_alloc(PAGE, bytes);
	if (!strcmp(kind, "anonymous"))
		return mmap(NULL, bytes, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(kind, "sysv")) {
		int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);

		if (id < 0)
			die(1, "shmget: %s", strerror(errno));
		p = shmat(id, NULL, 0);
		shmctl(id, IPC_RMID, NULL);
		return p;
	}
	snprintf(name, sizeof(name), "/memtrace-visits-%d", (int)getpid());
	if (!strcmp(kind, "posix") || !strcmp(kind, "posix-read")) {
		fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd >= 0 && !strcmp(kind, "posix-read"))
			p = view(fd, bytes, shm_open(name, O_RDONLY, 0), MAP_SHARED);
		shm_unlink(name);
	} else if (!strcmp(kind, "memfd")) {
		fd = memfd_create("visits", MFD_CLOEXEC);
	} else if (!strncmp(kind, "file", 4)) {
		snprintf(name, sizeof(name), "visits.%d.tmp", (int)getpid());
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 && !strcmp(kind, "file-read"))
			p = view(fd, bytes, open(name, O_RDONLY | O_CLOEXEC), MAP_SHARED);
		else if (fd >= 0 && !strcmp(kind, "file-private"))
			p = view(fd, bytes, open(name, O_RDONLY | O_CLOEXEC), MAP_PRIVATE);
		unlink(name);
	} else {
		die(2, "unknown memory '%s'", kind);
	}
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		die(1, "memory of kind %s: %s", kind, strerror(errno));
	if (!p)
		p = mmap(NULL, bytes, rw, MAP_SHARED, fd, 0);
	close(fd);
	return p;
}

static void note(struct worker *w, const volatile void *p, uint64_t t0,
		 uint64_t t1, char kind, char class)
{
	if (w->count == w->max)
		die(1, "the log of thread %ld is full", w->index);
	w->log[w->count++] = (struct visit){
		(uint64_t)(uintptr_t)p, t0, t1, w->tid, kind, class
	};
}

static void visit_store(struct worker *w, volatile uint64_t *p, uint64_t value, char class)
{
	uint64_t t0 = now_ns();

	for (long i = 0; i < opt.repeat; i++)
		*p = value;
	note(w, p, t0, now_ns(), 'w', class);
}

static uint64_t visit_load(struct worker *w, volatile uint64_t *p, char class)
{
	uint64_t value = 0, t0 = now_ns();

	for (long i = 0; i < opt.repeat; i++)
		value = *p;
	note(w, p, t0, now_ns(), 'r', class);
	return value;
}

/*
 * The kernel alone touches the page. Loads: write(2) of 8 bytes to a pipe
 * that nobody reads fast enough would block, so they go to a file without
 * name; stores: read(2) from /dev/zero.
 */
static void visit_kernel(struct worker *w, volatile uint64_t *p, int store, char class)
{
	uint64_t t0 = now_ns();
	ssize_t n;

	if (store)
		n = read(zero_fd, (void *)(uintptr_t)p, sizeof(*p));
	else
		n = pwrite(sink_fd, (const void *)(uintptr_t)p, sizeof(*p), 0);
	if (n != (ssize_t)sizeof(*p))
		die(3, "system call on %p gave %zd (%s)", (void *)(uintptr_t)p, n,
		    strerror(errno));
	note(w, p, t0, now_ns(), store ? 'W' : 'R', class);
}

static volatile uint64_t *word(void *base, uint64_t page, uint64_t random)
{
	return (volatile uint64_t *)base + page * WORD + (random >> 40) % WORD;
}

/* A private page: check what we wrote there, or write something new. The
 * stamp is always in word 0, so that a later visit finds it. */
static void visit_private(struct worker *w, uint64_t r, int store)
{
	uint64_t page = (r >> 16) % (uint64_t)opt.private_pages;
	char *mine = private_heap + (size_t)w->index * (size_t)opt.private_pages * PAGE;
	volatile uint64_t *p = word(mine, page, 0);

	if ((long)(r >> 8 & 0xff) * 100 / 256 < opt.kernel_percent) {
		visit_kernel(w, p, store, 'p');
		if (store)
			w->written[page] = 0;
		return;
	}
	if (store) {
		w->written[page] = r | 1;
		visit_store(w, p, r | 1, 'p');
	} else if (visit_load(w, p, 'p') != w->written[page]) {
		die(3, "thread %ld lost what it wrote to private page %lu", w->index,
		    (unsigned long)page);
	}
}

static void *map_some(size_t pages)
{
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die(3, "mmap of %zu pages: %s", pages, strerror(errno));
	return p;
}

static void fill(struct worker *w, char *p, size_t pages, uint64_t value)
{
	for (size_t i = 0; i < pages; i++)
		visit_store(w, word(p, i, 0), value + i, 'v');
}

static void expect(struct worker *w, char *p, size_t pages, uint64_t value, const char *what)
{
	for (size_t i = 0; i < pages; i++) {
		uint64_t v = visit_load(w, word(p, i, 0), 'v');
		uint64_t want = value ? value + i : 0;

		if (v != want)
			die(3, "%s: page %zu holds %lx instead of %lx", what, i,
			    (unsigned long)v, (unsigned long)want);
	}
}

/* Mapped, used and unmapped within one interval. */
static void do_churn(struct worker *w)
{
	char *p = map_some(VOLATILE_PAGES);

	expect(w, p, VOLATILE_PAGES / 2, 0, "fresh mapping");
	fill(w, p, VOLATILE_PAGES, 1000);
	/* a hole in the middle, and the rest must stay */
	if (munmap(p + 4 * PAGE, 2 * PAGE))
		die(3, "munmap: %s", strerror(errno));
	expect(w, p, 4, 1000, "before the hole");
	expect(w, p + 6 * PAGE, VOLATILE_PAGES - 6, 1006, "after the hole");
	/* not over the hole: another thread may have a mapping there now */
	munmap(p, 4 * PAGE);
	munmap(p + 6 * PAGE, (VOLATILE_PAGES - 6) * PAGE);
}

static void do_mremap(struct worker *w)
{
	const size_t n = VOLATILE_PAGES;
	char *p = map_some(n), *q, *place;

	fill(w, p, n, 2000);
	q = mremap(p, n * PAGE, 4 * n * PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED)
		die(3, "mremap to grow: %s", strerror(errno));
	expect(w, q, n, 2000, "mremap to grow");
	expect(w, q + n * PAGE, 4, 0, "new part after mremap");
	q = mremap(q, 4 * n * PAGE, n * PAGE, 0);
	if (q == MAP_FAILED)
		die(3, "mremap to shrink: %s", strerror(errno));
	place = map_some(n);
	fill(w, place, 2, 3000);
	q = mremap(q, n * PAGE, n * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	if (q != place)
		die(3, "mremap to a fixed place: %s", strerror(errno));
	expect(w, q, n, 2000, "mremap to a fixed place");
	munmap(q, n * PAGE);
}

static void do_madvise(struct worker *w)
{
	char *p = map_some(VOLATILE_PAGES);

	fill(w, p, VOLATILE_PAGES, 4000);
	if (madvise(p + 2 * PAGE, 3 * PAGE, MADV_DONTNEED))
		die(3, "madvise: %s", strerror(errno));
	expect(w, p, 2, 4000, "before MADV_DONTNEED");
	expect(w, p + 2 * PAGE, 3, 0, "after MADV_DONTNEED");
	expect(w, p + 5 * PAGE, VOLATILE_PAGES - 5, 4005, "beyond MADV_DONTNEED");
	munmap(p, VOLATILE_PAGES * PAGE);
}

/* Only thread 0 does this: the end of the heap is one for all. */
static void do_brk(struct worker *w)
{
	char *p = sbrk((intptr_t)((VOLATILE_PAGES + 1) * PAGE)), *q;

	if (p == (void *)-1)
		return;
	q = (char *)(((uintptr_t)p + PAGE - 1) & ~(PAGE - 1));
	fill(w, q, VOLATILE_PAGES, 5000);
	expect(w, q, VOLATILE_PAGES, 5000, "heap after sbrk");
	/* give it back only if nobody else moved the end meanwhile */
	if (sbrk(0) == p + (VOLATILE_PAGES + 1) * PAGE)
		sbrk(-(intptr_t)((VOLATILE_PAGES + 1) * PAGE));
}

static void one_visit(struct worker *w, void *stack)
{
	uint64_t r = next_random(w);
	int store = (long)(r & 0xff) * 100 / 256 < opt.write_percent;
	uint64_t page = r >> 16;
	volatile uint64_t *p;
	char class;

	switch (r >> 60) {
	case 0 ... 5:
		visit_private(w, r, store);
		return;
	case 6 ... 9:
		p = word(shared_heap, page % (uint64_t)opt.shared_pages, r);
		store &= !opt.reading;
		class = 's';
		break;
	case 10 ... 13:
		p = word(bss, page % (uint64_t)opt.bss_pages, r);
		class = 'b';
		break;
	default:
		p = word(stack, page % (uint64_t)opt.stack_pages, r);
		class = 'k';
		break;
	}
	if ((long)(r >> 8 & 0xff) * 100 / 256 < opt.kernel_percent)
		visit_kernel(w, p, store, class);
	else if (store)
		visit_store(w, p, r, class);
	else
		visit_load(w, p, class);
}

static void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	size_t room = (size_t)(opt.stack_pages + 1) * PAGE;
	char *stack = __builtin_alloca(room);
	uint64_t busy_until;

	stack = (char *)(((uintptr_t)stack + PAGE - 1) & ~(PAGE - 1));
	w->tid = (int32_t)syscall(SYS_gettid);
	busy_until = now_ns() + (uint64_t)opt.busy_ms * 1000000;
	for (long i = 1; i <= opt.visits; i++) {
		one_visit(w, stack);
		if (now_ns() >= end_ns && i >= LEAST_VISITS / opt.threads)
			break;
		if (opt.pause_us && i % opt.pause_every == 0)
			sleep_us(opt.pause_us);
		if (i % 1000 == 0) {
			if (opt.churn)
				do_churn(w);
			if (opt.mremap)
				do_mremap(w);
			if (opt.madvise)
				do_madvise(w);
			if (opt.brk && w->index == 0)
				do_brk(w);
		}
		if (opt.asleep_ms && now_ns() > busy_until) {
			sleep_us(opt.asleep_ms * 1000);
			busy_until = now_ns() + (uint64_t)opt.busy_ms * 1000000;
		}
	}
	return NULL;
}

static void write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			die(1, "cannot write the log: %s", strerror(errno));
		p += k;
		n -= (size_t)k;
	}
}

/* Through a buffer that is not traced: a write straight from traced memory
 * would be correct too, but would add pages to the trace of every interval. */
static void write_log(const char *prefix, uint64_t start)
{
	const size_t size = 1 << 20;
	char *buffer = log_memory(size), name[4096];
	size_t used;
	int fd;

	snprintf(name, sizeof(name), "%s.%d.%ld", prefix, (int)getpid(), opt.generation);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		die(1, "cannot create %s: %s", name, strerror(errno));
	used = (size_t)snprintf(buffer, size,
		"# memtrace visits 1 pid=%d generation=%ld start=%lu\n"
		"Address,T0,T1,Kind,Class,TaskId\n",
		(int)getpid(), opt.generation, (unsigned long)start);
	for (long t = 0; t < opt.threads; t++)
		for (long i = 0; i < workers[t].count; i++) {
			const struct visit *v = &workers[t].log[i];

			if (size - used < 256) {
				write_all(fd, buffer, used);
				used = 0;
			}
			used += (size_t)snprintf(buffer + used, size - used,
				"%lx,%lu,%lu,%c,%c,%d\n",
				(unsigned long)v->address, (unsigned long)v->t0,
				(unsigned long)v->t1, v->kind, v->class, v->tid);
		}
	write_all(fd, buffer, used);
	close(fd);
	munmap(buffer, size);
}

static void run_threads(long ms)
{
	end_ns = now_ns() + (uint64_t)ms * 1000000;
	for (long t = 0; t < opt.threads; t++) {
		struct worker *w = &workers[t];

		w->index = t;
		w->random = (uint64_t)opt.seed * 1000003 + (uint64_t)(opt.generation * 100 + t);
		w->count = 0;
		/* a visit per round, and the visits of the special rounds */
		w->max = opt.visits * 2 + 1000;
		w->log = log_memory((size_t)w->max * sizeof(struct visit));
		w->written = log_memory((size_t)opt.private_pages * sizeof(uint64_t));
	}
	/* thread 0 is the main thread, which has the other kind of stack */
	for (long t = 1; t < opt.threads; t++)
		if (pthread_create(&workers[t].id, NULL, work, &workers[t]))
			die(1, "cannot start thread %ld", t);
}

static void join_threads(void)
{
	work(&workers[0]);
	for (long t = 1; t < opt.threads; t++)
		pthread_join(workers[t].id, NULL);
}

/*
 * Forks while the other threads run. Parent and child change the same page
 * afterwards and must not see each other's value. The child runs its own threads.
 */
static pid_t fork_child(void)
{
	static volatile uint64_t isolation[2 * WORD] __attribute__((aligned(PAGE)));
	pid_t child;

	isolation[0] = 1;
	isolation[WORD] = 2;
	child = fork();
	if (child < 0)
		die(1, "fork: %s", strerror(errno));
	if (child > 0) {
		isolation[0] = 10;
		sleep_us(20000);
		if (isolation[0] != 10 || isolation[WORD] != 2)
			die(3, "the parent sees memory of its child");
		return child;
	}
	isolation[WORD] = 20;
	sleep_us(20000);
	if (isolation[0] != 1 || isolation[WORD] != 20)
		die(3, "the child sees memory of its parent");
	return 0;
}

static void usage(FILE *f)
{
	fputs("usage: visits [options] LOGPREFIX\n"
	      "  -t N threads (4)          -d N milliseconds (2000)  -n N visits per thread (150000)\n"
	      "  -w N percent writes (50)  -y N percent of visits by system calls (0)\n"
	      "  -P N private pages per thread (300)  -S N shared pages (300)\n"
	      "  -B N static pages (256)   -K N stack pages (32)     -r N accesses per visit (20)\n"
	      "  -p N pause of N us after each 64 visits (0)\n"
	      "  -z B,A busy for B ms, asleep for A ms\n"
	      "  -m LIST of churn,mremap,madvise,brk,fork,exec       -s N seed (1)\n"
	      "  -M KIND of the shared pages: heap, anonymous, memfd, posix, sysv, file, and, loads only,\n"
	      "     posix-read, file-read (opened for reading), file-private\n", f);
}

static void parse_modes(char *list)
{
	for (char *m = strtok(list, ","); m; m = strtok(NULL, ",")) {
		if (!strcmp(m, "churn"))
			opt.churn = 1;
		else if (!strcmp(m, "mremap"))
			opt.mremap = 1;
		else if (!strcmp(m, "madvise"))
			opt.madvise = 1;
		else if (!strcmp(m, "brk"))
			opt.brk = 1;
		else if (!strcmp(m, "fork"))
			opt.fork = 1;
		else if (!strcmp(m, "exec"))
			opt.exec = 1;
		else
			die(2, "unknown mode '%s'", m);
	}
}

static long number(const char *text, long min, long max)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (*end || end == text || v < min || v > max)
		die(2, "a number from %ld to %ld is needed, not '%s'", min, max, text);
	return v;
}

static void parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "t:d:n:w:y:P:S:B:K:r:p:z:m:M:s:g:h")) != -1)
		switch (o) {
		case 't': opt.threads = number(optarg, 1, MAX_THREADS); break;
		case 'd': opt.ms = number(optarg, 1, 3600000); break;
		case 'n': opt.visits = number(optarg, 1, 100000000); break;
		case 'w': opt.write_percent = number(optarg, 0, 100); break;
		case 'y': opt.kernel_percent = number(optarg, 0, 100); break;
		case 'P': opt.private_pages = number(optarg, 1, 10000000); break;
		case 'S': opt.shared_pages = number(optarg, 1, 10000000); break;
		case 'B': opt.bss_pages = number(optarg, 1, BSS_PAGES); break;
		case 'K': opt.stack_pages = number(optarg, 1, 1000); break;
		case 'r': opt.repeat = number(optarg, 1, 1000000); break;
		case 'p': opt.pause_us = number(optarg, 0, 1000000); break;
		case 's': opt.seed = number(optarg, 0, 1000000000); break;
		case 'g': opt.generation = number(optarg, 0, 1000); break;
		case 'z':
			if (sscanf(optarg, "%ld,%ld", &opt.busy_ms, &opt.asleep_ms) != 2)
				die(2, "-z needs two numbers, not '%s'", optarg);
			break;
		case 'm': parse_modes(strdup(optarg)); break;
		case 'M': opt.memory = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	if (optind + 1 != argc) {
		usage(stderr);
		exit(2);
	}
	opt.log = argv[optind];
}

/* The next image of this process: same program, next generation, no exec. */
static void exec_next(void)
{
	char generation[32], ms[32], threads[32], seed[32], visits[32], pause[32];

	snprintf(generation, sizeof(generation), "-g%ld", opt.generation + 1);
	snprintf(ms, sizeof(ms), "-d%ld", opt.ms);
	snprintf(threads, sizeof(threads), "-t%ld", opt.threads);
	snprintf(seed, sizeof(seed), "-s%ld", opt.seed);
	snprintf(visits, sizeof(visits), "-n%ld", opt.visits);
	snprintf(pause, sizeof(pause), "-p%ld", opt.pause_us);
	execl("/proc/self/exe", args[0], generation, ms, threads, seed, visits, pause,
	      opt.log, (char *)NULL);
	die(1, "exec: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	uint64_t start = now_ns();
	long visits = 0;
	pid_t child = -1;
	int status = 0;

	args = argv;
	parse(argc, argv);
	private_heap = aligned_alloc(PAGE, (size_t)(opt.threads * opt.private_pages) * PAGE);
	shared_heap = shared_memory(opt.memory, (size_t)opt.shared_pages * PAGE);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	sink_fd = memfd_create("sink", MFD_CLOEXEC);
	if (!private_heap || !shared_heap || shared_heap == MAP_FAILED || zero_fd < 0 || sink_fd < 0)
		die(1, "cannot set up: %s", strerror(errno));

	run_threads(opt.ms);
	if (opt.fork) {
		child = fork_child();
		if (child == 0) {
			/* the threads of the parent do not exist here */
			opt.generation = 0;
			opt.seed += 77;
			opt.exec = 0;
			private_heap = aligned_alloc(PAGE,
				(size_t)(opt.threads * opt.private_pages) * PAGE);
			if (!private_heap)
				die(1, "no memory in the child");
			start = now_ns();
			run_threads(opt.ms / 2);
		}
	}
	join_threads();
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		die(3, "the child ended with status %x", (unsigned)status);
	write_log(opt.log, start);
	if (opt.exec)
		exec_next();
	for (long t = 0; t < opt.threads; t++)
		visits += workers[t].count;
	fprintf(stderr, "visits: %ld visits by %ld threads\n", visits, opt.threads);
	return 0;
}
