/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_HOSTCLOCK_H
#define MEMTRACE_HOSTCLOCK_H

#include <jansson.h>

/*
 * How the clock of this machine's traces (CLOCK_MONOTONIC) stands to universal time, so that traces of several machines can
 * be put on one axis: {at_ns, offset_ns, read_error_ns, max_error_ns}. offset_ns is to be added to get UTC since 1970 in ns;
 * read_error_ns is how well the two clocks were read together; max_error_ns is the bound that the kernel knows for the
 * error of its UTC from what synchronises it (NTP, PTP; adjtimex(2)), null when nothing does.
 */
json_t *mt_hostclock_describe(void);

#endif
