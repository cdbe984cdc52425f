/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: strided image */
/* The inner loop walks down a column: each access is on another page. The repair exchanges the loops. */
#include <omp.h>

#include "planted.h"

#define COLUMNS (PAGE / (long)sizeof(double))

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	const long rows = 128L * p.threads;
	double *image = aligned_alloc(PAGE, (size_t)rows * PAGE);

#pragma omp parallel num_threads(p.threads)
	{
		bool more = true;

		while (more) {
			const long from = rows * omp_get_thread_num() / p.threads, to = rows * (omp_get_thread_num() + 1) / p.threads;

			for (int k = 0; k < 100; k++) {
				if (p.repaired) {
					for (long r = from; r < to; r++)
						for (long c = 0; c < COLUMNS; c++)
							image[r * COLUMNS + c] = 0.5 * image[r * COLUMNS + c] + 0.25;
				} else {
					for (long c = 0; c < COLUMNS; c++)
						for (long r = from; r < to; r++)
							image[r * COLUMNS + c] = 0.5 * image[r * COLUMNS + c] + 0.25;
				}
			}
#pragma omp barrier
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
	}
	printf("%g\n", image[COLUMNS]);
	free(image);
	return 0;
}
