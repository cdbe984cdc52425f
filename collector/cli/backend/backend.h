/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * backend.h - ways of seeing accesses. A backend is one file, backend_NAME.c, and one line in
 * backends.list; `record`, `check`, the choices of --backend and, through `check --json`, the
 * workbench take everything from here. docs/extend/backends.md tells how to add one.
 */
#ifndef MEMTRACE_CLI_BACKEND_H
#define MEMTRACE_CLI_BACKEND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/backend/probe.h"
#include "common/settings.h"

/* What is to be recorded: the options of `record`. */
struct mt_backend_request {
	const char *trace;		/* directory; exists when a session is opened */
	uint64_t interval_ns;
	uint32_t subphases;
	double max_overhead;		/* 0: the interval never grows */
	bool physical, writes;		/* writes: --write-tracking is on */
	bool windows;			/* accesses are counted for a part of the time */
	bool instructions;		/* what each instruction accesses is counted, too */
	bool library;			/* the program is started with the preload library */
};

/* What a session can tell at its end. */
struct mt_backend_result {
	uint64_t missed_faults;		/* of the whole machine */
	uint64_t followed;		/* address spaces that devices or virtual machines use by page tables of their own */
};

/* What only some backends can do; the words for them are mt_ability_name[]. */
#define MT_ABILITY_ACCESSES		0x1u	/* it sees accesses at all */
#define MT_ABILITY_RUNNING		0x2u	/* a process that runs already (--pid) */
#define MT_ABILITY_ANY_PROGRAM		0x4u	/* programs that do not load the library, static ones say */
#define MT_ABILITY_WRITE_TRACKING	0x8u	/* --write-tracking says something to it */
#define MT_ABILITY_EXACT		0x10u	/* it counts every access */
#define MT_ABILITY_WINDOWS		0x20u	/* it can count for a part of the time (--windows) */
#define MT_ABILITY_INSTRUCTIONS		0x40u	/* it can count what each instruction accesses (--instructions) */
#define MT_ABILITY_ZOOM			0x80u	/* it can look closely at a structure (--zoom) */
#define MT_ABILITY_SUBPHASES		0x100u	/* it sees a page again in parts of an interval (--subphases), fewer where the governor asks for it */
#define MT_ABILITY_ANY_MEMORY		0x200u	/* memory of all kinds, but that of devices and huge pages, wherever it is */
#define MT_N_ABILITIES			10
extern const char *const mt_ability_name[MT_N_ABILITIES];

/*
 * The functions of a session may be NULL, all of them: the library in the program does everything.
 * They are called on the thread that runs `record`.
 */
struct mt_backend {
	const char *name;		/* of --backend, in manifest.json and image.json */
	const char *title;		/* in a list for people, without the name */
	unsigned int abilities;		/* MT_ABILITY_* */
	bool takes_static;		/* programs that are static, too, and no others without the library */
	enum mt_library library;	/* who writes accesses and intervals of a program that has it */
	bool on_demand;			/* auto never takes it, and to try it costs more: only where it, or exact counts, are asked for */
	/*
	 * Tries whether it works here; changes nothing on the machine. Fills works, why, fix, the
	 * facilities, and how much auto wants it (0: only when it is asked for) with the reason.
	 */
	void (*probe)(const struct mt_probe *p, struct mt_backend_probe *b);
	/* backend.guarantee of docs/reference/trace-format.md. */
	json_t *(*guarantee)(const struct mt_backend_probe *b, const struct mt_backend_request *r);
	/*
	 * How well it can record this program, which is a path: --exact takes the backend with the greatest
	 * number. 0: it sees little or nothing of it, *why is a sentence, which the caller frees. NULL: any.
	 */
	int (*fits)(const char *program, char **why);
	/* A session for a trace. NULL: *why is a sentence, *fix one command or NULL; the caller frees them. */
	void *(*open)(const struct mt_backend_request *r, char **why, char **fix);
	/*
	 * In the child that becomes the program, before exec: the words that run @program, the first one a path, where it is not run
	 * as it is. NULL-ended; @argv is the program's. NULL: there is nothing to change.
	 */
	char **(*command)(void *session, const char *program, char *const argv[]);
	/* Traces a process from its next exec on, or at once. 0 or a negative errno. */
	int (*attach)(void *session, pid_t pid, bool on_exec);
	/* From now on the trace is written. 0 or a negative errno. NULL: nothing to do, as in attach. */
	int (*start)(void *session);
	/* How the program ended, a status of wait(), where @status, of process @pid, is not what it is alone. */
	int (*ended)(void *session, pid_t pid, int status);
	/* Traced processes and threads that are alive. */
	int (*alive)(void *session);
	/* Stops, writes the rest, undoes what open() did, frees. *r may be NULL. */
	void (*finish)(void *session, struct mt_backend_result *r);
};

/* In the order of backends.list, which is that of `check`. */
extern const struct mt_backend *const mt_backends[MT_MAX_BACKENDS];
extern const int mt_n_backends;

/* NULL: there is none of this name. */
const struct mt_backend *mt_backend_find(const char *name);
/* What a probe found about a backend; it was made by mt_probe_run(). */
const struct mt_backend_probe *mt_backend_probe(const struct mt_probe *p, const struct mt_backend *b);

#endif
