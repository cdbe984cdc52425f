/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * output.h - the values of monitors as files, in the formats of all three generations:
 *
 *	2015	two event definitions, a line "1 id level sibling name logscale" for each monitor,
 *		then "0 id phase microseconds value" for each value
 *	2016	"TYPE:INDEX nanoseconds v1 v2 ..." for each monitor and sample; lines with # say the names
 *	2017	the same below the header "Obj Nanoseconds label..."; a file for each definition
 *
 * Times count from the start. docs/reference/monitor.md
 */
#ifndef MEMTRACE_MONITOR_OUTPUT_H
#define MEMTRACE_MONITOR_OUTPUT_H

#include "cli/monitor/run.h"

struct mon_trace;

/* "-" is standard output. NULL after a message. */
struct mon_trace *mon_trace_open(const struct mon_set *s, const char *path, enum mon_generation format);
/*
 * Comments in each file, before the first sample: "# topology " and a line of the machine as hwloc writes it, and
 * "# scale NAME MIN MAX LOG" for values whose definition says how to draw them; "-" is what it does not say.
 * 0 or a negative errno.
 */
int mon_trace_machine(struct mon_trace *t);
/* What was active in this sample. 0 or a negative errno, which stays. */
int mon_trace_sample(struct mon_trace *t);
/* Flushes and frees. 0, or a negative errno after a message. @names (may be NULL) gets the files, separated by blanks, to be freed. */
int mon_trace_close(struct mon_trace *t, char **names);

#endif
