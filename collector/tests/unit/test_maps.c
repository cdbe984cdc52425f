// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/maps.c common/rawmem.c
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "common/maps.h"

static const char text[] =
	"55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 12345                      /usr/bin/a name with blanks\n"
	"not a line of maps\n"
	"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
	"7f0000000000-7f0000001000 rwxs 7f0000000000 00:01 99 \n"
	"7f0000001000-7f0000002000 ---p 00000000 00:00 0\n"
	"cut off";

/* What the kernel says of one mapping is what its list says. Before Linux 6.11 there is only the list. */
static void one_mapping(struct mt_maps *m)
{
	struct mt_map map, one;
	int known = 0, same = 0;

	CHECK_EQ(mt_maps_read_self(m), 0);
	while (mt_maps_next(m, &map)) {
		const int there = mt_map_at(map.end - 1, &one);

		if (there == -ENOTTY || map.path[0] == '[')	/* the stack grows, and [vsyscall] is none */
			continue;
		known++;
		same += there == 1 && one.start == map.start && one.end == map.end && one.prot == map.prot && one.shared == map.shared &&
			one.offset == map.offset && one.ino == map.ino && one.major == map.major && one.minor == map.minor;
	}
	CHECK_EQ(same, known);
	CHECK_EQ(mt_map_at(4096, &one), known ? 0 : -ENOTTY);
}

int main(void)
{
	char path[] = "/tmp/mt_maps_XXXXXX";
	struct mt_maps m = { 0 };
	struct mt_map map;
	int fd = mkstemp(path), lines = 0, found = 0;

	unlink(path);
	CHECK_EQ(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	CHECK_EQ(mt_maps_read(&m, fd), 0);
	CHECK_EQ(mt_maps_next(&m, &map), 1);
	CHECK(map.start == 0x55d0c0a00000 && map.end == 0x55d0c0a02000);
	CHECK(map.prot == PROT_READ && !map.shared && map.major == 0xfe && map.minor == 1 && map.ino == 12345);
	CHECK_STR(map.path, "/usr/bin/a name with blanks");
	CHECK_EQ(mt_maps_next(&m, &map), 1);
	CHECK_STR(map.path, "[stack]");
	CHECK_EQ(mt_maps_next(&m, &map), 1);
	CHECK(map.shared && map.offset == 0x7f0000000000 && map.ino == 99);
	CHECK_EQ(map.prot, PROT_READ | PROT_WRITE | PROT_EXEC);
	CHECK_EQ(mt_maps_next(&m, &map), 1);
	CHECK(map.prot == PROT_NONE && map.path_len == 0);
	CHECK_EQ(mt_maps_next(&m, &map), 0);
	mt_maps_rewind(&m);
	CHECK_EQ(mt_maps_next(&m, &map), 1);
	close(fd);

	/* many mappings: the buffer grows, and our own variable is in one of them */
	for (int i = 0; i < 6000; i++)
		mprotect(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_NONE);
	CHECK_EQ(mt_maps_read_self(&m), 0);
	while (mt_maps_next(&m, &map)) {
		lines++;
		if ((uintptr_t)&lines >= map.start && (uintptr_t)&lines < map.end)
			found++;
	}
	CHECK(lines > 6000);
	CHECK_EQ(found, 1);
	one_mapping(&m);
	mt_maps_free(&m);
	return mt_test_done();
}
