/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * A command line, checked against the command table. A native command is
 *
 *	int cmd_NAME(const struct mt_args *a);
 *
 * in cmd_NAME.c and returns an enum mt_exit; main.c finds it by its name in
 * native[]. It is called with a command line that is already correct: known
 * options, values of the right type within their limits, the right number of
 * positional arguments.
 */
#ifndef MEMTRACE_CLI_ARGS_H
#define MEMTRACE_CLI_ARGS_H

#include <stdint.h>

#include "cli/table/command.h"

struct mt_args {
	const struct mt_command *cmd;
	int argc;		/* positional arguments; argv[argc] is NULL */
	char **argv;
	bool help;		/* --help was given: nothing else was checked */
	/* private */
	struct mt_given {
		const struct mt_option *opt;
		const char *value;
	} *given;
	int n_given;
};

/*
 * Checks @argv[0..argc) (behind the name of the command). Returns 0, or
 * MT_EXIT_USAGE after one sentence on standard error. Options may stand
 * before and behind positional arguments, except for a command with
 * `rest: yes`, where the first positional argument ends them.
 */
int mt_args_parse(struct mt_args *a, const struct mt_command *cmd, int argc, char **argv);
void mt_args_free(struct mt_args *a);

/*
 * Long names without dashes. A name that is not in the table is a bug and
 * aborts. Without the option on the command line the default of the table is
 * returned; the getters for numbers abort when there is none, unless
 * mt_args_has() is asked first.
 */
bool mt_args_has(const struct mt_args *a, const char *name);	/* on the command line? */
const char *mt_args_get(const struct mt_args *a, const char *name);	/* last value, default or NULL */
bool mt_args_json(const struct mt_args *a);	/* --format json, or its short form --json? */
const char *mt_args_nth(const struct mt_args *a, const char *name, int n);	/* n-th given value or NULL */
long long mt_args_int(const struct mt_args *a, const char *name);
double mt_args_number(const struct mt_args *a, const char *name);
uint64_t mt_args_duration_ns(const struct mt_args *a, const char *name);
uint64_t mt_args_size_bytes(const struct mt_args *a, const char *name);

/* The parsers behind them: 0, or -EINVAL. Durations need a unit, except 0. */
int mt_parse_duration_ns(const char *s, uint64_t *ns);
int mt_parse_size_bytes(const char *s, uint64_t *bytes);

/*
 * "memtrace NAME: text" on standard error, for errors that end a command;
 * returns @code: `return mt_fail(a, MT_EXIT_INPUT, "%s: no such file", path);`
 */
int mt_fail(const struct mt_args *a, enum mt_exit code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
