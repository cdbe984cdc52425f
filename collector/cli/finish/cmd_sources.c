/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * cmd_sources.c - `memtrace sources`: the commit of the sources in a folder and how they differ from it, asked in the one way
 * that starts nothing of a repository (gitstate.h). What has Java calls it: `memtrace experiment`.
 */
#include <jansson.h>
#include <unistd.h>

#include "cli/base/gitstate.h"
#include "cli/finish/manifest.h"
#include "cli/table/native.h"
#include "cli/base/util.h"

#define PATIENCE_MS 15000

int cmd_sources(const struct mt_args *a)
{
	const char *folder = a->argc ? a->argv[0] : ".";
	json_t *r = mt_revision_describe(folder);
	int64_t modified;

	if (!r)
		return mt_fail(a, MT_EXIT_INPUT, "%s is not in a repository of git", folder);
	if (mt_args_has(a, "diff")) {
		json_decref(r);
		return mt_git_diff(folder, STDOUT_FILENO, PATIENCE_MS) ?
			mt_fail(a, MT_EXIT_UNAVAILABLE, "git does not tell how %s differs from its commit", folder) : 0;
	}
	modified = mt_git_modified(folder, PATIENCE_MS);
	json_object_set_new(r, "modified_files", modified < 0 ? json_null() : json_integer((json_int_t)modified));
	json_dumpf(r, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(r);
	return 0;
}
