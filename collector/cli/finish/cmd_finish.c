/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* cmd_finish.c - complete a trace whose recorder was killed, or make it again. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table/native.h"
#include "cli/names/finish.h"
#include "cli/names/library.h"
#include "cli/finish/manifest.h"
#include "cli/trace/recordpack.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "common/tracenames.h"

/* Was the program or its recorder killed, so that raw data wait for being finished? */
static bool waits(const char *trace)
{
	char *path = mt_printf("%s/manifest.json", trace);
	json_t *m = json_load_file(path, 0, NULL);
	const char *state = json_string_value(json_object_get(json_object_get(m, "status"), "state"));
	bool found = state && !strcmp(state, "running");
	size_t n = 0;
	char **v = m ? mt_trace_images(trace, &n) : NULL;

	for (size_t i = 0; i < n && !found; i++) {
		char *log = mt_printf("%s/%s/" MT_FILE_CONTEXT, trace, v[i]);

		found = mt_image_unfinished(trace, v[i]) && mt_exists(log);
		free(log);
	}
	mt_names_free(v, n);
	json_decref(m);
	free(path);
	return found;
}

/*
 * An image whose process still runs gets the names of now, so that what was seen
 * has a name; what tells that it is finished is not written.
 */
static int names_of_now(const char *trace, const char *image)
{
	const struct mt_finish_options o = { .into = trace, .since = INT64_MIN };

	return mt_finish_image(trace, image, &o);
}

static void finish_one(const char *trace)
{
	const struct mt_finish_options o = { .progress = !mt_quiet };
	size_t n, alive = 0;
	char **v;
	json_t *m;
	int err;

	if (access(trace, W_OK) || !waits(trace))
		return;		/* the importer says what is missing */
	m = mt_manifest_read(trace);
	err = m ? mt_manifest_repair(m, trace) : 0;
	if (err > 0) {
		mt_note("%s is still being recorded; what follows is the state of now", trace);
	} else if (m && !err) {
		mt_note("%s: completing what the recorder left unfinished", trace);
		v = mt_trace_images(trace, &n);
		for (size_t i = 0; i < n; i++) {
			json_t *j = mt_image_read(trace, v[i]);

			if (j && mt_image_alive(j)) {
				names_of_now(trace, v[i]);
				alive++;
			} else if (mt_image_unfinished(trace, v[i])) {
				mt_finish_image(trace, v[i], &o);
			}
			json_decref(j);
		}
		mt_names_free(v, n);
		mt_manifest_complete(m, trace, -1);
		mt_manifest_write(trace, m);
		if (alive)
			mt_note("%s: %zu process%s of the program still run%s; what follows is the state of now", trace, alive,
				alive == 1 ? "" : "es", alive == 1 ? "s" : "");
	}
	json_decref(m);
}

void mt_finish_before(const char *trace)
{
	char *manifest = mt_printf("%s/manifest.json", trace);
	const bool one = mt_exists(manifest);
	struct dirent *e;
	DIR *d;

	free(manifest);
	if (one) {
		finish_one(trace);
		return;
	}
	/* the ranks of a job, each with a trace directory in this folder */
	d = opendir(trace);
	while (d && (e = readdir(d))) {
		char *rank = mt_printf("%s/%s", trace, e->d_name);

		manifest = mt_printf("%s/manifest.json", rank);
		if (e->d_name[0] != '.' && mt_exists(manifest))
			finish_one(rank);
		free(manifest);
		free(rank);
	}
	if (d)
		closedir(d);
}

/* Did the image tell nothing since its structures were written to @into? */
static bool is_as_before(const char *trace, const char *image, const char *into)
{
	char *log = mt_printf("%s/%s/" MT_FILE_CONTEXT, trace, image), *done = mt_printf("%s/%s/structures.csv", into, image);
	struct stat l, d;
	bool same = !stat(log, &l) && !stat(done, &d) &&
		    (d.st_mtim.tv_sec > l.st_mtim.tv_sec ||
		     (d.st_mtim.tv_sec == l.st_mtim.tv_sec && d.st_mtim.tv_nsec > l.st_mtim.tv_nsec));

	free(log);
	free(done);
	return same;
}

/* The structures and threads of now, while the recording goes on. */
static int state_of_now(const struct mt_args *a, const char *trace)
{
	struct mt_finish_options o = { .into = mt_args_get(a, "into") };
	size_t n;
	char **images;
	int rc = MT_EXIT_OK;

	if (mt_args_has(a, "since"))
		o.since = mt_args_int(a, "since");
	images = mt_trace_images(trace, &n);
	for (size_t i = 0; i < n; i++) {
		char *dir = mt_printf("%s/%s", o.into, images[i]);

		if (is_as_before(trace, images[i], o.into)) {
			/* nothing is new */
		} else if (mkdir(dir, 0777) && errno != EEXIST) {
			rc = mt_fail(a, MT_EXIT_INTERNAL, "%s: %s", dir, strerror(errno));
		} else if (mt_finish_image(trace, images[i], &o)) {
			rc = MT_EXIT_INTERNAL;	/* the reason was told */
		}
		free(dir);
	}
	mt_names_free(images, n);
	return rc;
}

/* Turns the accesses of all images that nobody writes any more into another form, called @name. */
static int turn(const char *trace, int (*form)(const char *trace, const char *image), const char *name)
{
	const uint64_t before = mt_tree_bytes(trace);
	size_t n;
	char **v = mt_trace_images(trace, &n);
	int rc = MT_EXIT_OK;

	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(trace, v[i]);

		if (!(j && mt_image_alive(j)) && form(trace, v[i]))
			rc = MT_EXIT_INTERNAL;	/* the reason was told */
		json_decref(j);
	}
	mt_names_free(v, n);
	if (!rc)
		mt_note("%s: accesses are %s; %s now, %s before", trace, name, mt_human_bytes(mt_tree_bytes(trace)), mt_human_bytes(before));
	return rc;
}

int cmd_finish(const struct mt_args *a)
{
	struct mt_finish_options o = { .again = mt_args_has(a, "force") };
	const char *trace = a->argv[0];
	size_t n, left = 0, done = 0;
	json_t *m = mt_manifest_read(trace);
	char **dirs;
	int err, rc = MT_EXIT_OK;

	mt_quiet = mt_args_has(a, "quiet");
	o.progress = !mt_quiet;
	if (!m)
		return MT_EXIT_INPUT;
	if (mt_library_add(mt_args_get(a, "wrapper"))) {
		json_decref(m);
		return MT_EXIT_INPUT;
	}
	if (mt_args_has(a, "into")) {
		json_decref(m);
		return state_of_now(a, trace);
	}
	err = mt_manifest_repair(m, trace);
	if (err > 0) {
		json_decref(m);
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s is still being recorded", trace);
	}
	if (err < 0)
		rc = mt_fail(a, MT_EXIT_INTERNAL, "%s/manifest.json: %s", trace, strerror(-err));
	dirs = mt_trace_images(trace, &n);
	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(trace, dirs[i]);

		if (!o.again && !mt_image_unfinished(trace, dirs[i])) {
			/* complete already */
		} else if (j && mt_image_alive(j)) {
			names_of_now(trace, dirs[i]);
			left++;
		} else {
			err = mt_finish_image(trace, dirs[i], &o);
			if (err)
				rc = err == -EPROTO ? MT_EXIT_INPUT : MT_EXIT_INTERNAL;
			else
				done++;
		}
		json_decref(j);
	}
	if (done || o.again) {		/* states of the images may have changed */
		mt_manifest_complete(m, trace, -1);
		err = mt_manifest_write(trace, m);
		if (err && !rc)
			rc = mt_fail(a, MT_EXIT_INTERNAL, "%s/manifest.json: %s", trace,
				     strerror(-err));
	}
	if (done || left || !(mt_args_has(a, "text") || mt_args_has(a, "pack")))
		mt_note("%s: %zu process image%s completed%s", trace, done, done == 1 ? "" : "s", left ? ", others still run" : "");
	mt_names_free(dirs, n);
	json_decref(m);
	if (!rc && mt_args_has(a, "text"))
		rc = turn(trace, mt_image_text, "text");
	else if (!rc && mt_args_has(a, "pack"))
		rc = turn(trace, mt_image_pack, "packed records");
	return rc;
}
