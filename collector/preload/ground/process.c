// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/ground/process.h"

#include <sys/stat.h>

#include "common/rawsys.h"
#include "preload/ground/context.h"

struct mt_process mt_process;
__thread int mt_in_hook;

extern void (*const __start_mt_begins[])(void) __attribute__((weak, visibility("hidden")));

void mt_begin(void)
{
	static int begun;

	if (begun)
		return;
	begun = 1;
	__start_mt_begins[0]();
}

int mt_process_is_own(void)
{
	return mt_process.monitored && mt_getpid() == mt_process.image.pid;
}

int mt_process_is_alone(void)
{
	struct stat st;

	/* links: two of its own, and one for each thread */
	return !mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) && st.st_nlink == 3 && mt_gettid() == mt_getpid();
}
