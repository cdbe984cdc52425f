/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* explain.c - `memtrace info --explain`: the seven questions that a trace must answer by itself. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/base/util.h"

/* Settings of the kernel that change how memory is placed or how fast the machine is; null is "this kernel has none". */
static const char *const wanted_settings[] = { "numa_balancing", "transparent_hugepage", "randomize_va_space", "cpu_governor" };

/* Counts and names a question that has no complete answer. */
static void unanswered(int *missing, int question, const char *why)
{
	(*missing)++;
	fprintf(stderr, "memtrace info: question %d has no complete answer: %s\n", question, why);
}

static void what_was_run(const json_t *m, int *missing)
{
	char *cmd = mt_info_command(m);
	const char *key;
	json_t *v;

	printf("1. What was run?\n   %s\n   in %s\n", *cmd ? cmd : "(unknown)", mt_info_text(m, "working_directory"));
	if (!*cmd || !*mt_info_text(m, "working_directory"))
		unanswered(missing, 1, "no command, or no working directory");
	json_object_foreach(json_object_get(m, "environment"), key, v)
		if (strcmp(key, "PATH") && strcmp(key, "PWD") && strcmp(key, "SHELL"))
			printf("   %s=%s\n", key, json_string_value(v));
	free(cmd);
}

static void with_which_software(const json_t *m, int *missing)
{
	json_t *host = json_object_get(m, "host"), *tool = json_object_get(m, "tool"), *revs = json_object_get(m, "source_revisions"), *v;
	bool unknown = false;
	size_t i;

	printf("2. With which software?\n   program %s", mt_info_text(m, "executable"));
	if (*mt_info_text(m, "executable_build_id"))
		printf(", build id %s", mt_info_text(m, "executable_build_id"));
	printf("\n   memtrace %s%s%s, %s, Linux %s\n", mt_info_text(tool, "version"),
	       *mt_info_text(tool, "commit") ? " commit " : "", mt_info_text(tool, "commit"), mt_info_text(host, "os"),
	       mt_info_text(host, "kernel"));
	json_array_foreach(revs, i, v)
	{
		const json_t *modified = json_object_get(v, "modified_files");

		printf("   sources in %s: commit %s%s%s, ", mt_info_text(v, "directory"),
		       *mt_info_text(v, "commit") ? mt_info_text(v, "commit") : "(none yet)",
		       *mt_info_text(v, "branch") ? ", branch " : "", mt_info_text(v, "branch"));
		if (json_is_integer(modified))
			printf("%" PRIu64 " files modified\n", mt_info_number(v, "modified_files"));
		else
			puts("not known whether they were modified");
		unknown |= !json_is_integer(modified);
	}
	if (!json_array_size(revs))
		puts("   sources: the program ran in no git repository");
	printf("   libraries: maps-start.txt and maps-end.txt of each image\n");
	if (!*mt_info_text(m, "executable") || !*mt_info_text(tool, "version") || !*mt_info_text(host, "kernel"))
		unanswered(missing, 2, "no program, version of memtrace or kernel");
	else if (unknown)
		unanswered(missing, 2, "whether the sources were modified is not known; is git installed where it was recorded?");
}

static void what_for_and_when(const json_t *m, int *missing)
{
	json_t *clock = json_object_get(m, "clock");

	printf("3. What was expected?\n   %s\n", *mt_info_text(m, "purpose") ? mt_info_text(m, "purpose") :
	       "(not stated; record --purpose TEXT states it)");
	if (!*mt_info_text(m, "purpose"))
		unanswered(missing, 3, "record --purpose TEXT states what is expected");

	printf("4. When?\n   %s, until %" PRId64 " ns after the start; result: %s, %s\n",
	       *mt_info_text(clock, "start_realtime") ? mt_info_text(clock, "start_realtime") : "(unknown)",
	       (int64_t)(json_integer_value(json_object_get(clock, "end_ns")) -
			 json_integer_value(json_object_get(clock, "start_ns"))),
	       mt_info_text(json_object_get(m, "status"), "state"), mt_info_text(json_object_get(m, "status"), "message"));
	if (!*mt_info_text(clock, "start_realtime") || json_integer_value(json_object_get(clock, "end_ns")) <= 0)
		unanswered(missing, 4, "no time of its beginning, or of its end");
}

static void on_which_machine(const json_t *m, int *missing)
{
	json_t *host = json_object_get(m, "host"), *v;
	const char *key;
	size_t i;

	printf("5. On which machine, by whom?\n   %s: %s, %" PRIu64 " of %" PRIu64 " CPUs, %" PRIu64
	       " NUMA nodes, %s; topology: %s; user %s\n", mt_info_text(host, "name"), mt_info_text(host, "cpu_model"),
	       mt_info_number(host, "cpus_online"), mt_info_number(host, "cpus_configured"), mt_info_number(host, "numa_nodes"),
	       mt_human_bytes(mt_info_number(host, "memory_bytes")),
	       *mt_info_text(host, "topology") ? mt_info_text(host, "topology") : "not known",
	       *mt_info_text(host, "user") ? mt_info_text(host, "user") : "not known");
	json_object_foreach(json_object_get(host, "settings"), key, v)
		if (json_is_string(v))
			printf("   %s = %s\n", key, json_string_value(v));
	for (i = 0; i < sizeof(wanted_settings) / sizeof(wanted_settings[0]); i++)
		if (!json_object_get(json_object_get(host, "settings"), wanted_settings[i]))
			break;
	if (!*mt_info_text(host, "name") || !*mt_info_text(host, "user") || !mt_info_number(host, "cpus_online"))
		unanswered(missing, 5, "no name of the machine, number of CPUs or user");
	else if (i < sizeof(wanted_settings) / sizeof(wanted_settings[0]))
		unanswered(missing, 5, "the kernel settings are not all there");
}

static void how_complete(const json_t *m, int *missing)
{
	json_t *b = json_object_get(m, "backend"), *g = json_object_get(b, "guarantee");
	char *lost = mt_info_losses(m);

	printf("6. How are the files organised, and how complete are they?\n"
	       "   manifest.json, topology.xml and a directory pNNNN per process image with\n"
	       "   accesses-*.csv, intervals.csv, structures.csv, stacks.csv, threads.csv and\n"
	       "   maps-*.txt, format version %" PRIu64 " (docs/reference/trace-format.md)\n", mt_info_number(m, "format_version"));
	printf("   backend %s: %s\n   lost: %s\n", mt_info_text(b, "name"), mt_info_promise_pages(mt_info_text(g, "pages")),
	       lost);
	if (!mt_info_number(m, "format_version") || !*mt_info_text(b, "name") || !*mt_info_text(json_object_get(m, "status"), "state"))
		unanswered(missing, 6, "no version of the format, backend or state");
	free(lost);
}

int mt_info_explain(const json_t *m, const char *trace)
{
	int missing = 0;

	what_was_run(m, &missing);
	with_which_software(m, &missing);
	what_for_and_when(m, &missing);
	on_which_machine(m, &missing);
	how_complete(m, &missing);
	printf("7. How is it analysed?\n   memtrace import %s, then memtrace aggregate, render or open; each\n"
	       "   database keeps its import report and the commands that used it\n", trace);
	if (missing)
		printf("\n%d of 7 questions without a complete answer\n", missing);
	return missing;
}
