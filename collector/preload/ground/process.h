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
/* What it does: one function of the constructor, which the linker brings here, since other libraries may come before all constructors. */
#define MT_BEGINS(function) static void (*const begins)(void) __attribute__((section("mt_begins"), used)) = function

/* Has this process one thread, the one that calls, as far as the kernel knows? Where /proc cannot be read: no. Any context. */
int mt_process_is_alone(void);
/* Does this code run in the image it belongs to (and not in a vfork child of it)? */
int mt_process_is_own(void);

#endif
