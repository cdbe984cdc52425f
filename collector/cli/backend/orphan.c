/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/backend/orphan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/settings.h"
#include "cli/base/util.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define OLD_NS 10000000000ull	/* who waits for orphans now and then has done it by then; as in preload/monitor/monitor.c */

#define STACK_BYTES 16384

/* Both processes run in our memory, which has much to copy: on stacks of their own, while we wait for what they tell. */
struct making {
	int tell[2];
	pid_t parent;		/* of the orphan */
	char stack[2][STACK_BYTES] __attribute__((aligned(16)));
};

/* In the orphan: waits until its parent is gone, and tells who it has now. */
static int be_orphan(void *arg)
{
	struct making *m = arg;
	pid_t now;

	while (getppid() == m->parent)
		usleep(100);
	now = getppid();
	(void)!write(m->tell[1], &now, sizeof(now));
	return 0;
}

static int make_it(void *arg)
{
	struct making *m = arg;
	pid_t orphan;

	m->parent = getpid();
	orphan = clone(be_orphan, m->stack[1] + STACK_BYTES, CLONE_VM | SIGCHLD, m);
	/* before the orphan, which waits for our end */
	(void)!write(m->tell[1], &orphan, sizeof(orphan));
	return 0;
}

/* Makes an orphan, which ends at once. Its process id, and who takes it; 0: it could not be made, or is taken by who is not seen here. */
static pid_t make_orphan(pid_t *reaper)
{
	struct making *m = mt_alloc(sizeof(*m));
	pid_t child, orphan = 0;
	int status;

	*reaper = 0;
	if (pipe2(m->tell, O_CLOEXEC)) {
		free(m);
		return 0;
	}
	child = clone(make_it, m->stack[0] + STACK_BYTES, CLONE_VM | SIGCHLD, m);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	close(m->tell[1]);
	if (read(m->tell[0], &orphan, sizeof(orphan)) != sizeof(orphan) || orphan <= 0 ||
	    read(m->tell[0], reaper, sizeof(*reaper)) != sizeof(*reaper) || *reaper <= 0)
		*reaper = orphan = 0;
	/* it has no memory of ours any more when its end of the pipe is closed */
	(void)!read(m->tell[0], &status, 1);
	close(m->tell[0]);
	if (*reaper == getpid())
		waitpid(orphan, &status, 0);
	free(m);
	return orphan;
}

/* Is the process a zombie of ours, a child of @reaper that has not been waited for since long? */
static bool is_left(pid_t pid, pid_t reaper)
{
	char *path = mt_printf("/proc/%d/stat", (int)pid), *stat = mt_read_file(path, NULL);
	const char *parent = stat && strstr(stat, " (memtrace) Z ") ? mt_stat_field(stat, 4) : NULL;
	const char *ticks = parent ? mt_stat_field(stat, 22) : NULL;	/* since boot */
	bool yes = false;

	if (ticks && strtol(parent, NULL, 10) == reaper) {
		struct timespec now;

		clock_gettime(CLOCK_BOOTTIME, &now);
		yes = strtoull(ticks, NULL, 10) * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK)) + OLD_NS <
		      (uint64_t)now.tv_sec * 1000000000ull;
	}
	free(stat);
	free(path);
	return yes;
}

/* Is there one? Among the children of @reaper, where the kernel lists them, else among all processes. */
static bool are_left(pid_t reaper)
{
	char *path = mt_printf("/proc/%d/task/%d/children", (int)reaper, (int)reaper), *list = mt_read_file(path, NULL), *end;
	DIR *d = list ? NULL : opendir("/proc");
	bool found = false;

	for (char *at = list; at && !found; at = end) {
		const long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		found = is_left((pid_t)pid, reaper);
	}
	for (struct dirent *e; d && !found && (e = readdir(d));)
		found = isdigit((unsigned char)e->d_name[0]) && is_left((pid_t)strtol(e->d_name, NULL, 10), reaper);
	if (d)
		closedir(d);
	free(list);
	free(path);
	return found;
}

/* What the monitor needs of the kernel, see live_apart() in preload/monitor/monitor.c. */
static const char *obstacle(void)
{
	const int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		return "the kernel has no pidfd_open (Linux 5.3), or a sandbox refuses it";
	close(fd);
	if (syscall(SYS_kcmp, getpid(), getpid(), 1 /* KCMP_VM */, 0, 0))
		return "the kernel has no kcmp (CONFIG_KCMP), or a sandbox refuses it";
	if (!mt_exists("/proc/self/schedstat"))
		return "the kernel does not tell the CPU time of threads (CONFIG_SCHED_INFO)";
	return NULL;
}

char *mt_orphan_setting(const char **why)
{
	const char *asked = getenv(MT_VARIABLE(MEMTRACE_MONITOR));
	pid_t orphan = 0, reaper = 0;
	struct stat st;

	if (asked && !strcmp(asked, "thread"))
		*why = "not asked for (MEMTRACE_MONITOR)";
	else
		*why = obstacle();
	if (!*why && stat("/proc/self/ns/pid", &st))
		*why = "/proc is not readable";
	if (!*why) {
		orphan = make_orphan(&reaper);
		if (!orphan)
			*why = "what takes orphans here is in another process namespace, or no process could be made";
		else if (reaper == getpid())
			*why = "memtrace itself takes orphans here (it is the first process of a container)";
		else if (are_left(reaper))
			*why = "nobody waits for orphans here (the first process of a container, without --init)";
	}
	return *why ? mt_strdup("thread") :
	       mt_printf("%d:%llu:%d:%llu", (int)reaper, (unsigned long long)st.st_ino, (int)orphan, (unsigned long long)mt_monotonic_ns());
}
