/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/trace/recordfile.h"
#include "cli/base/util.h"
#include "common/out.h"

/* The columns of records as text. */
static const char *const columns[] = {
	"@Virt", "@Phy", "Nreads", "Nwrites", "CPUMask", "Start", "End", "TaskId", "Ip", "Node", "Flags",
	"ReadOffset", "WriteOffset", "First",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* Bytes of plain blocks that are packed together: more of them are hardly packed better, and a damage costs all of them. */
#define PACK_BYTES (64u << 10)
/* Of the longest block that there is, with its head. */
#define WINDOW_BYTES (2u << 20)

/* A part of a file. */
struct window {
	FILE *f;
	unsigned char *buf;
	size_t pos, len;
	uint64_t offset;	/* of buf in the file */
	int err;
};

static int window_open(struct window *w, const char *path)
{
	memset(w, 0, sizeof(*w));
	w->f = fopen(path, "re");
	if (!w->f)
		return -errno;
	w->buf = mt_alloc(WINDOW_BYTES);
	return 0;
}

static void window_close(struct window *w)
{
	if (w->f)
		fclose(w->f);
	free(w->buf);
}

/* Makes @n bytes be there, if the file has them; how many are. */
static size_t window_has(struct window *w, size_t n)
{
	if (w->len - w->pos < n) {
		if (w->pos)
			memmove(w->buf, w->buf + w->pos, w->len - w->pos);
		w->offset += w->pos;
		w->len -= w->pos;
		w->pos = 0;
		w->len += fread(w->buf + w->len, 1, WINDOW_BYTES - w->len, w->f);
		if (ferror(w->f))
			w->err = -EIO;
	}
	return w->len - w->pos;
}

static uint64_t window_at(const struct window *w)
{
	return w->offset + w->pos;
}

/* Can a block have this head? */
static bool is_possible(const struct mt_records_head *h)
{
	return h->bytes <= WINDOW_BYTES - MT_RECORDS_HEAD;
}

static bool is_head(struct window *w, struct mt_records_head *h)
{
	return window_has(w, MT_RECORDS_HEAD) >= MT_RECORDS_HEAD && !mt_records_get_head(w->buf + w->pos, h) && is_possible(h);
}

enum step { STEP_BLOCK, STEP_END, STEP_DAMAGED, STEP_CUT };

/* Passes over what is no whole block, to the next head or the end. Is there one? */
static bool find_head(struct window *w)
{
	do {
		struct mt_records_head next;
		const size_t has = window_has(w, MT_RECORDS_HEAD + 1);
		const unsigned char *p;

		if (has <= MT_RECORDS_HEAD)
			break;
		p = memchr(w->buf + w->pos + 1, MT_RECORDS_MAGIC & 255, has - 1);
		w->pos = p ? (size_t)(p - w->buf) : w->len - 1;
		if (p && is_head(w, &next))
			return true;
	} while (!w->err);
	w->pos = w->len;
	return false;
}

/*
 * What stands at the window's place: a whole block, whose bytes are there; the end; or what is no whole block, which is passed over, with
 * h->records as many as it is known to have had.
 */
static enum step step(struct window *w, struct mt_records_head *h, uint64_t *passed)
{
	const uint64_t begin = window_at(w);
	bool whole = false, head;

	*passed = 0;
	if (!window_has(w, 1))
		return STEP_END;
	head = is_head(w, h);
	if (head) {
		const size_t all = MT_RECORDS_HEAD + h->bytes;

		whole = window_has(w, all) >= all;
		if (whole && mt_crc32c(0, w->buf + w->pos + MT_RECORDS_HEAD, h->bytes) == h->crc)
			return STEP_BLOCK;
	} else {
		h->records = 0;
	}
	if (find_head(w)) {
		*passed = window_at(w) - begin;
		return STEP_DAMAGED;
	}
	*passed = window_at(w) - begin;
	/* a writer that was killed leaves a head, or a part of one, and not all that is to be behind it */
	return (head && !whole) || *passed < MT_RECORDS_HEAD ? STEP_CUT : STEP_DAMAGED;
}

struct reading {
	const char *path;
	mt_recordfile_fn fn;
	void *arg;
	struct mt_recordfile_counts *k;
	struct mt_records_block *block;
	unsigned char *content;		/* of a packed block */
	ZSTD_DCtx *z;
	uint64_t expected;		/* records of the chunk that were read or are lost */
	bool go_on;
};

static void damaged(struct reading *r, uint64_t at, uint64_t bytes)
{
	if (!r->k->damaged)
		r->k->damaged_at = at;
	r->k->damaged += bytes;
}

/* Records of which nothing was seen. */
static void catch_up(struct reading *r, uint64_t before)
{
	if (before > r->expected)
		r->k->lost += before - r->expected;
	r->expected = before;
}

static bool plain(struct reading *r, const struct mt_records_head *h, const unsigned char *p)
{
	if (mt_records_read(h, p, r->block))
		return false;
	r->expected += h->records;
	r->k->records += h->records;
	r->go_on = r->fn(r->arg, h, r->block);
	return true;
}

/* All blocks of a packed one, or none. */
static bool packed(struct reading *r, const struct mt_records_head *h, const unsigned char *p)
{
	struct mt_records_head one;
	size_t n, at = 0;
	uint64_t records = 0;

	if (!r->z)
		r->z = ZSTD_createDCtx();
	if (!r->content)
		r->content = mt_alloc(MT_RECORDS_BYTES);
	n = r->z ? ZSTD_decompressDCtx(r->z, r->content, MT_RECORDS_BYTES, p, h->bytes) : 0;
	if (ZSTD_isError(n))
		return false;
	for (; at < n; at += MT_RECORDS_HEAD + one.bytes) {
		if (n - at < MT_RECORDS_HEAD || mt_records_get_head(r->content + at, &one) || one.bytes > n - at - MT_RECORDS_HEAD ||
		    mt_crc32c(0, r->content + at + MT_RECORDS_HEAD, one.bytes) != one.crc)
			return false;
		records += one.records;
	}
	if (records != h->records)
		return false;
	for (at = 0; at < n && r->go_on; at += MT_RECORDS_HEAD + one.bytes) {
		mt_records_get_head(r->content + at, &one);
		if (!plain(r, &one, r->content + at + MT_RECORDS_HEAD))
			return false;
	}
	return true;
}

static void tell(const char *path, const struct mt_recordfile_counts *k)
{
	if (k->damaged)
		mt_error("%s: %" PRIu64 " bytes from offset %" PRIu64 " on are damaged, %" PRIu64 " records are lost; the rest is used", path,
			 k->damaged, k->damaged_at, k->lost);
}

static int read_all(struct window *w, struct reading *r)
{
	struct mt_records_head h;
	uint64_t passed, at = 0;

	while (r->go_on && !w->err) {
		const enum step what = (at = window_at(w), step(w, &h, &passed));

		if (what == STEP_END)
			break;
		if (what != STEP_BLOCK) {
			if (what == STEP_CUT)
				r->k->cut += passed;
			else
				damaged(r, at, passed);
			r->k->lost += h.records;
			r->expected += h.records;
			continue;
		}
		if (h.version > MT_RECORDS_VERSION) {
			mt_error("%s: has records of version %u, this memtrace reads those up to %u", r->path, h.version, MT_RECORDS_VERSION);
			return -EPROTO;
		}
		catch_up(r, h.before);
		at = r->k->records;
		if (!(h.kind == MT_RECORDS_PACKED ? packed : plain)(r, &h, w->buf + w->pos + MT_RECORDS_HEAD)) {
			damaged(r, window_at(w), MT_RECORDS_HEAD + h.bytes);
			r->k->lost += h.records - (r->k->records - at);
		}
		r->expected = h.before + h.records;
		w->pos += MT_RECORDS_HEAD + h.bytes;
	}
	return w->err;
}

int mt_recordfile_read(const char *path, mt_recordfile_fn fn, void *arg, struct mt_recordfile_counts *k)
{
	struct reading r = { .path = path, .fn = fn, .arg = arg, .k = k, .go_on = true };
	struct window w;
	int err = window_open(&w, path);

	memset(k, 0, sizeof(*k));
	if (err) {
		mt_error("%s: %s", path, strerror(-err));
		return err;
	}
	r.block = mt_alloc(sizeof(*r.block));
	err = read_all(&w, &r);
	if (err && err != -EPROTO)
		mt_error("%s: %s", path, strerror(-err));
	tell(path, k);
	ZSTD_freeDCtx(r.z);
	free(r.block);
	free(r.content);
	window_close(&w);
	return err;
}

int64_t mt_recordfile_last_start(const char *path)
{
	unsigned char p[MT_RECORDS_HEAD];
	int64_t start = INT64_MAX;
	FILE *f = fopen(path, "re");
	struct mt_records_head h;
	struct stat st;
	off_t at = 0;

	if (f && !fstat(fileno(f), &st))
		while (!fseeko(f, at, SEEK_SET) && fread(p, 1, sizeof(p), f) == sizeof(p)) {
			if (mt_records_get_head(p, &h) || !is_possible(&h)) {
				start = INT64_MAX;
				break;
			}
			at += (off_t)(MT_RECORDS_HEAD + h.bytes);
			if (at > st.st_size)
				break;
			start = h.kind == MT_RECORDS_PLAIN ? (int64_t)h.start : INT64_MAX;
		}
	if (f)
		fclose(f);
	return start;
}

static void put_offset(struct mt_out *o, int v)
{
	mt_out_char(o, ',');
	if (v >= 0)
		mt_out_hex(o, (unsigned int)v);
}

struct text {
	struct mt_out out;
	char *mask;
};

static bool as_text(void *arg, const struct mt_records_head *h, const struct mt_records_block *b)
{
	struct text *t = arg;
	struct mt_out *o = &t->out;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct mt_access_row *r = &b->row[i];

		mt_out_hex(o, r->virt);
		mt_out_char(o, ',');
		mt_out_hex(o, r->phys);
		mt_out_fmt(o, ",%llu,%llu,", (unsigned long long)r->nreads, (unsigned long long)r->nwrites);
		mt_out_mem(o, t->mask, (size_t)(mt_put_mask(t->mask, r->cpus, r->cpu_words) - t->mask));
		mt_out_fmt(o, ",%llu,%llu,%d,", (unsigned long long)h->start, (unsigned long long)h->end, r->tid);
		mt_out_hex(o, r->ip);
		mt_out_fmt(o, ",%d,%x", r->node, r->flags);
		put_offset(o, r->read_at);
		put_offset(o, r->write_at);
		mt_out_char(o, ',');
		if (r->first_ns)
			mt_out_u64(o, r->first_ns > h->start ? r->first_ns - h->start : 0);
		mt_out_char(o, '\n');
	}
	return !o->last_error;
}

int mt_recordfile_text(const char *path, const char *text)
{
	const int fd = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct mt_recordfile_counts k;
	struct text t = { .mask = mt_alloc(16 * MT_RECORDS_WORDS) };
	int err = fd < 0 ? -errno : 0;

	mt_out_init(&t.out, fd, mt_alloc(WINDOW_BYTES), WINDOW_BYTES);
	for (size_t i = 0; i < N(columns); i++)
		mt_out_fmt(&t.out, "%s%c", columns[i], i + 1 < N(columns) ? ',' : '\n');
	if (!err) {
		err = mt_recordfile_read(path, as_text, &t, &k);
		mt_out_flush(&t.out);
	}
	if (fd >= 0) {
		err = err ? err : t.out.last_error;
		if (close(fd) && !err)
			err = -errno;
	}
	if (err) {
		mt_error("%s: %s", text, strerror(-err));
		unlink(text);
	}
	free(t.out.buf);
	free(t.mask);
	return err;
}

struct packing {
	FILE *out;
	ZSTD_CCtx *z;
	unsigned char *content, *block;
	size_t n, bound;
	struct mt_records_head h;	/* of what is in content */
	bool plain;			/* there was a plain block */
};

static int put(FILE *f, const void *p, size_t n)
{
	return fwrite(p, 1, n, f) == n ? 0 : -EIO;
}

static int pack_rest(struct packing *k)
{
	size_t n;

	if (!k->n)
		return 0;
	n = ZSTD_compress2(k->z, k->block + MT_RECORDS_HEAD, k->bound, k->content, k->n);
	if (ZSTD_isError(n))
		return -ENOMEM;
	k->h.version = MT_RECORDS_VERSION;
	k->h.kind = MT_RECORDS_PACKED;
	k->h.bytes = (uint32_t)n;
	k->h.crc = mt_crc32c(0, k->block + MT_RECORDS_HEAD, n);
	mt_records_put_head(k->block, &k->h);
	k->n = 0;
	return put(k->out, k->block, MT_RECORDS_HEAD + n);
}

static int pack_block(struct packing *k, const struct mt_records_head *h, const unsigned char *p)
{
	const size_t n = MT_RECORDS_HEAD + h->bytes;
	int err = 0;

	if (h->version != MT_RECORDS_VERSION || h->kind != MT_RECORDS_PLAIN || n > PACK_BYTES) {
		err = pack_rest(k);
		return err ? err : put(k->out, p, n);
	}
	k->plain = true;
	if (k->n + n > PACK_BYTES)
		err = pack_rest(k);
	if (!k->n)
		k->h = *h;
	else
		k->h.records += h->records;
	if (h->start < k->h.start)
		k->h.start = h->start;
	if (h->end > k->h.end)
		k->h.end = h->end;
	memcpy(k->content + k->n, p, n);
	k->n += n;
	return err;
}

/* 0, 1: it is to stay as it is, or negative errno. */
static int pack_all(struct window *w, struct packing *k)
{
	struct mt_records_head h;
	uint64_t passed, at;
	int err = 0;

	for (;;) {
		enum step what;

		at = window_at(w);
		what = step(w, &h, &passed);
		if (w->err)
			return w->err;
		if (what == STEP_END)
			break;
		if (what == STEP_DAMAGED)
			return 1;
		if (what == STEP_CUT) {		/* the piece stays behind what is whole: readers tell of it */
			err = pack_rest(k);
			return err ? err : put(k->out, w->buf + (at - w->offset), passed);
		}
		err = pack_block(k, &h, w->buf + w->pos);
		if (err)
			return err;
		w->pos += MT_RECORDS_HEAD + h.bytes;
	}
	return pack_rest(k);
}

static int pack_into(const char *tmp, struct window *w, int level, bool *any)
{
	struct packing k = { .out = fopen(tmp, "we"), .z = ZSTD_createCCtx(), .bound = ZSTD_compressBound(PACK_BYTES) };
	int err = k.out ? 0 : -errno;

	k.content = mt_alloc(PACK_BYTES);
	k.block = mt_alloc(MT_RECORDS_HEAD + k.bound);
	if (!err && !k.z)
		err = -ENOMEM;
	if (!err) {
		ZSTD_CCtx_setParameter(k.z, ZSTD_c_compressionLevel, level);
		err = pack_all(w, &k);
	}
	if (!err && (fflush(k.out) || fsync(fileno(k.out))))
		err = -errno;
	if (k.out)
		fclose(k.out);
	*any = k.plain;
	ZSTD_freeCCtx(k.z);
	free(k.content);
	free(k.block);
	return err;
}

int mt_recordfile_pack(const char *path, int level, uint64_t *saved)
{
	char *tmp = mt_printf("%s.tmp", path);
	struct stat before, after;
	bool any = false;
	struct window w;
	int err = window_open(&w, path);

	if (!err) {
		err = pack_into(tmp, &w, level, &any);
		if (err || !any)
			unlink(tmp);
		else if (!stat(path, &before) && !stat(tmp, &after) && before.st_size > after.st_size)
			*saved += (uint64_t)(before.st_size - after.st_size);
		if (!err && any && rename(tmp, path))
			err = -errno;
	}
	window_close(&w);
	free(tmp);
	return err > 0 ? 0 : err;
}
