/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* open.c - what there is before the program runs: the session of the backend, --io, the manifest. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/gitstate.h"
#include "cli/base/hostclock.h"
#include "cli/base/user.h"
#include "cli/base/util.h"
#include "cli/finish/manifest.h"
#include "cli/io/io.h"
#include "cli/measure/measure.h"
#include "cli/record/beside.h"
#include "cli/record/job.h"
#include "cli/record/run.h"
#include "cli/record/settings.h"
#include "cli/record/worker.h"
#include "cli/trace/tracedir.h"

static struct mt_backend_request request(const struct mt_run *r)
{
	const struct mt_args *a = r->a;

	return (struct mt_backend_request){
		.trace = r->dir, .interval_ns = r->settings.interval_ns,
		.subphases = (uint32_t)r->settings.subphases,
		.max_overhead = r->settings.max_overhead_ppm / 1e6, .physical = r->settings.physical,
		.writes = strcmp(mt_args_get(a, "write-tracking"), "off") != 0, .library = r->program && !r->obstacle, .windows = r->windows.kind,
		.instructions = r->settings.instructions,
	};
}

static json_t *parameters(const struct mt_run *r)
{
	const struct mt_args *a = r->a;
	json_t *p = mt_settings_describe(&r->settings, a);

	if (mt_args_has(a, "windows"))
		json_object_set_new(p, "windows", mt_json_text(mt_args_get(a, "windows")));
	if (mt_args_has(a, "zoom")) {
		json_t *suspects = json_array();

		for (int i = 0; mt_args_nth(a, "zoom", i); i++)
			json_array_append_new(suspects, mt_json_text(mt_args_nth(a, "zoom", i)));
		json_object_set_new(p, "zoom", suspects);
	}
	return p;
}

/* @a: the command that is recorded; @program, its path. */
static json_t *first_manifest(const struct mt_run *r, const struct mt_args *a, const char *program)
{
	struct mt_backend_request wanted = request(r);
	json_t *m = json_object(), *argv = json_array(), *rev = json_array(), *sources, *measured = mt_measure_known();
	char *cwd = getcwd(NULL, 0), when[64], *id = mt_build_id(program), *real;
	const char *name = mt_args_get(a, "name"), *purpose = mt_args_get(a, "purpose");
	const char *asked = mt_run_requested(a);
	char *worker;
	struct timespec rt;
	struct mt_job job;
	struct tm tm;

	wanted.library = true;	/* what is promised is promised of programs that have it */
	for (int i = 0; i < a->argc; i++)
		json_array_append_new(argv, mt_json_text(a->argv[i]));
	clock_gettime(CLOCK_REALTIME, &rt);
	gmtime_r(&rt.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(when + strlen(when), sizeof(when) - strlen(when), ".%03ldZ", rt.tv_nsec / 1000000);

	json_object_set_new(m, "format", json_string("memtrace"));
	json_object_set_new(m, "format_version", json_integer(MT_FORMAT_VERSION));
	json_object_set_new(m, "tool", json_pack("{s:s, s:s, s:s}", "name", "memtrace", "version",
						 mt_version, "commit", mt_build_commit));
	worker = mt_worker_name(a->argc, a->argv);
	json_object_set_new(m, "name", mt_json_text(name && *name ? name : worker));
	free(worker);
	json_object_set_new(m, "command", argv);
	real = realpath(program, NULL);
	json_object_set_new(m, "executable", mt_json_text(real ? real : program));
	free(real);
	if (id)
		json_object_set_new(m, "executable_build_id", json_string(id));
	json_object_set_new(m, "working_directory", mt_json_text(cwd ? cwd : "."));
	sources = cwd ? mt_revision_describe(cwd) : NULL;
	if (sources) {
		const int64_t modified = mt_git_modified(cwd, 2000);

		json_object_set_new(sources, "modified_files", modified < 0 ? json_null() : json_integer((json_int_t)modified));
		json_array_append_new(rev, sources);
	}
	json_object_set_new(m, "source_revisions", rev);
	json_object_set_new(m, "environment", mt_environment_describe());
	if (purpose && *purpose)
		json_object_set_new(m, "purpose", mt_json_text(purpose));
	json_object_set_new(m, "host", mt_host_describe(r->dir));
	if (measured)
		json_object_set_new(m, "measured", measured);
	json_object_set_new(m, "clock", json_pack("{s:s, s:s, s:I, s:I, s:s}", "id", "CLOCK_MONOTONIC",
		"unit", "ns", "start_ns", (json_int_t)mt_monotonic_ns(), "end_ns", (json_int_t)-1,
		"start_realtime", when));
	json_object_set_new(json_object_get(m, "clock"), "realtime", mt_hostclock_describe());
	mt_job_detect(&job);
	if (job.is)
		json_object_set_new(m, "job", mt_job_describe(&job));
	mt_job_free(&job);
	json_object_set_new(m, "backend", json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", r->backend->name,
		"version", mt_version, "requested", asked, "reason",
		strcmp(asked, "auto") || mt_args_has(a, "exact") ? "asked for" : r->probe.reason, "guarantee",
		r->backend->guarantee(mt_backend_probe(&r->probe, r->backend), &wanted)));
	json_object_set_new(m, "parameters", parameters(r));
	json_object_set_new(m, "status", json_pack("{s:s, s:n, s:n, s:s}", "state", "running",
						   "exit_code", "signal", "message", ""));
	json_object_set_new(m, "losses", json_pack("{s:i, s:{}}", "total", 0, "by_reason"));
	json_object_set_new(m, "overhead", json_object());
	json_object_set_new(m, "images", json_array());
	json_object_set_new(m, "recorder", json_pack("{s:I, s:I}", "pid", (json_int_t)getpid(),
						     "start_ns", (json_int_t)mt_monotonic_ns()));
	free(cwd);
	free(id);
	return m;
}

int mt_run_open_session(struct mt_run *r)
{
	const struct mt_backend_request wanted = request(r);
	char *why = NULL, *fix = NULL;

	if (!r->backend->open)
		return 0;
	mt_user_raise();
	r->session = r->backend->open(&wanted, &why, &fix);
	mt_user_lower();
	if (!r->session)
		mt_fail(r->a, 0, "backend %s does not work here: %s%s%s", r->backend->name, why ? why : "", fix ? "; try: " : "", fix ? fix : "");
	free(why);
	free(fix);
	return r->session ? 0 : MT_EXIT_UNAVAILABLE;
}

int mt_run_open_io(struct mt_run *r)
{
	const struct mt_args *a = r->a;
	const uint64_t interval = r->settings.interval_ns;
	const struct mt_io_request wanted = {
		.trace = r->dir, .interval_ns = interval < 10000000 ? 10000000 : interval,
		.buffer_bytes = mt_args_size_bytes(a, "io-buffer"), .user = strcmp(mt_args_get(a, "io-user"), "off") != 0,
	};

	if (!mt_args_has(a, "io"))
		return 0;
	r->io = mt_io_open(&wanted);
	return r->io ? 0 : mt_fail(a, MT_EXIT_INTERNAL, "cannot write %s/io: %s", r->dir, strerror(errno));
}

void mt_run_close_io(struct mt_run *r, bool keep)
{
	json_t *result = r->io ? mt_io_finish(r->io) : NULL;

	r->io = NULL;
	if (result && keep)
		json_object_set(r->manifest, "io", result);
	json_decref(result);
}

int mt_run_describe(struct mt_run *r, const struct mt_args *command, const char *program)
{
	r->manifest = first_manifest(r, command, program);
	if (r->beside)
		json_object_set_new(r->manifest, "with", mt_beside_describe(r->beside));
	return mt_manifest_write(r->dir, r->manifest);
}
