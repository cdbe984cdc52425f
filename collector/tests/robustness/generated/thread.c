// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Steps that make threads, and signals that come at any time. */
#include "plan.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define RW (PROT_READ | PROT_WRITE)

unsigned churn(struct random *r, unsigned rounds)
{
	unsigned wrong = 0;

	for (unsigned k = 0; k < rounds; k++) {
		const unsigned pages = 2 + below(r, 12), more = pages + below(r, 8);
		const uint32_t stamp = (uint32_t)next(r) | 1;
		char *p = mmap(NULL, pages * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q;

		if (p == MAP_FAILED)
			return wrong + 1;
		for (unsigned i = 0; i < pages; i++) {
			wrong += (unsigned)!is_filled(p + i * PAGE, 0);
			fill(p + i * PAGE, stamp + i);
		}
		if (chance(r, 30))
			sched_yield();
		switch (below(r, 5)) {
		case 0:
			wrong += madvise(p, PAGE, MADV_DONTNEED) != 0 || !is_filled(p, 0);
			fill(p, stamp);
			break;
		case 1:
			q = mremap(p, pages * PAGE, more * PAGE, MREMAP_MAYMOVE);
			wrong += q == MAP_FAILED;
			if (q == MAP_FAILED)
				break;
			p = q;
			if (more > pages)
				wrong += (unsigned)!is_filled(p + (more - 1) * PAGE, 0) +
					(unsigned)(munmap(p + pages * PAGE, (more - pages) * PAGE) != 0);
			break;
		case 2:
			wrong += mprotect(p, PAGE, PROT_READ) != 0 || mprotect(p, PAGE, RW) != 0;
			break;
		case 3:
			q = mmap(p + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			wrong += q != p + PAGE || !is_filled(q, 0);
			fill(p + PAGE, stamp + 1);
			break;
		}
		for (unsigned i = 0; i < pages; i++)
			wrong += (unsigned)!is_filled(p + i * PAGE, stamp + i);
		wrong += munmap(p, pages * PAGE) != 0;
	}
	return wrong;
}

static unsigned allocate(struct random *r, unsigned rounds)
{
	unsigned wrong = 0;

	for (unsigned k = 0; k < rounds; k++) {
		const size_t bytes = 1 + below(r, chance(r, 20) ? 300000 : 5000);
		char *p = chance(r, 50) ? malloc(bytes) : calloc(1, bytes);

		memset(p, (int)k, bytes);
		p = realloc(p, bytes * 2);
		for (size_t i = 0; i < bytes; i++)
			wrong += p[i] != (char)k;
		free(p);
	}
	return wrong;
}

struct job {
	struct random r;
	unsigned wrong, forks, loads;
};

static void *work(void *arg)
{
	struct job *j = arg;
	static __thread uint64_t mine[40];

	for (int i = 0; i < 40; i++)
		mine[i] = j->r.state + (uint64_t)i;
	for (unsigned k = 0; k < 3; k++) {
		j->wrong += churn(&j->r, 2) + allocate(&j->r, 3);
		if (j->forks) {
			const uint64_t before = mine[7];
			int status = 0;
			pid_t pid = fork();

			if (!pid)
				_exit(mine[7] == before && !churn(&j->r, 1) ? 3 : 4);
			while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			j->wrong += pid < 0 || status != 3 << 8;
		}
		if (j->loads) {
			void *h = dlopen("libresolv.so.2", RTLD_NOW);

			if (h)
				dlclose(h);
		}
	}
	for (int i = 0; i < 40; i++)
		j->wrong += mine[i] != mine[0] + (uint64_t)i;
	if (j->r.state & 1)
		pthread_exit(NULL);
	return NULL;
}

static int work_c11(void *arg)
{
	work(arg);
	return 5;
}

static void threads(struct random *r)
{
	const unsigned n = 1 + below(r, 5), kind = below(r, 4);
	struct job jobs[6];
	pthread_t t[6];
	thrd_t c[6];
	pthread_attr_t attr;
	unsigned wrong = 0;

	pthread_attr_init(&attr);
	if (kind == 1)
		pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + (below(r, 8) + 8) * PAGE);
	if (kind == 2)
		pthread_attr_setguardsize(&attr, below(r, 4) * PAGE);
	for (unsigned i = 0; i < n; i++) {
		jobs[i] = (struct job){ { next(r) }, 0, chance(r, 25) && !few_descriptors, chance(r, 25) };
		if (kind == 3)
			thrd_create(&c[i], work_c11, &jobs[i]);
		else
			pthread_create(&t[i], &attr, work, &jobs[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (kind == 3)
			thrd_join(c[i], NULL);
		else
			pthread_join(t[i], NULL);
		wrong += jobs[i].wrong;
	}
	pthread_attr_destroy(&attr);
	say(" %u, kind %u: %u wrong", n, kind, wrong);
}

/* ---- a thread that works until the end, beside all other steps */

static pthread_t background;
volatile int background_on;
static struct job background_job;

static void *keep_on(void *arg)
{
	struct job *j = arg;

	while (background_on) {
		j->wrong += churn(&j->r, 1);
		usleep(300);
	}
	return NULL;
}

static void background_start(struct random *r)
{
	if (background_on || depth)
		return;
	background_on = 1;
	background_job = (struct job){ { next(r) }, 0, 0, 0 };
	say(" %d", pthread_create(&background, NULL, keep_on, &background_job));
}

void background_stop(void)
{
	if (!background_on)
		return;
	background_on = 0;
	pthread_join(background, NULL);
	say("background: %u wrong\n", background_job.wrong);
}

/* ---- signals */

static volatile unsigned ticks, ticks_wrong;

static void tick(int sig)
{
	const int saved = errno;
	char *p = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)sig;
	ticks++;
	if (p != MAP_FAILED) {
		p[5] = 7;
		ticks_wrong += p[PAGE] != 0 || p[5] != 7;
		munmap(p, 2 * PAGE);
	}
	errno = saved;
}

static void timer_start(struct random *r)
{
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART | (chance(r, 50) ? SA_ONSTACK : 0) };
	struct itimerval v = { { 0, 700 + below(r, 2000) }, { 0, 500 } };

	sigaction(SIGALRM, &sa, NULL);
	say(" %s", name_of(setitimer(ITIMER_REAL, &v, NULL)));
}

void timer_stop(void)
{
	struct itimerval v = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &v, NULL);
	if (ticks_wrong)
		say("WRONG in %u ticks\n", ticks_wrong);
}

static void other_stack(struct random *r)
{
	static char *stack;
	const unsigned pages = 2 + below(r, 14);
	stack_t ss = { .ss_size = pages * PAGE };
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_ONSTACK };
	unsigned before = ticks;

	if (!stack) {
		stack = mmap(NULL, (pages + 1) * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		mprotect(stack, PAGE, PROT_NONE);
		ss.ss_sp = stack + PAGE;
		say(" %u pages %s", pages, name_of(sigaltstack(&ss, NULL)));
	}
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	say(", %d", ticks > before);
}

static void between(struct random *r)
{
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct job j = { { next(r) }, 0, 0, 0 };
	pthread_t t;

	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&t, NULL, work, &j);
	for (int i = 0; i < 10; i++) {
		if (pthread_kill(t, SIGUSR1))
			break;
		sched_yield();
	}
	pthread_join(t, NULL);
	say(" %u wrong", j.wrong);
}

static void notified(union sigval v)
{
	sem_post(v.sival_ptr);
}

int libc_has_threads;

static void timer_thread(struct random *r)
{
	sem_t done;
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, .sigev_value.sival_ptr = &done };
	struct itimerspec when = { .it_value.tv_nsec = 200000 };
	timer_t t;

	(void)r;
	sem_init(&done, 0, 0);
	if (timer_create(CLOCK_MONOTONIC, &e, &t)) {
		say(" %s", name_of(-1));
		return;
	}
	libc_has_threads = 1;
	timer_settime(t, 0, &when, NULL);
	while (sem_wait(&done) && errno == EINTR)
		;
	timer_delete(t);
	say(" came");
}

static void *cancelled(void *arg)
{
	for (;;)
		usleep(1000);
	return arg;
}

static void cancels(struct random *r)
{
	pthread_t t;
	void *result;

	(void)r;
	pthread_create(&t, NULL, cancelled, NULL);
	pthread_cancel(t);
	pthread_join(t, &result);
	say(" %d", result == PTHREAD_CANCELED);
}

/* ---- locks between processes, and what the kernel does with words of memory */

static void robust(struct random *r)
{
	pthread_mutex_t *m = mmap(NULL, PAGE, RW, (chance(r, 70) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	pid_t pid;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(m, &attr);
	pid = fork();
	if (!pid)
		_exit(pthread_mutex_lock(m));
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	say(" %d", pthread_mutex_trylock(m));
	pthread_mutex_consistent(m);
	say(" %d", pthread_mutex_unlock(m));
	munmap(m, PAGE);
}

static uint32_t *word;

static void *wait_word(void *arg)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
		syscall(SYS_futex, word, arg ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

/* A wait that a fork comes into. */
static void futexes(struct random *r)
{
	const unsigned plain = chance(r, 50), form = below(r, 3);
	pthread_t t;
	pid_t pid;

	word = mmap(NULL, PAGE, RW, (chance(r, 30) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	*word = 0;
	pthread_create(&t, NULL, wait_word, plain ? word : NULL);
	usleep(300);
	pid = form == 0 ? fork() : form == 1 ? vfork() : (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_FILES, 0, 0, 0, 0);
	if (!pid)
		_exit(6);
	tell_status("child", pid);
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, plain ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	pthread_join(t, NULL);
	say(", woken");
	munmap(word, PAGE);
}

static int bare(void *arg)
{
	uint32_t *w = arg;

	__atomic_store_n(w, 1, __ATOMIC_RELEASE);
	syscall(SYS_exit, 0);
	return 0;
}

/* A thread that libc does not know. */
static void bare_thread(struct random *r)
{
	char *stack = mmap(NULL, 16 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uint32_t *w = (uint32_t *)(void *)stack;
	int *tid = (int *)(void *)(stack + 64);
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID |
		CLONE_CHILD_SETTID;

	(void)r;
	*tid = 1;
	clone(bare, stack + 16 * PAGE, flags, (void *)(uintptr_t)w, NULL, NULL, tid);
	while (__atomic_load_n(tid, __ATOMIC_ACQUIRE)) {
		const int now = __atomic_load_n(tid, __ATOMIC_ACQUIRE);

		if (now)
			syscall(SYS_futex, tid, FUTEX_WAIT, now, NULL, NULL, 0);
	}
	say(" %u", *w);
	munmap(stack, 16 * PAGE);
}

const struct step thread_steps[] = {
	{ "threads", threads, 10, 1 }, { "background", background_start, 3, 0 }, { "timer", timer_start, 3, 0 },
	{ "other stack", other_stack, 3, 0 }, { "between", between, 3, 1 }, { "timer thread", timer_thread, 2, 0 }, { "cancel", cancels, 2, 1 },
	{ "robust", robust, 3, 1 }, { "futex", futexes, 4, 1 }, { "bare thread", bare_thread, 2, 1 }, { NULL, NULL, 0, 0 },
};
