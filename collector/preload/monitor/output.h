// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* output.h - the records of an interval into the files of the image. Used by the monitor thread. */
#ifndef MEMTRACE_OUTPUT_H
#define MEMTRACE_OUTPUT_H

#include <stdint.h>

#include "preload/faults/records.h"
#include "preload/memory/scan.h"
#include "common/tracefile.h"

struct zap_output {
	struct mt_tracefile file;
	char *abuf, *ibuf;
	void (*between)(void *arg);	/* called now and then while records are written, NULL: nothing is */
	void *between_arg;
	int on;			/* this process writes the files; under kmod the launcher does */
};

/* Makes the files in @dirfd, those of accesses too if @accesses. 0 or -ENOMEM; a disk that refuses is counted later. */
int zap_output_open(struct zap_output *o, int dirfd, int accesses);
/* Writes all records of the interval [start, end), with what the scan knows of their pages. */
void zap_output_records(struct zap_output *o, const struct zap_records *records, const struct zap_scan *scan,
			uint64_t start, uint64_t end);
/* Writes the line of the interval. */
void zap_output_interval(struct zap_output *o, const struct mt_interval_row *row);
void zap_output_after_fork(struct zap_output *o);

#endif
