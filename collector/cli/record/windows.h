/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* windows.h - record --exact --windows: what was asked for. */
#ifndef MEMTRACE_CLI_WINDOWS_H
#define MEMTRACE_CLI_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings.h"

struct mt_window_spec {
	enum mt_window_kind kind;
	uint64_t open_ns, period_ns;	/* of a share and of intervals */
	int signal;
};

/* The argument of --windows; NULL: none. False: it is none of the forms, and *why, which the caller frees, says why. */
bool mt_windows_parse(const char *text, struct mt_window_spec *spec, char **why);

/*
 * Windows by signals: a file of the trace whose first word counts them, shared with the program, and how to count one in
 * a signal handler. 0 or negative errno.
 */
int mt_windows_share(const char *trace);
void mt_windows_signalled(void);
void mt_windows_unshare(const char *trace);

#endif
