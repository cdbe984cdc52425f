/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* windowseen.h - what of a run with record --exact --windows was seen. */
#ifndef MEMTRACE_CLI_WINDOWSEEN_H
#define MEMTRACE_CLI_WINDOWSEEN_H

#include <jansson.h>

/* What of the run was seen, as an object of the manifest. @asked: the argument of --windows. */
json_t *mt_windows_describe(const char *trace, const char *asked);

#endif
