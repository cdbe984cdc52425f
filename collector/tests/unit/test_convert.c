// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/late.c preload/memory/space.c preload/memory/gone.c preload/memory/objects.c preload/memory/adopt.c preload/memory/contents.c preload/memory/kept.c preload/memory/ranges.c common/maps.c common/rawmem.c common/faultprobe.c common/out.c preload/memory/rwp.c common/rwprotect.c
// includes: preload/memory/convert.c
/* Which of the memory that a program has already is converted: its data, its stack, and the data of libraries that come late. */
#include "harness.h"

#include <stdlib.h>

#include "preload/ground/image.h"
#include "preload/memory/convert.c"

int mt_fd_keep(int fd)
{
	return fd;
}

void mt_fd_close(int fd)
{
	(void)fd;
}

static struct mt_map mapping(const char *path, int prot, int shared)
{
	struct mt_map m = { .start = 0x1000, .end = 0x2000, .prot = prot, .shared = shared, .path_len = strlen(path) };

	strcpy(m.path, path);
	return m;
}

static int data(const char *path, int prot, int shared)
{
	const struct mt_map m = mapping(path, prot, shared);

	return is_data(&m, "/lib/ours.so");
}

static void data_of_the_program(void)
{
	const int rw = PROT_READ | PROT_WRITE;

	CHECK(data("", rw, 0));
	CHECK(data("[heap]", rw, 0));
	CHECK(data("[anon:arena]", rw, 0));
	CHECK(data("/bin/program", rw, 0));
	CHECK(!data("/lib/ours.so", rw, 0));
	CHECK(!data("[stack]", rw, 0));		/* is converted by itself */
	CHECK(!data("[vvar]", rw, 0));
	CHECK(!data("", PROT_READ, 0));
	CHECK(!data("", PROT_WRITE, 0));
	CHECK(!data("", rw, 1));
}

/* Data of a library that was loaded late follows its code, and its .bss follows the data. */
static void data_of_late_libraries(void)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct zap_late_walk w = { .own_ino = 99 };
	struct mt_map code = mapping("/lib/late.so", PROT_READ | PROT_EXEC, 0), d = mapping("/lib/late.so", rw, 0),
		      bss = mapping("", rw, 0);

	code.ino = d.ino = 5;
	code.major = d.major = 8;
	code.minor = d.minor = 1;
	d.start = 0x3000;
	d.end = 0x5000;
	bss.start = 0x5000;
	bss.end = 0x6000;
	CHECK(!zap_is_late_data(&w, &d));	/* its code was not seen: a file that somebody maps */
	CHECK(!zap_is_late_data(&w, &bss));
	CHECK(!zap_is_late_data(&w, &code));
	CHECK(zap_is_late_data(&w, &d));
	CHECK(zap_is_late_data(&w, &bss));
	bss.start = 0x7000;
	bss.end = 0x8000;
	CHECK(!zap_is_late_data(&w, &bss));	/* a gap: other memory */
	d.minor = 2;
	CHECK(!zap_is_late_data(&w, &d));	/* the same number on another disk */
	d.minor = 1;
	d.major = 9;
	CHECK(!zap_is_late_data(&w, &d));
	d.major = 8;
	d.ino = 6;
	CHECK(!zap_is_late_data(&w, &d));
	d.ino = 5;
	d.prot = PROT_READ;
	CHECK(!zap_is_late_data(&w, &d));
	d.prot = rw;
	d.shared = 1;
	CHECK(!zap_is_late_data(&w, &d));
	d.shared = 0;
	CHECK(zap_is_late_data(&w, &d));
	bss.start = d.end;
	strcpy(bss.path, "[heap]");
	bss.path_len = 6;
	CHECK(!zap_is_late_data(&w, &bss));
	code.ino = d.ino = 99;		/* the recorder's library */
	CHECK(!zap_is_late_data(&w, &code));
	CHECK(!zap_is_late_data(&w, &d));
}

/* The main stack is overlaid from the limit of its size, but never over what is below it. */
static void place_of_the_main_stack(void)
{
	struct mt_map m = mapping("[stack]", PROT_READ | PROT_WRITE, 0);
	struct piece p;
	struct rlimit rl;

	getrlimit(RLIMIT_STACK, &rl);
	rl.rlim_cur = 1 << 20;
	CHECK_EQ(setrlimit(RLIMIT_STACK, &rl), 0);
	m.start = 0x7f0000000000 - 0x21000;
	m.end = 0x7f0000000000;
	stack_piece(&p, &m, 0x600000000000, 0);
	CHECK_EQ(p.end, m.end);
	CHECK_EQ(p.start, m.end - (1 << 20));
	CHECK_EQ(p.data_start, m.start);
	CHECK_EQ(p.anonymous, 1);
	/* up to an address within it */
	stack_piece(&p, &m, 0x600000000000, m.end - 0x1234);
	CHECK_EQ(p.end, m.end - 0x2000);
	stack_piece(&p, &m, 0x600000000000, m.start);
	CHECK_EQ(p.end, m.end);
	stack_piece(&p, &m, 0x600000000000, m.end);
	CHECK_EQ(p.end, m.end);
	/* a mapping below: the gap that the kernel keeps stays free */
	rl.rlim_cur = 8 << 20;
	CHECK_EQ(setrlimit(RLIMIT_STACK, &rl), 0);
	stack_piece(&p, &m, m.end - (4 << 20), 0);
	CHECK_EQ(p.start, m.end - (4 << 20) + 257 * MT_PAGE);
	stack_piece(&p, &m, m.start - 0x2000, 0);
	CHECK_EQ(p.start, m.start);
	/* what is used already is larger than the limit */
	m.start = m.end - (9 << 20);
	stack_piece(&p, &m, 0x600000000000, 0);
	CHECK_EQ(p.start, m.start);
}

int main(void)
{
	data_of_the_program();
	data_of_late_libraries();
	place_of_the_main_stack();
	return mt_test_done();
}
