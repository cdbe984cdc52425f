// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/java.c cli/base/cache.c cli/base/self.c cli/base/util.c
// includes: cli/java.c
/* Which Java and which jars are taken, and what an archive of classes is called; in folders that are made here. */
#include "harness.h"
#include "cli/base/cache.h"
#include "cli/java.c"

static char said[512];

int mt_fail(const struct mt_args *a, enum mt_exit code, const char *fmt, ...)
{
	va_list ap;

	(void)a;
	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	return (int)code;
}

static char top[] = "/tmp/mt-java-XXXXXX";

/* A file below top, with the folders that it needs; the path is valid until the next call. */
static const char *put(const char *name, const char *text, mode_t mode)
{
	static char path[PATH_MAX];
	char dir[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	memcpy(dir, path, sizeof(path));
	*strrchr(dir, '/') = 0;
	CHECK_EQ(mt_make_dirs(dir), 0);
	f = fopen(path, "we");
	CHECK(f != NULL);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	chmod(path, mode);
	return path;
}

static const char *at(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned int i;

	i = (i + 1) % 4;
	snprintf(path[i], PATH_MAX, "%s/%s", top, name);
	return path[i];
}

static int version_of(const char *release)
{
	put("jdk/release", release, 0644);
	return java_version(at("jdk"));
}

static void versions(void)
{
	CHECK_EQ(version_of("JAVA_VERSION=\"21.0.5\"\n"), 21);
	CHECK_EQ(version_of("IMPLEMENTOR=\"x\"\nJAVA_RUNTIME_VERSION=\"9\"\nJAVA_VERSION=\"25\"\nJAVA_VERSION_DATE=\"2025-09-16\"\n"), 25);
	CHECK_EQ(version_of("JAVA_VERSION=\"1.8.0_402\"\n"), 8);
	CHECK_EQ(version_of("JAVA_VERSION=21\n"), 0);
	CHECK_EQ(version_of(""), 0);
	CHECK_EQ(java_version(at("nowhere")), 0);
}

static void places(void)
{
	char path[PATH_MAX], home[PATH_MAX];

	put("jdk21/release", "JAVA_VERSION=\"21\"\n", 0644);
	put("jdk21/bin/java", "#!/bin/sh\n", 0755);
	put("plain/java", "text", 0644);
	CHECK(java_in(at("jdk21"), path));
	CHECK_STR(path, at("jdk21/bin/java"));
	CHECK(!java_in(at("jdk"), path) && !java_in("", path) && !java_in(NULL, path));

	/* said by the user: a home, a program, or nothing else */
	setenv("MEMTRACE_JAVA", at("jdk21"), 1);
	CHECK_EQ(mt_find_java(path), 0);
	CHECK_STR(path, at("jdk21/bin/java"));
	setenv("MEMTRACE_JAVA", at("jdk21/bin/java"), 1);
	CHECK_EQ(mt_find_java(path), 0);
	CHECK_STR(path, at("jdk21/bin/java"));
	setenv("MEMTRACE_JAVA", at("plain/java"), 1);
	CHECK_EQ(mt_find_java(path), MT_EXIT_UNAVAILABLE);
	CHECK(strstr(said, at("plain/java")) != NULL);
	unsetenv("MEMTRACE_JAVA");
	setenv("JAVA_HOME", at("jdk21"), 1);
	CHECK_EQ(mt_find_java(path), 0);
	CHECK_STR(path, at("jdk21/bin/java"));
	unsetenv("JAVA_HOME");

	/* on PATH by a link, as distributions have it; what cannot be run is passed over */
	put("links/x", "", 0644);
	CHECK_EQ(symlink(at("jdk21/bin/java"), at("links/java")), 0);
	setenv("PATH", at("nowhere"), 1);
	CHECK(!on_path("java", path));
	snprintf(path, sizeof(path), "%s::%s:%s", at("plain"), at("nowhere"), at("links"));
	setenv("PATH", path, 1);
	CHECK(on_path("java", path));
	CHECK_STR(path, at("links/java"));
	CHECK_EQ(home_of(path, home), 0);
	CHECK_STR(home, at("jdk21"));
	CHECK(home_of(at("nowhere/java"), home) < 0);
}

static void jar_names(void)
{
	CHECK(wanted("org.memtrace.cli.jar") && wanted("org.memtrace.cli_0.1.0.2026.jar") && wanted("h2-2.5.252.jar"));
	CHECK(wanted("jna-5.19.1.jar") && wanted("com.sun.jna_5.19.1.jar") && wanted("zstd-jni-1.5.7-25.jar"));
	CHECK(wanted("postgresql-42.7.14.jar") && wanted("org.postgresql.jdbc_42.7.14.jar"));
	/* others whose names begin so, sources, and what is no jar */
	CHECK(!wanted("jna-platform-5.19.1.jar") && !wanted("org.memtrace.cliché.jar") && !wanted("h2o-3.jar"));
	CHECK(!wanted("gson-2.13.2-sources.jar") && !wanted("com.google.gson.source_2.13.jar") && !wanted("h2-2.5.252.jar.sha1"));
	CHECK(!wanted("org.memtrace.cli_0.1.0.source_2.jar") && !wanted("") && !wanted(".jar") && !wanted("org.memtrace.views.jar"));
}

static void class_paths(void)
{
	char want[4 * PATH_MAX], self[PATH_MAX];
	char *cp;

	put("prefix/lib/memtrace/org.memtrace.model.jar", "m", 0644);
	put("prefix/lib/memtrace/h2-2.5.252.jar", "h", 0644);
	snprintf(self, sizeof(self), "%s", put("prefix/bin/memtrace", "", 0755));
	unsetenv("MEMTRACE_LIB");
	CHECK(class_path(self) == NULL);		/* without the commands themselves */
	put("prefix/lib/memtrace/org.memtrace.cli.jar", "c", 0644);
	put("prefix/lib/memtrace/unknown.jar", "u", 0644);
	cp = class_path(self);
	snprintf(want, sizeof(want), "%s:%s:%s", at("prefix/lib/memtrace/h2-2.5.252.jar"), at("prefix/lib/memtrace/org.memtrace.cli.jar"),
		 at("prefix/lib/memtrace/org.memtrace.model.jar"));
	CHECK_STR(cp ? cp : "(none)", want);
	free(cp);
	/* what lies nearer to the program comes first; what the user says comes before all */
	put("prefix/bin/lib/org.memtrace.cli.jar", "", 0644);
	cp = class_path(self);
	CHECK_STR(cp ? cp : "(none)", at("prefix/bin/lib/org.memtrace.cli.jar"));
	free(cp);
	put("other/org.memtrace.cli-2.jar", "", 0644);
	setenv("MEMTRACE_LIB", at("other"), 1);
	cp = class_path(self);
	CHECK_STR(cp ? cp : "(none)", at("other/org.memtrace.cli-2.jar"));
	free(cp);
	setenv("MEMTRACE_LIB", at("nowhere"), 1);
	CHECK(class_path(self) == NULL);
	unsetenv("MEMTRACE_LIB");
}

static void caches(void)
{
	char path[PATH_MAX];

	setenv("MEMTRACE_CACHE", at("cache/deep"), 1);
	setenv("XDG_CACHE_HOME", at("xdg"), 1);
	setenv("HOME", at("home"), 1);
	CHECK_EQ(mt_cache_dir(path), 0);
	CHECK_STR(path, at("cache/deep"));
	CHECK_EQ(access(at("cache/deep"), W_OK), 0);
	unsetenv("MEMTRACE_CACHE");
	CHECK_EQ(mt_cache_dir(path), 0);
	CHECK_STR(path, at("xdg/memtrace"));
	setenv("XDG_CACHE_HOME", "relative", 1);	/* which the standard says to leave aside */
	CHECK_EQ(mt_cache_dir(path), 0);
	CHECK_STR(path, at("home/.cache/memtrace"));
	setenv("HOME", "", 1);
	CHECK_EQ(mt_cache_dir(path), -ENOENT);
}

/* One archive for each command, JVM and class path; another when a jar changes, and the old one is removed. */
static void archives(void)
{
	const struct mt_command import = { .name = "import" }, summary = { .name = "summary" };
	char a[PATH_MAX], b[PATH_MAX], cp[2 * PATH_MAX], java[PATH_MAX];
	FILE *f;

	setenv("MEMTRACE_CACHE", at("archives"), 1);
	snprintf(java, sizeof(java), "%s", at("jdk21/bin/java"));
	snprintf(cp, sizeof(cp), "%s:%s", at("prefix/lib/memtrace/h2-2.5.252.jar"), at("prefix/lib/memtrace/org.memtrace.cli.jar"));
	CHECK_EQ(archive_path(a, &import, java, cp), 0);
	CHECK(!strncmp(a, at("archives/import-"), strlen(at("archives/import-"))) && !strcmp(a + strlen(a) - 4, ".jsa"));
	CHECK_EQ(archive_path(b, &import, java, cp), 0);
	CHECK_STR(b, a);
	CHECK_EQ(archive_path(b, &summary, java, cp), 0);
	CHECK(strcmp(a, b));
	CHECK_EQ(archive_path(b, &import, java, at("prefix/lib/memtrace/org.memtrace.cli.jar")), 0);
	CHECK(strcmp(a, b));

	f = fopen(a, "we");		/* as the JVM makes it */
	if (f)
		fclose(f);
	f = fopen(at("archives/import-other.jsa"), "we");
	if (f)
		fclose(f);
	CHECK_EQ(archive_path(b, &import, java, cp), 0);
	CHECK_STR(b, a);
	CHECK_EQ(access(a, F_OK), 0);
	put("prefix/lib/memtrace/org.memtrace.cli.jar", "a longer one", 0644);
	CHECK_EQ(archive_path(b, &import, java, cp), 0);
	CHECK(strcmp(a, b));
	CHECK(access(a, F_OK) && !access(at("archives/import-other.jsa"), F_OK));
	put("jdk21/bin/java", "#!/bin/sh\n# newer\n", 0755);
	CHECK_EQ(archive_path(a, &import, java, cp), 0);
	CHECK(strcmp(a, b));
}

int main(void)
{
	char command[64];

	CHECK(mkdtemp(top) != NULL);
	versions();
	jar_names();
	class_paths();
	caches();
	places();
	archives();
	setenv("PATH", "/bin:/usr/bin", 1);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	CHECK_EQ(system(command), 0);
	return mt_test_done();
}
