/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * util.h - small services for the commands: messages, growing buffers, CSV,
 * files. Functions that return int return 0 or a negative errno.
 */
#ifndef MEMTRACE_CLI_UTIL_H
#define MEMTRACE_CLI_UTIL_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern bool mt_quiet;		/* --quiet: only errors */

/* "memtrace: ..." on stderr. mt_note is silenced by mt_quiet. */
void mt_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void mt_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Allocation that ends the command with a message when there is no memory. */
void *mt_alloc(size_t n);		/* zeroed */
void *mt_resize(void *p, size_t n);
char *mt_strdup(const char *s);
char *mt_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Like snprintf(), but 0 when it fits and -ENAMETOOLONG otherwise. */
int mt_path(char path[PATH_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for one more element in a vector of n elements with capacity cap. */
#define MT_GROW(v, n, cap)						\
	do {								\
		if ((n) == (cap)) {					\
			(cap) = (cap) ? (cap) * 2 : 64;			\
			(v) = mt_resize((v), (cap) * sizeof(*(v)));	\
		}							\
	} while (0)

/*
 * Sorts n items of @size bytes by @key[i] of item i, ascending, and those of equal keys by @cmp as qsort does; without
 * @cmp they stay in their order. Faster than qsort where most keys differ. Keys of a signed number: MT_SIGNED_KEY.
 */
#define MT_SIGNED_KEY(v) ((uint64_t)(v) ^ 1ull << 63)
void mt_sort(void *items, size_t n, size_t size, const uint64_t *key, int (*cmp)(const void *, const void *));

/* A path as a word of a shell command: quoted if it must be, ./ before a dash. */
char *mt_shell_word(const char *path);

/*
 * Whole file, NUL terminated; NULL with errno. *len may be NULL. ENOTSUP, in words mt_read_error(): it is no file; a pipe would be
 * waited for, and a device may never end. mt_read_given() reads a pipe, too: what a user names may be one.
 */
char *mt_read_file(const char *path, size_t *len);
char *mt_read_given(const char *path, size_t *len);
const char *mt_read_error(int err);
/* Is it a file, or a link to one? Its name may come from the program that was recorded. */
bool mt_is_file(const char *path);
/* First line of a small file without LF, NULL when it cannot be read. */
char *mt_read_line(const char *path);
/* Field @number, from 3, of /proc/PID/stat; NULL: there is none. The command, field 2, may have spaces and parentheses in it. */
const char *mt_stat_field(const char *stat, int number);
/* Base name; never NULL, does not allocate. */
const char *mt_base(const char *path);
bool mt_exists(const char *path);
bool mt_ends_with(const char *text, const char *end);
/* Is it the address of a catalogue on a server, of a trace there, or of a folder in object storage, and no path? Only Java connects. */
bool mt_is_server(const char *text);

/*
 * A file that appears whole or not at all: written under a temporary name,
 * renamed by mt_newfile_commit. mt_newfile_commit closes, also on error.
 */
struct mt_newfile {
	FILE *f;
	char *path, *tmp, *buffer;
};
int mt_newfile(struct mt_newfile *n, const char *dir, const char *name);
int mt_newfile_commit(struct mt_newfile *n);
void mt_newfile_discard(struct mt_newfile *n);

/* One CSV field (RFC 4180), without the comma. */
void mt_csv_put(FILE *f, const char *s);

/*
 * A CSV file being read. Lines without LF at the end of the file are dropped
 * and counted in `torn`. Fields are in field[0..n).
 */
struct mt_csv {
	char *data, *pos, *end, *path;
	char **field;
	size_t n, cap;
	char **column;
	size_t n_columns;
	uint64_t line, torn;
};
/* Reads the header. 0 or -errno: -ENOENT there is no such file, -ENODATA it has no header; anything else is told with mt_error. */
int mt_csv_open(struct mt_csv *c, const char *path);
bool mt_csv_next(struct mt_csv *c);
int mt_csv_column(const struct mt_csv *c, const char *name);	/* -1 */
/* field or "" */
const char *mt_csv_get(const struct mt_csv *c, int column);
void mt_csv_close(struct mt_csv *c);
/* Lines that mt_csv_next() gives of that file; 0 when it is not there, or cannot be read, which is told with mt_error. */
uint64_t mt_csv_lines(const char *path);

/* "1.2 GiB", "50 ms": for people. The result lives in one of a few static buffers. */
const char *mt_human_bytes(uint64_t n);
const char *mt_human_ns(uint64_t ns);
const char *mt_human_count(uint64_t n);	/* 1,234,567 */

uint64_t mt_monotonic_ns(void);

#endif
