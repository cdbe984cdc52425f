// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * quiet.h - processes that are not recorded, or not yet.
 *
 * Programs start many small processes: shells, make, true. A full start costs more than such a process itself
 * does. So a process that another one started is only counted, by a line in unrecorded.csv of the trace
 * (docs/reference/trace-format.md), until it has asked the kernel for MEMTRACE_MIN_PROCESS bytes or makes a thread; then it
 * becomes an image. Its memory at that moment is converted as at the start of a program. What it touched before is not
 * in the trace.
 *
 * Recorded from the beginning: the program itself and what it goes on as by exec (pid MEMTRACE_ROOT) unless
 * it is a shell, programs with large static data, programs that match MEMTRACE_FOLLOW, and children that a
 * recorded process forks, but where the last ones were over soon (process/quick.h). Never recorded: what matches
 * MEMTRACE_SKIP, or does not match MEMTRACE_FOLLOW where that is given.
 */
#ifndef MEMTRACE_QUIET_H
#define MEMTRACE_QUIET_H

#include <stdint.h>

#include "preload/ground/image.h"

#define MT_QUIET_WORKED_NS 20000000ull	/* of CPU time: so much is worth a recording */

enum mt_start {
	MT_START_NOW,
	MT_START_LATER,
	MT_START_NEVER,
};

/*
 * constructor. When this program is recorded. *root: it is the program itself. @start is called when a process that is watched is to be
 * recorded: in a hook, on a stack of its own, with all signals blocked, while there is one thread.
 */
enum mt_start mt_quiet_choose(const struct mt_config *c, int *root, void (*start)(void));
/* constructor. The process is counted from now on (@choice: later or never), unless it has an image (@root), and, if later, watched. */
void mt_quiet_begin(enum mt_start choice, int root, const char *how);
/* May children of this process be only counted? Not where the user says that all are recorded, or which. Any context. */
int mt_quiet_may_count(void);
/* Is this process watched? Any context. */
int mt_is_quiet(void);
/* hook, before the memory is asked for: the program gets @bytes of the kernel. */
void mt_quiet_grow(uint64_t bytes);
/* hook, before the first thread. */
void mt_quiet_thread(void);
/* fork, in the child: it is counted, and watched. */
void mt_quiet_fork_child(void);
/* There is more of it than can wait in memory: it is recorded as soon as it can be. Any context. */
void mt_quiet_hurry(void);
/* Nobody is watched any more: fork, in a child that is none of ours. */
void mt_quiet_stop(void);
/* The process ends. Any thread. */
void mt_quiet_end(void);
/* How the process that is watched began: root, exec or fork. */
const char *mt_quiet_how(void);
/* What a person is told of the program itself while it is watched (for image.json). */
const char *mt_quiet_message(enum mt_start choice);

#endif
