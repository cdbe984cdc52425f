/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* cmd_info.c - what a trace directory holds, for people and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/table/native.h"
#include "cli/trace/accesses.h"
#include "cli/backend/backend.h"
#include "cli/measure/measure.h"
#include "cli/names/finish.h"
#include "cli/info/info.h"
#include "cli/finish/manifest.h"
#include "cli/finish/slower.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define COUNT_LIMIT (1ull << 30)	/* bytes of accesses up to which pages are counted */
#define TOP 12

struct structure {
	char *kind, *name, *site, *type;
	uint64_t bytes;		/* of several, the most that they had at one time */
	uint64_t instances;
	int64_t birth, death;	/* of one block; -1: it lived to the end */
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

struct change {
	int64_t when, bytes;
};

static int by_time(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->when != b->when)
		return a->when < b->when ? -1 : 1;
	return a->bytes != b->bytes ? (a->bytes < b->bytes ? -1 : 1) : 0;	/* first what goes */
}

/* The most bytes that some structures had at one time: what other commands call the size of all of them. */
static uint64_t most_at_a_time(const struct structure *v, size_t n)
{
	struct change *c = mt_alloc((2 * n + 1) * sizeof(*c));
	int64_t now = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		c[2 * i] = (struct change){ v[i].birth, (int64_t)v[i].bytes };
		c[2 * i + 1] = (struct change){ v[i].death < 0 ? INT64_MAX : v[i].death, -(int64_t)v[i].bytes };
	}
	qsort(c, 2 * n, sizeof(*c), by_time);
	for (size_t i = 0; i < 2 * n; i++) {
		now += c[i].bytes;
		most = now > most ? now : most;
	}
	free(c);
	return (uint64_t)most;
}

/* Structures of one kind, name and site are one line, as in all other commands. */
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
		v[n].type = mt_strdup(mt_csv_get(&c, mt_csv_column(&c, "Type")));
		v[n].bytes = strtoull(mt_csv_get(&c, mt_csv_column(&c, "End")), NULL, 16) -
			     strtoull(mt_csv_get(&c, mt_csv_column(&c, "Start")), NULL, 16);
		v[n].birth = strtoll(mt_csv_get(&c, mt_csv_column(&c, "Birth")), NULL, 10);
		v[n++].death = strtoll(mt_csv_get(&c, mt_csv_column(&c, "Death")), NULL, 10);
	}
	im->n_structures = n;
	mt_csv_close(&c);
	free(path);
	if (n)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0, k; i < n; i = k) {
		uint64_t most;
		size_t largest = i;

		for (k = i + 1; k < n && !by_key(&v[i], &v[k]); k++)
			if (v[k].bytes > v[largest].bytes)
				largest = k;	/* with its number of elements */
		most = most_at_a_time(v + i, k - i);
		for (size_t d = i; d < k; d++)
			if (d != largest) {
				free(v[d].kind);
				free(v[d].name);
				free(v[d].site);
				free(v[d].type);
			}
		v[w] = v[largest];
		v[w].bytes = most;
		v[w++].instances = k - i;
	}
	if (w)
		qsort(v, w, sizeof(*v), by_bytes);
	im->top = v;
	im->n_top = w;
}

/* ------------------------------------------------------------ for people */

/* "none" stands only beside what tells that all was seen. */
static void print_seen(const json_t *m, const char *lost)
{
	const json_t *unseen = json_object_get(m, "unseen");
	const bool none = !strcmp(lost, "none");

	if (!strcmp(mt_info_text(unseen, "state"), "all"))
		printf("Losses      %s; %s\n", lost, mt_info_text(unseen, "text"));
	else if (*mt_info_text(unseen, "text"))
		printf("Losses      %s\n            %s\n", none ? "none of what was seen" : lost, mt_info_text(unseen, "text"));
	else
		printf("Losses      %s; not known what was not seen\n", none ? "none known" : lost);
}

static void print_samples(const json_t *m)
{
	char *measured;

	if (*mt_info_text(json_object_get(m, "zoom"), "text"))
		printf("Zoom        %s\n", mt_info_text(json_object_get(m, "zoom"), "text"));
	if (*mt_info_text(json_object_get(m, "ticks"), "text"))
		printf("Ticks       %s\n", mt_info_text(json_object_get(m, "ticks"), "text"));
	measured = json_object_get(m, "measured") ? mt_measure_line(json_object_get(m, "measured")) : NULL;
	if (measured)
		printf("Costs       %s\n", measured);
	free(measured);
}

/* first: the image before it whose messages are printed already, or NULL */
static void print_image(const struct image *k, const struct image *first)
{
	printf("  %s  pid %" PRIu64 ", %s%s, %s\n", k->dir, mt_info_number(k->json, "pid"),
	       strcmp(mt_info_text(k->json, "how"), "root") ? mt_info_text(k->json, "how") : "the program", k->alive ? ", still running" : "",
	       mt_info_text(k->json, "executable"));
	if (*mt_info_text(k->json, "backend_message") &&
	    (!first || strcmp(mt_info_text(k->json, "backend_message"), mt_info_text(first->json, "backend_message"))))
		printf("         backend %s: %s\n", mt_info_text(k->json, "backend"),
		       mt_info_text(k->json, "backend_message"));
	printf("         %s interval%s", mt_human_count(k->totals.intervals), k->totals.intervals == 1 ? "" : "s");
	if (k->totals.intervals)
		printf(" of %s on average", mt_human_ns(k->totals.length_ns / k->totals.intervals));
	printf(", %s access record%s",
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
	if (k->totals.unreadable)
		printf("         intervals.csv cannot be read: intervals and losses of this image are not known\n");
	if (!k->totals.finished)
		printf("         not finished: structures, stacks and threads are not made yet\n");
}

static void print_overhead(const json_t *m, const json_t *over)
{
	const uint64_t faults = mt_info_number(over, "faults");
	char *slower = mt_slower_text(m);

	if (faults)
		printf("Overhead    %s faults; monitor %s CPU, program %s CPU, recorder %s CPU\n",
		       mt_human_count(faults), mt_human_ns(mt_info_number(over, "monitor_cpu_ns")),
		       mt_human_ns(mt_info_number(over, "program_cpu_ns")), mt_human_ns(mt_info_number(over, "recorder_cpu_ns")));
	if (*slower)
		printf("            the run took %s by it; hooks of malloc are not in this\n", slower);
	free(slower);
}

static void print_person(const json_t *m, const char *trace, struct image *im, size_t n)
{
	json_t *host = json_object_get(m, "host"), *clock = json_object_get(m, "clock");
	json_t *b = json_object_get(m, "backend"), *g = json_object_get(b, "guarantee");
	json_t *p = json_object_get(m, "parameters"), *over = json_object_get(m, "overhead");
	json_t *st = json_object_get(m, "status");
	int64_t start = (int64_t)mt_info_number(clock, "start_ns"), end = json_integer_value(json_object_get(clock, "end_ns"));
	const struct mt_backend *used = mt_backend_find(mt_info_text(b, "name"));
	char *cmd = mt_info_command(m), *lost = mt_info_losses(m);

	printf("Trace       %s, %s\n", trace, mt_human_bytes(mt_tree_bytes(trace)));
	printf("Command     %s\n", cmd);
	printf("            in %s\n", mt_info_text(m, "working_directory"));
	if (*mt_info_text(m, "purpose"))
		printf("Purpose     %s\n", mt_info_text(m, "purpose"));
	printf("Recorded    %.19s UTC%s%s by memtrace %s\n", mt_info_text(clock, "start_realtime"),
	       end > start ? ", lasted " : "", end > start ? mt_human_ns((uint64_t)(end - start)) : "",
	       mt_info_text(json_object_get(m, "tool"), "version"));
	printf("Machine     %s: %s, %" PRIu64 " CPUs, %" PRIu64 " NUMA node%s, %s; %s, Linux %s\n",
	       mt_info_text(host, "name"), *mt_info_text(host, "cpu_model") ? mt_info_text(host, "cpu_model") : mt_info_text(host, "arch"),
	       mt_info_number(host, "cpus_online"), mt_info_number(host, "numa_nodes"),
	       mt_info_number(host, "numa_nodes") == 1 ? "" : "s", mt_human_bytes(mt_info_number(host, "memory_bytes")),
	       mt_info_text(host, "os"), mt_info_text(host, "kernel"));
	printf("Result      %s; %s\n", mt_info_text(st, "state"), mt_info_text(st, "message"));
	printf("Backend     %s%s%s\n", mt_info_text(b, "name"), *mt_info_text(b, "message") ? ": " : "", mt_info_text(b, "message"));
	mt_info_promise(g, "Promise");
	print_seen(m, lost);
	if (*mt_info_text(json_object_get(m, "unrecorded"), "text"))
		printf("            %s\n", mt_info_text(json_object_get(m, "unrecorded"), "text"));
	if (*mt_info_text(json_object_get(m, "unlisted"), "text"))
		printf("            %s\n", mt_info_text(json_object_get(m, "unlisted"), "text"));
	/* the governor has fewer where the budget, or one thread alone, asks for it */
	printf("Interval    %s asked for, %s%" PRIu64 " subphase%s; changed by the overhead governor %" PRIu64 " time%s\n",
	       mt_human_ns(mt_info_number(p, "interval_ns")),
	       used && used->abilities & MT_ABILITY_SUBPHASES && mt_info_number(p, "subphases") > 1 &&
	       json_number_value(json_object_get(p, "max_overhead")) > 0 ? "at most " : "", mt_info_number(p, "subphases"),
	       mt_info_number(p, "subphases") == 1 ? "" : "s", mt_info_number(over, "governor_changes"),
	       mt_info_number(over, "governor_changes") == 1 ? "" : "s");
	if (*mt_info_text(json_object_get(m, "late"), "text"))
		printf("            %s\n", mt_info_text(json_object_get(m, "late"), "text"));
	print_samples(m);
	print_overhead(m, over);

	printf("\nProcess images\n");
	for (size_t i = 0; i < n; i++)
		print_image(&im[i], i ? &im[0] : NULL);
	for (size_t i = 0; i < n; i++) {
		const struct image *k = &im[i];
		size_t shown = 0;

		if (!k->n_top)
			continue;
		printf("\nLargest structures of %s\n  %-7s %10s %7s  %-32s %-24s %s\n", k->dir, "KIND", "SIZE",
		       "BLOCKS", "NAME", "TYPE", "SITE");
		for (size_t s = 0; s < k->n_top && shown < TOP; s++, shown++)
			printf("  %-7s %10s %7" PRIu64 "  %-32s %-24s %s\n", k->top[s].kind,
			       mt_human_bytes(k->top[s].bytes), k->top[s].instances, k->top[s].name, k->top[s].type,
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
			json_array_append_new(top, json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "kind",
				k->top[s].kind, "name", k->top[s].name, "bytes",
				(json_int_t)k->top[s].bytes, "instances",
				(json_int_t)k->top[s].instances, "site", k->top[s].site, "type",
				k->top[s].type));
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

/* With --explain: a question has no complete answer. */
#define MT_EXIT_UNANSWERED 1

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
	dirs = mt_info_ranks(trace, &n);
	if (n) {
		rc = mt_info_job(a, trace, dirs, n);
		mt_names_free(dirs, n);
		free(trace);
		return rc;
	}
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
		rc = mt_info_explain(m, trace) ? MT_EXIT_UNANSWERED : MT_EXIT_OK;
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t page = mt_info_number(im[i].json, "page_size_bytes");

		mt_image_totals(trace, im[i].dir, 0, &im[i].totals);
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
			free(im[i].top[k].type);
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
