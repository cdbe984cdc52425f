// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * arm64rw.h - direction of the memory access of an A64 instruction.
 */
#ifndef MEMTRACE_ARM64RW_H
#define MEMTRACE_ARM64RW_H

#include <stdint.h>

#define ARM64_READ	1
#define ARM64_WRITE	2
/* With READ|WRITE: reads and writes at different addresses, which are in registers (cpyp, cpym, cpye). */
#define ARM64_COPY	4
#define ARM64_COPY_TO(n)	((n) << 8)	/* numbers of these registers */
#define ARM64_COPY_FROM(n)	((n) << 16)

#define ARM64_INSN_MAX	4

/*
 * Bits above for the instruction at insn (4 readable bytes); 0 when it has no memory access, none that can fault, or is not
 * known. READ|WRITE without more is a read-modify-write. Pure function.
 */
int arm64_direction(const uint8_t *insn);

/*
 * Registers at the fault: x0 to x3, where C libraries have the operands of memory copies, and x6, in
 * which the kernel has the address it copies to. 0 when not known.
 */
#define ARM64_SAMPLE_REGS (1ull << 0 | 1ull << 1 | 1ull << 2 | 1ull << 3 | 1ull << 6)
struct arm64_regs {
	uint64_t x0, x1, x2, x3, x6;
};

/* READ and WRITE bits of the access that faulted at addr. A copy whose registers are not known is both. */
int arm64_resolve(int direction, uint64_t addr, const struct arm64_regs *regs);

/*
 * The same for a fault in kernel mode, whose code cannot be decoded: copies to and from the program have their user address in
 * x6 or x1, where the other one is a kernel address; clear_user() has it in x0, with a count in x1. 0 when it is in none.
 */
int arm64_resolve_kernel(uint64_t addr, const struct arm64_regs *regs);

#endif
