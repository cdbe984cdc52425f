// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/x86rw.c
#include <stdint.h>

#include "harness.h"
#include "preload/faults/x86rw.h"

#define R X86_READ
#define W X86_WRITE
#define RW (R | W)

static const struct {
	const char *text;
	uint8_t bytes[16];
	int want;
} cases[] = {
	{ "mov (%rdi),%rax", { 0x48, 0x8b, 0x07 }, R },
	{ "mov %rax,(%rdi)", { 0x48, 0x89, 0x07 }, W },
	{ "mov %rax,%rdi", { 0x48, 0x89, 0xc7 }, 0 },
	{ "movb $1,(%rdi)", { 0xc6, 0x07, 0x01 }, W },
	{ "add %eax,(%rdi)", { 0x01, 0x07 }, RW },
	{ "add (%rdi),%eax", { 0x03, 0x07 }, R },
	{ "cmp %eax,(%rdi)", { 0x39, 0x07 }, R },
	{ "cmpl $0,(%rdi)", { 0x83, 0x3f, 0x00 }, R },
	{ "addl $1,(%rdi)", { 0x83, 0x07, 0x01 }, RW },
	{ "lea (%rdi),%rax", { 0x48, 0x8d, 0x07 }, 0 },
	{ "push %rbx", { 0x53 }, W },
	{ "push %r15", { 0x41, 0x57 }, W },
	{ "pop %rbx", { 0x5b }, R },
	{ "push (%rax)", { 0xff, 0x30 }, RW | X86_STACK_WRITE },
	{ "push through %rax register form", { 0xff, 0xf0 }, W },
	{ "pop (%rax)", { 0x8f, 0x00 }, RW | X86_STACK_READ },
	{ "call rel32", { 0xe8, 0, 0, 0, 0 }, W },
	{ "call *(%rax)", { 0xff, 0x10 }, RW | X86_STACK_WRITE },
	{ "call *%rax", { 0xff, 0xd0 }, W },
	{ "jmp *(%rax)", { 0xff, 0x20 }, R },
	{ "ret", { 0xc3 }, R },
	{ "repz ret", { 0xf3, 0xc3 }, R },
	{ "rep movsb", { 0xf3, 0xa4 }, RW | X86_STRING },
	{ "rep stosq", { 0xf3, 0x48, 0xab }, W },
	{ "repz cmpsb", { 0xf3, 0xa6 }, R },
	{ "repnz scasb", { 0xf2, 0xae }, R },
	{ "lock cmpxchg %ecx,(%rdx)", { 0xf0, 0x0f, 0xb1, 0x0a }, RW },
	{ "lock xadd", { 0xf0, 0x48, 0x0f, 0xc1, 0x07 }, RW },
	{ "xchg %eax,(%rdx)", { 0x87, 0x02 }, RW },
	{ "cmpxchg16b (%rsi)", { 0xf0, 0x48, 0x0f, 0xc7, 0x0e }, RW },
	{ "xsavec (%rsp)", { 0x0f, 0xc7, 0x24, 0x24 }, W },
	{ "xrstor (%rsp)", { 0x0f, 0xae, 0x2c, 0x24 }, R },
	{ "fxsave (%rsp)", { 0x0f, 0xae, 0x04, 0x24 }, W },
	{ "bts %eax,(%rdi)", { 0x0f, 0xab, 0x07 }, RW },
	{ "bt %eax,(%rdi)", { 0x0f, 0xa3, 0x07 }, R },
	{ "bt $1,(%rdi)", { 0x0f, 0xba, 0x27, 0x01 }, R },
	{ "btr $1,(%rdi)", { 0x0f, 0xba, 0x37, 0x01 }, RW },
	{ "sete (%rdi)", { 0x0f, 0x94, 0x07 }, W },
	{ "kmovw (%rdi),%k1", { 0xc5, 0xf8, 0x90, 0x0f }, R },
	{ "kmovw %k1,(%rdi)", { 0xc5, 0xf8, 0x91, 0x0f }, W },
	{ "not (%rdi)", { 0xf7, 0x17 }, RW },
	{ "test $1,(%rdi)", { 0xf7, 0x07, 1, 0, 0, 0 }, R },
	{ "div (%rdi)", { 0xf7, 0x37 }, R },
	{ "inc (%rdi)", { 0xff, 0x07 }, RW },
	{ "shl (%rdi)", { 0xd1, 0x27 }, RW },
	{ "movups (%rdi),%xmm0", { 0x0f, 0x10, 0x07 }, R },
	{ "movups %xmm0,(%rdi)", { 0x0f, 0x11, 0x07 }, W },
	{ "movaps %xmm0,(%rdi)", { 0x0f, 0x29, 0x07 }, W },
	{ "movsd (%rdi),%xmm0", { 0xf2, 0x0f, 0x10, 0x07 }, R },
	{ "addsd (%rdi),%xmm0", { 0xf2, 0x0f, 0x58, 0x07 }, R },
	{ "movq %xmm0,(%rdi)", { 0x66, 0x0f, 0xd6, 0x07 }, W },
	{ "movq (%rdi),%xmm0", { 0xf3, 0x0f, 0x7e, 0x07 }, R },
	{ "movd %xmm0,(%rdi)", { 0x66, 0x0f, 0x7e, 0x07 }, W },
	{ "movntdq %xmm0,(%rdi)", { 0x66, 0x0f, 0xe7, 0x07 }, W },
	{ "movnti %eax,(%rdi)", { 0x0f, 0xc3, 0x07 }, W },
	{ "maskmovdqu %xmm1,%xmm0", { 0x66, 0x0f, 0xf7, 0xc1 }, W },
	{ "vmovdqu (%rsi),%ymm0", { 0xc5, 0xfe, 0x6f, 0x06 }, R },
	{ "vmovdqu %ymm0,(%rdi)", { 0xc5, 0xfe, 0x7f, 0x07 }, W },
	{ "vmovdqu64 %zmm16,(%rdi)", { 0x62, 0xe1, 0xfe, 0x48, 0x7f, 0x07 }, W },
	{ "vpscatterdd", { 0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x04, 0x87 }, W },
	{ "vpgatherdd", { 0x62, 0xf2, 0x7d, 0x49, 0x90, 0x04, 0x87 }, R },
	{ "vpmovdb %zmm0,(%rdi)", { 0x62, 0xf2, 0x7e, 0x48, 0x31, 0x07 }, W },
	{ "vmaskmovps %ymm0,%ymm1,(%rdi)", { 0xc4, 0xe2, 0x75, 0x2e, 0x07 }, W },
	{ "vextractf128 $1,%ymm0,(%rdi)", { 0xc4, 0xe3, 0x7d, 0x19, 0x07, 0x01 }, W },
	{ "vinsertf128 $1,(%rdi)", { 0xc4, 0xe3, 0x7d, 0x18, 0x07, 0x01 }, R },
	{ "pextrd $1,%xmm0,(%rdi)", { 0x66, 0x0f, 0x3a, 0x16, 0x07, 0x01 }, W },
	{ "movbe %eax,(%rdi)", { 0x0f, 0x38, 0xf1, 0x07 }, W },
	{ "crc32l (%rdi),%eax", { 0xf2, 0x0f, 0x38, 0xf1, 0x07 }, R },
	{ "fstpl (%rdi)", { 0xdd, 0x1f }, W },
	{ "fldl (%rdi)", { 0xdd, 0x07 }, R },
	{ "fnstcw (%rdi)", { 0xd9, 0x3f }, W },
	{ "fildll (%rdi)", { 0xdf, 0x2f }, R },
	{ "fistpll (%rdi)", { 0xdf, 0x3f }, W },
	{ "prefetcht0 (%rdi)", { 0x0f, 0x18, 0x0f }, 0 },
	{ "nopw (%rax)", { 0x66, 0x0f, 0x1f, 0x00 }, 0 },
	{ "syscall", { 0x0f, 0x05 }, 0 },
	{ "movabs %al,moffs", { 0xa2 }, W },
	{ "mov %fs:0x28,%rax", { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28 }, R },
	{ "only prefixes", { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66 }, 0 },
};

int main(void)
{
	struct x86_regs r = { .si = 0x10000, .di = 0x20000, .sp = 0x7000 };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int got = x86_direction(cases[i].bytes);

		if (got != cases[i].want)
			printf("%s: got %d, want %d\n", cases[i].text, got, cases[i].want);
		CHECK(got == cases[i].want);
	}

	/* rep movs: which of the two operands faulted */
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x20000, &r), W);
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x10000, &r), R);
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x20800, &r), W);
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x90000, &r), RW);
	/* neighbours on one page: the exact address decides */
	r.di = 0x10800;
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x10800, &r), W);
	CHECK_EQ(x86_resolve(RW | X86_STRING, 0x10000, &r), R);
	r.di = 0x20000;
	CHECK_EQ(x86_resolve(RW | X86_STACK_WRITE, 0x6ff8, &r), W);
	CHECK_EQ(x86_resolve(RW | X86_STACK_WRITE, 0x9000, &r), R);
	CHECK_EQ(x86_resolve(RW | X86_STACK_READ, 0x7000, &r), R);
	CHECK_EQ(x86_resolve(RW | X86_STACK_READ, 0x9000, &r), W);
	CHECK_EQ(x86_resolve(RW, 0x9000, &r), RW);
	CHECK_EQ(x86_resolve(0, 0x9000, &r), 0);

	/* kernel: copy_to_user, copy_from_user, put_user, get_user, something else */
	r = (struct x86_regs){ .di = 0x20010, .si = 0xffff888000001000, .ax = 1, .cx = 4096 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), W);
	r = (struct x86_regs){ .si = 0x20010, .di = 0xffff888000001000 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), R);
	r = (struct x86_regs){ .cx = 0x20010 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), W);
	r = (struct x86_regs){ .ax = 0x20010 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), R);
	/* read(2) of /dev/zero: rep stosb, %rsi is the argument of the system call */
	r = (struct x86_regs){ .di = 0x20010, .si = 0x20010, .cx = 8 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), W);
	r = (struct x86_regs){ .di = 0x21000, .si = 0x20010, .cx = 8 };
	CHECK_EQ(x86_resolve_kernel(0x21000, &r), W);
	/* clear_user with nothing in %rsi */
	r = (struct x86_regs){ .di = 0x20010, .cx = 100 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), W);
	/* fault_in_readable of write(2): %rsi is the size */
	r = (struct x86_regs){ .di = 0x20010, .si = 4096, .ax = 0x20010 };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), R);
	r = (struct x86_regs){ .ax = 0xffff };
	CHECK_EQ(x86_resolve_kernel(0x20010, &r), 0);
	/* how far from the register an access of it may be: 64 bytes before, a page and 63 bytes behind */
	memset(&r, 0, sizeof(r));
	r.si = ~0ull;
	for (int side = 0; side < 2; side++) {
		const int64_t near_by = side ? 4096 + 63 : -64, far = side ? 4096 + 64 : -65;

		r.di = 0x20000;
		CHECK_EQ(x86_resolve_kernel((uint64_t)(0x20000 + near_by), &r), W);
		CHECK_EQ(x86_resolve_kernel((uint64_t)(0x20000 + far), &r), 0);
	}
	return mt_test_done();
}
