/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * ticks.h - ticks.csv of an image, made of the raw ticks.log (preload/ticks/ticks.c), and what a trace says of its ticks.
 * docs/reference/trace-files.md is the law.
 */
#ifndef MEMTRACE_CLI_TICKS_H
#define MEMTRACE_CLI_TICKS_H

#include <jansson.h>
#include <stdint.h>

/*
 * Writes ticks.csv of the image into @dir, if it has ticks; @on_ip is told the instruction of each, 0 left out. 0 or negative errno.
 */
int mt_ticks_write(const char *trace, const char *image, const char *dir, void (*on_ip)(void *arg, uint64_t ip), void *arg);
/* What the images of a trace tell of their ticks, for the manifest @m; NULL: there were to be none. */
json_t *mt_ticks_describe(const char *trace, const json_t *m);

#endif
