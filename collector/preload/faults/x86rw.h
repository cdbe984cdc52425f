// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * x86rw.h - direction of the memory access of an x86-64 instruction.
 */
#ifndef MEMTRACE_X86RW_H
#define MEMTRACE_X86RW_H

#include <stdint.h>

#define X86_READ	1
#define X86_WRITE	2
/* With READ|WRITE: the two accesses have different addresses. */
#define X86_STRING	4	/* movs: reads at (%rsi), writes at (%rdi) */
#define X86_STACK_WRITE	8	/* push m, call m: writes at (%rsp), reads the operand */
#define X86_STACK_READ	16	/* pop m: reads at (%rsp), writes the operand */

#define X86_INSN_MAX	15	/* longest instruction */

/*
 * Bits above for the instruction at insn (X86_INSN_MAX readable bytes); 0 when it
 * has no memory access or is not known. READ|WRITE without more is a
 * read-modify-write. Pure function.
 */
int x86_direction(const uint8_t *insn);

/* Registers at the fault, in the order of their bits in the mask of the kernel (PERF_REG_X86_*); any may be 0 when not known. */
#define X86_SAMPLE_REGS (1ull << 0 | 1ull << 2 | 1ull << 4 | 1ull << 5 | 1ull << 7)
struct x86_regs {
	uint64_t ax, cx, si, di, sp;
};

/*
 * READ and WRITE bits of the access that faulted at addr: of two accesses with
 * different addresses the one that is on the page of addr.
 */
int x86_resolve(int direction, uint64_t addr, const struct x86_regs *regs);

/*
 * The same for a fault in kernel mode, whose code cannot be decoded: the copy
 * functions of the kernel hold the user address in %rdi (copy_to_user, clear_user),
 * %rsi (copy_from_user), %rcx (put_user) or %rax (get_user); the other pointer of a copy
 * is a kernel address. Also fault_in_readable (%rdi, a read). 0 when it is in none.
 */
int x86_resolve_kernel(uint64_t addr, const struct x86_regs *regs);

#endif
