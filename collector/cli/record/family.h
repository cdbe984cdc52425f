/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * family.h - every process that a recorded program starts, as the kernel tells it (perf events, without privileges where
 * kernel.perf_event_paranoid is at most 2), else as /proc shows it now and then. So what the library is not loaded into, or cannot write
 * for, is known by name as well.
 */
#ifndef MEMTRACE_CLI_FAMILY_H
#define MEMTRACE_CLI_FAMILY_H

#include <sys/types.h>

struct mt_family;

/* Begins to watch @pid, which has not yet started the program, on a thread of its own. NULL: there is no memory, or no thread. */
struct mt_family *mt_family_open(pid_t pid);

/*
 * Ends the watch and appends to unrecorded.csv of @trace what ran as a program of its own and has neither an image nor a line there, with
 * the reason. Frees @f, which may be NULL.
 */
void mt_family_close(struct mt_family *f, const char *trace);

#endif
