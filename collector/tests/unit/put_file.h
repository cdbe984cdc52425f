/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* A file of a made trace: FOLDER/DIR/FILE with @text; DIR is made. */
#ifndef MEMTRACE_TESTS_PUT_FILE_H
#define MEMTRACE_TESTS_PUT_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/base/util.h"
#include "harness.h"

static inline void put_file(const char *folder, const char *dir, const char *file, const char *text)
{
	char *d = mt_printf("%s/%s", folder, dir), *path = mt_printf("%s/%s", d, file);
	FILE *f;

	mkdir(d, 0755);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
	free(d);
	free(path);
}

#endif
