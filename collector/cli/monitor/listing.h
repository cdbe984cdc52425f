/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * listing.h - what can stand in a definition file on this machine: fields, sources with
 * their events, reductions, types of places. As text for people, and as JSON for editors
 * (docs/reference/json.md). One thread.
 */
#ifndef MEMTRACE_MONITOR_LISTING_H
#define MEMTRACE_MONITOR_LISTING_H

#include <stdio.h>

#include "cli/monitor/source.h"

/* Asks all sources; perf tries each of its events. @built_in: the definitions that are used without a file. */
void mon_listing_text(const struct mon_context *c, FILE *to);
void mon_listing_json(const struct mon_context *c, const char *built_in, FILE *to);

/* Whether the definitions are right, which mon_set_check() or the parser has told. */
void mon_check_json(const struct mon_file *f, FILE *to);

#endif
