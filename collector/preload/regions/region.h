// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* region.h - regions that the program names by memtrace_begin() and memtrace_end(). */
#ifndef MEMTRACE_REGIONS_H
#define MEMTRACE_REGIONS_H

/* monitor, at the end of an interval: a line tells how many lines of regions.csv were lost. */
void mt_region_tell_lost(void);
/* fork, in the child, before it has an image. */
void mt_region_after_fork(void);

#endif
