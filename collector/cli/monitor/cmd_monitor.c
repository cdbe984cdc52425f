/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace monitor: counters on the places of the machine, live and as a trace. The
 * parts stand beside it; here is the run: the program, the clock, the terminal. One thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/monitor/listing.h"
#include "cli/monitor/output.h"
#include "cli/monitor/run.h"
#include "cli/monitor/table.h"
#include "cli/monitor/times.h"
#include "cli/table/native.h"
#include "cli/base/processes.h"
#include "cli/base/program.h"
#include "cli/base/user.h"
#include "cli/base/util.h"

#define TABLE_NS 100000000ull		/* the table is drawn ten times a second at most */

/* Without -f: the load of each PU and the memory of each node. */
static const char built_in[] =
	"cpuload { OBJ:=PU; PERF_LIB:=proc; EVSET:=cpuload; EVSET_REDUCE:=$0; MIN:=0; MAX:=1; }\n"
	"memused { OBJ:=NUMANode; PERF_LIB:=proc; EVSET:=memused, memtotal; EVSET_REDUCE:=$0/$1; MIN:=0; MAX:=1; }\n";

struct run {
	const struct mt_args *a;
	struct mon_context context;
	struct mon_set set;
	struct mon_trace *trace;
	hwloc_bitmap_t running;		/* PUs on which the program runs, with --running-only */
	uint64_t begin_ns, period_ns, due_ns;
	int pid_fd, signal_fd, gate;
	bool child, ended, tty, lines, table, quit;
	int status;			/* of the child */
	struct termios terminal;
	uint64_t drawn_ns, missed;
	struct mon_times period, late, cost;
	uint64_t last_ns;		/* of the sample before */
	int error;
};

/* ---- the program */

static void add_running(void *running, pid_t pid, pid_t tid)
{
	int cpu = mt_thread_running(pid, tid);

	if (cpu >= 0)
		hwloc_bitmap_set(running, (unsigned int)cpu);
}

/* The program and what it started, as far as it is alive, and the PUs on which its threads run right now. */
static void find_tree(struct run *r)
{
	struct mon_context *c = &r->context;

	if (!r->ended || !c->tree.n) {
		c->tree.n = 0;
		mt_processes_add(&c->tree, c->pid);
		if (r->running)
			hwloc_bitmap_zero(r->running);
		mt_processes_below(&c->tree, r->running ? add_running : NULL, r->running);
	} else if (r->running) {
		hwloc_bitmap_zero(r->running);
	}
}

/* CPUs that the process may use, all of its threads; an empty set when it cannot be told. */
static hwloc_bitmap_t allowed(pid_t pid)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
	struct mt_threads t;

	mt_threads_open(&t, pid);
	for (pid_t tid; (tid = mt_threads_next(&t));) {
		char text[8192], *at;

		at = mt_thread_file(pid, tid, "status", text, sizeof(text)) ? strstr(text, "\nCpus_allowed_list:") : NULL;
		if (!at)
			continue;
		at += strlen("\nCpus_allowed_list:");
		at += strspn(at, " \t");
		at[strcspn(at, "\n")] = 0;
		if (!hwloc_bitmap_list_sscanf(one, at))
			hwloc_bitmap_or(all, all, one);
	}
	hwloc_bitmap_free(one);
	return all;
}

/* Starts the program, which waits until the counters are there. 0 or an exit code after a message. */
static int start(struct run *r, hwloc_const_bitmap_t bind)
{
	int gate[2], code = 0, err;
	char *program = mt_program_find(r->a->argv[0], &code);
	sigset_t none;
	pid_t pid;

	if (!program)
		return code;
	if (pipe2(gate, O_CLOEXEC))
		return mt_fail(r->a, MT_EXIT_INTERNAL, "cannot start %s: %s", program, strerror(errno));
	sigemptyset(&none);
	pid = fork();
	if (pid < 0)
		return mt_fail(r->a, MT_EXIT_INTERNAL, "cannot start %s: %s", program, strerror(errno));
	if (!pid) {
		char c;

		close(gate[1]);
		while (read(gate[0], &c, 1) < 0 && errno == EINTR)
			;
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (bind)
			hwloc_set_cpubind(r->context.topology, bind, HWLOC_CPUBIND_PROCESS);
		err = -mt_user_become();
		if (!err) {
			execv(program, r->a->argv);
			err = errno;
		}
		if (err == ENOEXEC) {		/* a script without #!, as the shell does */
			char **v = mt_alloc(((size_t)r->a->argc + 3) * sizeof(*v));

			v[0] = (char *)"sh";
			v[1] = program;
			memcpy(v + 2, r->a->argv + 1, (size_t)r->a->argc * sizeof(*v));
			execv("/bin/sh", v);
		}
		_exit(err == ENOENT ? MT_EXIT_NOT_FOUND : MT_EXIT_CANNOT_EXECUTE);
	}
	close(gate[0]);
	free(program);
	r->gate = gate[1];
	r->context.pid = pid;
	r->context.starts = true;
	r->child = true;
	return 0;
}

static void reap(struct run *r)
{
	while (waitpid(r->context.pid, &r->status, 0) < 0 && errno == EINTR)
		;
	r->ended = true;
}

/* ---- the terminal */

static void terminal_begin(struct run *r)
{
	struct termios t;

	if (!r->table || tcgetattr(STDIN_FILENO, &r->terminal))
		return;
	r->tty = true;
	t = r->terminal;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

static void terminal_end(struct run *r)
{
	if (r->table)
		fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (r->tty)
		tcsetattr(STDIN_FILENO, TCSANOW, &r->terminal);
}

static void terminal_size(int *rows, int *columns)
{
	struct winsize w;
	const char *c = getenv("COLUMNS");

	*rows = 24;
	*columns = c && atoi(c) > 20 ? atoi(c) : 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col) {
		*rows = w.ws_row;
		*columns = w.ws_col;
	}
}

static void draw(struct run *r, bool last)
{
	uint64_t now = mt_monotonic_ns();
	int rows, columns;
	char status[200], achieved[32];

	if (!r->table && !r->lines)
		return;
	terminal_size(&rows, &columns);
	if (r->lines) {
		mon_table_lines(&r->set, stdout, columns, 8);
		return;
	}
	if (!last && now - r->drawn_ns < TABLE_NS)
		return;
	r->drawn_ns = now;
	snprintf(achieved, sizeof(achieved), "%s", mt_human_ns(r->period.count ? (uint64_t)(r->period.sum / (double)r->period.count) : 0));
	snprintf(status, sizeof(status), "memtrace monitor   sample %" PRIu64 "   %.1f s   period %s, achieved %s   q quits",
		 r->context.sample, (double)r->context.now_ns * 1e-9, mt_human_ns(r->period_ns), achieved);
	mon_table_draw(&r->set, stdout, rows, columns, status);
}

/* ---- samples */

static void sample(struct run *r)
{
	uint64_t begin = mt_monotonic_ns(), end;

	r->context.now_ns = begin - r->begin_ns;
	if (r->context.pid)
		find_tree(r);
	mon_set_update(&r->set, r->running);
	if (r->context.sample && r->trace && !r->error)
		r->error = mon_trace_sample(r->trace);
	end = mt_monotonic_ns();
	mon_times_add(&r->cost, end - begin);
	if (r->context.sample && !r->ended)
		mon_times_add(&r->period, begin - r->last_ns);
	r->last_ns = begin;
	if (r->context.sample)
		draw(r, false);
	r->context.sample++;
}

/* Waits until @due_ns (0: for ever) and sees to signals, keys and the end of the program. */
static void wait_until(struct run *r, uint64_t due_ns)
{
	for (;;) {
		uint64_t now = mt_monotonic_ns();
		uint64_t left = due_ns > now ? due_ns - now : 0;
		struct timespec t = { .tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u) };
		struct pollfd p[3] = {
			{ .fd = r->signal_fd, .events = POLLIN },
			{ .fd = r->ended ? -1 : r->pid_fd, .events = POLLIN },
			{ .fd = r->tty ? STDIN_FILENO : -1, .events = POLLIN },
		};
		int n = ppoll(p, 3, due_ns ? &t : NULL, NULL);
		struct signalfd_siginfo s;
		char key;

		if (n == 0)
			return;
		if (n < 0 && errno != EINTR)
			return;
		if (p[0].revents & POLLIN && read(r->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
			/* Ctrl-C reaches the program as well, and it decides; the monitors end with it */
			if (!r->child)
				r->quit = true;
			else if (s.ssi_code != SI_KERNEL)
				kill(r->context.pid, (int)s.ssi_signo);
		}
		if (p[1].revents) {
			if (r->child)
				reap(r);
			r->ended = true;
		}
		if (p[2].revents && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q'))
			r->quit = true;
		if (r->quit || r->ended)
			return;
	}
}

static void loop(struct run *r)
{
	uint64_t most = mt_args_has(r->a, "samples") ? (uint64_t)mt_args_int(r->a, "samples") : UINT64_MAX;
	uint64_t end = mt_args_has(r->a, "duration") ? mt_args_duration_ns(r->a, "duration") : UINT64_MAX;
	bool periodic = r->period_ns || mt_args_has(r->a, "period");

	r->begin_ns = mt_monotonic_ns();
	sample(r);			/* the beginning: what happens after it counts */
	if (r->child) {
		if (r->gate >= 0)
			close(r->gate);
		r->gate = -1;
	}
	r->due_ns = r->begin_ns;
	while (!r->ended && !r->quit && r->context.sample <= most) {
		uint64_t now = mt_monotonic_ns(), until = end == UINT64_MAX ? 0 : r->begin_ns + end;

		r->due_ns += r->period_ns;
		if (periodic && r->period_ns && r->due_ns < now) {
			uint64_t behind = (now - r->due_ns) / r->period_ns + 1;

			r->missed += behind;
			r->due_ns += behind * r->period_ns;
		}
		if (!periodic)
			wait_until(r, until);
		else if (!until || r->due_ns < until)
			wait_until(r, r->period_ns ? r->due_ns : 1);
		else
			wait_until(r, until);
		now = mt_monotonic_ns();
		if (until && now >= until)
			r->quit = true;
		else if (periodic && r->period_ns && !r->ended && !r->quit)
			mon_times_add(&r->late, now > r->due_ns ? now - r->due_ns : 0);
		sample(r);		/* at the end what there was since the last one */
	}
}

/* The samples of a recorded trace, one after the other, without waiting. */
static void replay(struct run *r)
{
	uint64_t ns = 0;

	sample(r);
	while (!r->quit && r->set.clock->next(&r->context, &ns)) {
		struct pollfd p = { .fd = r->signal_fd, .events = POLLIN };

		r->context.now_ns = ns;
		mon_set_update(&r->set, NULL);
		if (r->trace && !r->error)
			r->error = mon_trace_sample(r->trace);
		if (r->lines)
			draw(r, false);
		r->context.sample++;
		if (r->context.sample % 1024 == 0 && poll(&p, 1, 0) > 0)
			r->quit = true;
	}
}

static void quartiles(const char *what, struct mon_times *t)
{
	struct mon_quartiles q = mon_times_quartiles(t);
	char least[32], q1[32], median[32], mean[32], q3[32], most[32];

	snprintf(least, sizeof(least), "%s", mt_human_ns(q.least));
	snprintf(q1, sizeof(q1), "%s", mt_human_ns(q.q1));
	snprintf(median, sizeof(median), "%s", mt_human_ns(q.median));
	snprintf(mean, sizeof(mean), "%s", mt_human_ns((uint64_t)q.mean));
	snprintf(q3, sizeof(q3), "%s", mt_human_ns(q.q3));
	snprintf(most, sizeof(most), "%s", mt_human_ns(q.most));
	mt_note("monitor: %-16s %10s %10s %10s %10s %10s %10s", what, least, q1, median, mean, q3, most);
}

static void report(struct run *r)
{
	double seconds = (double)r->context.now_ns * 1e-9;

	mt_note("monitor: %" PRIu64 " sample%s of %zu monitor%s in %.3f s%s", r->context.sample - 1, r->context.sample == 2 ? "" : "s",
		r->set.n, r->set.n == 1 ? "" : "s", seconds, r->set.clock ? " of the trace" : "");
	if (r->set.clock)
		return;
	if (r->period.count) {
		mt_note("monitor: %-16s %10s %10s %10s %10s %10s %10s", "", "least", "1st quart.", "median", "mean", "3rd quart.", "most");
		quartiles("achieved period", &r->period);
		if (r->late.count)
			quartiles("late by", &r->late);
	}
	if (r->cost.count > 2) {
		quartiles("cost of a sample", &r->cost);
		if (seconds > 0)
			mt_note("monitor: that is %.3f %% of one processor", 100e-9 * r->cost.sum / seconds);
	}
	if (r->missed)
		mt_note("monitor: %" PRIu64 " periods were missed: the processor was busy, or a sample takes longer than a period", r->missed);
}

/* ---- other things than a run */

static int list(struct run *r)
{
	if (mt_args_json(r->a))
		mon_listing_json(&r->context, built_in, stdout);
	else
		mon_listing_text(&r->context, stdout);
	return MT_EXIT_OK;
}

/* Tells whether the definitions are right. */
static int check(struct run *r, struct mon_file *file)
{
	bool right = !file->error[0] && mon_set_check(file, &r->context);

	if (mt_args_json(r->a)) {
		mon_check_json(file, stdout);
		return right ? MT_EXIT_OK : MT_EXIT_INPUT;
	}
	if (!right)
		return mt_fail(r->a, MT_EXIT_INPUT, "%s", file->error);
	printf("%s: %zu monitor%s of %d\n", file->path, file->n, file->n == 1 ? "" : "s", (int)file->generation);
	return MT_EXIT_OK;
}

/* The text of a restriction: L3:0, or Package:0..1; NULL after a message. */
static hwloc_bitmap_t restriction(struct run *r, const char *text)
{
	char *file = mt_printf("r { OBJ:=%s; EVSET:=x; REDUCTION:=$0; }", text);
	struct mon_file *f = mon_file_parse("--restrict", file, strlen(file));
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	const struct mon_definition *d = f->def;
	hwloc_obj_type_t type;
	union hwloc_obj_attr_u attr;

	memset(&attr, 0, sizeof(attr));
	if (!f->error[0] && !hwloc_type_sscanf(d->object, &type, &attr, sizeof(attr)))
		for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(r->context.topology, type, o));)
			if (d->object_first < 0 || ((int)o->logical_index >= d->object_first && (int)o->logical_index <= d->object_last))
				hwloc_bitmap_or(set, set, o->cpuset);
	if (hwloc_bitmap_iszero(set)) {
		mt_fail(r->a, MT_EXIT_USAGE, "--restrict %s: there is no such place here; examples are Package:0 and PU:0..3", text);
		hwloc_bitmap_free(set);
		set = NULL;
	}
	mon_file_free(f);
	free(file);
	return set;
}

static void more_files(void)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l)) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* ---- the command */

static enum mon_generation format_of(const struct mt_args *a, const struct mon_file *f)
{
	const char *text = mt_args_get(a, "trace-format");

	return !strcmp(text, "auto") ? f->generation : (enum mon_generation)strtol(text, NULL, 10);
}

static int usage(const struct mt_args *a)
{
	if (a->argc && mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "a program and --pid exclude each other");
	if (mt_args_has(a, "running-only") && mt_args_has(a, "whole-machine"))
		return mt_fail(a, MT_EXIT_USAGE, "--running-only and --whole-machine exclude each other");
	if (mt_args_has(a, "running-only") && !a->argc && !mt_args_has(a, "pid"))
		return mt_fail(a, MT_EXIT_USAGE, "--running-only needs a program or --pid");
	if (mt_args_has(a, "replay") && (a->argc || mt_args_has(a, "pid")))
		return mt_fail(a, MT_EXIT_USAGE, "--replay computes from a trace: no program runs");
	if (mt_args_json(a) && !mt_args_has(a, "list") && !mt_args_has(a, "check"))
		return mt_fail(a, MT_EXIT_USAGE, "--json is for --list and --check; -o writes values");
	if (mt_args_has(a, "pid") && kill((pid_t)mt_args_int(a, "pid"), 0) && errno == ESRCH)
		return mt_fail(a, MT_EXIT_INPUT, "there is no process %lld", mt_args_int(a, "pid"));
	return MT_EXIT_OK;
}

/* Which PUs are watched: NULL for all. */
static int watched(struct run *r, hwloc_bitmap_t *keep, hwloc_bitmap_t *bind)
{
	*keep = *bind = NULL;
	if (mt_args_has(r->a, "restrict")) {
		*bind = restriction(r, mt_args_get(r->a, "restrict"));
		if (!*bind)
			return MT_EXIT_USAGE;
		*keep = hwloc_bitmap_dup(*bind);
	}
	if (r->context.this_machine && !mt_args_has(r->a, "whole-machine") && (r->a->argc || r->context.pid)) {
		hwloc_bitmap_t may = allowed(r->context.pid ? r->context.pid : getpid());

		if (!hwloc_bitmap_iszero(may)) {
			if (*keep)
				hwloc_bitmap_and(*keep, *keep, may);
			else
				*keep = hwloc_bitmap_dup(may);
		}
		hwloc_bitmap_free(may);
	}
	return MT_EXIT_OK;
}

static int run(struct run *r, struct mon_file *file)
{
	const struct mt_args *a = r->a;
	const char *text = mt_args_get(a, "text"), *output = mt_args_get(a, "output");
	bool own_files = false, to_terminal = isatty(STDOUT_FILENO);
	hwloc_bitmap_t keep, bind;
	char *names = NULL;
	int rc = watched(r, &keep, &bind);

	if (!rc && r->a->argc) {
		if (!mt_args_has(a, "as-root"))
			mt_user_lower_for_good();
		rc = start(r, bind);
	}
	if (!rc && r->context.pid)
		r->pid_fd = (int)syscall(SYS_pidfd_open, r->context.pid, 0);
	if (!rc) {
		mt_user_raise();
		rc = mon_set_make(&r->set, file, &r->context, keep);
		mt_user_lower();
	}
	if (!rc && mt_args_has(a, "replay") && !r->set.clock)
		rc = mt_fail(a, MT_EXIT_INPUT, "no monitor of %s has the source trace, so --replay has nothing to compute", file->path);
	for (size_t i = 0; i < file->n; i++)
		own_files |= file->def[i].file && file->generation == MON_2017;
	if (!rc && (output || own_files)) {
		r->trace = mon_trace_open(&r->set, output, format_of(a, file));
		if (!r->trace)
			rc = MT_EXIT_INPUT;
		else
			mon_trace_machine(r->trace);	/* what cannot be written is told with the first sample */
	}
	hwloc_bitmap_free(keep);
	hwloc_bitmap_free(bind);
	if (rc) {
		if (r->child && r->gate >= 0) {	/* not started yet: it never will be */
			kill(r->context.pid, SIGKILL);
			reap(r);
		}
		return rc;
	}
	r->table = !strcmp(text, "table") || (!strcmp(text, "auto") && to_terminal && !output && !a->argc && !r->set.clock);
	r->lines = !strcmp(text, "lines") || (!strcmp(text, "auto") && !to_terminal && !output && !a->argc && !r->set.clock);
	if (r->table && !to_terminal) {
		r->table = false;
		r->lines = true;
	}
	if (mt_args_has(a, "running-only"))
		r->running = hwloc_bitmap_alloc();
	if (r->table)
		fputs("\033[?1049h\033[?25l", stdout);
	terminal_begin(r);
	prctl(PR_SET_TIMERSLACK, 1ul);
	if (r->set.clock)
		replay(r);
	else
		loop(r);
	terminal_end(r);
	if (r->quit && r->child && !r->ended) {		/* q: the program goes on to its end */
		mt_note("monitor: the program runs on; its exit code is waited for");
		reap(r);
	}
	if (r->trace && (mon_trace_close(r->trace, &names) || r->error))
		rc = MT_EXIT_INTERNAL;
	if (r->table || (!output && strcmp(text, "none") != 0 && !r->lines))
		mon_table_end(&r->set, r->child ? stderr : stdout);	/* standard output is the program's */
	report(r);
	if (names && *names)
		mt_note("monitor: trace: %s", names);
	free(names);
	if (r->child)
		rc = WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status) ? WEXITSTATUS(r->status) : rc;
	return rc;
}

int cmd_monitor(const struct mt_args *a)
{
	struct run r = { .a = a, .pid_fd = -1, .gate = -1, .signal_fd = -1 };
	const char *path = mt_args_get(a, "file");
	struct mon_file *file = NULL;
	bool only_list = mt_args_has(a, "list");
	sigset_t signals, before;
	int rc = usage(a);

	mt_quiet = mt_args_has(a, "quiet");
	if (rc)
		return rc;
	if (!only_list) {
		file = path ? mon_file_read(path) : mon_file_parse("built-in", built_in, strlen(built_in));
		if (file->error[0] && !mt_args_has(a, "check")) {
			rc = mt_fail(a, MT_EXIT_INPUT, "%s", file->error);
			mon_file_free(file);
			return rc;
		}
	}
	if (hwloc_topology_init(&r.context.topology) || hwloc_topology_set_all_types_filter(r.context.topology, HWLOC_TYPE_FILTER_KEEP_ALL) ||
	    hwloc_topology_load(r.context.topology))
		return mt_fail(a, MT_EXIT_INTERNAL, "hwloc cannot tell the topology: %s", strerror(errno));
	r.context.this_machine = hwloc_topology_is_thissystem(r.context.topology);
	r.context.running_only = mt_args_has(a, "running-only");
	r.context.pid = mt_args_has(a, "pid") ? (pid_t)mt_args_int(a, "pid") : 0;
	r.context.trace = mt_args_has(a, "replay") ? mt_args_get(a, "replay") : getenv("MONITOR_TRACE_PATH");
	r.period_ns = mt_args_has(a, "period") ? mt_args_duration_ns(a, "period") : a->argc ? 0 : 100000000;
	if (only_list) {
		rc = list(&r);
	} else if (mt_args_has(a, "check")) {
		rc = check(&r, file);
	} else {
		sigemptyset(&signals);
		sigaddset(&signals, SIGINT);
		sigaddset(&signals, SIGTERM);
		sigaddset(&signals, SIGHUP);
		sigprocmask(SIG_BLOCK, &signals, &before);
		r.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
		more_files();
		rc = run(&r, file);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	mon_set_free(&r.set);
	if (file)
		mon_file_free(file);
	hwloc_bitmap_free(r.running);
	hwloc_topology_destroy(r.context.topology);
	free(r.context.tree.pid);
	free(r.period.ns);
	free(r.late.ns);
	free(r.cost.ns);
	return rc;
}
