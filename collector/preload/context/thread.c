/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * thread.c - birth, death, name and stack of each thread.
 *
 * pthread_create is wrapped: the new thread begins in trampoline(), which
 * knows its kernel id and its stack before the program's start routine runs. A
 * pthread key tells the end, however the thread ends. The stack bounds come
 * from pthread_getattr_np, whose internal allocations are served by our pool,
 * so that the program's heap looks the same traced and untraced.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/context/ctx.h"
#include "preload/ground/context.h"
#include "preload/ground/process.h"
#include "common/rawsys.h"
#include "preload/ground/thread.h"

static CTX_TLS int thread_done;		/* the key's destructor has run */

static _Atomic(struct ctx_thread *) slots;
static _Atomic int lock;		/* of slots and starts */
static _Atomic uint64_t dead_count, dead_bytes;
static pthread_key_t key;
static bool key_valid;

struct start {
	void *(*fn)(void *);
	void *arg;
	int parent;
	struct start *next;
};

static struct start *free_starts;

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_setname)(pthread_t, const char *);
static int (*real_prctl)(int, ...);

struct ctx_thread *ctx_thread_self(void)
{
	struct ctx_thread *t = ctx_self, *chunk;

	if (ctx_likely(t != NULL))
		return t;
	if (thread_done || !ctx_lock(&lock))
		return NULL;
	for (t = atomic_load(&slots); t; t = t->next)
		if (!atomic_load_explicit(&t->used, memory_order_relaxed))
			break;
	if (!t) {
		const int n = 64;

		/* the slots, and behind them what each has of stacks, which is touched when it is used */
		chunk = ctx_map(n * (sizeof(*chunk) + CTX_MEMOS * sizeof(*chunk->memo)));
		if (chunk) {
			for (int i = 0; i < n; i++) {
				chunk[i].memo = (struct ctx_memo *)(chunk + n) + i * CTX_MEMOS;
				chunk[i].next = &chunk[i + 1];
			}
			chunk[n - 1].next = atomic_load(&slots);
			atomic_store(&slots, chunk);
		}
		t = chunk;
	}
	if (t) {
		const bool used_before = t->tid != 0;

		t->tid = ctx_gettid();
		t->named = 0;
		t->cpu_base = t->cpu_told = 0;
		t->self = (uintptr_t)pthread_self();
		t->stack_start = t->stack_end = 0;
		t->sample_left = 0;
		t->sample_mean = 0;
		for (int i = 0; i < CTX_MEMOS && used_before; i++)
			t->memo[i].sp = 0;
		atomic_store(&t->used, 1);
	}
	ctx_unlock(&lock);
	ctx_self = t;
	return t;
}

/* Fold the counters of a slot into the total and give the slot back. */
static void slot_free(struct ctx_thread *t)
{
	atomic_fetch_add(&dead_count, atomic_exchange(&t->small_count, 0));
	atomic_fetch_add(&dead_bytes, atomic_exchange(&t->small_bytes, 0));
	ctx_brief_thread_gone(t);
	atomic_store(&t->used, 0);
}

void ctx_thread_brief(uint64_t *count, uint64_t *bytes)
{
	ctx_brief_gone(count, bytes);
	for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next) {
		*count += atomic_load_explicit(&t->brief_count, memory_order_relaxed);
		*bytes += atomic_load_explicit(&t->brief_bytes, memory_order_relaxed);
	}
}

void ctx_thread_counts(uint64_t *count, uint64_t *bytes)
{
	*count = atomic_load(&dead_count);
	*bytes = atomic_load(&dead_bytes);
	for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next) {
		*count += atomic_load_explicit(&t->small_count, memory_order_relaxed);
		*bytes += atomic_load_explicit(&t->small_bytes, memory_order_relaxed);
	}
}

/* A file of a thread in /proc, with 0 at its end. The monitor may be another process. */
static void read_of(int tid, const char *name, char *text, size_t size)
{
	char path[96] = "/proc/self", *p = path + 10;
	long fd, n;

	if (mt_getpid() != mt_process.image.pid)
		p = mt_put_u64(path + 6, (uint64_t)mt_process.image.pid);
	__builtin_memcpy(p, "/task/", 6);
	p = mt_put_u64(p + 6, (uint64_t)tid);
	*p++ = '/';
	__builtin_memcpy(p, name, __builtin_strlen(name) + 1);
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : mt_sys(SYS_read, fd, text, size - 1);
	if (fd >= 0)
		mt_sys(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
}

static void comm_of(int tid, char *name, size_t size)
{
	size_t n;

	read_of(tid, "comm", name, size);
	for (n = __builtin_strlen(name); n && name[n - 1] == '\n'; n--)
		name[n - 1] = 0;
}

static void log_name(char kind, int tid, const char *name, bool monitor)
{
	struct ctx_line l;

	ctx_line_begin(&l, kind);
	ctx_line_dec(&l, ctx_now());
	ctx_line_int(&l, tid);
	ctx_line_str(&l, name);
	if (monitor)
		ctx_line_put(&l, 0);
	else
		ctx_line_end(&l);
}

/*
 * User and system time of a thread of the program; any thread may ask. The monitor as another process is not told the clock, and reads
 * what it showed when the thread had a processor last, up to a tick ago.
 */
uint64_t ctx_thread_cpu(int tid)
{
	uint64_t ns = mt_clock_ns((int)(~(unsigned int)tid << 3 | 6));	/* CPUCLOCK_SCHED, per thread */
	char text[64];

	if (ns)
		return ns;
	read_of(tid, "schedstat", text, sizeof(text));
	for (const char *p = text; *p >= '0' && *p <= '9'; p++)
		ns = ns * 10 + (uint64_t)(*p - '0');
	return ns;
}

static void log_cpu(struct ctx_thread *t, uint64_t now, uint64_t cpu, bool monitor)
{
	struct ctx_line l;

	t->cpu_told = cpu;
	ctx_line_begin(&l, 'P');
	ctx_line_dec(&l, now);
	ctx_line_int(&l, t->tid);
	ctx_line_dec(&l, cpu - t->cpu_base);
	if (monitor)
		ctx_line_put(&l, 0);
	else
		ctx_line_end(&l);
}

/* Key destructor: the last code of the program in this thread, nearly. */
static void thread_end(void *p)
{
	struct ctx_thread *t = p;
	char name[32] = "";

	if (ctx_self != t)
		return;
	ctx_nest++;
	if (atomic_load(&ctx_on)) {
		mt_sys(SYS_prctl, PR_GET_NAME, name);
		log_cpu(t, ctx_now(), mt_clock_ns(CLOCK_THREAD_CPUTIME_ID), false);
		log_name('X', t->tid, name, false);
	}
	ctx_self = NULL;
	thread_done = 1;
	slot_free(t);
	ctx_nest--;
}

static void log_birth(struct ctx_thread *t, int parent, uintptr_t lo, uintptr_t hi,
		      uintptr_t fn)
{
	struct ctx_line l;

	t->stack_start = lo;
	t->stack_end = hi;
	ctx_line_begin(&l, 'T');
	ctx_line_dec(&l, ctx_now());
	ctx_line_int(&l, t->tid);
	ctx_line_int(&l, parent);
	ctx_line_hex(&l, lo);
	ctx_line_hex(&l, hi);
	ctx_line_hex(&l, fn);
	ctx_line_hex(&l, mt_thread_pointer());
	ctx_line_end(&l);
}

static void stack_of_self(uintptr_t *lo, uintptr_t *hi)
{
	pthread_attr_t attr;
	void *addr;
	size_t size;

	*lo = *hi = 0;
	ctx_pool_mode++;
	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		if (pthread_attr_getstack(&attr, &addr, &size) == 0) {
			*lo = (uintptr_t)addr;
			*hi = (uintptr_t)addr + size;
		}
		pthread_attr_destroy(&attr);
	}
	ctx_pool_mode--;
}

static struct start *start_get(void)
{
	struct start *s;

	if (!ctx_lock(&lock))
		return NULL;
	s = free_starts;
	if (!s) {
		const int n = 64;

		s = ctx_map(n * sizeof(*s));
		for (int i = 0; s && i < n - 1; i++)
			s[i].next = &s[i + 1];
	}
	if (s)
		free_starts = s->next;
	ctx_unlock(&lock);
	return s;
}

static void start_put(struct start *s)
{
	if (!ctx_lock(&lock))
		return;
	s->next = free_starts;
	free_starts = s;
	ctx_unlock(&lock);
}

static void *trampoline(void *p)
{
	struct start s = *(struct start *)p;
	struct ctx_thread *t;

	ctx_nest++;
	start_put(p);
	t = ctx_thread_self();
	if (t) {
		uintptr_t lo, hi;

		stack_of_self(&lo, &hi);
		log_birth(t, s.parent, lo, hi, (uintptr_t)s.fn);
		if (key_valid)
			pthread_setspecific(key, t);
	}
	ctx_nest--;
	return s.fn(s.arg);
}

CTX_EXPORT int pthread_create(pthread_t *th, const pthread_attr_t *attr,
			      void *(*fn)(void *), void *arg)
{
	struct ctx_thread *self;
	struct start *s = NULL;
	int err;

	mt_begin();
	if (ctx_unlikely(!real_create)) {
		ctx_pool_mode++;
		real_create = (__typeof__(real_create))dlsym(RTLD_NEXT, "pthread_create");
		ctx_pool_mode--;
		if (!real_create)
			return EAGAIN;
	}
	if (!atomic_load_explicit(&ctx_on, memory_order_relaxed) || ctx_nest)
		return real_create(th, attr, fn, arg);
	ctx_nest++;		/* the mmap of the stack is not the program's */
	self = ctx_thread_self();
	s = start_get();
	if (s) {
		s->fn = fn;
		s->arg = arg;
		s->parent = self ? self->tid : -1;
		err = real_create(th, attr, trampoline, s);
		if (err)
			start_put(s);
	} else {
		err = real_create(th, attr, fn, arg);
	}
	ctx_nest--;
	return err;
}

CTX_EXPORT int pthread_setname_np(pthread_t th, const char *name)
{
	int err, tid = -1;

	if (ctx_unlikely(!real_setname)) {
		ctx_pool_mode++;
		real_setname = (__typeof__(real_setname))dlsym(RTLD_NEXT, "pthread_setname_np");
		ctx_pool_mode--;
		if (!real_setname)
			return ENOSYS;
	}
	err = real_setname(th, name);
	if (err || !atomic_load_explicit(&ctx_on, memory_order_relaxed) || ctx_nest)
		return err;
	ctx_nest++;
	if (pthread_equal(th, pthread_self())) {
		struct ctx_thread *t = ctx_thread_self();

		tid = t ? t->tid : ctx_gettid();
	} else if (ctx_lock(&lock)) {
		for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next)
			if (atomic_load(&t->used) && t->self == (uintptr_t)th)
				tid = t->tid;
		ctx_unlock(&lock);
	}
	if (tid > 0)
		log_name('N', tid, name, false);
	ctx_nest--;
	return 0;
}

CTX_EXPORT int prctl(int op, ...)
{
	unsigned long a[4];
	va_list ap;
	int r;

	va_start(ap, op);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (ctx_unlikely(!real_prctl)) {
		ctx_pool_mode++;
		real_prctl = (__typeof__(real_prctl))dlsym(RTLD_NEXT, "prctl");
		ctx_pool_mode--;
		if (!real_prctl) {
			errno = ENOSYS;
			return -1;
		}
	}
	r = real_prctl(op, a[0], a[1], a[2], a[3]);
	if (op == PR_SET_NAME && r == 0 && !ctx_nest &&
	    atomic_load_explicit(&ctx_on, memory_order_relaxed)) {
		struct ctx_thread *t;
		char name[32] = "";

		ctx_nest++;
		t = ctx_thread_self();
		mt_sys(SYS_prctl, PR_GET_NAME, name);
		log_name('N', t ? t->tid : ctx_gettid(), name, false);
		ctx_nest--;
	}
	return r;
}

/*
 * A new thread has the name of its parent for a while, so that the monitor
 * looks twice; names are also logged when they are set and when a thread ends.
 */
void ctx_thread_names(bool all)
{
	for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next) {
		char name[32];

		if (!atomic_load(&t->used) || (!all && t->named >= 2))
			continue;
		t->named++;
		comm_of(t->tid, name, sizeof(name));
		if (name[0])
			log_name('N', t->tid, name, true);
	}
}

#define TIME_STEP_NS 100000		/* less is not worth a line */
#define TIME_LINES_PER_S 2000		/* of all threads */

/* At the end of an interval; with many threads not of each, so that the log does not grow with them. */
void ctx_thread_times(bool all)
{
	static uint64_t next;		/* belongs to the flush lock */
	const uint64_t now = ctx_now();
	uint64_t lines = 0;

	if (!all && now < next)
		return;
	for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next) {
		uint64_t cpu;

		if (!atomic_load(&t->used))
			continue;
		cpu = ctx_thread_cpu(t->tid);
		if (cpu < t->cpu_base || (!all && cpu - t->cpu_told < TIME_STEP_NS))
			continue;
		log_cpu(t, now, cpu, true);
		lines++;
	}
	next = now + lines * (1000000000 / TIME_LINES_PER_S);
}

/*
 * Bounds of the main stack: the mapping that holds our own frame, extended
 * downwards by RLIMIT_STACK, but not into the mapping below it.
 */
static void main_stack(uintptr_t *lo, uintptr_t *hi)
{
	const size_t size = 1 << 16;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), below = 0, a = 0, v = 0;
	struct rlimit rl;
	char *buf;
	long fd, r;
	int state = 0;		/* 0 start, 1 end, 2 rest of the line */

	*lo = *hi = 0;
	buf = ctx_map(size);
	if (!buf)
		return;
	fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		goto unmap;
	while (!*hi && (r = mt_sys(SYS_read, fd, buf, size)) > 0) {
		for (long i = 0; i < r && !*hi; i++) {
			char c = buf[i];

			if (state == 2) {
				if (c == '\n')
					state = 0, v = 0;
			} else if (c == '-' && state == 0) {
				a = v, v = 0, state = 1;
			} else if (c == ' ') {
				if (here >= a && here < v) {
					*lo = a;
					*hi = v;
				} else {
					below = v;
				}
				state = 2;
			} else {
				v = v << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
			}
		}
	}
	mt_sys(SYS_close, fd);
	if (*hi && mt_sys(SYS_prlimit64, 0, RLIMIT_STACK, 0, &rl) == 0) {
		uintptr_t max = 1ul << 30, limit;

		if (rl.rlim_cur < max)
			max = (rl.rlim_cur + MT_PAGE - 1) & ~(MT_PAGE - 1);
		limit = *hi > max ? *hi - max : 0;
		if (limit < below)
			limit = below;
		if (limit < *lo)
			*lo = limit;
	}
unmap:
	mt_rawunmap(buf, size);
}

/* In the constructor, in the main thread, before any memory is converted. */
void ctx_thread_init(void)
{
	struct ctx_thread *t = ctx_thread_self();
	uintptr_t lo, hi;

	if (!t)
		return;
	ctx_pool_mode++;
	if (!real_create)
		real_create = (__typeof__(real_create))dlsym(RTLD_NEXT, "pthread_create");
	if (!real_setname)
		real_setname = (__typeof__(real_setname))dlsym(RTLD_NEXT, "pthread_setname_np");
	if (!real_prctl)
		real_prctl = (__typeof__(real_prctl))dlsym(RTLD_NEXT, "prctl");
	key_valid = pthread_key_create(&key, thread_end) == 0;
	ctx_pool_mode--;
	main_stack(&lo, &hi);
	t->cpu_base = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);	/* of the loader, or of the program before exec */
	log_birth(t, -1, lo, hi, 0);
	if (key_valid)
		pthread_setspecific(key, t);
}

/*
 * In the child of fork, under all locks and without TLS: only the thread that
 * called fork lives, the slots of the others are given back.
 */
void ctx_thread_fork_child(int old_tid, int new_tid, uint64_t when)
{
	struct ctx_line l;

	for (struct ctx_thread *t = atomic_load(&slots); t; t = t->next) {
		atomic_store(&t->small_count, 0);
		atomic_store(&t->small_bytes, 0);
		atomic_store(&t->brief_count, 0);
		atomic_store(&t->brief_bytes, 0);
		if (atomic_load(&t->used) && t->tid == old_tid) {
			t->tid = new_tid;
			t->named = 0;
			t->cpu_base = t->cpu_told = 0;
		} else {
			atomic_store(&t->used, 0);
		}
	}
	atomic_store(&dead_count, 0);
	atomic_store(&dead_bytes, 0);
	ctx_line_begin(&l, 'Y');
	ctx_line_dec(&l, when);
	ctx_line_int(&l, old_tid);
	ctx_line_int(&l, new_tid);
	ctx_line_put(&l, 0);
}

void ctx_thread_lock_all(void)
{
	ctx_lock(&lock);
}

void ctx_thread_unlock_all(void)
{
	ctx_unlock(&lock);
}
