/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * otf2_library.h - what reading and writing of OTF2 archives have in common:
 * libotf2, loaded when it is there, and the records of docs/reference/otf2-stream.md.
 * One thread.
 */
#ifndef MEMTRACE_CLI_OTF2_LIBRARY_H
#define MEMTRACE_CLI_OTF2_LIBRARY_H

#include "cli/otf2/otf2_api.h"

#include <stdarg.h>

#define MAGIC "memtrace-otf2/1\n"

/* Kinds of records: Otf2Stream.java has the same numbers. */
enum kind {
	CLOCK = 1, REALTIME, STRING, TREE_NODE, LOCATION_GROUP, LOCATION, REGION, ATTRIBUTE, GROUP, COMM, INTER_COMM, METRIC_MEMBER,
	METRIC_CLASS, METRIC_INSTANCE, IO_FILE, IO_HANDLE, PARAMETER, CALLING_CONTEXT, DEFINITIONS_END,
	LOCATION_BEGIN = 32, LOCATION_END, EVENT_ATTRIBUTE, ENTER, LEAVE, CONTEXT_ENTER, CONTEXT_LEAVE, CONTEXT_SAMPLE, SEND, RECEIVE,
	REQUEST, COLLECTIVE_BEGIN, COLLECTIVE_END, METRIC, PARAMETER_STRING, PARAMETER_INT, PARAMETER_UNSIGNED, THREAD_FORK,
	THREAD_JOIN, TEAM_BEGIN, TEAM_END, LOCK_ACQUIRE, LOCK_RELEASE, TASK_CREATE, TASK_SWITCH, TASK_COMPLETE, THREAD_CREATE,
	THREAD_BEGIN, THREAD_WAIT, THREAD_END, IO_CREATE, IO_DESTROY, IO_SEEK, IO_BEGIN, IO_COMPLETE, PROGRAM_BEGIN, PROGRAM_END,
	FLUSH, MEASUREMENT,
	STREAM_END = 127,
};

struct record {
	uint64_t a;		/* time of an event */
	uint32_t kind;
	uint32_t ref;
	uint64_t b;
	uint64_t c;		/* of records with a payload: its bytes; it follows, padded to 8 */
};

/* A sentence: the first error since it was emptied, "" for none. */
extern char mt_otf2_error[512];

/* libotf2; NULL with the packages that have it in mt_otf2_error. */
void *mt_otf2_library(void);
/* Everything of @library's name, or NULL with a sentence in mt_otf2_error. */
void *mt_otf2_symbol(void *library, const char *name);
/* For OTF2_Error_RegisterCallback: keeps the first error. */
otf2_error mt_otf2_on_error(void *user, const char *file, uint64_t line, const char *function, otf2_error code, const char *format,
			    va_list va);

#endif
