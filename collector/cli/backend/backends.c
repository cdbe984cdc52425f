/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/backend/backend.h"
#include "cli/base/self.h"
#include "cli/base/util.h"

const char *const mt_ability_name[MT_N_ABILITIES] = {
	"accesses", "running-process", "any-program", "write-tracking", "exact-counts", "windows", "instructions",
	"zoom", "subphases", "any-memory",
};

#define BACKEND(name) extern const struct mt_backend mt_backend_##name;
#include "backends.list"
#undef BACKEND

const struct mt_backend *const mt_backends[MT_MAX_BACKENDS] = {
#define BACKEND(name) &mt_backend_##name,
#include "backends.list"
#undef BACKEND
};

const int mt_n_backends = 0
#define BACKEND(name) + 1
#include "backends.list"
#undef BACKEND
;

const struct mt_backend *mt_backend_find(const char *name)
{
	for (int i = 0; i < mt_n_backends; i++)
		if (!strcmp(mt_backends[i]->name, name))
			return mt_backends[i];
	return NULL;
}

const struct mt_backend_probe *mt_backend_probe(const struct mt_probe *p, const struct mt_backend *b)
{
	for (int i = 0; i < mt_n_backends; i++)
		if (mt_backends[i] == b)
			return &p->backend[i];
	return NULL;
}

static bool can_be_taken(const struct mt_backend *b, const char *asked, bool exact)
{
	return !b->on_demand || !strcmp(b->name, asked) || (exact && b->abilities & MT_ABILITY_EXACT);
}

/* @asked: NULL, all of them. */
static void run(struct mt_probe *p, const char *asked, bool exact)
{
	const struct mt_backend_probe *best = NULL;

	memset(p, 0, sizeof(*p));
	p->preload = mt_preload_path();
	for (int i = 0; i < mt_n_backends; i++) {
		struct mt_backend_probe *b = &p->backend[i];

		if (asked && !can_be_taken(mt_backends[i], asked, exact))
			continue;
		mt_backends[i]->probe(p, b);
		if (b->preference && (!best || b->preference > best->preference)) {
			best = b;
			p->best = mt_backends[i];
		}
	}
	if (best && best->reason) {
		p->reason = mt_strdup(best->reason);
		return;
	}
	/* nothing that sees accesses: why the first of them does not */
	for (int i = 0; i < mt_n_backends && !p->reason; i++)
		if (mt_backends[i]->abilities & MT_ABILITY_ACCESSES && p->backend[i].why)
			p->reason = mt_printf("%s does not work here: %s", mt_backends[i]->name, p->backend[i].why);
}

void mt_probe_run(struct mt_probe *p)
{
	run(p, NULL, true);
}

void mt_probe_run_for(struct mt_probe *p, const char *asked, bool exact)
{
	run(p, asked, exact);
}

void mt_probe_free(struct mt_probe *p)
{
	for (int i = 0; i < MT_MAX_BACKENDS; i++) {
		free(p->backend[i].why);
		free(p->backend[i].fix);
		free(p->backend[i].reason);
		for (int k = 0; k < p->backend[i].n_facilities; k++)
			free(p->backend[i].facility[k].why);
	}
	free(p->reason);
	free(p->preload);
}
