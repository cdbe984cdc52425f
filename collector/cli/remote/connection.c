/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * connection.c - see connection.h.
 */
#include "cli/remote/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/trace/tracedir.h"

/* ---------------------------------------------------- signals and processes */

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
#define N(a) (sizeof(a) / sizeof((a)[0]))

int mt_ssh_events[2] = { -1, -1 };
int mt_ssh_stop;

static void tell(int sig)
{
	const unsigned char c = (unsigned char)sig;
	int err = errno;

	(void)!write(mt_ssh_events[1], &c, 1);
	errno = err;
}

int mt_ssh_signals_take(void)
{
	struct sigaction act = { .sa_handler = tell, .sa_flags = SA_RESTART };

	if (pipe2(mt_ssh_events, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	sigfillset(&act.sa_mask);
	sigaction(SIGCHLD, &act, NULL);
	for (size_t i = 0; i < N(passed); i++)
		sigaction(passed[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void mt_ssh_signals_look(void)
{
	unsigned char s;

	while (read(mt_ssh_events[0], &s, 1) == 1)
		if (s != SIGCHLD && s != SIGUSR1 && s != SIGUSR2)
			mt_ssh_stop = s;
}

int mt_ssh_ready(int fd, short what, int wait_ms)
{
	for (;;) {
		struct pollfd p[2] = { { mt_ssh_events[0], POLLIN, 0 }, { fd, what, 0 } };
		const int n = poll(p, 2, wait_ms);

		mt_ssh_signals_look();
		if (mt_ssh_stop)
			return -EINTR;
		if (!n)
			return -ETIMEDOUT;
		if (n > 0 && p[1].revents)
			return 0;
	}
}

pid_t mt_ssh_spawn(const struct mt_ssh *s, const char *command, int in, int out, bool silent)
{
	pid_t pid = fork();
	size_t n = 0;
	char **argv;

	if (pid)
		return pid;
	if (in < 0 || out < 0 || silent) {
		const int null = open("/dev/null", O_RDWR);

		in = in < 0 ? null : in;
		out = out < 0 ? null : out;
		if (silent)
			dup2(null, 2);
	}
	dup2(in, 0);
	dup2(out, 1);
	/* ssh with a shared connection sets handlers for what was ignored, but leaves what is blocked */
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N(passed); i++) {
		signal(passed[i], SIG_IGN);
		sigaddset(&set, passed[i]);
	}
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (s->words[n])
		n++;
	argv = mt_alloc((n + 2) * sizeof(*argv));
	memcpy(argv, s->words, n * sizeof(*argv));
	argv[n] = (char *)command;
	execvp(argv[0], argv);
	mt_error("record: cannot run %s: %s", argv[0], strerror(errno));
	_exit(127);
}

int mt_ssh_join(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int mt_talk_begin(const struct mt_ssh *s, struct mt_talk *t, const char *command)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -EMFILE;
	}
	t->at = t->end = 0;
	t->pid = mt_ssh_spawn(s, command, in[0], out[1], false);
	close(in[0]);
	close(out[1]);
	t->in = in[1];
	t->out = out[0];
	fcntl(t->in, F_SETFL, O_NONBLOCK);
	return t->pid < 0 ? -EAGAIN : 0;
}

int mt_talk_put(void *talk, const void *data, size_t n)
{
	const struct mt_talk *t = talk;
	const char *p = data;

	while (n) {
		const int err = mt_ssh_ready(t->in, POLLOUT, -1);
		const ssize_t w = err ? 0 : write(t->in, p, n);

		if (err)
			return err;
		if (w < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		p += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

void mt_talk_said(struct mt_talk *t)
{
	close(t->in);
	t->in = -1;
}

int mt_talk_more(struct mt_talk *t)
{
	while (t->at == t->end) {
		const int err = mt_ssh_ready(t->out, POLLIN, -1);
		const ssize_t n = err ? 0 : read(t->out, t->data, sizeof(t->data));

		if (err)
			return err;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		t->at = 0;
		t->end = (size_t)n;
	}
	return 0;
}

char *mt_talk_text(struct mt_talk *t, char end, int *err)
{
	char *text = NULL;
	size_t n = 0, cap = 0;

	for (;;) {
		*err = mt_talk_more(t);
		if (*err || n > 1 << 20) {
			*err = *err ? *err : -EPROTO;
			free(text);
			return NULL;
		}
		MT_GROW(text, n, cap);
		text[n] = t->data[t->at++];
		if (text[n] == end)
			break;
		n++;
	}
	text[n] = 0;
	return text;
}

int mt_talk_end(struct mt_talk *t, bool now)
{
	if (t->in >= 0)
		close(t->in);
	if (now)
		kill(t->pid, SIGKILL);
	close(t->out);
	return mt_ssh_join(t->pid);
}

/* ---------------------------------------------------------- the connection */

static void add_word(char ***v, size_t *n, size_t *cap, const char *word)
{
	MT_GROW(*v, *n, *cap);
	(*v)[(*n)++] = word ? mt_strdup(word) : NULL;
}

void mt_ssh_open(struct mt_ssh *s, const char *host)
{
	static const char *const options[] = { "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4" };
	const char *env = getenv("MEMTRACE_SSH");
	char *copy = mt_strdup(env && *env ? env : "ssh"), *save = NULL, *path;
	char **check = NULL, **saved, place[] = "/tmp/memtrace-ssh-XXXXXX";
	size_t n = 0, cap = 0, checks = 0, check_cap = 0;
	pid_t pid;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		add_word(&s->words, &n, &cap, w);
		add_word(&check, &checks, &check_cap, w);
	}
	for (size_t i = 0; i < N(options); i++)
		add_word(&s->words, &n, &cap, options[i]);
	add_word(&check, &checks, &check_cap, "-O");
	add_word(&check, &checks, &check_cap, "check");
	add_word(&check, &checks, &check_cap, "--");
	add_word(&check, &checks, &check_cap, host);
	add_word(&check, &checks, &check_cap, NULL);
	saved = s->words;
	s->words = check;
	pid = mt_ssh_spawn(s, NULL, -1, -1, true);
	s->words = saved;
	if (pid > 0 && mt_ssh_join(pid) && mkdtemp(place)) {
		s->control = mt_strdup(place);
		path = mt_printf("ControlPath=%s/%%C", place);
		add_word(&s->words, &n, &cap, "-o");
		add_word(&s->words, &n, &cap, "ControlMaster=auto");
		add_word(&s->words, &n, &cap, "-o");
		add_word(&s->words, &n, &cap, "ControlPersist=60");
		add_word(&s->words, &n, &cap, "-o");
		add_word(&s->words, &n, &cap, path);
		free(path);
	}
	add_word(&s->words, &n, &cap, "--");
	add_word(&s->words, &n, &cap, host);
	add_word(&s->words, &n, &cap, NULL);
	mt_names_free(check, checks - 1);
	free(copy);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

void mt_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void mt_ssh_close(struct mt_ssh *s)
{
	size_t n = 0;
	pid_t pid;

	while (s->words && s->words[n])
		n++;
	if (s->control && n > 2) {
		char *host = s->words[n - 1], *dashes = s->words[n - 2];
		char **v = mt_alloc((n + 3) * sizeof(*v)), **saved = s->words;

		memcpy(v, saved, (n - 2) * sizeof(*v));
		v[n - 2] = (char *)"-O";
		v[n - 1] = (char *)"exit";
		v[n] = dashes;
		v[n + 1] = host;
		s->words = v;
		pid = mt_ssh_spawn(s, NULL, -1, -1, true);
		s->words = saved;
		if (pid > 0)
			mt_ssh_join(pid);
		free(v);
		mt_remove_tree(s->control);
	}
	if (s->words)
		mt_names_free(s->words, n);
	free(s->control);
	*s = (struct mt_ssh){ 0 };
}
