// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * recordblock.h - records of accesses as blocks of bytes, written and read. docs/reference/trace-records.md says every byte.
 *
 * No stdio, no malloc, no locale, no errno: the writer runs on the monitor thread in the traced program as well as in the
 * launcher. One thread uses a writer or a reader at a time; the caller owns all memory. Packed blocks are made and opened by
 * cli/trace/recordfile.c, which has zstd.
 */
#ifndef MEMTRACE_RECORDBLOCK_H
#define MEMTRACE_RECORDBLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Flags of a record */
#define MT_ACCESS_FROM_SCAN	1	/* found in the page table, no fault event */
#define MT_ACCESS_NO_DIRECTION	2	/* read or write is not known, counted as a read */
#define MT_ACCESS_SHARED	4	/* the page is not private to this image */
#define MT_ACCESS_AROUND	8	/* perhaps not touched: mapped around another page that was read */

/* One record: the accesses of one thread to one page in one interval. */
struct mt_access_row {
	uint64_t virt;			/* address of the first access, bytes */
	uint64_t phys;			/* physical address of the page, 0 unknown */
	uint64_t nreads, nwrites;	/* not 0 in both */
	uint64_t ip;			/* 0 unknown */
	const uint64_t *cpus;		/* mask: CPU i is bit i % 64 of word i / 64 */
	int cpu_words;			/* >= 1 */
	int32_t tid;			/* -1 not attributed */
	int node;			/* -1 unknown */
	unsigned int flags;		/* MT_ACCESS_* */
	uint64_t first_ns;		/* when the first access was, 0 unknown */
	int read_at, write_at;		/* offset in the page of the first read and the first write, < 0: none, unknown */
};

#define MT_RECORDS_MAGIC	0x52544d89u	/* the bytes 89 'M' 'T' 'R' */
#define MT_RECORDS_VERSION	1
#define MT_RECORDS_HEAD		48u		/* bytes of a head */
#define MT_RECORDS_MOST		4096u		/* records of a plain block */
#define MT_RECORDS_WORDS	4096u		/* words of all masks of a plain block together */
#define MT_RECORDS_BYTES	(1u << 20)	/* of a plain block, and of the content of a packed one */

enum mt_records_kind { MT_RECORDS_PLAIN = 0, MT_RECORDS_PACKED = 1 };

/* The head of a block. */
struct mt_records_head {
	unsigned int version, kind;
	uint32_t bytes;			/* behind the head */
	uint32_t records;
	uint64_t start, end;		/* ns; of a packed block the smallest Start and the largest End in it */
	uint64_t before;		/* records of the chunk before this block */
	uint32_t crc;			/* of the bytes behind the head */
};

/* CRC32C, goes on from the value of what came before; 0 at first. */
uint32_t mt_crc32c(uint32_t crc, const void *p, size_t n);

/* Writes MT_RECORDS_HEAD bytes. */
void mt_records_put_head(unsigned char *p, const struct mt_records_head *h);
/* Reads as many; 0, or -1: this is no head, or a damaged one. */
int mt_records_get_head(const unsigned char *p, struct mt_records_head *h);

/* --- writing --- */

struct mt_records_row;

struct mt_records_writer {
	struct mt_records_row *row;
	uint64_t *symbol, *word;
	uint32_t *slot;
	unsigned char *block;
	uint32_t cap, n, words, word_cap, slots, masks;
	uint64_t start, end;		/* of the records that are kept */
	uint64_t before;		/* records that were taken since the chunk began */
	struct {
		uint32_t at, number;	/* of the first of its words, 0 none; of the mask */
	} recent[64];
};

/* Room that a writer needs at least: for some records, and masks of 16,384 CPUs. */
#define MT_RECORDS_ROOM_MIN 32768u

/* Takes @size bytes, aligned to 8, for as many records as fit, at most MT_RECORDS_MOST. */
void mt_records_init(struct mt_records_writer *w, void *room, size_t size);
/* The interval of the records that follow; nothing is kept then. */
void mt_records_begin(struct mt_records_writer *w, uint64_t start, uint64_t end);
/* Keeps a record. 0: there is no room for it, what is kept has to be taken first. */
int mt_records_add(struct mt_records_writer *w, const struct mt_access_row *a);
/* Makes a block of what is kept, with its head, in the writer's memory; its bytes, 0: nothing was kept. */
size_t mt_records_take(struct mt_records_writer *w);

/* --- reading --- */

/* The records of a plain block; some 400 KiB. */
struct mt_records_block {
	uint32_t n;
	struct mt_access_row row[MT_RECORDS_MOST];	/* their masks are in word */
	uint64_t word[MT_RECORDS_WORDS];
	uint64_t entry[MT_RECORDS_MOST];
	uint32_t mask_at[MT_RECORDS_MOST];
};

/*
 * Reads the bytes behind the head @h of a plain block, whose checksum is right. 0, or -1: they are not what the norm says, and
 * nothing of the block can be used. first_ns is 0 where it is not known, else not 0: that of an access at time 0 is 1.
 */
int mt_records_read(const struct mt_records_head *h, const unsigned char *p, struct mt_records_block *b);

#endif
