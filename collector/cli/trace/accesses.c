/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "cli/trace/accesses.h"
#include "cli/trace/recordfile.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "common/out.h"
#include "common/tracenames.h"

enum column { VIRT, PHYS, READS, WRITES, CPUS, START, END, TASK, IP, NODE, FLAGS, READ_AT, WRITE_AT, FIRST, N_COLUMNS };
static const char *const column_name[N_COLUMNS] = { "@Virt", "@Phy", "Nreads", "Nwrites", "CPUMask",
	"Start", "End", "TaskId", "Ip", "Node", "Flags", "ReadOffset", "WriteOffset", "First" };
/* Of the last three: nothing stands there. */
#define EMPTY UINT64_MAX
#define N_REQUIRED 8

struct reader {
	FILE *f;
	ZSTD_DCtx *z;
	gzFile g;
	char *in, *out, *kept;
	char *line, *line_end;	/* without its LF: where it lies in out, or in kept when it was read in pieces */
	ZSTD_inBuffer ib;
	size_t in_cap, out_cap, out_pos, out_len, kept_cap, kept_len;
	bool end, short_frame;
};

static int fill_gzip(struct reader *r)
{
	int got = gzread(r->g, r->out, (unsigned int)r->out_cap), err;

	r->out_pos = 0;
	r->out_len = got > 0 ? (size_t)got : 0;
	r->end = got <= 0;
	gzerror(r->g, &err);
	if (got >= 0 || err == Z_BUF_ERROR)
		return 0;	/* a file that is cut ends there */
	return err == Z_ERRNO ? -errno : -EBADMSG;
}

static int fill(struct reader *r)
{
	if (r->g)
		return fill_gzip(r);
	if (!r->z) {
		r->out_len = fread(r->out, 1, r->out_cap, r->f);	// NOLINT(clang-analyzer-unix.Stream): not called at the end
		r->out_pos = 0;
		r->end = r->out_len == 0;
		return ferror(r->f) ? -EIO : 0;
	}
	for (;;) {
		ZSTD_outBuffer ob = { r->out, r->out_cap, 0 };
		size_t left;

		if (r->ib.pos == r->ib.size) {
			r->ib.size = fread(r->in, 1, r->in_cap, r->f);
			r->ib.pos = 0;
			if (ferror(r->f))
				return -EIO;
		}
		if (!r->ib.size) {
			r->end = true;
			return 0;
		}
		left = ZSTD_decompressStream(r->z, &ob, &r->ib);
		if (ZSTD_isError(left))
			return -EBADMSG;
		if (ob.pos) {
			r->out_pos = 0;
			r->out_len = ob.pos;
			return 0;
		}
	}
}

/* The next line; 0 at the end, 1 line, -1 torn line, or negative errno - 100. */
static int next_line(struct reader *r)
{
	r->kept_len = 0;
	for (;;) {
		char *p, *lf;
		size_t n;

		if (r->out_pos == r->out_len) {
			int err = fill(r);

			if (err)
				return err - 100;
			if (r->end)
				return r->kept_len ? -1 : 0;
		}
		p = r->out + r->out_pos;
		lf = memchr(p, '\n', r->out_len - r->out_pos);
		n = lf ? (size_t)(lf - p) : r->out_len - r->out_pos;
		r->out_pos += n + (lf != NULL);
		if (lf && !r->kept_len) {
			*lf = 0;
			r->line = p;
			r->line_end = lf;
			return 1;
		}
		if (!r->kept || r->kept_len + n + 1 > r->kept_cap) {
			r->kept_cap = (r->kept_len + n + 1) * 2;
			r->kept = mt_resize(r->kept, r->kept_cap);
		}
		memcpy(r->kept + r->kept_len, p, n);
		r->kept_len += n;
		r->kept[r->kept_len] = 0;
		r->line = r->kept;
		r->line_end = r->kept + r->kept_len;
		if (lf)
			return 1;
	}
}

/* Splits at commas; quotes do not occur in these columns. */
static int split(char *s, char **v, int max)
{
	int n = 0;

	while (n < max) {
		v[n++] = s;
		while (*s && *s != ',')
			s++;
		if (!*s)
			break;
		*s++ = 0;
	}
	return n;
}

static bool number(const char *s, int base, uint64_t *v)
{
	char *end;

	*v = *s == '-' ? (uint64_t)strtoll(s, &end, base) : strtoull(s, &end, base);
	return *s && !*end;
}

static bool is_hex(int c)
{
	return c == VIRT || c == PHYS || c == IP || c == FLAGS || c == READ_AT || c == WRITE_AT;
}

static int offset(const uint64_t *x, const int *at, int c)
{
	return at[c] < 0 ? -2 : x[c] > INT32_MAX ? -1 : (int)x[c];
}

static void take(const uint64_t *x, const int *at, struct mt_access *a)
{
	a->virt = x[VIRT];
	a->phys = x[PHYS];
	a->reads = x[READS];
	a->writes = x[WRITES];
	a->start = (int64_t)x[START];
	a->end = (int64_t)x[END];
	a->tid = (int64_t)x[TASK];
	a->ip = x[IP];
	a->node = at[NODE] >= 0 ? (int)(int64_t)x[NODE] : -1;
	a->flags = (unsigned int)x[FLAGS];
	a->read_at = offset(x, at, READ_AT);
	a->write_at = offset(x, at, WRITE_AT);
	a->first = at[FIRST] < 0 ? -1 : (int64_t)x[FIRST];	/* EMPTY is -1 */
}

/* The value of a lower-case hexadecimal digit, 16 for other characters. */
static const unsigned char digit[256] = {
	[0 ... '0' - 1] = 16, ['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ['9' + 1 ... 'a' - 1] = 16, ['a'] = 10, 11, 12, 13, 14, 15,
	['f' + 1 ... 255] = 16,
};

/* Of the line before: Start to TaskId, which many lines after one another have in common. */
struct common {
	char text[72];		/* with the comma behind it */
	size_t len;		/* 0: there is none */
	uint64_t x[3];
};

/*
 * Nearly all lines have plain digits only, few enough to need no look at an overflow: they are read in one go. false: not
 * such a line; it is as it was. @what: the column of each field, N_COLUMNS for others.
 */
static bool parse_plain(const char *s, const char *line_end, const unsigned char *what, int n, const int *at, struct common *same,
			struct mt_access *a)
{
	const bool in_a_row = at[END] == at[START] + 1 && at[TASK] == at[END] + 1;
	const char *start = NULL;
	uint64_t x[N_COLUMNS + 1] = { 0 };

	for (int i = 0; i < n; i++) {
		const char *begin = s;
		const int c = what[i];
		uint64_t v = 0;
		unsigned int d;

		if (c == START && in_a_row) {
			if (same->len && same->len <= (size_t)(line_end - s) && !memcmp(s, same->text, same->len)) {
				memcpy(x + START, same->x, sizeof(same->x));
				s += same->len;
				i += 2;
				continue;
			}
			start = s;
		}
		if (c == CPUS || c == N_COLUMNS) {
			while (*s && *s != ',')
				s++;
			if (c == CPUS) {
				const size_t len = (size_t)(s - begin) < sizeof(a->cpus) ? (size_t)(s - begin) : sizeof(a->cpus) - 1;

				memcpy(a->cpus, begin, len);
				a->cpus[len] = 0;
			}
		} else if (is_hex(c)) {
			for (; (d = digit[(unsigned char)*s]) < 16; s++)
				v = v << 4 | d;
			if (s == begin && c >= READ_AT)
				v = EMPTY;
			else if (s == begin || s - begin > 16)
				return false;
		} else {
			for (; (d = digit[(unsigned char)*s]) < 10; s++)
				v = v * 10 + d;
			if (s == begin && c >= READ_AT)
				v = EMPTY;
			else if (s == begin || s - begin > 19)
				return false;
		}
		x[c] = v;
		if (*s != ',' && (*s || i + 1 < n))
			return false;
		s++;
		if (c == TASK && start && s <= line_end && (size_t)(s - start) <= sizeof(same->text)) {
			same->len = (size_t)(s - start);
			memcpy(same->text, start, same->len);
			memcpy(same->x, x + START, sizeof(same->x));
		}
	}
	take(x, at, a);
	return true;
}

static bool parse(char **v, int n, const int *at, struct mt_access *a)
{
	uint64_t x[N_COLUMNS] = { 0 };

	for (int c = 0; c < N_COLUMNS; c++) {
		if (at[c] < 0)
			continue;
		if (at[c] >= n)
			return false;
		if (c == CPUS) {
			snprintf(a->cpus, sizeof(a->cpus), "%s", v[at[c]]);
			continue;
		}
		if (c >= READ_AT && !*v[at[c]])
			x[c] = EMPTY;
		else if (!number(v[at[c]], is_hex(c) ? 16 : 10, &x[c]))
			return false;
	}
	take(x, at, a);
	return true;
}

struct blocks {
	mt_access_fn fn;
	void *arg;
	struct mt_access_counts *k;
	bool *go_on;
	char mask[16 * MT_RECORDS_WORDS + 1];
};

static bool on_block(void *arg, const struct mt_records_head *h, const struct mt_records_block *b)
{
	struct blocks *t = arg;

	for (uint32_t i = 0; i < b->n && *t->go_on; i++) {
		const struct mt_access_row *r = &b->row[i];
		struct mt_access a = { .virt = r->virt, .phys = r->phys, .reads = r->nreads, .writes = r->nwrites, .ip = r->ip,
			.start = (int64_t)h->start, .end = (int64_t)h->end, .tid = r->tid, .node = r->node, .flags = r->flags,
			.read_at = r->read_at, .write_at = r->write_at,
			.first = !r->first_ns ? -1 : (int64_t)(r->first_ns - h->start) };

		*mt_put_mask(t->mask, r->cpus, r->cpu_words) = 0;
		snprintf(a.cpus, sizeof(a.cpus), "%.*s", (int)sizeof(a.cpus) - 1, t->mask);
		t->k->records++;
		*t->go_on = t->fn(t->arg, &a);
	}
	return *t->go_on;
}

static int read_blocks(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *k, bool *go_on)
{
	struct blocks *t = mt_alloc(sizeof(*t));
	struct mt_recordfile_counts own;
	int err;

	*t = (struct blocks){ .fn = fn, .arg = arg, .k = k, .go_on = go_on };
	err = mt_recordfile_read(path, on_block, t, &own);
	k->bad += own.lost;
	k->torn += own.cut > 0;
	free(t);
	return err;
}

static int text_chunk(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *k, bool *go_on)
{
	struct reader r = { .f = fopen(path, "re") };
	int at[N_COLUMNS], n, n_what = 0, got, err = 0;
	unsigned char what[64];
	struct common same = { .len = 0 };
	char *v[64];

	if (!r.f) {
		err = -errno;
		mt_error("%s: %s", path, strerror(errno));
		return err;
	}
	r.out_cap = 1 << 18;
	r.out = mt_alloc(r.out_cap);
	if (mt_ends_with(path, ".gz")) {
		r.g = gzopen(path, "rbe");
		if (!r.g) {
			err = errno ? -errno : -ENOMEM;
			mt_error("%s: %s", path, strerror(-err));
			goto out;
		}
	} else if (mt_ends_with(path, ".zst")) {
		r.z = ZSTD_createDCtx();
		r.in_cap = ZSTD_DStreamInSize();
		r.in = mt_alloc(r.in_cap);
		r.ib.src = r.in;
	}
	got = next_line(&r);
	if (got == 1) {
		n = split(r.line, v, 64);
		memset(what, N_COLUMNS, sizeof(what));
		for (int c = 0; c < N_COLUMNS; c++) {
			at[c] = -1;
			for (int i = 0; i < n; i++)
				if (!strcmp(v[i], column_name[c]))
					at[c] = i;
			if (at[c] < 0 && c < N_REQUIRED) {
				mt_error("%s: column %s is missing", path, column_name[c]);
				err = -EPROTO;
				goto out;
			}
			if (at[c] >= 0) {
				what[at[c]] = (unsigned char)c;
				n_what = at[c] >= n_what ? at[c] + 1 : n_what;
			}
		}
		while (*go_on && (got = next_line(&r)) == 1) {
			struct mt_access a;

			if (!parse_plain(r.line, r.line_end, what, n_what, at, &same, &a)) {
				n = split(r.line, v, 64);
				if (!parse(v, n, at, &a)) {
					k->bad++;
					continue;
				}
			}
			k->records++;
			*go_on = fn(arg, &a);
		}
	}
	if (got == -1) {
		k->torn++;
	} else if (got < -1) {
		err = got + 100;
		mt_error("%s: %s", path, err != -EBADMSG ? strerror(-err) :
			 r.g ? "damaged gzip data" : "damaged zstd data");
	}
out:
	ZSTD_freeDCtx(r.z);
	if (r.g)
		gzclose(r.g);
	fclose(r.f);
	free(r.in);
	free(r.out);
	free(r.kept);
	return err;
}

static int read_chunk(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *k, bool *go_on)
{
	return (mt_ends_with(path, MT_CHUNK_SUFFIX) ? read_blocks : text_chunk)(path, fn, arg, k, go_on);
}

static int is_chunk(const struct dirent *e)
{
	return mt_chunk_name(e->d_name);
}

static int by_chunk(const struct dirent **x, const struct dirent **y)
{
	long a = strtol((*x)->d_name + 9, NULL, 10), b = strtol((*y)->d_name + 9, NULL, 10);

	/* the plain file counts when both exist: the compressed one is not complete */
	return a != b ? (a < b ? -1 : 1) : strcmp((*x)->d_name, (*y)->d_name);
}

char **mt_access_chunks(const char *trace, const char *image, size_t *n)
{
	char *dir = mt_printf("%s/%s", trace, image), **paths;
	struct dirent **v = NULL;
	int found = scandir(dir, &v, is_chunk, by_chunk);
	long last = -1;

	*n = 0;
	paths = mt_alloc(((size_t)(found > 0 ? found : 0) + 1) * sizeof(*paths));
	for (int i = 0; i < found; i++) {
		long number_of = strtol(v[i]->d_name + 9, NULL, 10);

		if (number_of != last)
			paths[(*n)++] = mt_printf("%s/%s", dir, v[i]->d_name);
		last = number_of;
		free(v[i]);
	}
	free(v);
	free(dir);
	return paths;
}

int mt_access_chunk_read(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *counts)
{
	bool go_on = true;

	return read_chunk(path, fn, arg, counts, &go_on);
}

int mt_accesses_read(const char *trace, const char *image, mt_access_fn fn, void *arg,
		     struct mt_access_counts *counts)
{
	bool go_on = true;
	int err = 0;
	size_t n;
	char **path = mt_access_chunks(trace, image, &n);

	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < n; i++) {
		if (!err && go_on)
			err = read_chunk(path[i], fn, arg, counts, &go_on);
		free(path[i]);
	}
	free(path);
	return err;
}
