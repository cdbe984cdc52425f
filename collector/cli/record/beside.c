/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * beside.c - EZTrace in the recorded program.
 *
 * The command eztrace sets an environment and starts the program. We set the same environment in the child, so that
 * neither the recorder nor its helpers are traced. Order in LD_PRELOAD: ours, then EZTrace's, as a library that comes
 * first sees a call first: the births of threads are then within microseconds of each other in both traces.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/beside.h"
#include "cli/table/command.h"
#include "cli/base/program.h"
#include "cli/base/util.h"

#define MOST_MODULES 16

struct mt_beside {
	char *libraries;		/* folder of EZTrace's libraries */
	char *module[MOST_MODULES];
	int modules;
	char *libomp;			/* LLVM's runtime in place of gcc's, or NULL */
	char *folder;			/* of the archive; set by prepare */
	char *redirect;			/* folder with libgomp.so.1, or NULL */
};

/* Is @library among those that the ELF file @path asks for? A script asks for none. */
static bool needs(const char *path, const char *library)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const size_t n = strlen(library);
	bool found = false;
	Elf_Scn *s = NULL;
	Elf *elf = NULL;

	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && elf_kind(elf) == ELF_K_ELF && !found && (s = elf_nextscn(elf, s))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Dyn d;

		if (!gelf_getshdr(s, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(s, NULL);
		for (int i = 0; data && !found && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
			const char *name = d.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, d.d_un.d_val) : NULL;

			/* libmpi.so is libmpi.so.40, too */
			found = name && !strncmp(name, library, n) && (!name[n] || name[n] == '.');
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

/* The first path of a pattern that has one; NULL: none. The newest version is the last in the order of names. */
static char *newest(const char *pattern)
{
	char *path = NULL;
	glob_t g;

	if (!glob(pattern, 0, NULL, &g) && g.gl_pathc)
		path = mt_strdup(g.gl_pathv[g.gl_pathc - 1]);
	globfree(&g);
	return path;
}

/* Folder with libeztrace-lib.so: EZTRACE_LIBRARY_PATH, or beside the command eztrace in PATH. NULL: not installed. */
static char *find_libraries(void)
{
	static const char *const beside[] = { "lib/x86_64-linux-gnu", "lib64", "lib" };
	const char *given = getenv("EZTRACE_LIBRARY_PATH");
	char *copy = mt_strdup(given ? given : ""), *save = NULL, *found = NULL, *command, real[PATH_MAX];
	int code;

	for (char *dir = strtok_r(copy, ":", &save); dir && !found; dir = strtok_r(NULL, ":", &save)) {
		char *path = mt_printf("%s/libeztrace-lib.so", dir);

		if (mt_exists(path))
			found = mt_strdup(dir);
		free(path);
	}
	free(copy);
	command = found ? NULL : mt_program_find("eztrace", &code);
	if (command && realpath(command, real))
		for (size_t i = 0; i < sizeof(beside) / sizeof(*beside) && !found; i++) {
			char *path, *folder = mt_strdup(real);

			*strrchr(folder, '/') = 0;	/* the folder of the command */
			path = mt_printf("%s/../%s/libeztrace-lib.so", folder, beside[i]);
			if (realpath(path, real)) {
				*strrchr(real, '/') = 0;
				found = mt_strdup(real);
			}
			free(path);
			free(folder);
		}
	free(command);
	return found;
}

static bool has_module(const char *libraries, const char *module)
{
	char *path = mt_printf("%s/libeztrace-%s.so", libraries, module);
	const bool found = !strchr(module, '/') && mt_exists(path);

	free(path);
	return found;
}

/* "memory, ompt, pthread" */
static char *modules_of(const char *libraries)
{
	static const char *const parts[] = { "core", "lib", "instrumentation" };
	char *pattern = mt_printf("%s/libeztrace-*.so", libraries), *text = mt_strdup("");
	glob_t g;

	if (glob(pattern, 0, NULL, &g))
		g.gl_pathc = 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *name = mt_base(g.gl_pathv[i]) + strlen("libeztrace-");
		const int n = (int)strlen(name) - 3;
		bool part = false;
		char *next;

		for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
			part |= !strncmp(name, parts[k], (size_t)n) && !parts[k][n];
		if (part)
			continue;
		next = mt_printf("%s%s%.*s", text, *text ? ", " : "", n, name);
		free(text);
		text = next;
	}
	globfree(&g);
	free(pattern);
	return text;
}

static bool asked(const struct mt_beside *b, const char *module)
{
	for (int i = 0; i < b->modules; i++)
		if (!strcmp(b->module[i], module))
			return true;
	return false;
}

/* The version that the command tells, such as "2.0.0"; "" when it does not. */
static char *version(void)
{
	FILE *f = popen("eztrace --version 2>/dev/null", "re");
	char line[200] = "", *v;

	if (f && !fgets(line, sizeof(line), f))
		*line = 0;
	if (f)
		pclose(f);
	v = strstr(line, "version ");
	v = v ? v + strlen("version ") : line + strlen(line);
	v[strcspn(v, " \n")] = 0;
	return mt_strdup(v);
}

/* LLVM's OpenMP runtime, which has the functions of gcc's, too. NULL: not here. */
static char *find_libomp(void)
{
	static const char *const places[] = { "/usr/lib/llvm-*/lib/libomp.so.5", "/usr/lib/x86_64-linux-gnu/libomp.so.5",
					      "/usr/lib64/libomp.so", "/usr/lib/libomp.so" };
	char *found = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found; i++)
		found = newest(places[i]);
	return found;
}

/* Has the user put another libgomp before that of the system already? */
static bool redirected(void)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *copy = mt_strdup(path ? path : ""), *save = NULL;
	bool found = false;

	for (char *dir = strtok_r(copy, ":", &save); dir && !found; dir = strtok_r(NULL, ":", &save)) {
		char *library = mt_printf("%s/libgomp.so.1", dir);

		found = mt_exists(library);
		free(library);
	}
	free(copy);
	return found;
}

/* Module ompt needs a runtime with OMPT, which gcc's is not. NULL: fine; else why not. */
static char *check_openmp(struct mt_beside *b, const char *program, bool libomp)
{
	const bool gomp = needs(program, "libgomp.so") && !redirected();
	char *found = find_libomp(), *why = NULL;

	if (libomp && !found) {
		why = mt_printf("--libomp: LLVM's OpenMP runtime is not installed (Debian: apt-get install libomp5)");
	} else if (libomp && needs(program, "libomp.so")) {
		mt_note("%s uses LLVM's OpenMP runtime already; --libomp changes nothing", mt_base(program));
	} else if (libomp) {
		b->libomp = found;
		return NULL;
	} else if (gomp && asked(b, "ompt")) {
		why = mt_printf("%s uses gcc's OpenMP runtime, which has no OMPT, so EZTrace's module ompt would see nothing of OpenMP: "
				"add --libomp, which runs it with LLVM's runtime%s%s%s", mt_base(program),
				found ? " (" : ", after apt-get install libomp5", found ? found : "", found ? ")" : "");
	}
	free(found);
	return why;
}

/* Adds one module of the list. NULL, or why not. */
static char *add_module(struct mt_beside *b, const char *name, const char *program)
{
	char *all, *why;

	if (!strcmp(name, "mpi"))	/* one name for both libraries */
		name = needs(program, "libmpich.so") ? "mpich" : "openmpi";
	if (asked(b, name))
		return NULL;
	if (b->modules == MOST_MODULES)
		return mt_printf("more than %d modules", MOST_MODULES);
	if (has_module(b->libraries, name)) {
		b->module[b->modules++] = mt_strdup(name);
		return NULL;
	}
	all = modules_of(b->libraries);
	why = mt_printf("EZTrace has no module %s here, only %s", name, all);
	free(all);
	return why;
}

struct mt_beside *mt_beside_open(const char *spec, const char *program, bool libomp, char **why, int *code)
{
	const size_t tool = strcspn(spec, ":");
	struct mt_beside *b = mt_alloc(sizeof(*b));
	char *copy = NULL, *save = NULL;

	*why = NULL;
	*code = MT_EXIT_USAGE;
	if (strncmp(spec, "eztrace", tool) || tool != strlen("eztrace")) {
		*why = mt_printf("--with %s: there is no tool %.*s, only eztrace", spec, (int)tool, spec);
		goto out;
	}
	if (!spec[tool] || !spec[tool + 1] || strspn(spec + tool + 1, ",") == strlen(spec + tool + 1)) {
		*why = mt_printf("--with %s: which modules? For example eztrace:pthread,mpi", spec);
		goto out;
	}
	b->libraries = find_libraries();
	*code = MT_EXIT_UNAVAILABLE;
	if (!b->libraries) {
		*why = mt_printf("--with eztrace: EZTrace is not installed (Debian: apt-get install eztrace), or not in PATH");
		goto out;
	}
	copy = mt_strdup(spec + tool + 1);
	for (char *m = strtok_r(copy, ",", &save); m && !*why; m = strtok_r(NULL, ",", &save))
		*why = add_module(b, m, program);
	if (!*why && asked(b, "pthread") && asked(b, "posixio")) {
		char *v = version();

		if (!strncmp(v, "2.0", 3) || !*v)
			*why = mt_printf("EZTrace's modules pthread and posixio together bring programs to a standstill that lock and write "
					 "(EZTrace 2.0): record them in two runs; what is read and written is seen by --io as well");
		else
			mt_note("EZTrace's modules pthread and posixio together have brought programs to a standstill with version 2.0, this is %s", v);
		free(v);
	}
	if (!*why)
		*why = check_openmp(b, program, libomp);
out:
	free(copy);
	if (!*why)
		return b;
	mt_beside_free(b);
	return NULL;
}

int mt_beside_prepare(struct mt_beside *b, const char *folder)
{
	char *link;
	int err = 0;

	b->folder = mt_strdup(folder);
	if (mkdir(folder, 0777) && errno != EEXIST)
		return -errno;
	if (!b->libomp)
		return 0;
	b->redirect = mt_printf("%s/.libomp-%d", folder, (int)getpid());
	link = mt_printf("%s/libgomp.so.1", b->redirect);
	if (mkdir(b->redirect, 0777) || symlink(b->libomp, link))
		err = -errno;
	free(link);
	return err;
}

/* @name with @text behind what it has. */
static void append(const char *name, char between, const char *text)
{
	const char *old = getenv(name);
	char *all = old && *old ? mt_printf("%s%c%s", old, between, text) : mt_strdup(text);

	setenv(name, all, 1);
	free(all);
}

void mt_beside_environment(const struct mt_beside *b)
{
	static const char *const parts[] = { "core", "lib" };
	char *names = mt_strdup(""), *next, *path;

	for (int i = 0; i < b->modules; i++) {
		path = mt_printf("%s/libeztrace-%s.so", b->libraries, b->module[i]);
		append("LD_PRELOAD", ':', path);
		free(path);
		next = mt_printf("%s%s%s", names, *names ? " " : "", b->module[i]);
		free(names);
		names = next;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		path = mt_printf("%s/libeztrace-%s.so", b->libraries, parts[i]);
		append("LD_PRELOAD", ':', path);
		free(path);
	}
	if (b->redirect) {
		const char *old = getenv("LD_LIBRARY_PATH");

		path = mt_printf("%s%s%s", b->redirect, old && *old ? ":" : "", old ? old : "");
		setenv("LD_LIBRARY_PATH", path, 1);
		free(path);
	}
	append("LD_LIBRARY_PATH", ':', b->libraries);
	setenv("EZTRACE_TRACE", names, 1);
	setenv("EZTRACE_TRACE_DIR", b->folder, 1);
	setenv("EZTRACE_LIBRARY_PATH", b->libraries, 1);
	free(names);
}

json_t *mt_beside_describe(const struct mt_beside *b)
{
	json_t *modules = json_array(), *j = json_pack("{s:s}", "tool", "eztrace");

	for (int i = 0; i < b->modules; i++)
		json_array_append_new(modules, json_string(b->module[i]));
	json_object_set_new(j, "modules", modules);
	if (b->libomp)
		json_object_set_new(j, "libomp", json_string(b->libomp));
	return j;
}

void mt_beside_ended(const struct mt_beside *b)
{
	char *link = b->redirect ? mt_printf("%s/libgomp.so.1", b->redirect) : NULL;

	if (link) {
		unlink(link);
		rmdir(b->redirect);
	}
	free(link);
}

char *mt_beside_archive(const struct mt_beside *b, const char *program, char **why)
{
	char *pattern = mt_printf("%s/*/eztrace_log.otf2", b->folder), *found = NULL, *own = mt_printf("%s_trace", mt_base(program));
	glob_t g;

	*why = NULL;
	if (glob(pattern, 0, NULL, &g))
		g.gl_pathc = 0;
	for (size_t i = 0; i < g.gl_pathc && !found; i++) {
		char *folder = mt_strdup(g.gl_pathv[i]);

		*strrchr(folder, '/') = 0;
		if (g.gl_pathc == 1 || !strcmp(mt_base(folder), own))
			found = mt_strdup(folder);
		free(folder);
	}
	if (!found && !g.gl_pathc)
		*why = mt_printf("EZTrace has left no trace: the program did not load its libraries, or was ended before it could write");
	else if (!found)
		*why = mt_printf("EZTrace has left %zu traces", g.gl_pathc);
	globfree(&g);
	free(pattern);
	free(own);
	return found;
}

void mt_beside_free(struct mt_beside *b)
{
	if (!b)
		return;
	for (int i = 0; i < b->modules; i++)
		free(b->module[i]);
	free(b->libraries);
	free(b->libomp);
	free(b->folder);
	free(b->redirect);
	free(b);
}
