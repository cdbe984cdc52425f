/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * finish.h - structures.csv, stacks.csv and threads.csv of each image, made
 * from its raw log, its objects and their debug information.
 */
#ifndef MEMTRACE_CLI_FINISH_H
#define MEMTRACE_CLI_FINISH_H

#include <stdbool.h>
#include <stdint.h>

struct mt_finish_options {
	uint64_t min_static_bytes;	/* 0: take what the manifest says, else 8 */
	bool again;			/* also images that are finished */
	bool progress;			/* on stderr when it takes long */
	/*
	 * A state of now, of a recording that may still run: structures.csv and threads.csv, in a folder of this one with
	 * the name of the image. Nothing is written to the trace and no accesses are read. NULL: the trace is finished.
	 */
	const char *into;
	int64_t since;			/* with into: only structures that lived at this time or later */
};

/* 0 or negative errno; one message on error. */
int mt_finish_image(const char *trace, const char *image, const struct mt_finish_options *o);

#endif
