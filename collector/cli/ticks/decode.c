/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/ticks/decode.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "cli/base/opened.h"

#define VOTES 16
#define ENOUGH_VOTES 6

static struct {
	csh handle;
	cs_insn *insn;
	bool open, arm64;
} dec;

/*
 * The library is loaded when there is something to decode: it has 80,000 relocations on 300 pages, which cost each start of the command
 * more than all else that is loaded, and each process that it makes.
 */
static struct {
	__typeof__(cs_open) *open;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_insn_group) *insn_group;
	__typeof__(cs_regs_access) *regs_access;
} cs;

static bool load(void)
{
	void *library;

	if (cs.open)
		return true;
	library = dlopen(MT_OPENED_CAPSTONE, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define FIND(f) (cs.f = (__typeof__(cs.f))dlsym(library, "cs_" #f))
	if (FIND(option) && FIND(malloc) && FIND(free) && FIND(close) && FIND(disasm_iter) && FIND(insn_group) && FIND(regs_access) && FIND(open))
		return true;
#undef FIND
	dlclose(library);
	cs.open = NULL;
	return false;
}

bool mt_decode_knows(const char *arch)
{
	return !strcmp(arch, "aarch64") || !strcmp(arch, "x86_64");
}

int mt_decode_open(const char *arch)
{
	const bool arm64 = !strcmp(arch, "aarch64");

	if (!mt_decode_knows(arch) || !load())
		return -ENOTSUP;
	if (dec.open && dec.arm64 == arm64)
		return 0;
	if (dec.open) {
		cs.free(dec.insn, 1);
		cs.close(&dec.handle);
		dec.open = false;
	}
	if (cs.open(arm64 ? CS_ARCH_ARM64 : CS_ARCH_X86, arm64 ? CS_MODE_LITTLE_ENDIAN : CS_MODE_64, &dec.handle))
		return -ENOTSUP;
	cs.option(dec.handle, CS_OPT_DETAIL, CS_OPT_ON);
	dec.insn = cs.malloc(dec.handle);
	dec.arm64 = arm64;
	dec.open = true;
	return 0;
}

int mt_decode_registers(int *ip)
{
	*ip = dec.arm64 ? 32 : 8;
	return dec.arm64 ? 33 : 17;
}

/* ---- x86-64 */

static uint8_t x86_number(unsigned int reg)
{
	switch (reg) {
#define NAMES(n, r64, r32, r16, r8) case X86_REG_##r64: case X86_REG_##r32: case X86_REG_##r16: case X86_REG_##r8: return n;
	NAMES(0, RAX, EAX, AX, AL)
	NAMES(1, RBX, EBX, BX, BL)
	NAMES(2, RCX, ECX, CX, CL)
	NAMES(3, RDX, EDX, DX, DL)
	NAMES(4, RSI, ESI, SI, SIL)
	NAMES(5, RDI, EDI, DI, DIL)
	NAMES(6, RBP, EBP, BP, BPL)
	NAMES(7, RSP, ESP, SP, SPL)
	NAMES(9, R8, R8D, R8W, R8B)
	NAMES(10, R9, R9D, R9W, R9B)
	NAMES(11, R10, R10D, R10W, R10B)
	NAMES(12, R11, R11D, R11W, R11B)
	NAMES(13, R12, R12D, R12W, R12B)
	NAMES(14, R13, R13D, R13W, R13B)
	NAMES(15, R14, R14D, R14W, R14B)
	NAMES(16, R15, R15D, R15W, R15B)
#undef NAMES
	case X86_REG_RIP: return 8;
	default: return MT_NO_REG;
	}
}

static bool x86_accesses(const cs_insn *i)
{
	switch (i->id) {
	case X86_INS_LEA:
	case X86_INS_NOP:
	case X86_INS_PREFETCH:		/* nobody waits for them */
	case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0:
	case X86_INS_PREFETCHT1:
	case X86_INS_PREFETCHT2:
	case X86_INS_PREFETCHW:
	case X86_INS_CLFLUSH:
	case X86_INS_CLFLUSHOPT:
		return false;
	default:
		return true;
	}
}

static void x86_operand(const cs_insn *i, const cs_x86_op *o, struct mt_insn *x)
{
	const x86_op_mem *m = &o->mem;

	x->memory = true;
	x->bytes = o->size;
	x->access = (o->access & CS_AC_READ ? MT_TICK_READ : 0) | (o->access & CS_AC_WRITE ? MT_TICK_WRITE : 0);
	x->base = x86_number(m->base);
	x->index = x86_number(m->index);
	x->scale = (uint8_t)m->scale;
	x->index_bits = 64;
	x->offset = m->disp;
	x->no_address = (m->segment != X86_REG_INVALID && m->segment != X86_REG_DS && m->segment != X86_REG_ES) ||
			(m->base != X86_REG_INVALID && x->base == MT_NO_REG) || (m->index != X86_REG_INVALID && x->index == MT_NO_REG) ||
			i->detail->x86.addr_size != 8;
	if (x->base == 8) {	/* relative to the next instruction */
		x->base = MT_NO_REG;
		x->offset += (int64_t)(x->ip + i->size);
	}
}

static void x86_decode(const cs_insn *i, struct mt_insn *x)
{
	const cs_x86 *d = &i->detail->x86;

	x->repeats = d->prefix[0] == X86_PREFIX_REP || d->prefix[0] == X86_PREFIX_REPNE;
	x->compares = i->id == X86_INS_CMP || i->id == X86_INS_TEST;
	for (int k = 0; k < d->op_count && x86_accesses(i); k++)
		if (d->operands[k].type == X86_OP_MEM) {
			x86_operand(i, &d->operands[k], x);
			break;
		}
	if (x->jumps && d->op_count == 1 && d->operands[0].type == X86_OP_IMM)
		x->target = (uint64_t)d->operands[0].imm;
	x->always = i->id == X86_INS_JMP || cs.insn_group(dec.handle, i, X86_GRP_RET);
	x->repeats &= x->memory;	/* the prefix has other meanings, too */
}

/* ---- arm64 */

static uint8_t arm64_number(unsigned int reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (uint8_t)(reg - ARM64_REG_X0);
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (uint8_t)(reg - ARM64_REG_W0);
	switch (reg) {
	case ARM64_REG_X29: return 29;
	case ARM64_REG_X30: return 30;
	case ARM64_REG_SP: return 31;
	default: return MT_NO_REG;
	}
}

/* Bytes of a register, with the letters at the end of the instruction that say less. */
static uint32_t arm64_bytes(const cs_insn *i, unsigned int reg)
{
	const char *m = i->mnemonic;
	const size_t n = strlen(m);

	if (reg >= ARM64_REG_Q0 && reg <= ARM64_REG_Q31)
		return 16;
	if (reg >= ARM64_REG_D0 && reg <= ARM64_REG_D31)
		return 8;
	if (reg >= ARM64_REG_S0 && reg <= ARM64_REG_S31)
		return 4;
	if (reg >= ARM64_REG_H0 && reg <= ARM64_REG_H31)
		return 2;
	if (reg >= ARM64_REG_B0 && reg <= ARM64_REG_B31)
		return 1;
	if (reg >= ARM64_REG_V0 && reg <= ARM64_REG_V31)
		return 0;	/* a list: not told here */
	if (n > 2 && !strcmp(m + n - 2, "sw"))
		return 4;
	if (n > 1 && m[n - 1] == 'b')
		return 1;
	if (n > 1 && m[n - 1] == 'h')
		return 2;
	return (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) || reg == ARM64_REG_WZR ? 4 : 8;
}

/* Bits of what an instruction does with its operand in memory, by its name: ld..., st..., and atomic ones. */
static int arm64_access(const cs_insn *i)
{
	static const char *const atomic[] = { "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin", "swp", "cas",
					      "stadd", "stclr", "steor", "stset", "stsmax", "stsmin", "stumax", "stumin" };

	for (size_t k = 0; k < sizeof(atomic) / sizeof(*atomic); k++)
		if (!strncmp(i->mnemonic, atomic[k], strlen(atomic[k])))
			return MT_TICK_READ | MT_TICK_WRITE;
	return !strncmp(i->mnemonic, "ld", 2) ? MT_TICK_READ : !strncmp(i->mnemonic, "st", 2) ? MT_TICK_WRITE : 0;
}

static void arm64_operand(const cs_insn *i, int at, struct mt_insn *x)
{
	const cs_arm64 *d = &i->detail->arm64;
	const cs_arm64_op *o = &d->operands[at];
	const bool exclusive = !strncmp(i->mnemonic, "stx", 3) || !strncmp(i->mnemonic, "stlx", 4);
	const int data = exclusive && at > 1 ? 1 : 0;
	const bool two = at - data > 1;

	x->memory = true;
	x->access = arm64_access(i);
	x->base = arm64_number(o->mem.base);
	x->index = arm64_number(o->mem.index);
	x->scale = (uint8_t)(1u << (o->shift.type == ARM64_SFT_LSL ? o->shift.value & 7 : 0));
	x->index_bits = o->ext == ARM64_EXT_SXTW || o->ext == ARM64_EXT_UXTW ? 32 : 64;
	x->index_signed = o->ext == ARM64_EXT_SXTW;
	x->offset = o->mem.disp;
	x->no_address = x->base == MT_NO_REG || (o->mem.index != ARM64_REG_INVALID && x->index == MT_NO_REG);
	if (d->operands[0].type == ARM64_OP_REG)
		x->bytes = arm64_bytes(i, d->operands[data].reg) * (two && strncmp(i->mnemonic, "cas", 3) ? 2 : 1);
	if (!d->writeback)
		return;
	if (at + 1 < d->op_count) {	/* behind the access: by a constant, or by a register, of which it is not told here */
		x->behind = d->operands[at + 1].imm;
		x->offset = 0;
		x->overwrites |= d->operands[at + 1].type != ARM64_OP_IMM;
	} else {
		x->behind = o->mem.disp;
	}
}

static void arm64_decode(const cs_insn *i, struct mt_insn *x)
{
	const cs_arm64 *d = &i->detail->arm64;
	const bool loads = !strncmp(i->mnemonic, "ld", 2);

	x->compares = false;
	for (int k = 0; k < d->op_count; k++)
		if (d->operands[k].type == ARM64_OP_MEM && arm64_access(i)) {
			arm64_operand(i, k, x);
			break;
		}
	for (int k = 0; k < d->op_count && x->memory && loads && d->operands[k].type == ARM64_OP_REG; k++) {
		const uint8_t to = arm64_number(d->operands[k].reg);

		if (to != MT_NO_REG && (to == x->base || to == x->index))
			x->overwrites = true;
	}
	if (x->jumps && d->op_count && d->operands[d->op_count - 1].type == ARM64_OP_IMM)
		x->target = (uint64_t)d->operands[d->op_count - 1].imm;
	x->always = (i->id == ARM64_INS_B && d->cc == ARM64_CC_INVALID) || i->id == ARM64_INS_BR || i->id == ARM64_INS_RET;
}

/* ---- both */

void mt_decode(uint64_t ip, const uint8_t *code, size_t n, struct mt_insn *x)
{
	uint64_t at = ip;
	cs_regs reads, writes;
	uint8_t n_reads, n_writes;
	const cs_insn *i = dec.insn;

	*x = (struct mt_insn){ .ip = ip, .base = MT_NO_REG, .index = MT_NO_REG };
	if (!cs.disasm_iter(dec.handle, &code, &n, &at, dec.insn))
		return;
	x->length = (uint8_t)i->size;
	x->jumps = cs.insn_group(dec.handle, i, CS_GRP_JUMP) || cs.insn_group(dec.handle, i, CS_GRP_RET);
	if (dec.arm64) {
		arm64_decode(i, x);
		return;
	}
	x86_decode(i, x);
	if (!x->memory || cs.regs_access(dec.handle, i, reads, &n_reads, writes, &n_writes))
		return;
	for (int w = 0; w < n_writes; w++) {
		const uint8_t to = x86_number(writes[w]);

		if (to != MT_NO_REG && (to == x->base || to == x->index))
			x->overwrites = true;
	}
}

/* Where the last instruction of @n bytes before @ip begins when decoding begins at the first of them; 0: none ends at @ip. */
static uint64_t last_of(uint64_t ip, const uint8_t *code, size_t n)
{
	uint64_t at = ip - n, last = 0;

	while (n) {
		const uint64_t from = at;

		if (!cs.disasm_iter(dec.handle, &code, &n, &at, dec.insn))
			return 0;
		last = from;
	}
	return last;
}

bool mt_decode_before(uint64_t ip, const uint8_t *end, size_t n, struct mt_insn *x)
{
	uint64_t place[VOTES] = { 0 };
	int votes[VOTES] = { 0 }, best = 0;

	*x = (struct mt_insn){ .ip = ip };
	if (dec.arm64) {
		if (n < 4)
			return false;
		mt_decode(ip - 4, end - 4, 4, x);
		return x->length != 0;
	}
	/* begun anywhere, decoding falls into step after a few instructions */
	for (size_t back = n; back >= n / 3 && back >= 15; back--) {
		const uint64_t last = last_of(ip, end - back, back);
		int k = 0;

		while (last && k < VOTES - 1 && place[k] && place[k] != last)
			k++;
		if (!last)
			continue;
		place[k] = last;
		if (++votes[k] > votes[best])
			best = k;
	}
	if (votes[best] < ENOUGH_VOTES)
		return false;
	mt_decode(place[best], end - (ip - place[best]), ip - place[best], x);
	return x->length != 0;
}

bool mt_decode_address(const struct mt_insn *x, const uint64_t *reg, bool executed, uint64_t *address)
{
	uint64_t a = (uint64_t)x->offset;

	if (!x->memory || x->no_address || (executed && x->overwrites))
		return false;
	if (x->base != MT_NO_REG)
		a += reg[x->base] - (executed ? (uint64_t)x->behind : 0);
	if (x->index != MT_NO_REG) {
		uint64_t v = reg[x->index];

		if (x->index_bits == 32)
			v = x->index_signed ? (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
		a += v * x->scale;
	}
	*address = a;
	return true;
}
