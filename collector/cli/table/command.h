/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * The command table: what `memtrace` can do and how to say it. The only source
 * is org.memtrace.cli/commands/ (its README.txt describes the files);
 * commands.awk turns it into the arrays declared here. Help, man pages, shell
 * completion, docs/reference/cli.md and the checking of arguments all come from it, and
 * the Java commands read the same files.
 */
#ifndef MEMTRACE_CLI_COMMAND_H
#define MEMTRACE_CLI_COMMAND_H

#include <stdbool.h>

#include "cli/base/exit.h"

enum mt_type {
	MT_FLAG,	/* no value */
	MT_TEXT,
	MT_PATH,
	MT_INT,
	MT_NUMBER,
	MT_DURATION,	/* 50ms */
	MT_SIZE,	/* 64k */
	MT_CHOICE,	/* arg is "a|b|c" */
};

struct mt_option {
	const char *name;	/* long name without dashes; NULL ends an array */
	char letter;		/* short name or 0 */
	const char *arg;	/* name of the value, or the choices; NULL for a flag */
	enum mt_type type;
	const char *dflt;	/* default as written on a command line, or NULL */
	const char *min, *max;	/* inclusive limits or NULL */
	bool repeat;		/* may be given several times */
	bool optional;		/* --name[=VALUE]: without a value it is dflt */
	const char *text;
};

/* Anything with a label and a text: argument, example, exit code, variable. */
struct mt_item {
	const char *label;	/* NULL ends an array */
	const char *text;
};

enum mt_runs { MT_NATIVE, MT_JAVA };

struct mt_command {
	const char *name;	/* NULL ends mt_commands[] */
	const char *section;
	enum mt_runs runs;
	bool jvm_short;		/* Java: start-up counts more than speed */
	const char *summary;
	const char *usage;	/* one form per line, without "memtrace NAME" */
	const char *text;
	int min_args, max_args;	/* positional arguments; max -1: any number */
	bool rest;		/* the first positional argument ends the options */
	bool foreign;		/* all arguments are for another program, but -h or --help as the first */
	const struct mt_option *options;
	const struct mt_item *arguments, *examples, *exits, *variables;
};

extern const char mt_version[];
extern const char mt_build_commit[];			/* "" when not built from a repository */
extern const struct mt_command mt_commands[];	/* in the order of index.txt */
extern const struct mt_command mt_common;	/* options of every command; overview */

const struct mt_command *mt_command_find(const char *name);

/* The name in the NULL-ended list that begins with @typed or is nearest to it, or NULL. */
const char *mt_nearest(const char *typed, const char *const *names);

#endif
