/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * orphan.h - who takes orphans here, and does it wait for them?
 *
 * The monitor of a recorded program is an orphan (preload/monitor/monitor.h). Where nobody waits for orphans, as in a container whose first
 * process is any program, each one stays as a zombie until the container ends: there monitors must be threads of the programs. Some wait
 * only now and then, so the answer takes seconds, for which no recording waits: an orphan is made at the start, and the library looks
 * after it (MEMTRACE_MONITOR, preload/ground/image.h). A zombie of an earlier recording is an answer at once.
 */
#ifndef MEMTRACE_CLI_ORPHAN_H
#define MEMTRACE_CLI_ORPHAN_H

/*
 * The value of MEMTRACE_MONITOR for the library, to be freed. *why: why the monitor must be a thread, a constant; NULL: it can be a
 * process of its own.
 */
char *mt_orphan_setting(const char **why);

#endif
