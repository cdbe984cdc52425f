// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/backend/backends.c cli/backend/backend_zap.c cli/backend/backend_rwp.c cli/backend/faultcheck.c common/faultprobe.c common/rwprotect.c common/clonesite.c common/x86code.c cli/backend/kmod/backend_kmod.c cli/backend/backend_none.c cli/backend/backend_hooks.c cli/backend/backend_valgrind.c cli/backend/backend_dynamorio.c cli/backend/valgrind_alone.c cli/backend/probe.c cli/backend/kmod/kmod_build.c cli/backend/kmod/kmod_module.c cli/base/user.c cli/backend/kmod/kmod_drain.c cli/base/processes.c cli/base/program.c cli/trace/tracedir.c cli/names/finish.c cli/trace/intervals.c cli/trace/accesses.c cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/names/scopes.c cli/names/symbols.c cli/names/variables.c cli/names/types.c cli/names/srcname.c cli/base/cache.c cli/base/util.c common/tracefile.c common/out.c common/maps.c common/rawmem.c cli/names/unseen.c cli/names/unseen_log.c common/sanitizer.c cli/base/self.c cli/names/demangle.c cli/names/generated.c cli/names/site.c cli/names/library.c cli/names/rustname.c cli/names/advice.c cli/names/small.c cli/names/tables.c cli/names/source.c cli/ticks/codes.c cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// libs: -ldw -lelf -ljansson -lzstd -lz -lpthread -liberty -lm -ldl
/* The table of backends is whole, and what probes find is consistent. */
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "put_file.h"
#include "cli/backend/backend.h"

static void table(void)
{
	CHECK(mt_n_backends >= 3 && mt_n_backends <= MT_MAX_BACKENDS);
	for (int i = 0; i < mt_n_backends; i++) {
		const struct mt_backend *b = mt_backends[i];

		CHECK(b->name && *b->name && strcmp(b->name, "auto"));
		CHECK(b->title && *b->title);
		CHECK(b->probe && b->guarantee);
		CHECK(mt_backend_find(b->name) == b);	/* names are unique */
		/* a session ends, and one that sees accesses from outside does all that it takes */
		CHECK(!b->open == !b->finish);
		CHECK(!b->attach == !b->start && !b->attach == !b->alive && (b->open || (!b->attach && !b->command)));
		CHECK(!b->attach == (b->library != MT_LIBRARY_LEAVES_IT));
		CHECK(b->open || !(b->abilities & (MT_ABILITY_RUNNING | MT_ABILITY_ANY_PROGRAM)));
		CHECK(b->abilities >> MT_N_ABILITIES == 0);
	}
	CHECK(mt_backend_find("auto") == NULL);
	CHECK(mt_backend_find("zap")->library == MT_LIBRARY_TRACES && mt_backend_find("rwp")->library == MT_LIBRARY_HIDES);
	/* a close look, and parts of an interval, are the library's own */
	for (int i = 0; i < mt_n_backends; i++) {
		const unsigned int own = mt_backends[i]->abilities & (MT_ABILITY_ZOOM | MT_ABILITY_SUBPHASES);

		CHECK_EQ(own, mt_traces(mt_backends[i]->library) ? MT_ABILITY_ZOOM | MT_ABILITY_SUBPHASES : 0);
	}
}

static void probes(void)
{
	struct mt_backend_request r = { .writes = true };
	struct mt_probe p;

	setenv("MEMTRACE_PRELOAD", "/nowhere", 1);
	mt_probe_run(&p);
	CHECK(p.preload == NULL);
	CHECK(mt_backend_probe(&p, mt_backend_find("zap"))->works == MT_NO);
	CHECK(p.best && !strcmp(p.best->name, "none"));
	CHECK(p.reason && strstr(p.reason, "zap does not work here: "));
	for (int i = 0; i < mt_n_backends; i++) {
		const struct mt_backend_probe *b = &p.backend[i];
		json_t *g;

		CHECK(b->why && *b->why);
		CHECK(!mt_backends[i]->on_demand || !b->preference);
		CHECK(b->works != MT_NO || !(mt_backends[i]->abilities & MT_ABILITY_ACCESSES) || !b->preference);
		g = mt_backends[i]->guarantee(b, &r);
		CHECK(json_object_size(g) >= 5);
		CHECK(!(mt_backends[i]->abilities & MT_ABILITY_EXACT) == !json_object_get(g, "counts"));
		CHECK(!(mt_backends[i]->abilities & MT_ABILITY_ACCESSES) ==
		      !strcmp(json_string_value(json_object_get(g, "pages")), "none"));
		json_decref(g);
	}
	mt_probe_free(&p);
}

/* What auto never takes is not tried for a recording that cannot take it. */
static void demands(void)
{
	static const struct { const char *asked; bool exact, tried; } cases[] = {
		{ "auto", false, false }, { "zap", false, false }, { "auto", true, true }, { "valgrind", false, true },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct mt_probe p;
		int on_demand = 0;

		mt_probe_run_for(&p, cases[k].asked, cases[k].exact);
		CHECK(p.best && p.reason);
		for (int i = 0; i < mt_n_backends; i++) {
			on_demand += mt_backends[i]->on_demand;
			CHECK(!p.backend[i].why == (mt_backends[i]->on_demand && !cases[k].tried));
		}
		CHECK(on_demand);
		mt_probe_free(&p);
	}
}

/* Valgrind that fails to end by the signal that killed the program exits with 1, which is not how the program ended. */
static void killed_under_valgrind(void)
{
	static const char fatal[] = "==7== Process terminating with default action of signal 11 (SIGSEGV)\n";
	static const char failed[] = "   main(): signal was supposed to be fatal\n";
	static const struct { const char *first, *second; int status, ended; } cases[] = {
		{ fatal, failed, W_EXITCODE(1, 0), 11 }, { fatal, "", W_EXITCODE(1, 0), W_EXITCODE(1, 0) },
		{ "", failed, W_EXITCODE(1, 0), W_EXITCODE(1, 0) }, { fatal, failed, W_EXITCODE(2, 0), W_EXITCODE(2, 0) },
		{ fatal, "", 11, 11 },
	};
	const struct mt_backend *b = mt_backend_find("valgrind");
	char dir[] = "/tmp/mt-backends-XXXXXX", path[64], library[64];
	struct mt_backend_request r = { .trace = mkdtemp(dir) };
	char *why = NULL, *fix = NULL;
	void *session;

	CHECK(r.trace != NULL);
	snprintf(library, sizeof(library), "%s/preload.so", dir);
	snprintf(path, sizeof(path), "%s/valgrind-7", dir);
	put_file(dir, ".", "preload.so", "");
	setenv("MEMTRACE_PRELOAD", library, 1);
	session = b->open(&r, &why, &fix);
	CHECK(session != NULL);
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char log[256];

		snprintf(log, sizeof(log), "%s%s", cases[k].first, cases[k].second);
		put_file(dir, ".", "valgrind-7", log);
		CHECK(b->ended(session, 7, cases[k].status) == cases[k].ended);
		CHECK(b->ended(session, 8, cases[k].status) == cases[k].status);	/* another one has no log */
	}
	b->finish(session, NULL);
	unlink(library);
	unlink(path);
	CHECK(!rmdir(dir));
}

int main(void)
{
	table();
	probes();
	demands();
	killed_under_valgrind();
	return mt_test_done();
}
