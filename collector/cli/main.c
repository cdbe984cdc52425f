/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace: one command for all. Checks the command line against the command
 * table, runs native commands here and all others in a JVM.
 */
#include "cli/help.h"
#include "cli/java.h"
#include "cli/table/native.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIVE_NICE 10	/* priority of a command that watches a program which is to be disturbed little */

static const struct {
	const char *name;
	int (*run)(const struct mt_args *a);
} native[] = {
	{ "record", cmd_record },
	{ "check", cmd_check },
	{ "info", cmd_info },
	{ "finish", cmd_finish },
	{ "open", cmd_open },
	{ "help", cmd_help },
	{ "completion", cmd_completion },
	{ "version", cmd_version },
	{ "cc", cmd_cc },
	{ "c++", cmd_cxx },
	{ "fortran", cmd_fortran },
	{ "otf2-stream", cmd_otf2_stream },
	{ "otf2-write", cmd_otf2_write },
	{ "monitor", cmd_monitor },
	{ "on-node", cmd_on_node },
	{ "sources", cmd_sources },
};

/* Standard output must have been written; a reader that went away is no error. */
static int flush_output(int rc)
{
	int bad = ferror(stdout), err = fflush(stdout) ? errno : 0;

	if (err || bad) {
		if (err == EPIPE) {
			signal(SIGPIPE, SIG_DFL);
			raise(SIGPIPE);
		}
		if (!rc)
			rc = mt_fail(NULL, MT_EXIT_INTERNAL, "cannot write the output: %s", err ? strerror(err) : "error");
	}
	return rc;
}

static int unknown_command(const char *typed)
{
	const char *names[64], *near;
	const struct mt_command *c;
	int n = 0;

	for (c = mt_commands; c->name && n < 63; c++)
		names[n++] = c->name;
	names[n] = NULL;
	near = mt_nearest(typed, names);
	if (near)
		return mt_fail(NULL, MT_EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", typed, near);
	return mt_fail(NULL, MT_EXIT_USAGE, "there is no command '%s'; see 'memtrace --help'", typed);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A folder that 'memtrace export --format parquet' wrote: ParquetFolder.isFolder() in Java. */
static bool is_parquet(const char *folder)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/meta.json", folder);

	if (n < 0 || n >= PATH_MAX || !mt_exists(path))
		return false;
	n = snprintf(path, sizeof path, "%s/accesses", folder);
	return n > 0 && n < PATH_MAX && is_directory(path);
}

/* A file, a Parquet folder, a name or number in the catalogue, or an address on a server: what only Java can read. */
static bool names_import(const char *trace)
{
	return mt_is_server(trace) || (is_directory(trace) ? is_parquet(trace) : mt_exists(trace) || !strchr(trace, '/'));
}

/* -q, --quiet and the like: a flag of mt_common. */
static bool is_common_flag(const char *arg)
{
	for (const struct mt_option *o = mt_common.options; o->name; o++)
		if (o->type == MT_FLAG && ((o->letter && arg[0] == '-' && arg[1] == o->letter && !arg[2]) ||
					   (!strncmp(arg, "--", 2) && !strcmp(arg + 2, o->name))))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	int common;

	const struct mt_command *cmd;
	struct mt_args a;
	size_t i;
	int rc;

	if (argc < 2) {
		mt_help_overview(stderr);
		return MT_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		mt_help_overview(stdout);
		return flush_output(0);
	}
	if (!strcmp(argv[1], "--version"))
		argv[1] = (char *)"version";
	/* what every command has may stand before it: memtrace -q record ... */
	for (common = 1; common < argc && is_common_flag(argv[common]); common++)
		;
	if (common > 1 && common < argc) {
		char *command = argv[common];

		memmove(argv + 2, argv + 1, (size_t)(common - 1) * sizeof(*argv));
		argv[1] = command;
	}
	if (argv[1][0] == '-')
		return mt_fail(NULL, MT_EXIT_USAGE, "the first argument must be a command, not %s; see 'memtrace --help'", argv[1]);
	cmd = mt_command_find(argv[1]);
	if (!cmd)
		return unknown_command(argv[1]);
	rc = mt_args_parse(&a, cmd, argc - 2, argv + 2);
	if (rc)
		return rc;
	if (a.help) {
		mt_help_command(stdout, cmd);
		return flush_output(0);
	}
	if ((cmd->runs == MT_JAVA && strcmp(cmd->name, "live")) || !strcmp(cmd->name, "open")) {
		mt_quiet = mt_args_has(&a, "quiet");
		for (int k = 0; k < a.argc; k++)
			if (mt_trace_elsewhere(a.argv[k]))
				return mt_fail(&a, MT_EXIT_INPUT, "%s: " MT_ELSEWHERE, a.argv[k], a.argv[k]);
			else if (is_directory(a.argv[k]))
				mt_finish_before(a.argv[k]);
	}
	if (cmd->runs == MT_JAVA || (!strcmp(cmd->name, "info") && names_import(a.argv[0]))) {
		if (!strcmp(cmd->name, "live"))		/* it runs beside the program that it shows */
			setpriority(PRIO_PROCESS, 0, LIVE_NICE);
		return mt_exec_java(cmd, argc - 2, argv + 2);
	}
	for (i = 0; i < sizeof native / sizeof native[0]; i++)
		if (!strcmp(native[i].name, cmd->name)) {
			rc = flush_output(native[i].run(&a));
			mt_args_free(&a);
			return rc;
		}
	return mt_fail(NULL, MT_EXIT_INTERNAL, "bug: the command table has '%s', main.c has not", cmd->name);
}
