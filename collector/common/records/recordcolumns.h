/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * recordcolumns.h - what the writer and the reader of records have in common: columns, numbers as bytes. Little-endian on any
 * machine. docs/reference/trace-records.md is the law.
 */
#ifndef MEMTRACE_RECORDCOLUMNS_H
#define MEMTRACE_RECORDCOLUMNS_H

#include <stdint.h>
#include <string.h>

/* The columns of a plain block, in the order in which they are written. */
enum mt_column {
	COLUMN_PAGE = 1, COLUMN_COUNTS, COLUMN_READS, COLUMN_WRITES, COLUMN_SHAPE, COLUMN_READ_AT, COLUMN_WRITE_AT, COLUMN_LOW, COLUMN_FIRST,
	COLUMN_TASKS, COLUMN_TASK, COLUMN_IPS, COLUMN_IP, COLUMN_MASKS, COLUMN_MASK, COLUMN_PHYS, COLUMN_NODE, COLUMN_FLAGS, N_COLUMN_IDS
};

/* How the symbols of a column stand in it. */
enum { CODING_VARINTS, CODING_RUNS, N_CODINGS };

/* Bytes in front of a column: id, coding, and how many follow. */
#define COLUMN_HEAD 4

/* Counts of reads and writes in one symbol, each up to this one: this many or more, another column tells how many more. */
#define MOST_COUNT 10u
#define COUNT_BASE (MOST_COUNT + 1)

/* Shape: where the low 12 bits of the address are (two bits), and what is known. */
enum { LOW_READ, LOW_WRITE, LOW_COLUMN, LOW_ZERO };
#define SHAPE_LOW	3u
#define SHAPE_READ_AT	4u
#define SHAPE_WRITE_AT	8u
#define SHAPE_FIRST	16u

#define LOW_BITS 12

/* The shape that a record has where nothing is special; COLUMN_SHAPE has the difference, by exclusive or. */
static inline unsigned int usual_shape(int reads, int writes)
{
	return SHAPE_FIRST | (reads ? SHAPE_READ_AT : 0) | (writes ? SHAPE_WRITE_AT : 0) | (reads ? LOW_READ : writes ? LOW_WRITE : LOW_ZERO);
}

static inline void put_u16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static inline void put_u32(unsigned char *p, uint32_t v)
{
	put_u16(p, v);
	put_u16(p + 2, v >> 16);
}

static inline void put_u64(unsigned char *p, uint64_t v)
{
	put_u32(p, (uint32_t)v);
	put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline uint32_t get_u16(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t get_u32(const unsigned char *p)
{
	return get_u16(p) | get_u16(p + 2) << 16;
}

static inline uint64_t get_u64(const unsigned char *p)
{
	return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

/* Small numbers of either sign become small ones: 0, -1, 1, -2, 2 are 0 to 4. */
static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* The last 12 bits, mostly 0, become the first ones. */
static inline uint64_t frame_first(uint64_t v)
{
	return v >> LOW_BITS | v << (64 - LOW_BITS);
}

static inline uint64_t frame_last(uint64_t v)
{
	return v << LOW_BITS | v >> (64 - LOW_BITS);
}

#endif
