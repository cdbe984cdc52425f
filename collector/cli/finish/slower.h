/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_SLOWER_H
#define MEMTRACE_SLOWER_H

#include <jansson.h>

/*
 * By which share of its time recording made the run longer, at least and at most, into the overhead of the manifest: the sums of
 * overhead.csv of all images. Nothing where none has one.
 */
void mt_slower_describe(json_t *manifest, const char *trace);
/* "about 2 to 14 % longer", or "" where that is not known. The caller frees. */
char *mt_slower_text(const json_t *manifest);

#endif
