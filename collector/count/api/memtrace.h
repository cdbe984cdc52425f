/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace.h - names parts of a run, for memtrace record:
 *
 *	memtrace_begin("solve");
 *	...
 *	memtrace_end("solve");
 *
 * Regions nest. A region belongs to the thread that begins it; memtrace_end(NULL) ends the innermost one of the thread.
 * There is nothing to link (glibc before 2.34: -ldl). When the program is not recorded, a call looks at a pointer and returns.
 * A static program is never recorded with its regions. Names have 200 bytes at most. C99, C++; threads.
 */
#ifndef MEMTRACE_H
#define MEMTRACE_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's function, NULL when there is none. The first argument of dlsym() is RTLD_DEFAULT. */
static inline void memtrace_mark_(void **known, const char *function, const char *name)
{
	void *f = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (!f) {
		f = dlsym(NULL, function);
		__atomic_store_n(known, f ? f : (void *)known, __ATOMIC_RELAXED);	/* itself: there is none */
	}
	if (f && f != (void *)known)
		((void (*)(const char *))(__UINTPTR_TYPE__)f)(name);
}

/*
 * With record --exact --windows api accesses are counted only between these two, whatever threads make them. Windows nest, and
 * those of several threads overlap: the last one to close ends it. Each call waits until it is so. Not in signal handlers.
 */
static inline void memtrace_window_open(void)
{
	static void *known;

	memtrace_mark_(&known, "memtrace_gate_open", NULL);
}

static inline void memtrace_window_close(void)
{
	static void *known;

	memtrace_mark_(&known, "memtrace_gate_close", NULL);
}

static inline void memtrace_begin(const char *name)
{
	static void *known;

	memtrace_mark_(&known, "memtrace_region_begin", name);
}

static inline void memtrace_end(const char *name)
{
	static void *known;

	memtrace_mark_(&known, "memtrace_region_end", name);
}

#ifdef __cplusplus
}
#endif

#endif
