// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* hooks.h - what the two halves of the hooks share. Linked into programs: nothing here is exported. */
#ifndef MEMTRACE_COUNT_HOOKS_H
#define MEMTRACE_COUNT_HOOKS_H

#include "count/service.h"

#pragma GCC visibility push(hidden)

/* Of this thread in this module. Never NULL: mt_hook_none before the first access. */
extern __thread struct mt_count_thread *mt_hook_thread __attribute__((tls_model("initial-exec")));

/*
 * The last copy of an aggregate that was counted. gcc counts it first, and then copies in place
 * or calls memcpy(), or memset(), which must not be counted again.
 */
struct mt_hook_copy {
	const void *read, *write;
	size_t bytes;
};
extern __thread struct mt_hook_copy mt_hook_copy __attribute__((tls_model("initial-exec")));

/* The counters of this thread, NULL: nothing is counted. */
struct mt_count_thread *mt_hook_self(void);
/* [address, address + bytes) by a routine of the C library or by the kernel; @back: where the program's call of it returns to. */
void mt_hook_range(const void *address, size_t bytes, unsigned int write, const void *back);

#pragma GCC visibility pop

#endif
