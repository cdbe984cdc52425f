/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: false-sharing counters */
/* Counters of the threads lie beside each other in one cache line. The repair gives each a line. */
#include "planted.h"

struct padded {
	_Alignas(64) volatile long value;
};

static volatile long counters[256];
static struct padded padded[256];

static void work(struct planted *p, int thread)
{
	volatile long *c = p->repaired ? &padded[thread].value : &counters[thread];

	for (long i = 0; i < 2000000; i++)
		++*c;
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	planted_pthreads(&p, work);
	printf("%ld\n", counters[0] + padded[0].value);
	return 0;
}
