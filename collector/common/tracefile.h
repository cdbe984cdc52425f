// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * tracefile.h - writes accesses-NNNNNN.csv and intervals.csv of a process image, for
 * every backend. docs/reference/trace-format.md is the law; the columns stand here and nowhere else.
 *
 * No stdio, no malloc, no locale, no errno: it runs on the monitor thread in the traced
 * program as well as in the launcher. One thread uses a trace file at a time; the caller
 * owns the memory of the buffers.
 *
 *	open -> for each interval: interval_begin, access ..., accesses_end,
 *	interval_end -> close
 *
 * What cannot be written is counted (LostWrite of the next line that can, with the reason in Event), never waited for.
 */
#ifndef MEMTRACE_TRACEFILE_H
#define MEMTRACE_TRACEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/out.h"
#include "common/records/recordblock.h"

/* The names of the columns in the order in which they are written. */
extern const char *const mt_access_columns[];
extern const char *const mt_interval_columns[];
extern const size_t mt_n_access_columns, mt_n_interval_columns;

/* Why the length of intervals changed after an interval. */
enum mt_stretch { MT_STRETCH_NONE, MT_STRETCH_LONGER, MT_STRETCH_SHORTER };

/* Marks in the column Event, a bit each. */
#define MT_MARK_FORK	1u
#define MT_MARK_EXIT	2u
#define MT_MARK_STOP	4u		/* tracing of accesses ends, the program goes on */
#define MT_MARK_EXEC	8u
#define MT_MARK_KILLED	16u		/* the process ended without telling */

/* One line of intervals.csv; times and CPU times in ns. LostWrite is added by the writer. */
struct mt_interval_row {
	uint64_t interval, start, end, target;
	uint64_t closed;		/* when all pages had been closed; 0: with end */
	unsigned int subphases;
	uint64_t faults, records, unattributed;
	uint64_t lost_ring, lost_table, lost_region;	/* accesses, accesses, pages */
	uint64_t resident;				/* bytes */
	/* bytes of the program's memory that the backend cannot see: shared; private copies of pages of files */
	uint64_t unseen_shared, unseen_file;
	uint64_t accesses;				/* of the program, by backends that count them */
	uint64_t scan_ns, zap_ns, monitor_cpu_ns, program_cpu_ns;
	enum mt_stretch stretch;
	unsigned int marks;				/* MT_MARK_* */
};

/* An address without its last five digits, as text: those of one program differ little. */
struct mt_address_text {
	uint64_t high;			/* address >> 20; 0: nothing */
	char text[16];
	size_t len;
};

struct mt_tracefile {
	struct mt_out accesses, intervals;
	int dirfd;			/* of the image; not owned */
	unsigned int chunk;		/* number of the chunk that is open, or is to be opened */
	uint64_t chunk_begin;		/* accesses.bytes when it began */
	uint64_t lost_told;		/* accesses.lost_lines that stand in a written line */
	char middle[64];		/* ",0,0,0,0", ",Start,End," of the running interval, and "TaskId," of the last record in it */
	size_t times_len, task_len;	/* up to and with the second part; all of it, or 0 */
	int32_t tid;			/* in the last part */
	struct mt_address_text virt, ip;
	uint64_t start, end;		/* of the running interval */
};

/* Room that a buffer of accesses needs at least: several of the longest lines. */
#define MT_TRACEFILE_BUFFER_MIN 16384u

/*
 * Makes intervals.csv with its header in the directory @dirfd; the files must not exist.
 * Accesses begin with mt_tracefile_accesses(). @abuf may be NULL when there will be none.
 * 0, or the negative errno of creating the file; everything is then dropped and counted.
 */
int mt_tracefile_open(struct mt_tracefile *t, int dirfd, char *abuf, size_t acap, char *ibuf, size_t icap);
/* Opens the first chunk and writes its header to the disk. 0 or negative errno. */
int mt_tracefile_accesses(struct mt_tracefile *t);
/* Writes what is buffered and closes the files. The buffers are the caller's again. */
void mt_tracefile_close(struct mt_tracefile *t);

/* [start, end) of the records that follow. */
void mt_tracefile_interval_begin(struct mt_tracefile *t, uint64_t start, uint64_t end);
void mt_tracefile_access(struct mt_tracefile *t, const struct mt_access_row *a);
/*
 * A moment to change to the next chunk: when this one is full, or could not be made. A full one goes on where the next
 * one cannot be made. 0 or the negative errno of making it where there is none, and accesses are lost.
 */
int mt_tracefile_turn(struct mt_tracefile *t);
/* Writes the accesses, and then the line. Returns the accesses that were lost by writing since the last line. */
uint64_t mt_tracefile_interval_end(struct mt_tracefile *t, const struct mt_interval_row *r);

#endif
