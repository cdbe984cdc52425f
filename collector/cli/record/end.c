/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* end.c - after the program: its images are finished, what is missing is told, the manifest is completed. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/hostclock.h"
#include "cli/base/util.h"
#include "cli/finish/manifest.h"
#include "cli/names/finish.h"
#include "cli/record/family.h"
#include "cli/record/run.h"
#include "cli/trace/tracedir.h"
#include "common/patience.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define MONITOR_PATIENCE_NS 20000000000ull	/* as the library has it */

/*
 * Children that end together with the program get a moment to close their files. The monitor of a process that was killed ends its last
 * interval, however long that takes, unless it stands still.
 */
static size_t still_running(const char *dir)
{
	struct mt_patience patience = { 0 };
	size_t n, alive = 0;

	for (int i = 0; i < 20;) {
		char **v = mt_trace_images(dir, &n);
		uint64_t written = 0;
		bool monitor = false;

		alive = 0;
		for (size_t k = 0; k < n; k++) {
			json_t *j = mt_image_read(dir, v[k]);

			if (j && mt_image_alive(j)) {
				alive++;
				if (mt_image_monitored(j)) {
					char *path = mt_printf("%s/%s", dir, v[k]);

					monitor = true;
					written += mt_tree_bytes(path);
					free(path);
				}
			}
			json_decref(j);
		}
		mt_names_free(v, n);
		if (!alive)
			break;
		if (!monitor || mt_patience_over(&patience, mt_monotonic_ns(), written, 100000000, MONITOR_PATIENCE_NS))
			i++;
		usleep(10000);
	}
	return alive;
}

/*
 * Images that still write are left to `info` and `import`, unless @all (their process goes on, the
 * recording does not). 0, or the first error in making the finished files; *packed is the one of
 * compressing. Each was told.
 */
static int finish_and_compress(const char *dir, bool compress, bool all, int *packed)
{
	const struct mt_finish_options o = { .progress = !mt_quiet };
	size_t n;
	char **v = mt_trace_images(dir, &n);
	int first = 0;

	*packed = 0;
	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(dir, v[i]);
		bool alive = !all && j && mt_image_alive(j);
		uint64_t saved = 0;

		json_decref(j);
		int err;

		if (alive)
			continue;	/* `info` and `import` complete it later */
		err = mt_finish_image(dir, v[i], &o);
		if (err && !first)
			first = err;
		if (compress && !*packed)
			*packed = mt_image_compress(dir, v[i], &saved);
	}
	mt_names_free(v, n);
	return first;
}

/* Words of a person for a reason for which something could not be written, as a trace has it (tracefile.c) or its number. */
static char *why_not_written(const char *name)
{
	static const struct {
		const char *name, *words;
		int err;
	} all[] = {
		{ "ENOSPC", "No space left on device", ENOSPC },
		{ "EDQUOT", "the quota of the disk is used up", EDQUOT },
		{ "EMFILE", "the program had used up its descriptors (ulimit -n)", EMFILE },
		{ "ENFILE", "the machine had used up its open files", ENFILE },
		{ "EFBIG", "File too large, a limit of the program (ulimit -f)", EFBIG },
		{ "EIO", "the disk gave an error (Input/output error)", EIO },
		{ "ENOMEM", "the machine, or the limits of the program, had no more memory", ENOMEM },
		{ "EBADF", "the program closed a descriptor of the recorder", EBADF },
		{ "EROFS", "Read-only file system", EROFS },
	};
	char *end;

	for (size_t i = 0; i < N(all); i++)
		if (!strcmp(name, all[i].name) || (strtol(name, &end, 10) == all[i].err && !*end))
			return mt_strdup(all[i].words);
	return strtol(name, &end, 10) > 0 && !*end ? mt_strdup(strerror((int)strtol(name, NULL, 10))) : mt_strdup(name);
}

/* The same for words "write:NAME" between blanks. */
static char *why_all(const char *names)
{
	char *copy = mt_strdup(names), *save = NULL, *text = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *one = why_not_written(w + strlen("write:")), *next = text ? mt_printf("%s; %s", text, one) : mt_strdup(one);

		free(text);
		free(one);
		text = next;
	}
	free(copy);
	return text;
}

/*
 * What could not be written while the program ran, as a sentence for status and
 * user, or NULL. The reason is in the trace where a line could be written after the loss. Where none could, an
 * attempt tells it, before the reserve is released.
 */
static char *not_written(const char *dir)
{
	uint64_t records = 0, lost = 0;
	size_t n, cut = 0;
	char **v = mt_trace_images(dir, &n), *why, *text = NULL, names[96] = "";
	struct rlimit limit;
	int err;

	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(dir, v[i]);
		struct mt_totals t;

		mt_image_totals(dir, v[i], 0, &t);
		records += t.records;
		lost += t.lost_other[2];
		mt_write_errors(names, sizeof(names), t.write_errors);
		cut += !j || (!t.ended && !mt_image_alive(j));
		json_decref(j);
	}
	mt_names_free(v, n);
	err = lost || cut || !n ? mt_reserve_probe(dir) : 0;
	if (lost && !err && !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		err = -EFBIG;	/* of files longer than the attempt */
	if (!lost && !err)
		return NULL;	/* an image without an end was killed */
	if (err && !*names)
		snprintf(names, sizeof(names), "write:%d", -err);
	why = *names ? why_all(names) : mt_strdup("writing was refused for a while");
	if (lost)
		text = mt_printf("%s: %s: %s of %s accesses could not be written%s; the others are in the trace", dir, why,
				 mt_human_count(lost), mt_human_count(records), cut ? ", nor what came later" : "");
	else
		text = mt_printf("%s: %s: what happened after the last interval could not be written; what came before is in the trace",
				 dir, why);
	free(why);
	return text;
}

/* Says what is missing, and puts it into the status, where later readers find it. */
static void note_incomplete(struct mt_run *r, const char *missing, int unfinished)
{
	json_t *st = json_object_get(r->manifest, "status");
	const char *message = json_string_value(json_object_get(st, "message"));
	char *text;

	if (!missing && !unfinished)
		return;
	if (missing)
		mt_fail(r->a, 0, "%s", missing);
	if (unfinished)
		mt_fail(r->a, 0, "structures, call stacks and threads are not made yet; with room on the disk, "
			"\"memtrace finish %s\" makes them", mt_run_pasted(r, r->dir));
	text = mt_printf("%s%s%s", missing ? missing + strlen(r->dir) + 2 : "", missing && unfinished ? "; " : "",
			 unfinished ? "structures, call stacks and threads were not made at the end of the recording" : "");
	json_object_set_new(st, "incomplete", json_string(text));
	json_object_set_new(st, "message", json_sprintf("%s; %s", message ? message : "", text));
	free(text);
}

static long long cpu_ns(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000ll + (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000ll;
}

int mt_run_end(struct mt_run *r, const char *message, const struct rusage *used, bool wait)
{
	struct mt_backend_result result = { 0 };
	json_t *m = r->manifest, *status = json_object_get(m, "status");
	struct rusage self;
	char *incomplete;
	int unfinished, packed, err;
	size_t alive;

	json_object_set_new(status, "message", json_string(message));
	json_object_set_new(json_object_get(m, "clock"), "end_ns", json_integer((json_int_t)mt_monotonic_ns()));
	json_object_set_new(json_object_get(m, "clock"), "realtime_end", mt_hostclock_describe());
	alive = wait ? still_running(r->dir) : 0;
	mt_family_close(r->family, r->dir);
	r->family = NULL;
	mt_run_close_io(r, true);
	if (r->session)
		r->backend->finish(r->session, &result);
	r->session = NULL;
	if (result.missed_faults)
		mt_note("the kernel missed %s page faults of this machine, perhaps of the program", mt_human_count(result.missed_faults));
	if (result.followed)
		json_object_set_new(m, "followed", json_pack("{s:I}", "processes", (json_int_t)result.followed));
	incomplete = not_written(r->dir);
	mt_windows_unshare(r->dir);
	mt_reserve_release(r->dir);
	unfinished = finish_and_compress(r->dir, mt_args_has(r->a, "compress"), !wait, &packed);
	json_object_set_new(status, "state", json_string("complete"));
	note_incomplete(r, incomplete, unfinished);
	getrusage(RUSAGE_SELF, &self);
	if (used)
		json_object_set_new(m, "overhead", json_pack("{s:I}", "program_cpu_ns", (json_int_t)cpu_ns(used)));
	mt_manifest_complete(m, r->dir, cpu_ns(&self));
	err = mt_manifest_write(r->dir, m);
	if (err)
		mt_error("record: cannot write %s/manifest.json: %s", r->dir, strerror(-err));
	mt_run_summary(r, alive);
	err = err || incomplete || unfinished || packed ? MT_EXIT_INTERNAL : 0;
	free(incomplete);
	return err;
}
