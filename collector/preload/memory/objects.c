// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/objects.h"

#include <string.h>

#include "common/rawsys.h"
#include "preload/memory/ranges.h"

/* No two overlap; in any order. */
static struct zap_object *object;
static size_t n_objects, cap;
static struct zap_regions all;		/* of them, to be asked fast */
static struct zap_regions not_dumped;

static int reserve(void)
{
	const size_t more = cap ? 2 * cap : 256;
	struct zap_object *o;

	if (n_objects + 1 < cap)
		return 0;
	o = mt_rawmap(more * sizeof(*o));
	if (!o)
		return -ENOMEM;
	if (object) {
		memcpy(o, object, n_objects * sizeof(*o));
		mt_rawunmap(object, cap * sizeof(*o));
	}
	object = o;
	cap = more;
	return 0;
}

void zap_object_data(uint64_t start, uint64_t end, uint64_t offset, uint64_t ino)
{
	zap_object_gone(start, end);
	if (!reserve() && !zap_regions_add(&all, start, end))
		object[n_objects++] = (struct zap_object){ start, end, offset, ino };
}

/* Of each object that lies across @at two remain. */
static void cut(uint64_t at)
{
	for (size_t i = 0; i < n_objects; i++) {
		struct zap_object *o = &object[i], behind = *o;

		if (at <= o->start || at >= o->end || reserve())
			continue;
		o = &object[i];		/* reserve() may have moved it */
		o->end = behind.start = at;
		behind.offset += at - o->start;
		object[n_objects++] = behind;
		return;
	}
}

void zap_object_gone(uint64_t start, uint64_t end)
{
	size_t kept = 0;

	if (zap_regions_overlap(&not_dumped, start, end))
		zap_regions_remove(&not_dumped, start, end);
	if (!zap_regions_overlap(&all, start, end))
		return;
	cut(start);
	cut(end);
	for (size_t i = 0; i < n_objects; i++)
		if (object[i].end <= start || object[i].start >= end)
			object[kept++] = object[i];
	n_objects = kept;
	zap_regions_clear(&all);
	for (size_t i = 0; i < n_objects; i++)
		zap_regions_add(&all, object[i].start, object[i].end);
}

int zap_has_objects(void)
{
	return n_objects != 0;
}

int zap_is_object(uint64_t addr, uint64_t end, uint64_t *next)
{
	*next = end;
	if (!zap_regions_overlap(&all, addr, end))
		return 0;
	for (size_t i = 0; i < n_objects; i++) {
		const struct zap_object *o = &object[i];

		if (o->start <= addr && addr < o->end) {
			*next = o->end < end ? o->end : end;
			return 1;
		}
		if (o->start > addr && o->start < *next)
			*next = o->start;
	}
	return 0;
}

const struct zap_object *zap_object_at(uint64_t addr)
{
	for (size_t i = 0; i < n_objects; i++)
		if (object[i].start <= addr && addr < object[i].end)
			return &object[i];
	return NULL;
}

int zap_note_dump(uint64_t start, uint64_t end, int dump)
{
	return dump ? zap_regions_remove(&not_dumped, start, end) : zap_regions_add(&not_dumped, start, end);
}

void zap_dump_again(uint64_t start, uint64_t end)
{
	for (size_t i = zap_regions_find(&not_dumped, start); i < not_dumped.n && not_dumped.r[i].start < end; i++) {
		const uint64_t from = not_dumped.r[i].start > start ? not_dumped.r[i].start : start;

		mt_sys(SYS_madvise, from, (not_dumped.r[i].end < end ? not_dumped.r[i].end : end) - from, MADV_DONTDUMP);
	}
}

void zap_dump_moved(uint64_t old, uint64_t old_len, uint64_t at, uint64_t len)
{
	if (zap_regions_overlap(&not_dumped, old, old + old_len) && !zap_note_dump(at, at + len, 0))
		zap_dump_again(at, at + len);
}
