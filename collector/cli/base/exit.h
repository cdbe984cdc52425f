/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_CLI_EXIT_H
#define MEMTRACE_CLI_EXIT_H

/* Exit codes, the same for native and Java commands. */
enum mt_exit {
	MT_EXIT_OK = 0,
	MT_EXIT_INTERNAL = 1,		/* unexpected: a bug, no memory, disk full */
	MT_EXIT_USAGE = 2,		/* the command line is wrong */
	MT_EXIT_INPUT = 3,		/* a file is missing or not what it should be */
	MT_EXIT_UNAVAILABLE = 4,	/* not possible on this machine, or not permitted */
	MT_EXIT_CANCELLED = 5,		/* the user asked to stop */
	MT_EXIT_CANNOT_EXECUTE = 126,	/* program found but not executable */
	MT_EXIT_NOT_FOUND = 127,	/* program not found */
};

#endif
