// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/suspect.c
/* From MEMTRACE_ZOOM to the addresses that are looked at. */
#include "harness.h"
#include "preload/ground/context.h"
#include "preload/context/ctx.h"

static uint64_t got[2000][2];

static size_t now(void)
{
	uint64_t left_out;

	return ctx_suspects(got, 2000, &left_out);
}

static int has(uint64_t start, uint64_t end)
{
	for (size_t i = 0, n = now(); i < n; i++)
		if (got[i][0] == start && got[i][1] == end)
			return 1;
	return 0;
}

int main(void)
{
	const uintptr_t stack[] = { 0x7000100, 0x5000200, 0x5000300 }, longer[] = { 0x7000100, 0x5000200, 0x5000300, 0x9999 };
	const uintptr_t other[] = { 0x7000100, 0x5000208, 0x5000300 }, shorter[] = { 0x7000100, 0x5000200 };
	uint64_t version, left_out;

	CHECK(!ctx_suspecting);
	ctx_suspect_init(NULL);
	ctx_suspect_init("");
	CHECK(!ctx_suspecting);
	CHECK_EQ(now(), 0);
	ctx_suspect_init("range 1000 1040\nrange 5 5\nstatic 4040 80 /opt/a program/app\nstatic 10 8 /lib/libx.so\nstatic 20 8 /lib/libx.s\nnonsense\nsite\n"
			 "frame 100 /lib/libx.so\nframe 200 /opt/a program/app\nframe 300 /opt/a program/app\n");
	CHECK(ctx_suspecting);
	CHECK_EQ(now(), 1);
	CHECK(has(0x1000, 0x1040));

	/* objects come and go */
	version = ctx_suspects_version();
	ctx_suspect_object("/opt/a program/ap", 0x5000000, 0x5000000, 0x5100000);
	CHECK_EQ(now(), 1);
	ctx_suspect_object("/opt/a program/app", 0x5000000, 0x5000000, 0x5100000);
	CHECK_EQ(now(), 2);
	CHECK(has(0x5004040, 0x50040c0));
	CHECK(ctx_suspects_version() != version);
	ctx_suspect_object("/lib/libx.so", 0x7000000, 0x7000000, 0x7100000);
	CHECK(has(0x7000010, 0x7000018));
	CHECK(!has(0x7000020, 0x7000028));	/* of a file whose path is the begin of this one's */
	version = ctx_suspects_version();
	ctx_suspect_object_gone(0x7000001);
	CHECK_EQ(ctx_suspects_version(), version);
	CHECK_EQ(now(), 3);

	/* blocks by their call stack */
	ctx_suspect_stack(4, stack, 3);
	ctx_suspect_stack(5, other, 3);
	ctx_suspect_stack(0, longer, 4);
	ctx_suspect_stack(7, shorter, 2);
	ctx_suspect_born(5, 0x20000, 0x100);
	ctx_suspect_born(-1, 0x20000, 0x100);
	CHECK_EQ(now(), 3);
	ctx_suspect_born(4, 0x20000, 0x100);
	CHECK(has(0x20000, 0x20100));
	ctx_suspect_born(0, 0x30000, 0x200);
	CHECK(has(0x30000, 0x30200));
	ctx_suspect_born(7, 0x40000, 0x200);
	CHECK(has(0x40000, 0x40200));
	ctx_suspect_born(4, 0x20000, 0x180);	/* again, and its end was not seen */
	CHECK(!has(0x20000, 0x20100) && has(0x20000, 0x20180));
	CHECK_EQ(now(), 6);
	ctx_suspect_gone(0x20008, 1);
	ctx_suspect_gone(0x1fff0, 0x10);
	CHECK_EQ(now(), 6);
	ctx_suspect_gone(0x20000, 1);
	CHECK_EQ(now(), 5);
	ctx_suspect_moved(0x30000, 0x200, 0x60000, 0x400);
	CHECK(!has(0x30000, 0x30200) && has(0x60000, 0x60400));
	ctx_suspect_moved(0x30000, 0x200, 0x70000, 0x400);
	CHECK_EQ(now(), 5);
	ctx_suspect_gone(0x3f000, 0x30000);	/* an unmapping of many pages */
	CHECK_EQ(now(), 3);

	/* the object is gone: its static data are, and its call stacks are no longer known */
	ctx_suspect_object_gone(0x7000000);
	CHECK_EQ(now(), 2);
	ctx_suspect_stack(9, stack, 3);
	ctx_suspect_born(9, 0x20000, 0x100);
	CHECK_EQ(now(), 2);

	/* more than there is room for are counted */
	for (uintptr_t i = 0; i < 1500; i++)
		ctx_suspect_born(4, 0x100000 + i * 0x1000, 0x10);
	CHECK_EQ(ctx_suspects(got, 2000, &left_out), 1024);
	CHECK_EQ(left_out, 1500 - 1022);
	CHECK_EQ(ctx_suspects(got, 10, &left_out), 10);
	CHECK_EQ(left_out, 1500 - 1022 + 1014);
	ctx_suspect_gone(0x100000, 1500 * 0x1000);
	CHECK_EQ(now(), 2);
	return mt_test_done();
}
