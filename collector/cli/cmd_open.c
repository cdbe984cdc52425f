/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * memtrace open: replaces this process by the workbench.
 *
 * The workbench is the product of releng/org.memtrace.product: the folder
 * $MEMTRACE_WORKBENCH, or the one that this program stands in, or workbench or
 * ../workbench beside it; it has the script memtrace-workbench.
 */
#include "args.h"
#include "java.h"
#include "native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT "memtrace-workbench"

static bool find_script(char path[PATH_MAX])
{
	static const char *const beside[] = { ".", "workbench", "../workbench", "../lib/memtrace/workbench", NULL };
	const char *env = getenv("MEMTRACE_WORKBENCH");
	char self[PATH_MAX];
	int i, n;

	if (env && *env) {
		n = snprintf(path, PATH_MAX, "%s/" SCRIPT, env);
		return n > 0 && n < PATH_MAX && !access(path, X_OK);
	}
	if (mt_self(self))
		return false;
	for (i = 0; beside[i]; i++) {
		n = snprintf(path, PATH_MAX, "%.*s/%s/" SCRIPT, (int)(strrchr(self, '/') - self), self, beside[i]);
		if (n > 0 && n < PATH_MAX && !access(path, X_OK))
			return true;
	}
	return false;
}

/*
 * The workbench remembers traces: paths become absolute. What is no path may be
 * the name of a trace in the catalogue.
 */
static char *trace(const char *given)
{
	char *path = realpath(given, NULL);

	return path || strchr(given, '/') ? path : strdup(given);
}

int cmd_open(const struct mt_args *a)
{
	char script[PATH_MAX], java[PATH_MAX];
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	const char *catalogue = mt_args_get(a, "catalogue"), *state = mt_args_get(a, "state");
	static char **args;	/* lives until exec or the end of the process */
	int i, n = 0, rc;

	args = calloc((size_t)a->argc + 6, sizeof *args);
	if (!args)
		return mt_fail(a, MT_EXIT_INTERNAL, "out of memory");
	args[n++] = script;
	if (state) {
		args[n++] = (char *)"-data";
		args[n++] = (char *)state;
	}
	if (catalogue) {
		args[n++] = (char *)"-catalogue";
		args[n++] = (char *)catalogue;
	}
	for (i = 0; i < a->argc; i++) {
		args[n] = trace(a->argv[i]);
		if (!args[n])
			return mt_fail(a, MT_EXIT_INPUT, "%s: %s", a->argv[i], strerror(errno));
		n++;
	}
	if (!(display && *display) && !(wayland && *wayland))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "there is no display; 'memtrace render' and 'memtrace summary' work without");
	if (!find_script(script))
		return mt_fail(a, MT_EXIT_UNAVAILABLE, "the workbench is not beside memtrace; "
			       "in a checkout use './memtrace open', which builds it, elsewhere set MEMTRACE_WORKBENCH");
	rc = mt_find_java(java);
	if (rc)
		return rc;
	setenv("MEMTRACE_JAVA", java, 1);
	execv(script, args);
	return mt_fail(a, MT_EXIT_UNAVAILABLE, "cannot run %s: %s", script, strerror(errno));
}
