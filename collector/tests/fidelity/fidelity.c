// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Compares a trace directory with the logs that workloads/visits.c wrote about
 * its own accesses, and checks the image against docs/reference/trace-format.md.
 *
 * What a visit [t0, t1] of page P says about the trace
 * ----------------------------------------------------
 * At the border between two intervals the monitor closes the pages one after
 * the other, from End to End + ZapNs of the earlier interval (its row in
 * intervals.csv; with subphases ZapNs is the sum of all of its closings, of which
 * the last one is at End). An access in this window belongs to the earlier
 * interval if its page was not yet closed and to the later one otherwise, and the
 * program cannot know. So a visit may belong to every interval that meets
 * [t0 - w, t1], where w is the window after the beginning of its interval
 * (--slack-ns widens both ends).
 *
 *   definite  exactly one interval remains: the trace must have a record of P
 *             in that interval
 *   border    several remain: the trace must have P in at least one of them.
 *             Its thread and its direction are not used in the tests per interval
 *   outside   before the first interval or after the last
 *
 * Both kinds must be found to 100 %, except in intervals that admit losses
 * (LostRing + LostTable > 0), which are counted apart. Intervals are merged
 * nowhere, and a visit is never left out because it was not found.
 *
 * The tests per (interval, page), over the pages with a definite visit:
 *   written     a definite store by a thread, and no visit by the kernel: the
 *               record must have Nwrites > 0 (the kernel's own accesses may be told
 *               with unknown direction; after one of them a store faults no more)
 *   read-only   loads only, also among the border visits: Nwrites must be 0
 *   alone       definite visits by one thread and none by the kernel, and no border visit by
 *               another: that thread must be in the trace
 *   foreign     a record of a thread of a page of the classes p, s, b: that thread must have visited it
 *   shared      definite visits by two threads: records of two threads. How many are seen depends on
 *               when the threads ran
 *   threads     (interval, page, thread) found, for information
 * and over the whole run: (page, thread) pairs found, for information, as it depends on how often a
 * thread was the first one at a page in a subphase.
 *   invented    records of pages of the classes p, s, b (which nobody but the
 *               logged visits touches) in an interval without any visit
 * Records with flag 8 (mapped around a read, perhaps not touched) are found like others, but are
 * no invention; how many of them were not touched is told. They fail unless --around allows them, and
 * a page that has a record without the flag in the same interval must have none with it. "alone" leaves
 * such records out: they name no thread.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static int page_shift = 12;	/* of the kernel on which it was recorded */
#define FLAG_SCAN 1U
#define FLAG_UNKNOWN 2U
#define FLAG_AROUND 8U
#define KIND_LOAD 1U
#define KIND_STORE 2U
#define KIND_KERNEL_READ 4U
#define KIND_KERNEL_WRITE 8U
#define MAX_FIELDS 32
#define MAX_FORMAT_ERRORS 10
#define LATE_EVENTS 5

struct interval {
	int64_t start, end, window, lost;
	int lossy;		/* it, or the next one for it, tells losses */
};

struct record {
	int32_t interval, tid;
	uint64_t page, reads, writes;
	uint32_t flags;
};

struct visit {
	uint64_t page;
	int64_t t0, t1;
	int32_t tid;
	uint32_t kind;
	char class;
};

/* A visit turned into what it says about one interval. */
struct claim {
	int32_t interval, tid;
	uint64_t page;
	uint32_t kind;
};

struct list {
	void *at;
	size_t count, room;
};

static struct thresholds {
	double pages, written, wrong, alone, shared, invented, foreign, lossy;
	int64_t slack_ns;
	long compared;
	int around, no_threads, killed, show_definite, show_wrong, expect_lossless, format_only;
} want = {
	.pages = 100, .written = 99, .wrong = 1, .alone = 99.9, .shared = -1,
	.invented = 0.1, .foreign = 0.1, .compared = 500,
};

/*
 * Status 1: the trace is wrong. Status 3: only what depends on how the threads were scheduled
 * is too low (sharing), or too little could be compared.
 */
static int failures, soft_failures, format_errors;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list ap;

	fputs("fidelity: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void *grow(struct list *l, size_t size)
{
	if (l->count == l->room) {
		l->room = l->room ? l->room * 2 : 4096;
		l->at = realloc(l->at, l->room * size);
		if (!l->at)
			die("out of memory");
	}
	return (char *)l->at + l->count++ * size;
}

static void __attribute__((format(printf, 3, 4)))
bad_format(const char *file, long line, const char *format, ...)
{
	va_list ap;

	if (format_errors++ >= MAX_FORMAT_ERRORS)
		return;
	printf("FORMAT %s:%ld: ", file, line);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* ---- reading ------------------------------------------------------------ */

static char *read_plain(FILE *f, size_t *size)
{
	size_t room = 1 << 16, n = 0, k;
	char *p = malloc(room + 1);

	while (p && (k = fread(p + n, 1, room - n, f)) > 0) {
		n += k;
		if (n == room)
			p = realloc(p, (room *= 2) + 1);
	}
	if (!p)
		die("out of memory");
	p[n] = 0;
	*size = n;
	return p;
}

static char *unpack(const char *name, char *packed, size_t size, size_t *out_size)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	ZSTD_inBuffer in = { packed, size, 0 };
	size_t room = size * 8 + 4096, left = 0;
	ZSTD_outBuffer out = { malloc(room + 1), room, 0 };

	while (in.pos < in.size) {
		if (!out.dst || !ctx)
			die("out of memory");
		left = ZSTD_decompressStream(ctx, &out, &in);
		if (ZSTD_isError(left))
			die("%s: %s", name, ZSTD_getErrorName(left));
		if (out.pos == out.size) {
			out.size *= 2;
			out.dst = realloc(out.dst, out.size + 1);
		}
	}
	if (left)
		die("%s: the last zstd frame is incomplete", name);
	ZSTD_freeDCtx(ctx);
	free(packed);
	((char *)out.dst)[out.pos] = 0;
	*out_size = out.pos;
	return out.dst;
}

/* The whole file, unpacked, with a 0 behind it; NULL if it does not exist. */
static char *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	size_t len = strlen(name);
	char *p;

	if (!f)
		return NULL;
	p = read_plain(f, size);
	fclose(f);
	if (len > 4 && !strcmp(name + len - 4, ".zst"))
		p = unpack(name, p, *size, size);
	return p;
}

struct csv {
	const char *name;
	char *text, *next;
	long line;
	int columns;
	char *header[MAX_FIELDS], *field[MAX_FIELDS];
};

/* Splits in place; the files that are read here have no quoted fields. */
static int split(char *line, char **fields)
{
	int n = 0;

	while (n < MAX_FIELDS) {
		fields[n++] = line;
		line = strchr(line, ',');
		if (!line)
			break;
		*line++ = 0;
	}
	return n;
}

static int csv_next(struct csv *c)
{
	char *end;

	for (;;) {
		if (!*c->next)
			return 0;
		end = strchr(c->next, '\n');
		if (!end) {
			printf("note: %s: incomplete last line dropped\n", c->name);
			return 0;
		}
		*end = 0;
		c->line++;
		if (c->next[0] == '#') {
			c->next = end + 1;
			continue;
		}
		if (end > c->next && end[-1] == '\r')
			bad_format(c->name, c->line, "CR before LF");
		int n = split(c->next, c->header[0] ? c->field : c->header);

		c->next = end + 1;
		if (!c->columns) {
			c->columns = n;
			return 1;
		}
		if (n != c->columns) {
			bad_format(c->name, c->line, "%d fields, the header has %d", n, c->columns);
			continue;
		}
		return 1;
	}
}

static void csv_close(struct csv *c);

/* 1, 0 when the file cannot be opened (errno), -1 when it has no complete line. */
static int csv_open(struct csv *c, const char *name)
{
	size_t size;

	memset(c, 0, sizeof(*c));
	c->name = strdup(name);
	c->text = c->next = read_file(name, &size);
	if (!c->text)
		return 0;
	if (strlen(c->text) != size)
		bad_format(name, 0, "contains a byte 0");
	if (!csv_next(c)) {
		/* a writer killed before its first write */
		printf("note: %s: empty\n", name);
		csv_close(c);
		return -1;
	}
	return 1;
}

static void csv_close(struct csv *c)
{
	free(c->text);
	free((char *)(uintptr_t)c->name);
}

static int csv_column(const struct csv *c, const char *name)
{
	for (int i = 0; i < c->columns; i++)
		if (!strcmp(c->header[i], name))
			return i;
	return -1;
}

static int csv_need(const struct csv *c, const char *name)
{
	int i = csv_column(c, name);

	if (i < 0)
		die("%s: there is no column %s", c->name, name);
	return i;
}

static int64_t decimal(const struct csv *c, int column)
{
	char *end;
	int64_t v;

	errno = 0;
	v = strtoll(c->field[column], &end, 10);
	if (errno || *end || end == c->field[column] || isspace(c->field[column][0]))
		bad_format(c->name, c->line, "'%s' is not a decimal number", c->field[column]);
	return v;
}

static uint64_t hexadecimal(const struct csv *c, int column)
{
	const char *s = c->field[column];
	uint64_t v = 0;
	const char *p = s;

	for (; *p; p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (*p || p == s)
		bad_format(c->name, c->line, "'%s' is not a lower-case hexadecimal number", s);
	return v;
}

static void read_intervals(const char *dir, struct list *out)
{
	char name[4096];
	struct csv c;
	int number, start, end, zap, ring, table;

	snprintf(name, sizeof(name), "%s/intervals.csv", dir);
	switch (csv_open(&c, name)) {
	case 0:
		die("%s: %s", name, strerror(errno));
	case -1:
		return;
	}
	number = csv_need(&c, "Interval");
	start = csv_need(&c, "Start");
	end = csv_need(&c, "End");
	csv_need(&c, "ScanNs");
	zap = csv_need(&c, "ZapNs");
	ring = csv_need(&c, "LostRing");
	table = csv_need(&c, "LostTable");
	while (csv_next(&c)) {
		struct interval i = {
			.start = decimal(&c, start), .end = decimal(&c, end), .window = decimal(&c, zap),
			.lost = decimal(&c, ring) + decimal(&c, table),
		};
		const struct interval *last = out->count ?
			(struct interval *)out->at + out->count - 1 : NULL;

		if (i.start >= i.end)
			bad_format(name, c.line, "the interval is empty");
		if (last && i.start < last->end)
			bad_format(name, c.line, "begins before the one above ends");
		if (last && i.start > last->end)
			bad_format(name, c.line, "leaves a gap of %ld ns",
				   (long)(i.start - last->end));
		if (decimal(&c, number) != (int64_t)out->count)
			bad_format(name, c.line, "interval %s should have number %zu",
				   c.field[number], out->count);
		*(struct interval *)grow(out, sizeof(i)) = i;
	}
	csv_close(&c);
}

static int find_interval(const struct list *intervals, int64_t start)
{
	const struct interval *at = intervals->at;
	size_t low = 0, high = intervals->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (at[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < intervals->count && at[low].start == start ? (int)low : -1;
}

static void read_chunk(const char *name, const struct list *intervals, struct list *out)
{
	static const char *const moca[] = {
		"@Virt", "@Phy", "Nreads", "Nwrites", "CPUMask", "Start", "End", "TaskId",
	};
	int flags, ip, node;
	int64_t last = INT64_MIN;
	struct csv c;

	switch (csv_open(&c, name)) {
	case 0:
		die("%s: %s", name, strerror(errno));
	case -1:
		return;
	}
	for (int i = 0; i < 8; i++)
		if (i >= c.columns || strcmp(c.header[i], moca[i]))
			die("%s: column %d should be %s", name, i + 1, moca[i]);
	flags = csv_column(&c, "Flags");
	ip = csv_column(&c, "Ip");
	node = csv_column(&c, "Node");
	while (csv_next(&c)) {
		int64_t start = decimal(&c, 5), end = decimal(&c, 6);
		int i = find_interval(intervals, start);
		struct record r = {
			.interval = i, .tid = (int32_t)decimal(&c, 7),
			.page = hexadecimal(&c, 0) >> page_shift,
			.reads = (uint64_t)decimal(&c, 2), .writes = (uint64_t)decimal(&c, 3),
			.flags = flags < 0 ? 0 : (uint32_t)hexadecimal(&c, flags),
		};

		hexadecimal(&c, 1);
		hexadecimal(&c, 4);
		if (ip >= 0)
			hexadecimal(&c, ip);
		if (node >= 0)
			decimal(&c, node);
		if (!r.reads && !r.writes)
			bad_format(name, c.line, "neither reads nor writes");
		if ((int64_t)r.reads < 0 || (int64_t)r.writes < 0)
			bad_format(name, c.line, "negative count");
		if (r.tid == 0 || r.tid < -1)
			bad_format(name, c.line, "TaskId %d", r.tid);
		if (start < last)
			bad_format(name, c.line, "the lines are not ordered by Start");
		if (i < 0 || ((struct interval *)intervals->at)[i].end != end) {
			bad_format(name, c.line, "[%ld, %ld) is no interval of intervals.csv",
				   (long)start, (long)end);
			continue;
		}
		last = start;
		*(struct record *)grow(out, sizeof(r)) = r;
	}
	csv_close(&c);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->interval != y->interval)
		return x->interval < y->interval ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void read_accesses(const char *dir, const struct list *intervals, struct list *out)
{
	const struct record *r;
	char name[4096];
	int chunks = 0;

	for (;; chunks++) {
		snprintf(name, sizeof(name), "%s/accesses-%06d.csv", dir, chunks);
		if (access(name, R_OK)) {
			strcat(name, ".zst");
			if (access(name, R_OK))
				break;
		}
		read_chunk(name, intervals, out);
	}
	if (!chunks)
		printf("note: %s has no chunk of accesses\n", dir);
	if (out->count)
		qsort(out->at, out->count, sizeof(*r), compare_records);
	r = out->at;
	for (size_t i = 1; i < out->count; i++)
		if (r[i - 1].interval == r[i].interval && r[i - 1].page == r[i].page &&
		    (r[i - 1].flags ^ r[i].flags) & FLAG_AROUND)
			bad_format(dir, 0, "page %lx in interval %d has a record with flag 8 and one without",
				   (unsigned long)r[i].page << page_shift, r[i].interval);
	for (size_t i = 1; i < out->count; i++)
		if (!compare_records(&r[i - 1], &r[i]))
			bad_format(dir, 0, "two lines for page %lx and thread %d in interval %d",
				   (unsigned long)r[i].page << page_shift, r[i].tid, r[i].interval);
}

/* The number after "key": in a JSON object without nesting of that key. */
static int64_t json_number(const char *text, const char *key)
{
	char pattern[64];
	const char *p;

	snprintf(pattern, sizeof(pattern), "\"%s\"", key);
	p = strstr(text, pattern);
	if (!p)
		return INT64_MIN;
	p += strlen(pattern);
	while (*p == ' ' || *p == ':' || *p == '\n' || *p == '\t')
		p++;
	return strtoll(p, NULL, 10);
}

/* The image of this process that began last before the program did. */
static void find_image(const char *trace, int64_t pid, int64_t start, char *out, size_t size)
{
	struct dirent *e;
	int64_t best = INT64_MIN;
	DIR *d = opendir(trace);

	if (!d)
		die("%s: %s", trace, strerror(errno));
	out[0] = 0;
	while ((e = readdir(d))) {
		char name[4096];
		size_t n;
		char *json;

		if (e->d_name[0] != 'p' || !isdigit((unsigned char)e->d_name[1]))
			continue;
		snprintf(name, sizeof(name), "%s/%s/image.json", trace, e->d_name);
		json = read_file(name, &n);
		if (!json)
			continue;
		int64_t t = json_number(json, "start_ns");

		if (json_number(json, "pid") == pid && t <= start && t > best) {
			best = t;
			snprintf(out, size, "%s/%s", trace, e->d_name);
		}
		free(json);
	}
	closedir(d);
}

static void read_log(const char *name, struct list *out, int64_t *pid, int64_t *start)
{
	struct csv c;
	size_t size;
	char *text = read_file(name, &size);

	if (!text)
		die("%s: %s", name, strerror(errno));
	long p, s;

	if (sscanf(text, "# memtrace visits 1 pid=%ld generation=%*d start=%ld", &p, &s) != 2)
		die("%s is not a log of visits", name);
	*pid = p;
	*start = s;
	free(text);
	if (csv_open(&c, name) != 1)
		die("%s: cannot be read", name);
	while (csv_next(&c)) {
		struct visit v = {
			.page = hexadecimal(&c, 0) >> page_shift,
			.t0 = decimal(&c, 1), .t1 = decimal(&c, 2),
			.tid = (int32_t)decimal(&c, 5), .class = c.field[4][0],
		};

		switch (c.field[3][0]) {
		case 'r': v.kind = KIND_LOAD; break;
		case 'w': v.kind = KIND_STORE; break;
		case 'R': v.kind = KIND_KERNEL_READ; break;
		case 'W': v.kind = KIND_KERNEL_WRITE; break;
		default: die("%s:%ld: kind '%s'", name, c.line, c.field[3]);
		}
		*(struct visit *)grow(out, sizeof(v)) = v;
	}
	csv_close(&c);
}

/* ---- comparing ---------------------------------------------------------- */

static const struct record *find_record(const struct list *records, int interval, uint64_t page)
{
	const struct record *at = records->at;
	size_t low = 0, high = records->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (at[mid].interval < interval ||
		    (at[mid].interval == interval && at[mid].page < page))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < records->count && at[low].interval == interval && at[low].page == page)
		return &at[low];
	return NULL;
}

/* Index of the last interval with start <= t, -1 if t is before the first. */
static int interval_at(const struct list *intervals, int64_t t)
{
	const struct interval *at = intervals->at;
	size_t low = 0, high = intervals->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (at[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return (int)low - 1;
}

/*
 * The intervals that a visit may belong to: first..last. 0 when it lies outside
 * of the recording.
 */
static int candidates(const struct list *intervals, const struct visit *v, int *first, int *last)
{
	const struct interval *at = intervals->at;
	int n = (int)intervals->count, a, b;

	if (!n || v->t1 < at[0].start || v->t0 >= at[n - 1].end)
		return 0;
	a = interval_at(intervals, v->t0);
	b = interval_at(intervals, v->t1);
	if (a < 0)
		a = 0;
	/* in the window after the beginning: perhaps still the one before */
	if (a > 0 && v->t0 - at[a].start <= at[a - 1].window + want.slack_ns)
		a--;
	/* in the window before the end; closing begins at End, so this is for
	 * the reading of the two clocks only */
	if (b + 1 < n && at[b].end - v->t1 <= want.slack_ns)
		b++;
	*first = a;
	*last = b;
	return 1;
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->interval != y->interval)
		return x->interval < y->interval ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void add_claim(struct list *l, int interval, const struct visit *v)
{
	*(struct claim *)grow(l, sizeof(struct claim)) =
		(struct claim){ interval, v->tid, v->page, v->kind };
}

static void sort_claims(struct list *l)
{
	if (l->count)
		qsort(l->at, l->count, sizeof(struct claim), compare_claims);
}

/* Index of the first claim on (interval, page) or behind. */
static size_t first_claim(const struct list *l, int interval, uint64_t page)
{
	const struct claim *at = l->at;
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (at[mid].interval < interval ||
		    (at[mid].interval == interval && at[mid].page < page))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* All kinds of the claims on (interval, page). */
static uint32_t claimed(const struct list *l, int interval, uint64_t page)
{
	const struct claim *at = l->at;
	uint32_t kinds = 0;

	for (size_t i = first_claim(l, interval, page);
	     i < l->count && at[i].interval == interval && at[i].page == page; i++)
		kinds |= at[i].kind;
	return kinds;
}

static int claimed_by(const struct list *l, int interval, uint64_t page, int32_t tid)
{
	const struct claim *at = l->at;

	for (size_t i = first_claim(l, interval, page);
	     i < l->count && at[i].interval == interval && at[i].page == page; i++)
		if (at[i].tid == tid)
			return 1;
	return 0;
}

/* Is there a claim on (interval, page) by another thread than this one? */
static int claimed_by_another(const struct list *l, int interval, uint64_t page, int32_t tid)
{
	const struct claim *at = l->at;

	for (size_t i = first_claim(l, interval, page);
	     i < l->count && at[i].interval == interval && at[i].page == page; i++)
		if (at[i].tid != tid)
			return 1;
	return 0;
}

struct ratio {
	long good, all;
};

static double percent(struct ratio r)
{
	return r.all ? 100.0 * (double)r.good / (double)r.all : 100.0;
}

static int bad_ratio(const char *what, struct ratio r, int bad_if, double limit)
{
	double p = percent(r);
	int bad = r.all && ((bad_if < 0 && p < limit) || (bad_if > 0 && p > limit));

	printf("  %-46s %10ld of %10ld = %8.4f %%", what, r.good, r.all, p);
	if (bad_if)
		printf("  (%s %g) %s", bad_if < 0 ? "at least" : "at most", limit,
		       bad ? "FAILED" : "ok");
	putchar('\n');
	return bad;
}

static void report(const char *what, struct ratio r, int bad_if, double limit)
{
	failures += bad_ratio(what, r, bad_if, limit);
}

static void report_soft(const char *what, struct ratio r, int bad_if, double limit)
{
	soft_failures += bad_ratio(what, r, bad_if, limit);
}

struct pair {
	uint64_t page;
	int32_t tid;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void sort_unique_pairs(struct list *l)
{
	struct pair *p = l->at;
	size_t n = 0;

	if (!l->count)
		return;
	qsort(p, l->count, sizeof(*p), compare_pairs);
	for (size_t i = 0; i < l->count; i++)
		if (!n || compare_pairs(&p[n - 1], &p[i]))
			p[n++] = p[i];
	l->count = n;
}

/* Over the whole run: which threads touched which page. */
static struct ratio run_threads(const struct list *visits, const struct list *records)
{
	const struct visit *v = visits->at;
	const struct record *r = records->at;
	struct list truth = { 0 }, seen = { 0 };
	struct ratio out = { 0, 0 };

	for (size_t i = 0; i < visits->count; i++)
		if (v[i].kind & (KIND_LOAD | KIND_STORE))
			*(struct pair *)grow(&truth, sizeof(struct pair)) =
				(struct pair){ v[i].page, v[i].tid };
	for (size_t i = 0; i < records->count; i++)
		*(struct pair *)grow(&seen, sizeof(struct pair)) =
			(struct pair){ r[i].page, r[i].tid };
	sort_unique_pairs(&truth);
	sort_unique_pairs(&seen);
	out.all = (long)truth.count;
	for (size_t i = 0; i < truth.count; i++)
		out.good += seen.count && bsearch((struct pair *)truth.at + i, seen.at,
			seen.count, sizeof(struct pair), compare_pairs) != NULL;
	free(truth.at);
	free(seen.at);
	return out;
}

static int compare_pages(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The pages that only logged visits touch, sorted, some of them more than once. */
static struct list known_pages(const struct list *visits)
{
	const struct visit *v = visits->at;
	struct list pages = { 0 };

	for (size_t i = 0; i < visits->count; i++)
		if (v[i].class == 'p' || v[i].class == 's' || v[i].class == 'b')
			*(uint64_t *)grow(&pages, sizeof(uint64_t)) = v[i].page;
	if (pages.count)
		qsort(pages.at, pages.count, sizeof(uint64_t), compare_pages);
	return pages;
}

static int is_known(const struct list *pages, uint64_t page)
{
	return pages->count && bsearch(&page, pages->at, pages->count, sizeof(uint64_t), compare_pages);
}

/* Records of threads of pages that only logged visits touch, in intervals without a visit of that thread. */
static struct ratio foreign(const struct list *visits, const struct list *records,
			    const struct list *definite, const struct list *border)
{
	const struct record *r = records->at;
	struct list pages = known_pages(visits);
	struct ratio out = { 0, 0 };

	for (size_t i = 0; i < records->count; i++) {
		if (r[i].tid < 0 || r[i].flags & FLAG_AROUND || !is_known(&pages, r[i].page))
			continue;
		out.all++;
		out.good += !claimed_by(definite, r[i].interval, r[i].page, r[i].tid) &&
			!claimed_by(border, r[i].interval, r[i].page, r[i].tid);
	}
	free(pages.at);
	return out;
}

/* Records with flag 8 or without (@flag) of pages that only logged visits touch, in intervals without one. */
static struct ratio invented(const struct list *visits, const struct list *records,
			     const struct list *definite, const struct list *border, uint32_t flag)
{
	const struct record *r = records->at;
	struct list pages = known_pages(visits);
	struct ratio out = { 0, 0 };

	for (size_t i = 0; i < records->count; i++) {
		if ((r[i].flags & FLAG_AROUND) != flag || !is_known(&pages, r[i].page))
			continue;
		out.all++;
		out.good += !claimed(definite, r[i].interval, r[i].page) &&
			!claimed(border, r[i].interval, r[i].page);
	}
	free(pages.at);
	return out;
}

struct totals {
	struct ratio pages, lossy, border, border_lossy, written, wrong, threads, alone, shared;
	struct ratio mixed, kernel_written, kernel_wrong;
	struct ratio definite;
	long outside, unknown, shown;
};

/* One (interval, page) with its definite claims c[0..n) (sorted by thread). */
static void check_page(const struct claim *c, size_t n, const struct list *intervals,
		       const struct list *records, const struct list *border, struct totals *t)
{
	const struct interval *in = (struct interval *)intervals->at + c->interval;
	const struct record *r = find_record(records, c->interval, c->page);
	const struct record *end = (struct record *)records->at + records->count, *q;
	uint64_t writes = 0, scan_only = 1, unknown = 0, around = 0;
	long threads = 0, seen = 0, in_trace = 0;
	uint32_t kinds = 0, stored;
	int kernel_free;

	if (in->lossy) {
		t->lossy.all++;
		t->lossy.good += r != NULL;
		return;
	}
	t->pages.all++;
	t->pages.good += r != NULL;
	if (!r && t->shown++ < 10)
		printf("  missing: interval %d [%ld, %ld) page %lx, %zu visits of kinds %x\n",
		       c->interval, (long)in->start, (long)in->end,
		       (unsigned long)c->page << page_shift, n, c->kind);
	if (r && want.show_definite)
		printf("definite %ld %lx\n", (long)in->start,
		       (unsigned long)c->page << page_shift);
	for (q = r; q && q < end && q->interval == c->interval && q->page == c->page; q++) {
		writes += q->writes;
		unknown |= q->flags & FLAG_UNKNOWN;
		scan_only &= q->flags & FLAG_SCAN;
		around |= q->flags & FLAG_AROUND;
		in_trace += q->tid > 0;
	}
	for (size_t i = 0; i < n; i++) {
		kinds |= c[i].kind;
		if (!(c[i].kind & (KIND_LOAD | KIND_STORE)) || (i && c[i].tid == c[i - 1].tid))
			continue;
		threads++;
		for (q = r; q && q < end && q->interval == c->interval && q->page == c->page; q++)
			if (q->tid == c[i].tid) {
				seen++;
				break;
			}
	}
	kernel_free = !((kinds | claimed(border, c->interval, c->page)) & (KIND_KERNEL_READ | KIND_KERNEL_WRITE));
	t->unknown += unknown != 0;
	t->threads.all += threads;
	t->threads.good += seen;
	if (threads == 1 && kernel_free && !around && c[0].tid == c[n - 1].tid &&
	    !claimed_by_another(border, c->interval, c->page, c->tid)) {
		t->alone.all++;
		t->alone.good += seen;
		if (!seen && want.show_wrong)
			printf("  nobody: interval %d [%ld, %ld) page %lx of %d, %ld threads in the trace\n",
			       c->interval, (long)in->start, (long)in->end,
			       (unsigned long)c->page << page_shift, c->tid, in_trace);
	}
	if (threads > 1) {
		t->shared.all++;
		t->shared.good += in_trace > 1;
	}
	if (!r)
		return;
	stored = kinds & KIND_STORE;
	kinds |= claimed(border, c->interval, c->page);
	if (stored && !(kinds & (KIND_KERNEL_READ | KIND_KERNEL_WRITE))) {
		t->written.all++;
		t->written.good += writes > 0;
	} else if (stored) {
		t->mixed.all++;
		t->mixed.good += writes > 0;
	}
	if (kinds == KIND_KERNEL_WRITE) {
		t->kernel_written.all++;
		t->kernel_written.good += writes > 0;
	} else if (kinds == KIND_KERNEL_READ) {
		t->kernel_wrong.all++;
		t->kernel_wrong.good += writes > 0;
	}
	if (kinds == KIND_LOAD) {
		t->wrong.all++;
		t->wrong.good += writes > 0;
		if (writes && want.show_wrong)
			printf("  wrong: interval %d [%ld, %ld) page %lx flagged written, %zu loads\n",
			       c->interval, (long)in->start, (long)in->end,
			       (unsigned long)c->page << page_shift, n);
	}
}

static void check_border(const struct visit *v, int first, int last,
			 const struct list *intervals, const struct list *records,
			 struct totals *t)
{
	const struct interval *in = intervals->at;
	int lossy = 0, found = 0;

	for (int i = first; i <= last; i++) {
		lossy |= in[i].lossy;
		found |= find_record(records, i, v->page) != NULL;
	}
	if (lossy) {
		t->border_lossy.all++;
		t->border_lossy.good += found;
		return;
	}
	t->border.all++;
	t->border.good += found;
	if (!found && t->shown++ < 10)
		printf("  missing at a border: visit [%ld, %ld] of page %lx, intervals %d..%d\n",
		       (long)v->t0, (long)v->t1, (unsigned long)v->page << page_shift, first, last);
}

static void compare(const char *dir, const struct list *visits, const struct list *intervals,
		    const struct list *records)
{
	const struct interval *in = intervals->at;
	const struct visit *v = visits->at;
	struct list definite = { 0 }, border = { 0 };
	struct totals t = { 0 };
	int64_t lost = 0, window = 0, length = 0;
	struct ratio around = { 0, 0 };
	const struct claim *c;
	long compared;

	/* what did not fit into a ring is told by the kernel with the next event that does, perhaps an interval later */
	for (size_t i = 0; i < intervals->count; i++) {
		struct interval *one = (struct interval *)intervals->at + i;

		one->lossy = one->lost || (i + 1 < intervals->count && one[1].lost);
	}
	for (size_t i = 0; i < visits->count; i++) {
		int first, last;

		if (!candidates(intervals, &v[i], &first, &last)) {
			t.outside++;
			continue;
		}
		t.definite.all++;
		if (first == last) {
			t.definite.good++;
			add_claim(&definite, first, &v[i]);
			continue;
		}
		check_border(&v[i], first, last, intervals, records, &t);
		for (int k = first; k <= last; k++)
			add_claim(&border, k, &v[i]);
	}
	sort_claims(&definite);
	sort_claims(&border);
	c = definite.at;
	for (size_t i = 0, k; i < definite.count; i = k) {
		for (k = i + 1; k < definite.count && c[k].interval == c[i].interval &&
		     c[k].page == c[i].page; k++)
			;
		check_page(&c[i], k - i, intervals, records, &border, &t);
	}
	for (size_t i = 0; i < intervals->count; i++) {
		lost += in[i].lost;
		window += in[i].window;
		length += in[i].end - in[i].start;
	}

	printf("%s: %zu intervals of %.1f ms (windows %.2f %%), %zu records, %zu visits, lost %ld\n",
	       dir, intervals->count,
	       intervals->count ? (double)length / 1e6 / (double)intervals->count : 0,
	       length ? 100.0 * (double)window / (double)length : 0,
	       records->count, visits->count, (long)lost);
	report("visits that belong to one interval", t.definite, 0, 0);
	report("(interval, page) found", t.pages, -1, want.pages);
	report("border visits found in one of theirs", t.border, -1, want.pages);
	if (t.lossy.all || t.border_lossy.all) {
		report("(interval, page) found where losses are told", t.lossy, -1, want.lossy);
		report("border visits found where losses are told", t.border_lossy, -1, want.lossy);
	}
	/* under overload the intervals without losses are few, and some of these have losses that are told elsewhere */
	(want.lossy > 0 ? report_soft : report)("written pages flagged written", t.written, -1, want.written);
	(want.lossy > 0 ? report_soft : report)("pages only read, flagged written", t.wrong, 1, want.wrong);
	if (t.mixed.all || t.kernel_written.all || t.kernel_wrong.all) {
		report("written pages that the kernel used, too", t.mixed, 0, 0);
		report("pages only written by the kernel, flagged so", t.kernel_written, 0, 0);
		report("pages only read by the kernel, flagged written", t.kernel_wrong, 0, 0);
	}
	report("records of pages that nobody touched", invented(visits, records, &definite, &border, 0),
	       1, want.invented);
	around.all = (long)records->count;
	for (size_t i = 0; i < records->count; i++)
		around.good += (((const struct record *)records->at)[i].flags & FLAG_AROUND) != 0;
	report("records that may not have been touched", around, want.around ? 0 : 1, 0);
	if (want.around)
		report("of these, not touched", invented(visits, records, &definite, &border, FLAG_AROUND), 0, 0);
	report("(interval, page, thread) found", t.threads, 0, 0);
	/*
	 * A thread that is preempted between the service of its fault and the event, across a boundary, leaves the page
	 * without a thread: 0 to 2 in a run at load 20. Among few pairs that is bad luck, too.
	 */
	(want.lossy > 0 || t.alone.all - t.alone.good <= LATE_EVENTS ? report_soft : report)("pages of one thread, that thread found", t.alone,
									      want.no_threads ? 0 : -1, want.alone);
	report("threads that did not touch their page", foreign(visits, records, &definite, &border),
	       1, want.foreign);
	report_soft("shared pages seen as shared", t.shared,
	       want.no_threads || want.shared < 0 ? 0 : -1, want.shared);
	report("(page, thread) found in the whole run", run_threads(visits, records), 0, 0);
	printf("  %ld pages with unknown direction, %ld visits outside of the recording\n",
	       t.unknown, t.outside);
	if (t.outside) {
		printf("  visits outside of the recording: FAILED\n");
		failures++;
	}
	compared = t.pages.all + (want.lossy > 0 ? t.lossy.all : 0);
	if (compared < want.compared) {
		printf("  %ld pairs (interval, page) could be compared, %ld wanted: FAILED\n",
		       compared, want.compared);
		soft_failures++;
	}
	if (want.expect_lossless && lost) {
		printf("  %ld accesses lost, none expected: FAILED\n", (long)lost);
		failures++;
	}
	free(definite.at);
	free(border.at);
}

/* ---- commands ----------------------------------------------------------- */

static void check_log(const char *trace, const char *log)
{
	struct list visits = { 0 }, intervals = { 0 }, records = { 0 };
	int64_t pid, start;
	char dir[4096];

	read_log(log, &visits, &pid, &start);
	find_image(trace, pid, start, dir, sizeof(dir));
	if (!dir[0])
		die("%s has no image of process %ld (%s)", trace, (long)pid, log);
	read_intervals(dir, &intervals);
	read_accesses(dir, &intervals, &records);
	compare(dir, &visits, &intervals, &records);
	free(visits.at);
	free(intervals.at);
	free(records.at);
}

/* image.json must exist; "backend": "none" means that there are no accesses. */
static int without_backend(const char *dir)
{
	char name[4200];
	const char *p;
	size_t size;
	char *json;
	int none;

	snprintf(name, sizeof(name), "%s/image.json", dir);
	json = read_file(name, &size);
	if (!json && want.killed) {
		printf("note: %s: missing, killed before it was written\n", name);
		return 1;
	}
	if (!json || !(p = strstr(json, "\"backend\""))) {
		bad_format(name, 0, json ? "no backend" : "missing");
		free(json);
		return 1;
	}
	p += strlen("\"backend\"");
	p += strspn(p, ": \t\n");
	none = !strncmp(p, "\"none\"", 6);
	snprintf(name, sizeof(name), "%s/intervals.csv", dir);
	none = none && access(name, R_OK);
	free(json);
	return none;
}

/* Every image of a trace against the text of the format, without a log. */
static void check_format(const char *trace)
{
	char name[4100];
	int images = 0;

	for (int i = 0; ; i++) {
		struct list intervals = { 0 }, records = { 0 };

		snprintf(name, sizeof(name), "%s/p%04d", trace, i);
		if (access(name, R_OK | X_OK))
			break;
		images++;
		if (without_backend(name)) {
			printf("%s: no backend, 0 records\n", name);
			continue;
		}
		read_intervals(name, &intervals);
		read_accesses(name, &intervals, &records);
		printf("%s: %zu intervals, %zu records\n", name, intervals.count, records.count);
		free(intervals.at);
		free(records.at);
	}
	if (!images && want.killed)
		printf("note: %s: no image, killed before it began\n", trace);
	else if (!images)
		die("%s has no image", trace);
}

/* Of the kernel on which the trace was recorded; traces made by hand need not tell. */
static void read_page_size(const char *trace)
{
	char name[4096], *json;
	int64_t bytes;
	size_t n;

	snprintf(name, sizeof(name), "%s/manifest.json", trace);
	json = read_file(name, &n);
	if (!json)
		return;
	bytes = json_number(json, "page_size_bytes");
	if (bytes >= 4096 && !(bytes & (bytes - 1)))
		page_shift = __builtin_ctzll((unsigned long long)bytes);
	free(json);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pages", 1, NULL, 'p' }, { "written", 1, NULL, 'w' }, { "wrong", 1, NULL, 'x' },
		{ "shared", 1, NULL, 's' }, { "lossy", 1, NULL, 'y' }, { "alone", 1, NULL, 't' },
		{ "invented", 1, NULL, 'i' }, { "foreign", 1, NULL, 'd' },
		{ "slack-ns", 1, NULL, 'k' }, { "no-threads", 0, NULL, 'n' },
		{ "list-definite", 0, NULL, 'l' }, { "list-wrong", 0, NULL, 'W' }, { "lossless", 0, NULL, 'L' },
		{ "compared", 1, NULL, 'c' }, { "around", 0, NULL, 'a' },
		{ "format", 0, NULL, 'f' }, { "killed", 0, NULL, 'K' }, { NULL, 0, NULL, 0 },
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (o) {
		case 'p': want.pages = atof(optarg); break;
		case 'w': want.written = atof(optarg); break;
		case 'x': want.wrong = atof(optarg); break;
		case 's': want.shared = atof(optarg); break;
		case 't': want.alone = atof(optarg); break;
		case 'y': want.lossy = atof(optarg); break;
		case 'i': want.invented = atof(optarg); break;
		case 'd': want.foreign = atof(optarg); break;
		case 'c': want.compared = atol(optarg); break;
		case 'k': want.slack_ns = atoll(optarg); break;
		case 'n': want.no_threads = 1; break;
		case 'a': want.around = 1; break;
		case 'l': want.show_definite = 1; break;
		case 'K': want.killed = 1; break;
		case 'W': want.show_wrong = 1; break;
		case 'L': want.expect_lossless = 1; break;
		case 'f': want.format_only = 1; break;
		default: return 2;
		}
	if (argc - optind < (want.format_only ? 1 : 2)) {
		fputs("usage: fidelity [options] TRACE LOG...\n"
		      "       fidelity --format [--killed] TRACE\n", stderr);
		return 2;
	}
	read_page_size(argv[optind]);
	if (want.format_only)
		check_format(argv[optind]);
	else
		for (int i = optind + 1; i < argc; i++)
			check_log(argv[optind], argv[i]);
	if (format_errors) {
		printf("%d violations of the format: FAILED\n", format_errors);
		failures++;
	}
	return failures ? 1 : soft_failures ? 3 : 0;
}
