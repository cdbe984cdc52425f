/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/record/zoom.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/table/command.h"
#include "cli/names/ctxlog.h"
#include "cli/base/self.h"
#include "cli/names/symbols.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "cli/names/variables.h"

#define SPEC_MAX 100000u	/* of a variable of the environment 128 KiB are possible */
#define FRAMES_MAX 64

/* Adds lines unless they are there. */
static void add(char **spec, char *lines)
{
	const char *at = *spec ? strstr(*spec, lines) : NULL;

	if (!at || (at != *spec && at[-1] != '\n')) {
		char *more = mt_printf("%s%s", *spec ? *spec : "", lines);

		free(*spec);
		*spec = more;
	}
	free(lines);
}

/* ---- an address range: 0xSTART-0xEND or 0xSTART+BYTES */

static char *range(const char *text, char **spec)
{
	char *end, *rest;
	uint64_t start = strtoull(text, &end, 16), stop;

	if (*end != '-' && *end != '+')
		return mt_printf("%s is no address range, such as 0x7f0000001000-0x7f0000002000 or 0x404040+64", text);
	stop = *end == '-' ? strtoull(end + 1, &rest, 16) : start + strtoull(end + 1, &rest, 0);
	if (*rest || stop <= start)
		return mt_printf("%s is no address range: it does not end behind its start", text);
	add(spec, mt_printf("range %" PRIx64 " %" PRIx64 "\n", start, stop));
	return NULL;
}

/* ---- a static object of a file */

struct statics {
	const char *name, *file;
	char **spec;
	int found;
};

static void on_static(void *arg, const struct mt_variable *v, uint64_t start)
{
	struct statics *s = arg;

	if (strcmp(v->name, s->name))
		return;
	add(s->spec, mt_printf("static %" PRIx64 " %" PRIx64 " %s\n", start, v->size, s->file));
	s->found++;
}

static char *static_of(const char *file, const char *name, char **spec)
{
	char path[PATH_MAX];
	struct mt_object o = { .end = UINT64_MAX, .death = -1, .path = path };
	struct statics s = { name, path, spec, 0 };
	struct mt_symbols *sy;

	if (!realpath(file, path))
		return mt_printf("%s: %s", file, strerror(errno));
	sy = mt_symbols_new(&o, 1);
	mt_symbols_statics(sy, 0, 1, on_static, &s);
	mt_symbols_free(sy);
	if (s.found)
		return NULL;
	return mt_printf("%s has no static object %s; a block of the heap is named by an earlier trace: TRACE:%s, or TRACE:1 for the "
			 "first finding of 'memtrace advise TRACE'", path, name, name);
}

/* ---- a structure of an earlier trace */

static const struct mt_object *object_at(const struct mt_context *c, uint64_t address)
{
	for (size_t i = 0; i < c->n_objects; i++)
		if (!c->objects[i].ours && c->objects[i].start <= address && address < c->objects[i].end)
			return &c->objects[i];
	return NULL;
}

/* The call stack of an allocation, up to the first frame that is in no file (code made at run time). */
static char *site_of(const struct mt_context *c, const struct mt_callstack *st)
{
	char *lines = mt_strdup("site\n");
	int n = 0;

	for (; n < st->n && n < FRAMES_MAX; n++) {
		const struct mt_object *o = object_at(c, st->ip[n] - 1);
		char *more;

		if (!o)
			break;
		more = mt_printf("%sframe %" PRIx64 " %s\n", lines, st->ip[n] - o->bias, o->path);
		free(lines);
		lines = more;
	}
	if (n)
		return lines;
	free(lines);
	return NULL;
}

/* How often the structure was found in the image; *other: so many more with this name that cannot be looked at. */
static size_t structure_of_image(const char *trace, const char *image, const char *name, char **spec, size_t *other)
{
	char *path = mt_printf("%s/%s/structures.csv", trace, image);
	struct mt_context c;
	struct mt_csv v;
	size_t found = 0;
	int kind, called, start, end, stack;

	if (mt_csv_open(&v, path)) {
		free(path);
		return 0;
	}
	mt_context_read(&c, trace, image);
	kind = mt_csv_column(&v, "Kind");
	called = mt_csv_column(&v, "Name");
	start = mt_csv_column(&v, "Start");
	end = mt_csv_column(&v, "End");
	stack = mt_csv_column(&v, "Stack");
	while (mt_csv_next(&v)) {
		const uint64_t from = strtoull(mt_csv_get(&v, start), NULL, 16), to = strtoull(mt_csv_get(&v, end), NULL, 16);
		const long id = strtol(mt_csv_get(&v, stack), NULL, 10);
		const struct mt_object *o;
		char *lines = NULL;

		if (strcmp(mt_csv_get(&v, called), name))
			continue;
		o = object_at(&c, from);
		if (!strcmp(mt_csv_get(&v, kind), "static") && o)
			lines = mt_printf("static %" PRIx64 " %" PRIx64 " %s\n", from - o->bias, to - from, o->path);
		else if (id >= 0 && (size_t)id < c.n_stacks && c.stacks[id].n)
			lines = site_of(&c, &c.stacks[id]);
		if (lines)
			add(spec, lines);
		found += lines != NULL;
		*other += lines == NULL;
	}
	mt_csv_close(&v);
	mt_context_free(&c);
	free(path);
	return found;
}

static char *structure_of_trace(const char *trace, const char *name, char **spec)
{
	size_t n, found = 0, other = 0;
	char **v = mt_trace_images(trace, &n);

	for (size_t i = 0; i < n; i++)
		found += structure_of_image(trace, v[i], name, spec, &other);
	mt_context_forget();
	mt_names_free(v, n);
	if (found)
		return NULL;
	if (other)
		return mt_printf("%s of %s is neither a static object nor a block whose allocation is known: it cannot be looked at", name, trace);
	return mt_printf("%s has no structure %s; 'memtrace info %s' names the largest", trace, name, trace);
}

/* ---- a finding of an earlier trace */

/* What `memtrace advise` says; NULL: it failed, and has said why. */
static json_t *advice(const char *trace)
{
	char self[PATH_MAX];
	const char *const argv[] = { self, "advise", "--quiet", "--format", "json", trace, NULL };
	int fds[2], status = -1;
	json_error_t e;
	json_t *j;
	FILE *f;
	pid_t pid;

	if (mt_self(self) || pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid) {
		dup2(fds[1], 1);
		execv(self, (char *const *)argv);
		_exit(127);
	}
	close(fds[1]);
	f = fdopen(fds[0], "r");
	j = f && pid > 0 ? json_loadf(f, 0, &e) : NULL;
	if (f)
		fclose(f);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (j && status) {
		json_decref(j);
		j = NULL;
	}
	return j;
}

static char *finding_of_trace(const char *trace, long number, char **spec)
{
	json_t *j = advice(trace), *findings = json_object_get(j, "findings"), *names, *name;
	char *why = NULL;
	size_t i, n = json_array_size(findings);

	if (!j)
		return mt_printf("'memtrace advise %s' does not work, so that its findings are not known", trace);
	names = json_object_get(json_array_get(findings, (size_t)number - 1), "structures");
	if (number < 1 || (size_t)number > n)
		why = mt_printf("%s has no finding %ld, only %zu", trace, number, n);
	else if (!json_array_size(names))
		why = mt_printf("finding %ld of %s is of no structure", number, trace);
	json_array_foreach(names, i, name)
		if (!why)
			why = structure_of_trace(trace, json_string_value(name), spec);
	json_decref(j);
	return why;
}

/* ---- all of them */

static bool is_trace(const char *path)
{
	char *m = mt_printf("%s/manifest.json", path);
	bool yes = mt_exists(m);

	free(m);
	return yes;
}

/* Lines are added to *spec. NULL, or a sentence that says why it cannot be found; the caller's. */
static char *add_suspect(const char *suspect, const char *program, char **spec)
{
	struct stat st;
	char *why;

	if (!strncmp(suspect, "0x", 2))
		return range(suspect, spec);
	/* a name of C++ has colons, and a path may have some */
	for (const char *colon = strchr(suspect, ':'); colon; colon = strchr(colon + 1, ':')) {
		char *before = mt_printf("%.*s", (int)(colon - suspect), suspect), *end;
		const char *name = colon + 1;
		long number;

		if (!is_trace(before) && (stat(before, &st) || !S_ISREG(st.st_mode))) {
			free(before);
			continue;
		}
		number = strtol(name + (*name == 'F'), &end, 10);
		if (!is_trace(before))
			why = static_of(before, name, spec);
		else if (*end || end == name + (*name == 'F'))
			why = structure_of_trace(before, name, spec);
		else
			why = finding_of_trace(before, number, spec);
		free(before);
		return why;
	}
	if (strchr(suspect, '/') && strchr(suspect, ':'))
		return mt_printf("%s: there is no such trace or file", suspect);
	return static_of(program, suspect, spec);
}

char *mt_zoom_resolve(const struct mt_args *a, const char *program, int *rc)
{
	const char *suspect;
	char *spec = NULL, *why = NULL;

	*rc = 0;
	for (int i = 0; !why && (suspect = mt_args_nth(a, "zoom", i)); i++)
		why = add_suspect(suspect, program, &spec);
	if (!why && spec && strlen(spec) > SPEC_MAX)
		why = mt_printf("the suspects are allocated at too many places");
	if (!why)
		return spec;
	*rc = mt_fail(a, MT_EXIT_USAGE, "--zoom: %s", why);
	free(why);
	free(spec);
	return NULL;
}
