// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * process.h - the life of a process image: start, fork, exec, exit.
 */
#ifndef MEMTRACE_PROCESS_H
#define MEMTRACE_PROCESS_H

#include "preload/ground/image.h"

struct mt_process {
	struct mt_config config;
	struct mt_image image;
	int patched;		/* calls of libc come to us */
	int monitored;		/* there is a monitor thread in this image */
	int tracing;		/* and it watches accesses */
	void *tls;		/* for monitor threads */
	uint64_t fault_ns;	/* measured once, inherited over fork */
	uint64_t tid_offset;	/* of the thread id from the thread pointer, 0 = not known */
	uint64_t robust_offset;		/* where it keeps the head of the thread's robust list, the same; 0: not known */
};

extern struct mt_process mt_process;

/*
 * constructor, or a constructor of another library that comes before ours and makes the first thread. Recording begins, while
 * there is one thread. A second call does nothing.
 */
void mt_begin(void);

/* Memory of the program is its own from now on, and its accesses are not seen any more, for the reason @why. Hook, no lock held. */
void mt_process_stop(const char *why);
/* Has this process one thread, the one that calls, as far as the kernel knows? Where /proc cannot be read: no. Any context. */
int mt_process_is_alone(void);
/* Does this code run in the image it belongs to (and not in a vfork child of it)? */
int mt_process_is_own(void);

/* monitor, at the end of an interval: a line tells how many lines of regions.csv were lost. */
void mt_region_tell_lost(void);
/* fork, in the child, before it has an image. */
void mt_region_after_fork(void);

/* Replacements of libc functions. Threads of the program. */
int mt_hook_fork(void);				/* _Fork, hence fork */
/* clone(2) as the system call, where libc makes it by itself: no memory is shared, and there is no stack. */
long mt_hook_clone_call(unsigned long flags, void *stack, int *parent_tid, int *child_tid, void *tls);
/* Of a program of Go: madvise(), or a system call that makes a process without CLONE_VM, number and arguments. The kernel's answer. */
long mt_go_call(const long *call);
/* Of code of the program itself: fork(2), clone(2) and clone3(2), with their arguments. The kernel's answer, or MT_CALL_IT (asm.h). */
long mt_raw_fork(void);
long mt_raw_clone(unsigned long flags, void *stack, int *parent_tid, long d, long e);
long mt_raw_clone3(const void *args, size_t size);
int mt_hook_clone(int (*fn)(void *), void *stack, int flags, void *arg, int *parent_tid, void *tls, int *child_tid);
long mt_hook_syscall(long n, long a, long b, long c, long d, long e, long f);
int mt_hook_execve(const char *path, char *const argv[], char *const envp[]);
int mt_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);
int mt_hook_fexecve(int fd, char *const argv[], char *const envp[]);
void mt_hook_exit(int status) __attribute__((noreturn));	/* _exit, hence exit, quick_exit */

#endif
