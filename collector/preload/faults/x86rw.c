// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Only what decides the direction is decoded: prefixes, opcode map, opcode, the
 * mod and reg fields of ModRM. Opcode tables: Intel SDM volume 2, appendix A;
 * checked against a disassembler by tests/fidelity.
 */
#include "preload/faults/x86rw.h"

enum { R = X86_READ, W = X86_WRITE, RW = X86_READ | X86_WRITE };

struct insn {
	int map;		/* 0 one byte, 1 0F, 2 0F38, 3 0F3A, 5 and 6 EVEX only */
	int op;
	int mem;		/* ModRM (if the opcode has one) denotes memory */
	int reg;		/* ModRM reg field */
	int pp;			/* mandatory prefix: 0 none, 1 66, 2 F3, 3 F2 */
	int vex, evex;
};

static int fpu(const struct insn *in)
{
	int r = in->reg;

	if (!in->mem)
		return 0;
	switch (in->op) {
	case 0xd9:
		return r == 2 || r == 3 || r >= 6 ? W : R;
	case 0xdb:
		return (r >= 1 && r <= 3) || r == 7 ? W : R;
	case 0xdd:
	case 0xdf:
		return (r >= 1 && r <= 3) || r >= 6 ? W : R;
	default:
		return R;
	}
}

/* FF: inc dec call callf jmp jmpf push */
static int group5(const struct insn *in)
{
	switch (in->reg) {
	case 0:
	case 1:
		return in->mem ? RW : 0;
	case 2:
	case 3:
	case 6:
		return in->mem ? RW | X86_STACK_WRITE : W;
	case 4:
	case 5:
		return in->mem ? R : 0;
	default:
		return 0;
	}
}

static int one_byte(const struct insn *in)
{
	int m = in->mem;

	if (in->op < 0x40) {		/* add or adc sbb and sub xor cmp */
		int form = in->op & 7;

		if (form < 2)
			return !m ? 0 : in->op >= 0x38 ? R : RW;
		return form < 4 && m ? R : 0;
	}
	switch (in->op) {
	case 0x50 ... 0x57:		/* push */
	case 0x68:
	case 0x6a:
	case 0x9c:			/* pushf */
	case 0xc8:			/* enter */
	case 0xe8:			/* call */
	case 0x6c:			/* ins */
	case 0x6d:
	case 0xa2:			/* mov moffs */
	case 0xa3:
	case 0xaa:			/* stos */
	case 0xab:
		return W;
	case 0x58 ... 0x5f:		/* pop */
	case 0x9d:			/* popf */
	case 0xc2:			/* ret, leave, retf, iret */
	case 0xc3:
	case 0xc9:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0x6e:			/* outs */
	case 0x6f:
	case 0xa0:
	case 0xa1:
	case 0xa6:			/* cmps */
	case 0xa7:
	case 0xac ... 0xaf:		/* lods, scas */
	case 0xd7:			/* xlat */
		return R;
	case 0xa4:			/* movs */
	case 0xa5:
		return RW | X86_STRING;
	case 0x63:			/* movsxd, imul, test, mov, lds-likes */
	case 0x69:
	case 0x6b:
	case 0x84:
	case 0x85:
	case 0x8a:
	case 0x8b:
	case 0x8e:
		return m ? R : 0;
	case 0x88:			/* mov */
	case 0x89:
	case 0x8c:
	case 0xc6:
	case 0xc7:
		return m ? W : 0;
	case 0x80:			/* immediate group 1, /7 is cmp */
	case 0x81:
	case 0x83:
		return !m ? 0 : in->reg == 7 ? R : RW;
	case 0x86:			/* xchg, shifts, inc, dec */
	case 0x87:
	case 0xc0:
	case 0xc1:
	case 0xd0 ... 0xd3:
	case 0xfe:
		return m ? RW : 0;
	case 0x8f:			/* pop m (XOP was filtered) */
		return m ? RW | X86_STACK_READ : R;
	case 0xd8 ... 0xdf:
		return fpu(in);
	case 0xf6:			/* test not neg mul imul div idiv */
	case 0xf7:
		return !m ? 0 : in->reg == 2 || in->reg == 3 ? RW : R;
	case 0xff:
		return group5(in);
	default:
		return 0;
	}
}

static int map_0f(const struct insn *in)
{
	int m = in->mem;

	switch (in->op) {
	case 0x11:			/* vector stores */
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xc3:			/* movnti */
	case 0xd6:
	case 0xe7:
		return m ? W : 0;
	case 0x7e:			/* movd/movq store; F3: load */
		return !m ? 0 : in->pp == 2 ? R : W;
	case 0xf7:			/* maskmov at (%rdi) */
		return W;
	case 0x90 ... 0x9f:		/* setcc; VEX: kmov, 90 is the load */
		return !m ? 0 : in->vex && in->op == 0x90 ? R : W;
	case 0xab:			/* bts btr btc, shld shrd, cmpxchg, xadd */
	case 0xb3:
	case 0xbb:
	case 0xa4:
	case 0xa5:
	case 0xac:
	case 0xad:
	case 0xb0:
	case 0xb1:
	case 0xc0:
	case 0xc1:
		return m ? RW : 0;
	case 0xba:			/* bt bts btr btc */
		return !m ? 0 : in->reg == 4 ? R : RW;
	case 0xc7:			/* cmpxchg16b, xrstors, xsavec, xsaves, vmptr */
		if (!m)
			return 0;
		return in->reg == 1 ? RW : in->reg == 4 || in->reg == 5 || in->reg == 7 ? W : R;
	case 0xae:			/* fxsave fxrstor ldmxcsr stmxcsr xsave xrstor xsaveopt clflush */
		if (!m)
			return 0;
		return in->reg == 0 || in->reg == 3 || in->reg == 4 || (in->reg == 6 && in->pp == 0) ? W : R;
	case 0x00:			/* sldt str */
		return !m ? 0 : in->reg < 2 ? W : R;
	case 0x01:			/* sgdt sidt smsw */
		return !m ? 0 : in->reg == 0 || in->reg == 1 || in->reg == 4 ? W : R;
	case 0xa0:			/* push fs, gs */
	case 0xa8:
		return W;
	case 0xa1:
	case 0xa9:
		return R;
	case 0x05:			/* no memory operand: syscall ud rdtsc emms cpuid jcc bswap rsm */
	case 0x06 ... 0x0c:
	case 0x0e:
	case 0x30 ... 0x37:
	case 0x77:
	case 0xa2:
	case 0xaa:
	case 0x80 ... 0x8f:
	case 0xc8 ... 0xcf:
	case 0x0d:			/* prefetch and nop do not fault */
	case 0x18 ... 0x1f:
		return 0;
	default:
		return m ? R : 0;
	}
}

static int map_0f38(const struct insn *in)
{
	int op = in->op, low = op & 15, high = op >> 4;

	if (!in->mem)
		return 0;
	if (in->evex) {
		/* down-converting stores, compress, scatter */
		if (in->pp == 2 && high >= 1 && high <= 3 && low <= 5)
			return W;
		return op == 0x63 || op == 0x8a || op == 0x8b || (op >= 0xa0 && op <= 0xa3) ? W : R;
	}
	if (in->vex) {
		if (op == 0x2e || op == 0x2f || op == 0x8e)	/* vmaskmov store */
			return W;
		if (op == 0x49)		/* ldtilecfg, sttilecfg */
			return in->pp == 1 ? W : R;
		if (op == 0x4b)		/* tileloadd, tilestored */
			return in->pp == 2 ? W : R;
		return high == 0xe ? RW : R;	/* cmpccxadd */
	}
	switch (op) {
	case 0xf1:			/* movbe store; F2: crc32 */
		return in->pp < 2 ? W : R;
	case 0xf6:			/* wrss; 66, F3: adcx, adox */
		return in->pp == 0 ? W : R;
	case 0xf5:			/* wruss */
	case 0xf9:			/* movdiri */
		return W;
	case 0xf8:			/* movdir64b, enqcmd */
	case 0xfc:			/* aadd aand aor axor */
		return RW;
	default:
		return R;
	}
}

static int map_0f3a(const struct insn *in)
{
	if (!in->mem)
		return 0;
	switch (in->op) {
	case 0x14 ... 0x17:		/* pextr */
	case 0x19:			/* vextract 128 and 256 */
	case 0x1b:
	case 0x39:
	case 0x3b:
	case 0x1d:			/* vcvtps2ph */
		return W;
	default:
		return R;
	}
}

int x86_direction(const uint8_t *p)
{
	struct insn in = { .pp = -1 };
	int opsize = 0, rep = 0, i;

	for (i = 0; i < X86_INSN_MAX - 1; i++) {
		uint8_t b = p[i];

		if (b == 0x66)
			opsize = 1;
		else if (b == 0xf2 || b == 0xf3)
			rep = b;
		else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 &&
			 b != 0x64 && b != 0x65 && b != 0x67 && b != 0xf0)
			break;
	}
	if ((p[i] & 0xf0) == 0x40)	/* REX */
		i++;
	if (i > 9)
		return 0;		/* no sane instruction; keeps the reads below in bounds */

	if (p[i] == 0xc5) {
		in.vex = 1;
		in.pp = p[i + 1] & 3;
		in.map = 1;
		in.op = p[i + 2];
		i += 3;
	} else if (p[i] == 0xc4) {
		in.vex = 1;
		in.map = p[i + 1] & 31;
		in.pp = p[i + 2] & 3;
		in.op = p[i + 3];
		i += 4;
	} else if (p[i] == 0x62) {
		in.evex = 1;
		in.map = p[i + 1] & 7;
		in.pp = p[i + 2] & 3;
		in.op = p[i + 4];
		i += 5;
	} else if (p[i] == 0x0f && p[i + 1] == 0x38) {
		in.map = 2;
		in.op = p[i + 2];
		i += 3;
	} else if (p[i] == 0x0f && p[i + 1] == 0x3a) {
		in.map = 3;
		in.op = p[i + 2];
		i += 3;
	} else if (p[i] == 0x0f) {
		in.map = 1;
		in.op = p[i + 1];
		i += 2;
	} else if (p[i] == 0x8f && (p[i + 1] & 31) >= 8) {
		return 0;		/* XOP */
	} else if (p[i] == 0xd5) {
		return 0;		/* REX2 */
	} else {
		in.op = p[i];
		i++;
	}
	in.mem = p[i] >> 6 != 3;
	in.reg = p[i] >> 3 & 7;
	if (in.pp < 0)
		in.pp = rep == 0xf3 ? 2 : rep == 0xf2 ? 3 : opsize;

	switch (in.map) {
	case 0:
		return in.vex || in.evex ? 0 : one_byte(&in);
	case 1:
		return map_0f(&in);
	case 2:
		return map_0f38(&in);
	case 3:
		return map_0f3a(&in);
	case 5:				/* AVX512-FP16: vmovsh, vmovw */
		return !in.mem ? 0 : in.op == 0x11 || in.op == 0x7e ? W : R;
	case 6:
		return in.mem ? R : 0;
	default:
		return 0;
	}
}

/* An access of up to a vector's length at base touches the page of addr. */
static int near(uint64_t addr, uint64_t base)
{
	return addr - base + 64 < 4096 + 128;	/* wraps: false when addr is below */
}

int x86_resolve(int direction, uint64_t addr, const struct x86_regs *r)
{
	if (direction & X86_STRING) {
		int s = addr >> 12 == r->si >> 12 || near(addr, r->si);
		int d = addr >> 12 == r->di >> 12 || near(addr, r->di);

		/* exact when the faulting element is the current one, as it is for rep movs */
		if (addr == r->di && addr != r->si)
			return W;
		if (addr == r->si && addr != r->di)
			return R;
		return s == d ? RW : d ? W : R;
	}
	if (direction & (X86_STACK_WRITE | X86_STACK_READ)) {
		int stack = addr + 64 > r->sp && addr < r->sp + 64;

		return stack == !!(direction & X86_STACK_WRITE) ? W : R;
	}
	return direction & RW;
}

static int is_kernel(uint64_t v)
{
	return v >> 63;
}

int x86_resolve_kernel(uint64_t addr, const struct x86_regs *r)
{
	int d = near(addr, r->di), s = near(addr, r->si);

	if (d && s)		/* clear_user inlined in read(2): %rsi still is the buffer */
		return addr == r->di || addr != r->si ? W : R;
	if (d) {
		if (is_kernel(r->si))
			return W;	/* copy_to_user */
		/* clear_user stores %al = 0, %rcx bytes; else fault_in_readable(%rdi, size %rsi) */
		return !r->ax && r->cx && !is_kernel(r->cx) ? W : R;
	}
	if (s)			/* copy_from_user */
		return R;
	if (near(addr, r->cx) != near(addr, r->ax))
		return near(addr, r->cx) ? W : R;
	return 0;
}
