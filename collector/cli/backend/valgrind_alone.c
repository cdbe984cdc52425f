/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/valgrind/alone.h"
#include "count/site.h"
#include "cli/trace/tracedir.h"
#include "common/tracefile.h"
#include "common/tracenames.h"
#include "cli/base/util.h"
#include "cli/backend/valgrind_alone.h"

#define BUFFER_BYTES (256u << 10)
#define PAGE 4096u

/* A program in a process. */
struct file {
	char *path;
	struct alone_head begin;
};

struct image {
	const char *trace;
	char dir[16];
	char *exe;
	struct alone_head begin;
	struct mt_tracefile file;
	FILE *first, *sites;
	uint64_t interval;
	int *tids;
	size_t n_tids, cap_tids;
};

/* The next head, with what is behind it in *data, which is of this length at least. False: the end, or a part of it. */
static bool next(FILE *f, struct alone_head *h, char **data, size_t *room)
{
	if (fread(h, sizeof(*h), 1, f) != 1 || h->version != ALONE_VERSION || h->bytes > 1ull << 40)
		return false;
	if (h->bytes >= *room) {
		struct stat st;

		/* a damaged number takes no memory */
		if (fstat(fileno(f), &st) || (uint64_t)st.st_size < h->bytes)
			return false;
		*room = h->bytes + 1;
		*data = mt_resize(*data, *room);
	}
	(*data)[h->bytes] = 0;
	return fread(*data, 1, h->bytes, f) == h->bytes;
}

static char *image_file(const struct image *im, const char *name)
{
	return mt_printf("%s/%s/%s", im->trace, im->dir, name);
}

static FILE *create(const struct image *im, const char *name, const char *header)
{
	char *path = image_file(im, name);
	FILE *f = fopen(path, "we");

	if (f)
		fputs(header, f);
	else
		mt_error("record: cannot write %s: %s", path, strerror(errno));
	free(path);
	return f;
}

static void put_text(const struct image *im, const char *name, const char *text)
{
	FILE *f = create(im, name, text);

	if (f && fclose(f))
		mt_error("record: cannot write %s of %s: %s", name, im->dir, strerror(errno));
}

/* The image it came from: the latest that the process @pid had when it began; -1 none. */
static int before(const char *trace, int pid, uint64_t start)
{
	uint64_t best = 0;
	int index = -1;
	size_t n;
	char **v = mt_trace_images(trace, &n);

	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(trace, v[i]);
		const uint64_t at = (uint64_t)json_integer_value(json_object_get(j, "start_ns"));

		if (j && json_integer_value(json_object_get(j, "pid")) == pid && at <= start && at >= best) {
			best = at;
			index = (int)json_integer_value(json_object_get(j, "index"));
		}
		json_decref(j);
	}
	mt_names_free(v, n);
	return index;
}

static bool make(struct image *im)
{
	const struct alone_head *b = &im->begin;
	int parent = before(im->trace, b->how_fork ? b->parent : b->pid, b->start), number = 0, err;
	char *path, *text;
	json_t *j;

	for (;; number++) {
		snprintf(im->dir, sizeof(im->dir), "p%04d", number);
		path = mt_printf("%s/%s", im->trace, im->dir);
		err = mkdir(path, 0777) ? errno : 0;
		if (!err)
			break;
		free(path);
		if (err != EEXIST) {
			mt_error("record: cannot make a directory for process %d: %s", b->pid, strerror(err));
			return false;
		}
	}
	im->file.dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	j = json_pack("{s:i, s:i, s:i, s:s, s:s, s:[s], s:I, s:s, s:s, s:i}", "index", number, "pid", b->pid, "parent", parent, "how",
		      parent < 0 ? "root" : b->how_fork ? "fork" : "exec", "executable", im->exe, "arguments", im->exe, "start_ns",
		      (json_int_t)b->start, "backend", "valgrind", "backend_message",
		      "the program is static, so that no library can be loaded into it: no allocations, no thread names", "page_size_bytes", PAGE);
	text = j ? json_dumps(j, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;
	if (text)
		put_text(im, MT_FILE_IMAGE, text);
	free(text);
	json_decref(j);
	mt_tracefile_open(&im->file, im->file.dirfd, mt_alloc(BUFFER_BYTES), BUFFER_BYTES, mt_alloc(BUFFER_BYTES / 16), BUFFER_BYTES / 16);
	err = mt_tracefile_accesses(&im->file);
	if (err)
		mt_error("record: cannot write the accesses of %s: %s", im->dir, strerror(-err));
	im->first = create(im, MT_FILE_FIRST, "@Virt,Write,Time,TaskId\n");
	return true;
}

static uint64_t first_access(const struct mt_count_row *r)
{
	return r->first_ns[0] - 1 < r->first_ns[1] - 1 ? r->first_ns[0] : r->first_ns[1];	/* 0: none */
}

static int by_first(const void *a, const void *b)
{
	const uint64_t x = first_access(a), y = first_access(b);

	return (x > y) - (x < y);
}

static void note_thread(struct image *im, int tid)
{
	for (size_t i = 0; i < im->n_tids; i++)
		if (im->tids[i] == tid)
			return;
	MT_GROW(im->tids, im->n_tids, im->cap_tids);
	im->tids[im->n_tids++] = tid;
}

/* An interval. Pages that are new to their thread are in the order of the first accesses (docs/reference/trace-files.md). */
static void write_rows(struct image *im, const struct alone_head *h, struct mt_count_row *row)
{
	static const uint64_t unknown_cpus;
	const size_t n = h->bytes / sizeof(*row);
	struct mt_interval_row line = {
		.interval = im->interval++, .start = h->start, .end = h->end, .target = h->end - h->start, .subphases = 1, .records = n,
		.lost_table = h->lost, .accesses = h->accesses,
		.marks = (h->marks & ALONE_EXIT ? MT_MARK_EXIT : 0) | (h->marks & ALONE_EXEC ? MT_MARK_EXEC : 0) |
			 (h->marks & ALONE_FORK ? MT_MARK_FORK : 0),
	};

	qsort(row, n, sizeof(*row), by_first);
	mt_tracefile_interval_begin(&im->file, h->start, h->end);
	for (size_t i = 0; i < n; i++) {
		const struct mt_count_row *r = &row[i];
		const int at = r->at[0] >= 0 ? r->at[0] : r->at[1] >= 0 ? r->at[1] : 0;
		const struct mt_access_row a = {
			.virt = r->page * PAGE + (uint64_t)at, .nreads = r->n[0], .nwrites = r->n[1], .cpus = &unknown_cpus, .cpu_words = 1,
			.tid = r->tid, .node = -1, .read_at = r->n[0] ? r->at[0] : -1, .write_at = r->n[1] ? r->at[1] : -1,
		};

		note_thread(im, r->tid);
		mt_tracefile_access(&im->file, &a);
		for (int w = 0; w < 2 && im->first; w++)
			if (r->first_ns[w])
				fprintf(im->first, "%" PRIx64 ",%d,%" PRIu64 ",%d\n", r->page * PAGE + (uint64_t)(r->at[w] < 0 ? 0 : r->at[w]), w,
					r->first_ns[w], r->tid);
	}
	mt_tracefile_turn(&im->file);
	mt_tracefile_interval_end(&im->file, &line);
}

static void write_sites(struct image *im, const struct mt_site_row *r, size_t n)
{
	if (!im->sites)
		im->sites = create(im, MT_FILE_INSTRUCTIONS, "Id,TaskId,Ip,Write,Bytes,Count,First,Last,Strides\n");
	for (; im->sites && n; n--, r++) {
		const char *between = "";

		fprintf(im->sites, "%" PRIu64 ",%d,%" PRIx64 ",%u,%u,%" PRIu64 ",%" PRIx64 ",%" PRIx64 ",", r->id, r->tid, r->ip, r->write, r->bytes,
			r->n, r->first, r->last);
		for (int i = 0; i < MT_SITE_CLASSES; i++) {
			const struct mt_site_stride *s = &r->stride[i];

			if (!s->same && !s->others)
				continue;
			fprintf(im->sites, "%s%d:%" PRId64 ":%" PRIu64 ":%" PRIu64, between, i - MT_SITE_SAME, s->value, s->same, s->others);
			between = " ";
		}
		fputc('\n', im->sites);
	}
}

static void finish(struct image *im)
{
	FILE *f = create(im, "threads-start.txt", "");

	for (size_t i = 0; f && i < im->n_tids; i++)
		fprintf(f, "%d %s\n", im->tids[i], mt_base(im->exe));
	if (f)
		fclose(f);
	if (im->first && fclose(im->first))
		mt_error("record: cannot write first.csv of %s: %s", im->dir, strerror(errno));
	if (im->sites && fclose(im->sites))
		mt_error("record: cannot write instructions.csv of %s: %s", im->dir, strerror(errno));
	mt_tracefile_close(&im->file);
	if (im->file.dirfd >= 0)
		close(im->file.dirfd);
	free(im->file.accesses.buf);
	free(im->file.intervals.buf);
	free(im->tids);
	free(im->exe);
}

/* False: nothing is in it. */
static bool convert(const char *trace, const char *path)
{
	struct image im = { .trace = trace };
	FILE *f = fopen(path, "re");
	char *data = NULL;
	size_t room = 0;
	struct alone_head h;

	if (!f)
		return false;
	if (!next(f, &im.begin, &data, &room) || im.begin.kind != ALONE_BEGIN) {
		fclose(f);
		free(data);
		return false;
	}
	im.exe = realpath(data, NULL);
	if (!im.exe)
		im.exe = mt_strdup(data);
	if (!make(&im)) {
		fclose(f);
		free(data);
		free(im.exe);
		return false;
	}
	while (next(f, &h, &data, &room))
		switch (h.kind) {
		case ALONE_ROWS: write_rows(&im, &h, (struct mt_count_row *)data); break;
		case ALONE_MAPS: put_text(&im, MT_FILE_MAPS, data); break;
		case ALONE_SITES: write_sites(&im, (const struct mt_site_row *)data, h.bytes / sizeof(struct mt_site_row)); break;
		default: break;
		}
	fclose(f);
	free(data);
	finish(&im);
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return (x->begin.start > y->begin.start) - (x->begin.start < y->begin.start);
}

size_t mt_alone_convert(const char *trace, const char *prefix)
{
	struct file *v = NULL;
	size_t n = 0, cap = 0, made = 0;
	DIR *d = opendir(trace);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const size_t len = strlen(e->d_name), end = strlen(ALONE_SUFFIX);
		struct file one = { NULL };
		FILE *f;

		if (strncmp(e->d_name, prefix, strlen(prefix)) || len < end || strcmp(e->d_name + len - end, ALONE_SUFFIX))
			continue;
		one.path = mt_printf("%s/%s", trace, e->d_name);
		f = fopen(one.path, "re");
		if (f && fread(&one.begin, sizeof(one.begin), 1, f) != 1)
			one.begin.start = 0;
		if (f)
			fclose(f);
		MT_GROW(v, n, cap);
		v[n++] = one;
	}
	if (d)
		closedir(d);
	if (n)
		qsort(v, n, sizeof(*v), by_begin);	/* those that others came from first */
	for (size_t i = 0; i < n; i++) {
		made += convert(trace, v[i].path);
		unlink(v[i].path);
		free(v[i].path);
	}
	free(v);
	return made;
}
