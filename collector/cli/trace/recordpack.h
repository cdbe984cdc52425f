/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* recordpack.h - chunks of accesses change their form (docs/reference/trace-records.md). */
#ifndef MEMTRACE_CLI_RECORDPACK_H
#define MEMTRACE_CLI_RECORDPACK_H

/* Turns the chunks of text of an image that no process writes any more into packed records, accesses-*.mtr. 0 or negative errno, told. */
int mt_image_pack(const char *trace, const char *image);
/* Turns these into text, accesses-*.csv. 0 or negative errno, told. */
int mt_image_text(const char *trace, const char *image);

#endif
