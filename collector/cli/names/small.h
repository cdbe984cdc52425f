/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* small.h - heaps with small blocks, divided by the places that allocated in them. */
#ifndef MEMTRACE_CLI_SMALL_H
#define MEMTRACE_CLI_SMALL_H

#include "cli/names/context.h"
#include "cli/names/site.h"

/*
 * Adds a structure of kind MT_BRK for each range of whole pages of a heap in which, by the samples of its small blocks, one place
 * allocated nearly all: "u (rows of 2 KiB)". Its life is that of the heap. Nothing where the samples are too few to be sure.
 */
void mt_small_places(struct mt_context *c, struct mt_site_names *sites);

#endif
