/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* info.h - what `memtrace info` says of one trace directory and of the ranks of a job. */
#ifndef MEMTRACE_CLI_INFO_H
#define MEMTRACE_CLI_INFO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/table/args.h"

/* A text of a manifest, "" if it is not there; a number, 0 if it is not there. */
const char *mt_info_text(const json_t *o, const char *key);
uint64_t mt_info_number(const json_t *o, const char *key);
/* The command as one would type it; to be freed. */
char *mt_info_command(const json_t *manifest);
/* Losses by reason, or "none"; to be freed. */
char *mt_info_losses(const json_t *manifest);
/* What a backend promises of pages: the word of a guarantee as a sentence. */
const char *mt_info_promise_pages(const char *word);
/* What a backend promises, a line for each sentence with the label before the first. */
void mt_info_promise(const json_t *guarantee, const char *label);
/* The seven questions; number of those without a complete answer. */
int mt_info_explain(const json_t *manifest, const char *trace);

/*
 * Trace directories of ranks in the folder of a job, by rank; NULL and *n == 0 when it is none: it is a trace itself, or has
 * no rank in it. Free with mt_names_free.
 */
char **mt_info_ranks(const char *folder, size_t *n);
/* memtrace info of such a folder. */
int mt_info_job(const struct mt_args *a, const char *folder, char **ranks, size_t n);

#endif
