/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * unrecorded.h - the processes of a trace that have no image, because they asked for little memory or were left out.
 */
#ifndef MEMTRACE_CLI_UNRECORDED_H
#define MEMTRACE_CLI_UNRECORDED_H

#include <jansson.h>

/* Makes the file to which the library appends. 0 or negative errno. */
int mt_unrecorded_create(const char *trace);
/*
 * unrecorded.csv as an object of the manifest: {processes, left_out, cpu_ns, text}; NULL: each process has an image.
 * A line that was torn by a kill is left out.
 */
json_t *mt_unrecorded_describe(const char *trace);

#endif
