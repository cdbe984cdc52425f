/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_JOB_H
#define MEMTRACE_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the launcher of a parallel job (srun, mpirun of Open MPI, mpiexec of MPICH and Intel MPI, …) tells this process
 * by its environment: that it is one rank of several. Texts are never NULL, "" is not known; numbers are -1 then.
 */
struct mt_job {
	bool is;		/* a rank is known */
	const char *launcher;	/* open-mpi, pmix, pmi, mvapich, slurm */
	char *id;		/* the same in all ranks, fit for the name of a file */
	bool id_of_node;	/* the launcher names no job: the id is only the same in the ranks of this node */
	char *node;		/* host name */
	int64_t rank, size, local_rank;
};

/* Reads the environment. */
void mt_job_detect(struct mt_job *job);
void mt_job_free(struct mt_job *job);
/* One rank of several. A job of one is a program like any other. */
bool mt_job_of_several(const struct mt_job *job);
/* {launcher, id, id_scope, rank, size, local_rank, node}; what is not known is null. */
json_t *mt_job_describe(const struct mt_job *job);

/*
 * @pattern with %j (id of the job), %r (rank), %h (host), %p (number of this process) and %% replaced. NULL when it has
 * something else behind a %, or %j or %r outside of a job; *wrong is a sentence then, to be freed.
 */
char *mt_job_expand(const struct mt_job *job, const char *pattern, char **wrong);
/* Whether a pattern tells ranks apart: it has %r or %p. */
bool mt_job_by_rank(const char *pattern);

#endif
