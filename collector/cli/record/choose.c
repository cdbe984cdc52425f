/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* choose.c - which backend records. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/record/run.h"

const char *mt_run_requested(const struct mt_args *a)
{
	const char *exact = mt_args_get(a, "exact");

	return mt_args_has(a, "exact") && strcmp(exact, "auto") ? exact : mt_args_get(a, "backend");
}

char *mt_backend_names(unsigned int abilities)
{
	char *text = mt_strdup("");

	for (int i = 0; i < mt_n_backends; i++) {
		char *next;

		// NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the list is in another file
		if ((mt_backends[i]->abilities & abilities) != abilities)
			continue;
		next = mt_printf("%s%s%s", text, *text ? ", " : "", mt_backends[i]->name);
		free(text);
		text = next;
	}
	return text;
}

/* Says what the backend @want cannot do, and which can. An exit code. */
static int refuse(const struct mt_run *r, const char *want, const char *what, unsigned int abilities)
{
	char *names = mt_backend_names(abilities);
	const int rc = mt_fail(r->a, MT_EXIT_USAGE, "backend %s %s, only: %s", want, what, names);

	free(names);
	return rc;
}

static int does_not_work(const struct mt_args *a, const struct mt_probe *p, const struct mt_backend *b)
{
	const struct mt_backend_probe *found = mt_backend_probe(p, b);

	return mt_fail(a, MT_EXIT_UNAVAILABLE, "backend %s does not work here: %s%s%s; see 'memtrace check'", b->name, found->why,
		       found->fix ? "; try: " : "", found->fix ? found->fix : "");
}

/* --exact: the backend that counts and sees most of @program. NULL after a message, with *rc. */
static const struct mt_backend *choose_exact(const struct mt_run *r, int *rc)
{
	const struct mt_args *a = r->a;
	const struct mt_probe *p = &r->probe;
	const struct mt_backend *best = NULL;
	char *reasons = mt_strdup("");
	int most = 0;

	for (int i = 0; i < mt_n_backends; i++) {
		const struct mt_backend *b = mt_backends[i];
		char *why = NULL, *next;
		int fit;

		if (!(b->abilities & MT_ABILITY_EXACT))
			continue;
		if (p->backend[i].works == MT_NO)
			fit = 0, why = mt_strdup(p->backend[i].why);
		else if (r->windows.kind && !(b->abilities & MT_ABILITY_WINDOWS))
			fit = 0, why = mt_strdup("it cannot count for a part of the time only");
		else if (mt_args_has(a, "instructions") && !(b->abilities & MT_ABILITY_INSTRUCTIONS))
			fit = 0, why = mt_strdup("it does not count what each instruction accesses");
		else
			fit = b->fits ? b->fits(r->program, &why) : 1;
		if (fit > most) {
			most = fit;
			best = b;
		}
		if (why) {
			next = mt_printf("%s%s%s: %s", reasons, *reasons ? "; " : "", b->name, why);
			free(reasons);
			reasons = next;
		}
		free(why);
	}
	if (!best)
		*rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "accesses cannot be counted: %s", reasons);
	else if (*reasons)
		mt_note("counting with %s (%s)", best->name, reasons);
	free(reasons);
	return best;
}

/* Of those that can look closely the one that auto prefers; where none works, the first. */
static const struct mt_backend *best_to_zoom(const struct mt_probe *p)
{
	const struct mt_backend *best = NULL;
	int most = 0;

	for (int i = 0; i < mt_n_backends; i++) {
		if (!(mt_backends[i]->abilities & MT_ABILITY_ZOOM))
			continue;
		if (!best || p->backend[i].preference > most) {
			best = mt_backends[i];
			most = p->backend[i].preference;
		}
	}
	return best;
}

/* A backend that was named lacks an ability that an option needs: an exit code after a message, or 0. */
static int check_abilities(const struct mt_run *r, const struct mt_backend *b, const char *want)
{
	const struct {
		bool asked;
		unsigned int ability;
		const char *lack;	/* what it does without */
	} needs[] = {
		{ mt_args_has(r->a, "exact"), MT_ABILITY_EXACT, "does not count accesses" },
		{ r->windows.kind, MT_ABILITY_WINDOWS, "cannot count for a part of the time only (--windows)" },
		{ mt_args_has(r->a, "instructions"), MT_ABILITY_INSTRUCTIONS,
		  "does not count what each instruction accesses (--instructions)" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].asked && !(b->abilities & needs[i].ability))
			return refuse(r, want, needs[i].lack, needs[i].ability);
	return 0;
}

/* Where nothing that sees accesses works. */
static int nothing_works(const struct mt_run *r)
{
	const char *fix = NULL;

	for (int i = 0; i < mt_n_backends && !fix; i++)
		if (mt_backends[i]->abilities & MT_ABILITY_ACCESSES)
			fix = r->probe.backend[i].fix;
	return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "no backend works here: %s%s%s; --backend none records structures only; see 'memtrace check'",
		       r->probe.reason, fix ? "; try: " : "", fix ? fix : "");
}

/* For processes that run already (--pid): @b, or, where auto chose it, the first one that can. */
static const struct mt_backend *choose_running(const struct mt_run *r, const struct mt_backend *b, const char *want, int *rc)
{
	if (!strcmp(want, "auto"))
		for (int i = 0; i < mt_n_backends && !(b && b->abilities & MT_ABILITY_RUNNING); i++)
			b = mt_backends[i];
	if (b && b->abilities & MT_ABILITY_RUNNING)
		return b;
	*rc = refuse(r, want, "cannot record a process that runs already", MT_ABILITY_RUNNING);
	return NULL;
}

/* For a program that is started: @b, as it was named or as auto chose it. */
static const struct mt_backend *choose_for_program(const struct mt_run *r, const struct mt_backend *b, bool automatic, int *rc)
{
	char *why = NULL;

	if (!r->probe.preload) {
		*rc = mt_fail(r->a, MT_EXIT_UNAVAILABLE, "libmemtrace-preload.so is not beside this program");
		return NULL;
	}
	if (automatic && !(b && b->abilities & MT_ABILITY_ACCESSES)) {
		*rc = nothing_works(r);
		return NULL;
	}
	if (!automatic && b->fits && !b->fits(r->program, &why) && why)
		mt_note("%s", why);
	free(why);
	return b;
}

/* The backend that was asked for, or the best for the program (NULL: for processes); NULL after a message, with *rc. */
static const struct mt_backend *choose(const struct mt_run *r, int *rc)
{
	const struct mt_args *a = r->a;
	const bool zoom = mt_args_has(a, "zoom") && !strcmp(mt_run_requested(a), "auto");
	const char *want = zoom ? best_to_zoom(&r->probe)->name : mt_run_requested(a);
	const bool automatic = !strcmp(want, "auto");
	const struct mt_backend *b = automatic ? r->probe.best : mt_backend_find(want);
	const struct mt_backend_probe *found;

	*rc = 0;
	if (!automatic && !b) {
		char *names = mt_backend_names(0);

		*rc = mt_fail(a, MT_EXIT_USAGE, "there is no backend %s, only auto, %s", want, names);
		free(names);
		return NULL;
	}
	if (automatic && mt_args_has(a, "exact"))
		return choose_exact(r, rc);
	if (!automatic)
		*rc = check_abilities(r, b, want);
	if (*rc)
		return NULL;
	b = mt_args_has(a, "pid") ? choose_running(r, b, want, rc) : choose_for_program(r, b, automatic, rc);
	if (!b)
		return NULL;
	found = mt_backend_probe(&r->probe, b);
	if (found->works == MT_NO) {
		*rc = does_not_work(a, &r->probe, b);
		return NULL;
	}
	if (found->works == MT_PARTLY)
		mt_note("backend %s works partly: %s; to change it: %s", b->name, found->why,
			found->fix ? found->fix : "see 'memtrace check'");
	return b;
}

void mt_run_probe(struct mt_run *r)
{
	mt_probe_run_for(&r->probe, mt_run_requested(r->a), mt_args_has(r->a, "exact"));
}

int mt_run_choose(struct mt_run *r)
{
	int rc;

	r->backend = choose(r, &rc);
	return rc;
}
