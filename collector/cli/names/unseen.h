/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * unseen.h - memory that a program mapped and the backend did not see: from context.log to unseen.csv of an image, and from
 * there to `unseen` of the manifest. docs/reference/trace-format.md tells the kinds.
 */
#ifndef MEMTRACE_CLI_UNSEEN_H
#define MEMTRACE_CLI_UNSEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/names/ctxlog.h"

/*
 * Writes unseen.csv of an image whose log is replayed, or removes it where it is not known what was not seen. @dir is the folder of
 * the image. 0 or a negative errno.
 */
int mt_unseen_write(struct mt_context *c, const char *trace, const char *image, const char *dir);

/*
 * `unseen` of the manifest: what all images did not see. @state of each image as in the manifest, in the order of @dirs; @sees: the
 * backend sees accesses at all; @others: there are processes that are not recorded.
 */
json_t *mt_unseen_describe(const char *trace, char *const *dirs, const char *const *state, size_t n, bool others);

#endif
