// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/sys.c common/rawmem.c
/* How long one waits for another thread: holes in time, progress, nobody who ever comes; and the lock that waits so. */
#include <time.h>

#include "preload/context/ctx.h"
#include "harness.h"
#include "common/patience.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

_Atomic uint64_t ctx_lost_lock;

static uint64_t clock_ns = 5 * SECOND, step;
static int looks, release_at;
static _Atomic int lock;

/* In place of libc's: each look at the clock is @step later; the owner of the lock gives it away at one of them. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	clock_ns += step;
	if (++looks == release_at)
		lock = 0;
	ts->tv_sec = (time_t)(clock_ns / SECOND);
	ts->tv_nsec = (long)(clock_ns % SECOND);
	return 0;
}

static void patience(void)
{
	struct mt_patience p = { 0 };
	uint64_t now = 7 * SECOND;
	int n = 0;

	/* nobody comes: the limit, and not one step more */
	while (!mt_patience_over(&p, now, 0, 200 * MS, 20 * SECOND) && n < 1000) {
		now += 100 * MS;
		n++;
	}
	CHECK_EQ(n, 201);

	/* the process stood still for an hour: a step */
	p = (struct mt_patience){ 0 };
	CHECK(!mt_patience_over(&p, now, 3, 200 * MS, SECOND));
	CHECK(!mt_patience_over(&p, now += 3600 * SECOND, 3, 200 * MS, SECOND));
	CHECK_EQ(p.waited_ns, 200 * MS);
	for (n = 0; n < 4; n++)
		CHECK(!mt_patience_over(&p, now += 3600 * SECOND, 3, 200 * MS, SECOND));
	CHECK(mt_patience_over(&p, now += 3600 * SECOND, 3, 200 * MS, SECOND));

	/* progress, however slow */
	p = (struct mt_patience){ 0 };
	for (n = 0; n < 1000; n++)
		CHECK(!mt_patience_over(&p, now += 100 * MS, (uint64_t)n / 9, 200 * MS, SECOND));
	for (n = 0; n < 10; n++)
		mt_patience_over(&p, now += 100 * MS, 111, 200 * MS, SECOND);
	CHECK(mt_patience_over(&p, now += 100 * MS, 111, 200 * MS, SECOND));
}

int main(void)
{
	patience();

	/* free */
	CHECK(ctx_lock(&lock));
	CHECK_EQ(looks, 0);

	/* held, and between two looks the processors were away for ten seconds */
	step = 10 * SECOND;
	release_at = 4;
	CHECK(ctx_lock(&lock));
	CHECK_EQ(looks, 4);
	CHECK_EQ(ctx_lost_lock, 0);

	/* held for ever: given up after two seconds of looking */
	looks = release_at = 0;
	step = MS;
	CHECK(!ctx_lock(&lock));
	CHECK_EQ(ctx_lost_lock, 1);
	CHECK(looks > 1900 && looks < 2100);
	return mt_test_done();
}
