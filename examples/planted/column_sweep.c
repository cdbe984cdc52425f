/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: column-sweep image */
/* Threads divide a matrix by its columns and walk down them. The repair divides the rows and walks along them. */
#include <omp.h>

#include "planted.h"

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	/* each thread has its own cache lines */
	const long rows = 4000, columns = 48L * p.threads;
	double *image = aligned_alloc(PAGE, (size_t)(rows * columns) * sizeof(double));

#pragma omp parallel num_threads(p.threads)
	{
		bool more = true;

		while (more) {
			const long me = omp_get_thread_num(), from = (p.repaired ? rows : columns) * me / p.threads,
				   to = (p.repaired ? rows : columns) * (me + 1) / p.threads;

			for (int k = 0; k < 10; k++) {
				if (p.repaired) {
					for (long r = from; r < to; r++)
						for (long c = 0; c < columns; c++)
							image[r * columns + c] = 0.5 * image[r * columns + c] + 0.25;
				} else {
					for (long c = from; c < to; c++)
						for (long r = 0; r < rows; r++)
							image[r * columns + c] = 0.5 * image[r * columns + c] + 0.25;
				}
			}
#pragma omp barrier
#pragma omp single
			planted_more(&p);
			more = p.more;
#pragma omp barrier
		}
	}
	printf("%g\n", image[columns]);
	free(image);
	return 0;
}
