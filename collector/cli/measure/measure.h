/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * measure.h - what memory costs on this machine, in at most ten seconds, and what is known of that from earlier.
 * docs/reference/measured.md says what each figure is.
 */
#ifndef MEMTRACE_CLI_MEASURE_H
#define MEMTRACE_CLI_MEASURE_H

#include <jansson.h>
#include <stdint.h>

#define MT_MEASURE_PART_NS 90000000ull
#define MT_MEASURE_MOST_NS 9500000000ull

/*
 * Measures, and tells {schema, at, took_ns, load_before, load_after, machine, l1_bytes, …, figures}. Each figure takes about @part_ns; none
 * begins after @most_ns. The calling thread is bound to single CPUs meanwhile.
 */
json_t *mt_measure_now(uint64_t part_ns, uint64_t most_ns);
/* What is kept for this machine, or NULL: nothing, or it was another machine, kernel or number of CPUs. */
json_t *mt_measure_known(void);
/* Keeps it; 0 or negative errno. @path: where, to be freed; NULL: not asked. */
int mt_measure_keep(const json_t *measured, char **path);
/* For people: a line for each figure. */
void mt_measure_print(const json_t *measured, FILE *out);
/* One line: the figures that say most. To be freed. */
char *mt_measure_line(const json_t *measured);

#endif
