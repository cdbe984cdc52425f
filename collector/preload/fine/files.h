// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * files.h - the files of the fine clock (docs/reference/trace-fine.md). Used by the monitor.
 *
 * A bin counts only by its line in bins.csv. That is written behind everything else of the bin, and not at all when something else of it
 * could not be: then the time belongs to no bin.
 */
#ifndef MEMTRACE_FINE_FILES_H
#define MEMTRACE_FINE_FILES_H

#include "common/out.h"
#include "preload/fine/panel.h"
#include "preload/fine/strata.h"

struct fine_bin {
	uint64_t number, start_ns, away_ns, end_ns, cpu_ns, faults, lost, monitor_ns;
	int look;
};

/* What a thread did in a stratum in a bin: first accesses. */
struct fine_share {
	uint16_t stratum, user;	/* indices + 1 */
	uint32_t hit, written, armed_hit, armed_written;
	uint64_t wait_ns;
};

struct fine_files {
	struct mt_out bins, strata, panel;
	struct fine_chunks {
		struct mt_out out;
		const char *prefix, *header;
		unsigned int number;
		uint64_t begin;		/* out.bytes when the chunk began */
	} counts, threads;
	int dirfd;
	uint64_t lost_lines;		/* of all files but bins, when bins were written last */
};

/* 0 or negative errno */
int fine_files_open(struct fine_files *f, int dirfd);
void fine_files_stratum(struct fine_files *f, uint32_t id, const struct fine_stratum *s, int tid);
void fine_files_counts(struct fine_files *f, uint64_t bin, uint32_t id, const struct fine_counts *c);
void fine_files_share(struct fine_files *f, uint64_t bin, uint32_t id, int tid, const struct fine_share *s);
void fine_files_member(struct fine_files *f, const struct fine_member *m, uint64_t end_ns);
/* After all else of the bin. */
void fine_files_bin(struct fine_files *f, const struct fine_bin *b);
/* What is buffered goes to the files, and a full chunk is followed by the next one. */
void fine_files_flush(struct fine_files *f);
/* fork: in the child, whose descriptors are others. */
void fine_files_free(struct fine_files *f);

#endif
