/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* Which rank of which job the environment tells, and the names made of it. */
// uses: cli/record/job.c cli/base/util.c
// libs: -ljansson -lzstd -lz
#include "harness.h"
#include "cli/record/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only these variables, "NAME=VALUE"; ends with NULL. */
static struct mt_job job_of(const char *const *variables)
{
	struct mt_job job;

	clearenv();
	for (; *variables; variables++)
		putenv((char *)*variables);
	mt_job_detect(&job);
	return job;
}
#define JOB(...) job_of((const char *const[]){ __VA_ARGS__, NULL })

static void launchers(void)
{
	struct mt_job j = job_of((const char *const[]){ NULL });

	CHECK(!j.is && j.rank == -1 && j.size == -1 && !*j.id);
	mt_job_free(&j);

	j = JOB("SLURM_JOB_ID=4711", "SLURM_STEP_ID=2", "SLURM_PROCID=7", "SLURM_NTASKS=16", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=3",
		"PMI_RANK=7", "PMI_SIZE=8");
	CHECK(j.is && !strcmp(j.launcher, "slurm") && j.rank == 7 && j.size == 8 && j.local_rank == 3 && !j.id_of_node);
	CHECK(!strcmp(j.id, "4711.2"));
	mt_job_free(&j);

	j = JOB("SLURM_JOB_ID=4713", "SLURM_ARRAY_JOB_ID=4711", "SLURM_ARRAY_TASK_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=2");
	CHECK(!strcmp(j.id, "4711_5") && j.size == 2 && j.rank == 0);
	mt_job_free(&j);

	/* mpirun in a batch script of Slurm: the rank of Slurm is that of the script */
	j = JOB("SLURM_JOB_ID=4711", "SLURM_PROCID=0", "SLURM_NTASKS=4", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4",
		"OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_MCA_ess_base_jobid=327811073");
	CHECK(!strcmp(j.launcher, "open-mpi") && j.rank == 3 && j.size == 4 && j.local_rank == 1);
	CHECK(!strcmp(j.id, "4711-327811073"));
	mt_job_free(&j);

	j = JOB("PMIX_NAMESPACE=prterun-node 1@1", "PMIX_RANK=0", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2");
	CHECK(!strcmp(j.id, "prterun-node-1-1"));
	mt_job_free(&j);

	j = JOB("PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1");
	CHECK(!strcmp(j.launcher, "pmi") && j.rank == 1 && j.size == 2 && j.local_rank == 1 && j.id_of_node);
	CHECK(!strncmp(j.id, j.node, strlen(j.node)));
	mt_job_free(&j);

	j = JOB("MV2_COMM_WORLD_RANK=-1", "PMI_RANK=x", "PMIX_RANK=");
	CHECK(!j.is);
	mt_job_free(&j);
}

static void expanded(const struct mt_job *job, const char *pattern, const char *expected)
{
	char *wrong, *got = mt_job_expand(job, pattern, &wrong);

	CHECK(expected ? got && !strcmp(got, expected) && !wrong : !got && wrong && strlen(wrong) > 20);
	free(got);
	free(wrong);
}

static void names(void)
{
	struct mt_job in = JOB("SLURM_JOB_ID=9", "SLURM_PROCID=12"), out = JOB("A=1");
	char process[32];

	snprintf(process, sizeof(process), "t%d", (int)getpid());
	expanded(&in, "%j/r%r", "9/r0012");
	expanded(&in, "50%%", "50%");
	expanded(&out, "t%p", process);
	expanded(&out, "plain", "plain");
	expanded(&out, "%r", NULL);
	expanded(&out, "%j", NULL);
	expanded(&in, "%q", NULL);
	expanded(&in, "end%", NULL);
	CHECK(mt_job_by_rank("a/%r") && mt_job_by_rank("%p") && !mt_job_by_rank("%%r") && !mt_job_by_rank("%j") && !mt_job_by_rank("x%"));
	mt_job_free(&in);
	mt_job_free(&out);
}

int main(void)
{
	launchers();
	names();
	return mt_test_done();
}
