/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/base/processes.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "common/tracenames.h"

static int by_number(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	long na = strtol(a + 1, NULL, 10), nb = strtol(b + 1, NULL, 10);

	return na < nb ? -1 : na > nb;
}

char **mt_trace_images(const char *trace, size_t *n)
{
	DIR *d = opendir(trace);
	struct dirent *e;
	char **v = NULL;
	size_t cap = 0;

	*n = 0;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] != 'p' || !e->d_name[1] ||
		    strspn(e->d_name + 1, "0123456789") != strlen(e->d_name + 1))
			continue;
		MT_GROW(v, *n, cap);
		v[(*n)++] = mt_strdup(e->d_name);
	}
	if (d)
		closedir(d);
	if (*n)
		qsort(v, *n, sizeof(*v), by_number);
	return v;
}

void mt_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

bool mt_trace_elsewhere(const char *trace)
{
	char *manifest = mt_printf("%s/manifest.json", trace), *host = mt_printf("%s/host.json", trace);
	const bool yes = mt_exists(host) && !mt_exists(manifest);

	free(manifest);
	free(host);
	return yes;
}

/*
 * Is there nothing in a folder of a trace but files and folders? Else a message: a pipe would be waited for, a device read for ever,
 * and a link to nothing is a file that is missing. Images are looked into.
 */
static bool only_files(const char *folder, bool images)
{
	DIR *d = opendir(folder);
	bool yes = true;
	struct dirent *e;

	while (yes && d && (e = readdir(d))) {
		char *path = mt_printf("%s/%s", folder, e->d_name);
		struct stat st;

		if (!stat(path, &st))
			yes = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
		else if (lstat(path, &st) || !S_ISLNK(st.st_mode))
			st.st_mode = 0;		/* it is gone */
		else
			yes = false;
		if (!yes)
			mt_error("%s: is %s, and a trace directory has only files", path, S_ISLNK(st.st_mode) ? "a link that leads to nothing" :
				 S_ISFIFO(st.st_mode) ? "a named pipe" : S_ISSOCK(st.st_mode) ? "a socket" : "a device");
		else if (images && S_ISDIR(st.st_mode) && e->d_name[0] == 'p')
			yes = only_files(path, false);
		free(path);
	}
	if (d)
		closedir(d);
	return yes;
}

json_t *mt_manifest_read(const char *trace)
{
	char *path = mt_printf("%s/manifest.json", trace);
	const bool readable = only_files(trace, true);
	json_error_t e;
	json_t *m = readable ? json_load_file(path, 0, &e) : NULL, *v;

	if (!readable)
		goto out;
	if (!m) {
		if (!mt_exists(trace))
			mt_error("%s: no such directory", trace);
		else if (mt_trace_elsewhere(trace))
			mt_error("%s: " MT_ELSEWHERE, trace, trace);
		else if (!mt_exists(path))
			mt_error("%s: not a trace directory (it has no manifest.json)", trace);
		else
			mt_error("%s:%d: %s", path, e.line, e.text);
		goto out;
	}
	v = json_object_get(m, "format");
	if (!json_is_string(v) || strcmp(json_string_value(v), "memtrace")) {
		mt_error("%s: not the manifest of a memtrace trace (format is not \"memtrace\")", path);
		json_decref(m);
		m = NULL;
		goto out;
	}
	v = json_object_get(m, "format_version");
	if (!json_is_integer(v) || json_integer_value(v) > MT_FORMAT_VERSION ||
	    json_integer_value(v) < 1) {
		mt_error("%s: the trace has format version %" JSON_INTEGER_FORMAT
			 ", this program reads up to version %d", path, json_integer_value(v),
			 MT_FORMAT_VERSION);
		json_decref(m);
		m = NULL;
	}
out:
	free(path);
	return m;
}

int mt_manifest_write(const char *trace, const json_t *manifest)
{
	struct mt_newfile out;
	int err = mt_newfile(&out, trace, "manifest.json");

	if (err)
		return err;
	if (json_dumpf(manifest, out.f, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || putc('\n', out.f) < 0) {
		mt_newfile_discard(&out);
		return -EIO;
	}
	return mt_newfile_commit(&out);
}

json_t *mt_image_read(const char *trace, const char *image)
{
	char *path = mt_printf("%s/%s/" MT_FILE_IMAGE, trace, image);
	json_t *j = json_load_file(path, 0, NULL);

	free(path);
	return j;
}

static uint64_t number(const struct mt_csv *c, int column)
{
	return strtoull(mt_csv_get(c, column), NULL, 10);
}

bool mt_chunk_name(const char *name)
{
	size_t digits;

	if (strncmp(name, "accesses-", 9))
		return false;
	digits = strspn(name + 9, "0123456789");
	name += 9 + digits;
	return digits && (!strcmp(name, ".csv") || !strcmp(name, ".csv.zst") || !strcmp(name, ".csv.gz") || !strcmp(name, MT_CHUNK_SUFFIX));
}

static uint64_t lines_of(const char *trace, const char *image, const char *file)
{
	char *path = mt_printf("%s/%s/%s", trace, image, file);
	const uint64_t n = mt_csv_lines(path);

	free(path);
	return n;
}

const char *const mt_finished_files[] = { "structures.csv", "stacks.csv", "threads.csv", NULL };

bool mt_image_unfinished(const char *trace, const char *image)
{
	bool missing = false;

	for (const char *const *name = mt_finished_files; *name; name++) {
		char *p = mt_printf("%s/%s/%s", trace, image, *name);

		missing |= !mt_exists(p);
		free(p);
	}
	return missing;
}

/* Is it among the words of @all? */
static bool has_word(const char *all, const char *word, size_t n)
{
	for (const char *p = all; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (strcspn(p, " ") == n && !strncmp(p, word, n))
			return true;
	return false;
}

void mt_write_errors(char *all, size_t size, const char *event)
{
	for (const char *p = event; (p = strstr(p, "write:")) != NULL; ) {
		const size_t n = strcspn(p, " "), used = strlen(all);

		if (used + n + 2 <= size && !has_word(all, p, n))
			snprintf(all + used, size - used, "%s%.*s", used ? " " : "", (int)n, p);
		p += n;
	}
}

void mt_image_totals(const char *trace, const char *image, uint64_t asked_ns, struct mt_totals *t)
{
	char *path = mt_printf("%s/%s/" MT_FILE_INTERVALS, trace, image), *dir;
	struct dirent *e;
	struct mt_csv c;
	DIR *d;
	int err;

	memset(t, 0, sizeof(*t));
	t->start = t->end = -1;
	err = mt_csv_open(&c, path);
	t->unreadable = err && err != -ENOENT && err != -ENODATA;
	if (!err) {
		int start = mt_csv_column(&c, "Start"), end = mt_csv_column(&c, "End"),
		    faults = mt_csv_column(&c, "Faults"), records = mt_csv_column(&c, "Records"),
		    un = mt_csv_column(&c, "Unattributed"), ring = mt_csv_column(&c, "LostRing"),
		    table = mt_csv_column(&c, "LostTable"), res = mt_csv_column(&c, "Resident"),
		    scan = mt_csv_column(&c, "ScanNs"), zap = mt_csv_column(&c, "ZapNs"),
		    mon = mt_csv_column(&c, "MonitorCpuNs"), prog = mt_csv_column(&c, "ProgramCpuNs"),
		    target = mt_csv_column(&c, "TargetNs"),
		    accesses = mt_csv_column(&c, "Accesses"),
		    event = mt_csv_column(&c, "Event"), lost[3] = {
			mt_csv_column(&c, "LostUnmapped"), mt_csv_column(&c, "LostRegion"),
			mt_csv_column(&c, "LostWrite") };

		while (mt_csv_next(&c)) {
			const char *ev = mt_csv_get(&c, event);
			uint64_t length;

			if (c.n < c.n_columns)
				continue;
			if (!t->intervals++)
				t->start = (int64_t)number(&c, start);
			t->end = (int64_t)number(&c, end);
			length = number(&c, end) - number(&c, start);
			t->length_ns += length;
			if (length > t->longest_ns)
				t->longest_ns = length;
			t->late += number(&c, target) && length > number(&c, target) / 2 * 3 && length > asked_ns / 2 * 3;
			t->faults += number(&c, faults);
			t->records += number(&c, records);
			t->accesses += number(&c, accesses);
			t->unattributed += number(&c, un);
			t->lost_ring += number(&c, ring);
			t->lost_table += number(&c, table);
			if (number(&c, res) > t->resident)
				t->resident = number(&c, res);
			t->scan_ns += number(&c, scan);
			t->zap_ns += number(&c, zap);
			t->monitor_cpu_ns += number(&c, mon);
			t->program_cpu_ns += number(&c, prog);
			mt_write_errors(t->write_errors, sizeof(t->write_errors), ev);
			t->governor_changes += strstr(ev, "governor:") != NULL;
			for (int k = 0; k < 3; k++)
				t->lost_other[k] += number(&c, lost[k]);
			t->ended |= strstr(ev, "exit") || strstr(ev, "stop");
		}
		t->torn_lines = c.torn;
		mt_csv_close(&c);
	}
	free(path);

	dir = mt_printf("%s/%s", trace, image);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		struct stat st;

		if (mt_chunk_name(e->d_name) && !fstatat(dirfd(d), e->d_name, &st, 0)) {
			t->chunks++;
			t->access_bytes += (uint64_t)st.st_size;
		}
	}
	if (d)
		closedir(d);
	free(dir);
	t->finished = !mt_image_unfinished(trace, image);
	if (t->finished) {
		t->structures = lines_of(trace, image, "structures.csv");
		t->threads = lines_of(trace, image, "threads.csv");
	}
}

/* Is the process that the image has under this name there? */
static bool is_there(const json_t *image, const char *name)
{
	json_int_t pid = json_integer_value(json_object_get(image, name));
	uint64_t started = (uint64_t)json_integer_value(json_object_get(image, "start_ns"));
	const char *ticks;
	char *path, *stat, state = 0;

	if (pid > 0)
		pid = mt_process_of_namespace((uint64_t)json_integer_value(json_object_get(image, "pid_namespace")), (pid_t)pid);
	if (pid <= 0)
		return false;
	path = mt_printf("/proc/%" JSON_INTEGER_FORMAT "/stat", pid);
	stat = mt_read_file(path, NULL);
	free(path);
	if (!stat)
		return false;
	ticks = mt_stat_field(stat, 22);	/* since boot */
	if (ticks) {
		uint64_t ns = strtoull(ticks, NULL, 10) * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));

		state = *mt_stat_field(stat, 3);
		/* a later process with the same number is someone else (CLOCK_MONOTONIC
		 * and boot time differ by the time asleep) */
		if (started && ns > started + 1000000000ull)
			state = 'X';
	}
	free(stat);
	return state && state != 'X' && state != 'Z';
}

bool mt_image_monitored(const json_t *image)
{
	return !is_there(image, "pid") && is_there(image, "monitor_pid");
}

bool mt_image_alive(const json_t *image)
{
	return is_there(image, "pid") || is_there(image, "monitor_pid");
}

static int compress_file(const char *path, uint64_t *saved)
{
	char *out = mt_printf("%s.zst", path), *tmp = mt_printf("%s.zst.tmp", path);
	size_t in_size = ZSTD_CStreamInSize(), out_size = ZSTD_CStreamOutSize();
	char *in_buf = mt_alloc(in_size), *out_buf = mt_alloc(out_size);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	FILE *in = fopen(path, "re"), *o = NULL;
	struct stat before, after;
	int err = 0;

	if (!in) {
		err = -errno;
		goto done;
	}
	o = fopen(tmp, "we");
	if (!o || !z) {
		err = o ? -ENOMEM : -errno;
		goto done;
	}
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 3);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	for (bool last = false; !last; ) {
		size_t got = fread(in_buf, 1, in_size, in);
		ZSTD_inBuffer ib = { in_buf, got, 0 };
		size_t left;

		if (ferror(in)) {
			err = -EIO;
			goto done;
		}
		last = got < in_size;
		do {
			ZSTD_outBuffer ob = { out_buf, out_size, 0 };

			left = ZSTD_compressStream2(z, &ob, &ib, last ? ZSTD_e_end : ZSTD_e_continue);
			if (ZSTD_isError(left) || fwrite(out_buf, 1, ob.pos, o) != ob.pos) {
				err = -EIO;
				goto done;
			}
		} while (last ? left != 0 : ib.pos < ib.size);
	}
	if (fflush(o) || fsync(fileno(o))) {
		err = -errno;
		goto done;
	}
	if (!stat(path, &before) && !stat(tmp, &after) && before.st_size > after.st_size)
		*saved += (uint64_t)(before.st_size - after.st_size);
	if (rename(tmp, out) || unlink(path))
		err = -errno;
done:
	if (in)
		fclose(in);
	if (o)
		fclose(o);
	if (err)
		unlink(tmp);
	ZSTD_freeCCtx(z);
	free(in_buf);
	free(out_buf);
	free(out);
	free(tmp);
	return err;
}

int mt_image_compress(const char *trace, const char *image, uint64_t *saved)
{
	char *dir = mt_printf("%s/%s", trace, image);
	struct dirent **v;
	int n = scandir(dir, &v, NULL, alphasort), err = 0;

	for (int i = 0; i < n; i++) {
		const char *name = v[i]->d_name;

		if (!err && mt_chunk_name(name) && mt_ends_with(name, ".csv")) {
			char *path = mt_printf("%s/%s", dir, name);

			err = compress_file(path, saved);
			if (err)
				mt_error("%s: cannot compress: %s", path, strerror(-err));
			free(path);
		}
		free(v[i]);
	}
	if (n < 0) {
		err = -errno;
		mt_error("%s: cannot compress: %s", dir, strerror(errno));
	} else {
		free(v);
	}
	free(dir);
	return err;
}

#define RESERVE_BYTES (256 << 10)
#define PROBE_BYTES (64 << 10)

static char *reserve_path(const char *trace)
{
	return mt_printf("%s/.reserve", trace);
}

int mt_reserve_take(const char *trace)
{
	char *path = reserve_path(trace);
	struct rlimit limit;
	int fd, err = 0;

	/* beyond this limit an attempt raises SIGXFSZ */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < 2 * RESERVE_BYTES)
		goto out;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	/* as much again for the recording itself */
	if (fallocate(fd, 0, 0, 2 * RESERVE_BYTES))
		err = errno == ENOSPC || errno == EDQUOT ? -errno : 0;
	else if (ftruncate(fd, RESERVE_BYTES))
		err = -errno;
	close(fd);
	if (err)
		unlink(path);
out:
	free(path);
	return err;
}

int mt_reserve_probe(const char *trace)
{
	char *path = mt_printf("%s/.probe", trace), *data = mt_alloc(PROBE_BYTES);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err = 0;
	ssize_t n;

	if (fd < 0) {
		err = -errno;
		goto out;
	}
	for (size_t done = 0; done < PROBE_BYTES && !err; done += n > 0 ? (size_t)n : 0) {
		n = write(fd, data, PROBE_BYTES - done);
		if (n < 0 && errno != EINTR)
			err = -errno;
	}
	if (close(fd) && !err)
		err = -errno;
	unlink(path);
out:
	free(data);
	free(path);
	return err;
}

void mt_reserve_release(const char *trace)
{
	char *path = reserve_path(trace);

	unlink(path);
	free(path);
}

uint64_t mt_tree_bytes(const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t sum = 0;

	for (FTSENT *e; tree && (e = fts_read(tree)) != NULL; )
		if (e->fts_info == FTS_F)
			sum += (uint64_t)e->fts_statp->st_size;
	if (tree)
		fts_close(tree);
	return sum;
}
