/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "accesses.h"
#include "tracedir.h"
#include "util.h"

enum column { VIRT, PHYS, READS, WRITES, CPUS, START, END, TASK, IP, NODE, FLAGS, N_COLUMNS };
static const char *const column_name[N_COLUMNS] = { "@Virt", "@Phy", "Nreads", "Nwrites", "CPUMask",
	"Start", "End", "TaskId", "Ip", "Node", "Flags" };
#define N_REQUIRED 8

struct reader {
	FILE *f;
	ZSTD_DCtx *z;
	gzFile g;
	char *in, *out, *line;
	ZSTD_inBuffer ib;
	size_t in_cap, out_cap, out_pos, out_len, line_cap, line_len;
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

/* A line without its LF in r->line; 0 at the end, 1 line, -1 torn line, or negative errno - 100. */
static int next_line(struct reader *r)
{
	r->line_len = 0;
	for (;;) {
		char *p, *lf;
		size_t n;

		if (r->out_pos == r->out_len) {
			int err = fill(r);

			if (err)
				return err - 100;
			if (r->end)
				return r->line_len ? -1 : 0;
		}
		p = r->out + r->out_pos;
		lf = memchr(p, '\n', r->out_len - r->out_pos);
		n = lf ? (size_t)(lf - p) : r->out_len - r->out_pos;
		if (!r->line || r->line_len + n + 1 > r->line_cap) {
			r->line_cap = (r->line_len + n + 1) * 2;
			r->line = mt_resize(r->line, r->line_cap);
		}
		memcpy(r->line + r->line_len, p, n);
		r->line_len += n;
		r->line[r->line_len] = 0;
		r->out_pos += n + (lf != NULL);
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
		s = strchr(s, ',');
		if (!s)
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

static bool parse(char **v, int n, const int *at, struct mt_access *a)
{
	uint64_t x[N_COLUMNS] = { 0 };

	memset(a, 0, sizeof(*a));
	a->node = -1;
	for (int c = 0; c < N_COLUMNS; c++) {
		bool hex = c == VIRT || c == PHYS || c == IP || c == FLAGS;

		if (at[c] < 0)
			continue;
		if (at[c] >= n)
			return false;
		if (c == CPUS) {
			snprintf(a->cpus, sizeof(a->cpus), "%s", v[at[c]]);
			continue;
		}
		if (!number(v[at[c]], hex ? 16 : 10, &x[c]))
			return false;
	}
	a->virt = x[VIRT];
	a->phys = x[PHYS];
	a->reads = x[READS];
	a->writes = x[WRITES];
	a->start = (int64_t)x[START];
	a->end = (int64_t)x[END];
	a->tid = (int64_t)x[TASK];
	a->ip = x[IP];
	if (at[NODE] >= 0)
		a->node = (int)(int64_t)x[NODE];
	a->flags = (unsigned int)x[FLAGS];
	return true;
}

static int read_chunk(const char *path, mt_access_fn fn, void *arg, struct mt_access_counts *k, bool *go_on)
{
	struct reader r = { .f = fopen(path, "re") };
	int at[N_COLUMNS], n, got, err = 0;
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
		}
		while (*go_on && (got = next_line(&r)) == 1) {
			struct mt_access a;

			n = split(r.line, v, 64);
			if (!parse(v, n, at, &a)) {
				k->bad++;
				continue;
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
	free(r.line);
	return err;
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
