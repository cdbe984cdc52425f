/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: ping-pong mailbox */
/* Two of the threads write the same mailbox in turn; the others have work of their own. The repair gives each half of it. */
#include "planted.h"

#define MAIL (32L * PAGE / sizeof(long))
#define OWN (64L * PAGE / sizeof(long))

static long mailbox[MAIL] __attribute__((aligned(PAGE)));
static long *own;

static void work(struct planted *p, int thread)
{
	volatile long *mine = own + thread * OWN;

	for (int step = 0; step < 4; step++) {
		if (thread < 2) {
			long from = p->repaired ? thread * MAIL / 2 : 0, to = p->repaired ? from + MAIL / 2 : MAIL;

			for (int k = 0; k < 20; k++)
				for (long i = from; i < to; i++)
					((volatile long *)mailbox)[i] += thread;
		}
		for (int k = 0; k < 10; k++)
			for (long i = 0; i < (long)OWN; i++)
				mine[i]++;
	}
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	if (p.threads < 3)	/* with two it is not two of several */
		p.threads = 3;
	own = aligned_alloc(PAGE, (size_t)p.threads * OWN * sizeof(long));
	planted_pthreads(&p, work);
	printf("%ld\n", mailbox[1]);
	free(own);
	return 0;
}
