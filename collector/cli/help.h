/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_CLI_HELP_H
#define MEMTRACE_CLI_HELP_H

#include <stdio.h>

#include "cli/table/command.h"

/* The help of one command, 80 columns. org.memtrace.cli.args.HelpText prints the same. */
void mt_help_command(FILE *f, const struct mt_command *c);
/* The overview: `memtrace --help`. */
void mt_help_overview(FILE *f);
/* The whole reference as Markdown: docs/reference/cli.md. */
void mt_help_markdown(FILE *f);
/* Man page of @c, or of memtrace itself for &mt_common. */
void mt_help_man(FILE *f, const struct mt_command *c);
/* Completion script for @shell; -EINVAL when it is not known. */
int mt_completion(FILE *f, const char *shell);

#endif
