/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* directory.c - the trace directory of a run: its name, its making, and its removal when nothing could be started. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/record/job.h"
#include "cli/record/run.h"
#include "cli/remote/on_node.h"
#include "cli/trace/tracedir.h"
#include "common/tracenames.h"

/* Makes the folders above @path that are missing; other ranks may do so at the same time. */
static int make_parents(const char *path)
{
	char *p = mt_strdup(path);
	int err = 0;

	for (char *s = strchr(p + 1, '/'); s && !err; s = strchr(s + 1, '/')) {
		*s = 0;
		if (mkdir(p, 0777) && errno != EEXIST)
			err = -errno;
		*s = '/';
	}
	free(p);
	return err;
}

/* The exit code when a folder cannot be made: the command line is wrong only where it names what is there. */
static int exit_of_folder(int err)
{
	return err == EEXIST ? MT_EXIT_USAGE : err == ENOENT || err == ENOTDIR || err == ENAMETOOLONG || err == ELOOP ? MT_EXIT_INPUT :
	       err == ENOSPC || err == EDQUOT || err == EIO || err == ENOMEM ? MT_EXIT_INTERNAL : MT_EXIT_UNAVAILABLE;
}

/*
 * The trace directory of a rank: JOB/rNNNN.memtrace, where JOB is PROGRAM.job-ID or what --output names, or what
 * --output names for each rank. The folders above it are made. NULL after a message, with the exit code in *rc.
 */
static char *directory_of_rank(const struct mt_args *a, const struct mt_job *job, const char *given, const char *program, int *rc)
{
	char *wrong = NULL, *dir, *base = given && *given ? mt_job_expand(job, given, &wrong) :
					  mt_printf("%s.job-%s", mt_base(program), job->id);
	int err;

	if (!base) {
		*rc = mt_fail(a, MT_EXIT_USAGE, "%s", wrong);
		free(wrong);
		return NULL;
	}
	if (!mt_job_of_several(job) || (given && mt_job_by_rank(given)))
		dir = mt_strdup(base);
	else
		dir = mt_printf("%s/r%04d.memtrace", base, (int)job->rank);
	free(base);
	err = make_parents(dir);
	if (err) {
		*rc = mt_fail(a, exit_of_folder(-err), "cannot make the folder of %s: %s", dir, strerror(-err));
		free(dir);
		return NULL;
	}
	return dir;
}

/* Makes the trace directory; never one that exists. Absolute path, or NULL after a message, with the exit code in *rc. */
static char *make_directory(const struct mt_run *r, const char *program, int *rc)
{
	const struct mt_args *a = r->a;
	const char *given = r->output;
	char *dir, *abs;
	struct mt_job job;

	mt_job_detect(&job);
	dir = mt_job_of_several(&job) || (given && strchr(given, '%')) ? directory_of_rank(a, &job, given, program, rc) : NULL;
	if (!dir && ((given && strchr(given, '%')) || mt_job_of_several(&job))) {
		mt_job_free(&job);
		return NULL;
	}
	mt_job_free(&job);
	if (dir || (given && *given)) {
		if (!dir)
			dir = mt_strdup(given);
		while (strlen(dir) > 1 && dir[strlen(dir) - 1] == '/')
			dir[strlen(dir) - 1] = 0;
		if (mkdir(dir, 0777)) {
			if (errno == EEXIST)
				*rc = mt_fail(a, MT_EXIT_USAGE, "%s exists; a trace is never overwritten", dir);
			else
				*rc = mt_fail(a, exit_of_folder(errno), "cannot make %s: %s", dir, strerror(errno));
			free(dir);
			return NULL;
		}
	} else {
		dir = mt_printf("%s.memtrace", mt_base(program));
		for (int i = 2; mkdir(dir, 0777); i++) {
			if (errno != EEXIST || i > 100000) {
				*rc = mt_fail(a, exit_of_folder(errno), "cannot make %s here: %s", dir, strerror(errno));
				free(dir);
				return NULL;
			}
			free(dir);
			dir = mt_printf("%s.memtrace-%d", mt_base(program), i);
		}
	}
	abs = realpath(dir, NULL);
	if (!abs)
		*rc = mt_fail(a, exit_of_folder(errno), "%s: %s", dir, strerror(errno));
	free(dir);
	return abs;
}

int mt_run_make_directory(struct mt_run *r, const char *program)
{
	int rc = MT_EXIT_INTERNAL;

	r->dir = make_directory(r, program, &rc);
	return r->dir ? 0 : rc;
}

void mt_run_remove_directory(const struct mt_run *r)
{
	const char *dir = r->dir;
	static const char *const files[] = { "manifest.json", "topology.xml", MT_FILE_UNRECORDED, ".reserve", MT_FILE_TURNS };
	char *folder = mt_printf("%s/io", dir);
	struct dirent *e;
	DIR *d;

	d = opendir(folder);
	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
	free(folder);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *p = mt_printf("%s/%s", dir, files[i]);

		unlink(p);
		free(p);
	}
	rmdir(dir);
}

int mt_run_reserve(const struct mt_run *r)
{
	const int err = mt_reserve_take(r->dir);

	if (!err)
		return 0;
	return mt_fail(r->a, MT_EXIT_INTERNAL, "there is no room for a recording in %s: %s; the program was not started",
		       r->dir, strerror(-err));
}

const char *mt_run_typed(struct mt_run *r, const char *path)
{
	const char *shown = r->on_node ? getenv(MT_NODE_SHOWN) : NULL;
	size_t n;

	if (shown)
		return shown;
	if (!r->cwd)
		r->cwd = getcwd(NULL, 0);
	n = r->cwd ? strlen(r->cwd) : 0;
	if (n && !strncmp(path, r->cwd, n) && path[n] == '/')
		return path + n + 1;
	return path;
}

const char *mt_run_pasted(struct mt_run *r, const char *path)
{
	free(r->word);
	r->word = mt_shell_word(mt_run_typed(r, path));
	return r->word;
}

