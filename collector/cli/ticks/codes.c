/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/ticks/codes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/ticks/ticks.h"
#include "cli/trace/accesses.h"
#include "common/tracenames.h"

/* Different code addresses of the records: open addressing, 0 is a free place. */
struct code {
	uint64_t *ip;
	size_t n, cap;
};

static void code_put(struct code *t, uint64_t ip)
{
	size_t at = (size_t)(ip * 0x9e3779b97f4a7c15ull) & (t->cap - 1);

	while (t->ip[at] && t->ip[at] != ip)
		at = (at + 1) & (t->cap - 1);
	t->n += !t->ip[at];
	t->ip[at] = ip;
}

static void add_code(struct code *t, uint64_t ip)
{
	if (2 * t->n >= t->cap) {
		struct code old = *t;

		t->cap = old.cap ? 2 * old.cap : 1024;
		t->n = 0;
		t->ip = mt_alloc(t->cap * sizeof(*t->ip));
		for (size_t i = 0; i < old.cap; i++)
			if (old.ip[i])
				code_put(t, old.ip[i]);
		free(old.ip);
	}
	code_put(t, ip);
}

static bool on_code(void *arg, const struct mt_access *a)
{
	if (a->ip)
		add_code(arg, a->ip);
	return true;
}

/* Those of instructions.csv, which need not be there: the third field. */
static void add_instructions(struct code *t, const char *dir)
{
	char *path = mt_printf("%s/" MT_FILE_INSTRUCTIONS, dir), line[1024];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		const char *comma = strchr(line, ',');
		uint64_t ip;

		comma = comma ? strchr(comma + 1, ',') : NULL;
		if (comma && sscanf(comma + 1, "%" SCNx64 ",", &ip) == 1 && ip)
			add_code(t, ip);
	}
	if (f)
		fclose(f);
	free(path);
}

static void on_tick(void *arg, uint64_t ip)
{
	if (ip)
		add_code(arg, ip);
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int mt_codes_of(const char *trace, const char *image, const char *dir, uint64_t **ip, size_t *n)
{
	struct mt_access_counts counts = { 0 };
	struct code t = { NULL, 0, 0 };
	int err;

	mt_accesses_read(trace, image, on_code, &t, &counts);	/* what cannot be read was told */
	add_instructions(&t, dir);
	err = mt_ticks_write(trace, image, dir, on_tick, &t);
	*n = 0;
	for (size_t i = 0; i < t.cap; i++)
		if (t.ip[i])
			t.ip[(*n)++] = t.ip[i];
	if (*n)
		qsort(t.ip, *n, sizeof(*t.ip), by_address);
	*ip = t.ip;
	return err;
}
