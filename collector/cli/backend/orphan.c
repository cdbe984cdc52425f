/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/backend/orphan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* In the orphan: waits until its parent is gone, and tells who it has now. */
static void be_orphan(pid_t parent, int tell)
{
	pid_t now;

	while (getppid() == parent)
		usleep(100);
	now = getppid();
	(void)!write(tell, &now, sizeof(now));
	_exit(0);
}

/* Makes an orphan, which ends at once. Its process id, and who takes it; 0: it could not be made, or is taken by who is not seen here. */
static pid_t make_orphan(pid_t *reaper)
{
	int tell[2], status;
	pid_t child, orphan = 0;

	*reaper = 0;
	if (pipe2(tell, O_CLOEXEC))
		return 0;
	child = fork();
	if (!child) {
		const pid_t parent = getpid(), other = fork();

		if (!other)
			be_orphan(parent, tell[1]);
		/* before the orphan, which waits for our end */
		(void)!write(tell[1], &other, sizeof(other));
		_exit(0);
	}
	close(tell[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (read(tell[0], &orphan, sizeof(orphan)) != sizeof(orphan) || orphan <= 0 ||
	    read(tell[0], reaper, sizeof(*reaper)) != sizeof(*reaper) || *reaper <= 0)
		*reaper = orphan = 0;
	close(tell[0]);
	if (*reaper == getpid())
		waitpid(orphan, &status, 0);
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
