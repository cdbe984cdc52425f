/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* job_info.c - one answer of `memtrace info` for the ranks of a parallel job (docs/howto/jobs.md). */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/table/native.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

struct rank {
	char *path;
	const char *dir;		/* in the folder */
	json_t *m;
	int64_t number, size;
	char *promise;			/* the same text: the same promise by the same backend */
	char *result;
	uint64_t processes, structures, threads, intervals, records, lost, bytes;
	int64_t start, end;		/* clock of its machine, 0 not known */
};

static json_t *job_of(const json_t *m)
{
	return json_object_get(m, "job");
}

static int64_t signed_number(const json_t *o, const char *key, int64_t missing)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : missing;
}

/* What has one clock and one memory: a machine since it was started. */
static const char *machine(const struct rank *r)
{
	const json_t *host = json_object_get(r->m, "host");

	return *mt_info_text(host, "boot_id") ? mt_info_text(host, "boot_id") : mt_info_text(host, "name");
}

static const char *host(const struct rank *r)
{
	return mt_info_text(json_object_get(r->m, "host"), "name");
}

struct found {
	char *path;
	int64_t rank;
};

static int by_rank(const void *x, const void *y)
{
	const struct found *a = x, *b = y;

	return a->rank != b->rank ? a->rank < b->rank ? -1 : 1 : strcmp(a->path, b->path);
}

char **mt_info_ranks(const char *folder, size_t *n)
{
	char *manifest = mt_printf("%s/manifest.json", folder), **paths = NULL;
	bool one = mt_exists(manifest);
	DIR *d = one ? NULL : opendir(folder);
	struct found *v = NULL;
	struct dirent *e;
	size_t cap = 0;

	free(manifest);
	*n = 0;
	while (d && (e = readdir(d))) {
		char *path = mt_printf("%s/%s", folder, e->d_name), *file = mt_printf("%s/manifest.json", path);
		json_t *m = e->d_name[0] == '.' ? NULL : json_load_file(file, 0, NULL);
		/* one that cannot be read: what is wrong with it is told when it is opened */
		int64_t rank = !m && e->d_name[0] != '.' && mt_exists(file) ? INT64_MAX : signed_number(job_of(m), "rank", -1);

		if (rank >= 0) {
			MT_GROW(v, *n, cap);
			v[(*n)++] = (struct found) { path, rank };
		} else {
			free(path);
		}
		json_decref(m);
		free(file);
	}
	if (d)
		closedir(d);
	if (*n) {
		qsort(v, *n, sizeof(*v), by_rank);
		paths = mt_alloc(*n * sizeof(*paths));
	}
	for (size_t i = 0; i < *n; i++)
		paths[i] = v[i].path;
	free(v);
	return paths;
}

/* ----------------------------------------------------------- lists of ranks */

typedef const char *(*key_fn)(const struct rank *r);

static const char *promise(const struct rank *r)
{
	return r->promise;
}

static const char *result(const struct rank *r)
{
	return r->result;
}

static bool first_of_its_kind(const struct rank *r, size_t i, key_fn key)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(key(&r[k]), key(&r[i])))
			return false;
	return true;
}

static size_t kinds(const struct rank *r, size_t n, key_fn key)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += first_of_its_kind(r, i, key);
	return k;
}

/* Appends "3", "0-7" to a list of numbers; *text is freed. */
static char *append_range(char *text, int64_t from, int64_t to)
{
	char *next = from == to ? mt_printf("%s%s%" PRId64, text, *text ? ", " : "", from) :
		mt_printf("%s%s%" PRId64 "%s%" PRId64, text, *text ? ", " : "", from, to == from + 1 ? ", " : "-", to);

	free(text);
	return next;
}

/* "rank 3", "ranks 0-7, 9": those of the same kind as r[of]. */
static char *same_kind(const struct rank *r, size_t n, size_t of, key_fn key)
{
	char *text = mt_strdup(""), *out;
	size_t count = 0;

	for (size_t i = 0; i < n;) {
		size_t from = i, last = i;

		if (strcmp(key(&r[i]), key(&r[of]))) {
			i++;
			continue;
		}
		while (++i < n && !strcmp(key(&r[i]), key(&r[of])) && r[i].number == r[last].number + 1)
			last = i;
		count += last - from + 1;
		text = append_range(text, r[from].number, r[last].number);
	}
	out = mt_printf("rank%s %s", count == 1 ? "" : "s", text);
	free(text);
	return out;
}

/* Ranges of ranks of the job that have no trace directory; "" none. */
static char *missing(const struct rank *r, size_t n, int64_t size, json_t *list, uint64_t *count)
{
	char *text = mt_strdup("");
	int64_t next = 0;

	*count = 0;
	for (size_t i = 0; i <= n && next < size; i++) {
		int64_t here = i < n ? r[i].number : size;

		if (here > size)
			here = size;
		if (next < here) {
			text = append_range(text, next, here - 1);
			*count += (uint64_t)(here - next);
		}
		for (; list && next < here; next++)
			json_array_append_new(list, json_integer(next));
		next = here + 1;
	}
	return text;
}

/* ------------------------------------------------------------------ reading */

static void sum_up(struct rank *r)
{
	size_t images;
	char **dirs = mt_trace_images(r->path, &images);
	const json_t *clock = json_object_get(r->m, "clock"), *status = json_object_get(r->m, "status");
	const json_t *b = json_object_get(r->m, "backend");
	const char *incomplete = mt_info_text(status, "incomplete");
	char *guarantee = json_dumps(json_object_get(b, "guarantee"), JSON_SORT_KEYS | JSON_COMPACT);

	r->processes = images;
	for (size_t i = 0; i < images; i++) {
		struct mt_totals t;

		mt_image_totals(r->path, dirs[i], 0, &t);
		r->structures += t.structures;
		r->threads += t.threads;
		r->intervals += t.intervals;
		r->records += t.records;
	}
	mt_names_free(dirs, images);
	r->lost = mt_info_number(json_object_get(r->m, "losses"), "total");
	r->bytes = mt_tree_bytes(r->path);
	r->start = signed_number(clock, "start_ns", 0);
	r->end = signed_number(clock, "end_ns", 0);
	r->promise = mt_printf("%s %s", mt_info_text(b, "name"), guarantee ? guarantee : "");
	r->result = mt_printf("%s; %s%s%s", mt_info_text(status, "state"), mt_info_text(status, "message"), *incomplete ? "; " : "", incomplete);
	free(guarantee);
}

/* Whether they are ranks of one run, each once; a message if not. */
static bool belong(const char *folder, const struct rank *r, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const json_t *a = job_of(r[0].m), *b = job_of(r[i].m);
		bool nodes = !strcmp(mt_info_text(a, "id_scope"), "node") && !strcmp(mt_info_text(b, "id_scope"), "node") &&
			strcmp(machine(&r[0]), machine(&r[i])) != 0;

		if (r[i].number == r[i - 1].number) {
			mt_error("%s: %s and %s are both rank %" PRId64 ": they are of two runs", folder, r[i - 1].dir, r[i].dir, r[i].number);
			return false;
		}
		if ((!nodes && strcmp(mt_info_text(a, "id"), mt_info_text(b, "id"))) || r[i].size != r[0].size ||
		    strcmp(mt_info_text(a, "launcher"), mt_info_text(b, "launcher"))) {
			mt_error("%s: %s is of job %s (%s, %" PRId64 " ranks), and %s of job %s (%s, %" PRId64 " ranks)", folder, r[i].dir,
				 mt_info_text(b, "id"), mt_info_text(b, "launcher"), r[i].size, r[0].dir, mt_info_text(a, "id"),
				 mt_info_text(a, "launcher"), r[0].size);
			return false;
		}
	}
	return true;
}

/* {losses: {total, by_reason}} of all ranks, as one manifest has it. */
static json_t *all_losses(const struct rank *r, size_t n)
{
	json_t *reasons = json_object(), *v;
	uint64_t total = 0;
	const char *key;

	for (size_t i = 0; i < n; i++) {
		total += r[i].lost;
		json_object_foreach(json_object_get(json_object_get(r[i].m, "losses"), "by_reason"), key, v)
			json_object_set_new(reasons, key, json_integer((json_int_t)mt_info_number(reasons, key) + json_integer_value(v)));
	}
	return json_pack("{s:{s:I, s:o}}", "losses", "total", (json_int_t)total, "by_reason", reasons);
}

/* ----------------------------------------------------------------- printing */

/* Objects of a manifest whose text is a sentence for a person, if they are there. */
static const char *const sentences[] = { "unseen", "unrecorded", "unlisted", "late" };
#define SENTENCES (sizeof(sentences) / sizeof(sentences[0]))
#define SENTENCES_SHOWN 8

static const char *seen_of(const struct rank *r)
{
	return mt_info_text(json_object_get(r->m, "unseen"), "state");
}

/* The losses of all ranks: "none" stands only beside what tells that all was seen. */
static void print_losses(const struct rank *r, size_t n, const char *lost)
{
	const bool none = !strcmp(lost, "none");
	size_t all = 0, told = 0;

	for (size_t i = 0; i < n; i++) {
		all += !strcmp(seen_of(&r[i]), "all");
		told += *mt_info_text(json_object_get(r[i].m, "unseen"), "text") != 0;
	}
	if (all == n)
		printf("Losses      %s; all memory seen but code, constants and arguments\n", lost);
	else
		printf("Losses      %s\n", none ? "none of what was seen" : lost);
	if (told < n)
		printf("            of %zu rank%s it is not known what was not seen\n", n - told, n - told == 1 ? "" : "s");
}

/* What ranks say of what they did not see. */
static void print_sentences(const struct rank *r, size_t n)
{
	size_t shown = 0, more = 0;

	for (size_t k = 0; k < SENTENCES; k++)
		for (size_t i = 0; i < n; i++) {
			const char *text = mt_info_text(json_object_get(r[i].m, sentences[k]), "text");

			/* that all was seen is said for all of them */
			if (!*text || (!k && !strcmp(seen_of(&r[i]), "all")))
				continue;
			if (shown++ < SENTENCES_SHOWN)
				printf("            rank %" PRId64 ": %s\n", r[i].number, text);
			else
				more++;
		}
	if (more)
		printf("            (%zu more of such sentences: memtrace info of each rank)\n", more);
}

static void print_person(const char *folder, const struct rank *r, size_t n)
{
	const json_t *job = job_of(r[0].m);
	json_t *losses = all_losses(r, n);
	char *lost = mt_info_losses(losses), *cmd = mt_info_command(r[0].m);
	uint64_t bytes = 0, absent;
	char *gone = missing(r, n, r[0].size, NULL, &absent);
	const char *began = mt_info_text(json_object_get(r[0].m, "clock"), "start_realtime");
	int64_t longest = 0;
	const size_t machines = kinds(r, n, machine), results = kinds(r, n, result), promises = kinds(r, n, promise);
	size_t other = 0;
	bool label = true;

	for (size_t i = 0; i < n; i++) {
		const char *t = mt_info_text(json_object_get(r[i].m, "clock"), "start_realtime");
		char *c = mt_info_command(r[i].m);

		bytes += r[i].bytes;
		longest = r[i].end - r[i].start > longest ? r[i].end - r[i].start : longest;
		began = strcmp(t, began) < 0 ? t : began;
		other += strcmp(c, cmd) != 0;
		free(c);
	}
	printf("Job         %s, %s: %zu rank%s", folder, mt_human_bytes(bytes), n, n == 1 ? "" : "s");
	if (absent)
		printf(" of %" PRId64 "; not here: %s", r[0].size, gone);
	printf("\n            launched by %s, number %s\n", mt_info_text(job, "launcher"), mt_info_text(job, "id"));
	printf("Command     %s\n", cmd);
	if (other)
		printf("            that of rank %" PRId64 "; %zu rank%s another one\n", r[0].number, other, other == 1 ? " has" : "s have");
	printf("Recorded    %.19s UTC, the longest rank lasted %s\n", began, mt_human_ns((uint64_t)longest));
	for (size_t i = 0; i < n; i++) {
		char *list;

		if (!first_of_its_kind(r, i, machine))
			continue;
		list = same_kind(r, n, i, machine);
		printf("%-11s %s: %s\n", !label ? "" : machines == 1 ? "Machine" : "Machines", host(&r[i]), list);
		label = false;
		free(list);
	}
	for (size_t i = 0; i < n; i++) {
		char *list;

		if (!first_of_its_kind(r, i, result))
			continue;
		list = same_kind(r, n, i, result);
		printf("%-11s %s%s%s\n", i ? "" : "Result", results > 1 ? list : "", results > 1 ? ": " : "", r[i].result);
		free(list);
	}
	for (size_t i = 0; i < n; i++) {
		const json_t *b = json_object_get(r[i].m, "backend");
		char *list;

		if (!first_of_its_kind(r, i, promise))
			continue;
		list = same_kind(r, n, i, promise);
		if (promises > 1)
			printf("%-11s %s: %s%s\n", i ? "" : "Backend", list, mt_info_text(b, "name"),
			       i ? ", whose numbers do not mean the same" : "");
		else
			printf("Backend     %s\n", mt_info_text(b, "name"));
		mt_info_promise(json_object_get(b, "guarantee"), i ? "" : "Promise");
		free(list);
	}
	print_losses(r, n, lost);
	print_sentences(r, n);
	printf("\n%6s  %-16s %9s %8s %10s %9s %14s %12s %10s  %s\n", "RANK", "MACHINE", "PROCESSES", "THREADS", "STRUCTURES", "INTERVALS",
	       "RECORDS", "LOST", "LASTED", "DIRECTORY");
	for (size_t i = 0; i < n; i++)
		printf("%6" PRId64 "  %-16s %9s %8s %10s %9s %14s %12s %10s  %s\n", r[i].number, host(&r[i]), mt_human_count(r[i].processes),
		       mt_human_count(r[i].threads), mt_human_count(r[i].structures), mt_human_count(r[i].intervals),
		       mt_human_count(r[i].records), mt_human_count(r[i].lost),
		       r[i].end > r[i].start ? mt_human_ns((uint64_t)(r[i].end - r[i].start)) : "", r[i].dir);
	free(gone);
	free(lost);
	free(cmd);
	json_decref(losses);
}

/* The numbers of the ranks that are of one kind. */
static json_t *numbers(const struct rank *r, size_t n, size_t of, key_fn key)
{
	json_t *v = json_array();

	for (size_t i = 0; i < n; i++)
		if (!strcmp(key(&r[i]), key(&r[of])))
			json_array_append_new(v, json_integer(r[i].number));
	return v;
}

static json_t *count_json(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static void print_json(const char *folder, const struct rank *r, size_t n)
{
	const json_t *job = job_of(r[0].m);
	json_t *out = json_object(), *machines = json_array(), *backends = json_array(), *ranks = json_array(), *absent = json_array();
	json_t *losses = all_losses(r, n);
	uint64_t count;

	free(missing(r, n, r[0].size, absent, &count));
	for (size_t i = 0; i < n; i++) {
		const json_t *b = json_object_get(r[i].m, "backend"), *status = json_object_get(r[i].m, "status");
		json_t *o, *notes = json_array();

		for (size_t k = 0; k < SENTENCES; k++)
			if (*mt_info_text(json_object_get(r[i].m, sentences[k]), "text"))
				json_array_append(notes, json_object_get(json_object_get(r[i].m, sentences[k]), "text"));
		if (first_of_its_kind(r, i, machine))
			json_array_append_new(machines, json_pack("{s:s, s:o}", "name", host(&r[i]), "ranks", numbers(r, n, i, machine)));
		if (first_of_its_kind(r, i, promise))
			json_array_append_new(backends, json_pack("{s:s, s:o, s:O?}", "name", mt_info_text(b, "name"), "ranks",
				numbers(r, n, i, promise), "guarantee", json_object_get(b, "guarantee")));
		o = json_pack("{s:I, s:s, s:s, s:s, s:O?, s:O?}", "rank", (json_int_t)r[i].number, "dir", r[i].dir, "machine", host(&r[i]),
			      "state", mt_info_text(status, "state"), "exit_code", json_object_get(status, "exit_code"), "start_realtime",
			      json_object_get(json_object_get(r[i].m, "clock"), "start_realtime"));
		json_object_set_new(o, "start_ns", json_integer(r[i].start));
		json_object_set_new(o, "end_ns", json_integer(r[i].end));
		json_object_set_new(o, "processes", count_json(r[i].processes));
		json_object_set_new(o, "threads", count_json(r[i].threads));
		json_object_set_new(o, "structures", count_json(r[i].structures));
		json_object_set_new(o, "intervals", count_json(r[i].intervals));
		json_object_set_new(o, "access_records", count_json(r[i].records));
		json_object_set_new(o, "lost", count_json(r[i].lost));
		json_object_set_new(o, "bytes", count_json(r[i].bytes));
		json_object_set_new(o, "notes", notes);
		json_array_append_new(ranks, o);
	}
	json_object_set_new(out, "schema", json_string("memtrace.job/1"));
	json_object_set_new(out, "folder", json_string(folder));
	json_object_set_new(out, "launcher", json_string(mt_info_text(job, "launcher")));
	json_object_set_new(out, "id", json_string(mt_info_text(job, "id")));
	json_object_set_new(out, "size", r[0].size < 0 ? json_null() : json_integer(r[0].size));
	json_object_set_new(out, "missing_ranks", absent);
	json_object_set(out, "command", json_object_get(r[0].m, "command"));
	json_object_set_new(out, "machines", machines);
	json_object_set_new(out, "backends", backends);
	json_object_set(out, "losses", json_object_get(losses, "losses"));
	json_object_set_new(out, "ranks", ranks);
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(losses);
	json_decref(out);
}

int mt_info_job(const struct mt_args *a, const char *folder, char **ranks, size_t n)
{
	struct rank *r = mt_alloc(n * sizeof(*r));
	int rc = MT_EXIT_OK;
	size_t k = 0;

	if (!mt_args_has(a, "no-finish"))
		mt_finish_before(folder);
	for (size_t i = 0; i < n; i++) {
		json_t *m = mt_manifest_read(ranks[i]);

		if (!m) {
			rc = MT_EXIT_INPUT;	/* was told; the others are shown */
			continue;
		}
		r[k] = (struct rank) { .path = ranks[i], .dir = mt_base(ranks[i]), .m = m, .number = signed_number(job_of(m), "rank", -1),
				       .size = signed_number(job_of(m), "size", -1) };
		sum_up(&r[k++]);
	}
	if (k && !belong(folder, r, k)) {
		rc = MT_EXIT_INPUT;
	} else if (mt_args_has(a, "explain")) {
		for (size_t i = 0; i < k; i++) {
			printf("%sRank %" PRId64 " (%s)\n", i ? "\n" : "", r[i].number, r[i].path);
			fflush(stdout);		/* what is missing is told between */
			if (mt_info_explain(r[i].m, r[i].path) && rc == MT_EXIT_OK)
				rc = 1;
		}
	} else if (k && mt_args_json(a)) {
		print_json(folder, r, k);
	} else if (k) {
		print_person(folder, r, k);
	}
	for (size_t i = 0; i < k; i++) {
		free(r[i].promise);
		free(r[i].result);
		json_decref(r[i].m);
	}
	free(r);
	return rc;
}
