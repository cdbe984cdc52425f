/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * probe.h - which backends work here, why not, and what changes it. Each probe
 * tries the real thing and undoes it.
 */
#ifndef MEMTRACE_CLI_PROBE_H
#define MEMTRACE_CLI_PROBE_H

#include <stdbool.h>

enum mt_works { MT_NO, MT_PARTLY, MT_YES };

struct mt_backend_probe {
	const char *name;
	enum mt_works works;
	char *why;		/* what is missing, or what it gives; one sentence */
	char *fix;		/* ONE command, or NULL */
	/* single facilities, for --json and the details */
	struct mt_facility {
		const char *name;
		enum mt_works works;
		char *why;
	} facility[10];
	int n_facilities;
};

enum { MT_PROBE_ZAP, MT_PROBE_KMOD, MT_PROBE_NONE, MT_N_PROBES };

struct mt_probe {
	struct mt_backend_probe backend[MT_N_PROBES];
	bool perf;		/* faults are attributed to threads */
	bool perf_kernel;	/* accesses of the kernel too */
	const char *best;	/* name of the backend that auto takes */
	char *reason;		/* why */
	char *preload;		/* path of the preload library, or NULL */
};

void mt_probe_run(struct mt_probe *p);
void mt_probe_free(struct mt_probe *p);

/* Path of libmemtrace-preload.so: MEMTRACE_PRELOAD, beside this program, or in
 * ../lib/memtrace or ../lib of it. NULL when it is nowhere. */
char *mt_preload_path(void);

#endif
