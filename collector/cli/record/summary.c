/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* summary.c - what `record` says at the end. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/finish/slower.h"
#include "cli/record/run.h"
#include "cli/trace/tracedir.h"
#include "common/quietwords.h"

static uint64_t ull(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* Says @name.text of the manifest, where there is one. */
static void say(const json_t *m, const char *name)
{
	const char *text = json_string_value(json_object_get(json_object_get(m, name), "text"));

	if (text)
		mt_note("%s", text);
}

/* The end of a plural. */
static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* What was recorded. @b: the backend of the manifest; NULL: of another version. */
static void say_records(const struct mt_run *r, const struct mt_backend *b)
{
	const json_t *m = r->manifest, *images = json_object_get(m, "images"), *backend = json_object_get(m, "backend");
	const bool sees = b && b->abilities & MT_ABILITY_ACCESSES, exact = b && b->abilities & MT_ABILITY_EXACT;
	const uint64_t intervals = ull(json_object_get(m, "overhead"), "intervals");
	const char *name = json_string_value(json_object_get(backend, "name")), *msg = json_string_value(json_object_get(backend, "message"));
	uint64_t accesses = 0, counted = 0, threads = 0;
	const size_t n = json_array_size(images);

	for (size_t i = 0; i < n; i++) {
		struct mt_totals t;

		mt_image_totals(r->dir, json_string_value(json_object_get(json_array_get(images, i), "dir")), 0, &t);
		accesses += t.records - t.lost_other[2];	/* write_error */
		counted += t.accesses;
		threads += t.threads;
	}
	if (!n)
		mt_note("the program did not load the recorder's library; the trace is empty");
	else if (sees)
		mt_note("%s %s in %s interval%s, %s thread%s, %zu process image%s, backend %s", mt_human_count(exact ? counted : accesses),
			exact ? r->windows.kind ? "accesses, counted in windows," : "accesses, counted exactly," :
			accesses == 1 ? "record" : "records",
			mt_human_count(intervals), plural(intervals), mt_human_count(threads), plural(threads), n, plural(n), name);
	else
		mt_note("no accesses (backend %s%s%s), %s thread%s, %zu process image%s", name, msg ? ": " : "", msg ? msg : "",
			mt_human_count(threads), plural(threads), n, plural(n));
	if (sees && n)
		say(m, "windows");
}

/* A part of the processes without accesses, say in a sandbox, or stopped: why, of the first. */
static void say_blind(const struct mt_run *r)
{
	const json_t *images = json_object_get(r->manifest, "images");
	const char *name = json_string_value(json_object_get(json_object_get(r->manifest, "backend"), "name"));
	const size_t n = json_array_size(images);
	bool told = false;

	for (size_t i = 0; !told && i < n; i++) {
		const char *image = json_string_value(json_object_get(json_array_get(images, i), "dir"));
		json_t *j = mt_image_read(r->dir, image);
		const char *works = json_string_value(json_object_get(j, "backend"));
		const char *why = json_string_value(json_object_get(j, "backend_message"));

		const bool blind = works && why && *why && strcmp(works, name);
		const bool stopped = why && !strncmp(why, MT_STOPPED, sizeof(MT_STOPPED) - 1);

		if (blind)
			mt_note("no accesses of process image %s%s: %s", image, n > 2 ? ", perhaps of others" : "", why);
		else if (stopped)
			mt_note("process image %s%s was %s", image, n > 2 ? ", perhaps others," : "", why);
		told = blind || stopped;
		json_decref(j);
	}
}

/* What is missing. Nothing is said to be whole that is not. */
static void say_losses(const json_t *m, bool sees)
{
	json_t *losses = json_object_get(m, "losses"), *unseen = json_object_get(m, "unseen"), *v;
	const char *key, *state = json_string_value(json_object_get(unseen, "state"));
	const uint64_t total = ull(losses, "total");
	char *text = mt_strdup("");

	json_object_foreach(json_object_get(losses, "by_reason"), key, v) {
		char *next;

		if (!json_integer_value(v))
			continue;
		next = mt_printf("%s%s%s %s", text, *text ? ", " : "", key, mt_human_count((uint64_t)json_integer_value(v)));
		free(text);
		text = next;
	}
	if (total)
		mt_note("lost: %s", text);
	if (sees && unseen)
		mt_note("%s%s", !total && state && !strcmp(state, "all") ? "losses none; " : "",
			json_string_value(json_object_get(unseen, "text")));
	free(text);
}

static void say_overhead(const json_t *m)
{
	const json_t *over = json_object_get(m, "overhead");
	char *slower = mt_slower_text(m);

	if (ull(over, "faults"))
		mt_note("overhead: %s%s%s%s faults; the monitor used %s of CPU beside %s of the program; interval changed %s time%s",
			*slower ? "the run took " : "", slower, *slower ? "; " : "", mt_human_count(ull(over, "faults")),
			mt_human_ns(ull(over, "monitor_cpu_ns")), mt_human_ns(ull(over, "program_cpu_ns")),
			mt_human_count(ull(over, "governor_changes")), plural(ull(over, "governor_changes")));
	free(slower);
}

/* What a person does next. */
static void say_next(struct mt_run *r, bool sees)
{
	const json_t *job = json_object_get(r->manifest, "job");

	if (sees && job && json_integer_value(json_object_get(job, "size")) != 1) {
		char *folder = mt_strdup(r->dir);

		*strrchr(folder, '/') = 0;
		/* once for all of them, unless they have no common folder of ours */
		if (json_integer_value(json_object_get(job, "rank")) == 0)
			mt_note("next, when all ranks have ended: memtrace import %s", mt_run_pasted(r, folder));
		free(folder);
	} else if (!json_object_get(r->manifest, "with")) {	/* else the join comes now, and says what is next */
		mt_note("next: memtrace %s %s", sees ? "import" : json_object_get(r->manifest, "io") ? "io" : "info",
			mt_run_pasted(r, r->dir));
	}
}

void mt_run_summary(struct mt_run *r, size_t alive)
{
	const json_t *m = r->manifest;
	const struct mt_backend *b = mt_backend_find(json_string_value(json_object_get(json_object_get(m, "backend"), "name")));
	const bool sees = b && b->abilities & MT_ABILITY_ACCESSES;

	say_records(r, b);
	if (sees)
		say_blind(r);
	say_losses(m, sees);
	say(m, "unrecorded");
	say(m, "unlisted");
	say(m, "io");
	if (ull(json_object_get(m, "io"), "lost"))
		mt_note("lost: %s events of the I/O; a larger --io-buffer keeps more", mt_human_count(ull(json_object_get(m, "io"), "lost")));
	say(m, "zoom");
	say_overhead(m);
	say(m, "late");
	if (alive)
		mt_note("%zu process%s of the program still run%s and go on writing into the trace", alive, alive == 1 ? "" : "es",
			alive == 1 ? "s" : "");
	mt_note("trace: %s (%s)", mt_run_typed(r, r->dir), mt_human_bytes(ull(json_object_get(m, "overhead"), "bytes_written")));
	if (json_array_size(json_object_get(m, "images")))
		say_next(r, sees);
}
