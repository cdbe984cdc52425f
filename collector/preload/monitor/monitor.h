// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * monitor.h - what ends intervals: scan, zap, read the faults, write.
 *
 * One per process image. It has its own descriptor table, so what it writes cannot be
 * closed or replaced by the program, and it touches no memory of the program.
 *
 * It is a process of its own that shares the program's memory where it can be one, else a thread of the program. The process is no
 * child of the program, so that nobody but who takes orphans sees it; it has limits, credentials, namespaces and filters as they
 * were at the start, and ends the last interval also when the program was killed. It is not there where it would be seen: where nobody
 * waits for orphans, or a process of the program does (a first process of a namespace, a subreaper).
 */
#ifndef MEMTRACE_MONITOR_H
#define MEMTRACE_MONITOR_H

#include <stdbool.h>

#include "preload/ground/image.h"
#include "common/tracefile.h"

enum mt_event {
	MT_EVENT_FORK = MT_MARK_FORK,
	MT_EVENT_EXIT = MT_MARK_EXIT,
	MT_EVENT_STOP = MT_MARK_STOP,
	MT_EVENT_EXEC = MT_MARK_EXEC,
	MT_EVENT_KILLED = MT_MARK_KILLED,
};

/* Not at all; by page faults; by counters in the program. */
enum mt_watch { MT_WATCH_NONE, MT_WATCH_ZAP, MT_WATCH_COUNT };

/*
 * constructor or fork, before memory is converted: starts the thread and waits until it
 * has opened what it needs. @watch: how accesses are seen; without, only ctx_flush() each interval.
 * @main_tid: the thread whose faults (and those of threads it creates) are read.
 * @tls: for the thread, see mt_tls_copy().
 * 0 or negative errno: there is no monitor, nothing will be recorded.
 */
int mt_monitor_start(const struct mt_image *img, enum mt_watch watch, int main_tid, void *tls);
/* Notes in the image who its monitor is. @there: it has one. */
void mt_monitor_name(struct mt_image *img, int there);
/* fork, in the parent, before: children learn whether this process takes orphans. */
void mt_monitor_before_fork(void);
/* What is weaker than it could be and why ("" = nothing). Valid after start. */
const char *mt_monitor_message(void);
/* Memory is converted: intervals begin. @fault_ns: measured cost of one fault, @start_cpu_ns: what the start cost. */
void mt_monitor_go(uint64_t fault_ns, uint64_t start_cpu_ns);
/* A mark in the interval's Event column. Any thread, never waits. */
void mt_monitor_event(enum mt_event ev);
/*
 * Ends the interval now and waits until it is written, however long that takes, unless the monitor stands still for 20 s: then
 * standstill.csv of the image tells what is lost. With
 * MT_EVENT_EXIT the monitor writes no more afterwards, with MT_EVENT_EXEC it ends no interval until
 * mt_monitor_exec_failed(). Any thread that does not hold zap_space.lock.
 */
void mt_monitor_finish_interval(enum mt_event ev);
/*
 * Calls @fn on the monitor, whose descriptors the program cannot close, and which has the maps of the process open whatever became
 * of /proc and of the limits: @maps_fd (of mt_maps_open(), may be negative), and the memory file by its number, @memfd. The caller
 * holds zap_space.lock; @fn does not take it. What @fn gives, or -ESRCH: there is no monitor that works.
 */
long mt_monitor_call(long (*fn)(void *arg, int maps_fd, int memfd), void *arg);
/* After mt_monitor_finish_interval(MT_EVENT_EXEC): the image goes on. The same thread. */
void mt_monitor_exec_failed(void);
/* fork, in the child, first of all: there is no monitor. */
void mt_monitor_gone(void);
/* fork, in the child: forgets the parent's monitor; its memory is given back. */
void mt_monitor_after_fork(void);

#endif
