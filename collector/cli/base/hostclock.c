/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* hostclock.c - the monotonic clock of this machine and universal time. */
#include <stdint.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "cli/base/hostclock.h"

/* Of so many readings the one that was least disturbed counts. */
#define READINGS 32

static int64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

json_t *mt_hostclock_describe(void)
{
	int64_t at = 0, offset = 0, best = INT64_MAX;
	struct timex tx;
	json_t *o;
	int state;

	for (int i = 0; i < READINGS; i++) {
		const int64_t before = ns(CLOCK_MONOTONIC), real = ns(CLOCK_REALTIME), after = ns(CLOCK_MONOTONIC);

		if (after - before < best) {
			best = after - before;
			at = before + best / 2;
			offset = real - at;
		}
	}
	memset(&tx, 0, sizeof(tx));	/* no modes: it only reads, which anybody may */
	state = adjtimex(&tx);
	o = json_pack("{s:I, s:I, s:I}", "at_ns", (json_int_t)at, "offset_ns", (json_int_t)offset, "read_error_ns",
		      (json_int_t)best / 2 + 1);
	json_object_set_new(o, "max_error_ns", state < 0 || state == TIME_ERROR || tx.status & STA_UNSYNC ? json_null() :
			    json_integer((json_int_t)tx.maxerror * 1000));
	return o;
}
