/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * zoom.h - record --zoom: from what the user named to places that the library in the program can find, and what became of it.
 */
#ifndef MEMTRACE_CLI_ZOOM_H
#define MEMTRACE_CLI_ZOOM_H

#include "cli/table/args.h"

/*
 * The text of MEMTRACE_ZOOM (preload/context/suspect.c) for the suspects of --zoom: an address range, the name of a static
 * object of @program or FILE:NAME, TRACE:NAME for a structure of an earlier trace, TRACE:NUMBER for a finding of it. The caller's.
 * *rc is 0, or an exit code after a message; NULL then.
 */
char *mt_zoom_resolve(const struct mt_args *a, const char *program, int *rc);

#endif
