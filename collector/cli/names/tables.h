/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* tables.h - the finished tables of an image: structures, stacks, threads, code. docs/reference/trace-files.md has their columns. */
#ifndef MEMTRACE_CLI_TABLES_H
#define MEMTRACE_CLI_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/names/context.h"
#include "cli/names/symbols.h"

/* Told on standard error when it takes long. */
struct mt_progress {
	bool on, shown;
	uint64_t begin, last;
	const char *image;
};

void mt_progress(struct mt_progress *p, const char *what, size_t done, size_t all);
void mt_progress_end(struct mt_progress *p);

/* Brings the structures into the order of their births: that of the table. */
void mt_tables_sort(struct mt_context *c);
/* threads.csv and structures.csv in a folder, without what died before @since. 0 or a negative errno. */
int mt_tables_state(struct mt_context *c, struct mt_symbols *sy, const char *dir, int64_t since);
/* All other tables of an image. 0 or a negative errno. */
int mt_tables_rest(struct mt_context *c, struct mt_symbols *sy, const char *trace, const char *image, struct mt_progress *pr);

#endif
