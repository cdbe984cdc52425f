/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_FINEBINS_H
#define MEMTRACE_FINEBINS_H

#include <jansson.h>

/* What the images have of a fine clock (record --fine), into the promise and the overhead of the manifest. Nothing where none has one. */
void mt_fine_describe(json_t *manifest, const char *trace);

#endif
