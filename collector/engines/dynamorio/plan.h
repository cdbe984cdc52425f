// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * plan.h - what a basic block writes into the buffer: its site, and before which instruction which word.
 */
#ifndef MEMTRACE_DYNAMORIO_PLAN_H
#define MEMTRACE_DYNAMORIO_PLAN_H

#include "dr_api.h"
#include "drvector.h"

#include "engines/dynamorio/columns.h"

#define MT_PLAN_REGISTERS 16

/* A word of the record. */
struct mt_plan_store {
	instr_t *before;		/* it is written before this one */
	reg_id_t reg;			/* the value of this register; DR_REG_NULL: the address of @operand */
	opnd_t operand;
	bool after;			/* the register as @before left it: written behind it */
	uint64_t offset;		/* added: a string instruction at the end of a block, times */
	uint32_t word;
};

struct mt_plan {
	instr_t *first, *last;		/* instructions of the program; NULL: the block accesses nothing */
	struct mt_plan_store store[2 * MT_BLOCK_SITE_COLUMNS];
	uint32_t stores, next;		/* made */
	uint32_t used;			/* registers that are not for us, as bits */
	uint32_t number;		/* of the site, by who has it */
	reg_id_t at;			/* points to the record while the block runs */
	drvector_t *allowed;
	union {
		struct mt_block_site site;
		char bytes[sizeof(struct mt_block_site) + MT_BLOCK_SITE_COLUMNS * sizeof(struct mt_block_site_column) +
			   MT_BLOCK_SITE_ITEMS * sizeof(struct mt_block_site_item)];
	};
};

/* What the extended state of the processor takes; 0 before mt_plan_init(). */
void mt_plan_init(void);
/* Plans a block. False: it does not access memory. */
bool mt_plan_make(struct mt_plan *p, instrlist_t *block);
/* Shortens a block until a plan has room for it. In the first stage. */
void mt_plan_cut(void *drcontext, instrlist_t *block);

#endif
