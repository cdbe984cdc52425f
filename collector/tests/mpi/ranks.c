/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* two-rank MPI program: each rank fills and sums its own part, passes borders, and both use one window of shared memory */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	size_t n = 1 << 18;
	double *field = malloc(n * sizeof *field), *window, sum = 0, all;
	MPI_Win w;
	MPI_Win_allocate_shared(rank == 0 ? 1 << 18 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &w);
	MPI_Aint bytes; int unit;
	MPI_Win_shared_query(w, 0, &bytes, &unit, &window);
	for (int it = 0; it < 20; it++) {
		for (size_t i = 0; i < n; i++) field[i] = field[i] * 0.5 + i + rank;
		for (size_t i = rank * 4096; i < (size_t)bytes / 8; i += 512) window[i] += 1;
		for (size_t i = 0; i < n; i += 7) sum += field[i];
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		nanosleep(&(struct timespec){ 0, 15000000 }, NULL);
	}
	if (!rank) printf("sum %g\n", all);
	MPI_Win_free(&w);
	MPI_Finalize();
	return 0;
}
