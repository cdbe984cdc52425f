/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* gitstate.c - whether the sources around a recording are those of the commit that the manifest names. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gitstate.h"
#include "util.h"

static void run_git(const char *directory, int out)
{
	/* it takes no lock of the repository and starts nothing that the repository names */
	const char *const argv[] = { "git", "--no-optional-locks", "-C", directory, "-c", "core.fsmonitor=false", "status", "--porcelain",
				     "--untracked-files=no", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 2);
	}
	dup2(out, 1);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

int64_t mt_git_modified(const char *directory, int milliseconds)
{
	const uint64_t begin = mt_monotonic_ns();
	int64_t lines = 0;
	int fds[2], status;
	bool ended = false;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	if (!pid)
		run_git(directory, fds[1]);
	close(fds[1]);
	while (!ended) {
		const int64_t left = milliseconds - (int64_t)((mt_monotonic_ns() - begin) / 1000000);
		struct pollfd p = { .fd = fds[0], .events = POLLIN };
		char text[4096];
		ssize_t n;

		if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
			break;
		if (!p.revents)
			continue;
		n = read(fds[0], text, sizeof(text));
		for (ssize_t i = 0; i < n; i++)
			lines += text[i] == '\n';
		ended = n == 0;
		if (n < 0 && errno != EINTR)
			break;
	}
	close(fds[0]);
	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ended && WIFEXITED(status) && !WEXITSTATUS(status) ? lines : -1;
}
