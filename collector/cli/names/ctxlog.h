/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * ctxlog.h - context.log replayed: what was alive when.
 * The lines are described in preload/context/README.md.
 */
#ifndef MEMTRACE_CLI_CTXLOG_H
#define MEMTRACE_CLI_CTXLOG_H

#include "cli/names/context.h"
#include "common/tracenames.h"

extern const char *const mt_kind_name[MT_N_KINDS];

/*
 * Replays the log of image directory `dir` inside trace directory `trace`,
 * after the logs of the images it was forked from. 0 or a negative errno
 * (-ENOENT: no log; the context is then empty and valid).
 */
int mt_context_read(struct mt_context *c, const char *trace, const char *dir);
void mt_context_free(struct mt_context *c);
/* Gives back what mt_context_read keeps for the next child of the same parent. */
void mt_context_forget(void);
/* Index of a new, zeroed structure. */
size_t mt_context_add(struct mt_context *c);
/* The same for a heap with small blocks in [start, end), to the end of its last page. */
size_t mt_context_add_heap(struct mt_context *c, uint64_t start, uint64_t end, int64_t birth);

#endif
