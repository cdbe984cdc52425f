/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace open: hands the traces over to the workbench that runs, else replaces
 * this process by a workbench.
 *
 * A workbench listens at a socket in the directory of its state. What is sent
 * and answered stands in org.memtrace.views/.../OpenRequests.java.
 *
 * The workbench is the product of releng/org.memtrace.product: the folder
 * $MEMTRACE_WORKBENCH, or the one that this program stands in, or workbench or
 * ../workbench beside it; it has the script memtrace-workbench.
 */
#include "args.h"
#include "java.h"
#include "native.h"
#include "util.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SCRIPT "memtrace-workbench"
#define SOCKET "open.socket"
#define PROTOCOL "memtrace-open/1"
#define ANSWER_SECONDS 5

static bool find_script(char path[PATH_MAX])
{
	static const char *const beside[] = { ".", "workbench", "../workbench", "../lib/memtrace/workbench", NULL };
	const char *env = getenv("MEMTRACE_WORKBENCH");
	char self[PATH_MAX];
	int i, n;

	if (env && *env) {
		n = snprintf(path, PATH_MAX, "%s/" SCRIPT, env);
		return n > 0 && n < PATH_MAX && !access(path, X_OK);
	}
	if (mt_self(self))
		return false;
	for (i = 0; beside[i]; i++) {
		n = snprintf(path, PATH_MAX, "%.*s/%s/" SCRIPT, (int)(strrchr(self, '/') - self), self, beside[i]);
		if (n > 0 && n < PATH_MAX && !access(path, X_OK))
			return true;
	}
	return false;
}

/*
 * The workbench remembers traces: paths become absolute. What is no path may be
 * the name of a trace in the catalogue.
 */
static char *trace(const char *given)
{
	char *path = realpath(given, NULL);

	return path || strchr(given, '/') ? path : strdup(given);
}

/* The address of the workbench's socket; false when there cannot be one. */
static bool socket_address(const char *state, struct sockaddr_un *to)
{
	const char *home = getenv("XDG_STATE_HOME");
	const struct passwd *user;
	int n;

	memset(to, 0, sizeof *to);
	to->sun_family = AF_UNIX;
	if (state) {
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/" SOCKET, state);
	} else if (home && *home) {
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/memtrace/workbench/" SOCKET, home);
	} else {
		user = getpwuid(getuid());	/* as Java's user.home */
		if (!user)
			return false;
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/.local/state/memtrace/workbench/" SOCKET, user->pw_dir);
	}
	return n > 0 && (size_t)n < sizeof to->sun_path;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

/* A text and the NUL behind it; NULL is an empty one. */
static bool send_text(int fd, const char *text)
{
	return send_all(fd, text ? text : "", (text ? strlen(text) : 0) + 1);
}

/*
 * Lets the running workbench show the traces. False when there is none, or it
 * has another catalogue or display, is busy or being closed.
 */
static bool hand_over(const char *state, const char *catalogue, char **traces, int n)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un to;
	char answer[128];
	size_t got = 0;
	bool sent;
	int fd, i;

	if (!socket_address(state, &to))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	sent = !connect(fd, (struct sockaddr *)&to, sizeof to) && send_text(fd, PROTOCOL) &&
	       send_text(fd, getenv("DISPLAY")) && send_text(fd, getenv("WAYLAND_DISPLAY")) && send_text(fd, catalogue);
	for (i = 0; sent && i < n; i++)
		sent = send_text(fd, traces[i]);
	if (sent && !shutdown(fd, SHUT_WR)) {
		while (got < sizeof answer - 1) {
			ssize_t r = recv(fd, answer + got, sizeof answer - 1 - got, 0);

			if (r < 0 && errno == EINTR)
				continue;
			if (r <= 0)
				break;
			got += (size_t)r;
		}
	}
	close(fd);
	answer[got] = '\0';
	return !strcmp(answer, "ok\n");
}

/* The directory of the catalogue as the workbench has it: empty when nothing names one. */
static const char *catalogue_directory(const char *given)
{
	const char *home = getenv("MEMTRACE_HOME");
	static char path[PATH_MAX];

	if (!given)
		given = home && *home ? home : "";
	return *given && realpath(given, path) ? path : given;
}

int cmd_open(const struct mt_args *a)
{
	char script[PATH_MAX], java[PATH_MAX];
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	const char *catalogue = mt_args_get(a, "catalogue"), *state = mt_args_get(a, "state");
	static char **args;	/* lives until exec or the end of the process */
	int i, n = 0, first, rc;

	args = calloc((size_t)a->argc + 6, sizeof *args);
	if (!args)
		return mt_fail(a, MT_EXIT_INTERNAL, "out of memory");
	args[n++] = script;
	if (state) {
		args[n++] = (char *)"-data";
		args[n++] = (char *)state;
	}
	if (catalogue) {
		args[n++] = (char *)"-catalogue";
		args[n++] = (char *)catalogue;
	}
	first = n;
	for (i = 0; i < a->argc; i++) {
		args[n] = trace(a->argv[i]);
		if (!args[n])
			return mt_fail(a, MT_EXIT_INPUT, "%s: %s", a->argv[i], strerror(errno));
		n++;
	}
	if (!(display && *display) && !(wayland && *wayland))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "there is no display; 'memtrace render' and 'memtrace summary' work without");
	if (!mt_args_has(a, "new") && hand_over(state, catalogue_directory(catalogue), args + first, n - first)) {
		mt_note("the workbench that runs shows it; --new starts another one");
		return MT_EXIT_OK;
	}
	if (!find_script(script))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "the workbench is not beside memtrace; "
			       "in a checkout use './memtrace open', which builds it, elsewhere set MEMTRACE_WORKBENCH");
	rc = mt_find_java(java);
	if (rc)
		return rc;
	setenv("MEMTRACE_JAVA", java, 1);
	execv(script, args);
	return mt_fail(a, MT_EXIT_UNAVAILABLE, "cannot run %s: %s", script, strerror(errno));
}
