/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * decode.h - which memory an instruction accesses, from its bytes and the registers of a tick. For the processor of the trace, x86-64 or
 * arm64, whatever this one is. Not safe for threads.
 */
#ifndef MEMTRACE_CLI_DECODE_H
#define MEMTRACE_CLI_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_TICK_REGS 33		/* at most; x86-64 has 17 */
#define MT_NO_REG 255

enum { MT_TICK_READ = 1, MT_TICK_WRITE = 2 };

/* Numbers of registers are those of the kernel's mask without its gaps, as in ticks.log. */
struct mt_insn {
	uint64_t ip;
	uint8_t length;		/* 0: it is no instruction */
	bool memory;		/* it has an operand in memory */
	bool no_address;	/* whose address these registers do not tell: a segment, a vector of addresses */
	bool overwrites;	/* registers of the address: behind it they tell nothing */
	bool repeats;		/* can be interrupted in the middle: a tick in it is told at it, with the registers of then */
	bool jumps, always;	/* elsewhere; never to the next one */
	bool compares;		/* the one behind it may be done together with it: a test and its branch */
	uint8_t base, index;	/* registers or MT_NO_REG */
	uint8_t scale;		/* of the index, a factor */
	uint8_t index_bits;	/* 64, or 32: the low half, extended */
	bool index_signed;
	int64_t offset;
	int64_t behind;		/* to be added to the base when the instruction has been executed (arm64: write-back) */
	uint32_t bytes;		/* of the access, 0: not known */
	int access;		/* bits; 0: not known */
	uint64_t target;	/* of a jump, 0: not known */
};

/* Is there a decoder for @arch, as uname -m says it? */
bool mt_decode_knows(const char *arch);
/* 0, or -ENOTSUP: there is no decoder for it, or its library cannot be loaded. */
int mt_decode_open(const char *arch);
/* How many registers a tick has, and which of them is the instruction pointer. */
int mt_decode_registers(int *ip);
/* Decodes the instruction at @ip, whose @n bytes are at @code. */
void mt_decode(uint64_t ip, const uint8_t *code, size_t n, struct mt_insn *insn);
/*
 * The instruction in front of @ip, whose @n bytes of code before it end at @end; by a vote of decodings that begin at several places.
 * false: they disagree.
 */
bool mt_decode_before(uint64_t ip, const uint8_t *end, size_t n, struct mt_insn *insn);
/* Address of the operand; @executed: the registers are those behind the instruction. false: it is not known. */
bool mt_decode_address(const struct mt_insn *insn, const uint64_t *reg, bool executed, uint64_t *address);

#endif
