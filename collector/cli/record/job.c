/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * job.c - the rank of a parallel job that this process is, from what launchers put into the environment.
 *
 * mpirun within a Slurm allocation sets its own variables and inherits those of Slurm, whose rank is that of the batch
 * script or of mpirun's daemon then: so those of MPI go first. The rank is asked of each in turn, size and local rank
 * of the same one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/record/job.h"
#include "cli/base/util.h"

static const struct launcher {
	const char *name, *rank, *size[2], *local_rank, *id[2];
} launchers[] = {
	/* the names within one line are those of one launcher */
	{ "open-mpi", "OMPI_COMM_WORLD_RANK", { "OMPI_COMM_WORLD_SIZE" }, "OMPI_COMM_WORLD_LOCAL_RANK",
	  { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid" } },
	{ "mvapich", "MV2_COMM_WORLD_RANK", { "MV2_COMM_WORLD_SIZE" }, "MV2_COMM_WORLD_LOCAL_RANK", { NULL } },
	/* srun --mpi=pmix and --mpi=pmi2 are Slurm's own: their size and id are those of the step */
	{ "slurm", "SLURM_PROCID", { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" }, "SLURM_LOCALID", { NULL } },
	{ "pmix", "PMIX_RANK", { "PMIX_SIZE" }, NULL, { "PMIX_NAMESPACE" } },
	/* Hydra: MPICH, Intel MPI */
	{ "pmi", "PMI_RANK", { "PMI_SIZE" }, "MPI_LOCALRANKID", { "PMI_JOBID" } },
};

/* Of the scheduler: what tells this allocation from others. */
static const char *const schedulers[] = { "SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID", "OAR_JOB_ID" };

/* A number of 0 or more, or -1. */
static int64_t number(const char *name)
{
	const char *v = name ? getenv(name) : NULL;
	char *end;
	long n;

	if (!v || !isdigit((unsigned char)*v))
		return -1;
	n = strtol(v, &end, 10);
	return *end ? -1 : n;
}

static const char *text(const char *name)
{
	const char *v = name ? getenv(name) : NULL;

	return v ? v : "";
}

static void sanitise(char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-", *s))
			*s = '-';
}

/* The parent of a process and its command; 0: not known. */
static int parent_of(int pid, char command[32])
{
	char *path = mt_printf("/proc/%d/stat", pid), *stat = mt_read_file(path, NULL), *q, *name;
	const char *field = mt_stat_field(stat, 4);
	int parent = 0;

	command[0] = 0;
	name = stat ? strchr(stat, '(') : NULL;
	q = stat ? strrchr(stat, ')') : NULL;
	if (name && q) {
		snprintf(command, 32, "%.*s", (int)(q - name - 1), name + 1);
		parent = field ? (int)strtol(field, NULL, 10) : 0;
	}
	free(stat);
	free(path);
	return parent;
}

/*
 * Hydra gives its jobs no name. On one node all ranks come from one proxy: its number names the job there. With a shell
 * between the proxy and the recorder it is not the parent, so it is looked for by its name.
 */
static int launching_process(void)
{
	char command[32];
	int pid = getppid();

	for (int depth = 0; pid > 1 && depth < 16; depth++) {
		int parent = parent_of(pid, command);

		if (!strncmp(command, "hydra", 5) || !strncmp(command, "mpi", 3) || !strncmp(command, "orte", 4) ||
		    !strncmp(command, "prte", 4) || !strncmp(command, "slurmstepd", 10))
			return pid;
		pid = parent;
	}
	return getppid();
}

static char *id_of(const struct launcher *l, const char *node, bool *of_node)
{
	const char *scheduler = "", *own = "", *step = text("SLURM_STEP_ID");
	char *id;

	*of_node = false;
	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]) && !*scheduler; i++)
		scheduler = text(schedulers[i]);
	for (int i = 0; i < 2 && !*own; i++)
		own = text(l->id[i]);
	if (!strcmp(l->name, "slurm")) {
		const char *array = text("SLURM_ARRAY_JOB_ID");

		if (*array)
			id = mt_printf("%s_%s%s%s", array, text("SLURM_ARRAY_TASK_ID"), *step ? "." : "", step);
		else
			id = mt_printf("%s%s%s", *scheduler ? scheduler : "slurm", *step ? "." : "", step);
	} else if (*own) {
		id = mt_printf("%s%s%s", scheduler, *scheduler ? "-" : "", own);
	} else if (*scheduler && *step) {	/* mpiexec has started its proxies as a step */
		id = mt_printf("%s.%s", scheduler, step);
	} else {
		*of_node = true;
		id = mt_printf("%s%s%s-%d", scheduler, *scheduler ? "-" : "", node, launching_process());
	}
	sanitise(id);
	return id;
}

void mt_job_detect(struct mt_job *job)
{
	struct utsname u;
	memset(job, 0, sizeof(*job));
	job->rank = job->size = job->local_rank = -1;
	job->launcher = "";
	job->node = mt_strdup(uname(&u) ? "" : u.nodename);
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && !job->is; i++) {
		const struct launcher *l = &launchers[i];

		job->rank = number(l->rank);
		job->is = job->rank >= 0;
		if (!job->is)
			continue;
		job->launcher = l->name;
		for (int k = 0; k < 2 && job->size < 0; k++)
			job->size = number(l->size[k]);
		job->local_rank = number(l->local_rank);
		job->id = id_of(l, job->node, &job->id_of_node);
	}
	if (!job->is)
		job->id = mt_strdup("");
}

bool mt_job_of_several(const struct mt_job *job)
{
	return job->is && job->size != 1;
}

void mt_job_free(struct mt_job *job)
{
	free(job->id);
	free(job->node);
	job->id = job->node = NULL;
}

static json_t *known(int64_t n)
{
	return n < 0 ? json_null() : json_integer((json_int_t)n);
}

json_t *mt_job_describe(const struct mt_job *job)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "launcher", job->launcher, "id", job->id,
			 "id_scope", job->id_of_node ? "node" : "job", "rank", known(job->rank),
			 "size", known(job->size), "local_rank", known(job->local_rank), "node", job->node);
}

char *mt_job_expand(const struct mt_job *job, const char *pattern, char **wrong)
{
	char *out = mt_strdup("");

	*wrong = NULL;
	for (const char *p = pattern; *p; p++) {
		char *next;

		if (*p != '%') {
			next = mt_printf("%s%c", out, *p);
		} else if (*++p == '%') {
			next = mt_printf("%s%%", out);
		} else if (*p == 'h') {
			next = mt_printf("%s%s", out, job->node);
		} else if (*p == 'p') {
			next = mt_printf("%s%d", out, (int)getpid());
		} else if (*p == 'j' && job->is) {
			next = mt_printf("%s%s", out, job->id);
		} else if (*p == 'r' && job->is) {
			next = mt_printf("%s%04d", out, (int)job->rank);
		} else {
			*wrong = *p == 'j' || *p == 'r' ?
				 mt_printf("%%%c in '%s' is of a parallel job, and no launcher of one is in the environment", *p, pattern) :
				 mt_printf("in '%s' one of %%j, %%r, %%h, %%p and %%%% must follow a %%", pattern);
			free(out);
			return NULL;
		}
		free(out);
		out = next;
	}
	return out;
}

bool mt_job_by_rank(const char *pattern)
{
	for (const char *p = pattern; *p; p++)
		if (*p == '%' && *++p && strchr("rp", *p))
			return true;
		else if (!*p)
			break;
	return false;
}
