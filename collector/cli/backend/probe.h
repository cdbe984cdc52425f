/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * probe.h - which backends work here, why not, and what changes it. Each probe
 * tries the real thing and undoes it.
 */
#ifndef MEMTRACE_CLI_PROBE_H
#define MEMTRACE_CLI_PROBE_H

#include <stdbool.h>

#define MT_MAX_BACKENDS 16

struct mt_backend;

enum mt_works { MT_NO, MT_PARTLY, MT_YES };

struct mt_backend_probe {
	enum mt_works works;
	char *why;		/* what is missing, or what it gives; one sentence */
	char *fix;		/* ONE command, or NULL */
	int preference;		/* auto takes the greatest; 0: never */
	char *reason;		/* why auto takes it; NULL: because nothing that sees accesses works */
	unsigned int found;	/* bits of the backend's own */
	/* single facilities, for --json and the details */
	struct mt_facility {
		const char *name;
		enum mt_works works;
		char *why;
	} facility[10];
	int n_facilities;
};

struct mt_probe {
	struct mt_backend_probe backend[MT_MAX_BACKENDS];	/* in the order of mt_backends[] */
	const struct mt_backend *best;	/* what auto takes; NULL: nothing works at all */
	char *reason;		/* why */
	char *preload;		/* path of the preload library, or NULL */
};

/* Of all backends; takes some ms. */
void mt_probe_run(struct mt_probe *p);
/* Without those that `record --backend @asked` (or --exact) cannot take: nothing was found about them. */
void mt_probe_run_for(struct mt_probe *p, const char *asked, bool exact);
void mt_probe_free(struct mt_probe *p);
/* The last facility of that name that was added; NULL: there is none. */
struct mt_facility *mt_probe_find(struct mt_backend_probe *b, const char *name);
/* Adds a facility with a text made like printf; returns @w. */
enum mt_works mt_probe_note(struct mt_backend_probe *b, const char *name, enum mt_works w, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
