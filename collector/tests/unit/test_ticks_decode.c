// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/ticks/decode.c
// libs: -ldl
/* Operands in memory of instructions of both processors, their addresses from registers, and the instruction in front. */
#include "harness.h"

#include "cli/ticks/decode.h"

static struct mt_insn x;

/* Address behind the execution (@executed) or before it; -1: not known. */
static long long address(const uint64_t *reg, bool executed)
{
	uint64_t a;

	return mt_decode_address(&x, reg, executed, &a) ? (long long)a : -1;
}

#define DECODE(ip, ...) do { const uint8_t code[] = { __VA_ARGS__ }; mt_decode(ip, code, sizeof(code), &x); } while (0)

static void x86_operands(void)
{
	uint64_t reg[MT_TICK_REGS] = { 0 };
	int ip;

	CHECK_EQ(mt_decode_open("x86_64"), 0);
	CHECK_EQ(mt_decode_registers(&ip), 17);
	CHECK_EQ(ip, 8);
	for (int i = 0; i < 17; i++)
		reg[i] = 0x1000u * (unsigned int)(i + 1);	/* ax is 1000, si 5000, di 6000, r8 a000 */

	DECODE(0x400000, 0x8b, 0x4c, 0xb7, 0x10);		/* mov 0x10(%rdi,%rsi,4), %ecx */
	CHECK(x.memory && x.length == 4 && !x.overwrites);
	CHECK_EQ(x.bytes, 4);
	CHECK_EQ(x.access, MT_TICK_READ);
	CHECK_EQ(address(reg, true), 0x6000 + 4 * 0x5000 + 0x10);

	DECODE(0x400000, 0x48, 0x8b, 0x00);			/* mov (%rax), %rax: known before, lost behind */
	CHECK(x.overwrites);
	CHECK_EQ(address(reg, false), 0x1000);
	CHECK_EQ(address(reg, true), -1);

	DECODE(0x400000, 0x41, 0xf6, 0x00, 0x01);		/* testb $1, (%r8) */
	CHECK_EQ(x.bytes, 1);
	CHECK_EQ(address(reg, true), 0xa000);
	CHECK(x.compares);

	DECODE(0x400000, 0x89, 0x05, 0x00, 0x01, 0x00, 0x00);	/* mov %eax, 0x100(%rip) */
	CHECK_EQ(x.access, MT_TICK_WRITE);
	CHECK_EQ(address(reg, true), 0x400106);

	DECODE(0x400000, 0xf0, 0x83, 0x03, 0x01);		/* lock addl $1, (%rbx) */
	CHECK_EQ(x.access, MT_TICK_READ | MT_TICK_WRITE);
	CHECK_EQ(address(reg, true), 0x2000);

	DECODE(0x400000, 0xf2, 0x0f, 0x59, 0x04, 0xc2);		/* mulsd (%rdx,%rax,8), %xmm0 */
	CHECK_EQ(x.bytes, 8);
	CHECK_EQ(address(reg, true), 0x4000 + 8 * 0x1000);

	DECODE(0x400000, 0x48, 0x8d, 0x04, 0x07);		/* lea accesses nothing */
	CHECK(x.length && !x.memory);
	DECODE(0x400000, 0x0f, 0x1f, 0x44, 0x00, 0x00);		/* nor does a nop with an operand */
	CHECK(x.length && !x.memory);
	DECODE(0x400000, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0);	/* mov %fs:0x28, %rax: the base is in no register */
	CHECK(x.memory && x.no_address);
	CHECK_EQ(address(reg, false), -1);

	DECODE(0x400000, 0xf3, 0xa4);				/* rep movsb */
	CHECK(x.repeats);
	CHECK_EQ(address(reg, false), 0x6000);

	DECODE(0x400000, 0x75, 0xfe);				/* jne to itself */
	CHECK(x.jumps && !x.always);
	CHECK_EQ(x.target, 0x400000);
	DECODE(0x400000, 0xc3);
	CHECK(x.jumps && x.always);
	DECODE(0x400000, 0x06);					/* no instruction */
	CHECK_EQ(x.length, 0);
}

static void x86_before(void)
{
	/* nops, then mov (%rdi), %rax; the vote finds it although decoding may begin inside of it */
	uint8_t code[64];

	for (int i = 0; i < 64; i++)
		code[i] = 0x90;
	memcpy(code + 61, "\x48\x8b\x07", 3);
	CHECK(mt_decode_before(0x500040, code + 64, 64, &x));
	CHECK_EQ(x.ip, 0x50003d);
	CHECK(x.memory);
	CHECK_EQ(x.base, 5);
	CHECK(!mt_decode_before(0x500040, code + 64, 3, &x));	/* too little to vote */
	memset(code, 0x06, sizeof(code));			/* no code */
	CHECK(!mt_decode_before(0x500040, code + 64, 64, &x));
}

static void arm64_operands(void)
{
	uint64_t reg[MT_TICK_REGS] = { 0 };
	int ip;

	CHECK_EQ(mt_decode_open("aarch64"), 0);
	CHECK_EQ(mt_decode_registers(&ip), 33);
	CHECK_EQ(ip, 32);
	for (int i = 0; i < 33; i++)
		reg[i] = 0x1000u * (unsigned int)(i + 1);	/* x0 is 1000, x1 2000, sp 20000 */

	DECODE(0x400000, 0x20, 0x78, 0x62, 0xf8);		/* ldr x0, [x1, x2, lsl #3] */
	CHECK_EQ(x.access, MT_TICK_READ);
	CHECK_EQ(x.bytes, 8);
	CHECK_EQ(address(reg, true), 0x2000 + 8 * 0x3000);
	DECODE(0x400000, 0x20, 0x00, 0x40, 0x39);		/* ldrb w0, [x1] */
	CHECK_EQ(x.bytes, 1);
	DECODE(0x400000, 0x83, 0x44, 0x40, 0xb8);		/* ldr w3, [x4], #4: the base goes on behind the access */
	CHECK_EQ(x.bytes, 4);
	CHECK_EQ(address(reg, false), 0x5000);
	CHECK_EQ(address(reg, true), 0x5000 - 4);
	DECODE(0x400000, 0xfd, 0x7b, 0xbf, 0xa9);		/* stp x29, x30, [sp, #-16]!: before it */
	CHECK_EQ(x.access, MT_TICK_WRITE);
	CHECK_EQ(x.bytes, 16);
	CHECK_EQ(address(reg, false), 0x20000 - 16);
	CHECK_EQ(address(reg, true), 0x20000);
	reg[7] = 0xffffffff;
	DECODE(0x400000, 0xc5, 0xd8, 0x27, 0xb8);		/* str w5, [x6, w7, sxtw #2] */
	CHECK_EQ(x.bytes, 4);
	CHECK_EQ(address(reg, true), 0x7000 - 4);
	DECODE(0x400000, 0x21, 0x00, 0x40, 0xf9);		/* ldr x1, [x1] */
	CHECK(x.overwrites);
	CHECK_EQ(address(reg, true), -1);
	CHECK(mt_decode_before(0x400004, (const uint8_t *)"\x21\x00\x40\xf9" + 4, 4, &x));
	CHECK_EQ(x.ip, 0x400000);
	DECODE(0x400000, 0x20, 0x00, 0x02, 0x8b);		/* add x0, x1, x2 */
	CHECK(x.length && !x.memory);
}

int main(void)
{
	CHECK(mt_decode_open("riscv64") < 0);
	x86_operands();
	x86_before();
	arm64_operands();
	CHECK_EQ(mt_decode_open("x86_64"), 0);	/* and back */
	x86_operands();
	return mt_test_done();
}
