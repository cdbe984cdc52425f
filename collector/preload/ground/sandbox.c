// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A filter cannot be read without privileges, and an answer of "kill" comes as death by SIGSYS. So
 * a child makes each call with arguments that the kernel refuses; the filter comes before that.
 * Filters that look at arguments may let these pass and kill the real ones: not found here.
 */
#include "preload/ground/sandbox.h"

#include <sched.h>

#include "common/rawsys.h"

/* those that mt_sys_mkdir() and mt_sys_readlink() make */
#ifdef SYS_mkdir
#define MKDIR SYS_mkdir
#define READLINK SYS_readlink
#else
#define MKDIR SYS_mkdirat
#define READLINK SYS_readlinkat
#endif

#define NOWHERE (-1)		/* a descriptor that there is not */
#define WALL 0x40000000		/* __WALL: the child sends no signal */

static const struct {
	short number;
	const char *obstacle;	/* NULL: needed to write anything at all */
	long a, b, c, d;
} calls[] = {
	{ SYS_openat, NULL, NOWHERE, 0, 0, 0 }, { MKDIR, NULL, 0, 0, 0, 0 }, { SYS_write, NULL, NOWHERE, 0, 0, 0 },
	{ SYS_read, NULL, NOWHERE, 0, 0, 0 }, { SYS_close, NULL, NOWHERE, 0, 0, 0 }, { SYS_fcntl, NULL, NOWHERE, 0, 0, 0 },
	{ SYS_fstat, NULL, NOWHERE, 0, 0, 0 }, { SYS_renameat, NULL, NOWHERE, 0, NOWHERE, 0 },
	{ READLINK, NULL, 0, 0, 0, 0 }, { SYS_prlimit64, NULL, 0, 4 /* RLIMIT_CORE */, 0, 0 },
	{ SYS_clock_gettime, NULL, 1, 0, 0, 0 }, { SYS_mmap, NULL, 0, 0, 0, 0 }, { SYS_munmap, NULL, 1, 0, 0, 0 },
	{ SYS_getpid, NULL, 0, 0, 0, 0 },
#define KILLS(name) "a seccomp filter kills processes that call " name "; the program runs unrecorded"
	{ SYS_userfaultfd, KILLS("userfaultfd"), -1, 0, 0, 0 },
	{ SYS_perf_event_open, KILLS("perf_event_open"), 0, 0, NOWHERE, NOWHERE },
	{ SYS_memfd_create, KILLS("memfd_create"), 0, 0, 0, 0 },
	{ SYS_ftruncate, KILLS("ftruncate"), NOWHERE, 0, 0, 0 }, { SYS_fallocate, KILLS("fallocate"), NOWHERE, 0, 0, 0 },
	{ SYS_lseek, KILLS("lseek"), NOWHERE, 0, 0, 0 }, { SYS_pread64, KILLS("pread"), NOWHERE, 0, 0, 0 },
	{ SYS_pwrite64, KILLS("pwrite"), NOWHERE, 0, 0, 0 }, { SYS_ioctl, KILLS("ioctl"), NOWHERE, 0, 0, 0 },
	{ SYS_getdents64, KILLS("getdents"), NOWHERE, 0, 0, 0 }, { SYS_readlinkat, KILLS("readlinkat"), NOWHERE, 0, 0, 0 },
	{ SYS_mprotect, KILLS("mprotect"), 0, 0, 0, 0 }, { SYS_madvise, KILLS("madvise"), 0, 0, 0, 0 },
	{ SYS_mremap, KILLS("mremap"), 1, 0, 0, 0 }, { SYS_move_pages, KILLS("move_pages"), 0, 0, 0, 0 },
	{ SYS_setpriority, KILLS("setpriority"), -1, 0, 0, 0 }, { SYS_close_range, KILLS("close_range"), 1, 0, 0, 0 },
	{ SYS_futex, KILLS("futex"), 0, FUTEX_WAKE, 0, 0 }, { SYS_sched_yield, KILLS("sched_yield"), 0, 0, 0, 0 },
	{ SYS_nanosleep, KILLS("nanosleep"), 0, 0, 0, 0 }, { SYS_gettid, KILLS("gettid"), 0, 0, 0, 0 },
	{ SYS_rt_sigprocmask, KILLS("rt_sigprocmask"), 0, 0, 0, 8 }, { SYS_prctl, KILLS("prctl"), -1, 0, 0, 0 },
	{ SYS_waitid, KILLS("waitid"), -1, 0, 0, 0 },
	{ SYS_clone, KILLS("clone for a thread"), CLONE_THREAD, 0, 0, 0 },	/* EINVAL without CLONE_SIGHAND */
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static int filtered(void)
{
	uint64_t mode;

	return !mt_proc_number("/proc/self/status", "\nSeccomp:", &mode) && mode == 2;
}

const char *mt_sandbox_obstacle(int *silent)
{
	const struct { uint64_t cur, max; } no_core = { 0, 0 };
	volatile uint32_t *at;
	const char *obstacle = NULL;
	int status = 0;
	long page, pid;

	*silent = 0;
	if (!filtered())
		return NULL;
	page = mt_sys(SYS_mmap, 0, MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, NOWHERE, 0);
	if (mt_failed(page))
		return NULL;
	at = (volatile uint32_t *)page;
	pid = mt_sys(SYS_clone, 0, 0, 0, 0, 0);
	if (!pid) {
		mt_sys(SYS_prlimit64, 0, 4 /* RLIMIT_CORE */, &no_core, 0);
		for (; *at < CALLS; ++*at)
			mt_sys(calls[*at].number, calls[*at].a, calls[*at].b, calls[*at].c, calls[*at].d);
		mt_sys(SYS_exit_group, 0);
	}
	if (pid > 0) {
		while (mt_sys(SYS_wait4, pid, &status, WALL, 0) == -EINTR)
			;
		if (*at < CALLS && status & 0x7f) {
			obstacle = calls[*at].obstacle;
			*silent = !obstacle;
			if (!obstacle)
				obstacle = "a seccomp filter kills processes that write files";
		}
	}
	mt_sys(SYS_munmap, page, MT_PAGE);
	return obstacle;
}
