// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* arm64.c - see asm.h. */
#ifdef __aarch64__
#include "preload/ground/asm.h"
#include "common/clonesite.h"

#include <string.h>

#include "common/rawsys.h"

/* clone(2) takes flags, stack, parent_tid, tls, child_tid. */
asm(
"	.text\n"
"	.balign 4\n"
"	.type mt_call_on_stack, %function\n"
"	.globl mt_call_on_stack\n"
"	.hidden mt_call_on_stack\n"
"mt_call_on_stack:\n"
"	stp x29, x30, [sp, #-16]!\n"
"	mov x29, sp\n"
"	mov sp, x0\n"
"	mov x0, x2\n"
"	blr x1\n"
"	mov sp, x29\n"
"	ldp x29, x30, [sp], #16\n"
"	ret\n"
"	.size mt_call_on_stack, . - mt_call_on_stack\n"
"	.type mt_arch_clone_thread, %function\n"
"	.globl mt_arch_clone_thread\n"
"	.hidden mt_arch_clone_thread\n"
"mt_arch_clone_thread:\n"
"	mov x3, x2\n"
"	mov x2, xzr\n"
"	mov x4, xzr\n"
"1:	mov x8, #220\n"
"	svc #0\n"
"	cbz x0, 2f\n"
"	ret\n"
"2:	mov x29, xzr\n"
"	mov x30, xzr\n"
"	ldp x9, x0, [sp], #16\n"
"	blr x9\n"
"	mov x8, #93\n"
"	svc #0\n"
"	brk #1\n"
"	.size mt_arch_clone_thread, . - mt_arch_clone_thread\n"
"	.type mt_arch_clone_vm, %function\n"
"	.globl mt_arch_clone_vm\n"
"	.hidden mt_arch_clone_vm\n"
"mt_arch_clone_vm:\n"
"	and x1, x1, #-16\n"
"	stp x0, x3, [x1, #-16]!\n"	/* fn, arg */
"	mov x0, x2\n"
"	mov x2, x4\n"
"	mov x3, x5\n"
"	mov x4, x6\n"
"	b 1b\n"
"	.size mt_arch_clone_vm, . - mt_arch_clone_vm\n"
);

/* The thread pointer stands in no memory. */
void mt_arch_tls_moved(void *thread_pointer)
{
	(void)thread_pointer;
}

enum {
	NOP = 0xd503201f,
	BTI_C = 0xd503245f,
	PACIASP = 0xd503233f,
	PACIBSP = 0xd503237f,
	LDR_X16_8 = 0x58000050,		/* ldr x16, . + 8 */
	BR_X16 = 0xd61f0200,
	MOV_X8 = 0xd2800008,		/* mov x8, #0; the number is in bits 5 to 20 */
	SVC_0 = 0xd4000001,
	TST_X5_FFF = 0xf2402cbf,	/* tst x5, #0xfff: the offset of a file is a multiple of 4096 */
};

static uint32_t word(const void *at)
{
	uint32_t w;

	memcpy(&w, at, sizeof(w));
	return w;
}

/* What a branch by a register may come to, where the processor checks it, stays. x16 is the linker's. */
size_t mt_arch_jump(uint8_t *code, const void *at, const void *to)
{
	const uint32_t first = word(at), bti = BTI_C, jump[] = { LDR_X16_8, BR_X16 };
	size_t n = 0;

	if (first == BTI_C || first == PACIASP || first == PACIBSP) {
		memcpy(code, &bti, sizeof(bti));
		n = sizeof(bti);
	}
	memcpy(code + n, jump, sizeof(jump));
	n += sizeof(jump);
	memcpy(code + n, &to, sizeof(to));
	return n + sizeof(to);
}

/* common/clonesite.c finds no places here. */
char mt_arch_moved[MT_SITES * MT_MOVED_MAX];

size_t mt_arch_move(uint8_t *code, const uint8_t *at, size_t before, size_t after, const void *to, int number)
{
	(void)code;
	(void)at;
	(void)before;
	(void)after;
	(void)to;
	(void)number;
	return 0;
}

size_t mt_arch_near_jump(uint8_t *code, const void *at, const void *to)
{
	(void)code;
	(void)at;
	(void)to;
	return 0;
}

void mt_arch_code_changed(void *at, size_t bytes)
{
	__builtin___clear_cache((char *)at, (char *)at + bytes);
}

/* Index of the system call number @n behind index @from, -1: none. The next instruction makes the call. */
static int calls(const uint8_t *code, size_t len, int from, uint32_t n)
{
	for (int i = from; (size_t)i * 4 + 8 <= len; i++)
		if (word(code + 4 * i) == (MOV_X8 | n << 5) && word(code + 4 * i + 4) == SVC_0)
			return i;
	return -1;
}

int mt_arch_is_libc_thread(void)
{
	return 1;
}

long (*mt_arch_go_call)(const long *call) __attribute__((visibility("hidden")));

int mt_arch_find_go(const uint8_t *code, size_t len, struct mt_go_site site[MT_GO_SITES], int *advises)
{
	(void)code;
	(void)len;
	(void)site;
	*advises = 0;
	return 0;
}

int mt_arch_is_mmap(const uint8_t *code, size_t len)
{
	for (int i = 0; i < 4 && (size_t)i * 4 + 4 <= len; i++)
		if (word(code + 4 * i) == TST_X5_FFF)
			return calls(code, len, i + 1, 222) >= 0;
	return 0;
}

int mt_arch_is_munmap(const uint8_t *code, size_t len)
{
	if (len < 4)
		return 0;
	return calls(code, len, 0, 215) == (word(code) == NOP || word(code) == BTI_C);
}
#endif
