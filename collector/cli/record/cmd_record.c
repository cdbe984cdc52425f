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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/record/beside.h"
#include "cli/record/family.h"
#include "cli/table/native.h"
#include "cli/names/finish.h"
#include "cli/base/gitstate.h"
#include "cli/base/hostclock.h"
#include "cli/io/io.h"
#include "cli/java.h"
#include "cli/record/job.h"
#include "cli/finish/manifest.h"
#include "cli/remote/on_node.h"
#include "cli/record/orphan.h"
#include "common/patience.h"
#include "cli/base/processes.h"
#include "cli/base/program.h"
#include "common/quietwords.h"
#include "cli/record/recordsettings.h"
#include "cli/remote/remote.h"
#include "cli/trace/tracedir.h"
#include "cli/trace/unrecorded.h"
#include "cli/base/user.h"
#include "cli/base/util.h"
#include "cli/record/windows.h"
#include "cli/record/zoom.h"



static volatile sig_atomic_t child_pid;
static bool own_program;	/* the child is the program, not a recorder of a run of --repeat */
static volatile sig_atomic_t killed;	/* by us */
static struct mt_io *io;		/* --io */
static struct mt_beside *beside;	/* --with */
static pid_t on_node;	/* the parent that runs us for record --host, or 0 */
static struct mt_window_spec windows;	/* of --windows */

#define TERM_PATIENCE_S 5	/* then a program that SIGTERM does not end is killed */
#define TERM_AGAIN_MS 1000	/* a SIGTERM so long after the first one says it again: timeout(1) sends two at once */

static volatile sig_atomic_t asked_to_end;

static void kill_program(void)
{
	killed = 1;
	kill(child_pid, SIGKILL);
}

/* SIGTERM went to the program: it has to end. In a handler, with all signals blocked. */
static void expect_end(void)
{
	static uint64_t asked_ns;
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (!asked_to_end) {
		asked_to_end = 1;
		asked_ns = ns;
		alarm(TERM_PATIENCE_S);
	} else if (ns - asked_ns >= TERM_AGAIN_MS * 1000000ull) {
		kill_program();
	}
}

/*
 * A signal sent by a process (not by the terminal): hand it on. The parent on a node is the terminal: what it sends
 * for Ctrl-C and Ctrl-\ it sends to the whole group.
 */
static void forward(int sig, siginfo_t *si, void *uc)
{
	int err = errno;

	(void)uc;
	if (sig == SIGALRM && si->si_code > 0 && asked_to_end) {
		if (child_pid > 0)	/* our patience is over */
			kill_program();
	} else if (windows.signal && sig == windows.signal) {
		mt_windows_signalled();
	} else if (child_pid > 0 && si->si_code <= 0 && si->si_pid != child_pid &&
	    !(on_node && si->si_pid == on_node && (sig == SIGINT || sig == SIGQUIT))) {
		kill(child_pid, sig);
		if (sig == SIGTERM && own_program)
			expect_end();
	}
	errno = err;
}

static const int forwarded[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM,
				 SIGWINCH, SIGVTALRM, SIGPROF, SIGPIPE };
/* SIGXFSZ: where files are limited, a write of ours fails and is reported */
static const int ignored[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ };
#define N(a) (sizeof(a) / sizeof((a)[0]))

struct saved {
	struct sigaction f[N(forwarded)], i[N(ignored)];
	sigset_t mask;
};

static void signals_take(struct saved *s)
{
	struct sigaction a = { .sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction ign = { .sa_handler = SIG_IGN };

	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < N(forwarded); i++)
		sigaction(forwarded[i], &a, &s->f[i]);
	for (size_t i = 0; i < N(ignored); i++)
		sigaction(ignored[i], &ign, &s->i[i]);
}

static void signals_give_back(const struct saved *s)
{
	for (size_t i = 0; i < N(forwarded); i++)
		sigaction(forwarded[i], &s->f[i], NULL);
	for (size_t i = 0; i < N(ignored); i++)
		sigaction(ignored[i], &s->i[i], NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* ------------------------------------------------------------- directory */

/* Directory of this run with --repeat; NULL without. */
static const char *repeat_output;

/* One rank of several. A job of one is a program like any other. */
static bool in_job(const struct mt_job *job)
{
	return job->is && job->size != 1;
}

/* Makes the folders above @path that are missing; other ranks may do so at the same time. */
static int make_parents(const char *path)
{
	char *p = mt_strdup(path);
	int err = 0;

	for (char *s = strchr(p + 1, '/'); s && !err; s = strchr(s + 1, '/')) {
		*s = 0;
		if (mkdir(p, 0777) && errno != EEXIST)
			err = -errno;
		*s = '/';
	}
	free(p);
	return err;
}

/* The exit code when a folder cannot be made: the command line is wrong only where it names what is there. */
static int exit_of_folder(int err)
{
	return err == EEXIST ? MT_EXIT_USAGE : err == ENOENT || err == ENOTDIR || err == ENAMETOOLONG || err == ELOOP ? MT_EXIT_INPUT :
	       err == ENOSPC || err == EDQUOT || err == EIO || err == ENOMEM ? MT_EXIT_INTERNAL : MT_EXIT_UNAVAILABLE;
}

/*
 * The trace directory of a rank: JOB/rNNNN.memtrace, where JOB is PROGRAM.job-ID or what --output names, or what
 * --output names for each rank. The folders above it are made. NULL after a message, with the exit code in *rc.
 */
static char *directory_of_rank(const struct mt_args *a, const struct mt_job *job, const char *given, const char *program, int *rc)
{
	char *wrong = NULL, *dir, *base = given && *given ? mt_job_expand(job, given, &wrong) :
					  mt_printf("%s.job-%s", mt_base(program), job->id);
	int err;

	if (!base) {
		*rc = mt_fail(a, MT_EXIT_USAGE, "%s", wrong);
		free(wrong);
		return NULL;
	}
	if (!in_job(job) || (given && mt_job_by_rank(given)))
		dir = mt_strdup(base);
	else
		dir = mt_printf("%s/r%04d.memtrace", base, (int)job->rank);
	free(base);
	err = make_parents(dir);
	if (err) {
		*rc = mt_fail(a, exit_of_folder(-err), "cannot make the folder of %s: %s", dir, strerror(-err));
		free(dir);
		return NULL;
	}
	return dir;
}

/* Makes the trace directory; never one that exists. Absolute path, or NULL after a message, with the exit code in *rc. */
static char *make_directory(const struct mt_args *a, const char *program, int *rc)
{
	const char *given = repeat_output ? repeat_output : mt_args_get(a, "output");
	char *dir, *abs;
	struct mt_job job;

	mt_job_detect(&job);
	dir = in_job(&job) || (given && strchr(given, '%')) ? directory_of_rank(a, &job, given, program, rc) : NULL;
	if (!dir && ((given && strchr(given, '%')) || in_job(&job))) {
		mt_job_free(&job);
		return NULL;
	}
	mt_job_free(&job);
	if (dir || (given && *given)) {
		if (!dir)
			dir = mt_strdup(given);
		while (strlen(dir) > 1 && dir[strlen(dir) - 1] == '/')
			dir[strlen(dir) - 1] = 0;
		if (mkdir(dir, 0777)) {
			if (errno == EEXIST)
				*rc = mt_fail(a, MT_EXIT_USAGE, "%s exists; a trace is never overwritten", dir);
			else
				*rc = mt_fail(a, exit_of_folder(errno), "cannot make %s: %s", dir, strerror(errno));
			free(dir);
			return NULL;
		}
	} else {
		dir = mt_printf("%s.memtrace", mt_base(program));
		for (int i = 2; mkdir(dir, 0777); i++) {
			if (errno != EEXIST || i > 100000) {
				*rc = mt_fail(a, exit_of_folder(errno), "cannot make %s here: %s", dir, strerror(errno));
				free(dir);
				return NULL;
			}
			free(dir);
			dir = mt_printf("%s.memtrace-%d", mt_base(program), i);
		}
	}
	abs = realpath(dir, NULL);
	if (!abs)
		*rc = mt_fail(a, exit_of_folder(errno), "%s: %s", dir, strerror(errno));
	free(dir);
	return abs;
}

/* Ends --io; what there was goes into the manifest @m, unless that is NULL. */
static void close_io(json_t *m)
{
	json_t *result = io ? mt_io_finish(io) : NULL;

	io = NULL;
	if (result && m)
		json_object_set(m, "io", result);
	json_decref(result);
}

/* Where --with puts the archive: beside the trace; ranks of a job write one. To be freed. */
static char *beside_folder(const char *dir)
{
	struct mt_job job;
	char *folder;

	mt_job_detect(&job);
	folder = mt_printf("%.*s/eztrace", (int)(in_job(&job) ? strrchr(dir, '/') - dir : (ptrdiff_t)strlen(dir)), dir);
	mt_job_free(&job);
	return folder;
}

/* Ends --with; its folder goes, too, if nothing is in it. */
static void close_beside(const char *dir)
{
	char *folder = beside ? beside_folder(dir) : NULL;

	if (folder) {
		mt_beside_ended(beside);
		rmdir(folder);
	}
	free(folder);
	mt_beside_free(beside);
	beside = NULL;
}

/* Removes what we made so far, when the program could not be started. */
static void remove_directory(const char *dir)
{
	static const char *const files[] = { "manifest.json", "topology.xml", "unrecorded.csv", ".reserve", ".windows" };
	char *folder = mt_printf("%s/io", dir);
	struct dirent *e;
	DIR *d;

	close_io(NULL);
	close_beside(dir);
	d = opendir(folder);
	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
	free(folder);

	for (size_t i = 0; i < N(files); i++) {
		char *p = mt_printf("%s/%s", dir, files[i]);

		unlink(p);
		free(p);
	}
	rmdir(dir);
}

/* Room on the disk. 0, or an exit code after a message; then the directory is gone. */
static int reserve(const struct mt_args *a, const char *dir)
{
	int err = mt_reserve_take(dir);

	if (!err)
		return 0;
	remove_directory(dir);
	return mt_fail(a, MT_EXIT_INTERNAL, "there is no room for a recording in %s: %s; the program was not started",
		       dir, strerror(-err));
}

/* The trace as the user would type it. */
static const char *typed(const char *dir)
{
	const char *shown = on_node ? getenv(MT_NODE_SHOWN) : NULL;
	static char *cwd;
	size_t n;

	if (shown)
		return shown;
	if (!cwd)
		cwd = getcwd(NULL, 0);
	n = cwd ? strlen(cwd) : 0;
	if (n && !strncmp(dir, cwd, n) && dir[n] == '/')
		return dir + n + 1;
	return dir;
}

/* The same as an argument for a shell, also when it has blanks or begins with a dash. */
static const char *pasted(const char *dir)
{
	static char *text;

	free(text);
	text = mt_shell_word(typed(dir));
	return text;
}

/* -------------------------------------------------------------- manifest */

static struct mt_backend_request request(const struct mt_args *a, const char *dir, bool library)
{
	return (struct mt_backend_request){
		.trace = dir, .interval_ns = mt_args_duration_ns(a, "interval"),
		.subphases = (uint32_t)mt_args_int(a, "subphases"),
		.max_overhead = mt_args_number(a, "max-overhead"), .physical = mt_args_has(a, "physical"),
		.writes = strcmp(mt_args_get(a, "write-tracking"), "off") != 0, .library = library, .windows = windows.kind,
		.instructions = mt_args_has(a, "instructions"),
	};
}

/* The backend that was asked for, or "auto". */
static const char *requested(const struct mt_args *a)
{
	const char *exact = mt_args_get(a, "exact");

	return mt_args_has(a, "exact") && strcmp(exact, "auto") ? exact : mt_args_get(a, "backend");
}

static json_t *first_manifest(const struct mt_args *a, const struct mt_probe *p, const char *dir,
			      const char *program, const struct mt_backend *backend)
{
	const struct mt_backend_request wanted = request(a, dir, true);
	json_t *m = json_object(), *argv = json_array(), *rev = json_array(), *r;
	char *cwd = getcwd(NULL, 0), when[64], *id = mt_build_id(program), *real;
	const char *name = mt_args_get(a, "name"), *purpose = mt_args_get(a, "purpose");
	const char *asked = requested(a);
	struct mt_config settings = { 0 };
	json_t *parameters;
	struct timespec rt;
	struct mt_job job;
	struct tm tm;

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
	json_object_set_new(m, "name", mt_json_text(name && *name ? name : mt_base(a->argv[0])));
	json_object_set_new(m, "command", argv);
	real = realpath(program, NULL);
	json_object_set_new(m, "executable", mt_json_text(real ? real : program));
	free(real);
	if (id)
		json_object_set_new(m, "executable_build_id", json_string(id));
	json_object_set_new(m, "working_directory", mt_json_text(cwd ? cwd : "."));
	r = cwd ? mt_revision_describe(cwd) : NULL;
	if (r) {
		const int64_t modified = mt_git_modified(cwd, 2000);

		json_object_set_new(r, "modified_files", modified < 0 ? json_null() : json_integer((json_int_t)modified));
		json_array_append_new(rev, r);
	}
	json_object_set_new(m, "source_revisions", rev);
	json_object_set_new(m, "environment", mt_environment_describe());
	if (purpose && *purpose)
		json_object_set_new(m, "purpose", mt_json_text(purpose));
	json_object_set_new(m, "host", mt_host_describe(dir));
	json_object_set_new(m, "clock", json_pack("{s:s, s:s, s:I, s:I, s:s}", "id", "CLOCK_MONOTONIC",
		"unit", "ns", "start_ns", (json_int_t)mt_monotonic_ns(), "end_ns", (json_int_t)-1,
		"start_realtime", when));
	json_object_set_new(json_object_get(m, "clock"), "realtime", mt_hostclock_describe());
	mt_job_detect(&job);
	if (job.is)
		json_object_set_new(m, "job", mt_job_describe(&job));
	mt_job_free(&job);
	json_object_set_new(m, "backend", json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", backend->name,
		"version", mt_version, "requested", asked, "reason",
		strcmp(asked, "auto") || mt_args_has(a, "exact") ? "asked for" : p->reason, "guarantee",
		backend->guarantee(mt_backend_probe(p, backend), &wanted)));
	mt_settings_take(&settings, a, &windows);
	parameters = mt_settings_describe(&settings, a);
	if (mt_args_has(a, "windows"))
		json_object_set_new(parameters, "windows", mt_json_text(mt_args_get(a, "windows")));
	if (mt_args_has(a, "zoom")) {
		json_t *suspects = json_array();

		for (int i = 0; mt_args_nth(a, "zoom", i); i++)
			json_array_append_new(suspects, mt_json_text(mt_args_nth(a, "zoom", i)));
		json_object_set_new(parameters, "zoom", suspects);
	}
	json_object_set_new(m, "parameters", parameters);
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

/* ----------------------------------------------------------- the program */

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

static char *zoom_spec;		/* what --zoom came to */

static char *monitor_setting;	/* see orphan.h */

static void set_environment(const struct mt_args *a, const struct mt_probe *p, const char *dir,
			    const struct mt_backend *backend, bool preload)
{
	struct mt_config settings = { 0 };
	char self[16];

	mt_settings_take(&settings, a, &windows);
	mt_settings_environment(&settings, a);
	setenv(MT_VARIABLE(MEMTRACE_DIR), dir, 1);
	setenv(MT_VARIABLE(MEMTRACE_BACKEND), backend->name, 1);
	setenv(MT_VARIABLE(MEMTRACE_LIBRARY), mt_library_word(backend->library), 1);
	snprintf(self, sizeof(self), "%d", (int)getpid());
	setenv(MT_VARIABLE(MEMTRACE_ROOT), self, 1);
	mt_settings_text(MT_VARIABLE(MEMTRACE_ZOOM), zoom_spec);
	unsetenv(MT_VARIABLE(MEMTRACE_PARENT_IMAGE));
	unsetenv(MT_NODE_SHOWN);
	setenv(MT_VARIABLE(MEMTRACE_MONITOR), monitor_setting, 1);
	if (preload)
		set_preload(p->preload);
	if (beside)
		mt_beside_environment(beside);
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

static struct mt_family *family;	/* what the program starts, where it is watched */

/* Starts the program. Pid, or a negative errno of exec. */
static int start(const struct mt_args *a, const struct mt_probe *p, const char *dir,
		 const char *program, const struct mt_backend *backend, bool preload, const struct saved *s, void *session)
{
	int pipefd[2], go[2], err = 0;
	const char *why;
	pid_t pid;

	/* a thread where it is one anyway */
	free(monitor_setting);
	monitor_setting = preload && (mt_traces(backend->library) || backend->library == MT_LIBRARY_NO_ACCESSES) ?
			  mt_orphan_setting(&why) : mt_strdup("thread");
	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	if (pipe2(go, O_CLOEXEC)) {
		err = -errno;
		close(pipefd[0]);
		close(pipefd[1]);
		return err;
	}
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(pipefd[0]);
		close(pipefd[1]);
		close(go[0]);
		close(go[1]);
		return err;
	}
	if (!pid) {
		char c, **words;

		close(pipefd[0]);
		close(go[1]);
		/* a session traces from exec on: not before it knows us */
		while (read(go[0], &c, 1) < 0 && errno == EINTR)
			;
		set_environment(a, p, dir, backend, preload);
		signals_give_back(s);
		err = mt_user_become();
		if (err) {
			err = -err;
			(void)!write(pipefd[1], &err, sizeof(err));
			_exit(127);
		}
		words = backend->command ? backend->command(session, program, a->argv) : NULL;
		if (words)
			execv(words[0], words);
		else
			execv(program, a->argv);
		if (!words && errno == ENOEXEC && is_text(program)) {	/* a script without #!, as the shell does */
			char **v = mt_alloc(((size_t)a->argc + 3) * sizeof(*v));

			v[0] = (char *)"sh";
			v[1] = (char *)program;
			memcpy(v + 2, a->argv + 1, (size_t)a->argc * sizeof(*v));
			execv("/bin/sh", v);
		}
		err = errno;
		(void)!write(pipefd[1], &err, sizeof(err));
		_exit(127);
	}
	child_pid = pid;
	close(pipefd[1]);
	close(go[0]);
	if (session && backend->attach) {
		err = backend->attach(session, pid, true);
		if (err)
			mt_error("record: the backend %s does not take the program: %s; it runs without being recorded",
				 backend->name, strerror(-err));
		err = 0;
	}
	if (io) {
		err = mt_io_attach(io, pid);
		if (err)
			mt_error("record: the I/O of the program is not recorded: %s", strerror(-err));
		err = 0;
	}
	/* what counts or records from elsewhere knows its processes itself */
	if (mt_traces(backend->library))
		family = mt_family_open(pid);
	close(go[1]);
	while (read(pipefd[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(pipefd[0]);
	if (err) {
		waitpid(pid, NULL, 0);
		mt_family_close(family, dir);
		family = NULL;
		return -err;
	}
	return pid;
}

/*
 * Waits for the end of the program. When the terminal stops it, the recorder
 * stops too, so that the shell sees the job stopped, and wakes it up again
 * when the shell continues the job. A stop by SIGSTOP is not for us.
 */
static int wait_for(pid_t pid, struct rusage *ru)
{
	int status;

	for (;;) {
		siginfo_t info = { 0 };
		pid_t r;

		/* its counters are there as long as nobody has waited for it */
		if (io && !waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) && info.si_code != CLD_STOPPED)
			mt_io_ended(io);
		r = wait4(pid, &status, WUNTRACED, ru);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (!WIFSTOPPED(status))
			return status;
		if (WSTOPSIG(status) != SIGSTOP) {
			raise(SIGSTOP);
			kill(pid, SIGCONT);
		}
	}
}

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
static void note_incomplete(const struct mt_args *a, json_t *m, const char *dir, const char *missing, int unfinished)
{
	json_t *st = json_object_get(m, "status");
	const char *message = json_string_value(json_object_get(st, "message"));
	char *text;

	if (!missing && !unfinished)
		return;
	if (missing)
		mt_fail(a, 0, "%s", missing);
	if (unfinished)
		mt_fail(a, 0, "structures, call stacks and threads are not made yet; with room on the disk, "
			"\"memtrace finish %s\" makes them", pasted(dir));
	text = mt_printf("%s%s%s", missing ? missing + strlen(dir) + 2 : "", missing && unfinished ? "; " : "",
			 unfinished ? "structures, call stacks and threads were not made at the end of the recording" : "");
	json_object_set_new(st, "incomplete", json_string(text));
	json_object_set_new(st, "message", json_sprintf("%s; %s", message ? message : "", text));
	free(text);
}

static uint64_t ull(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static bool all_seen(const json_t *m)
{
	const char *state = json_string_value(json_object_get(json_object_get(m, "unseen"), "state"));

	return state && !strcmp(state, "all");
}

static void summary(json_t *m, const char *dir, size_t alive)
{
	json_t *images = json_object_get(m, "images"), *losses = json_object_get(m, "losses");
	json_t *over = json_object_get(m, "overhead"), *v, *backend = json_object_get(m, "backend");
	const char *name = json_string_value(json_object_get(backend, "name")), *key;
	uint64_t accesses = 0, counted = 0, total = ull(losses, "total"), threads = 0;
	const struct mt_backend *b = mt_backend_find(name);
	const bool sees = b && b->abilities & MT_ABILITY_ACCESSES, exact = b && b->abilities & MT_ABILITY_EXACT;
	size_t n = json_array_size(images);

	for (size_t i = 0; i < n; i++) {
		struct mt_totals t;

		mt_image_totals(dir, json_string_value(json_object_get(json_array_get(images, i),
								       "dir")), 0, &t);
		accesses += t.records - t.lost_other[2];	/* write_error */
		counted += t.accesses;
		threads += t.threads;
	}
	if (!n) {
		mt_note("the program did not load the recorder's library; the trace is empty");
	} else if (sees) {
		mt_note("%s %s in %s interval%s, %s thread%s, %zu process image%s, backend %s",
			mt_human_count(exact ? counted : accesses), exact ? windows.kind ? "accesses, counted in windows," : "accesses, counted exactly," :
			accesses == 1 ? "record" : "records",
			mt_human_count(ull(over, "intervals")),
			ull(over, "intervals") == 1 ? "" : "s", mt_human_count(threads), threads == 1 ? "" : "s", n, n == 1 ? "" : "s", name);
		if (json_object_get(m, "windows"))
			mt_note("%s", json_string_value(json_object_get(json_object_get(m, "windows"), "text")));
	} else {
		const char *msg = json_string_value(json_object_get(backend, "message"));

		mt_note("no accesses (backend %s%s%s), %s thread%s, %zu process image%s",
			name, msg ? ": " : "", msg ? msg : "", mt_human_count(threads),
			threads == 1 ? "" : "s", n, n == 1 ? "" : "s");
	}
	/* a part of the processes without accesses, say in a sandbox: why, of the first */
	for (size_t i = 0; sees && i < n; i++) {
		const char *image = json_string_value(json_object_get(json_array_get(images, i), "dir"));
		json_t *j = mt_image_read(dir, image);
		const char *works = json_string_value(json_object_get(j, "backend"));
		const char *why = json_string_value(json_object_get(j, "backend_message"));
		const bool blind = works && why && *why && strcmp(works, name);

		const bool stopped = why && !strncmp(why, MT_STOPPED, sizeof(MT_STOPPED) - 1);

		if (blind)
			mt_note("no accesses of process image %s%s: %s", image, n > 2 ? ", perhaps of others" : "", why);
		else if (stopped)
			mt_note("process image %s%s was %s", image, n > 2 ? ", perhaps others," : "", why);
		json_decref(j);
		if (blind || stopped)
			break;
	}
	if (total) {
		char *text = mt_strdup("");

		json_object_foreach(json_object_get(losses, "by_reason"), key, v) {
			char *next;

			if (!json_integer_value(v))
				continue;
			next = mt_printf("%s%s%s %s", text, *text ? ", " : "", key,
					 mt_human_count((uint64_t)json_integer_value(v)));
			free(text);
			text = next;
		}
		mt_note("lost: %s", text);
		free(text);
	}
	/* nothing is said to be whole that is not */
	if (sees && json_object_get(m, "unseen"))
		mt_note("%s%s", !total && all_seen(m) ? "losses none; " : "",
			json_string_value(json_object_get(json_object_get(m, "unseen"), "text")));
	if (json_object_get(m, "unrecorded"))
		mt_note("%s", json_string_value(json_object_get(json_object_get(m, "unrecorded"), "text")));
	if (json_object_get(m, "unlisted"))
		mt_note("%s", json_string_value(json_object_get(json_object_get(m, "unlisted"), "text")));
	if (json_object_get(json_object_get(m, "io"), "text"))
		mt_note("%s", json_string_value(json_object_get(json_object_get(m, "io"), "text")));
	if (ull(json_object_get(m, "io"), "lost"))
		mt_note("lost: %s events of the I/O; a larger --io-buffer keeps more", mt_human_count(ull(json_object_get(m, "io"), "lost")));
	if (json_object_get(m, "zoom"))
		mt_note("%s", json_string_value(json_object_get(json_object_get(m, "zoom"), "text")));
	if (ull(over, "faults"))
		mt_note("overhead: %s faults; the monitor used %s of CPU beside %s of the program; interval changed %s time%s",
			mt_human_count(ull(over, "faults")), mt_human_ns(ull(over, "monitor_cpu_ns")),
			mt_human_ns(ull(over, "program_cpu_ns")),
			mt_human_count(ull(over, "governor_changes")),
			ull(over, "governor_changes") == 1 ? "" : "s");
	if (json_object_get(m, "late"))
		mt_note("%s", json_string_value(json_object_get(json_object_get(m, "late"), "text")));
	if (alive)
		mt_note("%zu process%s of the program still run%s and go on writing into the trace",
			alive, alive == 1 ? "" : "es", alive == 1 ? "s" : "");
	mt_note("trace: %s (%s)", typed(dir), mt_human_bytes(ull(over, "bytes_written")));
	if (n && sees && json_integer_value(json_object_get(json_object_get(m, "job"), "size")) != 1 && json_object_get(m, "job")) {
		char *job = mt_strdup(dir);

		*strrchr(job, '/') = 0;
		/* once for all of them, unless they have no common folder of ours */
		if (json_integer_value(json_object_get(json_object_get(m, "job"), "rank")) == 0)
			mt_note("next, when all ranks have ended: memtrace import %s", pasted(job));
		free(job);
	} else if (json_object_get(m, "with"))
		;	/* the join comes now, and says what is next */
	else if (n && sees)
		mt_note("next: memtrace import %s", pasted(dir));
	else if (n && json_object_get(m, "io"))
		mt_note("next: memtrace io %s", pasted(dir));
	else if (n)
		mt_note("next: memtrace info %s", pasted(dir));
}

/* "zap, kmod, none" */
static char *names_of(unsigned int abilities)
{
	char *text = mt_strdup("");

	for (int i = 0; i < mt_n_backends; i++) {
		char *next;

		// NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the list is in another file
		if ((mt_backends[i]->abilities & abilities) != abilities)
			continue;
		next = mt_printf("%s%s%s", text, *text ? ", " : "", mt_backends[i]->name);
		free(text);
		text = next;
	}
	return text;
}

static int does_not_work(const struct mt_args *a, const struct mt_probe *p, const struct mt_backend *b)
{
	const struct mt_backend_probe *found = mt_backend_probe(p, b);

	return mt_fail(a, MT_EXIT_UNAVAILABLE, "backend %s does not work here: %s%s%s; see 'memtrace check'", b->name, found->why,
		       found->fix ? "; try: " : "", found->fix ? found->fix : "");
}

/* --exact: the backend that counts and sees most of @program. NULL after a message, with *rc. */
static const struct mt_backend *choose_exact(const struct mt_args *a, const struct mt_probe *p, const char *program, int *rc)
{
	const struct mt_backend *best = NULL;
	char *reasons = mt_strdup("");
	int most = 0;

	for (int i = 0; i < mt_n_backends; i++) {
		const struct mt_backend *b = mt_backends[i];
		char *why = NULL, *next;
		int fit;

		if (!(b->abilities & MT_ABILITY_EXACT))
			continue;
		if (p->backend[i].works == MT_NO)
			fit = 0, why = mt_strdup(p->backend[i].why);
		else if (windows.kind && !(b->abilities & MT_ABILITY_WINDOWS))
			fit = 0, why = mt_strdup("it cannot count for a part of the time only");
		else if (mt_args_has(a, "instructions") && !(b->abilities & MT_ABILITY_INSTRUCTIONS))
			fit = 0, why = mt_strdup("it does not count what each instruction accesses");
		else
			fit = b->fits ? b->fits(program, &why) : 1;
		if (fit > most) {
			most = fit;
			best = b;
		}
		if (why) {
			next = mt_printf("%s%s%s: %s", reasons, *reasons ? "; " : "", b->name, why);
			free(reasons);
			reasons = next;
		}
		free(why);
	}
	if (!best)
		*rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "accesses cannot be counted: %s", reasons);
	else if (*reasons)
		mt_note("counting with %s (%s)", best->name, reasons);
	free(reasons);
	return best;
}

/* Of those that can look closely the one that auto prefers; where none works, the first. */
static const struct mt_backend *best_to_zoom(const struct mt_probe *p)
{
	const struct mt_backend *best = NULL;
	int most = 0;

	for (int i = 0; i < mt_n_backends; i++) {
		if (!(mt_backends[i]->abilities & MT_ABILITY_ZOOM))
			continue;
		if (!best || p->backend[i].preference > most) {
			best = mt_backends[i];
			most = p->backend[i].preference;
		}
	}
	return best;
}

/* The backend that was asked for, or the best for @program (NULL: for processes); NULL after a message, with *rc. */
static const struct mt_backend *choose(const struct mt_args *a, const struct mt_probe *p, const char *program, int *rc)
{
	const bool zoom = mt_args_has(a, "zoom") && !strcmp(requested(a), "auto");
	const char *want = zoom ? best_to_zoom(p)->name : requested(a);
	const bool automatic = !strcmp(want, "auto"), running = mt_args_has(a, "pid");
	const struct mt_backend *b = automatic ? p->best : mt_backend_find(want);
	const struct mt_backend_probe *found;

	*rc = 0;
	if (!automatic && !b) {
		char *names = names_of(0);

		*rc = mt_fail(a, MT_EXIT_USAGE, "there is no backend %s, only auto, %s", want, names);
		free(names);
		return NULL;
	}
	if (mt_args_has(a, "exact") && automatic && program)
		return choose_exact(a, p, program, rc);
	if (mt_args_has(a, "exact") && !(b && b->abilities & MT_ABILITY_EXACT)) {
		char *names = names_of(MT_ABILITY_EXACT);

		*rc = mt_fail(a, MT_EXIT_USAGE, "backend %s does not count accesses, only: %s", want, names);
		free(names);
		return NULL;
	}
	if (windows.kind && b && !automatic && !(b->abilities & MT_ABILITY_WINDOWS)) {
		char *names = names_of(MT_ABILITY_WINDOWS);

		*rc = mt_fail(a, MT_EXIT_USAGE, "backend %s cannot count for a part of the time only (--windows), only: %s", want, names);
		free(names);
		return NULL;
	}
	if (mt_args_has(a, "instructions") && b && !automatic && !(b->abilities & MT_ABILITY_INSTRUCTIONS)) {
		char *names = names_of(MT_ABILITY_INSTRUCTIONS);

		*rc = mt_fail(a, MT_EXIT_USAGE, "backend %s does not count what each instruction accesses (--instructions), only: %s", want,
			      names);
		free(names);
		return NULL;
	}
	if (b && !automatic && b->fits && program) {
		char *why = NULL;

		if (!b->fits(program, &why) && why)
			mt_note("%s", why);
		free(why);
	}
	if (automatic && running)	/* the first one that can */
		for (int i = 0; i < mt_n_backends && !(b && b->abilities & MT_ABILITY_RUNNING); i++)
			b = mt_backends[i];
	if (running && !(b && b->abilities & MT_ABILITY_RUNNING)) {
		char *names = names_of(MT_ABILITY_RUNNING);

		*rc = mt_fail(a, MT_EXIT_USAGE, "backend %s cannot record a process that runs already, only: %s", want, names);
		free(names);
		return NULL;
	}
	if (!running && !p->preload) {
		*rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "libmemtrace-preload.so is not beside this program");
		return NULL;
	}
	if (automatic && !running && !(b && b->abilities & MT_ABILITY_ACCESSES)) {
		const char *fix = NULL;

		for (int i = 0; i < mt_n_backends && !fix; i++)
			if (mt_backends[i]->abilities & MT_ABILITY_ACCESSES)
				fix = p->backend[i].fix;
		*rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "no backend works here: %s%s%s; --backend none records structures only; see 'memtrace check'",
			      p->reason, fix ? "; try: " : "", fix ? fix : "");
		return NULL;
	}
	found = mt_backend_probe(p, b);
	if (found->works == MT_NO) {
		*rc = does_not_work(a, p, b);
		return NULL;
	}
	if (found->works == MT_PARTLY)
		mt_note("backend %s works partly: %s; to change it: %s", b->name, found->why,
			found->fix ? found->fix : "see 'memtrace check'");
	return b;
}

/* A session of a backend that has one for this trace. 0, or an exit code after a message. */
static int open_session(const struct mt_args *a, const struct mt_backend *b, const char *dir, bool library, void **session)
{
	const struct mt_backend_request r = request(a, dir, library);
	char *why = NULL, *fix = NULL;

	*session = NULL;
	if (!b->open)
		return 0;
	mt_user_raise();
	*session = b->open(&r, &why, &fix);
	mt_user_lower();
	if (!*session)
		mt_fail(a, 0, "backend %s does not work here: %s%s%s", b->name, why ? why : "", fix ? "; try: " : "",
			fix ? fix : "");
	free(why);
	free(fix);
	return *session ? 0 : MT_EXIT_UNAVAILABLE;
}

/* --io: 0, or an exit code after a message; then the directory is gone. */
static int open_io(const struct mt_args *a, const char *dir)
{
	const uint64_t interval = mt_args_duration_ns(a, "interval");
	const struct mt_io_request r = {
		.trace = dir, .interval_ns = interval < 10000000 ? 10000000 : interval,
		.buffer_bytes = mt_args_size_bytes(a, "io-buffer"), .user = strcmp(mt_args_get(a, "io-user"), "off") != 0,
	};

	if (!mt_args_has(a, "io"))
		return 0;
	io = mt_io_open(&r);
	if (io)
		return 0;
	remove_directory(dir);
	return mt_fail(a, MT_EXIT_INTERNAL, "cannot write %s/io: %s", dir, strerror(errno));
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static long long cpu_ns(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000ll + (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000ll;
}

/*
 * The program's last word is spoken; now ours: the rest of the accesses, finished files, the
 * manifest, what to tell. Takes the session. @program_cpu_ns < 0: not known. 0, or the exit
 * code of an incomplete trace.
 */
static int end_recording(const struct mt_args *a, json_t *m, const char *dir, const struct mt_backend *backend,
			 void *session, const char *message, long long program_cpu_ns, bool wait)
{
	struct mt_backend_result r = { 0 };
	json_t *status = json_object_get(m, "status");
	struct rusage self;
	char *incomplete;
	int unfinished, packed, err;
	size_t alive;

	json_object_set_new(status, "message", json_string(message));
	json_object_set_new(json_object_get(m, "clock"), "end_ns", json_integer((json_int_t)mt_monotonic_ns()));
	json_object_set_new(json_object_get(m, "clock"), "realtime_end", mt_hostclock_describe());
	alive = wait ? still_running(dir) : 0;
	mt_family_close(family, dir);
	family = NULL;
	close_io(m);
	if (session)
		backend->finish(session, &r);
	if (r.missed_faults)
		mt_note("the kernel missed %s page faults of this machine, perhaps of the program",
			mt_human_count(r.missed_faults));
	if (r.followed)
		json_object_set_new(m, "followed", json_pack("{s:I}", "processes", (json_int_t)r.followed));
	incomplete = not_written(dir);
	mt_windows_unshare(dir);
	mt_reserve_release(dir);
	unfinished = finish_and_compress(dir, mt_args_has(a, "compress"), !wait, &packed);
	json_object_set_new(status, "state", json_string("complete"));
	note_incomplete(a, m, dir, incomplete, unfinished);
	getrusage(RUSAGE_SELF, &self);
	if (program_cpu_ns >= 0)
		json_object_set_new(m, "overhead", json_pack("{s:I}", "program_cpu_ns", (json_int_t)program_cpu_ns));
	mt_manifest_complete(m, dir, cpu_ns(&self));
	err = mt_manifest_write(dir, m);
	if (err)
		mt_error("record: cannot write %s/manifest.json: %s", dir, strerror(-err));
	summary(m, dir, alive);
	err = err || incomplete || unfinished || packed ? MT_EXIT_INTERNAL : 0;
	free(incomplete);
	return err;
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

/* --pid: processes that run already. */
static int record_process(const struct mt_args *a)
{
	const pid_t pid = (pid_t)strtol(mt_args_nth(a, "pid", 0), NULL, 10);
	struct mt_processes all = { 0 };
	pid_t failed = pid;
	const uint64_t duration = mt_args_has(a, "duration") ? mt_args_duration_ns(a, "duration") : 0;
	const struct sigaction act = { .sa_handler = on_interrupt };
	char *path = mt_printf("/proc/%d/cmdline", pid), *cmdline, *exe = NULL, *dir = NULL, *argv[256];
	const struct mt_backend *backend = NULL;
	struct mt_args b = *a;		/* with the command of the process */
	struct mt_probe probe;
	void *session = NULL;
	json_t *m = NULL;
	size_t n = 0;
	uint64_t begin;
	int rc = 0, err;
	bool lives;

	mt_probe_run_for(&probe, requested(a), mt_args_has(a, "exact"));
	cmdline = mt_read_file(path, &n);
	free(path);
	if (!cmdline || !n) {
		rc = mt_fail(a, MT_EXIT_INPUT, "there is no process %d, or it has no program", pid);
		goto out;
	}
	b.argc = 0;
	for (size_t i = 0; i < n && b.argc < 255; i += strlen(cmdline + i) + 1)
		argv[b.argc++] = cmdline + i;
	argv[b.argc] = NULL;
	b.argv = argv;
	backend = choose(a, &probe, NULL, &rc);
	if (!backend)
		goto out;
	path = mt_printf("/proc/%d/exe", pid);
	exe = realpath(path, NULL);
	free(path);
	dir = make_directory(a, exe ? exe : argv[0], &rc);
	if (!dir)
		goto out;
	rc = reserve(a, dir);
	if (rc)
		goto out;
	rc = open_session(a, backend, dir, false, &session);
	if (rc) {
		remove_directory(dir);
		goto out;
	}
	m = first_manifest(&b, &probe, dir, exe ? exe : argv[0], backend);
	err = mt_manifest_write(dir, m);
	for (int i = 0; mt_args_nth(a, "pid", i); i++)
		mt_processes_add(&all, (pid_t)strtol(mt_args_nth(a, "pid", i), NULL, 10));
	if (!err)
		err = attach_all(a, backend, session, &all, &failed);
	if (!err)
		err = backend->start(session);
	if (err) {
		remove_directory(dir);
		rc = mt_fail(a, MT_EXIT_INPUT, "process %d cannot be recorded: %s", failed, strerror(-err));
		goto out;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	if (all.n == 1)
		mt_note("recording process %d%s", pid, duration ? "" : "; Ctrl-C ends it");
	else
		mt_note("recording %zu processes%s", all.n, duration ? "" : "; Ctrl-C ends it");
	begin = mt_monotonic_ns();
	while (!interrupted && backend->alive(session) && (!duration || mt_monotonic_ns() - begin < duration))
		usleep(20000);
	lives = backend->alive(session) > 0;
	rc = end_recording(a, m, dir, backend, session, all.n > 1 ? (lives ? "the recording was ended, the processes go on" :
			   "the processes ended") : lives ? "the recording was ended, the process goes on" : "the process ended",
			   -1, false);
	session = NULL;
out:
	if (session)
		backend->finish(session, NULL);
	json_decref(m);
	mt_probe_free(&probe);
	free(all.pid);
	free(cmdline);
	free(exe);
	free(dir);
	return rc;
}

/* Ends like the program did, without a second core file. */
static void end_by_signal(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fflush(NULL);
	raise(sig);
}

/* --with: 0, or an exit code after a message; then the directory is gone. */
static int prepare_beside(const struct mt_args *a, const char *dir)
{
	char *folder = beside_folder(dir);
	const int err = mt_beside_prepare(beside, folder);
	int rc = 0;

	if (err) {
		remove_directory(dir);
		rc = mt_fail(a, MT_EXIT_INTERNAL, "cannot make %s: %s", folder, strerror(-err));
	}
	free(folder);
	return rc;
}

/*
 * After --with: memtrace join, in a process of its own, for the trace @dir and the archive of @program. What it says goes
 * to standard error, as standard output is the program's. Where it does not succeed, both traces are there all the same.
 */
static void join_beside(const char *dir, const char *program, const struct saved *saved)
{
	char *why, *archive = mt_beside_archive(beside, program, &why), *folder = beside_folder(dir), self[PATH_MAX];
	const bool alone = !strncmp(folder, dir, strlen(dir));
	char *memory = mt_strdup(pasted(dir)), *command;
	int status = -1;
	pid_t pid;

	if (!alone && archive) {	/* the other ranks may still run */
		*strrchr(folder, '/') = 0;
		free(memory);
		memory = mt_strdup(pasted(folder));
	}
	command = mt_printf("memtrace join %s %s", memory, archive ? pasted(archive) : "TRACE");
	if (!archive) {
		mt_note("%s, in %s; to join one of them: %s", why, typed(folder), command);
	} else if (!alone) {
		struct mt_job job;

		mt_job_detect(&job);
		if (job.rank == 0)
			mt_note("then: %s", command);
		mt_job_free(&job);
	} else {
		fflush(NULL);
		pid = mt_self(self) ? -1 : fork();
		if (!pid) {
			signals_give_back(saved);
			dup2(STDERR_FILENO, STDOUT_FILENO);
			if (!mt_user_become())
				execl(self, "memtrace", "join", mt_quiet ? "--quiet" : "--", mt_quiet ? "--" : typed(dir),
				      mt_quiet ? typed(dir) : typed(archive), mt_quiet ? typed(archive) : NULL, NULL);
			_exit(127);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			mt_note("both traces are there, and not joined; to do it: %s", command);
	}
	free(command);
	free(memory);
	free(archive);
	free(folder);
	free(why);
}

/* One run of a program. Exit code. */
static int record_program(const struct mt_args *a)
{
	char *program, *dir = NULL, *which = NULL, *text;
	const struct mt_backend *backend;
	const char *obstacle, *file;
	int code, status, rc = 0, sig = 0;
	struct rusage children;
	struct mt_probe probe;
	struct saved saved;
	void *session = NULL;
	json_t *m = NULL, *st;
	pid_t pid;

	program = mt_program_find(a->argv[0], &code);
	if (!program)
		return mt_fail(a, code, code == MT_EXIT_NOT_FOUND ? "%s: program not found" :
			       "%s: not an executable file", a->argv[0]);
	mt_probe_run_for(&probe, requested(a), mt_args_has(a, "exact"));
	backend = choose(a, &probe, program, &rc);
	if (!backend)
		goto out;
	obstacle = mt_program_obstacle(program, &which);
	if (obstacle && (backend->abilities & MT_ABILITY_ANY_PROGRAM || (backend->takes_static && mt_obstacle_is_static(obstacle)))) {
		mt_note("%s %s: its accesses are recorded, its allocations are not", which, obstacle);
	} else if (obstacle && backend->abilities & MT_ABILITY_ACCESSES) {
		rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "%s %s; it cannot be recorded (--backend none runs it all the same)",
			     which, obstacle);
		goto out;
	}
	if (mt_args_has(a, "physical") && geteuid())
		mt_note("physical addresses need root; they are recorded as 0");
	if (!mt_args_has(a, "as-root")) {
		const char *user = mt_user_lower_for_good();

		if (user) {
			mt_note("the program runs as %s, who called sudo; --as-root runs it as root", user);
			if (mt_traces(backend->library)) {	/* what works for him, not for root */
				mt_probe_free(&probe);
				mt_probe_run_for(&probe, requested(a), mt_args_has(a, "exact"));
			}
		}
	}
	free(zoom_spec);
	zoom_spec = mt_zoom_resolve(a, program, &rc);
	if (rc)
		goto out;
	if (mt_args_has(a, "with")) {
		beside = obstacle ? NULL : mt_beside_open(mt_args_get(a, "with"), program, mt_args_has(a, "libomp"), &text, &code);
		if (!beside) {
			rc = obstacle ? mt_fail(a, MT_EXIT_UNAVAILABLE, "--with %s: %s %s", mt_args_get(a, "with"), which, obstacle) :
					mt_fail(a, code, "%s", text);
			if (!obstacle)
				free(text);
			goto out;
		}
	}
	dir = make_directory(a, program, &rc);
	if (!dir)
		goto out;
	rc = reserve(a, dir);
	if (rc)
		goto out;
	rc = open_session(a, backend, dir, !obstacle, &session);
	if (rc) {
		remove_directory(dir);
		goto out;
	}
	rc = open_io(a, dir);
	if (!rc && beside)
		rc = prepare_beside(a, dir);
	if (rc)
		goto out;
	m = first_manifest(a, &probe, dir, program, backend);
	if (beside)
		json_object_set_new(m, "with", mt_beside_describe(beside));
	file = "manifest.json";
	rc = mt_manifest_write(dir, m);
	if (!rc) {
		file = "unrecorded.csv";
		rc = mt_unrecorded_create(dir);
	}
	if (!rc && windows.signal) {
		file = ".windows";
		rc = mt_windows_share(dir);
	}
	if (rc) {
		remove_directory(dir);
		rc = mt_fail(a, MT_EXIT_INTERNAL, "cannot write %s/%s: %s", dir, file, strerror(-rc));
		goto out;
	}
	sigprocmask(SIG_SETMASK, NULL, &saved.mask);
	own_program = true;
	signals_take(&saved);
	/* the loader would complain on the program's stderr about a 32-bit program, the runtime of a sanitizer end it */
	pid = start(a, &probe, dir, program, backend, !obstacle || !mt_obstacle_refuses_library(obstacle), &saved, session);
	if (pid < 0) {
		remove_directory(dir);
		rc = mt_fail(a, pid == -ENOENT ? MT_EXIT_NOT_FOUND : MT_EXIT_CANNOT_EXECUTE,
			     "%s: cannot be executed: %s", program, strerror(-pid));
		goto out;
	}
	if (session && backend->start) {
		code = backend->start(session);
		if (code)
			mt_error("record: no thread to write the accesses: %s; they are lost", strerror(-code));
	}
	memset(&children, 0, sizeof(children));
	status = wait_for(pid, &children);
	child_pid = 0;
	alarm(0);
	if (session && backend->ended)
		status = backend->ended(session, pid, status);

	st = json_object_get(m, "status");
	if (WIFSIGNALED(status)) {
		sig = WTERMSIG(status);
		text = mt_printf("killed by signal %d (%s)%s", sig, strsignal(sig),
				 killed && sig == SIGKILL ? " by the recorder, since it went on after SIGTERM" : "");
		json_object_set_new(st, "signal", json_integer(sig));
		if (killed && sig == SIGKILL)
			sig = SIGTERM;	/* how we end: as we were told */
		rc = 128 + sig;
	} else {
		rc = WEXITSTATUS(status);
		text = mt_printf("exited with code %d", rc);
		json_object_set_new(st, "exit_code", json_integer(rc));
	}
	/* that the trace is not complete is told, and stands in it; the exit code is the program's, as alone */
	end_recording(a, m, dir, backend, session, text, cpu_ns(&children), true);
	session = NULL;
	free(text);
	if (beside) {
		mt_beside_ended(beside);
		join_beside(dir, program, &saved);
	}
	if (sig)
		end_by_signal(sig);
out:
	close_io(NULL);
	mt_beside_free(beside);
	beside = NULL;
	if (session)
		backend->finish(session, NULL);
	json_decref(m);
	mt_probe_free(&probe);
	free(program);
	free(which);
	free(dir);
	return rc;
}

/* --host: the same on a node, whose trace comes here. */
static int record_on_host(const struct mt_args *a)
{
	const char *pid = mt_args_get(a, "pid");
	char *name = a->argc ? mt_strdup(a->argv[0]) : mt_printf("pid-%s", pid ? pid : "");
	int rc = MT_EXIT_USAGE, sig = 0;
	char *dir = make_directory(a, name, &rc);

	if (dir)
		rc = mt_remote_record(a, dir, typed(dir), &sig);
	free(name);
	free(dir);
	if (sig)
		end_by_signal(sig);
	return rc;
}

static int resume_from_host(const struct mt_args *a)
{
	int sig, rc = mt_remote_resume(a, mt_args_get(a, "resume"), &sig);

	if (sig)
		end_by_signal(sig);
	return rc;
}

/* One run, here or there. */
static int record_once(const struct mt_args *a)
{
	return mt_args_has(a, "host") ? record_on_host(a) : record_program(a);
}

static volatile sig_atomic_t no_further_run;

/* For the runs of --repeat: the recorder of the run gets what was sent to us alone, and there is no further run. */
static void stop_repeating(int sig, siginfo_t *si, void *uc)
{
	no_further_run = sig;
	forward(sig, si, uc);
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

/*
 * --repeat: one run after the other, each with a recorder process and a trace of its own. A run that fails does
 * not end the others, because the program may fail by chance; a signal does. The code of the first run that failed.
 */
static int record_repeatedly(const struct mt_args *a, int runs)
{
	static const int stopping[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_sigaction = stop_repeating, .sa_flags = SA_SIGINFO | SA_RESTART };
	const char *given = mt_args_get(a, "output");
	struct mt_job job;
	char *base;
	int rc = 0, number = 1;
	bool ranks;	/* all ranks of a run have one folder: the others may have made it */

	mt_job_detect(&job);
	ranks = in_job(&job);
	base = given && *given ? mt_strdup(given) : ranks ? mt_printf("%s.job-%s", mt_base(a->argv[0]), job.id) :
	       mt_printf("%s.memtrace", mt_base(a->argv[0]));
	mt_job_free(&job);
	for (int k = 1; given && *given && !ranks && k <= runs; k++) {
		char *name = repeat_name(base, k);

		if (!access(name, F_OK))
			rc = mt_fail(a, MT_EXIT_USAGE, "%s exists; a trace is never overwritten", name);
		free(name);
		if (rc)
			goto out;
	}
	for (size_t i = 0; i < N(stopping); i++)
		sigaction(stopping[i], &act, NULL);
	for (int k = 1; k <= runs && !no_further_run; k++, number++) {
		char *name = repeat_name(base, number);
		int status;
		pid_t pid;

		while (!(given && *given) && !ranks && !access(name, F_OK)) {
			free(name);
			name = repeat_name(base, ++number);
		}
		mt_note("run %d of %d", k, runs);
		fflush(NULL);
		pid = fork();
		if (pid < 0) {
			rc = mt_fail(a, MT_EXIT_INTERNAL, "cannot start run %d: %s", k, strerror(errno));
			free(name);
			break;
		}
		if (!pid) {
			for (size_t i = 0; i < N(stopping); i++)
				signal(stopping[i], SIG_DFL);
			repeat_output = name;
			exit(record_once(a));
		}
		child_pid = pid;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		child_pid = 0;
		free(name);
		if (WIFSIGNALED(status)) {
			free(base);
			for (size_t i = 0; i < N(stopping); i++)
				signal(stopping[i], SIG_DFL);
			end_by_signal(WTERMSIG(status));
			return 128 + WTERMSIG(status);
		}
		if (!rc)
			rc = WEXITSTATUS(status);
		if (WEXITSTATUS(status) == MT_EXIT_NOT_FOUND || WEXITSTATUS(status) == MT_EXIT_CANNOT_EXECUTE)
			break;
	}
	if (no_further_run && !rc)
		rc = 128 + no_further_run;
out:
	free(base);
	return rc;
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
	for (size_t i = 0; i < N(only); i++)
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

int cmd_record(const struct mt_args *a)
{
	char *why;
	int err;

	mt_quiet = mt_args_has(a, "quiet");
	if (mt_args_has(a, "pid") && a->argc)
		return mt_fail(a, MT_EXIT_USAGE, "--pid and a program exclude each other");
	if (mt_args_has(a, "tree") && !mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--tree needs --pid; the children of a program that is started are recorded anyway");
	if (mt_args_has(a, "duration") && !mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--duration needs --pid");
	if (mt_args_has(a, "exact") && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--exact cannot record a process that runs already");
	if (mt_args_has(a, "exact") && strcmp(mt_args_get(a, "exact"), "auto") && strcmp(mt_args_get(a, "backend"), "auto") &&
	    strcmp(mt_args_get(a, "exact"), mt_args_get(a, "backend")))
		return mt_fail(a, MT_EXIT_USAGE, "--exact=%s and --backend %s exclude each other", mt_args_get(a, "exact"),
			       mt_args_get(a, "backend"));
	if (mt_args_has(a, "windows") && !mt_args_has(a, "exact"))
		return mt_fail(a, MT_EXIT_USAGE, "--windows needs --exact");
	if (mt_args_has(a, "instructions") && !mt_args_has(a, "exact"))
		return mt_fail(a, MT_EXIT_USAGE, "--instructions needs --exact");
	if (!mt_windows_parse(mt_args_get(a, "windows"), &windows, &why)) {
		err = mt_fail(a, MT_EXIT_USAGE, "--windows %s", why);
		free(why);
		return err;
	}
	if (mt_args_has(a, "repeat") && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--repeat and --pid exclude each other");
	if (mt_args_has(a, "pid") && (mt_args_has(a, "follow") || mt_args_has(a, "skip")))
		return mt_fail(a, MT_EXIT_USAGE, "--follow and --skip choose among the programs that a program starts, not with --pid");
	if (mt_args_has(a, "io") && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--io cannot follow a process that runs already");
	if (mt_args_has(a, "with") && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--with cannot follow a process that runs already");
	if (mt_args_has(a, "with") && mt_args_has(a, "host"))
		return mt_fail(a, MT_EXIT_USAGE, "--with does not work with --host: record on the node itself");
	if (mt_args_has(a, "libomp") && !mt_args_has(a, "with"))
		return mt_fail(a, MT_EXIT_USAGE, "--libomp needs --with");
	if ((mt_args_has(a, "io-buffer") || mt_args_has(a, "io-user")) && !mt_args_has(a, "io"))
		return mt_fail(a, MT_EXIT_USAGE, "--io-buffer and --io-user need --io");
	if (mt_args_has(a, "zoom") && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--zoom cannot look into a process that runs already");
	if (mt_args_has(a, "zoom") && !can_zoom(a)) {
		char *names = names_of(MT_ABILITY_ZOOM);

		err = mt_fail(a, MT_EXIT_USAGE, "--zoom works with these backends only: %s", names);
		free(names);
		return err;
	}
	if (mt_args_has(a, "zoom-cpu") && !mt_args_has(a, "zoom"))
		return mt_fail(a, MT_EXIT_USAGE, "--zoom-cpu needs --zoom");
	if (check_pattern(a, "follow") || check_pattern(a, "skip"))
		return MT_EXIT_USAGE;
	err = check_host(a);
	if (err)
		return err;
	if (mt_args_has(a, "resume"))
		return resume_from_host(a);
	if (getenv(MT_NODE_SHOWN))
		on_node = getppid();
	if (mt_args_has(a, "pid"))
		return mt_args_has(a, "host") ? record_on_host(a) : record_process(a);
	if (!a->argc)
		return mt_fail(a, MT_EXIT_USAGE, "which program? see 'memtrace help record'");
	return mt_args_has(a, "repeat") ? record_repeatedly(a, (int)mt_args_int(a, "repeat")) : record_once(a);
}
