/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * io.h - what a program reads and writes, level by level, beside the recording of its memory (record --io).
 *
 * With tracefs: two private instances. "calls" follows the program and what it starts: functions of the C library
 * (uprobes), system calls, page cache, file system. "block" follows the machine: requests to devices, and which
 * blocks belong to which file, because other threads of the kernel write what the program has left in the page
 * cache. The pages of the ring buffers are written as they are, with the formats of the events; org.memtrace.importer
 * reads them. Without tracefs: /proc/PID/io at intervals.
 */
#ifndef MEMTRACE_CLI_IO_H
#define MEMTRACE_CLI_IO_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_io;

struct mt_io_request {
	const char *trace;	/* trace directory; the folder io is made in it */
	uint64_t interval_ns;	/* between two looks at /proc/PID/io */
	uint64_t buffer_bytes;	/* of the calls, for each CPU */
	bool user;		/* functions of the C library as well */
};

enum mt_io_source { MT_IO_NOTHING, MT_IO_PROC, MT_IO_TRACEFS };

/* What would be recorded here, and why not more; *why is to be freed. Tries it, and undoes it. */
enum mt_io_source mt_io_probe(char **why);

/* Makes the folder and what is needed of the kernel. NULL: the folder cannot be written, with errno. */
struct mt_io *mt_io_open(const struct mt_io_request *r);
/* A process that has not begun yet; from now on it is followed. 0 or a negative errno: no thread for it. */
int mt_io_attach(struct mt_io *io, pid_t pid);
/* The process of mt_io_attach has ended and was not waited for yet: its last counters. */
void mt_io_ended(struct mt_io *io);
/* What is still in the buffers; takes everything back. For the manifest: source, sentence, events, losses. Frees @io. */
json_t *mt_io_finish(struct mt_io *io);

#endif
