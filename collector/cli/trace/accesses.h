/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* accesses.h - the chunks of an image, read one record after the other. */
#ifndef MEMTRACE_CLI_ACCESSES_H
#define MEMTRACE_CLI_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_access {
	uint64_t virt, phys, reads, writes, ip;
	char cpus[64];		/* hexadecimal, as in the file, cut to 63 digits */
	int64_t start, end, tid;
	int node;		/* -1 unknown */
	unsigned int flags;
	int read_at, write_at;	/* offsets in the page of the first read and write, -1 none or unknown, -2 the file does not tell them */
	int64_t first;		/* ns from start to the first access, -1 unknown */
};

struct mt_access_counts {
	uint64_t records, torn, bad;	/* read; lines without LF; lines not understood */
};

/*
 * Calls fn for each record of all chunks (plain, .zst or .gz) in their order until
 * fn returns false. 0 or a negative errno after a message that names the file.
 */
typedef bool (*mt_access_fn)(void *arg, const struct mt_access *a);
int mt_accesses_read(const char *trace, const char *image, mt_access_fn fn, void *arg,
		     struct mt_access_counts *counts);

/* Paths of the chunks in their order; to be freed each, and the array. */
char **mt_access_chunks(const char *trace, const char *image, size_t *n);
/* The same for one of them; adds to *counts. */
int mt_access_chunk_read(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *counts);

#endif
