// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/ground/thread.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/ground/asm.h"
#include "common/quietwords.h"
#include "common/rawsys.h"

#define WALL 0x40000000		/* __WALL: a child that sends no signal */
#define HELPER_BYTES (16ul << 10)

/* What mt_arch_clone_thread() wants of a stack. */
static void **top_of(char *stack, size_t bytes, int (*fn)(void *), void *arg)
{
	void **top = (void **)(stack + bytes) - 2;

	top[0] = (void *)fn;
	top[1] = arg;
	return top;
}

static int thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls, unsigned long flags)
{
	char *stack = mt_rawmap(stack_bytes);
	void **top;
	uint64_t mask;
	long tid;

	if (!stack)
		return -ENOMEM;
	top = top_of(stack, stack_bytes, fn, arg);
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

struct helper {
	void **top;
	void *tls;
	long pid;
};

/* A process between the two, so that the new one is a child of neither the program nor anything that it knows. */
static int help(void *arg)
{
	struct helper *h = arg;

	mt_sys(SYS_prctl, PR_SET_NAME, MT_OUR_COMM);
	h->pid = mt_arch_clone_thread(CLONE_VM | CLONE_UNTRACED | CLONE_SETTLS, h->top, h->tls);
	return 0;
}

int mt_process_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	char *stack = mt_rawmap(stack_bytes), *helper_stack = mt_rawmap(HELPER_BYTES);
	struct helper h = { NULL, tls, -ENOMEM };
	uint64_t mask;
	long helper;
	int status;

	if (stack && helper_stack) {
		h.top = top_of(stack, stack_bytes, fn, arg);
		mask = mt_block_signals();
		helper = mt_arch_clone_thread(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | CLONE_FS | CLONE_FILES | CLONE_SETTLS,
					      top_of(helper_stack, HELPER_BYTES, help, &h), tls);
		if (helper < 0)
			h.pid = helper;
		/* it made a process, and when it is gone that one has got its parent; a wait for all children may have taken it */
		while (helper > 0 && mt_sys(SYS_wait4, helper, &status, WALL, 0) == -EINTR)
			;
		mt_restore_signals(mask);
	}
	mt_rawunmap(helper_stack, HELPER_BYTES);
	if (h.pid < 0)
		mt_rawunmap(stack, stack_bytes);
	return (int)h.pid;
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
