/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/base/cache.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Like snprintf(), but 0 when it fits and -ENAMETOOLONG otherwise. */
static int __attribute__((format(printf, 2, 3))) join(char path[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, PATH_MAX, fmt, ap);
	va_end(ap);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int mt_make_dirs(const char *path)
{
	char copy[PATH_MAX];
	char *p;

	if (join(copy, "%s", path))
		return -ENAMETOOLONG;
	for (p = copy + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(copy, 0777) && errno != EEXIST ? -errno : 0;
}

int mt_cache_dir(char path[PATH_MAX])
{
	const char *env = getenv("MEMTRACE_CACHE"), *home = getenv("HOME");
	int rc;

	if (env && *env)
		rc = join(path, "%s", env);
	else if ((env = getenv("XDG_CACHE_HOME")) && *env == '/')
		rc = join(path, "%s/memtrace", env);
	else if (home && *home == '/')
		rc = join(path, "%s/.cache/memtrace", home);
	else
		return -ENOENT;
	return rc ? rc : mt_make_dirs(path);
}
