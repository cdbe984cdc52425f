// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* program.h - what the kernel says of the recorded process to a monitor that outlives it, and the reverse. System calls only. */
#ifndef MEMTRACE_PROGRAM_H
#define MEMTRACE_PROGRAM_H

#include <stdint.h>

/* Has the process ended? @pid_fd: a descriptor of it, or the negative errno of pidfd_open(2). */
int mt_has_ended(int pid_fd, int pid);
/* The status of a process that has ended, as wait(2) has it; -1: it is not known. */
int mt_exit_status(int pid_fd, int pid);
/* Is only the zombie of its first thread left of the process that we are a thread of (@task_fd: /proc/self/task)? Its status, or -1. */
int mt_abandoned(int task_fd);
/* Does the process have memory? Not while it ends, nor when its first thread has ended before others. */
int mt_has_memory(int pid);
/*
 * How long its threads, the first WAITING_TASKS that the kernel lists, waited for a processor since the last call with this *@last, summed.
 * 0 where it does not tell, or a thread has ended that had waited longer.
 */
#define WAITING_TASKS 32
uint64_t mt_waited_since(int pid, uint64_t *last);
/*
 * The monitor stands still, and the program goes on to its end: what the monitor has of the interval is lost. A file of the image (its
 * path) tells when it began, now, and how many records there were; the launcher makes a line of it (cli/trace/intervals.c). @event: exec
 * or exit.
 */
void mt_note_standstill(const char *image, uint64_t start_ns, uint64_t records, const char *event);

#endif
