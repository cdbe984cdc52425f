// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "thread.h"

#include <sched.h>
#include <string.h>

#include "asm.h"
#include "rawsys.h"

static int thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls, unsigned long flags)
{
	char *stack = mt_rawmap(stack_bytes);
	void **top;
	uint64_t mask;
	long tid;

	if (!stack)
		return -ENOMEM;
	top = (void **)(stack + stack_bytes) - 2;
	top[0] = (void *)fn;
	top[1] = arg;
	mask = mt_block_signals();
	tid = mt_arch_clone_thread(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | flags, top, tls);
	mt_restore_signals(mask);
	if (tid < 0)
		mt_rawunmap(stack, stack_bytes);
	return (int)tid;
}

int mt_thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	return thread_start(fn, arg, stack_bytes, tls, 0);
}

int mt_thread_start_sharing(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	return thread_start(fn, arg, stack_bytes, tls, CLONE_FS | CLONE_FILES);
}

void *mt_tls_copy(uint64_t readable_start, uint64_t readable_end)
{
	char *mem = mt_rawmap(MT_TLS_BELOW + MT_TLS_ABOVE), *tp;
	uint64_t self = mt_thread_pointer();
	uint64_t from = self - MT_TLS_BELOW, to = self + MT_TLS_ABOVE;

	if (!mem)
		return NULL;
	tp = mem + MT_TLS_BELOW;
	if (from < readable_start)
		from = readable_start;
	if (to > readable_end)
		to = readable_end;
	memcpy(tp - (self - from), (void *)from, to - from);
	mt_arch_tls_moved(tp);
	return tp;
}
