/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/trace/accesses.h"
#include "cli/trace/recordfile.h"
#include "cli/trace/recordpack.h"
#include "common/records/recordblock.h"
#include "common/tracenames.h"

#define ROOM_BYTES (1280u << 10)	/* for as many records as a block may have */
#define MOST_DIGITS (sizeof(((struct mt_access *)0)->cpus) - 1)

struct packing {
	struct mt_records_writer w;
	FILE *out;
	uint64_t start, end;
	int err;
};

static void write_block(struct packing *p)
{
	const size_t n = mt_records_take(&p->w);

	if (n && fwrite(p->w.block, 1, n, p->out) != n && !p->err)
		p->err = -EIO;
}

/* Digits as words; @words has room for all that mt_access keeps. How many. */
static int mask_of(const char *digits, uint64_t *words)
{
	const size_t n = strlen(digits);

	memset(words, 0, (MOST_DIGITS / 16 + 1) * sizeof(*words));
	for (size_t i = 0; i < n; i++) {
		const char c = digits[n - 1 - i];

		words[i / 16] |= (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) << i % 16 * 4;
	}
	return n ? (int)((n + 15) / 16) : 1;
}

/* Where a file does not tell offsets, a record has that of its address (docs/reference/trace-format.md). */
static void offsets(const struct mt_access *a, struct mt_access_row *r)
{
	r->read_at = a->read_at;
	r->write_at = a->write_at;
	if (a->read_at == -2 && a->write_at == -2 && !(a->flags & MT_ACCESS_FROM_SCAN)) {
		const int at = (int)(a->virt & 4095);

		r->read_at = a->reads ? at : -1;
		r->write_at = a->reads ? -1 : at;
	}
}

static bool on_access(void *arg, const struct mt_access *a)
{
	uint64_t mask[MOST_DIGITS / 16 + 1];
	struct packing *p = arg;
	struct mt_access_row r = { .virt = a->virt, .phys = a->phys, .nreads = a->reads, .nwrites = a->writes, .ip = a->ip, .cpus = mask,
		.cpu_words = mask_of(a->cpus, mask), .tid = (int32_t)a->tid, .node = a->node, .flags = a->flags };

	if (strlen(a->cpus) >= MOST_DIGITS || strspn(a->cpus, "0123456789abcdefABCDEF") != strlen(a->cpus) || a->tid != (int32_t)a->tid ||
	    a->node != (int16_t)a->node || a->flags > INT32_MAX || a->start < 1)
		p->err = -ENOTSUP;
	if (p->err)
		return false;
	if (p->start != (uint64_t)a->start || p->end != (uint64_t)a->end) {
		write_block(p);
		p->start = (uint64_t)a->start;
		p->end = (uint64_t)a->end;
		mt_records_begin(&p->w, p->start, p->end);
	}
	offsets(a, &r);
	r.first_ns = a->first < 0 ? 0 : p->start + (uint64_t)a->first;
	if (!mt_records_add(&p->w, &r)) {
		write_block(p);
		mt_records_add(&p->w, &r);
	}
	return !p->err;
}

/*
 * Writes the records of @text, a chunk in any form, to @chunk, which is made, packed. 0 or negative errno: -ENOTSUP when a line cannot
 * be kept as it is, -EBADMSG when one was not understood or is not whole. Errors of reading are told.
 */
static int pack(const char *text, const char *chunk)
{
	struct mt_access_counts k = { 0 };
	struct packing p = { .out = fopen(chunk, "we") };
	void *room = mt_alloc(ROOM_BYTES);
	uint64_t saved = 0;
	int err = p.out ? 0 : -errno;

	mt_records_init(&p.w, room, ROOM_BYTES);
	if (!err)
		err = mt_access_chunk_read(text, on_access, &p, &k);
	if (!err && !p.err)
		write_block(&p);
	if (p.out && fclose(p.out) && !err)
		err = -errno;
	err = err ? err : p.err ? p.err : k.bad || k.torn ? -EBADMSG : mt_recordfile_pack(chunk, 1, &saved);
	if (err)
		unlink(chunk);
	free(room);
	return err;
}

/* Does @what with each chunk of accesses whose form is that of records (@records), or another. 0, or its first error, which was told. */
static int for_chunks(const char *trace, const char *image, bool records, int (*what)(const char *path, const char *base))
{
	size_t n;
	char **path = mt_access_chunks(trace, image, &n);
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		char *base = mt_printf("%.*s", (int)(strrchr(path[i], '/') + 1 + strcspn(strrchr(path[i], '/') + 1, ".") - path[i]), path[i]);

		if (!err && mt_ends_with(path[i], MT_CHUNK_SUFFIX) == records)
			err = what(path[i], base);
		free(base);
		free(path[i]);
	}
	free(path);
	return err;
}

/* One form takes the place of the other when it is complete: @err says whether it is. */
static int replace(const char *path, const char *tmp, const char *to, int err)
{
	if (!err && (rename(tmp, to) || unlink(path)))
		err = -errno;
	if (err)
		mt_error("%s: it stays as it is: %s", path, err == -ENOTSUP ? "records of bytes cannot have all that it has" :
			 err == -EBADMSG ? "not all of it is whole" : strerror(-err));
	return err;
}

static int pack_chunk(const char *path, const char *base)
{
	char *to = mt_printf("%s" MT_CHUNK_SUFFIX, base), *tmp = mt_printf("%s.tmp", to);
	int err = replace(path, tmp, to, pack(path, tmp));

	free(to);
	free(tmp);
	return err;
}

static int chunk_as_text(const char *path, const char *base)
{
	char *to = mt_printf("%s.csv", base), *tmp = mt_printf("%s.tmp", to);
	int err = replace(path, tmp, to, mt_recordfile_text(path, tmp));

	free(to);
	free(tmp);
	return err;
}

int mt_image_pack(const char *trace, const char *image)
{
	return for_chunks(trace, image, false, pack_chunk);
}

int mt_image_text(const char *trace, const char *image)
{
	return for_chunks(trace, image, true, chunk_as_text);
}
