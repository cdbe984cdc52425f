// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/around.h"

#include <string.h>

#include "common/rawsys.h"

#define START_SLOTS 4096

int zap_around_init(struct zap_around *a, unsigned int pages)
{
	memset(a, 0, sizeof(*a));
	if (pages < 2)
		return 0;
	a->slot = mt_rawmap(START_SLOTS * sizeof(*a->slot));
	if (!a->slot)
		return -ENOMEM;
	a->nslots = START_SLOTS;
	a->bytes = (uint64_t)pages << MT_PAGE_SHIFT;
	return 0;
}

void zap_around_free(struct zap_around *a)
{
	mt_rawunmap(a->slot, a->nslots * sizeof(*a->slot));
	memset(a, 0, sizeof(*a));
}

static struct zap_reader *find(const struct zap_around *a, uint64_t group)
{
	size_t h = (size_t)(group * 0x9e3779b97f4a7c15ull >> 20) & (a->nslots - 1);

	while (a->slot[h].group && a->slot[h].group != group)
		h = (h + 1) & (a->nslots - 1);
	return &a->slot[h];
}

/* Without memory for more the table stays as it is, and is full at seven eighths. */
static void grow(struct zap_around *a)
{
	struct zap_around old = *a;
	struct zap_reader *slot = mt_rawmap(old.nslots * 2 * sizeof(*slot));

	if (!slot)
		return;
	a->slot = slot;
	a->nslots *= 2;
	for (size_t i = 0; i < old.nslots; i++)
		if (old.slot[i].group)
			*find(a, old.slot[i].group) = old.slot[i];
	mt_rawunmap(old.slot, old.nslots * sizeof(*slot));
}

void zap_around_note(struct zap_around *a, uint64_t addr, uint64_t time, int32_t tid, int cpu, uint64_t ip)
{
	struct zap_reader *r;
	uint64_t group;

	if (!a->bytes)
		return;
	group = (addr & ~(a->bytes - 1)) + 1;
	if (a->n * 2 >= a->nslots)
		grow(a);
	r = find(a, group);
	if (r->group ? r->time <= time : a->n >= a->nslots - a->nslots / 8)
		return;
	a->n += !r->group;
	*r = (struct zap_reader){ group, time, ip, tid, cpu };
}

const struct zap_reader *zap_around_reader(const struct zap_around *a, uint64_t addr)
{
	const struct zap_reader *r;

	if (!a->bytes)
		return NULL;
	r = find(a, (addr & ~(a->bytes - 1)) + 1);
	return r->group ? r : NULL;
}

void zap_around_clear(struct zap_around *a)
{
	if (a->n)
		memset(a->slot, 0, a->nslots * sizeof(*a->slot));
	a->n = 0;
}
