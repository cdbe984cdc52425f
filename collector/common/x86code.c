// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * x86code.c - see x86code.h. What an instruction does is known for the few kinds that compilers put before a system call; each other one is
 * OPAQUE. Opcodes: Intel SDM volume 2, appendix A; lengths are checked against a disassembler by tests/decoder.
 */
#include "common/x86code.h"

#include <string.h>

/* What stands in an instruction. */
struct parts {
	int map;		/* 0 one byte, 1 0F, 2 0F38, 3 0F3A */
	int op;
	int rex;		/* 0: none */
	int operand16, repeat, lock, address32, vex;
	int has_modrm, mod, reg, rm;	/* with the bits of REX */
	uint64_t imm;		/* sign-extended */
	size_t imm_len;
};

static int one_byte_has_modrm(int op)
{
	if (op < 0x40)
		return (op & 7) < 4;
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x80:
	case 0x81:
	case 0x83 ... 0x8f:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return 1;
	default:
		return 0;
	}
}

/* Bytes of the immediate operand, -1: no such instruction in 64-bit code. */
static int one_byte_immediate(const struct parts *p)
{
	const int z = p->operand16 && !(p->rex & 8) ? 2 : 4;

	if (p->op < 0x40) {
		switch (p->op & 7) {
		case 4:
			return 1;
		case 5:
			return z;
		case 6:
		case 7:
			return -1;
		default:
			return 0;
		}
	}
	switch (p->op) {
	case 0x40 ... 0x4f:	/* prefixes behind REX, which then means nothing: no compiler makes them */
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
	case 0x60 ... 0x62:
	case 0x82:
	case 0x9a:
	case 0xc4:
	case 0xc5:
	case 0xce:
	case 0xd4 ... 0xd6:
	case 0xea:
		return -1;
	case 0x6a:
	case 0x6b:
	case 0x70 ... 0x7f:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return 1;
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return z;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xa0 ... 0xa3:
		return p->address32 ? 4 : 8;
	case 0xb8 ... 0xbf:
		return p->rex & 8 ? 8 : z;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return (p->reg & 7) < 2 ? 1 : 0;
	case 0xf7:
		return (p->reg & 7) < 2 ? z : 0;
	default:
		return 0;
	}
}

static int two_bytes_have_modrm(int op)
{
	switch (op) {
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0e:
	case 0x30 ... 0x37:
	case 0x77:
	case 0x80 ... 0x8f:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return 0;
	default:
		return 1;
	}
}

static int two_byte_immediate(const struct parts *p)
{
	switch (p->op) {
	case 0x04:
	case 0x0a:
	case 0x0c:
	case 0x0f:
	case 0x24 ... 0x27:
	case 0x36:
	case 0x39:
	case 0x3b ... 0x3f:
		return -1;
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return 1;
	case 0x80 ... 0x8f:
		return 4;
	default:
		return 0;
	}
}

static uint64_t little_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return n && n < 8 && p[n - 1] & 0x80 ? v | ~0ull << 8 * n : v;
}

/* Length of ModRM with what belongs to it, 0: it is cut. */
static size_t modrm(const uint8_t *code, size_t len, struct parts *p, struct mt_x86 *in)
{
	size_t n = 1;
	int base;

	if (!len)
		return 0;
	p->mod = code[0] >> 6;
	p->reg = (code[0] >> 3 & 7) | (p->rex & 4) << 1;
	base = code[0] & 7;
	p->rm = base | (p->rex & 1) << 3;
	if (p->mod == 3)
		return 1;
	if (base == 4) {
		if (len < 2)
			return 0;
		base = code[1] & 7;
		n = 2;
		if (base == 5 && p->mod == 0)
			n += 4;
	} else if (base == 5 && p->mod == 0) {
		in->rip = 1;
		n += 4;
	}
	return n + (p->mod == 1 ? 1 : p->mod == 2 ? 4 : 0);
}

/* VEX and EVEX: only how long they are. Bytes before the opcode. */
static size_t vex(const uint8_t *code, size_t len, struct parts *p)
{
	const size_t n = code[0] == 0xc5 ? 2 : code[0] == 0xc4 ? 3 : 4;

	if (len < n)
		return 0;
	p->vex = 1;
	p->map = code[0] == 0xc5 ? 1 : code[0] == 0xc4 ? code[1] & 31 : code[1] & 7;
	/* EVEX has maps 5 and 6, which are like 2 */
	if (code[0] == 0x62 && (p->map == 5 || p->map == 6))
		p->map = 2;
	return p->map >= 1 && p->map <= 3 ? n : 0;
}

/* Prefixes, opcode, operands. 0: not known, or cut. */
static int split(const uint8_t *code, size_t len, struct parts *p, struct mt_x86 *in)
{
	size_t i = 0, n;
	int imm;

	memset(p, 0, sizeof(*p));
	for (; i < len; i++) {
		const uint8_t b = code[i];

		if (b == 0x66)
			p->operand16 = 1;
		else if (b == 0xf2 || b == 0xf3)
			p->repeat = b;
		else if (b == 0xf0)
			p->lock = 1;
		else if (b == 0x67)
			p->address32 = 1;
		else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 && b != 0x65)
			break;
	}
	if (i < len && (code[i] & 0xf0) == 0x40)
		p->rex = code[i++];
	if (i < len && !p->rex && (code[i] == 0xc4 || code[i] == 0xc5 || code[i] == 0x62)) {
		n = vex(code + i, len - i, p);
		if (!n)
			return 0;
		i += n;
	} else if (i < len && code[i] == 0x0f) {
		p->map = 1;
		i++;
		if (i < len && (code[i] == 0x38 || code[i] == 0x3a)) {
			p->map = code[i] == 0x38 ? 2 : 3;
			i++;
		}
	}
	if (i >= len)
		return 0;
	p->op = code[i++];
	p->has_modrm = p->map == 0 ? one_byte_has_modrm(p->op) : p->map == 1 ? two_bytes_have_modrm(p->op) : 1;
	if (p->has_modrm) {
		n = modrm(code + i, len - i, p, in);
		if (!n)
			return 0;
		i += n;
	}
	imm = p->map == 0 ? one_byte_immediate(p) : p->map == 1 ? two_byte_immediate(p) : p->map == 3;
	if (imm < 0 || i + (size_t)imm > len)
		return 0;
	p->imm_len = (size_t)imm;
	p->imm = little_endian(code + i, (size_t)imm);
	in->len = i + (size_t)imm;
	return in->len <= 15;
}

static void writes(struct mt_x86 *in, int reg)
{
	in->writes |= (uint16_t)(1u << reg);
}

/* The operand of ModRM that is no memory. A byte register may be the second byte of one of the first four. */
static void writes_rm(struct mt_x86 *in, const struct parts *p)
{
	if (p->mod != 3)
		return;
	writes(in, p->rm);
	writes(in, p->rm & 3);
}

static void writes_reg(struct mt_x86 *in, const struct parts *p)
{
	writes(in, p->reg);
	writes(in, p->reg & 3);
}

/* A write of 32 bits clears the others. */
static void sets(struct mt_x86 *in, const struct parts *p, int reg, int copy, uint64_t value)
{
	in->writes = (uint16_t)(1u << reg);
	if (p->operand16)
		return;
	in->set = reg;
	in->copy = copy;
	in->wide = p->rex & 8;
	in->value = in->wide ? value : (uint32_t)value;
}

/* What the instructions of one byte from 40 on do, as far as it is asked. */
enum action {
	UNKNOWN, STACK, POP, FLAGS, TO_REG, TO_RM, GROUP_1, GROUP_3, GROUP_5, GROUP_11, XCHG, MOV_TO_RM, MOV_TO_REG, MOV_BYTE, MOV_VALUE, NOP,
	EXTEND, CALLS, JUMPS, JUMP_IF, RETURNS
};

static const unsigned char one_byte_action[0x100] = {
	[0x50 ... 0x57] = STACK, [0x68] = STACK, [0x6a] = STACK,	/* push */
	[0x58 ... 0x5f] = POP,
	[0x84] = FLAGS, [0x85] = FLAGS, [0xa8] = FLAGS, [0xa9] = FLAGS,	/* test */
	[0x63] = TO_REG, [0x69] = TO_REG, [0x6b] = TO_REG, [0x8a] = TO_REG, [0x8d] = TO_REG,	/* movsxd, imul, mov, lea */
	[0x88] = TO_RM, [0xc0] = TO_RM, [0xc1] = TO_RM, [0xc6] = TO_RM, [0xd0 ... 0xd3] = TO_RM, [0xfe] = TO_RM,	/* mov, shifts, inc */
	[0x80] = GROUP_1, [0x81] = GROUP_1, [0x83] = GROUP_1,
	[0xf6] = GROUP_3, [0xf7] = GROUP_3, [0xff] = GROUP_5, [0xc7] = GROUP_11,
	[0x86] = XCHG, [0x87] = XCHG,
	[0x89] = MOV_TO_RM, [0x8b] = MOV_TO_REG, [0xb0 ... 0xb7] = MOV_BYTE, [0xb8 ... 0xbf] = MOV_VALUE,
	[0x90] = NOP, [0x98] = EXTEND, [0x99] = EXTEND,
	[0xe8] = CALLS, [0xe9] = JUMPS, [0xeb] = JUMPS, [0x70 ... 0x7f] = JUMP_IF, [0xe0 ... 0xe3] = JUMP_IF,
	[0xc2] = RETURNS, [0xc3] = RETURNS, [0xca] = RETURNS, [0xcb] = RETURNS, [0xcf] = RETURNS, [0xcc] = RETURNS,
	[0xf4] = RETURNS,	/* hlt, which stands where nothing returns to */
};

/* add, or, adc, sbb, and, sub, xor, cmp */
static void arithmetic(struct mt_x86 *in, const struct parts *p)
{
	const int form = p->op & 7;

	if ((p->op == 0x31 || p->op == 0x33 || p->op == 0x29 || p->op == 0x2b) && p->mod == 3 && p->reg == p->rm)
		sets(in, p, p->rm, -1, 0);
	else if (p->op >= 0x38)		/* compares */
		;
	else if (form < 2)
		writes_rm(in, p);
	else if (form < 4)
		writes_reg(in, p);
	else
		writes(in, 0);
}

/* What the register of the second byte chooses. */
static void group(struct mt_x86 *in, const struct parts *p, enum action a)
{
	const int reg = p->reg & 7;

	if (a == GROUP_1) {
		if (reg != 7)
			writes_rm(in, p);
	} else if (a == GROUP_3) {
		if (reg >= 4) {
			writes(in, 0);
			writes(in, 2);
		} else if (reg >= 2) {
			writes_rm(in, p);
		}
	} else if (a == GROUP_11) {
		if (reg == 7) {		/* xbegin: an abort goes elsewhere */
			in->kind = BRANCH;
			in->to = (int64_t)p->imm;
			in->writes = 0xffff;
		} else if (p->mod == 3) {
			sets(in, p, p->rm, -1, p->imm);
		}
	} else if (reg < 2) {
		writes_rm(in, p);
	} else if (reg < 4) {
		in->kind = CALL;
	} else if (reg < 6) {
		in->kind = ANYWHERE;
	} else {
		writes(in, 4);
	}
}

static void one_byte(struct mt_x86 *in, const struct parts *p)
{
	const enum action a = one_byte_action[p->op];
	const int low = (p->op & 7) | (p->rex & 1) << 3;

	in->kind = PLAIN;
	if (p->op < 0x40) {
		arithmetic(in, p);
		return;
	}
	switch (a) {
	case FLAGS:
		break;
	case POP:
		writes(in, low);
		/* fall through */
	case STACK:
		writes(in, 4);
		break;
	case XCHG:
		writes_rm(in, p);
		/* fall through */
	case TO_REG:
		writes_reg(in, p);
		break;
	case TO_RM:
		writes_rm(in, p);
		break;
	case GROUP_1:
	case GROUP_3:
	case GROUP_5:
	case GROUP_11:
		group(in, p, a);
		break;
	case MOV_TO_RM:
		if (p->mod == 3)
			sets(in, p, p->rm, p->reg, 0);
		break;
	case MOV_TO_REG:
		if (p->mod == 3)
			sets(in, p, p->reg, p->rm, 0);
		else
			writes_reg(in, p);
		break;
	case MOV_BYTE:		/* with REX another register than without */
		writes(in, low);
		writes(in, p->op & 3);
		break;
	case MOV_VALUE:
		sets(in, p, low, -1, p->imm);
		break;
	case NOP:
		if (p->rex & 1)
			in->kind = OPAQUE;
		break;
	case EXTEND:
		writes(in, p->op == 0x98 ? 0 : 2);
		break;
	case CALLS:
		in->kind = CALL;
		break;
	case JUMPS:
	case JUMP_IF:
		in->kind = a == JUMPS ? JUMP : BRANCH;
		in->to = (int64_t)p->imm;
		if (p->op >= 0xe0 && p->op <= 0xe3)	/* loop */
			writes(in, 1);
		break;
	case RETURNS:
		in->kind = LEAVES;
		break;
	default:
		in->kind = OPAQUE;
	}
}

static void two_bytes(struct mt_x86 *in, const struct parts *p)
{
	in->kind = PLAIN;
	switch (p->op) {
	case 0x05:
		in->kind = SYSTEM_CALL;
		return;
	case 0x0b:
		in->kind = LEAVES;
		return;
	case 0x1e:			/* with F3: endbr64, but also the shadow stack's pointer into a register */
		if (p->repeat && p->mod == 3 && (p->reg & 7) != 7)
			writes(in, p->rm);
		return;
	case 0x0d:			/* prefetch, nop */
	case 0x18:
	case 0x1f:
	case 0x10:			/* between vector registers and memory */
	case 0x11:
	case 0x12:
	case 0x13:
	case 0x14:
	case 0x16:
	case 0x17:
	case 0x28:
	case 0x29:
	case 0x57:
	case 0x6c:
	case 0x6e:
	case 0x6f:
	case 0x7f:
	case 0xd6:
	case 0xef:
		return;
	case 0x40 ... 0x4f:		/* cmov */
	case 0xaf:
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		writes_reg(in, p);
		return;
	case 0x80 ... 0x8f:
		in->kind = BRANCH;
		in->to = (int64_t)p->imm;
		return;
	case 0x90 ... 0x9f:		/* set */
		writes_rm(in, p);
		return;
	default:
		in->kind = OPAQUE;
	}
}

int mt_x86_decode(const uint8_t *code, size_t len, struct mt_x86 *in)
{
	struct parts p;

	memset(in, 0, sizeof(*in));
	in->set = in->copy = -1;
	if (!split(code, len, &p, in))
		return 0;
	in->kind = OPAQUE;
	if (p.vex)
		return 1;
	if (p.map == 0)
		one_byte(in, &p);
	else if (p.map == 1)
		two_bytes(in, &p);
	/* prefixes that make other instructions of the same opcode; those of vectors write no other register */
	if (in->kind == PLAIN && (p.lock || p.address32 || (p.map == 0 && p.repeat)))
		in->kind = OPAQUE;
	return 1;
}

size_t mt_x86_length(const uint8_t *code, size_t len)
{
	struct mt_x86 in;

	return mt_x86_decode(code, len, &in) ? in.len : 0;
}
