/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: unused table */
/* A table of 64 MiB of which two MiB are ever used. The repair allocates what is used. */
#include "planted.h"

#define USED (512L * PAGE / sizeof(long))

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	long *table = malloc(p.repaired ? USED * sizeof(long) : 64L << 20);

	while (planted_more(&p)) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < (long)USED; i++)
			for (int k = 0; k < 20; k++)
				((volatile long *)table)[i] += i;
	}
	printf("%ld\n", table[5]);
	free(table);
	return 0;
}
