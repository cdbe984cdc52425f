/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* codes.h - the code addresses of an image that want a function and a line. */
#ifndef MEMTRACE_CLI_CODES_H
#define MEMTRACE_CLI_CODES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Those of the accesses, of instructions.csv, and of the ticks, of which ticks.csv in @dir is made at that; each once, ascending. *ip is to
 * be freed, also on error. 0 or negative errno.
 */
int mt_codes_of(const char *trace, const char *image, const char *dir, uint64_t **ip, size_t *n);

#endif
