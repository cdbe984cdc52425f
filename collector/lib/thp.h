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

/* 0, or -1 when it cannot be done here. */
static inline int mt_split_huge_pages(int pid)
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

#endif
