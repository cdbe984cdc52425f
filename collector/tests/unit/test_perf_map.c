// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/symbols.c cli/names/variables.c cli/names/types.c cli/names/scopes.c cli/base/util.c cli/names/demangle.c cli/names/generated.c
// libs: -ldw -lelf -ljansson -liberty
/* Names of code that run-time systems make: what V8, Python and Java write, lines that are torn, places used twice. */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/symbols.h"

static struct mt_symbols *with(const char *text)
{
	char path[] = "/tmp/mt-map-XXXXXX";
	const int fd = mkstemp(path);
	struct mt_symbols *s = mt_symbols_new(NULL, 0);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	CHECK(mt_symbols_perf_map(s, path));
	unlink(path);
	return s;
}

static const char *or_none(const char *text)
{
	return text ? text : "(none)";
}

/* What one name becomes. */
static void name(const char *written, const char *function, const char *file, int line, bool system)
{
	char text[512];
	struct mt_symbols *s;
	const struct mt_frame *f;

	snprintf(text, sizeof(text), "1000 10 %s\n", written);
	s = with(text);
	f = mt_symbols_function(s, 0x1008)->f;
	CHECK(f->generated && !f->object);
	CHECK_STR(or_none(f->function), function);
	CHECK_STR(or_none(f->file), or_none(file));
	CHECK_EQ(f->line, line);
	CHECK_EQ(f->system, system);
	mt_symbols_free(s);
}

static void names(void)
{
	name("JS:*insert /home/a/maps.js:12:5", "insert", "/home/a/maps.js", 12, false);
	name("LazyCompile:~main file:///home/a b/maps.mjs:3:1", "main", "/home/a b/maps.mjs", 3, false);
	name("Function:^ /home/a/x.js:7", "(anonymous)", "/home/a/x.js", 7, false);
	name("JS:+emit node:events:465:44", "emit", "node:events", 465, true);
	name("JS:*nowhere ", "nowhere", NULL, 0, true);
	name("Eval:f", "f", NULL, 0, false);
	name("Builtin:ArrayMap", "Builtin:ArrayMap", NULL, 0, true);
	name("BytecodeHandler:Add", "BytecodeHandler:Add", NULL, 0, true);
	name("py::fill:/home/a/arrays.py", "fill", "/home/a/arrays.py", 0, false);
	name("py::_handle_fromlist:<frozen importlib._bootstrap>", "_handle_fromlist", "<frozen importlib._bootstrap>", 0, true);
	name("py::dumps:/usr/lib/python3.12/json/__init__.py", "dumps", "/usr/lib/python3.12/json/__init__.py", 0, true);
	name("py::odd", "odd", NULL, 0, false);
	name("void Maps.main(java.lang.String[])", "Maps.main", NULL, 0, false);
	name("int pack.Tree$Node.depth(int, java.util.Map)", "pack.Tree$Node.depth", NULL, 0, false);
	name("java.lang.Object java.util.HashMap.put(java.lang.Object)", "java.util.HashMap.put", NULL, 0, true);
	name("Interpreter", "Interpreter", NULL, 0, true);
	name("StubRoutines (initial stubs)", "StubRoutines (initial stubs)", NULL, 0, true);
	name("(odd)", "(odd)", NULL, 0, false);
	name("a name of another kind", "a name of another kind", NULL, 0, false);
}

static const char *at(struct mt_symbols *s, uint64_t address)
{
	const struct mt_frames *fr = mt_symbols_function(s, address);

	CHECK_EQ(fr->n, 1);
	return or_none(fr->f->function);
}

static void places(void)
{
	struct mt_symbols *s = with("7f0000002000 100 second\n7f0000001000 80 first\n"
				    "7f0000003000 0 empty\n7f0000003000 4\nnot a line\n 10 20\nffffffffffffffff 10 beyond\n"
				    "7f0000004000 100 old\n7f0000004000 100 new\n7f0000004040 10 inner\n"
				    "7f0000005000 1000 large\n7f0000005800 10 small\n7f0000006000 10 torn");

	CHECK_STR(at(s, 0x7f0000001000), "first");
	CHECK_STR(at(s, 0x7f000000107f), "first");
	CHECK_STR(at(s, 0x7f0000001080), "(none)");
	CHECK_STR(at(s, 0x7f0000002001), "second");
	CHECK_STR(at(s, 0x7f0000003000), "(none)");
	/* what was made later at a place is there, also in the midst of something older */
	CHECK_STR(at(s, 0x7f0000004000), "new");
	CHECK_STR(at(s, 0x7f0000004048), "inner");
	CHECK_STR(at(s, 0x7f0000004050), "new");
	CHECK_STR(at(s, 0x7f00000057ff), "large");
	CHECK_STR(at(s, 0x7f0000005805), "small");
	CHECK_STR(at(s, 0x7f0000005810), "large");
	CHECK_STR(at(s, 0x7f0000006000), "torn");
	/* a return address is behind its call */
	CHECK_STR(or_none(mt_symbols_frames(s, 0x7f0000001080)->f->function), "first");
	CHECK_STR(or_none(mt_symbols_frames(s, 0x7f0000001000)->f->function), "(none)");
	mt_symbols_free(s);
}

/* Against a search through all of them. */
static void random_places(void)
{
	enum { N = 300 };
	static struct { uint64_t start, size; } v[N];
	const unsigned int seed = (unsigned int)getpid();
	char *text = malloc(N * 64), *p = text, want[32];
	struct mt_symbols *s;

	printf("seed %u\n", seed);
	srand(seed);
	for (int i = 0; i < N; i++) {
		v[i].start = 0x10000 + (uint64_t)(rand() % 4096);
		v[i].size = 1ull << rand() % 9;
		p += sprintf(p, "%llx %llx f%d\n", (unsigned long long)v[i].start, (unsigned long long)v[i].size, i);
	}
	s = with(text);
	free(text);
	for (uint64_t a = 0xfff0; a < 0x11200; a++) {
		strcpy(want, "(none)");
		for (int i = 0; i < N; i++)
			if (a >= v[i].start && a < v[i].start + v[i].size)
				snprintf(want, sizeof(want), "f%d", i);
		CHECK_STR(at(s, a), want);
	}
	mt_symbols_free(s);
}

int main(void)
{
	struct mt_symbols *s = mt_symbols_new(NULL, 0);

	CHECK(!mt_symbols_perf_map(s, "/nonexistent"));
	mt_symbols_free(s);
	s = with("");
	CHECK_STR(at(s, 0x1000), "(none)");
	mt_symbols_free(s);
	names();
	places();
	random_places();
	return mt_test_done();
}
