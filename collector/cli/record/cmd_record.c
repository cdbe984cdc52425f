/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * cmd_record.c - run a program with the preload library and look after the trace.
 *
 * The recorder stays out of the way: same process group, standard streams
 * untouched, exit code passed through. Signals that are sent to the recorder
 * alone go to the program; those of the terminal reach the program anyway,
 * because it is in the same group. When the recorder is killed the program
 * goes on and the library finishes its files alone.
 *
 * The recording ends when the program ends. Its descendants are traced too and
 * may live longer; they are not waited for, and no subreaper is set (it would
 * change whose child a daemon is). Their state is noted in the manifest, and
 * `info` or `finish` complete their images later.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/program.h"
#include "cli/base/user.h"
#include "cli/base/util.h"
#include "cli/record/beside.h"
#include "cli/record/job.h"
#include "cli/record/run.h"
#include "cli/record/settings.h"
#include "cli/record/worker.h"
#include "cli/record/zoom.h"
#include "cli/remote/on_node.h"
#include "cli/remote/remote.h"
#include "cli/table/native.h"
#include "cli/trace/tracedir.h"
#include "cli/trace/unrecorded.h"
#include "common/tracenames.h"

/* Frees all that is there; a session that is open is ended and its result thrown away. */
static void free_run(struct mt_run *r)
{
	mt_run_close_io(r, false);
	mt_beside_free(r->beside);
	if (r->session)
		r->backend->finish(r->session, NULL);
	json_decref(r->manifest);
	mt_probe_free(&r->probe);
	free(r->program);
	free(r->which);
	free(r->zoom);
	free(r->dir);
	free(r->cwd);
	free(r->word);
}

/* Whether the program runs as who called sudo; then what works for root is not what works for him. */
static void lower_user(struct mt_run *r)
{
	const char *user = mt_args_has(r->a, "as-root") ? NULL : mt_user_lower_for_good();

	if (!user)
		return;
	mt_note("the program runs as %s, who called sudo; --as-root runs it as root", user);
	if (mt_traces(r->backend->library)) {
		mt_probe_free(&r->probe);
		mt_run_probe(r);
	}
}

/* The program, the backend, and what both need. Exit code. */
static int prepare(struct mt_run *r)
{
	const struct mt_args *a = r->a;
	int rc;

	r->program = mt_program_find(a->argv[0], &rc);
	if (!r->program)
		return mt_fail(a, rc, rc == MT_EXIT_NOT_FOUND ? "%s: program not found" : "%s: not an executable file", a->argv[0]);
	mt_run_probe(r);
	rc = mt_run_choose(r);
	if (rc)
		return rc;
	r->obstacle = mt_program_obstacle(r->program, &r->which);
	if (r->obstacle && (r->backend->abilities & MT_ABILITY_ANY_PROGRAM ||
			    (r->backend->takes_static && mt_obstacle_is_static(r->obstacle))))
		mt_note("%s %s: its accesses are recorded, its allocations are not", r->which, r->obstacle);
	else if (r->obstacle && r->backend->abilities & MT_ABILITY_ACCESSES)
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s %s; it cannot be recorded (--backend none runs it all the same)", r->which,
			       r->obstacle);
	mt_settings_take(&r->settings, a, &r->windows);
	if (r->settings.physical && geteuid())
		mt_note("physical addresses need root; they are recorded as 0");
	lower_user(r);
	r->zoom = mt_zoom_resolve(a, r->program, &rc);
	return rc ? rc : mt_run_find_beside(r);
}

/* The trace directory, what writes into it, and what is known. Exit code. */
static int open_trace(struct mt_run *r)
{
	char *name = mt_worker_name(r->a->argc, r->a->argv);
	const char *file = "manifest.json";
	int rc, err;

	rc = mt_run_make_directory(r, name);
	free(name);
	if (!rc)
		rc = mt_run_reserve(r);
	if (!rc)
		rc = mt_run_open_session(r);
	if (!rc)
		rc = mt_run_open_io(r);
	if (!rc)
		rc = mt_run_open_beside(r);
	if (rc)
		return rc;
	err = mt_run_describe(r, r->a, r->program);
	if (!err) {
		file = MT_FILE_UNRECORDED;
		err = mt_unrecorded_create(r->dir);
	}
	if (!err && r->windows.signal) {
		file = MT_FILE_TURNS;
		err = mt_windows_share(r->dir);
	}
	return err ? mt_fail(r->a, MT_EXIT_INTERNAL, "cannot write %s/%s: %s", r->dir, file, strerror(-err)) : 0;
}

/* From the start of the program to its end. Exit code of an error of ours; then nothing was run. A status of wait() in *status. */
static int run(struct mt_run *r, struct rusage *used, int *status)
{
	pid_t pid;
	int err;

	mt_signals_take(&r->signals, r->windows.signal, r->on_node);
	pid = mt_run_start(r);
	if (pid < 0)
		return mt_fail(r->a, pid == -ENOENT ? MT_EXIT_NOT_FOUND : MT_EXIT_CANNOT_EXECUTE, "%s: cannot be executed: %s", r->program,
			       strerror(-pid));
	if (r->session && r->backend->start) {
		err = r->backend->start(r->session);
		if (err)
			mt_error("record: no thread to write the accesses: %s; they are lost", strerror(-err));
	}
	*status = mt_run_wait(r, pid, used);
	mt_signals_child(0, true);
	alarm(0);
	if (r->session && r->backend->ended)
		*status = r->backend->ended(r->session, pid, *status);
	return 0;
}

/* How the program ended, in the manifest and in words, to be freed. Our exit code, and the signal by which we end or 0. */
static char *tell_end(struct mt_run *r, int status, int *rc, int *sig)
{
	json_t *st = json_object_get(r->manifest, "status");
	bool killed;

	*sig = 0;
	if (!WIFSIGNALED(status)) {
		*rc = WEXITSTATUS(status);
		json_object_set_new(st, "exit_code", json_integer(*rc));
		return mt_printf("exited with code %d", *rc);
	}
	*sig = WTERMSIG(status);
	json_object_set_new(st, "signal", json_integer(*sig));
	killed = mt_signals_killed() && *sig == SIGKILL;
	if (killed)
		*sig = SIGTERM;	/* how we end: as we were told */
	*rc = 128 + *sig;
	return mt_printf("killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
			 killed ? " by the recorder, since it went on after SIGTERM" : "");
}

/* One run of a program. Exit code. */
static int record_program(struct mt_run *r)
{
	struct rusage used = { 0 };
	int rc, status = 0, sig;
	char *text;

	rc = prepare(r);
	if (!rc)
		rc = open_trace(r);
	if (!rc)
		rc = run(r, &used, &status);
	if (rc) {
		mt_run_close_io(r, false);
		mt_run_close_beside(r);
		if (r->dir)
			mt_run_remove_directory(r);
		return rc;
	}
	text = tell_end(r, status, &rc, &sig);
	/* that the trace is not complete is told, and stands in it; the exit code is the program's, as alone */
	mt_run_end(r, text, &used, true);
	free(text);
	if (r->beside) {
		mt_beside_ended(r->beside);
		mt_run_join_beside(r);
	}
	if (sig)
		mt_end_by_signal(sig);
	return rc;
}

/* --host: the same on a node, whose trace comes here. */
static int record_on_host(struct mt_run *r)
{
	const char *pid = mt_args_get(r->a, "pid");
	char *name = r->a->argc ? mt_worker_name(r->a->argc, r->a->argv) : mt_printf("pid-%s", pid ? pid : "");
	int sig = 0, rc = mt_run_make_directory(r, name);

	if (!rc)
		rc = mt_remote_record(r->a, r->dir, mt_run_typed(r, r->dir), &sig);
	free(name);
	if (sig)
		mt_end_by_signal(sig);
	return rc;
}

static int resume_from_host(const struct mt_args *a)
{
	int sig, rc = mt_remote_resume(a, mt_args_get(a, "resume"), &sig);

	if (sig)
		mt_end_by_signal(sig);
	return rc;
}

/* One run, here or there. */
static int record_once(struct mt_run *r)
{
	const int rc = mt_args_has(r->a, "host") ? record_on_host(r) : mt_args_has(r->a, "pid") ? mt_run_attach(r) : record_program(r);

	free_run(r);
	return rc;
}

/* Name of the trace of run @k: NAME-K.memtrace for NAME.memtrace, else NAME-K. */
static char *repeat_name(const char *base, int k)
{
	static const char suffix[] = ".memtrace";
	size_t n = strlen(base);

	while (n > 1 && base[n - 1] == '/')
		n--;
	if (n > sizeof(suffix) - 1 && !strncmp(base + n - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1))
		return mt_printf("%.*s-%d%s", (int)(n - (sizeof(suffix) - 1)), base, k, suffix);
	return mt_printf("%.*s-%d", (int)n, base, k);
}

/* Run @k of several, in a process of its own, which is waited for. A status of wait(), or -1 after a message. */
static int record_one_of_several(const struct mt_run *all, const char *output, int k)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		mt_fail(all->a, 0, "cannot start run %d: %s", k, strerror(errno));
		return -1;
	}
	if (!pid) {
		struct mt_run r = *all;

		mt_signals_default();
		r.output = output;
		exit(record_once(&r));
	}
	mt_signals_child(pid, false);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	mt_signals_child(0, false);
	return status;
}

/* Whether one of the traces @base-1 to @base-@runs is there: an exit code after a message, or 0. */
static int check_names(const struct mt_args *a, const char *base, int runs)
{
	int rc = 0;

	for (int k = 1; !rc && k <= runs; k++) {
		char *name = repeat_name(base, k);

		if (!access(name, F_OK))
			rc = mt_fail(a, MT_EXIT_USAGE, "%s exists; a trace is never overwritten", name);
		free(name);
	}
	return rc;
}

/*
 * --repeat: one run after the other, each with a recorder process and a trace of its own. A run that fails does
 * not end the others, because the program may fail by chance; a signal does. The code of the first run that failed.
 */
static int record_repeatedly(const struct mt_run *all, int runs)
{
	const bool given = all->output && *all->output;
	struct mt_job job;
	char *base, *worker;
	int rc, number = 1, status = 0;
	bool ranks;	/* all ranks of a run have one folder: the others may have made it */

	mt_job_detect(&job);
	ranks = mt_job_of_several(&job);
	worker = mt_worker_name(all->a->argc, all->a->argv);
	base = given ? mt_strdup(all->output) : ranks ? mt_printf("%s.job-%s", worker, job.id) : mt_printf("%s.memtrace", worker);
	free(worker);
	mt_job_free(&job);
	rc = given && !ranks ? check_names(all->a, base, runs) : 0;
	if (rc) {
		free(base);
		return rc;
	}
	mt_signals_repeat(all->on_node);
	for (int k = 1; k <= runs && !mt_signals_stopped(); k++, number++) {
		char *name = repeat_name(base, number);

		while (!given && !ranks && !access(name, F_OK)) {
			free(name);
			name = repeat_name(base, ++number);
		}
		mt_note("run %d of %d", k, runs);
		status = record_one_of_several(all, name, k);
		free(name);
		if (status < 0) {
			rc = MT_EXIT_INTERNAL;
			break;
		}
		if (WIFSIGNALED(status))
			break;
		if (!rc)
			rc = WEXITSTATUS(status);
		if (WEXITSTATUS(status) == MT_EXIT_NOT_FOUND || WEXITSTATUS(status) == MT_EXIT_CANNOT_EXECUTE)
			break;
	}
	free(base);
	if (status > 0 && WIFSIGNALED(status)) {
		mt_signals_default();
		mt_end_by_signal(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return rc ? rc : mt_signals_stopped() ? 128 + mt_signals_stopped() : 0;
}

/* A pattern for programs. 0, or an exit code after a message. */
static int check_pattern(const struct mt_args *a, const char *option)
{
	const char *pattern = mt_args_get(a, option);
	char why[200];
	regex_t r;
	int err;

	if (!pattern || !*pattern)
		return 0;
	err = regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &r, why, sizeof(why));
		return mt_fail(a, MT_EXIT_USAGE, "--%s '%s' is no regular expression: %s", option, pattern, why);
	}
	regfree(&r);
	return 0;
}

/* 0, or an exit code after a message. */
static int check_host(const struct mt_args *a)
{
	static const char *const only[] = { "host-work", "host-cd" };
	const char *host = mt_args_get(a, "host");

	if (mt_args_has(a, "resume") && (a->argc || host || mt_args_has(a, "pid")))
		return mt_fail(a, MT_EXIT_USAGE, "--resume fetches the rest of a trace; the node is known, and there is nothing to run");
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
		if (mt_args_has(a, only[i]) && !host)
			return mt_fail(a, MT_EXIT_USAGE, "--%s needs --host", only[i]);
	if (!host)
		return 0;
	if (!*host || *host == '-')
		return mt_fail(a, MT_EXIT_USAGE, "--host needs the name of a machine as ssh knows it, not '%s'", host);
	for (int i = 0; mt_args_nth(a, "zoom", i); i++) {
		const char *suspect = mt_args_nth(a, "zoom", i);
		char *trace = mt_printf("%.*s/manifest.json", (int)strcspn(suspect, ":"), suspect);
		const bool here = strchr(suspect, ':') && mt_exists(trace);

		free(trace);
		if (here)
			return mt_fail(a, MT_EXIT_USAGE, "--zoom %s: the trace is here, not on %s; copy it there, and name it by its path there",
				       suspect, host);
	}
	return 0;
}

static bool can_zoom(const struct mt_args *a)
{
	const struct mt_backend *b = mt_backend_find(mt_args_get(a, "backend"));

	return !mt_args_has(a, "exact") && (!b || b->abilities & MT_ABILITY_ZOOM);
}

/* Which options go together. 0, or an exit code after a message. */
static int check_combinations(const struct mt_args *a)
{
	static const struct {
		const char *option, *other;
		bool needs;	/* the option needs the other one; else they exclude each other */
		const char *message;
	} rules[] = {
		{ "tree", "pid", true, "--tree needs --pid; the children of a program that is started are recorded anyway" },
		{ "duration", "pid", true, "--duration needs --pid" },
		{ "exact", "pid", false, "--exact cannot record a process that runs already" },
		{ "windows", "exact", true, "--windows needs --exact" },
		{ "instructions", "exact", true, "--instructions needs --exact" },
		{ "repeat", "pid", false, "--repeat and --pid exclude each other" },
		{ "follow", "pid", false, "--follow and --skip choose among the programs that a program starts, not with --pid" },
		{ "skip", "pid", false, "--follow and --skip choose among the programs that a program starts, not with --pid" },
		{ "io", "pid", false, "--io cannot follow a process that runs already" },
		{ "with", "pid", false, "--with cannot follow a process that runs already" },
		{ "with", "host", false, "--with does not work with --host: record on the node itself" },
		{ "libomp", "with", true, "--libomp needs --with" },
		{ "io-buffer", "io", true, "--io-buffer and --io-user need --io" },
		{ "io-user", "io", true, "--io-buffer and --io-user need --io" },
		{ "zoom", "pid", false, "--zoom cannot look into a process that runs already" },
		{ "zoom-cpu", "zoom", true, "--zoom-cpu needs --zoom" },
	};
	const char *exact = mt_args_get(a, "exact"), *backend = mt_args_get(a, "backend");

	if (mt_args_has(a, "pid") && a->argc)
		return mt_fail(a, MT_EXIT_USAGE, "--pid and a program exclude each other");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (mt_args_has(a, rules[i].option) && mt_args_has(a, rules[i].other) != rules[i].needs)
			return mt_fail(a, MT_EXIT_USAGE, "%s", rules[i].message);
	if (mt_args_has(a, "exact") && strcmp(exact, "auto") && strcmp(backend, "auto") && strcmp(exact, backend))
		return mt_fail(a, MT_EXIT_USAGE, "--exact=%s and --backend %s exclude each other", exact, backend);
	if (mt_args_has(a, "zoom") && !can_zoom(a)) {
		char *names = mt_backend_names(MT_ABILITY_ZOOM);
		const int rc = mt_fail(a, MT_EXIT_USAGE, "--zoom works with these backends only: %s", names);

		free(names);
		return rc;
	}
	return check_pattern(a, "follow") || check_pattern(a, "skip") ? MT_EXIT_USAGE : check_host(a);
}

int cmd_record(const struct mt_args *a)
{
	struct mt_run r = { .a = a, .output = mt_args_get(a, "output") };
	char *why;
	int rc;

	mt_quiet = mt_args_has(a, "quiet");
	rc = check_combinations(a);
	if (rc)
		return rc;
	if (!mt_windows_parse(mt_args_get(a, "windows"), &r.windows, &why)) {
		rc = mt_fail(a, MT_EXIT_USAGE, "--windows %s", why);
		free(why);
		return rc;
	}
	if (mt_args_has(a, "resume"))
		return resume_from_host(a);
	if (getenv(MT_NODE_SHOWN))
		r.on_node = getppid();
	if (!a->argc && !mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "which program? see 'memtrace help record'");
	return mt_args_has(a, "repeat") ? record_repeatedly(&r, (int)mt_args_int(a, "repeat")) : record_once(&r);
}
