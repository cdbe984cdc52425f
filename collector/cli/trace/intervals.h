/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* intervals.h - the interval in which a writer was killed. */
#ifndef MEMTRACE_CLI_INTERVALS_H
#define MEMTRACE_CLI_INTERVALS_H

/*
 * The accesses of an interval are written before its line in intervals.csv. Who
 * is killed between the two, or while writing either, leaves accesses of no
 * interval, also after an interval with the event exec or exit (the monitor works
 * until the kernel ends it): their interval gets a line with the event "killed" here, and a torn
 * last line, which no reader takes, makes room for it. For images that nobody
 * writes any more; a second call changes nothing. An interval that was not ended because the monitor
 * stood still (standstill.csv) gets a line with its losses.
 *
 * The number of lines added, or negative errno after a message.
 */
int mt_intervals_complete(const char *trace, const char *image);

#endif
