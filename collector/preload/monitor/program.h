// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* program.h - what the kernel says of the recorded process to a monitor that outlives it. System calls only. */
#ifndef MEMTRACE_PROGRAM_H
#define MEMTRACE_PROGRAM_H

/* The status of a process that has ended, as wait(2) has it; -1: it is not known. */
int mt_exit_status(int pid_fd, int pid);
/* Is only the zombie of its first thread left of the process that we are a thread of (@task_fd: /proc/self/task)? Its status, or -1. */
int mt_abandoned(int task_fd);
/* Does the process have memory? Not while it ends, nor when its first thread has ended before others. */
int mt_has_memory(int pid);

#endif
