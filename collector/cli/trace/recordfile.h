/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* recordfile.h - chunks of records (accesses-NNNNNN.mtr, docs/reference/trace-records.md): read, packed, written as text. */
#ifndef MEMTRACE_CLI_RECORDFILE_H
#define MEMTRACE_CLI_RECORDFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/records/recordblock.h"

struct mt_recordfile_counts {
	uint64_t records;	/* read */
	uint64_t lost;		/* in damaged blocks, as far as whole ones tell */
	uint64_t damaged;	/* bytes in the middle that are no whole block */
	uint64_t cut;		/* bytes at the end of a block that is not whole */
	uint64_t damaged_at;	/* offset of the first of the former */
};

/*
 * Calls fn for each plain block, also of those in packed ones, in their order until it returns false. What is damaged is passed over
 * and counted, and told with its offset. 0, or a negative errno after a message that names the file.
 */
typedef bool (*mt_recordfile_fn)(void *arg, const struct mt_records_head *h, const struct mt_records_block *b);
int mt_recordfile_read(const char *path, mt_recordfile_fn fn, void *arg, struct mt_recordfile_counts *k);

/*
 * Packs the plain blocks of a chunk that nobody writes any more; the file is replaced when it is complete. A damaged one stays as it is.
 * @saved: so many bytes less are added. 0 or negative errno.
 */
int mt_recordfile_pack(const char *path, int level, uint64_t *saved);

/* Start of the last block of a chunk, INT64_MAX: unknown. */
int64_t mt_recordfile_last_start(const char *path);

/* Writes the records of a chunk to @text, which is made, as accesses-NNNNNN.csv has them. 0 or a negative errno, after a message. */
int mt_recordfile_text(const char *path, const char *text);

#endif
