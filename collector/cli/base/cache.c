/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/base/cache.h"
#include "cli/base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int mt_make_dirs(const char *path)
{
	char copy[PATH_MAX];
	char *p;

	if (mt_path(copy, "%s", path))
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
		rc = mt_path(path, "%s", env);
	else if ((env = getenv("XDG_CACHE_HOME")) && *env == '/')
		rc = mt_path(path, "%s/memtrace", env);
	else if (home && *home == '/')
		rc = mt_path(path, "%s/.cache/memtrace", home);
	else
		return -ENOENT;
	return rc ? rc : mt_make_dirs(path);
}
