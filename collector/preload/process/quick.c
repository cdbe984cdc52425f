// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/process/quick.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "common/rawsys.h"
#include "preload/ground/quiet.h"

#define ENOUGH 3		/* children one after the other that did not live long */
#define LOOK_FLAGS (1 | 4 | 0x01000000 | 0x40000000)	/* WNOHANG | WEXITED | WNOWAIT | __WALL */

/* Under the locks of a fork. */
static struct {
	int pid;		/* of the last child; 0: none yet */
	uint64_t children_ns;	/* CPU time of all that were waited for, when it was made */
	int in_turn;		/* children that were over before the next one, and had not worked for long */
} last;

static uint64_t cpu_of(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000ull +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* Of the children that somebody has waited for. */
static uint64_t children_ns(void)
{
	struct rusage u;

	return mt_sys(SYS_getrusage, RUSAGE_CHILDREN, &u) ? UINT64_MAX : cpu_of(&u);
}

/* Is it over, after less than MT_QUIET_WORKED_NS of work? It stays waitable for the program. */
static int was_quick(void)
{
	struct rusage u;
	siginfo_t info;
	long ret;

	memset(&info, 0, sizeof(info));
	ret = mt_sys(SYS_waitid, 1 /* P_PID */, last.pid, &info, LOOK_FLAGS, &u);
	if (ret == -ECHILD)	/* it has been waited for */
		return children_ns() - last.children_ns < MT_QUIET_WORKED_NS;
	return !ret && info.si_pid == last.pid && cpu_of(&u) < MT_QUIET_WORKED_NS;
}

int mt_quick_expected(void)
{
	if (!mt_quiet_may_count())
		return 0;
	if (last.pid)
		last.in_turn = was_quick() ? last.in_turn + 1 : 0;
	last.pid = 0;
	last.children_ns = children_ns();
	return last.in_turn >= ENOUGH;
}

void mt_quick_made(int pid)
{
	last.pid = pid;
}

void mt_quick_fork_child(void)
{
	memset(&last, 0, sizeof(last));
}
