/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* io_tracefs.h - the two instances of tracefs of record --io; see io.h. One thread at a time, but for the drain. */
#ifndef MEMTRACE_CLI_IO_TRACEFS_H
#define MEMTRACE_CLI_IO_TRACEFS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_io_tracefs;

/* NULL with *why, to be freed: tracefs cannot be used. @folder: where formats and pages go; NULL: only try it. As root. */
struct mt_io_tracefs *mt_io_tracefs_open(const char *folder, uint64_t buffer_bytes, bool user, char **why);
/* Follows @pid and what it starts. 0 or a negative errno. As root. */
int mt_io_tracefs_follow(struct mt_io_tracefs *t, pid_t pid);
/* Writes what the buffers have. Bytes that were read. */
uint64_t mt_io_tracefs_drain(struct mt_io_tracefs *t);
/* No more events. As root. */
void mt_io_tracefs_stop(struct mt_io_tracefs *t);
/* Adds what there was, and what was lost, to @o: "buffers", "missing", "user"; the number of lost events. As root. */
uint64_t mt_io_tracefs_describe(struct mt_io_tracefs *t, json_t *o);
/* Removes the instances. As root. */
void mt_io_tracefs_close(struct mt_io_tracefs *t);

#endif
