// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "thread.h"

#include <sched.h>
#include <string.h>

#include "rawsys.h"

#define TLS_BELOW 65536ul	/* static TLS blocks lie below the thread pointer */
#define TLS_ABOVE 8192ul	/* struct pthread (2304 bytes in glibc 2.36) above */

asm(
"	.text\n"
"	.type mt_call_on_stack, @function\n"
"	.globl mt_call_on_stack\n"
"	.hidden mt_call_on_stack\n"
"mt_call_on_stack:\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	mov %rdi, %rsp\n"
"	mov %rdx, %rdi\n"
"	call *%rsi\n"
"	mov %rbp, %rsp\n"
"	pop %rbp\n"
"	ret\n"
"	.size mt_call_on_stack, . - mt_call_on_stack\n"
/* long clone_thread(flags, stack, tls): stack holds fn and arg */
"	.type clone_thread, @function\n"
"clone_thread:\n"
"	mov %rdx, %r8\n"
"	xor %edx, %edx\n"
"	xor %r10d, %r10d\n"
"	mov $56, %eax\n"
"	syscall\n"
"	test %rax, %rax\n"
"	jz 1f\n"
"	ret\n"
"1:	xor %ebp, %ebp\n"
"	pop %rax\n"
"	pop %rdi\n"
"	call *%rax\n"
"	mov %eax, %edi\n"
"	mov $60, %eax\n"
"	syscall\n"
"	hlt\n"
"	.size clone_thread, . - clone_thread\n"
);

long clone_thread(unsigned long flags, void *stack, void *tls) __attribute__((visibility("hidden")));

int mt_thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
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
	tid = clone_thread(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS, top, tls);
	mt_restore_signals(mask);
	if (tid < 0)
		mt_rawunmap(stack, stack_bytes);
	return (int)tid;
}

void *mt_tls_copy(uint64_t readable_start, uint64_t readable_end)
{
	char *mem = mt_rawmap(TLS_BELOW + TLS_ABOVE), *tp;
	uint64_t self = mt_thread_pointer();
	uint64_t from = self - TLS_BELOW, to = self + TLS_ABOVE;

	if (!mem)
		return NULL;
	tp = mem + TLS_BELOW;
	if (from < readable_start)
		from = readable_start;
	if (to > readable_end)
		to = readable_end;
	memcpy(tp - (self - from), (void *)from, to - from);
	((void **)tp)[0] = tp;		/* tcb */
	((void **)tp)[2] = tp;		/* self */
	return tp;
}
