/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* with.c - record --with: the other tool of a run (beside.h), before it and after it. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/user.h"
#include "cli/base/util.h"
#include "cli/base/self.h"
#include "cli/record/beside.h"
#include "cli/record/job.h"
#include "cli/record/run.h"

/* Where --with puts the archive: beside the trace; ranks of a job write one. To be freed. */
static char *beside_folder(const char *dir)
{
	struct mt_job job;
	char *folder;

	mt_job_detect(&job);
	folder = mt_printf("%.*s/eztrace", (int)(mt_job_of_several(&job) ? strrchr(dir, '/') - dir : (ptrdiff_t)strlen(dir)), dir);
	mt_job_free(&job);
	return folder;
}

int mt_run_find_beside(struct mt_run *r)
{
	const struct mt_args *a = r->a;
	char *why;
	int code;

	if (!mt_args_has(a, "with"))
		return 0;
	if (r->obstacle)
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "--with %s: %s %s", mt_args_get(a, "with"), r->which, r->obstacle);
	r->beside = mt_beside_open(mt_args_get(a, "with"), r->program, mt_args_has(a, "libomp"), &why, &code);
	if (r->beside)
		return 0;
	mt_fail(a, code, "%s", why);
	free(why);
	return code;
}

int mt_run_open_beside(struct mt_run *r)
{
	char *folder = r->beside ? beside_folder(r->dir) : NULL;
	const int err = folder ? mt_beside_prepare(r->beside, folder) : 0;
	const int rc = err ? mt_fail(r->a, MT_EXIT_INTERNAL, "cannot make %s: %s", folder, strerror(-err)) : 0;

	free(folder);
	return rc;
}

void mt_run_close_beside(struct mt_run *r)
{
	char *folder = r->beside && r->dir ? beside_folder(r->dir) : NULL;

	if (folder) {
		mt_beside_ended(r->beside);
		rmdir(folder);
	}
	free(folder);
	mt_beside_free(r->beside);
	r->beside = NULL;
}

/*
 * After --with: memtrace join, in a process of its own, for the trace @dir and the archive of @program. What it says goes
 * to standard error, as standard output is the program's. Where it does not succeed, both traces are there all the same.
 */
void mt_run_join_beside(struct mt_run *r)
{
	const char *dir = r->dir;
	char *why, *archive = mt_beside_archive(r->beside, r->program, &why), *folder = beside_folder(dir), self[PATH_MAX];
	const bool alone = !strncmp(folder, dir, strlen(dir));
	char *memory = mt_strdup(mt_run_pasted(r, dir)), *command;
	int status = -1;
	pid_t pid;

	if (!alone && archive) {	/* the other ranks may still run */
		*strrchr(folder, '/') = 0;
		free(memory);
		memory = mt_strdup(mt_run_pasted(r, folder));
	}
	command = mt_printf("memtrace join %s %s", memory, archive ? mt_run_pasted(r, archive) : "TRACE");
	if (!archive) {
		mt_note("%s, in %s; to join one of them: %s", why, mt_run_typed(r, folder), command);
	} else if (!alone) {
		struct mt_job job;

		mt_job_detect(&job);
		if (job.rank == 0)
			mt_note("then: %s", command);
		mt_job_free(&job);
	} else {
		fflush(NULL);
		pid = mt_self(self) ? -1 : fork();
		if (!pid) {
			mt_signals_give_back(&r->signals);
			dup2(STDERR_FILENO, STDOUT_FILENO);
			if (!mt_user_become())
				execl(self, "memtrace", "join", mt_quiet ? "--quiet" : "--", mt_quiet ? "--" : mt_run_typed(r, dir),
				      mt_quiet ? mt_run_typed(r, dir) : mt_run_typed(r, archive), mt_quiet ? mt_run_typed(r, archive) : NULL, NULL);
			_exit(127);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			mt_note("both traces are there, and not joined; to do it: %s", command);
	}
	free(command);
	free(memory);
	free(archive);
	free(folder);
	free(why);
}

