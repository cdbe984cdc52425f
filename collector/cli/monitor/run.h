/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * run.h - the monitors of a definition file on the places of a topology, and their
 * values at each sample. One thread takes the samples: it reads the counters of all PUs, so there is no barrier.
 */
#ifndef MEMTRACE_MONITOR_RUN_H
#define MEMTRACE_MONITOR_RUN_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/monitor/definition.h"
#include "cli/monitor/source.h"
#include "cli/monitor/statistics.h"

struct mon_monitor {
	const struct mon_definition *def;
	hwloc_obj_t obj;
	char place[80];			/* PU:3 */
	const struct mon_source *source;	/* NULL: made of its children */
	void *state;
	size_t *child;			/* indexes of monitors that stand before this one */
	size_t n_children;
	int n_events;
	double *now;			/* what was read in this sample */
	double *event;			/* the same, or cumulated */
	struct mon_window events;	/* the window */
	struct mon_window samples;	/* of 2016: reductions of the sets */
	int n_outputs;
	double *out;
	bool active;			/* in this sample; otherwise out[] is that of the last one in which it was */
	bool dead;			/* none of its events gives values */
	uint64_t n_values;		/* samples in which it was active */
	double shown, before;		/* the value that is drawn, now and in the sample before */
	double sum;			/* of the shown values that there were */
	uint64_t n_shown;
};

/* Monitors of one definition stand one after the other. */
struct mon_level {
	const struct mon_definition *def;
	size_t first, n;
	char **label;			/* of the outputs */
	int n_outputs;
	double least, most;		/* of the shown values so far, or MIN and MAX */
};

struct mon_set {
	struct mon_file *file;
	struct mon_context *context;
	struct mon_monitor *monitor;	/* children before parents */
	size_t n, cap;
	struct mon_level *level;	/* in the order in which they are evaluated */
	size_t n_levels;
	const struct mon_source *clock;	/* a source with its own time, or NULL */
	size_t n_refused;
};

/*
 * Makes the monitors whose places have a PU of @keep (NULL: all). Refused events are told on standard error, once for
 * each definition. 0, or an exit code after a message: file->error says what is wrong with the file.
 */
int mon_set_make(struct mon_set *s, struct mon_file *file, struct mon_context *c, hwloc_const_bitmap_t keep);

/*
 * Is the file right on any machine? false: file->error says what is wrong. What depends on this machine is a note on
 * standard error: places that it does not have, events of a library that is not here.
 */
bool mon_set_check(struct mon_file *file, struct mon_context *c);

/* Takes sample c->sample. @running: the PUs on which the program runs, or NULL. */
void mon_set_update(struct mon_set *s, hwloc_const_bitmap_t running);

void mon_set_free(struct mon_set *s);

#endif
