// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* clone.c - the calls of libc, and those of the program's own, that make processes or threads: which of them are a fork (fork.c). */
#include "preload/process/calls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "common/rawsys.h"
#include "preload/ground/asm.h"
#include "preload/ground/patch.h"
#include "preload/ground/process.h"
#include "preload/ground/quiet.h"
#include "preload/ground/thread.h"
#include "preload/memory/memory_hooks.h"
#include "preload/memory/space.h"
#include "preload/process/fork.h"

#ifndef SYS_mseal
#define SYS_mseal 462
#endif
/* What is stored at addresses of the program is stored here, and what is of threads has no meaning. */
#define OURS ((unsigned long)(CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_SETTLS | CLONE_VFORK | \
			      CLONE_DETACHED | CLONE_UNTRACED))

int mt_hook_fork(void)
{
	long pid = mt_fork_with(SIGCHLD, NULL, NULL, 0);

	if (pid < 0) {
		errno = (int)-pid;
		return -1;
	}
	return (int)pid;
}

/* The ids that clone(2) stores, in both processes. */
static void store_ids(long pid, unsigned long flags, int *parent_tid, int *child_tid)
{
	if (pid >= 0 && (flags & CLONE_PARENT_SETTID))
		*parent_tid = pid ? (int)pid : mt_gettid();
	if (pid == 0 && (flags & CLONE_CHILD_SETTID))
		*child_tid = mt_gettid();
	if (pid == 0 && (flags & CLONE_CHILD_CLEARTID))
		mt_sys(SYS_set_tid_address, child_tid);
}

/* mt_fork_with() and the ids that clone(2) stores. */
static long clone_process(unsigned long flags, int *parent_tid, int *child_tid)
{
	long pid = mt_fork_with(flags & ~OURS, flags & CLONE_PIDFD ? parent_tid : NULL, NULL, 0);

	store_ids(pid, flags, parent_tid, child_tid);
	return pid;
}

/*
 * clone3(2) without CLONE_VM and without a stack, @args and @size as the program gave them. The kernel has checked neither; what it
 * would refuse it gets as it is.
 */
static long clone3_process(const struct clone_args3 *args, size_t size)
{
	struct clone_args3 own = { 0 };
	char room[MT_PAGE];
	const struct clone_args3 *given = &own;
	long pid;

	memcpy(&own, args, size < sizeof(own) ? size : sizeof(own));
	own.flags &= ~(uint64_t)OURS;
	own.parent_tid = own.child_tid = own.tls = 0;
	if (size > sizeof(own)) {	/* of a newer kernel */
		memcpy(room, args, size);
		memcpy(room, &own, sizeof(own));
		given = (const struct clone_args3 *)room;
	}
	pid = mt_fork_with((args->flags & ~OURS) | (args->exit_signal & 0xff), (int *)args->pidfd, given, size);
	store_ids(pid, args->flags, (int *)args->parent_tid, (int *)args->child_tid);
	return pid;
}

/* A child with a stack of its own from syscall(): where it begins only the kernel knows. */
static long clone_alone(long n, long a, long b, long c, long d, long e)
{
	const long err = mt_freeze_now();

	return err ? err : mt_sys(n, a, b, c, d, e);
}

static long clone3_call(const struct clone_args3 *args, size_t size)
{
	uint64_t part[8];

	/* the kernel says what is wrong; an address that cannot be read is found out without reading it */
	if (size < ARGS3_MIN || size > MT_PAGE || mt_can_read(args, part, sizeof(part)) || (args->flags & CLONE_VM))
		return mt_sys(SYS_clone3, args, size);
	return args->stack ? clone_alone(SYS_clone3, (long)args, (long)size, 0, 0, 0) : clone3_process(args, size);
}

long mt_hook_clone_call(unsigned long flags, void *stack, int *parent_tid, int *child_tid, void *tls)
{
	(void)stack;
	(void)tls;
	return clone_process(flags, parent_tid, child_tid);
}

struct clone_start {
	int (*fn)(void *);
	void *arg;
};

static long clone_start(void *arg)
{
	struct clone_start *s = arg;
	int status = s->fn(s->arg);
	struct stat st;

	/* the last thread: the monitor, which libc does not know, is not left behind. Two links, and one for each thread. */
	if (mt_process_is_own() && (mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) ||
				    st.st_nlink <= 3u + (unsigned int)zap_space.our_tasks))
		mt_hook_exit(status);
	mt_sys(SYS_exit, status);
	__builtin_unreachable();
}

int mt_hook_clone(int (*fn)(void *), void *stack, int flags, void *arg, int *parent_tid, void *tls, int *child_tid)
{
	unsigned long f = (unsigned)flags;
	long ret;

	if (!fn || !stack) {
		ret = -EINVAL;
	} else if (f & CLONE_VM) {
		if (f & CLONE_THREAD)
			mt_quiet_thread();
		ret = mt_arch_clone_vm(fn, stack, f, arg, parent_tid, tls, child_tid);
	} else {
		ret = clone_process(f, parent_tid, child_tid);
		if (ret == 0) {
			struct clone_start s = { fn, arg };

			/* s is on the old stack, which the child has as its own */
			mt_call_on_stack((void *)((uintptr_t)stack & ~15ul), clone_start, &s);
		}
	}
	if (ret < 0) {
		errno = (int)-ret;
		return -1;
	}
	return (int)ret;
}

/* madvise() that leaves errno as it is. The kernel's answer. */
static long advise(void *at, size_t bytes, int advice)
{
	const int saved = errno;
	const long ret = zap_hook_madvise(at, bytes, advice) ? -errno : 0;

	errno = saved;
	return ret;
}

long mt_go_call(const long *call)
{
	const long n = call[0], a = call[1], b = call[2], c = call[3], d = call[4], e = call[5];

	/* without cgo threads have a thread pointer of their own, and there is no memory that was mapped by libc */
	if (n == SYS_madvise)
		return !mt_arch_is_libc_thread() ? mt_sys(SYS_madvise, a, b, c) : advise((void *)a, (size_t)b, (int)c);
	if (!mt_arch_is_libc_thread() || (n == SYS_clone && b))
		return clone_alone(n, a, b, c, d, e);
	if (n == SYS_clone3)
		return clone3_call((const struct clone_args3 *)a, (size_t)b);
	return n == SYS_clone ? clone_process((unsigned long)a, (int *)c, (int *)MT_CLONE_CHILD_TID(d, e)) :
	       clone_process(SIGCHLD, NULL, NULL);
}

/* What the kernel shall do by itself: a child that shares memory, or one with a stack of its own, where it begins only the kernel knows. */
static long leave_it(unsigned long flags)
{
	const long err = flags & CLONE_VM ? 0 : mt_freeze_now();

	return err ? err : MT_CALL_IT;
}

long mt_raw_fork(void)
{
	return mt_arch_is_libc_thread() ? clone_process(SIGCHLD, NULL, NULL) : leave_it(0);
}

long mt_raw_clone(unsigned long flags, void *stack, int *parent_tid, long d, long e)
{
	(void)d;	/* on one of the processors */
	(void)e;
	if (flags & CLONE_VM || stack || !mt_arch_is_libc_thread())
		return leave_it(flags);
	return clone_process(flags, parent_tid, (int *)MT_CLONE_CHILD_TID(d, e));
}

long mt_raw_clone3(const void *args, size_t size)
{
	const struct clone_args3 *a = args;
	uint64_t part[8];

	/* the kernel says what is wrong */
	if (size < ARGS3_MIN || size > MT_PAGE || mt_can_read(a, part, sizeof(part)))
		return MT_CALL_IT;
	return a->flags & CLONE_VM || a->stack || !mt_arch_is_libc_thread() ? leave_it(a->flags) : clone3_process(a, size);
}

long mt_raw_any(long a, long b, long c, long d, long e, long number)
{
	switch (number) {
	case SYS_clone:
		return mt_raw_clone((unsigned long)a, (void *)b, (int *)c, d, e);
	case SYS_clone3:
		return mt_raw_clone3((const void *)a, (size_t)b);
#ifdef SYS_fork
	case SYS_fork:
		return mt_raw_fork();
#endif
	default:
		return MT_CALL_IT;
	}
}

/* syscall(): the calls that change memory or make processes get the same treatment. */
long mt_hook_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	long ret;

	switch (n) {
	case SYS_mmap:
		return (long)zap_hook_mmap((void *)a, (size_t)b, (int)c, (int)d, (int)e, f);
	case SYS_munmap:
		return zap_hook_munmap((void *)a, (size_t)b);
	case SYS_mremap:
		return (long)zap_hook_mremap((void *)a, (size_t)b, (size_t)c, (int)d, (void *)e);
	case SYS_madvise:
		return zap_hook_madvise((void *)a, (size_t)b, (int)c);
	case SYS_process_madvise:
		return zap_hook_process_madvise((int)a, (const struct iovec *)b, (size_t)c, (int)d, (unsigned int)e);
	case SYS_mprotect:	/* as without a hook where there is none of it */
		return zap_hook_mprotect((void *)a, (size_t)b, (int)c);
	case SYS_pkey_mprotect:
		return zap_hook_pkey_mprotect((void *)a, (size_t)b, (int)c, (int)d);
	case SYS_remap_file_pages:
		return zap_hook_remap_file_pages((void *)a, (size_t)b, (int)c, (size_t)d, (int)e);
	case SYS_mseal:
		return zap_hook_mseal((void *)a, (size_t)b, (unsigned long)c);
	case SYS_shmat:
		return (long)zap_hook_shmat((int)a, (const void *)b, (int)c);
	case SYS_shmdt:
		return zap_hook_shmdt((const void *)a);
	case SYS_execve:
		return mt_hook_execve((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_execveat:
		return mt_hook_execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
	case SYS_exit_group:
		mt_hook_exit((int)a);
#ifdef SYS_fork
	case SYS_fork:
		return mt_hook_fork();
#endif
	case SYS_clone:
		if (!(a & CLONE_VM)) {
			ret = b ? clone_alone(n, a, b, c, d, e) :
			      clone_process((unsigned long)a, (int *)c, (int *)MT_CLONE_CHILD_TID(d, e));
			break;
		}
		ret = mt_sys6(n, a, b, c, d, e, f);
		break;
	case SYS_clone3:
		ret = clone3_call((const struct clone_args3 *)a, (size_t)b);
		break;
	default:	/* from libc, as without a hook: a program may have said that calls from elsewhere go to a handler of its own */
		ret = mt_sys6(n, a, b, c, d, e, f);
		break;
	}
	if (mt_failed(ret)) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}
