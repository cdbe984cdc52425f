/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * kmod.h - the backend that uses the kernel module: get it into the kernel,
 * run a session, look whether it would work.
 */
#ifndef MEMTRACE_CLI_KMOD_H
#define MEMTRACE_CLI_KMOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_kmod;

struct mt_kmod_options {
	const char *trace;		/* directory, exists */
	uint64_t interval_ns;
	uint32_t subphases;
	double max_overhead;		/* 0: the interval never grows */
	bool physical, writes;		/* writes: the first write after a read is seen */
	bool library;			/* the program is started with the preload library */
};

/*
 * A session: the module is loaded if it has to be (built before, if it has
 * to be), the device opened, configured. NULL: *why is one sentence, *fix one
 * command or NULL; the caller frees them.
 */
struct mt_kmod *mt_kmod_open(const struct mt_kmod_options *o, char **why, char **fix);
/*
 * Traces a process: from its next exec on, or at once (then its huge pages
 * are split first). 0 or a negative errno.
 */
int mt_kmod_attach(struct mt_kmod *k, pid_t pid, bool on_exec);
/* A thread writes the trace from now on. 0 or a negative errno. */
int mt_kmod_start(struct mt_kmod *k);

struct mt_kmod_result {
	uint64_t records, intervals, dropped, lost_writes, huge_skipped, missed_probes;
	uint64_t tasks_left;		/* traced tasks alive when the session was stopped */
};
/* Processes and threads that are traced now. */
int mt_kmod_alive(struct mt_kmod *k);
/* Stops, writes the rest, unloads what was loaded, frees. *r may be NULL. */
void mt_kmod_close(struct mt_kmod *k, struct mt_kmod_result *r);

/* What `check` tells; frees nothing, texts are allocated. Changes nothing on the machine. */
struct mt_kmod_state {
	bool usable;			/* a recording would work */
	bool loaded;			/* now */
	char *why, *fix;
	struct {
		const char *name;
		int works;		/* 0 no, 1 partly, 2 yes */
		char *text;
	} facility[8];
	int n_facilities;
};
void mt_kmod_probe(struct mt_kmod_state *s);

#endif
