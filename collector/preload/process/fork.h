// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* fork.h - a new process of a program whose memory is really shared; see fork.c. */
#ifndef MEMTRACE_FORK_H
#define MEMTRACE_FORK_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* struct clone_args of linux/sched.h, which older headers do not have, or not all of. */
struct clone_args3 {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};
#define ARGS3_MIN 64

/*
 * A new process by clone(2) with @flags, or by clone3(2) with @args, and no stack of its own: 0 in the child, its id,
 * or negative errno. Only memory is taken care of; ids at user addresses are the caller's, but for @pidfd.
 */
long mt_fork_with(unsigned long flags, int *pidfd, const struct clone_args3 *args, size_t args_size);

/*
 * What this process has of the memory file becomes its own, for a child that is made by the kernel alone. 0 or negative errno. With the
 * backend rwp there is nothing to do.
 */
long mt_freeze_now(void);

#endif
