/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * cmd_on_node.c - the part of `record --host` that works on the node: runs the recorder so that a lost connection
 * does not end it, passes signals on, and sends the trace. on_node.h has the folder and the stream.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/base/self.h"
#include "cli/table/native.h"
#include "cli/remote/on_node.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define DETACH (SIGRTMIN + 1)	/* to `run`: the connection is gone, even if nothing has told you */

static char *in(const char *folder, const char *name)
{
	return mt_printf("%s/%s", folder, name);
}

/* ------------------------------------------------------------------ run */

/* What the program writes on one of its outputs. */
struct channel {
	int from, to;
	char *spool;		/* file for what comes when nobody is there */
	uint64_t dropped;	/* bytes for which it had no room */
	size_t last;		/* what may still be read when the recorder has ended: its children may write on */
	char data[64 << 10];
	size_t at, end;
};

static int event_pipe[2] = { -1, -1 };

static void tell(int sig)
{
	const unsigned char c = (unsigned char)sig;
	int err = errno;

	(void)!write(event_pipe[1], &c, 1);
	errno = err;
}

/* The recorder, in a session and a process group of its own. Pid. */
static pid_t start_recorder(const char *folder, char **word, size_t n, const int out[2], const int err[2])
{
	char self[PATH_MAX], *trace = in(folder, "trace");
	char **argv = mt_alloc((n + 6) * sizeof(*argv));
	size_t k = 0;
	pid_t pid;

	argv[k++] = (char *)"memtrace";
	argv[k++] = (char *)"record";
	argv[k++] = (char *)"-o";
	argv[k++] = trace;
	for (size_t i = 2; i < n; i++)
		argv[k++] = word[i];
	pid = fork();
	if (!pid) {
		for (int s = 1; s < NSIG; s++)
			signal(s, SIG_DFL);
		setsid();
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (mt_self(self))
			_exit(MT_EXIT_INTERNAL);
		setenv(MT_NODE_SHOWN, word[1], 1);
		/* the first bash below sshd reads ~/.bashrc: that was the shell of the user, the program is not it */
		if (atoi(getenv("SHLVL") ? getenv("SHLVL") : "0") < 1)
			setenv("SHLVL", "1", 1);
		if (*word[0] && chdir(word[0])) {
			mt_error("record: cannot work in %s of the node: %s", word[0], strerror(errno));
			_exit(MT_EXIT_INPUT);
		}
		if (*word[0])
			setenv("PWD", word[0], 1);
		execv(self, argv);
		mt_error("record: cannot run %s: %s", self, strerror(errno));
		_exit(MT_EXIT_CANNOT_EXECUTE);
	}
	free(argv);
	free(trace);
	return pid;
}

/* Has the other end been closed? */
static bool broken(int fd, int wait_ms)
{
	struct pollfd p = { fd, 0, 0 };

	return poll(&p, 1, wait_ms) > 0 && p.revents & (POLLERR | POLLNVAL);
}

static ssize_t put(int fd, const char *data, size_t n)
{
	ssize_t r = send(fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (r < 0 && errno == ENOTSOCK)		/* a pipe that can be written takes as much at once */
		r = write(fd, data, n < 4096 ? n : 4096);
	return r;
}

/* Nobody is there. -1: not even a file can be made. */
static void spool(struct channel *c)
{
	if (c->to >= 0 && c->to <= 2)
		c->to = open(c->spool, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void drop(struct channel *c)
{
	c->dropped += c->end - c->at;
	c->at = c->end;
}

static void pass(struct channel *c, const struct channel *other, bool *gone)
{
	const bool live = c->to <= 2;
	const ssize_t n = live ? put(c->to, c->data + c->at, c->end - c->at) : write(c->to, c->data + c->at, c->end - c->at);

	if (n >= 0) {
		c->at += (size_t)n;
	} else if (errno == EAGAIN || errno == EINTR) {
		return;
	} else if (!live) {
		drop(c);
	} else if (broken(other->to, 200)) {
		*gone = true;
	} else {	/* only this one is not read any more, as by head: the program gets SIGPIPE */
		if (c->from >= 0)
			close(c->from);
		c->from = -1;
		c->at = c->end;
	}
}

static void take(struct channel *c)
{
	const ssize_t n = read(c->from, c->data, sizeof(c->data) < c->last ? sizeof(c->data) : c->last);

	c->at = 0;
	c->end = n > 0 ? (size_t)n : 0;
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(c->from);
		c->from = -1;
	}
}

/*
 * Until the recorder has ended and all it wrote was passed on. Signals of `on-node signal` go to it: those of
 * Ctrl-C and Ctrl-\ to the whole group, as a terminal does. The status of wait().
 */
static int relay(pid_t pid, struct channel *c)
{
	bool gone = false, ended = false, done;
	int status = 0;

	do {
		struct pollfd p[5] = { { event_pipe[0], POLLIN, 0 } };
		bool full = false;
		unsigned char s;

		for (int i = 0; i < 2; i++) {
			bool waits;

			if (gone)
				spool(&c[i]);
			if (c[i].to < 0)
				drop(&c[i]);
			waits = c[i].at < c[i].end;
			full |= waits;
			p[1 + i] = (struct pollfd){ waits ? -1 : c[i].from, POLLIN, 0 };
			p[3 + i] = (struct pollfd){ waits ? c[i].to : -1, POLLOUT, 0 };
		}
		if (poll(p, 5, !ended ? -1 : full ? 1000 : 0) < 0) {
			done = errno != EINTR;
			continue;
		}
		done = ended && !full;
		while (p[0].revents && read(event_pipe[0], &s, 1) == 1) {
			done = false;
			if (s == SIGCHLD && !ended)
				ended = waitpid(pid, &status, WNOHANG) == pid;
			else if (s == DETACH)
				gone = true;
			else if (!ended && kill(s == SIGINT || s == SIGQUIT ? -pid : pid, s))
				kill(pid, s);	/* it has no group of its own yet */
		}
		for (int i = 0; i < 2; i++) {
			if (p[3 + i].revents)
				pass(&c[i], &c[!i], &gone);
			if (p[1 + i].revents) {
				take(&c[i]);
				if (ended)
					c[i].last -= c[i].end;
				done &= c[i].from < 0 || !c[i].last;
			}
		}
	} while (!done);
	return status;
}

static int write_text(const char *folder, const char *name, const char *text)
{
	struct mt_newfile f;
	int err = mt_newfile(&f, folder, name);

	if (err)
		return err;
	fputs(text, f.f);
	return mt_newfile_commit(&f);
}

static int run(const struct mt_args *a, const char *folder)
{
	static const int told[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	static struct channel c[2];
	struct sigaction act = { .sa_handler = tell, .sa_flags = SA_RESTART };
	char *path = in(folder, "args"), *text, **word;
	size_t len = 0, n = 0;
	int out[2], err[2], lock, status;
	pid_t pid;

	text = mt_read_file(path, &len);
	free(path);
	word = mt_alloc((len + 1) * sizeof(*word));
	for (size_t i = 0; i < len; i += strlen(text + i) + 1)
		word[n++] = text + i;
	if (n < 3)
		return mt_fail(a, MT_EXIT_INPUT, "%s is not a folder of record --host", folder);
	path = in(folder, "lock");
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (lock < 0 || flock(lock, LOCK_EX))
		return mt_fail(a, MT_EXIT_INPUT, "%s: cannot be locked: %s", folder, strerror(errno));
	if (pipe2(event_pipe, O_CLOEXEC | O_NONBLOCK) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		return mt_fail(a, MT_EXIT_INTERNAL, "cannot make a pipe: %s", strerror(errno));
	sigemptyset(&act.sa_mask);
	sigprocmask(SIG_SETMASK, &act.sa_mask, NULL);
	sigfillset(&act.sa_mask);
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		sigaction(told[i], &act, NULL);
	sigaction(DETACH, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	path = mt_printf("%d", (int)getpid());
	status = write_text(folder, "pid", path);
	free(path);
	if (status)
		return mt_fail(a, MT_EXIT_INTERNAL, "cannot write into %s: %s", folder, strerror(-status));
	pid = start_recorder(folder, word, n, out, err);
	if (pid < 0)
		return mt_fail(a, MT_EXIT_INTERNAL, "cannot start the recorder: %s", strerror(errno));
	close(out[1]);
	close(err[1]);
	close(0);
	open("/dev/null", O_RDONLY);	/* the input is the program's */
	c[0] = (struct channel){ .from = out[0], .to = 1, .last = 1 << 20, .spool = in(folder, "out") };
	c[1] = (struct channel){ .from = err[0], .to = 2, .last = 1 << 20, .spool = in(folder, "err") };
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	status = relay(pid, c);
	path = mt_printf("%s%d %" PRIu64, WIFSIGNALED(status) ? "s" : "", WIFSIGNALED(status) ? WTERMSIG(status) :
			 WEXITSTATUS(status), c[0].dropped + c[1].dropped);
	n = write_text(folder, "exit", path) ? 1 : 0;
	free(path);
	free(text);
	free(word);
	free(c[0].spool);
	free(c[1].spool);
	return n ? MT_EXIT_INTERNAL : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --------------------------------------------------------------- signal */

/* To `on-node run` of this folder, if it runs now. Was it sent? */
static bool signal_run(const char *folder, int sig)
{
	char *path = in(folder, "lock"), *pid;
	const int lock = open(path, O_RDWR | O_CLOEXEC);
	bool sent = false;

	free(path);
	if (lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		path = in(folder, "pid");
		pid = mt_read_line(path);
		sent = pid && atoi(pid) > 1 && !kill(atoi(pid), sig);
		free(pid);
		free(path);
	}
	if (lock >= 0)
		close(lock);
	return sent;
}

/* The same, but it may be about to begin. */
static bool signal_soon(const char *folder, int sig)
{
	char *end = in(folder, "exit");
	bool sent = false;

	for (int i = 0; i < 200 && !sent && !mt_exists(end); i++) {
		sent = signal_run(folder, sig);
		if (!sent)
			usleep(50000);
	}
	free(end);
	return sent;
}

/* ----------------------------------------------------------------- send */

struct entry {
	char *path;		/* in the folder */
	uint64_t size;
};

struct entries {
	struct entry *v;
	size_t n, cap;
};

static void add(struct entries *e, const char *path, uint64_t size)
{
	MT_GROW(e->v, e->n, e->cap);
	e->v[e->n++] = (struct entry){ mt_strdup(path), size };
}

/* Regular files below a folder. */
static void list(const char *folder, const char *below, struct entries *e)
{
	char *path = in(folder, below);
	DIR *d = opendir(path);
	struct dirent *f;

	while (d && (f = readdir(d))) {
		char *name = mt_printf("%s/%s", below, f->d_name);
		struct stat st;

		if (strcmp(f->d_name, ".") && strcmp(f->d_name, "..") && !fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
			if (S_ISDIR(st.st_mode))
				list(folder, name, e);
			else if (S_ISREG(st.st_mode))
				add(e, name, (uint64_t)st.st_size);
		}
		free(name);
	}
	if (d)
		closedir(d);
	free(path);
}

/* The manifest is the last: with it, a trace is one. */
static int in_order(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	const int last = !strcmp(a->path, "trace/manifest.json") - !strcmp(b->path, "trace/manifest.json");

	return last ? last : strcmp(a->path, b->path);
}

static uint64_t size_there(const struct entries *there, const char *path)
{
	for (size_t i = 0; i < there->n; i++)
		if (!strcmp(there->v[i].path, path))
			return there->v[i].size;
	return 0;
}

/* Processes that still write: of the program, and the recorder where `on-node run` was killed. */
static size_t alive(const char *trace)
{
	size_t n, yes;
	char **v = mt_trace_images(trace, &n), *path = mt_printf("%s/manifest.json", trace);
	json_t *m = json_load_file(path, 0, NULL), *recorder = json_object_get(m, "recorder");

	yes = recorder && mt_image_alive(recorder);
	json_decref(m);
	free(path);

	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(trace, v[i]);

		yes += j && mt_image_alive(j);
		json_decref(j);
	}
	mt_names_free(v, n);
	return yes;
}

/* One file from @from on, and its sum. False: the connection is gone. */
static bool send_file(const char *folder, const struct entry *e, uint64_t from)
{
	static char data[64 << 10];
	char *path = in(folder, e->path);
	FILE *f = fopen(path, "re");
	uLong crc = crc32(0, NULL, 0);
	uint64_t done = 0;
	size_t n;

	free(path);
	if (!f)
		return printf("L %s: %s%c", e->path, strerror(errno), 0) > 0;
	if (from < e->size)
		printf("F %" PRIu64 " %" PRIu64 " %s%c", from, e->size - from, e->path, 0);
	while (done < e->size && (n = fread(data, 1, e->size - done < sizeof(data) ? e->size - done : sizeof(data), f)) > 0) {
		const size_t skip = done >= from ? 0 : from - done < n ? from - done : n;

		crc = crc32(crc, (const Bytef *)data, (uInt)n);
		fwrite(data + skip, 1, n - skip, stdout);
		done += n;
	}
	fclose(f);
	if (done < e->size)	/* the length was promised */
		return false;
	printf("S %" PRIx64 " %lx %s%c", e->size, crc, e->path, 0);
	return !fflush(stdout);
}

static int send_all(const struct mt_args *a, const char *folder)
{
	struct entries there = { 0 }, here = { 0 };
	char *path = in(folder, "lock"), *text, *trace = in(folder, "trace"), *line = NULL;
	const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t total = 0;
	size_t cap = 0, n;

	free(path);
	while (getdelim(&line, &cap, 0, stdin) > 0) {
		text = strchr(line, ' ');
		if (text)
			add(&there, text + 1, strtoull(line, NULL, 10));
	}
	free(line);
	if (lock < 0)
		return mt_fail(a, MT_EXIT_INPUT, "%s is not a folder of record --host", folder);
	printf("%s\n", MT_NODE_HELLO);
	fflush(stdout);
	signal_run(folder, DETACH);
	flock(lock, LOCK_SH);	/* waits for the end of the recording */
	path = in(folder, "exit");
	text = mt_read_line(path);
	free(path);
	printf("X %s%c", text ? text : "?", 0);
	free(text);
	n = alive(trace);
	if (n) {
		printf("A %zu%c", n, 0);
		return fflush(stdout) ? MT_EXIT_INTERNAL : 0;
	}
	mt_quiet = true;
	if (mt_exists(trace))
		mt_finish_before(trace);
	list(folder, "trace", &here);
	for (int i = 0; i < 2; i++) {
		struct stat st;

		path = in(folder, i ? "err" : "out");
		if (!stat(path, &st))
			add(&here, i ? "err" : "out", (uint64_t)st.st_size);
		free(path);
	}
	if (here.n)
		qsort(here.v, here.n, sizeof(*here.v), in_order);
	for (size_t i = 0; i < here.n; i++) {
		const uint64_t had = size_there(&there, here.v[i].path);

		total += had <= here.v[i].size ? here.v[i].size - had : here.v[i].size;
	}
	printf("T %" PRIu64 "%c", total, 0);
	for (size_t i = 0; i < here.n; i++) {
		const uint64_t had = size_there(&there, here.v[i].path);

		if (!send_file(folder, &here.v[i], had <= here.v[i].size ? had : 0))
			return MT_EXIT_INTERNAL;
	}
	printf("E %zu%c", here.n, 0);
	for (size_t i = 0; i < here.n; i++)
		free(here.v[i].path);
	for (size_t i = 0; i < there.n; i++)
		free(there.v[i].path);
	free(here.v);
	free(there.v);
	free(trace);
	close(lock);
	return fflush(stdout) ? MT_EXIT_INTERNAL : 0;
}

int cmd_on_node(const struct mt_args *a)
{
	const char *what = a->argv[0], *folder = a->argv[1];

	if (!strcmp(what, "run"))
		return run(a, folder);
	if (!strcmp(what, "send"))
		return send_all(a, folder);
	if (!strcmp(what, "signal") && a->argc == 3) {
		signal_soon(folder, atoi(a->argv[2]));
		return 0;
	}
	return mt_fail(a, MT_EXIT_USAGE, "%s is not run, send or signal", what);
}
