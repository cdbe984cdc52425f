/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* What memtrace info asks of the rest of the program: no backend, and nothing to finish. For tests that link cmd_info.c alone. */
#ifndef MEMTRACE_TESTS_INFO_STUBS_H
#define MEMTRACE_TESTS_INFO_STUBS_H

#include "cli/backend/backend.h"
#include "cli/names/finish.h"

const struct mt_backend *mt_backend_find(const char *name)
{
	(void)name;
	return NULL;
}

int mt_finish_image(const char *trace, const char *image, const struct mt_finish_options *o)
{
	(void)trace;
	(void)image;
	(void)o;
	return 0;
}

#endif
