/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* attach.c - record --pid: processes that run already. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/processes.h"
#include "cli/base/util.h"
#include "cli/record/run.h"
#include "cli/record/settings.h"
#include "cli/trace/tracedir.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/*
 * Attaches to the processes that were named, with --tree to those below them as well. A child
 * that an attached process makes is followed; one made by a process that was not yet attached is
 * found by looking again. A named one that cannot be recorded is an error, one of a tree may have
 * ended meanwhile. 0, or the errno with *failed.
 */
static int attach_all(const struct mt_args *a, const struct mt_backend *backend, void *session, struct mt_processes *p,
		      pid_t *failed)
{
	const bool tree = mt_args_has(a, "tree");
	struct mt_processes below = { 0 };
	const size_t named = p->n;
	size_t done = 0, left_out = 0;

	do {
		for (; done < p->n; done++) {
			const int err = backend->attach(session, p->pid[done], false);

			if (!err)
				continue;
			if (done < named) {
				*failed = p->pid[done];
				return err;
			}
			if (err != -ESRCH)
				left_out++;
		}
	} while (tree && mt_processes_below(p, NULL, NULL));
	if (left_out)
		mt_note("%zu of the processes below may not be recorded", left_out);
	if (!tree) {
		for (size_t i = 0; i < named; i++)
			mt_processes_add(&below, p->pid[i]);
		mt_processes_below(&below, NULL, NULL);
		if (below.n > named)
			mt_note("%zu process%s below run%s already and %s not recorded; --tree records %s as well", below.n - named,
				below.n - named == 1 ? "" : "es", below.n - named == 1 ? "s" : "",
				below.n - named == 1 ? "is" : "are", below.n - named == 1 ? "it" : "them");
		free(below.pid);
	}
	return 0;
}

/* The program that process @pid runs, and its command line in @argv of @cap words, whose text is the result; NULL: there is none. */
static char *command_of(pid_t pid, char **argv, int cap, int *argc, char **program)
{
	char *path = mt_printf("/proc/%d/cmdline", pid), *text;
	size_t n = 0;

	text = mt_read_file(path, &n);
	free(path);
	*argc = 0;
	if (!text || !n) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < n && *argc < cap - 1; i += strlen(text + i) + 1)
		argv[(*argc)++] = text + i;
	argv[*argc] = NULL;
	path = mt_printf("/proc/%d/exe", pid);
	*program = realpath(path, NULL);
	free(path);
	if (!*program)
		*program = mt_strdup(argv[0]);
	return text;
}

/* Until they end, or the time is over, or somebody interrupts. Whether some live. */
static bool wait_for(const struct mt_run *r, const struct mt_processes *all, uint64_t duration)
{
	const struct sigaction act = { .sa_handler = on_interrupt };
	const uint64_t begin = mt_monotonic_ns();

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	if (all->n == 1)
		mt_note("recording process %d%s", all->pid[0], duration ? "" : "; Ctrl-C ends it");
	else
		mt_note("recording %zu processes%s", all->n, duration ? "" : "; Ctrl-C ends it");
	while (!interrupted && r->backend->alive(r->session) && (!duration || mt_monotonic_ns() - begin < duration))
		usleep(20000);
	return r->backend->alive(r->session) > 0;
}

/* Directory, session, manifest, and the processes in it. Exit code. */
static int begin(struct mt_run *r, const struct mt_args *command, const char *program, struct mt_processes *all)
{
	pid_t failed;
	int rc, err;

	rc = mt_run_make_directory(r, program);
	if (!rc)
		rc = mt_run_reserve(r);
	if (!rc)
		rc = mt_run_open_session(r);
	if (rc)
		return rc;
	err = mt_run_describe(r, command, program);
	if (err)
		return mt_fail(r->a, MT_EXIT_INTERNAL, "cannot write %s/manifest.json: %s", r->dir, strerror(-err));
	for (int i = 0; mt_args_nth(r->a, "pid", i); i++)
		mt_processes_add(all, (pid_t)strtol(mt_args_nth(r->a, "pid", i), NULL, 10));
	failed = (pid_t)strtol(mt_args_nth(r->a, "pid", 0), NULL, 10);
	err = attach_all(r->a, r->backend, r->session, all, &failed);
	if (!err)
		err = r->backend->start(r->session);
	return err ? mt_fail(r->a, MT_EXIT_INPUT, "process %d cannot be recorded: %s", failed, strerror(-err)) : 0;
}

int mt_run_attach(struct mt_run *r)
{
	const pid_t pid = (pid_t)strtol(mt_args_nth(r->a, "pid", 0), NULL, 10);
	const uint64_t duration = mt_args_has(r->a, "duration") ? mt_args_duration_ns(r->a, "duration") : 0;
	struct mt_args command = *r->a;		/* with the command of the process */
	struct mt_processes all = { 0 };
	char *argv[256], *text, *program = NULL;
	int rc;

	mt_run_probe(r);
	text = command_of(pid, argv, 256, &command.argc, &program);
	if (!text)
		return mt_fail(r->a, MT_EXIT_INPUT, "there is no process %d, or it has no program", pid);
	command.argv = argv;
	mt_settings_take(&r->settings, r->a, &r->windows);
	rc = mt_run_choose(r);
	if (!rc) {
		rc = begin(r, &command, program, &all);
		if (rc && r->dir)
			mt_run_remove_directory(r);
	}
	if (!rc) {
		const bool lives = wait_for(r, &all, duration);

		rc = mt_run_end(r, all.n > 1 ? (lives ? "the recording was ended, the processes go on" : "the processes ended") :
				lives ? "the recording was ended, the process goes on" : "the process ended", NULL, false);
	}
	free(all.pid);
	free(program);
	free(text);
	return rc;
}
