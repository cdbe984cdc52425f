/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* generated.c - names of code that a program made at run time. */
#include <stdlib.h>
#include <string.h>

#include "cli/names/demangle.h"
#include "cli/names/generated.h"
#include "cli/base/util.h"

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* "path:12" or "path:12:5" at the end of [text, end): cuts it there, sets the line. */
static void cut_line(char *text, int *line)
{
	for (int i = 0; i < 2; i++) {
		char *colon = strrchr(text, ':');

		if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
			return;
		*line = atoi(colon + 1);
		*colon = 0;
	}
}

/*
 * What the run-time systems write: V8 "JS:*name file:line:column" (also LazyCompile:, Function:, with a mark of the
 * compiler), Python "py::name:file", Java "type pack.Class.method(types)". Code of the run-time system itself
 * (interpreters, stubs, builtins) is no function of a person.
 */
static struct mt_frame parse_generated(char *name)
{
	static const char *const v8[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:" };
	static const char *const stubs[] = { "Builtin:", "BytecodeHandler:", "Stub:", "RegExp:", "Handler:", "Interpreter",
		"StubRoutines", "I2C", "C2I", "~", "[", "v  ~", "vtable stub", "itable stub" };
	struct mt_frame f = { .generated = true };
	char *space, *paren;

	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++)
		if (begins(name, stubs[i]))
			f.system = true;
	f.function = mt_symbols_keep(name);
	if (f.system)
		return f;
	for (size_t i = 0; i < sizeof(v8) / sizeof(v8[0]); i++) {
		char *file;

		if (!begins(name, v8[i]))
			continue;
		name += strlen(v8[i]);
		name += strspn(name, "*~^+");
		file = strchr(name, ' ');
		if (file) {
			*file++ = 0;
			cut_line(file, &f.line);
			if (begins(file, "file://"))
				file += 7;
			f.file = *file ? mt_symbols_keep(file) : NULL;
			f.system = begins(file, "node:") || !*file;
		}
		f.function = mt_symbols_keep(*name ? name : "(anonymous)");
		return f;
	}
	if (begins(name, "py::")) {
		char *file = strchr(name + 4, ':');

		if (file) {
			*file++ = 0;
			f.file = mt_symbols_keep(file);
			f.system = begins(file, "<frozen") || strstr(file, "/lib/python");
		}
		f.function = mt_symbols_keep(name + 4);
		return f;
	}
	/* Java */
	paren = strchr(name, '(');
	if (paren && paren > name) {
		*paren = 0;
		space = strrchr(name, ' ');
		name = space ? space + 1 : name;
		f.function = mt_symbols_keep(name);
		f.system = begins(name, "java.") || begins(name, "jdk.") || begins(name, "sun.") || begins(name, "javax.");
	}
	return f;
}

static int by_code(const void *x, const void *y)
{
	const struct mt_generated_code *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

bool mt_generated_read(struct mt_generated *s, const char *path)
{
	char *data = mt_read_file(path, NULL), *save = NULL;
	size_t cap = 0;
	uint64_t end = 0;

	if (!data)
		return false;
	s->n = 0;
	for (char *l = strtok_r(data, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *p;
		const uint64_t start = strtoull(l, &p, 16), size = *p == ' ' ? strtoull(p, &p, 16) : 0;

		if (*p != ' ' || !p[1] || !size || size > UINT64_MAX - start)
			continue;	/* torn, or not of this kind */
		MT_GROW(s->g, s->n, cap);
		s->g[s->n] = (struct mt_generated_code){ .start = start, .end = start + size, .line = s->n,
			.frame = parse_generated(p + 1) };
		s->n++;
	}
	free(data);
	if (s->n)
		qsort(s->g, s->n, sizeof(*s->g), by_code);
	free(s->reach);
	s->reach = mt_alloc((s->n + 1) * sizeof(*s->reach));
	for (size_t i = 0; i < s->n; i++) {
		end = s->g[i].end > end ? s->g[i].end : end;
		s->reach[i] = end;
		s->g[i].frames = (struct mt_frames){ 1, &s->g[i].frame };
	}
	return true;
}

const struct mt_frames *mt_generated_at(const struct mt_generated *s, uint64_t addr)
{
	const struct mt_generated_code *best = NULL;
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->g[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- && s->reach[lo] > addr)
		if (s->g[lo].end > addr && (!best || s->g[lo].line > best->line))
			best = &s->g[lo];
	return best ? &best->frames : NULL;
}

void mt_generated_free(struct mt_generated *s)
{
	free(s->g);
	free(s->reach);
	memset(s, 0, sizeof(*s));
}
