// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * thp.h - split the huge pages of a process, before its accesses are followed
 * page by page. Needs root and debugfs.
 */
#ifndef MEMTRACE_THP_H
#define MEMTRACE_THP_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* kB of anonymous huge pages, 0 also when that is not known. */
static inline unsigned long mt_huge_kb(int pid)
{
	unsigned long kb = 0;
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "AnonHugePages: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static inline int mt_split_once(int pid)
{
	char line[4352], perms[8], text[96];
	unsigned long start, end;
	int fd = open("/sys/kernel/debug/split_huge_pages", O_WRONLY | O_CLOEXEC);
	FILE *f;

	if (fd < 0)
		return -1;
	snprintf(text, sizeof(text), "/proc/%d/maps", pid);
	f = fopen(text, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) != 3 || perms[1] != 'w' || end - start < 2ul << 20)
			continue;
		snprintf(text, sizeof(text), "%d,0x%lx,0x%lx", pid, start, end);
		/* an error of one range (it has just gone) does not matter */
		if (write(fd, text, strlen(text)) < 0)
			continue;
	}
	if (f)
		fclose(f);
	close(fd);
	return 0;
}

/*
 * 0, or -1 when it cannot be done here. One that somebody else holds at the moment is tried again, for a second at
 * most: where three threads write in them on two slow processors, 50 ms were too short.
 */
static inline int mt_split_huge_pages(int pid)
{
	for (int i = 0; i < 100; i++) {
		if (mt_split_once(pid))
			return -1;
		if (!mt_huge_kb(pid))
			break;
		usleep(10000);
	}
	return 0;
}

#endif
