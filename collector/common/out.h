// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * out.h - a buffered writer over raw write(2) with its own formatter.
 *
 * No stdio, no malloc, no locale, no errno: it is used from the monitor thread
 * and from constructors of the traced program. The caller owns the memory of
 * the buffer and serialises the calls.
 *
 * A write error never stops the writer: what could not be written is dropped
 * and counted, the next flush tries again. A partial line that reached the file
 * is closed with LF first, so that later lines stay readable.
 */
#ifndef MEMTRACE_OUT_H
#define MEMTRACE_OUT_H

#include <stddef.h>
#include <stdint.h>

struct mt_out {
	int fd;			/* < 0: everything is dropped and counted; a negative errno says why, -1 does not */
	char *buf;
	size_t cap, len;
	uint64_t bytes;		/* bytes that reached the file */
	uint64_t lost_bytes;	/* bytes dropped by write errors */
	uint64_t lost_lines;	/* line ends in them: records dropped */
	int torn;		/* the file ends inside a line */
	int last_error;		/* negative errno of the last failure, 0 none */
};

void mt_out_init(struct mt_out *o, int fd, char *buf, size_t cap);
/* Writes what is buffered. 0 or negative errno. */
int mt_out_flush(struct mt_out *o);

void mt_out_mem(struct mt_out *o, const char *s, size_t n);
void mt_out_str(struct mt_out *o, const char *s);
void mt_out_char(struct mt_out *o, char c);
void mt_out_u64(struct mt_out *o, uint64_t v);
void mt_out_i64(struct mt_out *o, int64_t v);
void mt_out_hex(struct mt_out *o, uint64_t v);
/* The string as a JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
void mt_out_json(struct mt_out *o, const char *s);
/* The string as an RFC 4180 field, quoted when it must be. */
void mt_out_csv(struct mt_out *o, const char *s);
/* %s %d %u %x (int), %lld %llu %llx (64 bit), %c, %%; nothing else. */
void mt_out_fmt(struct mt_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The digits of v at p (at most 20), returns the end. No terminator. */
char *mt_put_u64(char *p, uint64_t v);
char *mt_put_hex(char *p, uint64_t v);
/* A mask of CPUs: hexadecimal, as many digits as it needs, at most 16 for each of its words, the first of which has CPU 0. */
char *mt_put_mask(char *p, const uint64_t *mask, int words);
/* The two digits of a byte v are at 2 * v. */
extern const char mt_hex_pairs[512];

#endif
