// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/base/program.c cli/base/util.c common/sanitizer.c common/rawmem.c
// includes: cli/exact/cmd_cc.c
// libs: -ljansson -lelf
/* What `memtrace cc` makes of a command line: the options that it adds, and when it links. */
#include "harness.h"

#include <stdarg.h>
#include <sys/stat.h>

#include "cli/base/self.h"
#include "cli/exact/cmd_cc.c"

static char folder[4096];
static char failure[512];

char *mt_preload_path(void)
{
	return *folder ? mt_printf("%s/libmemtrace-preload.so", folder) : NULL;
}

int mt_fail(const struct mt_args *a, enum mt_exit code, const char *fmt, ...)
{
	va_list ap;

	(void)a;
	va_start(ap, fmt);
	vsnprintf(failure, sizeof(failure), fmt, ap);
	va_end(ap);
	return code;
}

#define ARGS(...) (&(struct mt_args){ .argc = sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *), \
				      .argv = (char *[]){ __VA_ARGS__, NULL } })

static void when_it_links(void)
{
	CHECK(links(ARGS("a.c")));
	CHECK(links(ARGS("-O2", "a.o", "-o", "a")));
	CHECK(links(ARGS("-")));			/* standard input */
	CHECK(!links(ARGS("-O2")));
	CHECK(!links(ARGS("-o", "a")));			/* the value of an option is no input */
	CHECK(!links(ARGS("-x", "c++")));
	CHECK(!links(ARGS("-MF", "a.d")));
	CHECK(!links(ARGS("-MT", "a.o", "-MQ", "b.o")));
	CHECK(!links(ARGS("-c", "a.c")));
	CHECK(!links(ARGS("a.c", "-S")));
	CHECK(!links(ARGS("a.c", "-E")));
	CHECK(!links(ARGS("-M", "a.c")));
	CHECK(!links(ARGS("-MM", "a.c")));
	CHECK(!links(ARGS("-fsyntax-only", "a.c")));
	CHECK(!links(ARGS("a.o", "-r")));
	CHECK(!links(ARGS("--precompile", "a.c")));
}

/* The last option counts. */
static void optimising_at_link_time(void)
{
	CHECK(!link_time(ARGS("-O2", "-flatten")));
	CHECK_STR(link_time(ARGS("-flto", "a.c")), "-flto");
	CHECK_STR(link_time(ARGS("-flto", "-flto=thin")), "-flto=thin");
	CHECK_STR(link_time(ARGS("-fno-lto", "-flto=full", "-O2")), "-flto=full");
	CHECK(!link_time(ARGS("-flto=thin", "-fno-lto")));
}

static void what_cannot_be_counted(void)
{
	CHECK_EQ(check(ARGS("-O2", "-fsanitize=address", "a.c")), 0);
	CHECK_EQ(check(ARGS("a.c", "-fsanitize=undefined,thread")), MT_EXIT_USAGE);
	CHECK_STR(failure, "-fsanitize=undefined,thread and counting exclude each other");
	CHECK_EQ(check(ARGS("-static", "a.c")), MT_EXIT_USAGE);
	CHECK_EQ(check(ARGS("-static-pie", "a.c")), MT_EXIT_USAGE);
	CHECK_EQ(check(ARGS("-static-libgcc", "a.c")), 0);
}

/* A compiler that writes its arguments, a line each, and one that clang's name leads to. */
static void make_file(const char *name, const char *text, mode_t mode)
{
	char *path = mt_printf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
	free(path);
}

static char language = 'c';
static int exit_code;

/* The arguments that the compiler got; the folder is F. */
static char *run_compiler(const char *compiler, const struct mt_args *a)
{
	static char text[8192];
	char *path = mt_printf("%s/out", folder), *all, *p;
	int status;
	pid_t pid;

	remove(path);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("MEMTRACE_CC", compiler, 1);
		setenv("MEMTRACE_CXX", compiler, 1);
		setenv("MEMTRACE_FC", compiler, 1);
		_exit(language == 'c' ? cmd_cc(a) : language == '+' ? cmd_cxx(a) : cmd_fortran(a));
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	exit_code = WEXITSTATUS(status);
	all = mt_read_file(path, NULL);
	*text = 0;
	for (p = all; p && *p; ) {
		if (!strncmp(p, folder, strlen(folder))) {
			strcat(text, "F");
			p += strlen(folder);
		} else {
			strncat(text, p++, 1);
		}
	}
	free(all);
	free(path);
	return text;
}

static void options_that_are_added(void)
{
	char *gcc, *clang, *both;
	char *save, *t;

	snprintf(folder, sizeof(folder), "%s/test_cc.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	gcc = mt_printf("%s/gcc-99", folder);
	clang = mt_printf("%s/clang-99", folder);
	both = mt_printf("/usr/bin/env %s", gcc);
	save = mt_printf("#!/bin/sh\nfor a; do echo \"$a\"; done >%s/out\n"
			 "case \"$*\" in *cpp-output*) exit 0 ;; esac\nexit ${CODE:-0}\n", folder);
	make_file("gcc-99", save, 0755);
	make_file("clang-99", save, 0755);
	CHECK_EQ(compile(ARGS("a.c"), "MEMTRACE_CC", "gcc"), MT_EXIT_UNAVAILABLE);	/* no archive */
	make_file("libmemtrace-count.a", "", 0644);
	make_file("memtrace-count.wrap", "--wrap=memcpy --wrap=memset\n", 0644);
	/* without them it would link, and count next to nothing */
	t = mt_printf("%s/memtrace-count.wrap", folder);
	CHECK_EQ(remove(t), 0);
	*failure = 0;
	CHECK_STR(run_compiler(clang, ARGS("a.c")), "");
	CHECK_EQ(exit_code, MT_EXIT_UNAVAILABLE);
	make_file("memtrace-count.wrap", "\n", 0644);
	CHECK_STR(run_compiler(clang, ARGS("a.c")), "");
	CHECK_EQ(exit_code, MT_EXIT_UNAVAILABLE);
	CHECK_STR(run_compiler(clang, ARGS("-c", "a.c")) + strlen("-Xclang\n"), "-fsanitize=thread\n-mllvm\n"
		  "-tsan-instrument-func-entry-exit=0\n-mllvm\n-tsan-instrument-read-before-write=1\n-mprefer-vector-width=128\n"
		  "-Wno-unused-command-line-argument\n-c\na.c\n");
	free(t);
	make_file("memtrace-count.wrap", "--wrap=memcpy --wrap=memset\n", 0644);
	setenv("MEMTRACE_CC", "  ", 1);
	CHECK_EQ(cmd_cc(ARGS("a.c")), MT_EXIT_USAGE);
	CHECK_STR(failure, "MEMTRACE_CC has no compiler");

	CHECK_STR(run_compiler(gcc, ARGS("-c", "a b.c")), "-specs=F/memtrace-count.specs\n-c\na b.c\n");
	CHECK_STR(run_compiler(both, ARGS("a.c")), "-specs=F/memtrace-count.specs\na.c\n");

	CHECK(is_clang(clang) && !is_clang(gcc));
	t = run_compiler(clang, ARGS("-c", "a.c"));
	CHECK(strstr(t, "-Xclang\n-fsanitize=thread\n") == t);
	CHECK(strstr(t, "\n-Wno-unused-command-line-argument\n-c\na.c\n") != NULL);
	CHECK(strstr(t, "wrap") == NULL && strstr(t, "libmemtrace-count.a") == NULL && strstr(t, "-fno-builtin") == NULL);
	t = run_compiler(clang, ARGS("-x", "c", "a.c"));
	CHECK(strstr(t, "\n-x\nc\na.c\n-Wl,--wrap=memcpy\n-Wl,--wrap=memset\n-xnone\nF/libmemtrace-count.a\n") != NULL);
	/* there is no source of the hooks here: they stay calls */
	t = run_compiler(clang, ARGS("-flto", "a.c"));
	CHECK(strstr(t, "-fno-builtin-memcpy\n") != NULL);
	CHECK(strstr(t, "\n-xnone\nF/libmemtrace-count.a\n") != NULL);

	CHECK_EQ(exit_code, 0);
	/* they are compiled with the same compiler, linked, and removed; the code of the compiler is ours */
	make_file("memtrace-count.i", "", 0644);
	setenv("TMPDIR", folder, 1);
	t = run_compiler(clang, ARGS("-flto", "a.c"));
	CHECK(strstr(t, "\n-xnone\nF/memtrace-count-") != NULL);
	CHECK(strstr(t, ".o\nF/libmemtrace-count.a\n") != NULL);
	/* with gates: another source, which is not there */
	setenv("MEMTRACE_WINDOWS", "1", 1);
	t = run_compiler(clang, ARGS("-flto", "a.c"));
	CHECK(strstr(t, "\n-xnone\nF/libmemtrace-count.a\n") != NULL);
	setenv("MEMTRACE_WINDOWS", "0", 1);
	t = run_compiler(clang, ARGS("-flto", "a.c"));
	CHECK(strstr(t, "\n-xnone\nF/memtrace-count-") != NULL);
	unsetenv("MEMTRACE_WINDOWS");
	setenv("CODE", "3", 1);
	run_compiler(clang, ARGS("-flto", "a.c"));
	CHECK_EQ(exit_code, 3);
	run_compiler(gcc, ARGS("a.c"));
	CHECK_EQ(exit_code, 3);
	language = '+';
	CHECK_STR(run_compiler(gcc, ARGS("a.cc")), "-specs=F/memtrace-count.specs\na.cc\n");
	language = 'f';
	CHECK_STR(run_compiler(gcc, ARGS("a.f90")), "-specs=F/memtrace-count.specs\na.f90\n");
	unsetenv("CODE");
	/* a name that leads to clang */
	t = mt_printf("%s/cc", folder);
	CHECK_EQ(symlink("clang-99", t), 0);
	CHECK(is_clang(t));
	free(t);

	for (int i = 0; i < 7; i++) {
		static const char *const names[] = { "gcc-99", "clang-99", "libmemtrace-count.a", "memtrace-count.wrap", "out",
			"memtrace-count.i", "cc" };
		char *path = mt_printf("%s/%s", folder, names[i]);

		remove(path);
		free(path);
	}
	CHECK_EQ(rmdir(folder), 0);	/* nothing is left */
	free(save);
	free(gcc);
	free(clang);
	free(both);
}

int main(void)
{
	when_it_links();
	optimising_at_link_time();
	what_cannot_be_counted();
	options_that_are_added();
	return mt_test_done();
}
