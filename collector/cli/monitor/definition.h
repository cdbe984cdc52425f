/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * definition.h - files that define monitors, of three generations of one tool:
 *
 *	2015	name { OBJ=L3; CTR=A*2/B; MAX=1e6; MIN=0; LOGSCALE=1; }
 *	2016	name { OBJ:=PU; PERF_LIB:=papi; EVSET:=A, B; EVSET_REDUCE:=$0/$1; ... }
 *	2017	name { OBJ:=PU:0; PERF_LIB:=proc; EVSET:=A; REDUCTION:=x=$0*2; WINDOW:=8; ... }
 *
 * The fields of a file tell its generation; fields of two of them in one file are an
 * error. docs/reference/monitor.md is the reference. One thread.
 */
#ifndef MEMTRACE_MONITOR_DEFINITION_H
#define MEMTRACE_MONITOR_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/monitor/expression.h"

enum mon_generation { MON_ANY = 0, MON_2015 = 2015, MON_2016 = 2016, MON_2017 = 2017 };

/* What stands behind a field. */
enum mon_value { MON_OF_PLACES, MON_OF_SOURCE, MON_OF_EVENTS, MON_OF_COUNTERS, MON_OF_SET_REDUCTION, MON_OF_SAMPLES_REDUCTION,
	MON_OF_REDUCTIONS, MON_OF_NUMBER, MON_OF_FLAG, MON_OF_FILE, MON_N_VALUES };

struct mon_field {
	const char *name, *text;
	unsigned int in;		/* bit k: the generation of 2015 + k has it */
	enum mon_value value;
};

/* All fields, in the order in which they are told; ends with one without a name. */
extern const struct mon_field mon_fields[];

struct mon_pos {
	int line, column;		/* from 1; columns count bytes */
};

struct mon_event {
	char *name;
	struct mon_pos at;
};

struct mon_output {
	char *name;			/* NULL: none was given */
	struct mon_expr *expr;
};

struct mon_definition {
	char *name;
	struct mon_pos at;
	char *object;			/* type in the topology; NULL: its root */
	struct mon_pos object_at;
	int object_first, object_last;	/* logical indexes, inclusive; -1: all */
	char *source;			/* NULL: fake, or of 2015 whatever knows the counters */
	struct mon_pos source_at;
	struct mon_event *event;	/* in the order of the file: $0 is the first */
	size_t n_events, cap_events;
	struct mon_pos events_at;
	struct mon_output *output;	/* expressions; none: the events, or what a function gives */
	size_t n_outputs, cap_outputs;
	char *set_function;		/* of EVSET_REDUCE, or of REDUCTION n#function */
	struct mon_pos set_function_at;
	int n_function_outputs;		/* n */
	char *samples_function;		/* of SAMPLES_REDUCE */
	struct mon_pos samples_function_at;
	int window;			/* samples that are kept */
	bool accumulate, silent;
	bool has_min, has_max, log_scale;
	double min, max;
	int display;			/* which output is drawn, from 1; 0: none */
	char *file;			/* OUTPUT: a path; NULL: where the command says */
};

struct mon_file {
	char *path;			/* for messages */
	char *text;			/* positions of operations are offsets into it */
	size_t len;
	enum mon_generation generation;
	struct mon_definition *def;
	size_t n, cap;
	char error[768];		/* "PATH:LINE:COLUMN: sentence", or empty */
	char mistake[400];		/* the sentence alone */
	struct mon_pos mistake_at;	/* line 0: the file cannot be read */
};

/* Reads @path, or parses @text. Always returns a file; with an error no definition in it may be used. */
struct mon_file *mon_file_read(const char *path);
struct mon_file *mon_file_parse(const char *path, const char *text, size_t len);
void mon_file_free(struct mon_file *f);

/* Sets f->error, if it is the first one; returns false. */
bool mon_file_fail(struct mon_file *f, struct mon_pos at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
struct mon_pos mon_position(const struct mon_file *f, size_t offset);

#endif
