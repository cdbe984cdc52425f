/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: padding cells */
/*
 * An element of a large array has 16 bytes of data, and is aligned to 512 bytes: most of the memory that moves is padding. The repair has
 * more elements in half of the memory, without the alignment.
 */
#include "planted.h"

#define CELLS (8L * 1024)
#define MORE 16L

struct cell {
	_Alignas(512) long count;
	double value;
};

struct packed {
	long count;
	double value;
};

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	struct cell *cells = p.repaired ? NULL : aligned_alloc(512, CELLS * sizeof(*cells));
	struct packed *packed = p.repaired ? malloc(MORE * CELLS * sizeof(*packed)) : NULL;

	while (planted_more(&p)) {
		if (p.repaired) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
			for (long i = 0; i < MORE * CELLS; i++) {
				((volatile struct packed *)packed)[i].count++;
				packed[i].value += (double)packed[i].count;
			}
		} else {
#pragma omp parallel for schedule(static) num_threads(p.threads)
			for (long i = 0; i < CELLS; i++) {
				((volatile struct cell *)cells)[i].count++;
				cells[i].value += (double)cells[i].count;
			}
		}
	}
	printf("%g\n", p.repaired ? packed[0].value : cells[0].value);
	free(cells);
	free(packed);
	return 0;
}
