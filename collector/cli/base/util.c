/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/util.h"

bool mt_quiet;

static void message(const char *fmt, va_list ap)
{
	char text[4096];
	int n = vsnprintf(text, sizeof(text) - 1, fmt, ap);

	if (n < 0)
		return;
	fprintf(stderr, "memtrace: %s\n", text);	/* one write: stderr of the program */
	fflush(stderr);
}

void mt_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void mt_note(const char *fmt, ...)
{
	va_list ap;

	if (mt_quiet)
		return;
	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

static void *checked(void *p)
{
	if (!p) {
		mt_error("out of memory");
		_exit(1 /* MT_EXIT_INTERNAL */);
	}
	return p;
}

void *mt_alloc(size_t n)
{
	return checked(calloc(1, n ? n : 1));
}

void *mt_resize(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

char *mt_strdup(const char *s)
{
	return checked(strdup(s));
}

char *mt_printf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return checked(s);
}

int mt_path(char path[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, PATH_MAX, fmt, ap);
	va_end(ap);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

bool mt_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

const char *mt_read_error(int err)
{
	return err == ENOTSUP ? "it is no file" : strerror(err);
}

static char *read_whole(const char *path, size_t *len, bool pipes)
{
	size_t n = 0, cap = 65536;
	struct stat st;
	char *b;
	int fd;

	if (stat(path, &st))
		return NULL;
	if (!S_ISREG(st.st_mode) && !(pipes && S_ISFIFO(st.st_mode))) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0)
		cap = (size_t)st.st_size + 2;
	b = mt_resize(NULL, cap);
	for (;;) {
		ssize_t r;

		if (n + 1 >= cap) {
			cap *= 2;
			b = mt_resize(b, cap);
		}
		r = read(fd, b + n, cap - n - 1);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			int err = errno;

			close(fd);
			free(b);
			errno = err;
			return NULL;
		}
		if (!r)
			break;
		n += (size_t)r;
	}
	close(fd);
	b[n] = 0;
	if (len)
		*len = n;
	return b;
}

char *mt_read_file(const char *path, size_t *len)
{
	return read_whole(path, len, false);
}

char *mt_read_given(const char *path, size_t *len)
{
	return read_whole(path, len, true);
}

const char *mt_stat_field(const char *stat, int number)
{
	const char *at = stat ? strrchr(stat, ')') : NULL;

	for (int field = 2; at && field < number; field++) {
		at = strchr(at, ' ');
		at = at && at[1] ? at + 1 : NULL;
	}
	return at;
}

char *mt_read_line(const char *path)
{
	char *s = mt_read_file(path, NULL);

	if (s)
		s[strcspn(s, "\n")] = 0;
	return s;
}

const char *mt_base(const char *path)
{
	const char *s = strrchr(path, '/');

	return s ? s + 1 : path;
}

bool mt_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool mt_is_server(const char *text)
{
	return !strncmp(text, "postgresql://", 13) || !strncmp(text, "postgres://", 11) || !strncmp(text, "s3://", 5);
}

bool mt_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n > k && !strcmp(text + n - k, end);
}

struct key {
	uint64_t key;
	size_t item;
};

/* By one byte after the other, from the lowest that is not the same in all. The result is in one of the two. */
static struct key *sort_keys(struct key *k, struct key *spare, size_t n)
{
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= k[i].key ^ k[0].key;
	for (unsigned int shift = 0; shift < 64 && differ >> shift; shift += 8) {
		size_t at[256] = { 0 }, sum = 0;
		struct key *t = spare;

		if (!(differ >> shift & 255))
			continue;
		for (size_t i = 0; i < n; i++)
			at[k[i].key >> shift & 255]++;
		for (int i = 0; i < 256; i++) {
			const size_t count = at[i];

			at[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			spare[at[k[i].key >> shift & 255]++] = k[i];
		spare = k;
		k = t;
	}
	return k;
}

void mt_sort(void *items, size_t n, size_t size, const uint64_t *key, int (*cmp)(const void *, const void *))
{
	struct key *k, *spare, *sorted;
	bool in_order = true;
	char *v = items, *held;

	if (n < 2)
		return;
	k = mt_alloc(n * sizeof(*k));
	for (size_t i = 0; i < n; i++) {
		k[i] = (struct key){ key[i], i };
		in_order &= !i || key[i - 1] <= key[i];
	}
	spare = in_order ? NULL : mt_alloc(n * sizeof(*spare));
	sorted = in_order ? k : sort_keys(k, spare, n);
	held = in_order ? NULL : mt_alloc(size);
	/* round by round: an item goes away, its place takes what belongs there, and so on until the first one comes */
	for (size_t i = 0; !in_order && i < n; i++) {
		size_t at = i, from = sorted[i].item;

		if (from == i)
			continue;
		memcpy(held, v + i * size, size);
		for (; from != i; at = from, from = sorted[at].item) {
			memcpy(v + at * size, v + from * size, size);
			sorted[at].item = at;
		}
		memcpy(v + at * size, held, size);
		sorted[at].item = at;
	}
	free(held);
	for (size_t i = 0, end; cmp && i < n; i = end) {
		for (end = i + 1; end < n && sorted[end].key == sorted[i].key; end++)
			;
		if (end - i > 1)
			qsort(v + i * size, end - i, size, cmp);
	}
	free(spare);
	free(k);
}

char *mt_shell_word(const char *path)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%=";
	const char *dash = *path == '-' ? "./" : "";
	char *out, *p;

	if (*path && path[strspn(path, safe)] == 0)
		return mt_printf("%s%s", dash, path);
	out = mt_alloc(4 * strlen(path) + 8);
	p = out + sprintf(out, "'%s", dash);
	for (; *path; path++) {
		if (*path == '\'')
			p += sprintf(p, "'\\''");
		else
			*p++ = *path;
	}
	strcpy(p, "'");
	return out;
}

#define BUFFER_BYTES (64u << 10)

int mt_newfile(struct mt_newfile *n, const char *dir, const char *name)
{
	n->path = mt_printf("%s/%s", dir, name);
	n->tmp = mt_printf("%s/.%s.%d.tmp", dir, name, (int)getpid());
	n->f = fopen(n->tmp, "we");
	if (!n->f) {
		int err = errno;

		free(n->path);
		free(n->tmp);
		return -err;
	}
	n->buffer = mt_alloc(BUFFER_BYTES);
	setvbuf(n->f, n->buffer, _IOFBF, BUFFER_BYTES);
	return 0;
}

int mt_newfile_commit(struct mt_newfile *n)
{
	int err = 0;

	if (fflush(n->f) || ferror(n->f))
		err = errno ? -errno : -EIO;
	if (fclose(n->f) && !err)
		err = -errno;
	if (!err && rename(n->tmp, n->path))
		err = -errno;
	if (err)
		unlink(n->tmp);
	free(n->path);
	free(n->tmp);
	free(n->buffer);
	return err;
}

void mt_newfile_discard(struct mt_newfile *n)
{
	fclose(n->f);
	unlink(n->tmp);
	free(n->path);
	free(n->tmp);
	free(n->buffer);
}

void mt_csv_put(FILE *f, const char *s)
{
	static const bool ends[256] = { [0] = true, [','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true };
	const char *p = s;

	while (!ends[(unsigned char)*p])
		p++;
	if (!*p) {
		fwrite_unlocked(s, 1, (size_t)(p - s), f);
		return;
	}
	putc_unlocked('"', f);
	for (; *s; s++) {
		if (*s == '"')
			putc_unlocked('"', f);
		putc_unlocked(*s, f);
	}
	putc_unlocked('"', f);
}

/* A file that is not there is what it is. One that cannot be read is no empty one: somebody must hear of it. */
static char *csv_read(const char *path, size_t *len)
{
	char *data = mt_read_file(path, len);
	const int err = errno;

	if (!data && err != ENOENT)
		mt_error("%s: cannot be read: %s", path, mt_read_error(err));
	errno = err;
	return data;
}

int mt_csv_open(struct mt_csv *c, const char *path)
{
	size_t len;

	memset(c, 0, sizeof(*c));
	c->data = csv_read(path, &len);
	if (!c->data)
		return -errno;
	c->path = mt_strdup(path);
	c->pos = c->data;
	c->end = c->data + len;
	if (!mt_csv_next(c)) {
		mt_csv_close(c);
		return -ENODATA;
	}
	c->column = c->field;
	c->n_columns = c->n;
	c->field = NULL;
	c->n = c->cap = 0;
	return 0;
}

bool mt_csv_next(struct mt_csv *c)
{
	char *p = c->pos, *w;

	c->n = 0;
	if (p >= c->end)
		return false;
	for (;;) {
		bool quoted = p < c->end && *p == '"';

		MT_GROW(c->field, c->n, c->cap);
		if (quoted)
			p++;
		c->field[c->n] = w = p;
		while (p < c->end) {
			if (quoted) {
				if (*p == '"' && p + 1 < c->end && p[1] == '"')
					p++;
				else if (*p == '"') {
					quoted = false;
					p++;
					continue;
				}
			} else if (*p == ',' || *p == '\n') {
				break;
			}
			*w++ = *p++;
		}
		if (p >= c->end) {	/* no LF: cut off */
			c->torn++;
			c->pos = c->end;
			c->n = 0;
			return false;
		}
		c->n++;
		if (*p == '\n') {
			*w = 0;
			if (w > c->field[c->n - 1] && w[-1] == '\r')
				w[-1] = 0;
			c->pos = p + 1;
			c->line++;
			return true;
		}
		*w = 0;
		p++;
	}
}

uint64_t mt_csv_lines(const char *path)
{
	size_t len;
	char *data = csv_read(path, &len), *p = data, *lf;
	uint64_t n = 0;

	/* quotes come in pairs: LFs behind an odd number of them are in a field */
	for (bool quoted = false; data && (lf = memchr(p, '\n', (size_t)(data + len - p))); p = lf + 1) {
		for (char *q = p; (q = memchr(q, '"', (size_t)(lf - q))); q++)
			quoted = !quoted;
		n += !quoted;
	}
	free(data);
	return n ? n - 1 : 0;	/* the header */
}

int mt_csv_column(const struct mt_csv *c, const char *name)
{
	for (size_t i = 0; i < c->n_columns; i++)
		if (!strcmp(c->column[i], name))
			return (int)i;
	return -1;
}

const char *mt_csv_get(const struct mt_csv *c, int column)
{
	return column >= 0 && (size_t)column < c->n ? c->field[column] : "";
}

void mt_csv_close(struct mt_csv *c)
{
	free(c->column);
	free(c->field);
	free(c->data);
	free(c->path);
	memset(c, 0, sizeof(*c));
}

static char *buffer(void)
{
	static char b[8][40];
	static unsigned int i;

	return b[i++ & 7];
}

const char *mt_human_bytes(uint64_t n)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double v = (double)n;
	char *b = buffer();
	int u = 0;

	while (v >= 1024 && u < 5) {
		v /= 1024;
		u++;
	}
	snprintf(b, 40, v < 10 && u ? "%.1f %s" : "%.0f %s", v, unit[u]);
	return b;
}

const char *mt_human_ns(uint64_t ns)
{
	char *b = buffer();

	if (ns < 1000)
		snprintf(b, 40, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(b, 40, "%.3g us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(b, 40, "%.3g ms", (double)ns / 1e6);
	else if (ns < 100000000000)
		snprintf(b, 40, "%.3g s", (double)ns / 1e9);
	else
		snprintf(b, 40, "%.0f s", (double)ns / 1e9);
	return b;
}

const char *mt_human_count(uint64_t n)
{
	char t[24], *b = buffer(), *w = b;
	int len = snprintf(t, sizeof(t), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*w++ = ',';
		*w++ = t[i];
	}
	*w = 0;
	return b;
}

uint64_t mt_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}
