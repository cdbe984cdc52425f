// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later
/*
 * rawsys.h - system calls without libc.
 *
 * The collector runs inside the traced program: in hooks that replace libc
 * functions, on a monitor thread that libc does not know, on stacks that have
 * no TLS. None of these may touch errno, take a lock of libc or allocate. The
 * functions here return the kernel's value: negative errno on failure.
 */
#ifndef MEMTRACE_RAWSYS_H
#define MEMTRACE_RAWSYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/arch.h"

#ifndef SYS_close_range	/* C libraries before 2.34 */
#define SYS_close_range 436
#endif

#ifdef __clang_analyzer__
long mt_sys(long n, ...);
#else
#define MT_SYS_ARGS(n, a, b, c, d, e, f, ...) \
	mt_sys6((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* mt_sys(SYS_x, up to six arguments) */
#define mt_sys(...) MT_SYS_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#endif

/* Does a raw return value stand for an error? */
static inline int mt_failed(long ret)
{
	return (unsigned long)ret >= -4095UL;
}

/* Time of CLOCK_MONOTONIC in ns. Any context. */
static inline uint64_t mt_clock_ns(int clock)
{
	struct timespec ts = { 0, 0 };

	mt_sys(SYS_clock_gettime, clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t mt_now_ns(void)
{
	return mt_clock_ns(CLOCK_MONOTONIC);
}

/*
 * Private zeroed memory that is never traced, NULL when there is none.
 * Sparse: pages cost only when they are touched. Any context (common/rawmem.c).
 */
void *mt_rawmap(size_t bytes);
/* mmap(2) at an address apart from the program's mappings. An address or negative errno. */
long mt_rawmap_at_place(size_t bytes, int prot, int flags, int fd, uint64_t offset);
void mt_rawunmap(void *p, size_t bytes);
/* fork: in the child, whose copy of the lock may be held by a thread it does not have. */
void mt_rawmem_after_fork(void);
/* Is any byte of [start, end) memory from mt_rawmap()? */
int mt_is_rawmem(uint64_t start, uint64_t end, uint64_t *hit_start, uint64_t *hit_end);

/* Copies @n bytes of this process's memory that may not be there. 0 or negative errno. Any context. */
static inline long mt_can_read(const void *from, void *to, size_t n)
{
	const struct { const void *base; size_t len; } there = { from, n }, here = { to, n };
	const long ret = mt_sys(SYS_process_vm_readv, mt_sys(SYS_getpid), &here, 1, &there, 1, 0);

	return ret == (long)n ? 0 : ret < 0 ? ret : -EFAULT;
}

static inline int mt_gettid(void)
{
	return (int)mt_sys(SYS_gettid);
}

static inline int mt_getpid(void)
{
	return (int)mt_sys(SYS_getpid);
}

/*
 * The number behind @key, with the LF before it, in the first 4 KiB of a file of /proc as status or meminfo. 0; negative errno: it
 * cannot be opened; -ENODATA: there is no such line. Calls nothing of libc. Any context.
 */
static inline int mt_proc_number(const char *path, const char *key, uint64_t *value)
{
	char text[4096];
	long fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return (int)fd;
	len = mt_sys(SYS_read, fd, text, sizeof(text));
	mt_sys(SYS_close, fd);
	for (long i = 0; i < len; i++) {
		long k = 0;

		while (key[k] && i + k < len && text[i + k] == key[k])
			k++;
		if (key[k])
			continue;
		for (i += k; i < len && (text[i] == ' ' || text[i] == '\t'); i++)
			;
		for (*value = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++)
			*value = *value * 10 + (uint64_t)(text[i] - '0');
		return 0;
	}
	return -ENODATA;
}

/* All signals, those of libc included, are blocked; the old mask is returned. */
static inline uint64_t mt_block_signals(void)
{
	uint64_t all = ~0ull, old = 0;

	mt_sys(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, 8);
	return old;
}

static inline void mt_restore_signals(uint64_t old)
{
	mt_sys(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, 0, 8);
}

static inline long mt_futex_wait(uint32_t *word, uint32_t expected, const struct timespec *timeout)
{
	return mt_sys(SYS_futex, word, FUTEX_WAIT, expected, timeout);
}

static inline long mt_futex_wake(uint32_t *word)
{
	return mt_sys(SYS_futex, word, FUTEX_WAKE, 0x7fffffff);
}

/* A sleeping lock without owner: 0 free, 1 held, 2 held and waited for. */
struct mt_lock {
	uint32_t word;
};

static inline void mt_lock(struct mt_lock *l)
{
	uint32_t c = 0;

	if (__atomic_compare_exchange_n(&l->word, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
		mt_futex_wait(&l->word, 2, NULL);
}

static inline void mt_unlock(struct mt_lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		mt_sys(SYS_futex, &l->word, FUTEX_WAKE, 1);
}

#endif
