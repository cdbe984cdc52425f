// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* x86code.h - an instruction of x86-64 code: how long it is, where it goes, which registers it changes. Any context. */
#ifndef MEMTRACE_X86CODE_H
#define MEMTRACE_X86CODE_H

#include <stddef.h>
#include <stdint.h>

enum mt_x86_kind {
	PLAIN,		/* only registers in .writes change, and memory */
	OPAQUE,		/* anything may change */
	JUMP,		/* to .to; what follows is reached by a jump only */
	BRANCH,		/* to .to, or goes on */
	CALL,
	LEAVES,		/* return, stop */
	ANYWHERE,	/* a jump whose target is not known */
	SYSTEM_CALL,
};

struct mt_x86 {
	enum mt_x86_kind kind;
	size_t len;
	int64_t to;		/* relative to its end */
	uint16_t writes;	/* registers that it changes */
	int set;		/* the one whose new value is known: .value, or what is in .copy; -1: none */
	int copy;		/* -1: .value */
	int wide;		/* all 64 bits of it */
	uint64_t value;
	int rip;		/* has an operand relative to its address */
};

/* 0: it is not known, or cut. */
int mt_x86_decode(const uint8_t *code, size_t len, struct mt_x86 *in);

/* Length of the instruction at @code, 0 = not known; for its test. */
size_t mt_x86_length(const uint8_t *code, size_t len);

#endif
