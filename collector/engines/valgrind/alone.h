/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later */
/*
 * alone.h - what the tool writes of a program that has no preload library, because it is static: rows in a file of the
 * trace directory, which `memtrace record` makes an image of at its end (cli/backend/valgrind_alone.c). One file for each program
 * in a process, PREFIX and its number and ALONE_SUFFIX: heads, each with as many bytes behind it as it says.
 */
#ifndef MEMTRACE_VALGRIND_ALONE_H
#define MEMTRACE_VALGRIND_ALONE_H

#include <stdint.h>

/* Raised when anything here, struct mt_count_row or struct mt_site_row changes. */
#define ALONE_VERSION 1u
#define ALONE_SUFFIX ".rows"

enum alone_kind {
	ALONE_BEGIN,		/* the path of the program */
	ALONE_ROWS,		/* struct mt_count_row: the accesses in [start, end) */
	ALONE_MAPS,		/* mappings as in /proc/PID/maps, instead of those before */
	ALONE_SITES,		/* struct mt_site_row: instructions, until now */
};

enum { ALONE_EXIT = 1, ALONE_EXEC = 2, ALONE_FORK = 4 };

struct alone_head {
	uint32_t version, kind;
	uint64_t bytes;
	uint64_t start, end;		/* ns */
	int32_t pid, parent;		/* @parent: process */
	uint32_t marks, how_fork;	/* ALONE_EXIT ...; of ALONE_BEGIN: it is a child of fork */
	uint64_t accesses, lost;
};

#endif
