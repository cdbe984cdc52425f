/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* A ring of messages, each second one not waited for, and a sum: what traces of MPI programs have. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 4;
	double out[64] = { 0 }, in[64], sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		int next = (rank + 1) % size, before = (rank + size - 1) % size;

		if (i % 2) {
			MPI_Request request;

			MPI_Isend(out, 64, MPI_DOUBLE, next, i, MPI_COMM_WORLD, &request);
			MPI_Recv(in, 64, MPI_DOUBLE, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else if (rank % 2) {
			MPI_Recv(in, 32, MPI_DOUBLE, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, 32, MPI_DOUBLE, next, i, MPI_COMM_WORLD);
		} else {
			MPI_Send(out, 32, MPI_DOUBLE, next, i, MPI_COMM_WORLD);
			MPI_Recv(in, 32, MPI_DOUBLE, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	MPI_Allreduce(out, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
