// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* calls.h - what takes the place of functions of libc, and of system calls of the program's own: fork, clone, exec, exit. */
#ifndef MEMTRACE_CALLS_H
#define MEMTRACE_CALLS_H

#include <stddef.h>

/* Memory of the program is its own from now on, and its accesses are not seen any more, for the reason @why. Hook, no lock held. */
void mt_process_stop(const char *why);

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
/* One of these, whose @number only the running program knows. */
long mt_raw_any(long a, long b, long c, long d, long e, long number);
int mt_hook_clone(int (*fn)(void *), void *stack, int flags, void *arg, int *parent_tid, void *tls, int *child_tid);
long mt_hook_syscall(long n, long a, long b, long c, long d, long e, long f);
int mt_hook_execve(const char *path, char *const argv[], char *const envp[]);
int mt_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);
int mt_hook_fexecve(int fd, char *const argv[], char *const envp[]);
void mt_hook_exit(int status) __attribute__((noreturn));	/* _exit, hence exit, quick_exit */

#endif
