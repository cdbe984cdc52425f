// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/backend/kmod/kmod_build.c cli/base/util.c
/* When is a module built again, and what is said when that fails? */
#include <stdlib.h>
#include <sys/stat.h>
#include <utime.h>
#include <unistd.h>

#include "harness.h"
#include "cli/backend/kmod/kmod_build.h"
#include "cli/base/util.h"

static char top[] = "/tmp/mt_kbuild_XXXXXX";

static char *put(const char *name, const char *text)
{
	char *path = mt_printf("%s/%s", top, name);
	FILE *f = fopen(path, "we");

	CHECK(f != NULL);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	return path;
}

static void dir(const char *name)
{
	char *path = mt_printf("%s/%s", top, name);

	CHECK(!mkdir(path, 0700));
	free(path);
}

static void test_fresh(void)
{
	static const char *const files[] = { "Kbuild", "probe.sh", "main.c", "core.h", "compat/pte.h", "include/memtrace/abi.h" };
	const struct utimbuf past = { 1, 1 };
	char *src, *built, *path;

	dir("src");
	dir("src/compat");
	dir("src/include");
	dir("src/include/memtrace");
	dir("built");
	dir("built/compat");
	dir("built/include");
	dir("built/include/memtrace");
	src = mt_printf("%s/src", top);
	built = mt_printf("%s/built", top);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path = mt_printf("src/%s", files[i]);
		free(put(path, "one"));
		free(path);
		path = mt_printf("built/%s", files[i]);
		free(put(path, "one"));
		free(path);
	}
	CHECK(!mt_kmod_fresh(built, src));	/* not built yet */
	free(put("built/memtrace.ko", "elf"));
	free(put("built/memtrace.mod.c", "generated"));
	CHECK(mt_kmod_fresh(built, src));
	free(put("src/README", "no source"));
	CHECK(mt_kmod_fresh(built, src));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		path = mt_printf("src/%s", files[i]);
		free(path);
		path = mt_printf("src/%s", files[i]);
		char *full = put(path, "two");

		/* a package brings files with the time of its release */
		CHECK(!utime(full, &past));
		CHECK(!mt_kmod_fresh(built, src));
		free(full);
		free(put(path, "one"));
		CHECK(mt_kmod_fresh(built, src));
		free(path);
	}
	free(put("src/new.c", "one"));
	CHECK(!mt_kmod_fresh(built, src));
	free(src);
	free(built);
}

static void error(const char *log, const char *want, const char *want_fix)
{
	char *path = put("build.log", log), *fix = NULL, *got = mt_kmod_build_error(path, &fix);
	char *full = strstr(want, "%s") ? mt_printf("%.*s%s", (int)(strstr(want, "%s") - want), want, path) :
		mt_strdup(want);

	CHECK_STR(got, full);
	CHECK_STR(fix ? fix : "", want_fix);
	free(full);
	free(path);
	free(fix);
	free(got);
}

static void test_error(void)
{
	error("make[1]: Entering directory '/usr/src/linux-headers-6.1.0-56-amd64'\n"
	      "/bin/sh: 1: gcc-12: not found\n"
	      "make[3]: *** [/usr/src/linux-headers-6.1.0-56-common/scripts/Makefile.build:255: main.o] Error 127\n",
	      "the kernel module cannot be built: gcc-12 is not installed", "apt install gcc-12");
	error("make[2]: gcc-12: No such file or directory\nmake: *** [Makefile:29: all] Error 2\n",
	      "the kernel module cannot be built: gcc-12 is not installed", "apt install gcc-12");
	error("/x/main.c:3:10: fatal error: linux/none.h: No such file or directory\nmake: *** Error 2\n",
	      "the kernel module cannot be built: error: linux/none.h: No such file or directory; see %s", "");
	error("Kbuild:4: *** memtrace: this kernel has no kprobes (CONFIG_KPROBES), page faults cannot be seen.  Stop.\n",
	      "the kernel module cannot be built: this kernel has no kprobes (CONFIG_KPROBES), page faults cannot be seen.  Stop.; see %s", "");
	error("", "the kernel module cannot be built, see %s", "");
}

static void command(const char *os, const char *program, const char *release, const char *want)
{
	char *got = mt_kmod_install_command(program, release, os);

	CHECK_STR(got ? got : "", want);
	free(got);
}

static void test_install_command(void)
{
	const char *rocky = "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
		   *sles = "ID=\"sles\"\nID_LIKE=\"suse\"\n", *ubuntu = "ID=ubuntu\nID_LIKE=debian\n", *other = "ID=slackware\n";

	command(ubuntu, NULL, "6.8.0-31-generic", "apt install linux-headers-6.8.0-31-generic");
	command("ID=debian\n", "gcc-12", NULL, "apt install gcc-12");
	command(rocky, NULL, "5.14.0-427.el9.x86_64", "dnf install kernel-devel-5.14.0-427.el9.x86_64");
	command(rocky, "gcc-12", NULL, "dnf install gcc");
	command(sles, NULL, "5.14.21-150500.55-default", "zypper install kernel-default-devel=5.14.21-150500.55");
	command(sles, "make", NULL, "zypper install make");
	command(other, "make", NULL, "");
	command("VERSION_ID=debian\n", "make", NULL, "");
}

int main(void)
{
	char *rm;

	if (!mkdtemp(top))
		return 1;
	test_fresh();
	test_error();
	test_install_command();
	rm = mt_printf("rm -rf %s", top);
	CHECK(!system(rm));
	free(rm);
	return mt_test_done();
}
