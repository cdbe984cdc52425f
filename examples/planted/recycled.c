/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: recycled-heap scratch */
/*
 * Each thread allocates and frees a buffer in each step: threads get each other's addresses. The repair keeps one buffer
 * for each thread.
 */
#include <malloc.h>

#include "planted.h"

#define BYTES (64L * PAGE)

static _Thread_local char *kept;

static void fill(char *scratch, int thread)
{
	for (int k = 0; k < 20; k++)
		for (long i = 0; i < BYTES; i += 8)
			scratch[i] += (char)(thread + i + k);
}

static void work(struct planted *p, int thread)
{
	for (int step = 0; step < 8; step++) {
		if (p->repaired) {
			if (!kept)
				kept = malloc(BYTES);
			fill(kept, thread);
		} else {
			char *scratch = malloc(BYTES);

			fill(scratch, thread);
			free(scratch);
		}
	}
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);

	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	planted_pthreads(&p, work);
	puts("done");
	return 0;
}
