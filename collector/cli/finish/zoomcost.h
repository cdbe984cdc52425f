/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* zoomcost.h - what became of record --zoom. */
#ifndef MEMTRACE_CLI_ZOOMCOST_H
#define MEMTRACE_CLI_ZOOMCOST_H

#include <jansson.h>

/* What the images of a trace tell of the close look, for the manifest; NULL: there was none. @asked: the array of suspects. */
json_t *mt_zoom_describe(const char *trace, const json_t *asked, double budget);

#endif
