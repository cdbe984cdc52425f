// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * clonesite.c - see clonesite.h. Two passes over a function: where instructions begin and what is jumped to, then which
 * registers hold constants. What an instruction does is known for the few kinds that compilers put before a system call; each
 * other one makes all registers unknown, and is not moved. Opcodes: Intel SDM volume 2, appendix A; lengths are checked
 * against a disassembler by tests/decoder.
 */
#include "common/clonesite.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define X86_SYS_CLONE 56
#define X86_SYS_FORK 57
#define X86_SYS_CLONE3 435

enum kind {
	PLAIN,		/* only registers in .writes change, and memory */
	OPAQUE,		/* anything may change */
	JUMP,		/* to .to; what follows is reached by a jump only */
	BRANCH,		/* to .to, or goes on */
	CALL,
	LEAVES,		/* return, stop */
	ANYWHERE,	/* a jump whose target is not known */
	SYSTEM_CALL,
};

struct insn {
	enum kind kind;
	size_t len;
	int64_t to;		/* relative to its end */
	uint16_t writes;	/* registers that it changes */
	int set;		/* the one whose new value is known: .value, or what is in .copy; -1: none */
	int copy;		/* -1: .value */
	int wide;		/* all 64 bits of it */
	uint64_t value;
	int rip;		/* has an operand relative to its address */
};

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
static size_t modrm(const uint8_t *code, size_t len, struct parts *p, struct insn *in)
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
static int split(const uint8_t *code, size_t len, struct parts *p, struct insn *in)
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

static void writes(struct insn *in, int reg)
{
	in->writes |= (uint16_t)(1u << reg);
}

/* The operand of ModRM that is no memory. A byte register may be the second byte of one of the first four. */
static void writes_rm(struct insn *in, const struct parts *p)
{
	if (p->mod != 3)
		return;
	writes(in, p->rm);
	writes(in, p->rm & 3);
}

static void writes_reg(struct insn *in, const struct parts *p)
{
	writes(in, p->reg);
	writes(in, p->reg & 3);
}

/* A write of 32 bits clears the others. */
static void sets(struct insn *in, const struct parts *p, int reg, int copy, uint64_t value)
{
	in->writes = (uint16_t)(1u << reg);
	if (p->operand16)
		return;
	in->set = reg;
	in->copy = copy;
	in->wide = p->rex & 8;
	in->value = in->wide ? value : (uint32_t)value;
}

static void one_byte(struct insn *in, const struct parts *p)
{
	const int reg = p->reg & 7;

	in->kind = PLAIN;
	if (p->op < 0x40) {
		const int compares = p->op >= 0x38, form = p->op & 7;

		if ((p->op == 0x31 || p->op == 0x33 || p->op == 0x29 || p->op == 0x2b) && p->mod == 3 && p->reg == p->rm)
			sets(in, p, p->rm, -1, 0);
		else if (compares)
			;
		else if (form < 2)
			writes_rm(in, p);
		else if (form < 4)
			writes_reg(in, p);
		else
			writes(in, 0);
		return;
	}
	switch (p->op) {
	case 0x50 ... 0x57:		/* push */
	case 0x68:
	case 0x6a:
	case 0x84:			/* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		writes(in, 4);
		return;
	case 0x58 ... 0x5f:		/* pop */
		writes(in, (p->op & 7) | (p->rex & 1) << 3);
		writes(in, 4);
		return;
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8d:
		writes_reg(in, p);
		return;
	case 0x80:
	case 0x81:
	case 0x83:
		if (reg != 7)
			writes_rm(in, p);
		return;
	case 0x86:			/* xchg */
	case 0x87:
		writes_rm(in, p);
		writes_reg(in, p);
		return;
	case 0x88:
	case 0xc0:			/* shifts */
	case 0xc1:
	case 0xc6:
	case 0xd0 ... 0xd3:
		writes_rm(in, p);
		return;
	case 0x89:
		if (p->mod == 3)
			sets(in, p, p->rm, p->reg, 0);
		return;
	case 0x8b:
		if (p->mod == 3)
			sets(in, p, p->reg, p->rm, 0);
		else
			writes_reg(in, p);
		return;
	case 0x90:
		if (p->rex & 1)
			in->kind = OPAQUE;
		return;
	case 0x98:
	case 0x99:
		writes(in, p->op == 0x98 ? 0 : 2);
		return;
	case 0xb0 ... 0xb7:
		writes(in, (p->op & 7) | (p->rex & 1) << 3);
		writes(in, p->op & 3);
		return;
	case 0xb8 ... 0xbf:
		sets(in, p, (p->op & 7) | (p->rex & 1) << 3, -1, p->imm);
		return;
	case 0xc7:
		if (reg == 7) {		/* xbegin: an abort goes elsewhere */
			in->kind = BRANCH;
			in->to = (int64_t)p->imm;
			in->writes = 0xffff;
		} else if (p->mod == 3) {
			sets(in, p, p->rm, -1, p->imm);
		}
		return;
	case 0xf6:
	case 0xf7:
		if (reg >= 4) {
			writes(in, 0);
			writes(in, 2);
		} else if (reg >= 2) {
			writes_rm(in, p);
		}
		return;
	case 0xfe:
		writes_rm(in, p);
		return;
	case 0xff:
		if (reg < 2)
			writes_rm(in, p);
		else if (reg < 4)
			in->kind = CALL;
		else if (reg < 6)
			in->kind = ANYWHERE;
		else
			writes(in, 4);
		return;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		in->kind = BRANCH;
		in->to = (int64_t)p->imm;
		if (p->op >= 0xe0)
			writes(in, 1);
		return;
	case 0xe8:
		in->kind = CALL;
		return;
	case 0xe9:
	case 0xeb:
		in->kind = JUMP;
		in->to = (int64_t)p->imm;
		return;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf4:			/* hlt, which stands where nothing returns to */
	case 0xcc:
		in->kind = LEAVES;
		return;
	default:
		in->kind = OPAQUE;
	}
}

static void two_bytes(struct insn *in, const struct parts *p)
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

static int decode(const uint8_t *code, size_t len, struct insn *in)
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
	struct insn in;

	return decode(code, len, &in) ? in.len : 0;
}

#define FUNCTION_MAX 8192

/* A bit for each byte of a function. */
struct bytes {
	uint64_t bit[FUNCTION_MAX / 64];
};

static void mark(struct bytes *b, size_t i)
{
	b->bit[i / 64] |= 1ull << i % 64;
}

static int is_marked(const struct bytes *b, size_t i)
{
	return b->bit[i / 64] >> i % 64 & 1;
}

static int has_system_call(const uint8_t *code, size_t len)
{
	return memmem(code, len, "\x0f\x05", 2) != NULL;
}

/*
 * Where instructions begin, and what is jumped to. Behind the last instruction there may be anything up to the next function,
 * so that what cannot be read there is the end. 0: not understood.
 */
static int survey(const uint8_t *code, size_t len, struct bytes *starts, struct bytes *targets, size_t *end, struct mt_clone_jumps *jumps)
{
	int reached = 1;
	size_t i = 0;

	memset(starts, 0, sizeof(*starts));
	memset(targets, 0, sizeof(*targets));
	while (i < len) {
		struct insn in;

		if (!decode(code + i, len - i, &in)) {
			if (reached)
				return 0;
			break;
		}
		mark(starts, i);
		if (in.kind == ANYWHERE)
			return 0;
		if (in.kind == JUMP || in.kind == BRANCH) {
			const int64_t to = (int64_t)(i + in.len) + in.to;

			if (to >= 0 && to < (int64_t)len) {
				mark(targets, (size_t)to);
			} else if (jumps) {
				if (jumps->n == MT_SITE_TARGETS)
					return 0;
				jumps->to[jumps->n++] = code + to;
			}
		}
		i += in.len;
		reached = in.kind != JUMP && in.kind != LEAVES;
	}
	*end = i;
	/* a jump between two beginnings: this is not how the code is read */
	for (size_t k = 0; k < len; k++)
		if (is_marked(targets, k) && !is_marked(starts, k))
			return 0;
	return 1;
}

static unsigned int bytes_of(const struct mt_clone_site *s)
{
	return s->before + 2 + s->after + s->padding;
}

/* Bytes that fill a function up to its end, all of them: nop and int3. */
static int is_padding(const uint8_t *code, size_t at, size_t end, const struct bytes *targets)
{
	while (at < end) {
		size_t k = at;
		struct insn in;

		if (is_marked(targets, at) || !decode(code + at, end - at, &in))
			return 0;
		while (code[k] == 0x66 || code[k] == 0x2e)
			k++;
		if (code[k] != 0x90 && code[k] != 0xcc && (code[k] != 0x0f || code[k + 1] != 0x1f))
			return 0;
		at += in.len;
	}
	return 1;
}

/* The instructions of a place around the system call at @call. 0: not enough of them can be moved. */
static int place(const uint8_t *code, size_t end, const struct bytes *starts, const struct bytes *targets, size_t call,
		 struct mt_clone_site *s)
{
	size_t from = call, to = call + 2;
	unsigned int padding = 0;
	struct insn in;

	while (to - from < MT_SITE_MIN && from > 0 && !is_marked(targets, from)) {
		size_t k = from - 1;

		while (k > 0 && !is_marked(starts, k))
			k--;
		if (!decode(code + k, end - k, &in) || k + in.len != from || in.kind != PLAIN || in.rip)
			break;
		from = k;
	}
	while (to - from < MT_SITE_MIN && to < end && !is_marked(targets, to)) {
		if (!decode(code + to, end - to, &in))
			break;
		if (code[to] == 0xc3 && is_padding(code, to + 1, end, targets)) {
			const size_t lacks = MT_SITE_MIN - (to + 1 - from);

			to++;
			if (end - to >= lacks)
				padding = (unsigned int)lacks;
			break;
		}
		if (in.kind != PLAIN || in.rip)
			break;
		to += in.len;
	}
	if (to + padding - from < MT_SITE_MIN)
		return 0;
	s->at = code + from;
	s->before = (unsigned int)(call - from);
	s->after = (unsigned int)(to - call - 2);
	s->padding = padding;
	return 1;
}

/* What is known of registers while code is read from its beginning. */
struct constants {
	uint64_t value[16];
	uint16_t known;
};

enum { RAX = 0, RCX = 1, RSI = 6, RDI = 7, R11 = 11 };

static int is_known(const struct constants *c, int reg)
{
	return c->known >> reg & 1;
}

/* After an instruction that is no system call. 1: a register got the value @wanted. */
static int follow(struct constants *c, const struct insn *in, uint64_t wanted)
{
	const int set = in->kind == PLAIN && in->set >= 0 && (in->copy < 0 || is_known(c, in->copy));

	if (set)
		c->value[in->set] = in->copy < 0 ? in->value : in->wide ? c->value[in->copy] : (uint32_t)c->value[in->copy];
	if (in->kind == PLAIN)
		c->known &= (uint16_t)~in->writes;
	else if (in->kind != BRANCH || in->writes)
		c->known = 0;
	if (set)
		c->known |= (uint16_t)(1u << in->set);
	return set && c->value[in->set] == wanted;
}

static void after_call(struct constants *c)
{
	c->known &= (uint16_t)~(1u << RAX | 1u << RCX | 1u << R11);
}

enum mt_clone_found mt_clone_site(const uint8_t *code, size_t len, struct mt_clone_site *s, struct mt_clone_jumps *jumps)
{
	struct bytes starts, targets;
	enum mt_clone_found found = MT_CLONE_NONE;
	struct constants c = { .known = 0 };
	size_t end = 0;
	int number_seen = 0;

	if (jumps)
		jumps->n = 0;
	if (!has_system_call(code, len))
		return MT_CLONE_NONE;
	if (len > FUNCTION_MAX || !survey(code, len, &starts, &targets, &end, jumps))
		return MT_CLONE_UNKNOWN;
	for (size_t i = 0; i < end;) {
		struct insn in;

		if (!decode(code + i, end - i, &in))
			return MT_CLONE_UNKNOWN;
		if (is_marked(&targets, i))
			c.known = 0;
		if (in.kind == SYSTEM_CALL) {
			if (!is_known(&c, RAX) && number_seen)
				return MT_CLONE_UNKNOWN;
			if (is_known(&c, RAX) && c.value[RAX] == X86_SYS_CLONE) {
				if (found || !is_known(&c, RDI) || !is_known(&c, RSI) || c.value[RSI] || c.value[RDI] & CLONE_VM ||
				    !place(code, end, &starts, &targets, i, s))
					return MT_CLONE_UNKNOWN;
				s->flags = c.value[RDI];
				s->number = X86_SYS_CLONE;
				found = MT_CLONE_FOUND;
			}
			after_call(&c);
		} else {
			number_seen |= follow(&c, &in, X86_SYS_CLONE);
		}
		i += in.len;
	}
	return found;
}

/*
 * Is there an instruction before the system call at @call that puts a number of those that make processes into rax, and is it still there?
 * The number, or 0. Read from that instruction on, so that bytes which only look like a system call are none.
 */
static int number_of(const uint8_t *text, const uint8_t *call)
{
	enum { WINDOW = 256 };
	static const int numbers[] = { X86_SYS_FORK, X86_SYS_CLONE, X86_SYS_CLONE3 };

	for (const uint8_t *p = call - 2; p >= text && call - p <= WINDOW; p--) {
		const uint8_t *at = p;
		int number = 0;

		/* push and pop, and bytes of registers, are how little code is written */
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && !number; i++) {
			const uint8_t n = (uint8_t)numbers[i];

			if ((*p == 0xb8 && call - p >= 5 && little_endian(p + 1, 4) == (uint64_t)numbers[i]) ||
			    (*p == 0xc7 && p[1] == 0xc0 && call - p >= 6 && little_endian(p + 2, 4) == (uint64_t)numbers[i]) ||
			    (numbers[i] < 128 && ((*p == 0x6a && call - p >= 3 && p[1] == n && p[2] == 0x58) || (*p == 0xb0 && p[1] == n))))
				number = numbers[i];
		}
		if (!number)
			continue;
		if (*p == 0x6a)
			at += 3;
		else
			at += *p == 0xb0 ? 2 : *p == 0xb8 ? 5 : 6;
		while (at < call) {
			struct insn in;

			if (!decode(at, (size_t)(call - at), &in) || (in.kind != PLAIN && in.kind != BRANCH) || in.writes >> RAX & 1)
				break;
			at += in.len;
		}
		if (at == call)
			return number;
	}
	return 0;
}

/* The system call at @call in a function, of which @number is expected. */
static enum mt_clone_found process_site(const uint8_t *code, size_t len, const uint8_t *call, int number, struct mt_clone_site *s,
					struct mt_clone_jumps *jumps)
{
	struct bytes starts, targets;
	struct constants c = { .known = 0 };
	size_t end = 0;

	jumps->n = 0;
	if (len > FUNCTION_MAX || !survey(code, len, &starts, &targets, &end, jumps))
		return MT_CLONE_UNKNOWN;
	for (size_t i = 0; i < end && code + i <= call;) {
		struct insn in;

		if (!decode(code + i, end - i, &in))
			return MT_CLONE_UNKNOWN;
		if (is_marked(&targets, i))
			c.known = 0;
		if (code + i == call) {
			if (number == X86_SYS_CLONE && is_known(&c, RDI) && c.value[RDI] & CLONE_VM)
				return MT_CLONE_NONE;
			if (!is_known(&c, RAX) || c.value[RAX] != (uint64_t)number || !place(code, end, &starts, &targets, i, s))
				return MT_CLONE_UNKNOWN;
			s->number = number;
			return MT_CLONE_FOUND;
		}
		if (in.kind == SYSTEM_CALL)
			after_call(&c);
		else
			follow(&c, &in, 0);
		i += in.len;
	}
	/* the function is read in another way */
	return MT_CLONE_UNKNOWN;
}

int mt_clone_jumps_into(const uint8_t *code, size_t len, const struct mt_clone_site *s)
{
	const size_t bytes = bytes_of(s);
	size_t i = 0;
	int reached = 1;

	while (i < len) {
		struct insn in;
		int64_t to;

		if (!decode(code + i, len - i, &in))
			return reached;
		to = (int64_t)(i + in.len) + in.to;
		if ((in.kind == JUMP || in.kind == BRANCH) && code + to > s->at && code + to < s->at + bytes)
			return 1;
		i += in.len;
		reached = in.kind != JUMP && in.kind != LEAVES && in.kind != ANYWHERE;
	}
	return 0;
}

#ifdef __x86_64__
/* ---- the C library of this process */

struct object {
	uintptr_t known;	/* an address in its code */
	struct mt_code code;
};

/* Version 1; count: 4 bytes; table: 4 bytes each, relative to the header. All functions, sorted. */
static const uint8_t known_frames[] = { 1, 0x1b, 0x03, 0x3b };

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg, here = { .known = o->known };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && start <= o->known && o->known < start + p->p_filesz) {
			here.code.text = (const uint8_t *)start;
			here.code.text_end = here.code.text + p->p_filesz;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			here.code.frames = (const uint8_t *)start;
			here.code.frames_end = here.code.frames + p->p_filesz;
		}
	}
	if (!here.code.text || !here.code.frames)
		return 0;
	*o = here;
	return 1;
}

static const uint8_t *function_at(const struct mt_code *o, uint32_t i)
{
	int32_t offset;

	memcpy(&offset, o->frames + 12 + 8 * (size_t)i, sizeof(offset));
	return o->frames + o->shift + offset;
}

/* The function that holds @at, and where the next one begins. 0: none. */
static size_t function_of(const struct mt_code *o, const uint8_t *at, const uint8_t **start)
{
	const uint8_t *end;
	uint32_t low = 0, high;

	memcpy(&high, o->frames + 8, sizeof(high));
	if (at < o->text || at >= o->text_end || !high || at < function_at(o, 0))
		return 0;
	while (low + 1 < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (function_at(o, middle) <= at)
			low = middle;
		else
			high = middle;
	}
	memcpy(&high, o->frames + 8, sizeof(high));
	*start = function_at(o, low);
	end = low + 1 < high ? function_at(o, low + 1) : o->text_end;
	if (end > o->text_end)
		end = o->text_end;
	return (size_t)(end - *start);
}

/* Is no jump into the place known, not even in the parts that the function jumps to? A compiler puts rare cases elsewhere. */
static int is_safe(const struct mt_code *o, const struct mt_clone_site *s, const struct mt_clone_jumps *jumps)
{
	for (int i = 0; i < jumps->n; i++) {
		const uint8_t *start;
		const size_t len = function_of(o, jumps->to[i], &start);

		if (!len || mt_clone_jumps_into(start, len, s))
			return 0;
	}
	return 1;
}

/*
 * The next place from @at on at which the number of clone(2) is put into rax: b8 or c7 c0, then four bytes. Each small process
 * pays for it, so 16 bytes at a time. NULL: none. The byte before @at can be read.
 */
static const uint8_t *next_number(const uint8_t *at, const uint8_t *end)
{
	const __m128i low = _mm_set1_epi8(X86_SYS_CLONE), zero = _mm_setzero_si128();

	for (; end - at >= 4; at += 16) {
		unsigned int hits = 0xffff;

		if (end - at >= 16 + 3)
			hits = (unsigned int)_mm_movemask_epi8(_mm_and_si128(
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), low),
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 1)), zero)));
		for (; hits; hits &= hits - 1) {
			const uint8_t *p = at + __builtin_ctz(hits);

			if (end - p >= 4 && !memcmp(p, "\x38\0\0\0", 4) && (p[-1] == 0xb8 || p[-1] == 0xc0))
				return p;
		}
	}
	return NULL;
}

int mt_clone_sites(struct mt_clone_site *s, const char **why)
{
	struct object object = { .known = 0 };
	const struct mt_code *const o = &object.code;
	const uint8_t *fork_at = NULL, *clone_at = NULL, *forks, *at, *last = NULL;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	int n = 0, has_fork = 0;

	if (libc) {
		fork_at = dlsym(libc, "_Fork");		/* newer ones have the call there; tests look for it */
		if (!fork_at)
			fork_at = dlsym(libc, "fork");
		clone_at = dlsym(libc, "clone");
		dlclose(libc);
	}
	object.known = (uintptr_t)fork_at;
	*why = "the fork of the C library, which is older than glibc 2.34, was not found";
	if (!fork_at || !clone_at || !dl_iterate_phdr(find_object, &object) || memcmp(o->frames, known_frames, sizeof(known_frames)) ||
	    !function_of(o, fork_at, &forks))
		return 0;
	*why = "the C library is older than glibc 2.34, and the system call in its fork was not recognised";
	for (at = o->text + 1; (at = next_number(at, o->text_end)); at++) {
		struct mt_clone_jumps jumps;
		enum mt_clone_found found;
		const uint8_t *start = NULL;
		const size_t len = function_of(o, at, &start);

		/* clone() itself is replaced as a whole */
		if (!len || start == last || (clone_at >= start && clone_at < start + len))
			continue;
		last = start;
		found = mt_clone_site(start, len, &s[n], &jumps);
		if (found == MT_CLONE_NONE)
			continue;
		if (found == MT_CLONE_UNKNOWN || !is_safe(o, &s[n], &jumps)) {
			if (start != forks)
				*why = "the C library is older than glibc 2.34, and makes processes in a way that was not recognised";
			return 0;
		}
		has_fork |= start == forks;
		if (++n == MT_SITES)
			return 0;
	}
	return has_fork ? n : 0;
}

/* The next byte of 0f 05 from @at on, NULL: none. 16 bytes at a time, since each program pays for it. */
static const uint8_t *next_call(const uint8_t *at, const uint8_t *end)
{
	const __m128i first = _mm_set1_epi8(0x0f), second = _mm_set1_epi8(0x05);

	for (; end - at >= 16 + 1; at += 16) {
		const unsigned int hits = (unsigned int)_mm_movemask_epi8(_mm_and_si128(
			_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), first),
			_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 1)), second)));

		if (hits)
			return at + __builtin_ctz(hits);
	}
	for (; end - at >= 2; at++)
		if (at[0] == 0x0f && at[1] == 0x05)
			return at;
	return NULL;
}

/* Can its table of functions be read? */
static int has_functions(const struct mt_code *c)
{
	uint32_t count;

	if (!c->frames || c->frames_end - c->frames < 12 || memcmp(c->frames, known_frames, sizeof(known_frames)))
		return 0;
	memcpy(&count, c->frames + 8, sizeof(count));
	return count <= (size_t)(c->frames_end - c->frames - 12) / 8;
}

int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int room, int *calls)
{
	const uint8_t *at = c->text;
	int n = 0;

	*calls = 0;
	for (; (at = next_call(at, c->text_end)); at += 2) {
		const int number = number_of(c->text, at);
		struct mt_clone_jumps jumps;
		const uint8_t *start = NULL;
		size_t len;

		*calls = 1;
		if (!number)
			continue;
		len = has_functions(c) ? function_of(c, at, &start) : 0;
		if (!len || start > at || n == room)
			return -1;
		switch (process_site(start, len, at, number, &s[n], &jumps)) {
		case MT_CLONE_NONE:
			continue;
		case MT_CLONE_UNKNOWN:
			return -1;
		case MT_CLONE_FOUND:
			if (!is_safe(c, &s[n], &jumps))
				return -1;
			n++;
		}
	}
	return n;
}
#else
int mt_clone_sites(struct mt_clone_site *s, const char **why)
{
	(void)s;
	*why = "the C library is older than glibc 2.34; on this processor its fork cannot be followed";
	return 0;
}

int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int room, int *calls)
{
	(void)c;
	(void)s;
	(void)room;
	*calls = 1;	/* as far as is known */
	return 0;
}
#endif
