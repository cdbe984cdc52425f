// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * thread.h - threads and stacks that libc does not know.
 */
#ifndef MEMTRACE_THREAD_H
#define MEMTRACE_THREAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Starts fn(arg) on a thread of this process that libc does not count: pthread_exit
 * of the program's last thread still ends it, libc still believes that it is
 * single-threaded, setuid() does not wait for it. All signals are blocked. It has a
 * copy of the descriptor table (not the table), working directory and umask.
 * @tls: see mt_tls_copy(). Returns the thread id or negative errno.
 */
int mt_thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls);
/*
 * The same under Valgrind, which knows only threads that share all of that with the others. They take a copy by
 * unshare(2), when they run.
 */
int mt_thread_start_sharing(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls);

/*
 * Starts fn(arg) as a process of its own that shares the memory of this one and nothing else: limits, credentials, filters of
 * system calls, handlers of signals, descriptors (a copy), working directory are as they are now, and stay so. All signals are
 * blocked. It is an orphan: a child of whatever takes orphans here, so that no wait of the program sees it, and it lives on when the
 * program ends. Debuggers do not follow it. Its process id or negative errno. While one thread of the program runs.
 */
int mt_process_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls);

/*
 * A private copy of this thread's static TLS, whose thread pointer is returned (NULL:
 * no memory). Good for reading errno, locale and the like; locks of libc must not be
 * used with it. @readable_start/end: the mapping that holds the thread pointer.
 */
void *mt_tls_copy(uint64_t readable_start, uint64_t readable_end);

/* Calls fn(arg) with the stack pointer at top (16-byte aligned). */
long mt_call_on_stack(void *top, long (*fn)(void *), void *arg);

#endif
