/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* sys.c - raw services of the context library. */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/context/ctx.h"
#include "common/patience.h"
#include "common/rawsys.h"

uint64_t ctx_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);	/* vdso, no errno on success */
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint64_t ctx_now_coarse(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Memory that neither the allocator nor the access backend knows of. */
void *ctx_map(size_t len)
{
	return mt_rawmap(len);
}

#define NO_SUCH_HOW 0x7fff

int ctx_gettid(void)
{
	return mt_gettid();
}

/*
 * The kernel reads the set of signals before it finds that this is no way to use it: EINVAL, or EFAULT. Filters of system calls
 * let it pass, as the C library makes it all the time.
 */
bool ctx_readable(const void *at, size_t bytes)
{
	const uintptr_t first = (uintptr_t)at & ~(MT_PAGE - 1), end = (uintptr_t)at + bytes;

	if (end < (uintptr_t)at || !first)
		return false;
	for (uintptr_t page = first; page < end; page += MT_PAGE)
		if (mt_sys(SYS_rt_sigprocmask, NO_SUCH_HOW, page, 0, 8) == -EFAULT)
			return false;
	return true;
}

#define LOCK_PATIENCE_NS 2000000000ull
#define LOCK_STEP_NS 10000000ull	/* two looks are further apart only when we had no processor */

bool ctx_lock(_Atomic int *lock)
{
	struct mt_patience patience = { 0 };

	for (unsigned int i = 1; ; i++) {
		int zero = 0;

		if (atomic_compare_exchange_weak_explicit(lock, &zero, 1,
				memory_order_acquire, memory_order_relaxed))
			return true;
		mt_relax();
		if (i & 63)
			continue;
		mt_sys(SYS_sched_yield);
		if (mt_patience_over(&patience, ctx_now(), 0, LOCK_STEP_NS, LOCK_PATIENCE_NS))
			break;
	}
	atomic_fetch_add_explicit(&ctx_lost_lock, 1, memory_order_relaxed);
	return false;
}

void ctx_unlock(_Atomic int *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}
