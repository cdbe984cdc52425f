/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * settings.h - from the options of `record` to what the program gets and to what the manifest keeps, by the table
 * settings.list.
 */
#ifndef MEMTRACE_CLI_RECORD_SETTINGS_H
#define MEMTRACE_CLI_RECORD_SETTINGS_H

#include <jansson.h>

#include "cli/table/args.h"
#include "common/settings.h"
#include "cli/record/windows.h"

/* What the options say. The texts, the library's mode and the trace are not in it. */
void mt_settings_take(struct mt_config *c, const struct mt_args *a, const struct mt_window_spec *windows);
/* In the child that becomes the program: variables for the numbers of @c, and for texts of the options. */
void mt_settings_environment(const struct mt_config *c, const struct mt_args *a);
/* Sets a variable, or takes it away where @text is NULL or "". */
void mt_settings_text(const char *name, const char *text);
/* The object `parameters` of the manifest. */
json_t *mt_settings_describe(const struct mt_config *c, const struct mt_args *a);
/* A string; bytes that are no UTF-8 make all that are not ASCII a "?". */
json_t *mt_json_text(const char *s);

#endif
