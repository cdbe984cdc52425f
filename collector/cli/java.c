/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * Finds a JVM and the class path and starts a Java command.
 *
 * Class path: the first of these folders that has org.memtrace.cli*.jar
 *   $MEMTRACE_LIB, lib and ../lib and ../lib/memtrace beside the program (a
 *   checkout, an installation), plugins and ../plugins (the workbench product).
 *
 * Start-up time is what a person feels, so the JVM gets a class data sharing
 * archive in the cache folder, which it makes by itself at the end of the first
 * run (-XX:+AutoCreateSharedArchive).
 */
#include "cli/base/cache.h"
#include "cli/base/self.h"
#include "cli/base/util.h"
#include "cli/java.h"
#include "cli/table/args.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JAVA_MIN 21

/* Major version of the JDK or JRE in @home by its file `release`; 0: not known. */
static int java_version(const char *home)
{
	char path[PATH_MAX], line[256];
	int version = 0;
	FILE *f;

	if (mt_path(path, "%s/release", home) || !(f = fopen(path, "re")))
		return 0;
	while (!version && fgets(line, sizeof line, f))
		if (!strncmp(line, "JAVA_VERSION=\"", 14))
			version = atoi(!strncmp(line + 14, "1.", 2) ? line + 16 : line + 14);
	fclose(f);
	return version;
}

static bool executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool java_in(const char *home, char path[PATH_MAX])
{
	return home && *home && !mt_path(path, "%s/bin/java", home) && executable(path);
}

/* HOME of ".../bin/java", links resolved. */
static int home_of(const char *java, char home[PATH_MAX])
{
	char *p;
	int i;

	if (!realpath(java, home))
		return -errno;
	for (i = 0; i < 2; i++) {
		p = strrchr(home, '/');
		if (!p)
			return -EINVAL;
		*p = '\0';
	}
	return 0;
}

static bool on_path(const char *name, char path[PATH_MAX])
{
	const char *p = getenv("PATH");

	while (p && *p) {
		size_t n = strcspn(p, ":");

		if (n && !mt_path(path, "%.*s/%s", (int)n, p, name) && executable(path))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

int mt_find_java(char path[PATH_MAX])
{
	const char *env = getenv("MEMTRACE_JAVA");
	char home[PATH_MAX], candidate[PATH_MAX];
	int best = 0, seen = 0, version;
	struct dirent *e;
	DIR *d;

	if (env && *env) {
		if (java_in(env, path))
			return 0;
		if (executable(env) && !mt_path(path, "%s", env))
			return 0;
		return mt_fail(NULL, MT_EXIT_UNAVAILABLE, "MEMTRACE_JAVA is %s, where there is no java", env);
	}
	env = getenv("JAVA_HOME");
	if (java_in(env, path)) {
		version = java_version(env);
		if (version >= JAVA_MIN)
			return 0;
		seen = version;
	}
	d = opendir("/usr/lib/jvm");
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || mt_path(home, "/usr/lib/jvm/%s", e->d_name) || !java_in(home, candidate))
			continue;
		version = java_version(home);
		if (version > seen)
			seen = version;
		if (version >= JAVA_MIN && version > best && !mt_path(path, "%s", candidate))
			best = version;
	}
	if (d)
		closedir(d);
	if (best)
		return 0;
	if (on_path("java", path) && !home_of(path, home)) {
		version = java_version(home);
		if (version >= JAVA_MIN)
			return 0;
		if (version > seen)
			seen = version;
	}
	if (seen)
		return mt_fail(NULL, MT_EXIT_UNAVAILABLE, "this command needs Java %d or newer, and the newest found is %d; "
			       "install one (Debian 13: apt-get install openjdk-21-jre-headless, elsewhere https://adoptium.net) "
			       "or set MEMTRACE_JAVA", JAVA_MIN, seen);
	return mt_fail(NULL, MT_EXIT_UNAVAILABLE, "this command needs Java %d or newer, and there is none; "
		       "install one (Debian 13: apt-get install openjdk-21-jre-headless, elsewhere https://adoptium.net) "
		       "or set MEMTRACE_JAVA", JAVA_MIN);
}

/* The jars that the command line needs; plugins/ of the product has many more. */
static const char *const jars[] = {
	"org.memtrace.model", "org.memtrace.storage", "org.memtrace.importer", "org.memtrace.aggregation",
	"org.memtrace.analysis", "org.memtrace.topology", "org.memtrace.sql", "org.memtrace.serve", "org.memtrace.cli", "jna", "com.sun.jna",
	"parquet-format-structures", "org.apache.parquet.format-structures", "gson", "com.google.gson", "zstd-jni", "com.github.luben.zstd-jni",
	"sqlite-jdbc", "org.xerial.sqlite-jdbc", "h2", "com.h2database", "postgresql", "org.postgresql.jdbc",
	"tomlj", "org.tomlj", "antlr4-runtime", "org.antlr.antlr4-runtime",
	"pdfbox", "org.apache.pdfbox", "pdfbox-io", "org.apache.pdfbox.io", "fontbox", "org.apache.pdfbox.fontbox",
	"commons-logging", "org.apache.commons.commons-logging", NULL,
};

/* Is @file NAME.jar, NAME-VERSION.jar or NAME_VERSION.jar, and not a jar of sources? */
static bool wanted(const char *file)
{
	size_t len = strlen(file);
	int i;

	if (len < 5 || strcmp(file + len - 4, ".jar") || strstr(file, "-sources") || strstr(file, ".source_"))
		return false;
	for (i = 0; jars[i]; i++) {
		size_t n = strlen(jars[i]);

		if (!strncmp(file, jars[i], n) &&
		    (!strcmp(file + n, ".jar") || ((file[n] == '-' || file[n] == '_') && file[n + 1] >= '0' && file[n + 1] <= '9')))
			return true;
	}
	return false;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int filter(const struct dirent *e)
{
	return wanted(e->d_name);
}

/* Class path from the jars of @dir, in a fixed order; NULL when the command line is not there. */
static char *class_path_in(const char *dir)
{
	struct dirent **list;
	char *cp = NULL;
	size_t len = 0;
	bool cli = false;
	FILE *f;
	int i, n;

	n = scandir(dir, &list, filter, by_name);
	if (n < 0)
		return NULL;
	f = open_memstream(&cp, &len);
	for (i = 0; i < n; i++) {
		if (f)
			fprintf(f, "%s%s/%s", i ? ":" : "", dir, list[i]->d_name);
		if (!strncmp(list[i]->d_name, "org.memtrace.cli", 16))
			cli = true;
		free(list[i]);
	}
	free(list);
	if (f)
		fclose(f);
	if (!cli) {
		free(cp);
		return NULL;
	}
	return cp;
}

static char *class_path(const char *self)
{
	static const char *const beside[] = { "lib", "../lib", "../lib/memtrace", "plugins", "../plugins", NULL };
	const char *env = getenv("MEMTRACE_LIB");
	char dir[PATH_MAX], real[PATH_MAX];
	char *cp;
	int i;

	if (env && *env)
		return class_path_in(env);
	for (i = 0; beside[i]; i++) {
		if (mt_path(dir, "%.*s/%s", (int)(strrchr(self, '/') - self), self, beside[i]) || !realpath(dir, real))
			continue;
		cp = class_path_in(real);
		if (cp)
			return cp;
	}
	return NULL;
}

/* FNV-1a */
static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

/* Size and time of each file of @cp and of @java: an archive holds for exactly these. */
static uint64_t stamps(uint64_t h, const char *java, const char *cp)
{
	char file[PATH_MAX];
	struct stat st;

	while (*cp || java) {
		size_t n = strcspn(cp, ":");

		if (java ? !mt_path(file, "%s", java) : !mt_path(file, "%.*s", (int)n, cp)) {
			if (!stat(file, &st)) {
				h = hash(h, &st.st_size, sizeof st.st_size);
				h = hash(h, &st.st_mtim, sizeof st.st_mtim);
			}
		}
		if (java)
			java = NULL;
		else
			cp += n + (cp[n] == ':');
	}
	return h;
}

/*
 * Path of the class data sharing archive of this command, JVM and class path.
 * The JVM makes it at its end when it is not there; an archive of other jars
 * it would use in part and never renew, so the name has their stamps, and
 * archives of earlier stamps are removed. One archive per command, because it
 * gets the classes that its first run has loaded.
 */
static int archive_path(char path[PATH_MAX], const struct mt_command *cmd, const char *java, const char *cp)
{
	const uint64_t seed = 0xcbf29ce484222325ULL;
	char cache[PATH_MAX], prefix[64], old[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int rc = mt_cache_dir(cache);

	if (rc)
		return rc;
	snprintf(prefix, sizeof prefix, "%s-%08x-", cmd->name,
		 (unsigned int)hash(hash(seed, java, strlen(java)), cp, strlen(cp)));
	rc = mt_path(path, "%s/%s%016llx.jsa", cache, prefix, (unsigned long long)stamps(seed, java, cp));
	if (rc || !access(path, F_OK))
		return rc;
	d = opendir(cache);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)) && !mt_path(old, "%s/%s", cache, e->d_name))
			unlink(old);
	if (d)
		closedir(d);
	return 0;
}

int mt_exec_java(const struct mt_command *cmd, int argc, char **argv)
{
	char java[PATH_MAX] = "", self[PATH_MAX], archive[PATH_MAX], shared[PATH_MAX + 32], launcher[PATH_MAX + 32];
	const char *extra = getenv("MEMTRACE_VMARGS");
	char tty[40], *cp, *copy = NULL, *word, *save;
	const char **args;
	int i, n = 0, rc;

	rc = mt_find_java(java);
	if (rc)
		return rc;
	if (mt_self(self))
		return mt_fail(NULL, MT_EXIT_INTERNAL, "cannot find out where memtrace is installed: /proc is not mounted");
	cp = class_path(self);
	if (!cp)
		return mt_fail(NULL, MT_EXIT_UNAVAILABLE, "the Java part of memtrace is not beside %s; "
			       "in a checkout use ./memtrace, which builds it", self);
	args = calloc((size_t)argc + 24 + (extra ? strlen(extra) : 0), sizeof *args);
	if (!args)
		return mt_fail(NULL, MT_EXIT_INTERNAL, "out of memory");
	args[n++] = java;
	/* that an archive does not fit, or fits only in part, is no news for a user */
	args[n++] = "-Xlog:disable";
	args[n++] = "-Xshare:auto";
	if (!archive_path(archive, cmd, java, cp)) {
		snprintf(shared, sizeof shared, "-XX:SharedArchiveFile=%s", archive);
		args[n++] = "-XX:+AutoCreateSharedArchive";
		args[n++] = shared;
	}
	if (cmd->jvm_short) {
		args[n++] = "-XX:TieredStopAtLevel=1";
		args[n++] = "-XX:+UseSerialGC";
	} else {
		/*
		 * The optimizing compiler begins with what is used four times as often as it would by
		 * default; most commands have ended before what it makes pays (docs/measured/import.md).
		 */
		args[n++] = "-XX:Tier4InvocationThreshold=20000";
		args[n++] = "-XX:Tier4MinInvocationThreshold=2400";
		args[n++] = "-XX:Tier4CompileThreshold=60000";
		args[n++] = "-XX:Tier4BackEdgeThreshold=160000";
	}
	args[n++] = "--enable-native-access=ALL-UNNAMED";
	args[n++] = "-Djava.awt.headless=true";
	snprintf(launcher, sizeof launcher, "-Dmemtrace.launcher=%s", self);
	args[n++] = launcher;
	snprintf(tty, sizeof tty, "-Dmemtrace.terminal=%s%s", isatty(1) ? "out" : "", isatty(2) ? "err" : "");
	args[n++] = tty;
	if (extra && (copy = strdup(extra)))
		for (word = strtok_r(copy, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
			args[n++] = word;
	args[n++] = "-cp";
	args[n++] = cp;
	args[n++] = "org.memtrace.cli.Main";
	args[n++] = cmd->name;
	for (i = 0; i < argc; i++)
		args[n++] = argv[i];
	args[n] = NULL;
	fflush(NULL);
	execv(java, (char **)args);
	rc = mt_fail(NULL, MT_EXIT_UNAVAILABLE, "cannot run %s: %s", java, strerror(errno));
	free(copy);
	free(args);
	free(cp);
	return rc;
}
