/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* parts.h - what is measured, and how: each part adds its figures to a list. */
#ifndef MEMTRACE_CLI_MEASURE_PARTS_H
#define MEMTRACE_CLI_MEASURE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/measure/figure.h"

#define MT_LINE 64		/* bytes of a cache line */
#define MT_MOST_CPUS 256	/* that take part in the bandwidth of all */

/* A measurement that is under way. */
struct mt_measuring {
	uint64_t part_ns;	/* wall time for one figure; three times as much where pieces are rare: a busy machine */
	uint64_t end_ns, last_ns;	/* of the figure that is under way */
	uint64_t until_ns;	/* mt_monotonic_ns(): nothing begins after it */
	size_t l1, l2, l3;	/* bytes that a core has, as the kernel tells it */
	size_t page, huge;	/* bytes; huge: 0 where there are no transparent huge pages */
	size_t large;		/* bytes that no cache holds */
	int cpu[MT_MOST_CPUS];	/* numbers of those that may be used */
	int n_cpus;
	struct mt_pieces pieces;
	json_t *figures;	/* object: name to figure */
};

/* A figure begins, without pieces. false: no time is left, and @name is told as refused. */
bool mt_measure_begin(struct mt_measuring *m, const char *name, const char *unit, const char *text);
/* The time of the figure begins now, after what had to be prepared. */
void mt_measure_start(struct mt_measuring *m);
/* Whether one more piece is wanted. */
bool mt_measure_more(const struct mt_measuring *m);
/* Puts what the pieces say under @name. */
void mt_measure_told(struct mt_measuring *m, const char *name, const char *unit, const char *text);
/* Puts why there is no value. */
void mt_measure_refused(struct mt_measuring *m, const char *name, const char *unit, const char *text, const char *why);
/* The calling thread runs on this CPU only. */
void mt_measure_pin(int cpu);
/* Memory with a page behind each address, of huge pages or of none; NULL: there is not so much. */
char *mt_measure_memory(const struct mt_measuring *m, size_t bytes, int huge);

/* Latencies and sweeps of one thread. */
void mt_measure_loads(struct mt_measuring *m);
/* Bandwidth of one CPU and of all. */
void mt_measure_streams(struct mt_measuring *m);
/* Lines that two CPUs use. */
void mt_measure_lines(struct mt_measuring *m);
/* Page faults, mappings, and a thread that is woken. */
void mt_measure_kernel(struct mt_measuring *m);

#endif
