/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* The native commands, one function each; the table in main.c names them. */
#ifndef MEMTRACE_CLI_NATIVE_H
#define MEMTRACE_CLI_NATIVE_H

#include "cli/table/args.h"

int cmd_record(const struct mt_args *a);
int cmd_check(const struct mt_args *a);
int cmd_info(const struct mt_args *a);
/* Completes a trace directory before a command reads it, if its recorder was killed; else does nothing. */
void mt_finish_before(const char *trace);
int cmd_finish(const struct mt_args *a);
int cmd_open(const struct mt_args *a);
int cmd_help(const struct mt_args *a);
int cmd_completion(const struct mt_args *a);
int cmd_version(const struct mt_args *a);
/* Compilers that add the hooks; they do not return when the compiler runs. */
int cmd_cc(const struct mt_args *a);
int cmd_cxx(const struct mt_args *a);
int cmd_fortran(const struct mt_args *a);
/* An OTF2 archive as records, for the importer. */
int cmd_otf2_stream(const struct mt_args *a);
int cmd_otf2_write(const struct mt_args *a);
/* Counters on the places of the machine. */
int cmd_monitor(const struct mt_args *a);
/* The commit of the sources in a folder, for what has Java. */
int cmd_sources(const struct mt_args *a);
/* The part of record --host on the node. */
int cmd_on_node(const struct mt_args *a);

#endif
