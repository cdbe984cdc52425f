/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* cmd_info.c - what a trace directory holds, for people and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native.h"
#include "accesses.h"
#include "finish.h"
#include "manifest.h"
#include "tracedir.h"
#include "util.h"

#define COUNT_LIMIT (1ull << 30)	/* bytes of accesses up to which pages are counted */
#define TOP 12

struct structure {
	char *kind, *name, *site;
	uint64_t bytes;
	uint64_t instances;
};

struct image {
	char *dir;
	json_t *json;
	bool alive;
	struct mt_totals totals;
	uint64_t records, reads, writes, pages, unattributed, torn;
	bool counted;
	struct structure *top;
	size_t n_top, cap_top;
	uint64_t n_structures;
};

static const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static uint64_t num(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : 0;
}

/* ------------------------------------------------------------- the pages */

struct pageset {
	uint64_t *key;
	size_t mask, n;
	unsigned int shift;
	struct image *im;
};

static bool count_access(void *arg, const struct mt_access *a)
{
	struct pageset *s = arg;
	uint64_t k = (a->virt >> s->shift) + 1;
	size_t i;

	s->im->reads += a->reads;
	s->im->writes += a->writes;
	s->im->unattributed += a->tid < 0;
	if (s->n * 2 >= s->mask) {
		uint64_t *old = s->key;
		size_t n = s->mask + 1;

		s->mask = n * 2 - 1;
		s->key = mt_alloc((s->mask + 1) * sizeof(*s->key));
		for (size_t j = 0; j < n; j++) {
			if (!old[j])
				continue;
			for (i = old[j] * 0x9e3779b97f4a7c15ull >> 22 & s->mask; s->key[i];
			     i = (i + 1) & s->mask)
				;
			s->key[i] = old[j];
		}
		free(old);
	}
	for (i = k * 0x9e3779b97f4a7c15ull >> 22 & s->mask; s->key[i] && s->key[i] != k;
	     i = (i + 1) & s->mask)
		;
	if (!s->key[i]) {
		s->key[i] = k;
		s->n++;
	}
	return true;
}

static int count(const char *trace, struct image *im, uint64_t page_size)
{
	struct pageset s = { .mask = 4095, .im = im };
	struct mt_access_counts k;
	int err;

	if (im->totals.access_bytes > COUNT_LIMIT)
		return 0;
	while ((1ull << s.shift) < page_size)
		s.shift++;
	s.key = mt_alloc((s.mask + 1) * sizeof(*s.key));
	err = mt_accesses_read(trace, im->dir, count_access, &s, &k);
	im->records = k.records;
	im->torn = k.torn;
	im->pages = s.n;
	im->counted = !err;
	free(s.key);
	return err;
}

/* -------------------------------------------------------- the structures */

/* What the program itself made comes first: not the data of libraries. */
static int rank(const struct structure *s)
{
	if (!strcmp(s->kind, "static"))
		return !*s->site;
	return !strcmp(s->kind, "file") || !strcmp(s->kind, "brk");
}

static int by_bytes(const void *x, const void *y)
{
	const struct structure *a = x, *b = y;

	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_key(const void *x, const void *y)
{
	const struct structure *a = x, *b = y;
	int c = strcmp(a->kind, b->kind);

	if (!c)
		c = strcmp(a->name, b->name);
	return c ? c : strcmp(a->site, b->site);
}

/* Structures of one kind, name and site are one line: bytes of the largest. */
static void structures(const char *trace, struct image *im)
{
	char *path = mt_printf("%s/%s/structures.csv", trace, im->dir);
	struct structure *v = NULL;
	size_t n = 0, cap = 0, w = 0;
	struct mt_csv c;

	if (mt_csv_open(&c, path)) {
		free(path);
		return;
	}
	while (mt_csv_next(&c)) {
		MT_GROW(v, n, cap);
		v[n].kind = mt_strdup(mt_csv_get(&c, mt_csv_column(&c, "Kind")));
		v[n].name = mt_strdup(mt_csv_get(&c, mt_csv_column(&c, "Name")));
		v[n].site = mt_strdup(mt_csv_get(&c, mt_csv_column(&c, "Site")));
		v[n].bytes = strtoull(mt_csv_get(&c, mt_csv_column(&c, "End")), NULL, 16) -
			     strtoull(mt_csv_get(&c, mt_csv_column(&c, "Start")), NULL, 16);
		v[n++].instances = 1;
	}
	im->n_structures = n;
	mt_csv_close(&c);
	free(path);
	if (n)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n; i++) {
		if (w && !by_key(&v[w - 1], &v[i])) {
			if (v[i].bytes > v[w - 1].bytes)
				v[w - 1].bytes = v[i].bytes;
			v[w - 1].instances++;
			free(v[i].kind);
			free(v[i].name);
			free(v[i].site);
		} else {
			v[w++] = v[i];
		}
	}
	if (w)
		qsort(v, w, sizeof(*v), by_bytes);
	im->top = v;
	im->n_top = w;
}

/* ----------------------------------------------------------------- texts */

static const char *promise_pages(const char *s)
{
	if (!strcmp(s, "complete"))
		return "every page touched in an interval is in the trace for that interval (as long as nothing was lost)";
	if (!strcmp(s, "sampled"))
		return "pages are sampled: a page that is missing may have been touched";
	return "no accesses were recorded";
}

static const char *promise_threads(const char *s)
{
	if (!strcmp(s, "all"))
		return "every thread that touched a page is there";
	if (!strcmp(s, "first-per-subphase"))
		return "of the threads that touch a page in the same subphase, the first is certain to be seen";
	return "threads are not known";
}

static const char *promise_writes(const char *s)
{
	if (!strcmp(s, "decoded"))
		return "reads and writes by decoding the instruction of each recorded access";
	if (!strcmp(s, "exact"))
		return "reads and writes are exact";
	if (!strcmp(s, "first-access"))
		return "a write after a read in the same interval is missed";
	return "reads and writes are not told apart";
}

static const char *promise_kernel(const char *s)
{
	if (!strcmp(s, "attributed"))
		return "accesses of system calls belong to the calling thread";
	if (!strcmp(s, "page-set"))
		return "pages touched by system calls are there, without thread";
	return "accesses of system calls are not recorded";
}

static char *command_line(const json_t *m)
{
	char *out = mt_strdup("");
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(m, "command"), i, v) {
		const char *s = json_string_value(v);
		bool plain = s && *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%")];
		char *next, *q = NULL;

		if (!s)
			continue;
		if (!plain) {		/* so that it can be pasted into a shell */
			char *w;

			q = w = mt_alloc(strlen(s) * 4 + 3);
			*w++ = '\'';
			for (; *s; s++) {
				if (*s == '\'') {
					memcpy(w, "'\\''", 4); // NOLINT(bugprone-not-null-terminated-result): more follows
					w += 4;
				} else {
					*w++ = *s;
				}
			}
			*w = '\'';
			s = q;
		}
		next = mt_printf("%s%s%s", out, i ? " " : "", s);
		free(out);
		free(q);
		out = next;
	}
	return out;
}

static char *losses_text(const json_t *m)
{
	json_t *l = json_object_get(m, "losses"), *v;
	char *out = NULL;
	const char *key;

	if (!num(l, "total"))
		return mt_strdup("none");
	json_object_foreach(json_object_get(l, "by_reason"), key, v) {
		char *next;

		if (!json_integer_value(v))
			continue;
		next = mt_printf("%s%s%s %s", out ? out : "", out ? ", " : "", key,
				 mt_human_count((uint64_t)json_integer_value(v)));
		free(out);
		out = next;
	}
	return out ? out : mt_strdup("unknown reason");
}

static void print_person(const json_t *m, const char *trace, struct image *im, size_t n)
{
	json_t *host = json_object_get(m, "host"), *clock = json_object_get(m, "clock");
	json_t *b = json_object_get(m, "backend"), *g = json_object_get(b, "guarantee");
	json_t *p = json_object_get(m, "parameters"), *over = json_object_get(m, "overhead");
	json_t *st = json_object_get(m, "status");
	int64_t start = (int64_t)num(clock, "start_ns"), end = json_integer_value(json_object_get(clock, "end_ns"));
	uint64_t faults = num(over, "faults"), program = num(over, "program_cpu_ns");
	char *cmd = command_line(m), *lost = losses_text(m);

	printf("Trace       %s, %s\n", trace, mt_human_bytes(mt_tree_bytes(trace)));
	printf("Command     %s\n", cmd);
	printf("            in %s\n", str(m, "working_directory"));
	if (*str(m, "purpose"))
		printf("Purpose     %s\n", str(m, "purpose"));
	printf("Recorded    %.19s UTC%s%s by memtrace %s\n", str(clock, "start_realtime"),
	       end > start ? ", lasted " : "", end > start ? mt_human_ns((uint64_t)(end - start)) : "",
	       str(json_object_get(m, "tool"), "version"));
	printf("Machine     %s: %s, %" PRIu64 " CPUs, %" PRIu64 " NUMA node%s, %s; %s, Linux %s\n",
	       str(host, "name"), *str(host, "cpu_model") ? str(host, "cpu_model") : str(host, "arch"),
	       num(host, "cpus_online"), num(host, "numa_nodes"),
	       num(host, "numa_nodes") == 1 ? "" : "s", mt_human_bytes(num(host, "memory_bytes")),
	       str(host, "os"), str(host, "kernel"));
	printf("Result      %s; %s\n", str(st, "state"), str(st, "message"));
	printf("Backend     %s%s%s\n", str(b, "name"), *str(b, "message") ? ": " : "", str(b, "message"));
	printf("Promise     %s\n", promise_pages(str(g, "pages")));
	if (strcmp(str(g, "pages"), "none")) {
		printf("            %s\n", promise_threads(str(g, "threads")));
		printf("            %s\n", promise_writes(str(g, "writes")));
		printf("            %s\n", promise_kernel(str(g, "kernel_accesses")));
	}
	if (num(g, "read_group_bytes"))
		printf("            reads by groups of up to %s: pages mapped around one that was read are marked, they may not\n"
		       "            have been touched\n", mt_human_bytes(num(g, "read_group_bytes")));
	printf("Losses      %s\n", lost);
	if (*str(json_object_get(m, "unseen"), "text"))
		printf("            %s\n", str(json_object_get(m, "unseen"), "text"));
	if (*str(json_object_get(m, "unrecorded"), "text"))
		printf("            %s\n", str(json_object_get(m, "unrecorded"), "text"));
	/* zap's governor has fewer where the budget, or one thread alone, asks for it */
	printf("Interval    %s, %s%" PRIu64 " subphase%s; changed by the overhead governor %" PRIu64 " time%s\n",
	       mt_human_ns(num(p, "interval_ns")),
	       !strcmp(str(b, "name"), "zap") && num(p, "subphases") > 1 &&
	       json_number_value(json_object_get(p, "max_overhead")) > 0 ? "at most " : "", num(p, "subphases"),
	       num(p, "subphases") == 1 ? "" : "s", num(over, "governor_changes"),
	       num(over, "governor_changes") == 1 ? "" : "s");
	if (num(over, "late_intervals"))
		printf("            %s of %s intervals took longer than they should: %s on average, %s the longest\n",
		       mt_human_count(num(over, "late_intervals")), mt_human_count(num(over, "intervals")),
		       mt_human_ns(num(over, "mean_interval_ns")), mt_human_ns(num(over, "longest_interval_ns")));
	if (faults)
		printf("Overhead    %s faults; monitor %s CPU, program %s CPU, recorder %s CPU\n",
		       mt_human_count(faults), mt_human_ns(num(over, "monitor_cpu_ns")),
		       mt_human_ns(program), mt_human_ns(num(over, "recorder_cpu_ns")));

	printf("\nProcess images\n");
	for (size_t i = 0; i < n; i++) {
		const struct image *k = &im[i];

		printf("  %s  pid %" PRIu64 ", %s%s, %s\n", k->dir, num(k->json, "pid"),
		       str(k->json, "how"), k->alive ? ", still running" : "",
		       str(k->json, "executable"));
		if (*str(k->json, "backend_message") &&
		    (i == 0 || strcmp(str(k->json, "backend_message"), str(im[0].json, "backend_message"))))
			printf("         backend %s: %s\n", str(k->json, "backend"),
			       str(k->json, "backend_message"));
		printf("         %s interval%s, %s access record%s", mt_human_count(k->totals.intervals),
		       k->totals.intervals == 1 ? "" : "s",
		       mt_human_count(k->counted ? k->records : k->totals.records),
		       k->records == 1 ? "" : "s");
		if (k->counted && k->records)
			printf(" (%s reads, %s writes) on %s pages, %s of them without thread",
			       mt_human_count(k->reads), mt_human_count(k->writes),
			       mt_human_count(k->pages), mt_human_count(k->unattributed));
		printf("\n         %s structures, %s thread%s\n", mt_human_count(k->n_structures),
		       mt_human_count(k->totals.threads), k->totals.threads == 1 ? "" : "s");
		if (k->torn)
			printf("         the last line of %" PRIu64 " chunk%s is incomplete and was dropped\n",
			       k->torn, k->torn == 1 ? "" : "s");
		if (!k->totals.finished)
			printf("         not finished: structures, stacks and threads are not made yet\n");
	}
	for (size_t i = 0; i < n; i++) {
		const struct image *k = &im[i];
		size_t shown = 0;

		if (!k->n_top)
			continue;
		printf("\nLargest structures of %s\n  %-7s %10s %7s  %-32s %s\n", k->dir, "KIND", "SIZE",
		       "TIMES", "NAME", "SITE");
		for (size_t s = 0; s < k->n_top && shown < TOP; s++, shown++)
			printf("  %-7s %10s %7" PRIu64 "  %-32s %s\n", k->top[s].kind,
			       mt_human_bytes(k->top[s].bytes), k->top[s].instances, k->top[s].name,
			       mt_base(k->top[s].site));
		if (i >= 7 && n > i + 1) {
			printf("\n(%zu further images)\n", n - i - 1);
			break;
		}
	}
	free(cmd);
	free(lost);
}

static void print_json(const json_t *m, struct image *im, size_t n)
{
	json_t *out = json_object(), *images = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct image *k = &im[i];
		json_t *top = json_array(), *e;

		for (size_t s = 0; s < k->n_top && s < TOP; s++)
			json_array_append_new(top, json_pack("{s:s, s:s, s:I, s:I, s:s}", "kind",
				k->top[s].kind, "name", k->top[s].name, "bytes",
				(json_int_t)k->top[s].bytes, "instances",
				(json_int_t)k->top[s].instances, "site", k->top[s].site));
		e = json_pack("{s:s, s:O?, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:o}", "dir", k->dir,
			"image", k->json, "running", k->alive, "finished", k->totals.finished,
			"intervals", (json_int_t)k->totals.intervals, "faults",
			(json_int_t)k->totals.faults, "structures", (json_int_t)k->n_structures,
			"threads", (json_int_t)k->totals.threads, "torn_chunks", (json_int_t)k->torn,
			"largest_structures", top);
		if (k->counted) {
			json_object_set_new(e, "access_records", json_integer((json_int_t)k->records));
			json_object_set_new(e, "reads", json_integer((json_int_t)k->reads));
			json_object_set_new(e, "writes", json_integer((json_int_t)k->writes));
			json_object_set_new(e, "pages", json_integer((json_int_t)k->pages));
			json_object_set_new(e, "unattributed",
					    json_integer((json_int_t)k->unattributed));
		} else {
			json_object_set_new(e, "access_records",
					    json_integer((json_int_t)k->totals.records));
		}
		json_array_append_new(images, e);
	}
	json_object_set_new(out, "schema", json_string("memtrace.recording/1"));
	json_object_set(out, "manifest", (json_t *)m);
	json_object_set_new(out, "images", images);
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(out);
}

/* The seven questions that a trace must answer by itself. Number unanswered. */
static int explain(const json_t *m, const char *trace)
{
	json_t *host = json_object_get(m, "host"), *clock = json_object_get(m, "clock"), *v;
	json_t *tool = json_object_get(m, "tool"), *env = json_object_get(m, "environment");
	json_t *revs = json_object_get(m, "source_revisions"), *b = json_object_get(m, "backend");
	json_t *g = json_object_get(b, "guarantee");
	char *cmd = command_line(m), *lost = losses_text(m);
	const char *key;
	int missing = 0;
	size_t i;

	printf("1. What was run?\n   %s\n   in %s\n", *cmd ? cmd : "(unknown)", str(m, "working_directory"));
	missing += !*cmd;
	json_object_foreach(env, key, v)
		if (strcmp(key, "PATH") && strcmp(key, "PWD") && strcmp(key, "SHELL"))
			printf("   %s=%s\n", key, json_string_value(v));

	printf("2. With which software?\n   program %s", str(m, "executable"));
	if (*str(m, "executable_build_id"))
		printf(", build id %s", str(m, "executable_build_id"));
	printf("\n   memtrace %s%s%s, %s, Linux %s\n", str(tool, "version"),
	       *str(tool, "commit") ? " commit " : "", str(tool, "commit"), str(host, "os"),
	       str(host, "kernel"));
	json_array_foreach(revs, i, v)
		printf("   sources in %s: commit %s%s%s\n", str(v, "directory"),
		       *str(v, "commit") ? str(v, "commit") : "(none yet)",
		       *str(v, "branch") ? ", branch " : "", str(v, "branch"));
	printf("   libraries: maps-start.txt and maps-end.txt of each image\n");
	missing += !*str(m, "executable") || !*str(tool, "version");

	printf("3. What was expected?\n   %s\n", *str(m, "purpose") ? str(m, "purpose") :
	       "(not stated; record --purpose TEXT states it)");
	missing += !*str(m, "purpose");

	printf("4. When?\n   %s, until %" PRId64 " ns after the start; result: %s, %s\n",
	       *str(clock, "start_realtime") ? str(clock, "start_realtime") : "(unknown)",
	       (int64_t)(json_integer_value(json_object_get(clock, "end_ns")) -
			 json_integer_value(json_object_get(clock, "start_ns"))),
	       str(json_object_get(m, "status"), "state"), str(json_object_get(m, "status"), "message"));
	missing += !*str(clock, "start_realtime");

	printf("5. On which machine, by whom?\n   %s: %s, %" PRIu64 " of %" PRIu64 " CPUs, %" PRIu64
	       " NUMA nodes, %s; topology: %s; user %s\n", str(host, "name"), str(host, "cpu_model"),
	       num(host, "cpus_online"), num(host, "cpus_configured"), num(host, "numa_nodes"),
	       mt_human_bytes(num(host, "memory_bytes")),
	       *str(host, "topology") ? str(host, "topology") : "not known",
	       *str(host, "user") ? str(host, "user") : "not known");
	json_object_foreach(json_object_get(host, "settings"), key, v)
		if (json_is_string(v))
			printf("   %s = %s\n", key, json_string_value(v));
	missing += !*str(host, "name");

	printf("6. How are the files organised, and how complete are they?\n"
	       "   manifest.json, topology.xml and a directory pNNNN per process image with\n"
	       "   accesses-*.csv, intervals.csv, structures.csv, stacks.csv, threads.csv and\n"
	       "   maps-*.txt, format version %" PRIu64 " (docs/trace-format.md)\n", num(m, "format_version"));
	printf("   backend %s: %s\n   lost: %s\n", str(b, "name"), promise_pages(str(g, "pages")),
	       lost);
	missing += !num(m, "format_version") || !*str(b, "name");

	printf("7. How is it analysed?\n   memtrace import %s, then memtrace aggregate, render or open; each\n"
	       "   database keeps its import report and the commands that used it\n", trace);
	free(cmd);
	free(lost);
	if (missing)
		printf("\n%d of 7 questions without a complete answer\n", missing);
	return missing;
}

int cmd_info(const struct mt_args *a)
{
	const struct mt_finish_options fo = { .progress = true };
	const char *given = a->argv[0];
	char *trace = mt_strdup(given);
	struct image *im;
	json_t *m;
	size_t n;
	char **dirs;
	int rc = MT_EXIT_OK, running = 0;

	mt_quiet = mt_args_has(a, "quiet");
	while (strlen(trace) > 1 && trace[strlen(trace) - 1] == '/')
		trace[strlen(trace) - 1] = 0;
	m = mt_manifest_read(trace);
	if (!m) {
		free(trace);
		return MT_EXIT_INPUT;
	}
	if (!mt_args_has(a, "no-finish")) {
		running = mt_manifest_repair(m, trace);
		if (running < 0)
			mt_note("%s cannot be completed: %s", trace, strerror(-running));
	}
	dirs = mt_trace_images(trace, &n);
	im = mt_alloc((n + 1) * sizeof(*im));
	for (size_t i = 0; i < n; i++) {
		im[i].dir = dirs[i];
		im[i].json = mt_image_read(trace, dirs[i]);
		im[i].alive = im[i].json && mt_image_alive(im[i].json);
		if (!im[i].alive && running <= 0 && !mt_args_has(a, "no-finish") &&
		    mt_image_unfinished(trace, dirs[i]) && !access(trace, W_OK))
			mt_finish_image(trace, dirs[i], &fo);
	}
	if (mt_args_has(a, "explain")) {
		explain(m, trace);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t page = num(im[i].json, "page_size_bytes");

		mt_image_totals(trace, im[i].dir, &im[i].totals);
		if (count(trace, &im[i], page ? page : 4096))
			rc = MT_EXIT_INPUT;
		structures(trace, &im[i]);
	}
	if (mt_args_json(a)) {
		print_json(m, im, n);
	} else {
		if (running > 0)
			printf("This trace is being recorded; what follows is the state of now.\n\n");
		print_person(m, trace, im, n);
	}
out:
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < im[i].n_top; k++) {
			free(im[i].top[k].kind);
			free(im[i].top[k].name);
			free(im[i].top[k].site);
		}
		free(im[i].top);
		json_decref(im[i].json);
	}
	free(im);
	mt_names_free(dirs, n);
	json_decref(m);
	free(trace);
	return rc;
}
