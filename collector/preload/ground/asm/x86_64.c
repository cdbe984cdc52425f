// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* x86_64.c - see asm.h. */
#ifdef __x86_64__
#include "preload/ground/asm.h"

#include <string.h>

#include "common/rawsys.h"

/*
 * A system call of a program of Go, whose number and arguments are where the kernel wants them, and a jump to mt_arch_go_on[@at / 8]. What
 * makes a process that does not share memory, and advice about memory, goes to mt_go_call(), on a stack of ours, since there is little room
 * on that of a goroutine.
 */
#define GO_BODY(at) \
"	cmp $28, %rax\n"		/* madvise */ \
"	je 3f\n" \
"	cmp $57, %rax\n"		/* fork */ \
"	je 3f\n" \
"	cmp $56, %rax\n"		/* clone */ \
"	je 2f\n" \
"	cmp $435, %rax\n"		/* clone3 */ \
"	jne 5f\n" \
"	mov (%rdi), %rcx\n" \
"	test $0x100, %ecx\n" \
"	jz 3f\n" \
"5:	syscall\n" \
"	jmp *(mt_arch_go_on + " at ")(%rip)\n" \
"2:	test $0x100, %edi\n" \
"	jnz 5b\n" \
"3:	mov $1, %ecx\n" \
"	xchg %ecx, go_lock(%rip)\n" \
"	test %ecx, %ecx\n" \
"	jz 4f\n" \
"	pause\n" \
"	jmp 3b\n" \
"4:	mov %rsp, go_sp(%rip)\n" \
"	lea go_stack_end(%rip), %rsp\n" \
"	push %rbp\n" \
"	push %r9\n" \
"	push %r8\n" \
"	push %r10\n" \
"	push %rdx\n" \
"	push %rsi\n" \
"	push %rdi\n" \
"	push %rax\n" \
"	mov %rsp, %rdi\n" \
"	mov %rsp, %rbp\n" \
"	sub $512, %rsp\n" \
"	and $-16, %rsp\n" \
"	fxsave (%rsp)\n" \
"	call *mt_arch_go_call(%rip)\n" \
"	fxrstor (%rsp)\n" \
"	lea 8(%rbp), %rsp\n" \
"	pop %rdi\n" \
"	pop %rsi\n" \
"	pop %rdx\n" \
"	pop %r10\n" \
"	pop %r8\n" \
"	pop %r9\n" \
"	pop %rbp\n" \
"	mov go_sp(%rip), %rsp\n" \
"	movl $0, go_lock(%rip)\n" \
"	jmp *(mt_arch_go_on + " at ")(%rip)\n"

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
"	.type mt_arch_clone_thread, @function\n"
"	.globl mt_arch_clone_thread\n"
"	.hidden mt_arch_clone_thread\n"
"mt_arch_clone_thread:\n"
"	mov %rdx, %r8\n"
"	lea 1f(%rip), %rax\n"
"	sub $8, %rsi\n"
"	mov %rax, (%rsi)\n"
"	xor %edx, %edx\n"
"	xor %r10d, %r10d\n"
"	mov $56, %eax\n"
"	call mt_call\n"
"	ret\n"
"1:	xor %ebp, %ebp\n"
"	pop %rax\n"
"	pop %rdi\n"
"	call *%rax\n"
"	mov %eax, %edi\n"
"	mov $60, %eax\n"
"	call mt_call\n"
"	hlt\n"
"	.size mt_arch_clone_thread, . - mt_arch_clone_thread\n"
"	.type mt_arch_clone_vm, @function\n"
"	.globl mt_arch_clone_vm\n"
"	.hidden mt_arch_clone_vm\n"
"mt_arch_clone_vm:\n"
"	and $-16, %rsi\n"
"	sub $24, %rsi\n"
"	mov %rcx, 16(%rsi)\n"		/* arg */
"	mov %rdi, 8(%rsi)\n"		/* fn */
"	lea 1f(%rip), %rax\n"
"	mov %rax, (%rsi)\n"
"	mov %rdx, %rdi\n"
"	mov %r8, %rdx\n"
"	mov %r9, %r8\n"
"	mov 8(%rsp), %r10\n"		/* child_tid */
"	mov $56, %eax\n"
"	call mt_call\n"
"	ret\n"
"1:	xor %ebp, %ebp\n"
"	pop %rax\n"
"	pop %rdi\n"
"	call *%rax\n"
"	mov %rax, %rdi\n"
"	mov $60, %eax\n"
"	call mt_call\n"
"	hlt\n"
"	.size mt_arch_clone_vm, . - mt_arch_clone_vm\n"
/*
 * rax: a function that gets the arguments of a system call and gives its result. All other registers stay, those of
 * vectors as well: the code around it was made for a system call. What lies behind the stack pointer is the caller's duty.
 */
"	.type mt_arch_as_system_call, @function\n"
"mt_arch_as_system_call:\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push %rdi\n"
"	push %rsi\n"
"	push %rdx\n"
"	push %r8\n"
"	push %r9\n"
"	push %r10\n"
"	sub $512, %rsp\n"
"	and $-16, %rsp\n"
"	fxsave (%rsp)\n"
"	mov %r10, %rcx\n"
"	call *%rax\n"
"	fxrstor (%rsp)\n"
"	lea -48(%rbp), %rsp\n"
"	pop %r10\n"
"	pop %r9\n"
"	pop %r8\n"
"	pop %rdx\n"
"	pop %rsi\n"
"	pop %rdi\n"
"	pop %rbp\n"
"	ret\n"
"	.size mt_arch_as_system_call, . - mt_arch_as_system_call\n"
/* See GO_BODY. */
"	.type mt_arch_go, @function\n"
"	.globl mt_arch_go\n"
"	.hidden mt_arch_go\n"
"mt_arch_go:\n"
"	mov %rsi, %r10\n"
"	mov %rdi, %rdx\n"
"	mov %rcx, %rsi\n"
"	mov %rbx, %rdi\n"
GO_BODY("0")
"	.size mt_arch_go, . - mt_arch_go\n"
"	.type mt_arch_go_vfork, @function\n"
"	.globl mt_arch_go_vfork\n"
"	.hidden mt_arch_go_vfork\n"
"mt_arch_go_vfork:\n"
"	mov $0, %r9\n"
"	mov 8(%rsp), %rax\n"
"	pop %r12\n"
GO_BODY("8")
"	.size mt_arch_go_vfork, . - mt_arch_go_vfork\n"
"	.type mt_arch_go_madvise, @function\n"
"	.globl mt_arch_go_madvise\n"
"	.hidden mt_arch_go_madvise\n"
"mt_arch_go_madvise:\n"
"	mov 8(%rsp), %rdi\n"
"	mov 16(%rsp), %rsi\n"
"	mov 24(%rsp), %edx\n"
"	mov $28, %eax\n"
GO_BODY("16")
"	.size mt_arch_go_madvise, . - mt_arch_go_madvise\n"
"	.local go_lock, go_sp\n"
"	.comm go_lock, 4, 8\n"
"	.comm go_sp, 8, 8\n"
"	.bss\n"
"	.p2align 4\n"
"go_stack:\n"
"	.skip 65536\n"
"go_stack_end:\n"
"	.skip 16\n"
"	.globl mt_arch_go_on\n"
"	.hidden mt_arch_go_on\n"
"	.type mt_arch_go_on, @object\n"
"	.size mt_arch_go_on, 24\n"
"mt_arch_go_on:\n"
"	.skip 24\n"
"	.text\n"
"	.p2align 12\n"
"	.globl mt_arch_moved\n"
"	.hidden mt_arch_moved\n"
"	.hidden mt_arch_moved\n"
"mt_arch_moved:\n"
"	.skip 4096, 0xcc\n"
);

void mt_arch_as_system_call(void);
void mt_arch_go(void);
void mt_arch_go_vfork(void);
void mt_arch_go_madvise(void);
long (*mt_arch_go_call)(const long *call) __attribute__((visibility("hidden")));
extern const uint8_t *mt_arch_go_on[MT_GO_SITES] __attribute__((visibility("hidden")));

void mt_arch_tls_moved(void *thread_pointer)
{
	((void **)thread_pointer)[0] = thread_pointer;	/* tcb */
	((void **)thread_pointer)[2] = thread_pointer;	/* self */
}

/* jmp *0(%rip), then the address */
size_t mt_arch_jump(uint8_t *code, const void *at, const void *to)
{
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };

	(void)at;
	memcpy(code, jump, sizeof(jump));
	for (int i = 0; i < 8; i++)
		code[6 + i] = (uint8_t)((uintptr_t)to >> 8 * i);
	return 14;
}

size_t mt_arch_near_jump(uint8_t *code, const void *at, const void *to)
{
	const int64_t distance = (intptr_t)to - ((intptr_t)at + 5);

	if (distance != (int32_t)distance)
		return 0;
	code[0] = 0xe9;
	for (int i = 0; i < 4; i++)
		code[1 + i] = (uint8_t)(distance >> 8 * i);
	return 5;
}

static uint8_t *put(uint8_t *p, const void *bytes, size_t n)
{
	return (uint8_t *)memcpy(p, bytes, n) + n;
}

/* The system call whose number is in rax: @to is asked about those that make processes. */
static uint8_t *put_any(uint8_t *p, const void *to)
{
	static const uint8_t asks[] = {
		0x48, 0x83, 0xf8, 0x38, 0x74, 14,		/* cmp $56, %rax; je down */
		0x48, 0x83, 0xf8, 0x39, 0x74, 8,		/* cmp $57, %rax; je down */
		0x48, 0x3d, 0xb3, 0x01, 0, 0, 0x75, 66,		/* cmp $435, %rax; jne call */
		0x48, 0x8d, 0x64, 0x24, 0x80,			/* down: lea -128(%rsp), %rsp */
		0x50, 0x41, 0x51, 0x49, 0x89, 0xc1,		/* push %rax; push %r9; mov %rax, %r9 */
		0x48, 0xb8,					/* mov $to, %rax */
	}, calls[] = { 0xff, 0x15, 2, 0, 0, 0, 0xeb, 8 },	/* call *2(%rip), over its address */
	answers[] = {
		0x41, 0x59,					/* pop %r9 */
		0x48, 0x3d, 0x78, 0xec, 0xff, 0xff, 0x74, 10,	/* cmp $MT_CALL_IT, %rax; je up */
		0x48, 0x8d, 0xa4, 0x24, 0x88, 0, 0, 0, 0xeb, 11,	/* lea 136(%rsp), %rsp; jmp over the call */
		0x58, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,	/* up: pop %rax; lea 128(%rsp), %rsp */
		0x0f, 0x05,					/* call: syscall */
	};
	const uint64_t stub = (uint64_t)mt_arch_as_system_call, function = (uint64_t)to;

	p = put(p, asks, sizeof(asks));
	p = put(p, &function, 8);
	p = put(p, calls, sizeof(calls));
	p = put(p, &stub, 8);
	return put(p, answers, sizeof(answers));
}

/* With the 128 bytes behind the stack pointer that belong to a function which calls no other. */
size_t mt_arch_move(uint8_t *code, const uint8_t *at, size_t before, size_t after, const void *to, int number)
{
	static const uint8_t down[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 };			/* lea -128(%rsp), %rsp */
	static const uint8_t up[] = { 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };		/* lea 128(%rsp), %rsp */
	static const uint8_t call[] = { 0xff, 0x15, 2, 0, 0, 0, 0xeb, 8 };		/* call *2(%rip), over its address */
	static const uint8_t is_answer[] = { 0x48, 0x3d, 0x78, 0xec, 0xff, 0xff, 0x75, 7 };	/* cmp $MT_CALL_IT, %rax; jne over the call */
	static const uint8_t system_call[] = { 0x0f, 0x05 };
	const uint32_t rax = (uint32_t)number;
	const uint64_t stub = (uint64_t)mt_arch_as_system_call, function = (uint64_t)to;
	uint8_t *p = put(code, at, before);

	if (!number) {
		p = put(put_any(p, to), at + before + 2, after);
		return (size_t)(p - code) + mt_arch_jump(p, NULL, at + before + 2 + after);
	}
	p = put(p, down, sizeof(down));
	*p++ = 0x48;									/* mov $function, %rax */
	*p++ = 0xb8;
	p = put(p, &function, 8);
	p = put(p, call, sizeof(call));
	p = put(p, &stub, 8);
	p = put(p, up, sizeof(up));
	p = put(p, is_answer, sizeof(is_answer));
	*p++ = 0xb8;									/* mov $number, %eax */
	p = put(p, &rax, 4);
	p = put(p, system_call, sizeof(system_call));
	p = put(p, at + before + 2, after);
	return (size_t)(p - code) + mt_arch_jump(p, NULL, at + before + 2 + after);
}

/* The processor sees to it. */
void mt_arch_code_changed(void *at, size_t bytes)
{
	(void)at;
	(void)bytes;
}

static int holds(const uint8_t *code, size_t len, const char *bytes, size_t n)
{
	return memmem(code, len, bytes, n) != NULL;
}

int mt_arch_is_libc_thread(void)
{
	uint64_t fs = 0, self = 0;

	/* the thread descriptor begins with a pointer to itself, which stands there twice */
	return !mt_sys(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, &fs) && fs && !mt_can_read((void *)(fs + 16), &self, sizeof(self)) &&
	       self == fs;
}

int mt_arch_find_go(const uint8_t *code, size_t len, struct mt_go_site site[MT_GO_SITES], int *advises)
{
	/* what the code in their place does before it looks at the number; syscall; (push %r12;) cmp $-4095, %rax */
	static const char call[] = "\x49\x89\xf2\x48\x89\xfa\x48\x89\xce\x48\x89\xdf\x0f\x05\x48\x3d\x01\xf0\xff\xff",
		vfork_call[] = "\x49\xc7\xc1\0\0\0\0\x48\x8b\x44\x24\x08\x41\x5c\x0f\x05\x41\x54\x48\x3d\x01\xf0\xff\xff",
		/* arguments, number; syscall; the result, ret */
		madvise_call[] = "\x48\x8b\x7c\x24\x08\x48\x8b\x74\x24\x10\x8b\x54\x24\x18\x48\xc7\xc0\x1c\0\0\0\x0f\x05\x89\x44\x24\x20\xc3";
	int n = 0;

	site[n].at = memmem(code, len, call, sizeof(call) - 1);
	if (site[n].at) {
		mt_arch_go_on[0] = site[n].at + 14;
		site[n++].to = (void *)mt_arch_go;
	}
	site[n].at = memmem(code, len, vfork_call, sizeof(vfork_call) - 1);
	if (site[n].at) {
		mt_arch_go_on[1] = site[n].at + 16;
		site[n++].to = (void *)mt_arch_go_vfork;
	}
	site[n].at = memmem(code, len, madvise_call, sizeof(madvise_call) - 1);
	*advises = site[n].at != NULL;
	if (*advises) {
		mt_arch_go_on[2] = site[n].at + 23;
		site[n++].to = (void *)mt_arch_go_madvise;
	}
	return n;
}

int mt_arch_is_mmap(const uint8_t *code, size_t len)
{
	static const char checks_offset[] = "\x41\xf7\xc1\xff\x0f\0\0", calls[] = "\xb8\x09\0\0\0\x0f\x05";

	return holds(code, len, checks_offset, sizeof(checks_offset) - 1) && holds(code, len, calls, sizeof(calls) - 1);
}

int mt_arch_is_munmap(const uint8_t *code, size_t len)
{
	static const char endbr[] = "\xf3\x0f\x1e\xfa", calls[] = "\xb8\x0b\0\0\0\x0f\x05";

	if (len > 4 && !memcmp(code, endbr, 4)) {
		code += 4;
		len -= 4;
	}
	return len >= sizeof(calls) - 1 && !memcmp(code, calls, sizeof(calls) - 1);
}
#endif
