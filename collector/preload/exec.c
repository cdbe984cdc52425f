// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The ends of an image: exec and exit. Both end the current interval first, so that
 * nothing is lost; a fatal signal loses at most the interval in which it came.
 */
#include "process.h"

#include <errno.h>

#include "counting.h"
#include "gates.h"
#include "quiet.h"
#include "rawsys.h"
#include "zap/monitor.h"

int mt_process_is_own(void)
{
	return mt_process.monitored && mt_getpid() == mt_process.image.pid;
}

/* Only at the end it is certain that no code that counts came. */
static void describe_end(void)
{
	struct mt_process *p = &mt_process;

	if (p->config.accesses == MT_BY_HOOKS && p->tracing && !cnt_has_code())
		mt_image_describe(&p->image, "none", "no part of this program was built with memtrace cc");
	else if (p->config.accesses == MT_BY_HOOKS && p->tracing && gates_broken())
		mt_image_describe(&p->image, "none", gates_broken());
}

/*
 * Children of vfork() and posix_spawn() come here too, in our memory but with a
 * process id of their own: they just exec.
 */
int mt_hook_execve(const char *path, char *const argv[], char *const envp[])
{
	long ret;
	int told = 0;

	/* most failing calls are the search along PATH: these must not cost an interval each */
	if (mt_process_is_own() && mt_sys(SYS_faccessat, AT_FDCWD, path, 1 /* X_OK */) == 0) {
		mt_monitor_finish_interval(MT_EVENT_EXEC);
		describe_end();
		told = 1;
	}
	ret = mt_sys(SYS_execve, path, argv, envp);
	if (told)
		mt_monitor_exec_failed();
	errno = (int)-ret;
	return -1;
}

void mt_hook_exit(int status)
{
	if (mt_process_is_own()) {
		mt_monitor_finish_interval(MT_EVENT_EXIT);
		describe_end();
	}
	mt_quiet_end();
	for (;;) {
		mt_sys(SYS_exit_group, status);
		mt_sys(SYS_exit, status);
	}
}
