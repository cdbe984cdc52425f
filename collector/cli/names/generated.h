/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* generated.h - names of code that a program made at run time, from a map as perf reads it. */
#ifndef MEMTRACE_CLI_GENERATED_H
#define MEMTRACE_CLI_GENERATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/names/context.h"

struct mt_generated_code {
	uint64_t start, end;
	size_t line;		/* of two at one place the later one holds */
	struct mt_frames frames;
	struct mt_frame frame;
};

/* All zero is empty. */
struct mt_generated {
	struct mt_generated_code *g;	/* sorted by start */
	uint64_t *reach;	/* the greatest end of g[0 .. i] */
	size_t n;
};

/* Lines "START SIZE NAME", hexadecimal, take the place of what was there. False: not readable. */
bool mt_generated_read(struct mt_generated *g, const char *path);
/* The code at an address; NULL: none. */
const struct mt_frames *mt_generated_at(const struct mt_generated *g, uint64_t addr);
void mt_generated_free(struct mt_generated *g);

#endif
