/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * tracedir.h - what is in a trace directory. docs/reference/trace-format.md is the law.
 */
#ifndef MEMTRACE_CLI_TRACEDIR_H
#define MEMTRACE_CLI_TRACEDIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/tracenames.h"

#define MT_FORMAT_VERSION 1

/* Names of the images, sorted by number. Free with mt_names_free. */
char **mt_trace_images(const char *trace, size_t *n);
void mt_names_free(char **names, size_t n);

/*
 * manifest.json. NULL after a message that names file and reason, also when
 * the format version is newer than ours (names both).
 */
json_t *mt_manifest_read(const char *trace);
/* Atomically. 0 or negative errno. */
int mt_manifest_write(const char *trace, const json_t *manifest);

/* Is it the folder of record --host, and the trace still on the node? What to say then, with the folder twice. */
bool mt_trace_elsewhere(const char *trace);
#define MT_ELSEWHERE "not all of it was fetched from the node that recorded it; 'memtrace record --resume %s' fetches the rest"

/* image.json or NULL (silent: an image may have been killed at birth). */
json_t *mt_image_read(const char *trace, const char *image);

/*
 * Adds to @all, words between blanks in room for @size, the words "write:NAME" of @event, each once; what has no room
 * is left out.
 */
void mt_write_errors(char *all, size_t size, const char *event);

/* Sums of an image. */
struct mt_totals {
	uint64_t intervals, faults, records, unattributed, lost_ring, lost_table, resident;
	uint64_t scan_ns, zap_ns, monitor_cpu_ns, program_cpu_ns, governor_changes;
	uint64_t accesses;		/* of the program, where they were counted */
	uint64_t late, length_ns, longest_ns;	/* late: took more than 1.5 times what was in force and what was asked for; sum of lengths */
	uint64_t lost_other[3];		/* unmapped, region, write_error */
	char write_errors[96];		/* why accesses could not be written: "write:ENOSPC write:EMFILE", in the order of the first of each */
	int64_t start, end;		/* of the intervals, -1 none */
	uint64_t torn_lines;
	uint64_t chunks, access_bytes;	/* files and their size as they are */
	uint64_t structures, threads;
	bool finished, ended;		/* finished files exist; log has an exit event */
	bool unreadable;		/* intervals.csv is there and cannot be read: the sums from it are not known */
};
void mt_image_totals(const char *trace, const char *image, uint64_t asked_ns, struct mt_totals *t);

/* The files that finish.c makes; ends with NULL. */
extern const char *const mt_finished_files[];
/* Does the image lack one of them? */
bool mt_image_unfinished(const char *trace, const char *image);

/* Is the process of this image still there? (pid and start time) */
bool mt_image_alive(const json_t *image);
/* Of one that is alive: is it only its monitor, which writes what the process left? */
bool mt_image_monitored(const json_t *image);

/* accesses-NUMBER.mtr, or .csv, plain or packed by zstd or gzip? */
bool mt_chunk_name(const char *name);

/* Compresses accesses-*.csv that no process writes any more to .csv.zst and
 * removes the originals. 0 or negative errno; *saved gets the bytes won. */
int mt_image_compress(const char *trace, const char *image, uint64_t *saved);

/*
 * Disk space put aside while a trace is recorded, so that manifest and finished
 * files can be written when the disk is full by then. Take: 0, or negative errno
 * when there is no room for a recording; a file system that cannot do it is not
 * an error. Probe: why nothing can be written now, negative errno, or 0.
 */
int mt_reserve_take(const char *trace);
int mt_reserve_probe(const char *trace);
void mt_reserve_release(const char *trace);

/* Bytes of all files below path. */
uint64_t mt_tree_bytes(const char *path);

#endif
