/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* memtrace help, completion, version */
#include "cli/help.h"
#include "cli/table/native.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int man_page(const struct mt_args *a, const char *dir, const struct mt_command *c)
{
	char path[PATH_MAX];
	FILE *f;
	int n;

	if (c == &mt_common)
		n = snprintf(path, sizeof path, "%s/memtrace.1", dir);
	else
		n = snprintf(path, sizeof path, "%s/memtrace-%s.1", dir, c->name);
	if (n >= (int)sizeof path)
		return mt_fail(a, MT_EXIT_USAGE, "--man: the path is too long");
	f = fopen(path, "we");
	if (!f)
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s: %s", path, strerror(errno));
	mt_help_man(f, c);
	if (ferror(f) | fclose(f))
		return mt_fail(a, MT_EXIT_INTERNAL, "%s: cannot be written completely", path);
	return 0;
}

int cmd_help(const struct mt_args *a)
{
	const char *dir = mt_args_get(a, "man");
	const struct mt_command *c;
	int rc;

	if (mt_args_has(a, "markdown")) {
		mt_help_markdown(stdout);
		return 0;
	}
	if (dir) {
		if (mkdir(dir, 0777) && errno != EEXIST)
			return mt_fail(a, MT_EXIT_UNAVAILABLE, "%s: %s", dir, strerror(errno));
		rc = man_page(a, dir, &mt_common);
		for (c = mt_commands; c->name && !rc; c++)
			rc = man_page(a, dir, c);
		return rc;
	}
	if (!a->argc) {
		mt_help_overview(stdout);
		return 0;
	}
	c = mt_command_find(a->argv[0]);
	if (!c)
		return mt_fail(a, MT_EXIT_USAGE, "there is no command '%s'; see 'memtrace help'", a->argv[0]);
	mt_help_command(stdout, c);
	return 0;
}

int cmd_completion(const struct mt_args *a)
{
	if (mt_completion(stdout, a->argv[0]))
		return mt_fail(a, MT_EXIT_USAGE, "'%s' is not one of bash, zsh, fish", a->argv[0]);
	return 0;
}

int cmd_version(const struct mt_args *a)
{
	if (mt_args_json(a))
		printf("{\"schema\": \"memtrace.version/1\", \"name\": \"memtrace\", \"version\": \"%s\", \"commit\": \"%s\"}\n", mt_version, mt_build_commit);
	else
		printf("memtrace %s%s%s%s\n", mt_version, *mt_build_commit ? " (" : "", mt_build_commit, *mt_build_commit ? ")" : "");
	return 0;
}
