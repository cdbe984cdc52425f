/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * remote.h - `record --host`: the recorder is copied to a node by ssh, runs there, and its trace comes here. The
 * part that works on the node is cmd_on_node.c; docs/howto/remote.md is for users.
 */
#ifndef MEMTRACE_CLI_REMOTE_H
#define MEMTRACE_CLI_REMOTE_H

#include "cli/table/args.h"

/*
 * Records on the node of --host into @dir, an empty folder here that is removed when there is no trace. @shown: the
 * folder as the user would type it. Exit code of the program, or of ours after a message; *signal: what ended the
 * program, or 0.
 */
int mt_remote_record(const struct mt_args *a, const char *dir, const char *shown, int *signal);

/* Fetches what is still on the node of a trace of mt_remote_record. The same results. */
int mt_remote_resume(const struct mt_args *a, const char *dir, int *signal);

#endif
