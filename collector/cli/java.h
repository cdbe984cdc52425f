/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_CLI_JAVA_H
#define MEMTRACE_CLI_JAVA_H

#include <limits.h>

#include "cli/table/command.h"

/*
 * Path of a java of version 21 or newer. Returns 0, or MT_EXIT_UNAVAILABLE
 * after one sentence on standard error that says what to install.
 */
int mt_find_java(char path[PATH_MAX]);

/*
 * Replaces this process by a JVM that runs @cmd with @argv[0..argc) (behind
 * the name of the command). Returns an exit code only when that fails.
 */
int mt_exec_java(const struct mt_command *cmd, int argc, char **argv);

#endif
