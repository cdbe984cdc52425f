/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: all-to-all exchange */
/* All threads write everywhere in one array. The repair gives each thread its own part. */
#include "planted.h"

#define N (96L * PAGE / sizeof(long))

static long *exchange;

static void work(struct planted *p, int thread)
{
	static _Thread_local unsigned long at;

	at += (unsigned long)thread * 7919 + 1;
	for (long k = 0; k < 400000; k++) {
		long i;

		at = at * 6364136223846793005ul + 1442695040888963407ul;
		i = (long)((at >> 33) % N);
		if (p->repaired)
			i = planted_from(p, thread, N) + i / p->threads;
		((volatile long *)exchange)[i]++;
	}
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	exchange = aligned_alloc(PAGE, N * sizeof(long));
	planted_pthreads(&p, work);
	printf("%ld\n", exchange[1]);
	free(exchange);
	return 0;
}
