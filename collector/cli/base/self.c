/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/self.h"
#include "cli/base/util.h"

int mt_self(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (n < 0)
		return -errno;
	path[n] = '\0';
	return 0;
}

char *mt_preload_path(void)
{
	static const char *const places[] = { "", "../lib/memtrace/", "../lib/", "../lib64/memtrace/" };
	const char *env = getenv("MEMTRACE_PRELOAD");
	char exe[4096], *p;
	ssize_t n;

	if (env && *env)
		return access(env, R_OK) ? NULL : realpath(env, NULL);
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		return NULL;
	exe[n] = 0;
	*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		p = mt_printf("%s/%slibmemtrace-preload.so", exe, places[i]);
		if (!access(p, R_OK)) {
			char *real = realpath(p, NULL);

			free(p);
			return real;
		}
		free(p);
	}
	return NULL;
}
