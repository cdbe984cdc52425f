/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source.h - where the events of monitors come from. A new source is one file
 * source_NAME.c and a line in sources.c. All is called by the one sampling thread.
 */
#ifndef MEMTRACE_MONITOR_SOURCE_H
#define MEMTRACE_MONITOR_SOURCE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/base/processes.h"
#include "cli/monitor/definition.h"

/* What sources must know of the run. */
struct mon_context {
	hwloc_topology_t topology;
	bool this_machine;		/* not a synthetic or recorded topology */
	pid_t pid;			/* the program, 0: none, the whole machine */
	bool starts;			/* it is our child, which has not begun yet */
	bool running_only;		/* count the program and not its processors, where the source can */
	const char *trace;		/* for the source trace, or NULL */
	uint64_t now_ns;		/* of the sample that is being taken, since the start */
	uint64_t sample;		/* its number from 0; the first is at the start and has no values */
	struct mt_processes tree;	/* the program and what it started, as of this sample */
};

/* Why an event gives no values. */
struct mon_refusal {
	char why[256];
	char command[128];		/* that allows it, or empty */
};

/* An event of a source, for a list of them; the texts live as long as the call. */
struct mon_listed {
	const char *name, *text;
	const char *places;		/* where it can be counted, NULL: everywhere */
	bool refused;			/* it exists, and cannot be counted here */
	bool pattern;			/* the name stands for many */
};

/* Who is told of them. */
struct mon_listing {
	void (*event)(struct mon_listing *l, const struct mon_listed *e);
	void (*note)(struct mon_listing *l, const char *text);	/* about the source, without an end of line */
};

struct mon_source {
	const char *name, *text;
	/* Its events, with whether they work here. */
	void (*list)(const struct mon_context *c, struct mon_listing *to);
	/* Is there an event of that name, whether it works here or not? */
	bool (*knows)(const struct mon_context *c, const char *event);
	/*
	 * The events of one monitor at one place. Values of events that are refused are NaN, and why[i] says why;
	 * NULL: this place cannot be; why[0] says why.
	 */
	void *(*open)(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why);
	/* What happened since the call before, or the state of something; the first call only begins. 0 or a negative errno. */
	int (*read)(const struct mon_context *c, void *state, double *values);
	void (*close)(void *state);
	/* A source that has a clock of its own: moves to its next sample and tells its time; false: there is none. */
	bool (*next)(const struct mon_context *c, uint64_t *now_ns);
};

extern const struct mon_source mon_source_proc, mon_source_perf, mon_source_papi, mon_source_fake, mon_source_trace;
extern const struct mon_source *const mon_sources[];	/* ends with NULL */
const struct mon_source *mon_source_find(const char *name);

/* The type of an object as it is in files of traces: PU, Core, L3Cache, NUMANode, Package, Machine. */
void mon_type_name(hwloc_obj_t obj, char *to, size_t n);

/* "sudo " where that is needed. */
const char *mon_sudo(void);

/* Why PAPI's library cannot be used, NULL: it can. */
const char *mon_papi_missing(void);

/* perf's generic event for a preset of PAPI, or NULL. */
const char *mon_perf_for_papi(const char *event);

#endif
