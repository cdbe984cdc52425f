// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/arm64rw.c
/* Words as GNU as makes them. All forms against disassemblers: tests/decoder/arm64.py. */
#include <stdint.h>

#include "harness.h"
#include "preload/faults/arm64rw.h"

#define R ARM64_READ
#define W ARM64_WRITE
#define RW (R | W)

static const struct {
	const char *text;
	uint32_t word;
	int want;
} cases[] = {
	{ "ldr x0, [x1]", 0xf9400020, R },
	{ "str x0, [x1]", 0xf9000020, W },
	{ "ldrb w2, [x3], #1", 0x38401462, R },
	{ "strb w2, [x3, #1]!", 0x38001c62, W },
	{ "ldrsw x0, [x1, x2]", 0xb8a26820, R },
	{ "ldr x0, . + 8", 0x58000040, R },
	{ "ldtr x0, [x1]", 0xf8400820, R },
	{ "sttr x0, [x1]", 0xf8000820, W },
	{ "ldp x29, x30, [sp], #16", 0xa8c17bfd, R },
	{ "stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, W },
	{ "ldnp q0, q1, [x0]", 0xac400400, R },
	{ "stnp q0, q1, [x0]", 0xac000400, W },
	{ "ldr q0, [x0]", 0x3dc00000, R },
	{ "str q0, [x0]", 0x3d800000, W },
	{ "ldxr w0, [x1]", 0x885f7c20, R },
	{ "stxr w2, w0, [x1]", 0x88027c20, W },
	{ "ldaxp x0, x1, [x2]", 0xc87f8440, R },
	{ "stlxp w3, x0, x1, [x2]", 0xc8238440, W },
	{ "ldar x0, [x1]", 0xc8dffc20, R },
	{ "stlr x0, [x1]", 0xc89ffc20, W },
	{ "ldapr x0, [x1]", 0xf8bfc020, R },
	{ "ldapur x0, [x1, #1]", 0xd9401020, R },
	{ "stlur x0, [x1, #1]", 0xd9001020, W },
	{ "ldapursw x0, [x1, #1]", 0x99801020, R },
	{ "ld64b x0, [x2]", 0xf83fd040, R },
	{ "st64bv x0, x2, [x2]", 0xf820b042, W },
	{ "cas x0, x1, [x2]", 0xc8a07c41, RW },
	{ "casp x0, x1, x2, x3, [x4]", 0x48207c82, RW },
	{ "ldadd x0, x1, [x2]", 0xf8200041, RW },
	{ "stadd x0, [x2]", 0xf820005f, RW },
	{ "swpal w0, w1, [x2]", 0xb8e08041, RW },
	{ "ldumaxb w0, w1, [x2]", 0x38206041, RW },
	{ "ld1 {v0.16b}, [x0]", 0x4c407000, R },
	{ "st1 {v0.16b}, [x0]", 0x4c007000, W },
	{ "ld4 {v0.4s-v3.4s}, [x0], #64", 0x4cdf0800, R },
	{ "st3 {v0.b-v2.b}[1], [x0]", 0x0d002400, W },
	{ "ld1r {v0.2d}, [x0]", 0x4d40cc00, R },
	{ "prfm pldl1keep, [x0]", 0xf9800000, 0 },
	{ "prfum pldl1keep, [x0, #1]", 0xf8801000, 0 },
	{ "ldraa x0, [x1]", 0xf8200420, R },
	{ "ldg x0, [x1]", 0xd9600020, R },
	{ "stg x0, [x1]", 0xd9200820, W },
	{ "st2g x0, [x1]", 0xd9a00820, W },
	{ "stgp x0, x1, [x2]", 0x69000440, W },
	{ "dc zva, x0", 0xd50b7420, W },
	{ "dc cvac, x0", 0xd50b7a20, R },
	{ "ic ivau, x0", 0xd50b7520, R },
	{ "ld1b {z0.b}, p0/z, [x0]", 0xa400a000, R },
	{ "st1b {z0.b}, p0, [x0]", 0xe400e000, W },
	{ "ldr z0, [x0]", 0x85804000, R },
	{ "str z0, [x0]", 0xe5804000, W },
	{ "prfb pldl1keep, p0, [x0]", 0x85c00000, 0 },
	{ "setp [x0]!, x1!, x2", 0x19c20420, W },
	{ "add x0, x1, x2", 0x8b020020, 0 },
	{ "b .", 0x14000000, 0 },
	{ "svc #0", 0xd4000001, 0 },
	{ "nop", 0xd503201f, 0 },
	{ "bl .", 0x94000000, 0 },
	{ "ret", 0xd65f03c0, 0 },
};

static int direction(uint32_t w)
{
	const uint8_t b[4] = { (uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24) };

	return arm64_direction(b);
}

static void check_copies(void)
{
	const int copy = direction(0x1d010443);	/* cpyp [x3]!, [x1]!, x2! */
	const uint64_t to = 0x7f0000000000, from = 0x7e0000000000;
	struct arm64_regs r = { .x1 = from, .x2 = 100, .x3 = to };

	CHECK_EQ(copy & (RW | ARM64_COPY), RW | ARM64_COPY);
	CHECK_EQ(arm64_resolve(copy, to + 5, &r), W);
	CHECK_EQ(arm64_resolve(copy, from + 5, &r), R);
	CHECK_EQ(arm64_resolve(copy, from - 5, &r), R);		/* backwards */
	CHECK_EQ(arm64_resolve(copy, 0x1000, &r), RW);
	r.x3 = from + 10;					/* both are near */
	CHECK_EQ(arm64_resolve(copy, from + 5, &r), RW);
	r.x3 = 0;						/* not known */
	CHECK_EQ(arm64_resolve(copy, from + 5, &r), RW);
	CHECK_EQ(arm64_resolve(W, from, &r), W);
	/* registers that are not sampled */
	CHECK_EQ(arm64_resolve(RW | ARM64_COPY | ARM64_COPY_TO(9) | ARM64_COPY_FROM(1), from, &r), RW);
}

static void check_kernel(void)
{
	const uint64_t user = 0xffff12345000, kernel = 0xffff800012345000;

	/* copy_to_user: x0 is the start, x6 where it has come to, x1 the source */
	CHECK_EQ(arm64_resolve_kernel(user + 64, &(struct arm64_regs){ .x0 = user, .x1 = kernel, .x6 = user + 64 }), W);
	CHECK_EQ(arm64_resolve_kernel(user + 64, &(struct arm64_regs){ .x0 = kernel, .x1 = user + 64, .x6 = kernel + 64 }), R);
	CHECK_EQ(arm64_resolve_kernel(user, &(struct arm64_regs){ .x0 = user, .x1 = 512 }), W);	/* clear_user */
	CHECK_EQ(arm64_resolve_kernel(user, &(struct arm64_regs){ .x0 = kernel, .x1 = kernel, .x6 = kernel }), 0);
	CHECK_EQ(arm64_resolve_kernel(user, &(struct arm64_regs){ 0 }), 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int got = direction(cases[i].word);

		if (got != cases[i].want)
			fprintf(stderr, "%s: %d, want %d\n", cases[i].text, got, cases[i].want);
		CHECK_EQ(got, cases[i].want);
	}
	check_copies();
	check_kernel();
	return mt_test_done();
}
