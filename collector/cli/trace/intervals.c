/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/trace/accesses.h"
#include "cli/trace/intervals.h"
#include "cli/trace/recordfile.h"
#include "common/tracefile.h"
#include "common/tracenames.h"
#include "cli/base/util.h"

struct cut {
	int64_t start, end;
	uint64_t records, lost;
	const char *event;
};

struct search {
	int64_t after;		/* End of the last interval that has a line */
	struct cut *cut;	/* in the order of time */
	size_t n, cap;
	bool before;		/* a record that an interval with a line may have was seen */
};

static bool on_access(void *arg, const struct mt_access *a)
{
	struct search *s = arg;

	if (a->start < s->after) {
		s->before = true;
		return true;
	}
	if (a->start >= a->end)
		return true;
	if (!s->n || s->cut[s->n - 1].start != a->start || s->cut[s->n - 1].end != a->end) {
		MT_GROW(s->cut, s->n, s->cap);
		s->cut[s->n++] = (struct cut){ .start = a->start, .end = a->end, .event = "killed" };
	}
	s->cut[s->n - 1].records++;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/*
 * Start of the last record of a plain chunk, found without reading the others, or
 * INT64_MAX: unknown. The order of the columns is a law of the format.
 */
static int64_t last_start(const char *path)
{
	int64_t start = INT64_MAX;
	char tail[4097], *end, *line;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd >= 0 && mt_ends_with(path, MT_CHUNK_SUFFIX)) {
		start = mt_recordfile_last_start(path);
		goto out;
	}
	if (fd < 0 || !mt_ends_with(path, ".csv") || fstat(fd, &st))
		goto out;
	n = pread(fd, tail, sizeof(tail) - 1, st.st_size > 4096 ? st.st_size - 4096 : 0);
	if (n <= 0)
		goto out;
	tail[n] = 0;
	end = strrchr(tail, '\n');
	if (!end)
		goto out;
	*end = 0;
	line = strrchr(tail, '\n');
	if (!line)		/* the header, or a line longer than any */
		goto out;
	for (int comma = 0; line && comma < 5; comma++)
		line = strchr(line + 1, ',');
	if (line)
		start = strtoll(line + 1, NULL, 10);
out:
	if (fd >= 0)
		close(fd);
	return start;
}

/* From the last chunk back: an interval may go over the border of two. */
static int find(struct search *s, const char *trace, const char *image)
{
	size_t n = 0, kept = 0;
	char **chunk = mt_access_chunks(trace, image, &n);
	int err = 0;

	s->before = n && last_start(chunk[n - 1]) < s->after;
	for (size_t i = n; i > 0 && !err && !s->before; i--) {
		struct mt_access_counts k = { 0 };

		err = mt_access_chunk_read(chunk[i - 1], on_access, s, &k);
	}
	for (size_t i = 0; i < n; i++)
		free(chunk[i]);
	free(chunk);
	if (s->n)
		qsort(s->cut, s->n, sizeof(*s->cut), by_start);
	for (size_t i = 0; i < s->n; i++)
		if (kept && s->cut[kept - 1].start == s->cut[i].start && s->cut[kept - 1].end == s->cut[i].end)
			s->cut[kept - 1].records += s->cut[i].records;
		else
			s->cut[kept++] = s->cut[i];
	s->n = kept;
	return err;
}

/*
 * The interval that the recorder in the program did not end, because it stood still: what it had is lost, at least one
 * record, but for those that it wrote.
 */
static void add_standstill(struct search *s, const char *trace, const char *image)
{
	char *path = mt_printf("%s/%s/" MT_FILE_STANDSTILL, trace, image);
	struct mt_csv c;

	if (mt_csv_open(&c, path) == 0) {
		const int at[] = { mt_csv_column(&c, "Start"), mt_csv_column(&c, "End"), mt_csv_column(&c, "Records"),
				   mt_csv_column(&c, "Event") };
		struct cut k = { 0 };
		uint64_t written = 0;

		while (mt_csv_next(&c)) {
			if (c.n < c.n_columns)
				continue;
			k.start = strtoll(mt_csv_get(&c, at[0]), NULL, 10);
			k.end = strtoll(mt_csv_get(&c, at[1]), NULL, 10);
			k.lost = strtoull(mt_csv_get(&c, at[2]), NULL, 10);
			k.event = !strcmp(mt_csv_get(&c, at[3]), "exec") ? "exec lost" : "exit lost";
		}
		mt_csv_close(&c);
		/* with a line it came to an end after all */
		if (k.event && k.start >= s->after && k.start < k.end) {
			/* what it had begun to write is of this interval, and is the last */
			if (s->n && s->cut[s->n - 1].start == k.start) {
				k.end = s->cut[s->n - 1].end;
				written = s->cut[--s->n].records;
			}
			k.records = written;
			k.lost = k.lost > written ? k.lost - written : 1;
			MT_GROW(s->cut, s->n, s->cap);
			s->cut[s->n++] = k;
			mt_error("%s/%s: the recorder in the program stood still for 20 s; %" PRIu64 " or more records of the last interval are lost",
				 trace, image, k.lost);
		}
	}
	free(path);
}

/* Appends the lines, each column that is not known here is 0. @c: the file, NULL: without a header. */
static int append(const char *path, const struct mt_csv *c, const struct search *s, uint64_t number,
		  const char *subphases, const char *target)
{
	const char *const *column = c ? (const char *const *)c->column : mt_interval_columns;
	const size_t n_columns = c ? c->n_columns : mt_n_interval_columns;
	struct stat st;
	FILE *f;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), err = 0;
	off_t whole;
	char last;

	if (fd < 0 || fstat(fd, &st))
		goto failed;
	for (whole = st.st_size; whole > 0; whole--)
		if (pread(fd, &last, 1, whole - 1) != 1)
			goto failed;
		else if (last == '\n')
			break;
	if (ftruncate(fd, whole) || lseek(fd, whole, SEEK_SET) < 0)
		goto failed;
	f = fdopen(fd, "w");
	if (!f)
		goto failed;
	for (size_t j = 0; !c && j < n_columns; j++)
		fprintf(f, "%s%c", mt_interval_columns[j], j + 1 < n_columns ? ',' : '\n');
	for (size_t i = 0; i < s->n; i++) {
		const struct cut *k = &s->cut[i];

		for (size_t j = 0; j < n_columns; j++) {
			const char *name = column[j];

			if (j)
				putc(',', f);
			if (!strcmp(name, "Interval"))
				fprintf(f, "%" PRIu64, number + i);
			else if (!strcmp(name, "Start"))
				fprintf(f, "%" PRId64, k->start);
			else if (!strcmp(name, "End") || !strcmp(name, "Closed"))
				fprintf(f, "%" PRId64, k->end);
			else if (!strcmp(name, "Records"))
				fprintf(f, "%" PRIu64, k->records + k->lost);
			else if (!strcmp(name, "LostWrite"))
				fprintf(f, "%" PRIu64, k->lost);
			else if (!strcmp(name, "Subphases"))
				fputs(subphases, f);
			else if (!strcmp(name, "TargetNs"))
				fputs(target, f);
			else
				fputs(!strcmp(name, "Event") ? k->event : "0", f);
		}
		putc('\n', f);
	}
	if (ferror(f))
		err = -EIO;
	if (fclose(f) && !err)
		err = -errno;
	if (err)
		mt_error("%s: %s", path, strerror(-err));
	return err;
failed:
	err = -errno;
	if (fd >= 0)
		close(fd);
	mt_error("%s: %s", path, strerror(-err));
	return err;
}

int mt_intervals_complete(const char *trace, const char *image)
{
	char *path = mt_printf("%s/%s/" MT_FILE_INTERVALS, trace, image);
	char *subphases = mt_strdup("0"), *target = mt_strdup("0");
	struct search s = { .after = INT64_MIN };
	struct mt_csv c;
	int err = mt_csv_open(&c, path);
	const bool opened = !err;
	uint64_t number = 0;

	if (err && err != -ENOENT && err != -ENODATA)
		goto out;	/* it would be taken for empty, and written anew */

	if (opened) {
		int end = mt_csv_column(&c, "End"), of_subphases = mt_csv_column(&c, "Subphases"),
		    of_target = mt_csv_column(&c, "TargetNs");

		while (mt_csv_next(&c)) {
			if (c.n < c.n_columns)
				continue;
			number++;
			s.after = strtoll(mt_csv_get(&c, end), NULL, 10);
			free(subphases);
			free(target);
			subphases = mt_strdup(of_subphases < 0 ? "0" : mt_csv_get(&c, of_subphases));
			target = mt_strdup(of_target < 0 ? "0" : mt_csv_get(&c, of_target));
		}
	}
	err = find(&s, trace, image);
	if (!err)
		add_standstill(&s, trace, image);
	if (!err && s.n)
		err = append(path, opened ? &c : NULL, &s, number, subphases, target);
	if (opened)
		mt_csv_close(&c);
	free(s.cut);
out:
	free(subphases);
	free(target);
	free(path);
	return err ? err : (int)s.n;
}
