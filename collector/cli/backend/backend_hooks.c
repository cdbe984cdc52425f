/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * backend_hooks.c - every access is counted by code that `memtrace cc` put into the program
 * (count/); the preload library writes the counts (preload/exact/counting.c).
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/base/program.h"
#include "cli/base/util.h"

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	char *dir, *archive;

	if (!p->preload) {
		b->why = mt_strdup("libmemtrace-preload.so is not beside this program");
		return;
	}
	dir = mt_strdup(p->preload);
	dir[mt_base(dir) - dir] = 0;
	archive = mt_printf("%slibmemtrace-count.a", dir);
#ifndef __x86_64__
	free(dir);
	b->why = mt_strdup("the code that 'memtrace cc' puts into programs is for x86-64 only");
	return;
#endif
	b->works = MT_YES;
	b->why = mt_strdup("every access of code that was built with 'memtrace cc' is counted; each takes about 3 ns, a program 1.2 to 10 times the CPU time; "
			   "threads run in parallel; not the code of other libraries");
	if (access(archive, R_OK)) {
		mt_probe_note(b, "compiler", MT_NO, "libmemtrace-count.a is not beside libmemtrace-preload.so: programs cannot be built here");
		b->works = MT_PARTLY;
	} else {
		mt_probe_note(b, "compiler", MT_YES, "CC=\"memtrace cc\" CXX=\"memtrace c++\" FC=\"memtrace fortran\"");
	}
	free(archive);
	free(dir);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	const bool windows = r && r->windows;

	(void)b;
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "granularity_bytes", 4096, "pages", windows ? "sampled" : "complete",
			 "threads", "all", "writes", "exact", "kernel_accesses", "attributed", "counts", windows ? "windows" : "exact",
			 "code", "instrumented");
}

static int fits(const char *program, char **why)
{
	const int has = mt_program_counts(program);

	if (has < 0)
		*why = mt_printf("%s is no program itself; what it starts is counted if it was built with 'memtrace cc'", program);
	else if (!has)
		*why = mt_printf("%s was not built with 'memtrace cc' (see 'memtrace help cc'); only libraries in it that were are counted",
				 program);
	return has > 0 ? 20 : 0;
}

const struct mt_backend mt_backend_hooks = {
	.name = "hooks",
	.title = "Exact counts, program built for it",
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_EXACT | MT_ABILITY_WINDOWS | MT_ABILITY_INSTRUCTIONS,
	.library = MT_LIBRARY_COUNTS,
	.probe = probe,
	.guarantee = guarantee,
	.fits = fits,
};
