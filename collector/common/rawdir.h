// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * rawdir.h - the numbers that are names in a directory, as in /proc/self/task and
 * /proc/self/fd, without libc.
 *
 *	struct mt_rawdir d;
 *	long tid;
 *
 *	mt_rawdir_open(&d, "/proc/self/task");
 *	while ((tid = mt_rawdir_number(&d)) >= 0)
 *		...
 */
#ifndef MEMTRACE_RAWDIR_H
#define MEMTRACE_RAWDIR_H

#include <string.h>

#include "common/rawsys.h"

struct mt_rawdir {
	long fd;		/* negative: closed, or it could not be opened */
	long n, at;
	char entries[1024];
};

/* 0 or negative errno. What could not be opened has no numbers. */
static inline int mt_rawdir_open(struct mt_rawdir *d, const char *path)
{
	d->n = d->at = 0;
	d->fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return d->fd < 0 ? (int)d->fd : 0;
}

static inline void mt_rawdir_close(struct mt_rawdir *d)
{
	if (d->fd >= 0)
		mt_sys(SYS_close, d->fd);
	d->fd = -1;
}

/* The next number; other names are passed over. -1: there is none, and the directory is closed. */
static inline long mt_rawdir_number(struct mt_rawdir *d)
{
	while (d->fd >= 0) {
		/* linux_dirent64: ino, off (8 bytes each), reclen (2), type (1), name */
		const char *name = d->entries + d->at + 19;
		uint16_t reclen;
		long number = 0;

		if (d->at >= d->n) {
			d->at = 0;
			d->n = mt_sys(SYS_getdents64, d->fd, d->entries, sizeof(d->entries));
			if (d->n <= 0)
				mt_rawdir_close(d);
			continue;
		}
		memcpy(&reclen, d->entries + d->at + 16, sizeof(reclen));
		d->at += reclen;
		if (!*name)
			continue;
		for (; *name >= '0' && *name <= '9'; name++)
			number = number * 10 + (*name - '0');
		if (!*name)
			return number;
	}
	return -1;
}

#endif
