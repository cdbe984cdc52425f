// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "common/calls.h"

#include <string.h>

#ifdef __x86_64__
const void *mt_call_at __attribute__((visibility("hidden")));	/* NULL: in our code */

/* As the instruction. A child that has a stack of its own goes on at the address that is on top of it. */
asm(
"	.text\n"
"	.type mt_call, @function\n"
"	.globl mt_call\n"
"	.hidden mt_call\n"
"mt_call:\n"
"	cmpq $0, mt_call_at(%rip)\n"
"	jne 1f\n"
"	syscall\n"
"	ret\n"
"1:	jmp *mt_call_at(%rip)\n"
"	.size mt_call, . - mt_call\n"
);

void mt_calls_from(const uint8_t *code, size_t bytes)
{
	static const uint8_t call[] = { 0x0f, 0x05, 0xc3 };	/* syscall; ret */

	__atomic_store_n(&mt_call_at, code ? memmem(code, bytes, call, sizeof(call)) : NULL, __ATOMIC_RELAXED);
}
#else
void mt_calls_from(const uint8_t *code, size_t bytes)
{
	(void)code;
	(void)bytes;
}
#endif
