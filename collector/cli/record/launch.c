/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* launch.c - starts the program, and waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/program.h"
#include "cli/base/user.h"
#include "cli/base/util.h"
#include "cli/io/io.h"
#include "cli/record/beside.h"
#include "cli/record/family.h"
#include "cli/backend/orphan.h"
#include "cli/record/run.h"
#include "cli/record/settings.h"
#include "cli/remote/on_node.h"

/* LD_PRELOAD with our library first and only once. */
static void set_preload(const char *lib)
{
	const char *old = getenv("LD_PRELOAD");
	char *copy = mt_strdup(old ? old : ""), *save = NULL, *out = mt_strdup(lib);

	for (char *t = strtok_r(copy, ": ", &save); t; t = strtok_r(NULL, ": ", &save)) {
		char *next;

		if (!strcmp(mt_base(t), "libmemtrace-preload.so"))
			continue;
		next = mt_printf("%s:%s", out, t);
		free(out);
		out = next;
	}
	setenv("LD_PRELOAD", out, 1);
	free(out);
	free(copy);
}

/* @monitor: see orphan.h. */
static void set_environment(const struct mt_run *r, const char *monitor, bool preload)
{
	char self[16];

	mt_settings_environment(&r->settings, r->a);
	setenv(MT_VARIABLE(MEMTRACE_DIR), r->dir, 1);
	setenv(MT_VARIABLE(MEMTRACE_BACKEND), r->backend->name, 1);
	setenv(MT_VARIABLE(MEMTRACE_LIBRARY), mt_library_word(r->backend->library), 1);
	snprintf(self, sizeof(self), "%d", (int)getpid());
	setenv(MT_VARIABLE(MEMTRACE_ROOT), self, 1);
	mt_settings_text(MT_VARIABLE(MEMTRACE_ZOOM), r->zoom);
	unsetenv(MT_VARIABLE(MEMTRACE_PARENT_IMAGE));
	unsetenv(MT_NODE_SHOWN);
	setenv(MT_VARIABLE(MEMTRACE_MONITOR), monitor, 1);
	if (preload)
		set_preload(r->probe.preload);
	if (r->beside)
		mt_beside_environment(r->beside);
}

/* Shells run a file that the kernel takes for no program, unless its first line has a byte 0. */
static bool is_text(const char *path)
{
	char head[256];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
	bool text = n < 4 || memcmp(head, "\177ELF", 4);

	for (ssize_t i = 0; text && i < n && head[i] != '\n'; i++)
		text = head[i] != 0;
	if (fd >= 0)
		close(fd);
	errno = ENOEXEC;
	return text;
}

/* In the child. Does not return; the errno of exec goes to @report. */
static void become(struct mt_run *r, const char *monitor, bool preload, int report)
{
	const struct mt_args *a = r->a;
	char **words;
	int err;

	set_environment(r, monitor, preload);
	mt_signals_give_back(&r->signals);
	err = -mt_user_become();
	if (!err) {
		words = r->backend->command ? r->backend->command(r->session, r->program, a->argv) : NULL;
		if (words)
			execv(words[0], words);
		else
			execv(r->program, a->argv);
		if (!words && errno == ENOEXEC && is_text(r->program)) {	/* a script without #!, as the shell does */
			char **v = mt_alloc(((size_t)a->argc + 3) * sizeof(*v));

			v[0] = (char *)"sh";
			v[1] = r->program;
			memcpy(v + 2, a->argv + 1, (size_t)a->argc * sizeof(*v));
			execv("/bin/sh", v);
		}
		err = errno;
	}
	(void)!write(report, &err, sizeof(err));
	_exit(127);
}

/* What has to know the process before it is the program. */
static void watch(struct mt_run *r, pid_t pid)
{
	int err;

	if (r->session && r->backend->attach) {
		err = r->backend->attach(r->session, pid, true);
		if (err)
			mt_error("record: the backend %s does not take the program: %s; it runs without being recorded",
				 r->backend->name, strerror(-err));
	}
	if (r->io) {
		err = mt_io_attach(r->io, pid);
		if (err)
			mt_error("record: the I/O of the program is not recorded: %s", strerror(-err));
	}
	/* what counts or records from elsewhere knows its processes itself */
	if (mt_traces(r->backend->library))
		r->family = mt_family_open(pid);
}

/* A pipe for reports of exec, and one that holds the child until it is watched. 0 or a negative errno. */
static int make_pipes(int report[2], int go[2])
{
	int err;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	if (!pipe2(go, O_CLOEXEC))
		return 0;
	err = -errno;
	close(report[0]);
	close(report[1]);
	return err;
}

int mt_run_start(struct mt_run *r)
{
	/* the loader would complain on the program's stderr about a 32-bit program, the runtime of a sanitizer end it */
	const bool preload = !r->obstacle || !mt_obstacle_refuses_library(r->obstacle);
	int report[2] = { -1, -1 }, go[2] = { -1, -1 }, err;
	const char *why;
	char *monitor;
	pid_t pid;

	err = make_pipes(report, go);
	if (err)
		return err;
	/* a thread where it is one anyway */
	monitor = preload && (mt_traces(r->backend->library) || r->backend->library == MT_LIBRARY_NO_ACCESSES) ?
		  mt_orphan_setting(&why) : mt_strdup("thread");
	pid = fork();
	if (!pid) {
		char c;

		close(report[0]);
		close(go[1]);
		/* a session traces from exec on: not before it knows us */
		while (read(go[0], &c, 1) < 0 && errno == EINTR)
			;
		become(r, monitor, preload, report[1]);
	}
	err = pid < 0 ? errno : 0;
	free(monitor);
	close(report[1]);
	close(go[0]);
	if (!err) {
		mt_signals_child(pid, true);
		watch(r, pid);
	}
	close(go[1]);
	while (!err && read(report[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (!err)
		return pid;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	mt_family_close(r->family, r->dir);
	r->family = NULL;
	return -err;
}

/*
 * Waits for the end of the program. When the terminal stops it, the recorder
 * stops too, so that the shell sees the job stopped, and wakes it up again
 * when the shell continues the job. A stop by SIGSTOP is not for us.
 */
int mt_run_wait(struct mt_run *r, pid_t pid, struct rusage *used)
{
	int status;

	for (;;) {
		siginfo_t info = { 0 };
		pid_t ended;

		/* its counters are there as long as nobody has waited for it */
		if (r->io && !waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) && info.si_code != CLD_STOPPED)
			mt_io_ended(r->io);
		ended = wait4(pid, &status, WUNTRACED, used);
		if (ended < 0 && errno == EINTR)
			continue;
		if (ended < 0)
			return -1;
		if (!WIFSTOPPED(status))
			return status;
		if (WSTOPSIG(status) != SIGSTOP) {
			raise(SIGSTOP);
			kill(pid, SIGCONT);
		}
	}
}

