// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * counting.h - the backend `hooks`: code that `memtrace cc` put into the program counts its own
 * accesses (count/); here are the counters of the process, and what the monitor writes of them. In
 * the backends `valgrind` and `dynamorio` the counters are those of a tool under the program.
 */
#ifndef MEMTRACE_COUNTING_H
#define MEMTRACE_COUNTING_H

#include <stdint.h>

#include "preload/ground/image.h"
#include "common/tracefile.h"

/* What an interval counted. */
struct cnt_interval {
	uint64_t accesses, rows;
	uint64_t lost;			/* accesses without memory for their counters */
};

/* monitor: opens first.csv and instructions.csv in the image's directory. 0 or negative errno. */
int cnt_open(const struct mt_image *img);
/* monitor: writes what was counted since the last call as records of [start, end); @pid: this process. */
void cnt_collect(struct mt_tracefile *f, uint64_t start, uint64_t end, int pid, struct cnt_interval *out);
/* monitor: writes what instructions accessed until now, if that is counted; of threads that ended, and now and then, it is done already. */
void cnt_tell_sites(void);
/* monitor: accesses that were counted and not yet collected. */
uint64_t cnt_pending(void);
/* Is there code in this process that counts? Any thread. */
int cnt_has_code(void);
enum cnt_tool { CNT_NONE, CNT_VALGRIND, CNT_DYNAMORIO };
/*
 * constructor: accesses are counted by what the program runs under (collector/engines). 0, or negative
 * errno: it is not there.
 */
int cnt_use_tool(void);
/* By which one? Any thread. */
enum cnt_tool cnt_has_tool(void);
/* Asks it (engines/valgrind/request.h). Any thread. */
uint64_t cnt_ask(unsigned int request, uint64_t a, uint64_t b);
/* constructor: what was accessed until now, by the loader and by this library, is no access of the program. */
void cnt_begin(void);
/* This process is not recorded: whoever asks from now on gets no counters. */
void cnt_off(void);

/* fork: before; in the parent after; in the child, whose only thread has the id @tid. @on: it is recorded. */
void cnt_fork_prepare(void);
void cnt_fork_parent(void);
void cnt_fork_child(int tid, int on);

#endif
