// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * reclaim HOT-MiB STREAM-MiB ROUNDS: one thread reads and writes all pages of a hot
 * area again and again, the other writes STREAM-MiB of pages once per round (at least two),
 * which pushes pages out when the cgroup is smaller than both. A page of the
 * hot area that had to be read from swap after the first round is a major fault of the hot thread.
 * Output: "reclaim: hot pages N rounds N major N cold_major N".
 */
#include "kt.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static char *hot, *cold;
static size_t hot_pages, cold_pages, rounds;
static volatile int done, warm;
static volatile long hot_major, turns;

static long major(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_majflt;
}

static void *keep_hot(void *arg)
{
	long before;

	(void)arg;
	for (size_t i = 0; i < hot_pages; i++)
		hot[i * PAGE] = (char)i;
	before = -1;
	while (!done) {
		/* the first round, when memory fills, says nothing: everything has the same age */
		if (warm && before < 0)
			before = major();
		for (size_t i = 0; i < hot_pages; i++)
			hot[i * PAGE + 64]++;
		turns++;
		usleep(1000);
	}
	hot_major = major() - before;
	for (size_t i = 0; i < hot_pages; i++)
		if (hot[i * PAGE] != (char)i)
			DIE("wrong data");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 4)
		return 2;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	hot_pages = (size_t)atol(argv[1]) << 8;
	cold_pages = (size_t)atol(argv[2]) << 8;
	rounds = (size_t)atol(argv[3]);
	hot = kt_map(hot_pages * PAGE, MAP_PRIVATE);
	cold = kt_map(cold_pages * PAGE, MAP_PRIVATE);
	if (pthread_create(&t, NULL, keep_hot, NULL))
		DIE("thread");
	while (turns < 5)
		usleep(1000);
	for (size_t r = 0; r < rounds; r++) {
		warm = r > 0;
		for (size_t i = 0; i < cold_pages; i++) {
			cold[i * PAGE] = 1;
			/* after each MiB the hot thread goes round once, however fast the machine is */
			for (long seen = turns; i % 256 == 255 && turns < seen + 2;)
				usleep(500);
		}
	}
	done = 1;
	pthread_join(t, NULL);
	printf("reclaim: hot pages %zu turns %ld major %ld cold_major %ld\n", hot_pages, turns, hot_major, major());
	return 0;
}
