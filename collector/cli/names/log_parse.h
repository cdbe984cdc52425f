/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * log_parse.h - the lines of context.log of an image as events. docs/reference/trace-format.md has the lines.
 */
#ifndef MEMTRACE_CLI_LOG_PARSE_H
#define MEMTRACE_CLI_LOG_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/names/context.h"

/* A line; what a, b, c and d are depends on its kind. */
struct mt_log_event {
	char kind, how;
	int64_t time;
	int64_t tid, parent, stack;
	uint64_t a, b, c, d;
	char *str;
	bool segment;		/* of a shared mapping */
	uint64_t seg[3];	/* device, inode, offset */
};

/* One log, sorted by time; lines of one time in the order of the file. */
struct mt_log {
	struct mt_log_event *ev;
	size_t n;
	int64_t fork_time;	/* -1: not a child of fork */
	int64_t parent;
};

/*
 * Reads the log of an image; its stacks and the size of pages go into @c, and the number of lines that are not understood. 0 or
 * negative errno, after a message if the log is of a newer version. Free with mt_log_free.
 */
int mt_log_read(struct mt_log *l, struct mt_context *c, const char *trace, const char *dir);
void mt_log_free(struct mt_log *l);
/* Stack @id of an image, of @n addresses that are copied; one that is known stays. */
void mt_log_set_stack(struct mt_context *c, size_t id, const uint64_t *ip, int n);

#endif
