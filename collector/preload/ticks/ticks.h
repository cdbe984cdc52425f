// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * ticks.h - samples of the CPU clock: where each thread of the program is after each so many nanoseconds of its own CPU time, with the
 * registers that it has there. Raw, into ticks.log of the image; `memtrace finish` decodes them (cli/ticks/). docs/howto/ticks.md
 *
 * Of the monitor thread, which opens, reads and closes the rings. Without perf events nothing is written but why.
 */
#ifndef MEMTRACE_TICKS_H
#define MEMTRACE_TICKS_H

#include <stdint.h>

#include "preload/ground/image.h"

/*
 * For the thread @tid and those that it makes, by @img->config->ticks_hz; where one of both is 0, nothing is done. Makes the file, which
 * tells why there are no ticks if there are none. @mem_fd: /proc/thread-self/mem; code is read through it.
 */
void tk_open(const struct mt_image *img, int tid, int mem_fd);
/* What is in the rings, into the buffer of the file. Under zap_space.lock where memory is traced: code may lie there. */
void tk_read(void);
/* What was read goes into the file, and how much was lost. Without the lock. */
void tk_flush(void);
/* fork, in the child: memory is given back; the rings were not inherited. */
void tk_after_fork(void);

#endif
