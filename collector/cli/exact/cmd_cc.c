/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * cmd_cc.c - `memtrace cc`, `c++` and `fortran`: a compiler with the options that make a program
 * count its own accesses, which `record --exact` records.
 *
 * gcc: a specs file adds to each stage of the driver what belongs to it, so that every way of
 * calling the driver works, with or without linking. clang has no such file: its options of the
 * compiler proper go by -Xclang, and those of the linker are added if it links. Where clang optimises
 * at link time (-flto), the hooks are given to it as bitcode, so that they become part of the
 * code that they count for. The same clang makes the bitcode: those of versions differ.
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/table/native.h"
#include "cli/base/self.h"
#include "cli/base/program.h"
#include "cli/base/util.h"

static const char *const clang_options[] = {
	"-Xclang", "-fsanitize=thread",
	"-mllvm", "-tsan-instrument-func-entry-exit=0",
	/* else a read before a write of the same place would be left out */
	"-mllvm", "-tsan-instrument-read-before-write=1",
	/* accesses of more than 16 bytes have no hook */
	"-mprefer-vector-width=128",
};

/*
 * With -flto: calls of memory functions that the instrumentation made of copies, and those of the
 * program, would be made copies in place again when the program is linked, behind the back of the hooks.
 */
static const char *const link_time_options[] = {
	"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-mempcpy", "-fno-builtin-memset", "-fno-builtin-memcmp",
	"-fno-builtin-bcmp", "-fno-builtin-memchr", "-fno-builtin-strlen", "-fno-builtin-strcpy", "-fno-builtin-strncpy",
};

/* Folder of libmemtrace-count.a and what belongs to it: that of the preload library. NULL: not there. */
static char *count_folder(void)
{
	char *preload = mt_preload_path(), *dir, *file;

	if (!preload)
		return NULL;
	dir = mt_strdup(dirname(preload));
	free(preload);
	file = mt_printf("%s/libmemtrace-count.a", dir);
	if (access(file, R_OK)) {
		free(dir);
		dir = NULL;
	}
	free(file);
	return dir;
}

static bool is_clang(const char *compiler)
{
	int code;
	char *path = mt_program_find(compiler, &code), *real = path ? realpath(path, NULL) : NULL;
	const bool yes = strstr(mt_base(compiler), "clang") || (real && strstr(mt_base(real), "clang"));

	free(path);
	free(real);
	return yes;
}

/* Does this command line end with linking? */
static bool links(const struct mt_args *a)
{
	bool input = false;

	for (int i = 0; i < a->argc; i++) {
		const char *s = a->argv[i];

		if (!strcmp(s, "-c") || !strcmp(s, "-S") || !strcmp(s, "-E") || !strcmp(s, "-M") || !strcmp(s, "-MM") ||
		    !strcmp(s, "-fsyntax-only") || !strcmp(s, "-r") || !strcmp(s, "--precompile"))
			return false;
		if (!strcmp(s, "-o") || !strcmp(s, "-x") || !strcmp(s, "-MF") || !strcmp(s, "-MT") || !strcmp(s, "-MQ"))
			i++;
		else
			input |= s[0] != '-' || !s[1];
	}
	return input;
}

/* The last of the options by which clang optimises at link time; NULL: it does not. */
static char *link_time(const struct mt_args *a)
{
	char *s = NULL;

	for (int i = 0; i < a->argc; i++) {
		if (!strcmp(a->argv[i], "-flto") || !strncmp(a->argv[i], "-flto=", 6))
			s = a->argv[i];
		else if (!strcmp(a->argv[i], "-fno-lto"))
			s = NULL;
	}
	return s;
}

/* Runs a command. Its exit code, 128 + N where signal N ended it, -1: it did not start. */
static int run(char **v)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(v[0], v);
		_exit(errno == ENOENT ? MT_EXIT_NOT_FOUND : MT_EXIT_CANNOT_EXECUTE);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			pid = -1;
	return pid < 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Compiles the hooks with the first @n words of @v, the compiler, and the option @lto of the
 * user. The name of a file that the caller removes; NULL: they cannot be compiled, the archive does.
 */
static char *bitcode(char **v, int n, char *lto, const char *dir)
{
	const char *folder = getenv("TMPDIR");
	/* hooks that can be opened and closed are dearer while they count */
	const char *windows = getenv("MEMTRACE_WINDOWS");
	const bool gates = windows && *windows && strcmp(windows, "0");
	char *source = mt_printf("%s/memtrace-%s.i", dir, gates ? "windows" : "count");
	char *name = mt_printf("%s/memtrace-count-XXXXXX.o", folder && *folder ? folder : "/tmp");
	char *options[] = { lto, (char *)"-O2", (char *)"-fPIC", (char *)"-fomit-frame-pointer", (char *)"-w", (char *)"-x", (char *)"cpp-output",
			    (char *)"-c", source, (char *)"-o", name, NULL };
	char **words = mt_alloc(((size_t)n + sizeof(options) / sizeof(options[0])) * sizeof(*words));
	int fd = access(source, R_OK) ? -1 : mkstemps(name, 2);

	memcpy(words, v, (size_t)n * sizeof(*v));
	memcpy(words + n, options, sizeof(options));
	if (fd >= 0) {
		close(fd);
		if (run(words)) {
			unlink(name);
			fd = -1;
		}
	}
	free(words);
	free(source);
	if (fd < 0) {
		fprintf(stderr, "memtrace: note: the hooks stay calls: %s does not compile them with %s\n", v[n - 1], lto);
		free(name);
		name = NULL;
	}
	return name;
}

static int check(const struct mt_args *a)
{
	for (int i = 0; i < a->argc; i++) {
		if (!strncmp(a->argv[i], "-fsanitize=", 11) && strstr(a->argv[i], "thread"))
			return mt_fail(a, MT_EXIT_USAGE, "%s and counting exclude each other", a->argv[i]);
		if (!strcmp(a->argv[i], "-static") || !strcmp(a->argv[i], "-static-pie"))
			return mt_fail(a, MT_EXIT_USAGE, "%s: a static program cannot be recorded with --exact", a->argv[i]);
	}
	return 0;
}

/*
 * Appends the options of the linker that lead calls of memory functions to the hooks: without them a program links, and
 * counts a small part of its accesses. 0, or the exit code.
 */
static int add_wraps(const struct mt_args *a, const char *dir, char ***v, int *n)
{
	char *path = mt_printf("%s/memtrace-count.wrap", dir), *wrap = mt_read_file(path, NULL), *save = NULL;
	const int before = *n;
	int rc = 0;

	if (!wrap)
		rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "%s: %s; without it most accesses would not be counted", path, strerror(errno));
	for (char *w = wrap ? strtok_r(wrap, " \n", &save) : NULL; w; w = strtok_r(NULL, " \n", &save)) {
		*v = mt_resize(*v, ((size_t)*n + 8) * sizeof(**v));
		(*v)[(*n)++] = mt_printf("-Wl,%s", w);
	}
	if (!rc && *n == before)
		rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "%s names no function; without it most accesses would not be counted", path);
	free(wrap);
	free(path);
	return rc;
}

/* @variable names the compiler, @usual is taken without it. */
static int compile(const struct mt_args *a, const char *variable, const char *usual)
{
	const char *given = getenv(variable);
	char *words = mt_strdup(given && *given ? given : usual), *save = NULL, *dir = count_folder(), *hooks = NULL, **v;
	const char *compiler = NULL;
	int n = 0, n_compiler, rc = check(a);

	if (rc || !dir) {
		if (!rc)
			rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "libmemtrace-count.a is not beside libmemtrace-preload.so");
		free(words);
		free(dir);
		return rc;
	}
	v = mt_alloc(((size_t)a->argc + strlen(words) + 64) * sizeof(*v));
	/* "ccache gcc": the last word is the compiler */
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		compiler = v[n++] = w;
	if (!compiler) {
		free(v);
		free(words);
		free(dir);
		return mt_fail(a, MT_EXIT_USAGE, "%s has no compiler", variable);
	}
	n_compiler = n;
	if (!is_clang(compiler)) {
		setenv("MEMTRACE_COUNT", dir, 1);
		v[n++] = mt_printf("-specs=%s/memtrace-count.specs", dir);
		memcpy(v + n, a->argv, (size_t)a->argc * sizeof(*v));
		n += a->argc;
	} else {
		for (size_t i = 0; i < sizeof(clang_options) / sizeof(clang_options[0]); i++)
			v[n++] = (char *)clang_options[i];
		for (size_t i = 0; link_time(a) && i < sizeof(link_time_options) / sizeof(link_time_options[0]); i++)
			v[n++] = (char *)link_time_options[i];
		v[n++] = (char *)"-Wno-unused-command-line-argument";
		memcpy(v + n, a->argv, (size_t)a->argc * sizeof(*v));
		n += a->argc;
		if (links(a)) {
			rc = add_wraps(a, dir, &v, &n);
			if (rc) {
				free(v);
				free(words);
				free(dir);
				return rc;
			}
			/* -x of the user would hold for it: none from here on */
			v[n++] = (char *)"-xnone";
			if (link_time(a) && (hooks = bitcode(v, n_compiler, link_time(a), dir)))
				v[n++] = hooks;
			v[n++] = mt_printf("%s/libmemtrace-count.a", dir);
		}
	}
	v[n] = NULL;
	if (hooks) {
		rc = run(v);
		unlink(hooks);
		return rc < 0 ? mt_fail(a, MT_EXIT_CANNOT_EXECUTE, "%s: %s", v[0], strerror(errno)) : rc;
	}
	execvp(v[0], v);
	return mt_fail(a, errno == ENOENT ? MT_EXIT_NOT_FOUND : MT_EXIT_CANNOT_EXECUTE, "%s: %s; %s names another compiler", v[0],
		       strerror(errno), variable);
}

int cmd_cc(const struct mt_args *a)
{
	return compile(a, "MEMTRACE_CC", "gcc");
}

int cmd_cxx(const struct mt_args *a)
{
	return compile(a, "MEMTRACE_CXX", "g++");
}

int cmd_fortran(const struct mt_args *a)
{
	return compile(a, "MEMTRACE_FC", "gfortran");
}
