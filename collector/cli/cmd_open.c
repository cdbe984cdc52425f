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
#include "cli/table/args.h"
#include "cli/java.h"
#include "cli/table/native.h"
#include "cli/base/self.h"
#include "cli/base/util.h"

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
#define PROTOCOL "memtrace-open/2"
#define ANSWER_SECONDS 5
#define MAX_WORKBENCHES 9	/* as in Application.java */
#define REFUSAL_MAX 128

/* Options that say what is shown of the last trace; the workbench has them with one dash. */
static const char *const shown[] = { "from", "to", "filter", "view", "structure" };

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
 * the name of a trace in the catalogue, or its address on a server.
 */
static char *trace(const char *given)
{
	char *path = realpath(given, NULL);

	return path || (strchr(given, '/') && !mt_is_server(given)) ? path : strdup(given);
}

/* The address of the socket of the @nth workbench, from 1; false when there cannot be one. */
static bool socket_address(const char *state, int nth, struct sockaddr_un *to)
{
	const char *home = getenv("XDG_STATE_HOME");
	const struct passwd *user;
	char suffix[16] = "";
	int n;

	if (nth > 1)
		snprintf(suffix, sizeof suffix, "-%d", nth);
	memset(to, 0, sizeof *to);
	to->sun_family = AF_UNIX;
	if (state) {
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/" SOCKET, state);
	} else if (home && *home) {
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/memtrace/workbench%s/" SOCKET, home, suffix);
	} else {
		user = getpwuid(getuid());	/* as Java's user.home */
		if (!user)
			return false;
		n = snprintf(to->sun_path, sizeof to->sun_path, "%s/.local/state/memtrace/workbench%s/" SOCKET,
			     user->pw_dir, suffix);
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
 * Lets the @nth workbench do what @args say. False when there is none, or it has
 * another catalogue or display, is busy or being closed: then @refusal, where it
 * is still empty, becomes the reason.
 */
static bool hand_over(const char *state, int nth, const char *catalogue, char **args, int n, char refusal[REFUSAL_MAX])
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un to;
	char answer[REFUSAL_MAX];
	size_t got = 0;
	bool sent;
	int fd, i;

	if (!socket_address(state, nth, &to))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (connect(fd, (struct sockaddr *)&to, sizeof to)) {
		close(fd);
		return false;
	}
	sent = send_text(fd, PROTOCOL) && send_text(fd, getenv("DISPLAY")) &&
	       send_text(fd, getenv("WAYLAND_DISPLAY")) && send_text(fd, catalogue);
	for (i = 0; sent && i < n; i++)
		sent = send_text(fd, args[i]);
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
	answer[strcspn(answer, "\n")] = '\0';
	if (!strcmp(answer, "ok"))
		return true;
	if (!*refusal)
		snprintf(refusal, REFUSAL_MAX, "%s", *answer ? answer : "the workbench that runs does not answer");
	return false;
}

/* The same with all workbenches that there can be, the first one first; with @state only that one. */
static bool hand_over_to_any(const char *state, const char *catalogue, char **args, int n, char refusal[REFUSAL_MAX])
{
	int nth;

	for (nth = 1; nth <= (state ? 1 : MAX_WORKBENCHES); nth++)
		if (hand_over(state, nth, catalogue, args, n, refusal))
			return true;
	return false;
}

/* The place of the catalogue as the workbench has it, a directory or the address of a server: empty when nothing names one. */
static const char *catalogue_place(const char *given)
{
	const char *place = getenv("MEMTRACE_CATALOGUE"), *home = getenv("MEMTRACE_HOME");
	static char path[PATH_MAX];

	if (!given)
		given = place && *place ? place : home && *home ? home : "";
	return *given && realpath(given, path) ? path : given;
}

int cmd_open(const struct mt_args *a)
{
	char script[PATH_MAX], java[PATH_MAX], refusal[REFUSAL_MAX] = "";
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	const char *catalogue = mt_args_get(a, "catalogue"), *state = mt_args_get(a, "state");
	bool is_new = mt_args_has(a, "new");
	static char **args;	/* lives until exec or the end of the process */
	int i, n = 0, first, rc;

	args = calloc((size_t)a->argc + 2 * sizeof shown / sizeof *shown + 7, sizeof *args);
	if (!args)
		return mt_fail(a, MT_EXIT_INTERNAL, "out of memory");
	args[n++] = script;
	args[n++] = (char *)"-new";	/* the program does not ask again; left out below */
	if (state) {
		args[n++] = (char *)"-data";
		args[n++] = (char *)state;
	}
	if (catalogue) {
		args[n++] = (char *)"-catalogue";
		args[n++] = (char *)catalogue;
	}
	first = n;
	for (i = 0; i < (int)(sizeof shown / sizeof *shown); i++) {
		static char names[sizeof shown / sizeof *shown][16];

		if (!mt_args_has(a, shown[i]))
			continue;
		snprintf(names[i], sizeof names[i], "-%s", shown[i]);
		args[n++] = names[i];
		args[n++] = (char *)mt_args_get(a, shown[i]);
	}
	for (i = 0; i < a->argc; i++) {
		args[n] = trace(a->argv[i]);
		if (!args[n])
			return mt_fail(a, MT_EXIT_INPUT, "%s: %s", a->argv[i], strerror(errno));
		n++;
	}
	if (!(display && *display) && !(wayland && *wayland))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "there is no display; 'memtrace render' and 'memtrace summary' work without");
	if (!is_new && hand_over_to_any(state, catalogue_place(catalogue), args + first, n - first, refusal)) {
		mt_note("the workbench that runs shows it; --new starts another one");
		return MT_EXIT_OK;
	}
	for (i = 0; !a->argc && i < (int)(sizeof shown / sizeof *shown); i++)
		if (mt_args_has(a, shown[i]))
			return mt_fail(a, MT_EXIT_USAGE, "--%s needs a TRACE: no workbench runs that shows one", shown[i]);
	if (!find_script(script))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "the workbench is not beside memtrace; "
			       "in a checkout use './memtrace open', which builds it, elsewhere set MEMTRACE_WORKBENCH");
	rc = mt_find_java(java);
	if (rc)
		return rc;
	setenv("MEMTRACE_JAVA", java, 1);
	if (*refusal)
		mt_note("a new workbench starts, because %s", refusal);
	if (!is_new && !*refusal) {
		args[1] = script;	/* nobody was there yet; one that starts at this moment is asked by the workbench itself */
		args++;
	}
	execv(script, args);
	return mt_fail(a, MT_EXIT_UNAVAILABLE, "cannot run %s: %s", script, strerror(errno));
}
