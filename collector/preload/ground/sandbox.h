// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * sandbox.h - seccomp filters that kill a process for a system call that the recorder makes.
 */
#ifndef MEMTRACE_SANDBOX_H
#define MEMTRACE_SANDBOX_H

/*
 * constructor, before anything else: under a filter, tries the system calls of the recorder in a
 * child. NULL: none of them kills (also when there is no filter). Else a sentence; *silent is 1
 * when not even an image can be written.
 */
const char *mt_sandbox_obstacle(int *silent);

#endif
