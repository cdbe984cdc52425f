/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* unseen_log.c - the replay of what context.log tells of memory that is not seen. */
#include <stdlib.h>
#include <string.h>

#include "cli/names/unseen_log.h"
#include "cli/base/util.h"

/* First living one that ends behind addr. */
static size_t live_at(const struct mt_unseen *u, uint64_t addr)
{
	size_t lo = 0, hi = u->n_live;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->r[u->live[mid]].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void live_insert(struct mt_unseen *u, size_t at, size_t i)
{
	MT_GROW(u->live, u->n_live, u->cap_live);
	memmove(u->live + at + 1, u->live + at, (u->n_live - at) * sizeof(*u->live));
	u->live[at] = i;
	u->n_live++;
}

size_t mt_unseen_add(struct mt_unseen *u, const struct mt_unseen_range *r)
{
	const struct mt_unseen_range copy = *r;		/* it may lie in the vector */

	MT_GROW(u->r, u->n, u->cap);
	u->r[u->n] = copy;
	u->r[u->n].path = copy.path ? mt_strdup(copy.path) : NULL;
	return u->n++;
}

void mt_unseen_unmap(struct mt_unseen *u, uint64_t start, uint64_t end, int64_t when)
{
	size_t at = live_at(u, start);

	while (at < u->n_live && u->r[u->live[at]].start < end) {
		size_t i = u->live[at], k;
		const uint64_t from = u->r[i].start, to = u->r[i].end;

		memmove(u->live + at, u->live + at + 1, (u->n_live - at - 1) * sizeof(*u->live));
		u->n_live--;
		if (from < start) {	/* what stays goes on as others, with the same birth */
			k = mt_unseen_add(u, &u->r[i]);
			u->r[k].end = start;
			live_insert(u, at++, k);
			u->r[i].start = start;
		}
		if (to > end) {
			k = mt_unseen_add(u, &u->r[i]);
			u->r[k].start = end;
			live_insert(u, at++, k);
			u->r[i].end = end;
		}
		u->r[i].death = when;
	}
}

void mt_unseen_map(struct mt_unseen *u, const struct mt_unseen_range *r)
{
	if (r->end <= r->start)
		return;
	mt_unseen_unmap(u, r->start, r->end, r->birth);
	live_insert(u, live_at(u, r->start), mt_unseen_add(u, r));
}

bool mt_unseen_same_path(const char *a, const char *b)
{
	return !strncmp(a ? a : "", b ? b : "", MT_UNSEEN_PATH_CUT);
}

void mt_unseen_found(struct mt_unseen *u, const struct mt_unseen_range *r)
{
	uint64_t at = r->start;

	if (r->prot & MT_UNSEEN_SEEN) {
		MT_GROW(u->seen, u->n_seen, u->cap_seen);
		u->seen[u->n_seen++] = (struct mt_unseen_range){ .start = r->start, .end = r->end };
		return;
	}
	u->looked = true;
	/* the kernel joins and cuts mappings: what is known of the same file is known, the rest is new */
	while (at < r->end) {
		const size_t i = live_at(u, at);
		struct mt_unseen_range *o = i < u->n_live ? &u->r[u->live[i]] : NULL;
		struct mt_unseen_range piece = *r;

		if (o && o->start <= at && mt_unseen_same_path(o->path, r->path)) {
			if (o->start >= r->start && o->end <= r->end)
				o->prot |= r->prot;	/* mprotect() is not in the log */
			at = o->end;
			continue;
		}
		piece.start = at;
		if (o && o->start > at && o->start < r->end && mt_unseen_same_path(o->path, r->path))
			piece.end = o->start;
		mt_unseen_map(u, &piece);
		at = piece.end;
	}
}

bool mt_unseen_is_seen(const struct mt_unseen *u, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < u->n_seen; i++)
		if (u->seen[i].start <= start && u->seen[i].end >= end)
			return true;
	return false;
}

void mt_unseen_move(struct mt_unseen *u, uint64_t old, uint64_t old_end, uint64_t to, uint64_t to_end, int64_t when)
{
	const size_t i = live_at(u, old);
	struct mt_unseen_range moved;

	if (i == u->n_live || u->r[u->live[i]].start > old) {
		mt_unseen_unmap(u, to, to_end, when);
		return;
	}
	moved = u->r[u->live[i]];
	moved.path = moved.path ? mt_strdup(moved.path) : NULL;
	moved.start = to;
	moved.end = to_end;
	moved.birth = when;
	mt_unseen_unmap(u, old, old_end, when);
	mt_unseen_map(u, &moved);
	free(moved.path);
}

void mt_unseen_free(struct mt_unseen *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->r[i].path);
	free(u->r);
	free(u->live);
	free(u->seen);
	memset(u, 0, sizeof(*u));
}
