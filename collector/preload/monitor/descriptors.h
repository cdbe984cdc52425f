// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* descriptors.h - the monitor's own table of descriptors. */
#ifndef MEMTRACE_DESCRIPTORS_H
#define MEMTRACE_DESCRIPTORS_H

/*
 * The table is a copy: everything that is the program's must go, else pipes never end. Not up to ~0u: DynamoRIO looks at each number of the
 * range before it lets the kernel close it, which takes more than 20 minutes. @without_range: not by close_range(2). monitor.
 */
void mt_close_foreign(int without_range);

#endif
