/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: page-shared rows */
/* Each thread has its own cache lines, but in the pages of all others. The repair gives each thread whole pages. */
#include "planted.h"

#define PAGES 64
#define LINES (PAGES * PAGE / 64L)

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	char *rows = aligned_alloc(PAGE, PAGES * PAGE);

#pragma omp parallel num_threads(p.threads)
	{
		bool more = true;

		while (more) {
			for (int k = 0; k < 20; k++) {
				if (p.repaired) {
#pragma omp for schedule(static) nowait
					for (long l = 0; l < LINES; l++)
						for (int b = 0; b < 64; b++)
							((volatile char *)rows)[l * 64 + b]++;
				} else {
#pragma omp for schedule(static, 1) nowait
					for (long l = 0; l < LINES; l++)
						for (int b = 0; b < 64; b++)
							((volatile char *)rows)[l * 64 + b]++;
				}
			}
#pragma omp barrier
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
	}
	printf("%d\n", rows[0]);
	free(rows);
	return 0;
}
