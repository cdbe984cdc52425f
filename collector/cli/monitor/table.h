/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * table.h - the values of monitors on a terminal: in place, or as lines for what is no
 * terminal. A row has a place, its value, a bar between the bounds of its level and the change since the sample before.
 */
#ifndef MEMTRACE_MONITOR_TABLE_H
#define MEMTRACE_MONITOR_TABLE_H

#include <stdio.h>

#include "cli/monitor/run.h"

/* The whole table as it is drawn in place; @rows and @columns are those of the terminal, @status the line above it. */
void mon_table_draw(const struct mon_set *s, FILE *to, int rows, int columns, const char *status);
/* A line for each definition: time, name, type, bars, and the values (of up to @most places, 0: none). */
void mon_table_lines(const struct mon_set *s, FILE *to, int columns, int most);
/* Each place with its last value and its mean, when all is over. */
void mon_table_end(const struct mon_set *s, FILE *to);

/* Where v is between the bounds of its level, 0 to 1; NaN without a value. */
double mon_share(const struct mon_level *l, double v);

#endif
