// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * quick.h - children that are over before a recording of them has begun.
 *
 * A child that becomes an image at once has a memory file, a monitor, rings and files: that costs several times what a fork does.
 * Servers and scripts fork hundreds of children that live for some milliseconds. So when the last children of a process were all like
 * that, the next one is only counted, as small processes are (ground/quiet.h), until it asks for memory, makes a thread or a child, or
 * has worked for MT_QUIET_WORKED_NS. Its allocations wait in memory meanwhile (ctx_fork_later()), so that nothing of them is missing if
 * it becomes an image.
 */
#ifndef MEMTRACE_QUICK_H
#define MEMTRACE_QUICK_H

/* fork, in the parent, under its locks: will the child that is made now be over soon, as far as the last ones tell? */
int mt_quick_expected(void);
/* fork, in the parent, under its locks: it has made the child @pid. */
void mt_quick_made(int pid);
/* fork, in the child: it has no children yet. */
void mt_quick_fork_child(void);

#endif
