/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* gitstate.c - whether the sources around a recording are those of the commit that the manifest names. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/gitstate.h"
#include "cli/base/util.h"

#define MOST_FILTERS 256

/* Words of a command line; all are owned. */
struct words {
	char **v;
	size_t n, cap;
};

static void add(struct words *w, char *word)
{
	MT_GROW(w->v, w->n, w->cap);
	w->v[w->n++] = word;
}

static void drop(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	memset(w, 0, sizeof(*w));
}

/* What git takes from the environment instead of from @directory, and programs that it would start. In the child only. */
static void clean_environment(void)
{
	static const char *const local[] = {
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
		"GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_ATTR_SOURCE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		unsetenv(local[i]);
	/* what a partial clone lacks is not fetched; older versions have no word for it, but a list of protocols, none of them */
	setenv("GIT_NO_LAZY_FETCH", "1", 1);
	setenv("GIT_ALLOW_PROTOCOL", "none", 1);
	setenv("GIT_TERMINAL_PROMPT", "0", 1);
}

/* Starts git with these words about a folder. Its process and a descriptor of what it says; -1. */
static pid_t start(const struct words *w, int *from)
{
	int fds[2];
	pid_t pid;

	if (!w->v[0] || pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 2);
		}
		dup2(fds[1], 1);
		clean_environment();
		execvp(w->v[0], w->v);
		_exit(127);
	}
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	*from = fds[0];
	return pid;
}

/*
 * Runs git until @deadline (monotonic, ns) and gives what it says to @take, which returns false when it wants no more. Its exit
 * code; -1: none, or not all was taken.
 */
static int run(struct words *w, uint64_t deadline, bool (*take)(void *to, const char *text, size_t n), void *to)
{
	bool ended = false;
	int fd, status;
	pid_t pid;

	add(w, NULL);
	pid = start(w, &fd);
	if (pid < 0)
		return -1;
	while (!ended) {
		const int64_t left = ((int64_t)deadline - (int64_t)mt_monotonic_ns()) / 1000000;
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char text[4096];
		ssize_t n;

		if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
			break;
		if (!p.revents)
			continue;
		n = read(fd, text, sizeof(text));
		if (n > 0 && !take(to, text, (size_t)n))
			break;
		ended = n == 0;
		if (n < 0 && errno != EINTR)
			break;
	}
	close(fd);
	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The words by which git starts nothing of a repository, but for its filters, whose names are the repository's. */
static struct words git(const char *directory)
{
	static const char *const settings[] = {
		"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false", "credential.helper=",
		/* a folder of files that looks like a repository is none */
		"safe.bareRepository=explicit",
	};
	struct words w = { 0 };

	add(&w, mt_strdup("git"));
	add(&w, mt_strdup("--no-pager"));
	add(&w, mt_strdup("--no-optional-locks"));	/* no lock of the repository, nothing is written into it */
	add(&w, mt_strdup("-C"));
	add(&w, mt_strdup(directory));
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		add(&w, mt_strdup("-c"));
		add(&w, mt_strdup(settings[i]));
	}
	return w;
}

struct text {
	char *s;
	size_t n;
};

static bool keep(void *to, const char *text, size_t n)
{
	struct text *t = to;

	if (t->n + n > 1 << 20)
		return false;
	t->s = mt_resize(t->s, t->n + n + 1);
	memcpy(t->s + t->n, text, n);
	t->n += n;
	t->s[t->n] = 0;
	return true;
}

/* Adds to @w that each filter that any configuration of @directory names does nothing. False: not known. */
static bool without_filters(struct words *w, const char *directory, uint64_t deadline)
{
	struct words ask = git(directory);
	struct text t = { 0 };
	size_t n = 0;
	int code;

	add(&ask, mt_strdup("config"));
	add(&ask, mt_strdup("--null"));
	add(&ask, mt_strdup("--name-only"));
	add(&ask, mt_strdup("--get-regexp"));
	add(&ask, mt_strdup("^filter\\."));
	code = run(&ask, deadline, keep, &t);
	drop(&ask);
	/* 1: there is none */
	for (char *name = code == 0 ? t.s : NULL; name && name < t.s + t.n; name += strlen(name) + 1) {
		static const char *const nothing[] = { "clean=", "smudge=", "process=", "required=false" };
		const char *dot = strrchr(name, '.');

		/* a name with = would be cut there */
		if (!dot || strchr(name, '=') || ++n > MOST_FILTERS) {
			code = -1;
			break;
		}
		for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
			add(w, mt_strdup("-c"));
			add(w, mt_printf("%.*s.%s", (int)(dot - name), name, nothing[i]));
		}
	}
	free(t.s);
	return code == 0 || code == 1;
}

static bool count_lines(void *to, const char *text, size_t n)
{
	int64_t *lines = to;

	for (size_t i = 0; i < n; i++)
		*lines += text[i] == '\n';
	return true;
}

static bool pass_on(void *to, const char *text, size_t n)
{
	const int *fd = to;

	while (n) {
		const ssize_t w = write(*fd, text, n);

		if (w < 0 && errno != EINTR)
			return false;
		text += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return true;
}

int64_t mt_git_modified(const char *directory, int milliseconds)
{
	const uint64_t deadline = mt_monotonic_ns() + (uint64_t)milliseconds * 1000000;
	struct words w = git(directory);
	int64_t lines = 0;
	bool known;

	known = without_filters(&w, directory, deadline);
	add(&w, mt_strdup("status"));
	add(&w, mt_strdup("--porcelain"));
	add(&w, mt_strdup("--untracked-files=no"));
	/* else git runs in each submodule, with the filters of its configuration */
	add(&w, mt_strdup("--ignore-submodules=dirty"));
	known = known && run(&w, deadline, count_lines, &lines) == 0;
	drop(&w);
	return known ? lines : -1;
}

int mt_git_diff(const char *directory, int fd, int milliseconds)
{
	const uint64_t deadline = mt_monotonic_ns() + (uint64_t)milliseconds * 1000000;
	struct words w = git(directory);
	bool known;

	known = without_filters(&w, directory, deadline);
	add(&w, mt_strdup("diff"));
	add(&w, mt_strdup("--no-ext-diff"));
	add(&w, mt_strdup("--no-textconv"));
	add(&w, mt_strdup("--no-color"));
	add(&w, mt_strdup("--ignore-submodules=dirty"));
	add(&w, mt_strdup("HEAD"));
	known = known && run(&w, deadline, pass_on, &fd) == 0;
	drop(&w);
	return known ? 0 : -1;
}
