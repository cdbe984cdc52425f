/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * calibrate.h - which instruction a tick names when a load waits. That is of the processor: an interrupt is taken when the load is done,
 * and what is told is the load, or the instruction behind it.
 */
#ifndef MEMTRACE_CLI_CALIBRATE_H
#define MEMTRACE_CLI_CALIBRATE_H

#include <stdint.h>

struct mt_skid {
	int behind;		/* 1: the instruction behind the one that waits, 0: the one itself, -1: not known */
	uint64_t at_load, at_next, elsewhere;	/* ticks of the test */
	int err;		/* why it is not known: negative errno, or 0: the ticks do not agree */
};

/*
 * Asks the processor, in about 3 ms of CPU time, and keeps what it says in the user's cache until the next boot. An answer that was kept
 * has no ticks.
 */
struct mt_skid mt_skid_here(void);
/* What so many ticks say. */
int mt_skid_judge(uint64_t at_load, uint64_t at_next, uint64_t elsewhere);

#endif
