// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Only what decides the direction is decoded. Encodings: Arm Architecture Reference Manual for A-profile
 * (DDI 0487), C4.1 "A64 instruction set encoding": loads and stores, system instructions, SVE and SME memory.
 * Checked against disassemblers by tests/decoder.
 */
#include "preload/faults/arm64rw.h"

enum { R = ARM64_READ, W = ARM64_WRITE, RW = ARM64_READ | ARM64_WRITE };

static uint32_t bits(uint32_t w, int high, int low)
{
	return w >> low & ((2u << (high - low)) - 1);
}

static int bit(uint32_t w, int n)
{
	return w >> n & 1;
}

/* Most groups have a bit that is set in loads. */
static int load_if(uint32_t w, int n)
{
	return bit(w, n) ? R : W;
}

/* ldxr, stxr, ldar, stlr, cas, casp and their relatives. Size 11 and 10 of a pair: ldxp, stxp; 01 and 00: casp. */
static int exclusive(uint32_t w)
{
	if (!bit(w, 21))
		return load_if(w, 22);
	if (bit(w, 23))
		return RW;	/* cas */
	return bit(w, 31) ? load_if(w, 22) : RW;
}

/* ldapur, stlur; ldiapp, stilp; tags; 128-bit atomics; cpy, set */
static int ordered_and_tags(uint32_t w)
{
	const uint32_t opc = bits(w, 23, 22), op2 = bits(w, 11, 10), size = bits(w, 31, 30);

	if (!bit(w, 21)) {
		if (op2 == 0 && !bit(w, 26))
			return opc ? R : W;		/* opc 1x: ldapurs */
		if (op2 == 2)
			return load_if(w, 22);		/* ldiapp, stilp, and of vector registers ldapur, stlur */
		if (op2 == 1 && size == 0)
			return opc == 3 ? W : RW | ARM64_COPY | (int)ARM64_COPY_TO(bits(w, 4, 0)) |
				(int)ARM64_COPY_FROM(bits(w, 20, 16));
		return 0;
	}
	if (bit(w, 26))
		return 0;
	if (size == 3)
		return op2 == 0 && bit(w, 22) ? R : W;	/* ldg, ldgm; stg, stzg, st2g, stz2g, stgm, stzgm */
	return size < 2 ? RW : 0;			/* ldclrp, ldsetp, swpp, rcwcas and relatives */
}

/* ldadd, swp and relatives; ldapr, ld64b, st64b are among them */
static int atomic(uint32_t w)
{
	const uint32_t size = bits(w, 31, 30), opc = bits(w, 14, 12);

	if (bit(w, 26) || !bit(w, 15))
		return RW;
	if (opc == 4)
		return R;			/* ldapr */
	if (size == 3 && opc == 5)
		return R;			/* ld64b */
	if (size == 3 && opc >= 1 && opc <= 3 && !bit(w, 23) && !bit(w, 22))
		return W;			/* st64b, st64bv, st64bv0 */
	return RW;				/* swp, rcwclr, rcwswp, rcwset */
}

/* One register: by immediate, register, or unscaled. */
static int one_register(uint32_t w)
{
	const uint32_t size = bits(w, 31, 30), opc = bits(w, 23, 22), op2 = bits(w, 11, 10);

	if (!bit(w, 24) && bit(w, 21) && op2 != 2) {
		if (op2 == 0)
			return atomic(w);
		return size == 3 && !bit(w, 26) ? R : 0;	/* ldraa, ldrab */
	}
	if (bit(w, 26))
		return load_if(w, 22);
	if (opc == 0)
		return W;
	return size == 3 && opc == 2 ? 0 : R;	/* prfm, prfum, rprfm */
}

static int loads_and_stores(uint32_t w)
{
	switch (bits(w, 29, 28)) {
	case 0:
		if (bit(w, 26))			/* ld1 to ld4, st1 to st4 */
			return bit(w, 31) ? 0 : load_if(w, 22);
		return exclusive(w);
	case 1:
		if (bit(w, 24))
			return ordered_and_tags(w);
		return bits(w, 31, 30) == 3 ? 0 : R;	/* literal; 11: prfm */
	case 2:
		return load_if(w, 22);		/* pairs, stgp */
	default:
		return one_register(w);
	}
}

/* Scalable vectors: all of a group but what prefetches. Bits 31 to 25 tell the group. */
static int scalable(uint32_t w)
{
	const uint32_t op0 = bits(w, 24, 23), op1 = bits(w, 22, 21), op2 = bits(w, 15, 13);

	switch (bits(w, 31, 25)) {
	case 0x42:			/* 32-bit gathers, broadcasts, ldr */
		if (bit(w, 4))		/* no prefetch has it; in an ldr it is part of the register's number */
			return R;
		if (op0 == 0 && (op1 & 1) && op2 < 4)
			return 0;
		if (op0 == 3 && op1 >= 2 && op2 < 4)
			return 0;
		return op1 == 0 && (op2 == 6 || op2 == 7) ? 0 : R;
	case 0x62:			/* 64-bit gathers */
		if (bit(w, 4))
			return R;
		if (op0 == 0 && op1 == 3 && op2 >= 4)
			return 0;
		if (op0 == 0 && (op1 & 1) && op2 < 4)
			return 0;
		return op1 == 0 && op2 == 7 ? 0 : R;
	case 0x52:			/* contiguous loads */
		return R;
	case 0x72:			/* stores, scatters, str */
		return W;
	case 0x50:			/* several vectors; with bit 23 an outer product */
		return bit(w, 23) ? 0 : bit(w, 21) ? W : R;
	case 0x70:			/* the matrix of SME */
		return bit(w, 21) ? W : R;
	default:
		return 0;
	}
}

/*
 * dc zva writes; with tags dc gva, gzva, too. Maintenance of caches by address faults like a read. All have the form
 * sys #3, c7, CRm, #op2, Xt.
 */
static int system(uint32_t w)
{
	const uint32_t crm = bits(w, 11, 8), op2 = bits(w, 7, 5);

	if ((w & 0xfffff000) != 0xd50b7000)
		return 0;
	if (crm == 4)
		return op2 == 1 || op2 == 3 || op2 == 4 ? W : 0;
	if (crm == 5)
		return op2 == 1 ? R : 0;	/* ic ivau */
	if (crm < 10 || crm > 14)
		return 0;
	return op2 == 1 || (crm != 11 && (op2 == 3 || op2 == 5)) ? R : 0;
}

int arm64_direction(const uint8_t *p)
{
	const uint32_t w = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	if (bit(w, 27) && !bit(w, 25))
		return loads_and_stores(w);
	if (bit(w, 31) && !bits(w, 28, 27))
		return scalable(w);
	return system(w);
}

/* Within what is left of a copy: the operands move as it goes on, to the end or, backwards, to the beginning. */
static int near(uint64_t addr, uint64_t base)
{
	return addr - base + 65536 < 2 * 65536;	/* wraps: false when addr is far below */
}

static int is_kernel(uint64_t v)
{
	return v >> 55 & 1;
}

/* Of the registers that are known. 1: it is known. */
static int value(int n, const struct arm64_regs *r, uint64_t *v)
{
	*v = n == 0 ? r->x0 : n == 1 ? r->x1 : n == 2 ? r->x2 : n == 3 ? r->x3 : n == 6 ? r->x6 : 0;
	return *v != 0;
}

int arm64_resolve(int direction, uint64_t addr, const struct arm64_regs *r)
{
	uint64_t to, from;
	int d, s;

	if (!(direction & ARM64_COPY))
		return direction & RW;
	if (!value(direction >> 8 & 31, r, &to) || !value(direction >> 16 & 31, r, &from))
		return RW;
	d = near(addr, to);
	s = near(addr, from);
	return d == s ? RW : d ? W : R;
}

int arm64_resolve_kernel(uint64_t addr, const struct arm64_regs *r)
{
	const int source = near(addr, r->x1);

	if (near(addr, r->x6) && (is_kernel(r->x1) || !source))
		return W;		/* copy_to_user */
	if (source)
		return R;		/* copy_from_user */
	return near(addr, r->x0) && !is_kernel(r->x1) ? W : 0;	/* clear_user */
}
