// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * plan.c - finds the accesses of a block, and which of their addresses follow from one another.
 *
 * Registers are followed through the block as (what stood in it at some time, distance). Two accesses whose base and index
 * are the same but for the distance share a column.
 */
#include "engines/dynamorio/plan.h"

#include <cpuid.h>
#include <string.h>

#define NEAR ((int64_t)1 << 30)		/* distances that a column can tell */
#define MAX_OPERANDS 64			/* of a block */
#define MAX_USED 12			/* registers in addresses, or written: others are left for our use */
#define STACK 4				/* number of the stack pointer */

/* What a register holds: a value of no known number, and a distance. */
struct value {
	uint32_t name;
	int64_t off;
};

struct key {
	uint32_t base, index;
	uint32_t scale, segment;
};

struct scan {
	struct mt_plan *plan;
	struct value reg[MT_PLAN_REGISTERS];
	uint32_t names;
	uint32_t columns, items, fixed;
	struct {
		struct key key;
		int64_t off;		/* of what its word holds */
		struct mt_block_site_column c;
	} column[MT_BLOCK_SITE_COLUMNS];
	struct mt_block_site_item item[MT_BLOCK_SITE_ITEMS];
	int32_t of[MT_BLOCK_SITE_ITEMS];	/* column, -1: fixed */
};

static uint32_t state_bytes;

void mt_plan_init(void)
{
	unsigned int a, b = 0, c, d;

	state_bytes = 512 + 64;
	if (__get_cpuid_count(0xd, 0, &a, &b, &c, &d) && b > state_bytes)
		state_bytes = b;
}

/* 0 to 15; -1: not one of these, or not all of it. */
static int number(reg_id_t r)
{
	return r >= DR_REG_START_64 && r <= DR_REG_STOP_64 && r < DR_REG_START_64 + MT_PLAN_REGISTERS ? (int)(r - DR_REG_START_64) : -1;
}

static struct value value_of(struct scan *s, reg_id_t r)
{
	const int n = number(r);

	return n < 0 ? (struct value){ r == DR_REG_NULL ? 0 : ++s->names, 0 } : s->reg[n];
}

static bool is_string(int opcode)
{
	switch (opcode) {
	case OP_rep_movs: case OP_rep_stos: case OP_rep_lods: case OP_rep_cmps: case OP_repne_cmps: case OP_rep_scas: case OP_repne_scas:
	case OP_rep_ins: case OP_rep_outs:
		return true;
	default:
		return false;
	}
}

/* Bytes that an operand accesses. */
static uint32_t width(instr_t *in, opnd_t o)
{
	if (instr_is_xsave(in) || instr_get_opcode(in) == OP_xrstor32 || instr_get_opcode(in) == OP_xrstor64)
		return state_bytes;
	return opnd_size_in_bytes(opnd_get_size(o));
}

static struct mt_block_site_item *new_item(struct scan *s, instr_t *in, int32_t column, int64_t off, uint32_t bytes, unsigned int write)
{
	struct mt_block_site_item *i = &s->item[s->items];

	s->of[s->items++] = column;
	i->off = off;
	i->bytes = bytes;
	i->write = (uint16_t)write;
	i->at = (uint16_t)((uint64_t)instr_get_app_pc(in) - s->plan->site.start);
	return i;
}

static int32_t new_column(struct scan *s, uint32_t words)
{
	struct mt_block_site_column *c = &s->column[s->columns].c;

	memset(c, 0, sizeof(*c));
	c->word = s->plan->site.words;
	s->plan->site.words += words;
	return (int32_t)s->columns++;
}

static struct mt_plan_store *new_store(struct scan *s, instr_t *in, reg_id_t reg, uint32_t word)
{
	struct mt_plan_store *st = &s->plan->store[s->plan->stores++];

	*st = (struct mt_plan_store){ .before = in, .reg = reg, .word = word };
	return st;
}

/* The pointer of a string instruction before and after it. */
static void string_access(struct scan *s, instr_t *in, reg_id_t pointer, uint32_t bytes, unsigned int write)
{
	const int32_t c = new_column(s, 2);
	struct mt_plan_store *after;

	s->column[c].key.base = ++s->names;	/* of nobody else */
	s->column[c].c.string = pointer == DR_REG_XDI ? 1 : 2;
	new_item(s, in, c, 0, bytes, write);
	new_store(s, in, pointer, s->column[c].c.word);
	after = new_store(s, in, pointer, s->column[c].c.word + 1);
	after->after = in != s->plan->last;
	after->offset = in == s->plan->last ? bytes : 0;
}

static void access(struct scan *s, instr_t *in, opnd_t o, unsigned int write)
{
	const uint32_t bytes = width(in, o);
	struct value base, index;
	int64_t off;
	struct key k;
	int32_t c;

	if (!bytes)
		return;
	if (is_string(instr_get_opcode(in))) {
		string_access(s, in, opnd_get_base(o), bytes, write);
		return;
	}
	if (!opnd_is_base_disp(o)) {
		if (opnd_is_rel_addr(o) || opnd_is_abs_addr(o))
			new_item(s, in, -1, (int64_t)opnd_get_addr(o), bytes, write);
		return;
	}
	k.segment = opnd_is_far_base_disp(o) ? opnd_get_segment(o) : DR_REG_NULL;
	if (reg_is_gpr(opnd_get_index(o)) && !reg_is_pointer_sized(opnd_get_index(o)) && instr_get_opcode(in) == OP_xlat)
		o = opnd_create_base_disp(opnd_get_base(o), DR_REG_NULL, 0, 0, OPSZ_1);	/* not the byte, but its table */
	if (opnd_get_index(o) != DR_REG_NULL && !reg_is_gpr(opnd_get_index(o)))
		return;			/* a gather that was not taken apart */
	if (k.segment != DR_SEG_FS && k.segment != DR_SEG_GS)
		k.segment = DR_REG_NULL;
	base = value_of(s, opnd_get_base(o));
	index = value_of(s, opnd_get_index(o));
	k.base = base.name;
	k.index = index.name;
	k.scale = opnd_get_index(o) == DR_REG_NULL ? 0 : (uint32_t)opnd_get_scale(o);
	off = base.off + index.off * (int64_t)k.scale + opnd_get_disp(o);
	if (!k.base && !k.index && !k.segment) {
		new_item(s, in, -1, off, bytes, write);
		return;
	}
	for (c = 0; c < (int32_t)s->columns; c++) {
		const int64_t apart = off - s->column[c].off;

		if (!memcmp(&s->column[c].key, &k, sizeof(k)) && apart > -NEAR && apart < NEAR)
			break;
	}
	if (c == (int32_t)s->columns) {
		const bool plain = !k.index && !k.segment && number(opnd_get_base(o)) >= 0;
		struct mt_plan_store *st;

		new_column(s, 1);
		s->column[c].key = k;
		s->column[c].off = plain ? base.off : off;
		st = new_store(s, in, plain ? opnd_get_base(o) : DR_REG_NULL, s->column[c].c.word);
		st->operand = o;
		if (off - s->column[c].off <= -NEAR || off - s->column[c].off >= NEAR) {
			st->reg = DR_REG_NULL;
			s->column[c].off = off;
		}
	}
	new_item(s, in, c, off - s->column[c].off, bytes, write);
}

/* Does this operand make an access? Not the addresses of lea, of hints and of long nops. */
static bool is_access(instr_t *in, opnd_t o)
{
	return opnd_is_memory_reference(o) && !instr_is_nop(in) && !instr_is_prefetch(in) && instr_get_opcode(in) != OP_lea &&
	       instr_get_opcode(in) != OP_nop_modrm && instr_get_opcode(in) != OP_clflush && instr_get_opcode(in) != OP_invlpg;
}

/* What the instruction leaves in registers. */
static void follow(struct scan *s, instr_t *in)
{
	const int opcode = instr_get_opcode(in), dst = instr_num_dsts(in) && opnd_is_reg(instr_get_dst(in, 0)) ?
								number(opnd_get_reg(instr_get_dst(in, 0))) : -1;
	struct value known = { 0, 0 };
	bool is_known = false;
	opnd_t o;

	switch (opcode) {
	case OP_add:
	case OP_sub:
		/* sources: what is added, what it is added to */
		o = instr_get_src(in, 0);
		if (dst >= 0 && opnd_is_immed_int(o)) {
			known = s->reg[dst];
			known.off += opcode == OP_add ? (int64_t)opnd_get_immed_int(o) : -(int64_t)opnd_get_immed_int(o);
			is_known = true;
		}
		break;
	case OP_inc:
	case OP_dec:
		if (dst >= 0) {
			known = s->reg[dst];
			known.off += opcode == OP_inc ? 1 : -1;
			is_known = true;
		}
		break;
	case OP_lea:
		o = instr_get_src(in, 0);
		if (dst >= 0 && opnd_is_base_disp(o) && number(opnd_get_base(o)) >= 0 && opnd_get_index(o) == DR_REG_NULL) {
			known = value_of(s, opnd_get_base(o));
			known.off += opnd_get_disp(o);
			is_known = true;
		}
		break;
	case OP_mov_ld:
	case OP_mov_st:
		o = instr_get_src(in, 0);
		if (dst >= 0 && opnd_is_reg(o) && number(opnd_get_reg(o)) >= 0) {
			known = value_of(s, opnd_get_reg(o));
			is_known = true;
		}
		break;
	case OP_push:
	case OP_push_imm:
		known = s->reg[STACK];
		known.off -= (int64_t)opnd_size_in_bytes(opnd_get_size(instr_get_dst(in, 1)));
		break;
	case OP_pop:
		known = s->reg[STACK];
		known.off += (int64_t)opnd_size_in_bytes(opnd_get_size(instr_get_src(in, 1)));
		break;
	default:
		break;
	}
	for (int r = 0; r < MT_PLAN_REGISTERS; r++) {
		const reg_id_t id = (reg_id_t)(DR_REG_START_64 + r);

		if (!instr_writes_to_reg(in, id, DR_QUERY_INCLUDE_ALL))
			continue;
		if ((is_known && r == dst) ||
		    (r == STACK && (opcode == OP_push || opcode == OP_push_imm || (opcode == OP_pop && dst != STACK))))
			s->reg[r] = known;
		else
			s->reg[r] = (struct value){ ++s->names, 0 };
	}
	if (instr_get_opcode(in) == OP_wrfsbase || instr_get_opcode(in) == OP_wrgsbase)
		for (uint32_t c = 0; c < s->columns; c++)
			s->column[c].key.base = ++s->names;	/* nothing more is merged */
}

/*
 * Registers that are not for us, as bits: those in addresses of an instruction, and those that it writes. drreg does not bring
 * back our value of a register that the program writes twice without a look at it in between.
 */
static uint32_t used_by(instr_t *in, uint32_t *operands)
{
	uint32_t used = 0;

	for (int i = 0; i < instr_num_srcs(in) + instr_num_dsts(in); i++) {
		const opnd_t o = i < instr_num_srcs(in) ? instr_get_src(in, i) : instr_get_dst(in, i - instr_num_srcs(in));

		if (!opnd_is_memory_reference(o))
			continue;
		++*operands;
		for (int k = 0; k < opnd_num_regs_used(o); k++) {
			const reg_id_t r = opnd_get_reg_used(o, k);

			if (reg_is_gpr(r))
				used |= 1u << (reg_to_pointer_sized(r) - DR_REG_START_64);
		}
	}
	for (int r = 0; r < MT_PLAN_REGISTERS; r++)
		if (instr_writes_to_reg(in, (reg_id_t)(DR_REG_START_64 + r), DR_QUERY_INCLUDE_ALL))
			used |= 1u << r;
	if (is_string(instr_get_opcode(in)))
		used |= 1u << (DR_REG_XCX - DR_REG_START_64);
	return used;
}

void mt_plan_cut(void *drcontext, instrlist_t *block)
{
	uint32_t used = 0, operands = 0;
	instr_t *next;

	for (instr_t *in = instrlist_first(block); in; in = next) {
		uint32_t more = operands, with;

		next = instr_get_next(in);
		if (!instr_is_app(in))
			continue;
		with = used | used_by(in, &more);
		if (in == instrlist_first_app(block) || (more <= MAX_OPERANDS && __builtin_popcount(with) <= MAX_USED)) {
			used = with;
			operands = more;
			continue;
		}
		for (; in; in = next) {
			next = instr_get_next(in);
			instrlist_remove(block, in);
			instr_destroy(drcontext, in);
		}
	}
}

/* Columns with their items behind one another, and fixed ones. */
static void flatten(struct scan *s)
{
	struct mt_block_site *site = &s->plan->site;
	struct mt_block_site_item *out;
	uint32_t n = 0;

	site->columns = s->columns;
	site->items = s->items;
	out = (struct mt_block_site_item *)mt_block_site_items(site);
	for (uint32_t c = 0; c < s->columns; c++) {
		struct mt_block_site_column *column = &site->column[c];

		*column = s->column[c].c;
		column->item = n;
		for (uint32_t i = 0; i < s->items; i++)
			if (s->of[i] == (int32_t)c)
				out[n++] = s->item[i];
		column->items = n - column->item;
		if (!column->string)
			mt_block_site_finish_column(column, out + column->item);
	}
	site->fixed = s->items - n;
	for (uint32_t i = 0; i < s->items; i++)
		if (s->of[i] < 0)
			out[n++] = s->item[i];
	site->bytes = (uint32_t)((char *)(out + n) - (char *)site);
}

bool mt_plan_make(struct mt_plan *p, instrlist_t *block)
{
	struct scan s;
	uint32_t operands = 0;

	memset(&p->site, 0, sizeof(p->site));
	p->stores = p->next = p->used = 0;
	p->first = instrlist_first_app(block);
	p->last = instrlist_last_app(block);
	if (!p->first)
		return false;
	memset(s.column, 0, sizeof(s.column));
	s.plan = p;
	s.columns = s.items = s.fixed = 0;
	/* 0 is no register */
	for (int r = 0; r < MT_PLAN_REGISTERS; r++)
		s.reg[r] = (struct value){ (uint32_t)r + 1, 0 };
	s.names = MT_PLAN_REGISTERS;
	p->site.start = (uint64_t)instr_get_app_pc(p->first);
	p->site.last = (uint64_t)instr_get_app_pc(p->last);
	p->site.words = 1;
	for (instr_t *in = p->first; in; in = instr_get_next_app(in)) {
		for (int i = 0; i < instr_num_srcs(in); i++)
			if (is_access(in, instr_get_src(in, i)))
				access(&s, in, instr_get_src(in, i), MT_COUNT_READ);
		for (int i = 0; i < instr_num_dsts(in); i++)
			if (is_access(in, instr_get_dst(in, i)))
				access(&s, in, instr_get_dst(in, i), MT_COUNT_WRITE);
		p->used |= used_by(in, &operands);
		follow(&s, in);
	}
	if (!s.items)
		return false;
	flatten(&s);
	return true;
}
