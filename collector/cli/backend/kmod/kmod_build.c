/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backend/kmod/kmod_build.h"
#include "cli/base/util.h"

static bool same(const char *a, const char *b)
{
	size_t na, nb;
	char *ta = mt_read_file(a, &na), *tb = mt_read_file(b, &nb);
	bool equal = ta && tb && na == nb && !memcmp(ta, tb, na);

	free(ta);
	free(tb);
	return equal;
}

static bool is_source(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!strcmp(name, "Kbuild") || !strcmp(name, "probe.sh"))
		return true;
	if (!strcmp(name, "probed.h"))	/* made by a build beside the sources */
		return false;
	return dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h")) && !strstr(name, ".mod.c");
}

/* Each source of @from is in @to, and equal. */
static bool same_sources(const char *from, const char *to)
{
	DIR *d = opendir(from);
	bool equal = d != NULL;
	struct dirent *e;

	while (equal && (e = readdir(d))) {
		char *a, *b;

		if (!is_source(e->d_name))
			continue;
		a = mt_printf("%s/%s", from, e->d_name);
		b = mt_printf("%s/%s", to, e->d_name);
		equal = same(a, b);
		free(a);
		free(b);
	}
	if (d)
		closedir(d);
	return equal;
}

bool mt_kmod_fresh(const char *dir, const char *sources)
{
	char *ko = mt_printf("%s/memtrace.ko", dir);
	char *compat = mt_printf("%s/compat", sources), *compat_to = mt_printf("%s/compat", dir);
	char *abi = mt_printf("%s/../common/memtrace", sources), *abi_to = mt_printf("%s/include/memtrace", dir);
	char *probe = mt_printf("%s/abi.h", abi);
	bool fresh;

	if (!mt_exists(probe)) {	/* an installation has it below the sources */
		free(abi);
		abi = mt_printf("%s/include/memtrace", sources);
	}
	fresh = mt_exists(ko) && same_sources(sources, dir) && same_sources(compat, compat_to) &&
		same_sources(abi, abi_to);
	free(ko);
	free(compat);
	free(compat_to);
	free(abi);
	free(abi_to);
	free(probe);
	return fresh;
}

/* "/bin/sh: 1: gcc-12: not found" and its kin: the name of the program, or NULL. */
static char *missing_program(const char *line)
{
	static const char *const ends[] = { ": not found", ": command not found", ": No such file or directory" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(line, ends[i]), *begin = end;

		if (!end || end[strlen(ends[i])])
			continue;
		while (begin > line && begin[-1] != ' ')
			begin--;
		/* a header that is missing is not a program */
		if (end > begin && !memchr(begin, '.', (size_t)(end - begin)) &&
		    (i != 2 || !strncmp(line, "make", 4)))
			return mt_printf("%.*s", (int)(end - begin), begin);
	}
	return NULL;
}

/* Is a word of ID= or ID_LIKE= of os-release one of these? */
static bool is_like(const char *os_release, const char *const *names)
{
	char *text = mt_strdup(os_release), *save = NULL, *inner = NULL;
	bool yes = false;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strncmp(l, "ID=", 3) && strncmp(l, "ID_LIKE=", 8))
			continue;
		for (char *w = strtok_r(strchr(l, '=') + 1, "\"' ", &inner); w; w = strtok_r(NULL, "\"' ", &inner))
			for (const char *const *n = names; *n; n++)
				yes |= !strcmp(w, *n);
	}
	free(text);
	return yes;
}

char *mt_kmod_install_command(const char *program, const char *release, const char *os_release)
{
	static const char *const debian[] = { "debian", "ubuntu", NULL }, *const redhat[] = { "rhel", "fedora", "centos", NULL },
		*const suse[] = { "suse", "opensuse", "sles", NULL };
	char *text = mt_strdup(os_release ? os_release : ""), *out = NULL;
	const char *flavour = release ? strrchr(release, '-') : NULL;

	if (!os_release) {
		free(text);
		text = mt_read_file("/etc/os-release", NULL);
		if (!text)
			text = mt_strdup("");
	}
	/* Debian alone has a compiler of each version as a package of that name */
	if (is_like(text, debian))
		out = program ? mt_printf("apt install %s", program) : mt_printf("apt install linux-headers-%s", release);
	else if (program && !strncmp(program, "gcc-", 4))
		program = "gcc";
	if (!out && is_like(text, redhat))
		out = program ? mt_printf("dnf install %s", program) : mt_printf("dnf install kernel-devel-%s", release);
	else if (!out && is_like(text, suse))
		out = program ? mt_printf("zypper install %s", program) :
			flavour ? mt_printf("zypper install kernel%s-devel=%.*s", flavour, (int)(flavour - release), release) : NULL;
	free(text);
	return out;
}

char *mt_kmod_build_error(const char *log, char **fix)
{
	char *text = mt_read_file(log, NULL), *save = NULL, *reason = NULL, *program = NULL, *out;

	*fix = NULL;
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l && !program; l = strtok_r(NULL, "\n", &save)) {
		program = missing_program(l);
		/* the first complaint is the cause, what make says at the end is not */
		if (!reason && (strstr(l, "error:") || strstr(l, "*** memtrace:") || strstr(l, "memtrace: ")))
			reason = strstr(l, "memtrace: ") ? strstr(l, "memtrace: ") + 10 : strstr(l, "error:");
	}
	if (program) {
		const char *name = mt_base(program);

		out = mt_printf("the kernel module cannot be built: %s is not installed", name);
		if (!strncmp(name, "gcc", 3) || !strncmp(name, "clang", 5) || !strcmp(name, "make"))
			*fix = mt_kmod_install_command(name, NULL, NULL);
	} else if (reason) {
		out = mt_printf("the kernel module cannot be built: %s; see %s", reason, log);
	} else {
		out = mt_printf("the kernel module cannot be built, see %s", log);
	}
	free(program);
	free(text);
	return out;
}
