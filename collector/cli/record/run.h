/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * run.h - one run of `memtrace record`: what was asked for, and what there is of it so far. A run of --repeat is one of its own, in a
 * process of its own.
 *
 * Everything is called on the one thread of the recorder. What is marked "exit code" returns 0, or an enum mt_exit after a message.
 */
#ifndef MEMTRACE_CLI_RUN_H
#define MEMTRACE_CLI_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/backend/backend.h"
#include "cli/record/signals.h"
#include "cli/record/windows.h"
#include "cli/table/args.h"
#include "common/settings.h"

struct mt_run {
	const struct mt_args *a;
	struct mt_window_spec windows;		/* of --windows */
	pid_t on_node;				/* the parent that runs us for record --host, or 0 */
	const char *output;			/* the trace directory that was asked for; of a run of --repeat its own; NULL: none */

	/* prepare */
	struct mt_probe probe;
	const struct mt_backend *backend;
	char *program;				/* a path */
	const char *obstacle;			/* why it does not load the library, or NULL */
	char *which;				/* the file of which that is so */
	char *zoom;				/* what --zoom came to */
	struct mt_beside *beside;		/* --with */

	/* open */
	struct mt_config settings;
	char *dir;				/* absolute */
	void *session;				/* of the backend */
	struct mt_io *io;			/* --io */
	json_t *manifest;

	/* start */
	struct mt_signals signals;		/* as they were */
	struct mt_family *family;		/* what the program starts, where it is watched */

	char *cwd, *word;			/* private to directory.c */
};

/* ---- choose.c */

/* The backend that was asked for, or "auto". */
const char *mt_run_requested(const struct mt_args *a);
/* "zap, rwp": the backends that have all these abilities; to be freed. */
char *mt_backend_names(unsigned int abilities);
/* Tries what can be taken. */
void mt_run_probe(struct mt_run *r);
/* The backend that was asked for, or the best for r->program (NULL: for processes that run). Exit code. */
int mt_run_choose(struct mt_run *r);

/* ---- directory.c */

/* Makes the trace directory of @program; never one that exists. Exit code. */
int mt_run_make_directory(struct mt_run *r, const char *program);
/* Takes room on the disk, which is given back at the end. Exit code. */
int mt_run_reserve(const struct mt_run *r);
/* Removes what we made so far, when nothing could be started; --io and --with are ended before. */
void mt_run_remove_directory(const struct mt_run *r);
/* The trace as the user would type it; valid as long as @r and @path are. */
const char *mt_run_typed(struct mt_run *r, const char *path);
/* The same as an argument for a shell, also when it has blanks or begins with a dash; valid until the next call. */
const char *mt_run_pasted(struct mt_run *r, const char *path);

/* ---- open.c */

/* Opens the session of the backend, where it has one. Exit code. */
int mt_run_open_session(struct mt_run *r);
/* Begins --io, if that was asked for. Exit code. */
int mt_run_open_io(struct mt_run *r);
/* Ends --io; what there was goes into the manifest, unless @keep is not. */
void mt_run_close_io(struct mt_run *r, bool keep);
/* Makes r->manifest, as far as it is known before the program runs, and writes it. 0 or a negative errno. */
int mt_run_describe(struct mt_run *r, const struct mt_args *command, const char *program);

/* ---- with.c */

/* --with: finds the tool. Exit code. */
int mt_run_find_beside(struct mt_run *r);
/* Makes the folder of its archive. Exit code. */
int mt_run_open_beside(struct mt_run *r);
/* Ends it; its folder goes, too, if nothing is in it. */
void mt_run_close_beside(struct mt_run *r);
/* After the run: joins both traces. */
void mt_run_join_beside(struct mt_run *r);

/* ---- launch.c */

/* Starts the program. Pid, or a negative errno of exec. */
int mt_run_start(struct mt_run *r);
/* Waits for its end. A status of wait(), and what it used. */
int mt_run_wait(struct mt_run *r, pid_t pid, struct rusage *used);

/* ---- end.c, summary.c, attach.c */

/*
 * The program's last word is spoken; now ours: the rest of the accesses, finished files, the manifest, what to tell. Takes the session.
 * @used NULL: not known. @wait: its processes end with it. 0, or the exit code of an incomplete trace.
 */
int mt_run_end(struct mt_run *r, const char *message, const struct rusage *used, bool wait);
/* What is told at the end. @alive: processes that go on. */
void mt_run_summary(struct mt_run *r, size_t alive);
/* --pid: processes that run already. Exit code. */
int mt_run_attach(struct mt_run *r);

#endif
