// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * columns.h - records that a thread makes of its accesses, and how they become counts.
 *
 * A basic block that accesses memory writes one record each time that it runs: the number of its site in the low half of
 * the first word, then a word for each column. What is known when the block is translated stands in the site, once:
 * accesses at fixed addresses, and for each column the accesses at fixed distances from its word. So a block that
 * accesses a[i], a[i + 1] and pushes three registers writes two words, and a loop is counted column by column.
 *
 * Without DynamoRIO, so that it is tested alone.
 */
#ifndef MEMTRACE_COLUMNS_H
#define MEMTRACE_COLUMNS_H

#include "count/count.h"

#define MT_BLOCK_SITE_ITEMS 160u		/* accesses of a block at most */
#define MT_BLOCK_SITE_COLUMNS 96u
#define MT_BLOCK_SITE_UNIT 16u		/* bytes of one access at most */

/* One access, relative to the word of its column; without column, at an address. */
struct mt_block_site_item {
	int64_t off;
	uint32_t bytes;
	uint16_t write;
	uint16_t at;			/* instruction, as distance in bytes from the begin of the block */
};

/* Accesses at fixed distances from a word of the record. Or the two words of a string instruction. */
struct mt_block_site_column {
	uint32_t word;			/* of the record */
	uint32_t item, items;
	uint32_t string;		/* pointer before and after; the item says how wide an element is */
	/* the distances between which accesses begin (wide ones: and end), and what is counted if that is in one page */
	int32_t low, high;
	uint32_t n[2];
	int32_t first[2];		/* distance of the first read and the first write */
};

struct mt_block_site {
	uint64_t start, last;		/* addresses of the first and the last instruction */
	uint32_t bytes;			/* of this, with all that follows */
	uint32_t words;			/* of a record */
	uint32_t columns, fixed, items;
	uint32_t pad;
	/* columns, then items: those of the columns, in their order, then fixed ones */
	struct mt_block_site_column column[];
};

static inline const struct mt_block_site_item *mt_block_site_items(const struct mt_block_site *s)
{
	return (const struct mt_block_site_item *)(s->column + s->columns);
}

/* Counts of one access of any width. */
void mt_block_site_count_item(struct mt_count_thread *t, const struct mt_block_site_item *i, uint64_t word, uint64_t n);
/* Fills what mt_block_site_drain() uses of a column: low, high, n, first. @item: the first one of the column. */
void mt_block_site_finish_column(struct mt_block_site_column *c, const struct mt_block_site_item *item);
/* Counts records. On the owner of the counters, or for it. */
void mt_block_site_drain(struct mt_count_thread *t, const struct mt_block_site *const *sites, const uint64_t *from, const uint64_t *to);
/* Counts what a record holds of the instructions before @ip, which was not executed to its end. */
void mt_block_site_drain_part(struct mt_count_thread *t, const struct mt_block_site *s, const uint64_t *record, uint64_t ip);

#endif
