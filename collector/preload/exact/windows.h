// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * windows.h - when the gates (gates.h) are open: record --exact --windows. The monitor turns them, and ends an interval at
 * each turn, so that no interval is in part seen. windows.csv of the image says when they turned.
 */
#ifndef MEMTRACE_WINDOWS_H
#define MEMTRACE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ground/image.h"

/* monitor: begins with the image. 0 or negative errno. */
int windows_start(const struct mt_image *img, uint64_t now);
/* monitor: when to look again whether to turn; ~0: never, or there are no windows. */
uint64_t windows_next(void);
/* monitor: whether the gates should be turned now; *open: to what. */
bool windows_due(uint64_t now, bool *open);
/* monitor: turns the gates. */
void windows_turn(bool open);
/* monitor: was there a moment since the last call when accesses were counted? */
bool windows_saw(void);
/* Turns them and ends the interval; of the monitor, which sets it when it begins. Threads of the program. */
extern void (*mt_windows_turn)(bool open);
/* In a child of fork, before windows_start(): nobody holds what its threads held. */
void windows_after_fork(void);

#endif
