// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/unseen.h"

#include <string.h>

#include "preload/ground/context.h"
#include "common/rawplace.h"
#include "preload/memory/space.h"

struct unseen {
	uint64_t start, end, id;
	int prot, shared;
	char path[sizeof(((struct mt_map *)0)->path)];
};

/* Of the monitor. What was there at the last look, by id; what was new then and is not told yet. */
static struct ids {
	uint64_t *id;
	size_t n, cap;
} known, now;
static struct unseen *fresh;
static size_t n_fresh, cap_fresh;

/* Room for one more element of @size in the array *p. Without memory what comes is told at a later look. */
static int room(void **p, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 256;
	void *q;

	if (n < *cap)
		return 1;
	q = mt_rawmap(more * size);
	if (!q)
		return 0;
	if (*p) {
		memcpy(q, *p, n * size);
		mt_rawunmap(*p, *cap * size);
	}
	*p = q;
	*cap = more;
	return 1;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* A mapping that is the same at two looks has the same id; its range and its protection are a part of it. */
static uint64_t id_of(const struct mt_map *m, uint64_t start, uint64_t end)
{
	uint64_t h = mix(mix(mix(mix(1, start), end), m->ino), (uint64_t)m->prot << 1 | (uint64_t)m->shared);

	for (const char *p = m->path; *p; p++)
		h = mix(h, (unsigned char)*p);
	return h;
}

/* Maps come in the order of their addresses, and so do ids: the same one is near the place of the last one that was found. */
static int was_known(uint64_t id, size_t *hint)
{
	for (size_t k = 0; k < known.n; k++) {
		size_t i = *hint + k < known.n ? *hint + k : *hint + k - known.n;

		if (known.id[i] == id) {
			*hint = i + 1 < known.n ? i + 1 : 0;
			return 1;
		}
		if (k == 64)
			break;	/* told again, which the reader sees */
	}
	return 0;
}

static struct unseen *to_tell(uint64_t start, uint64_t end, int prot)
{
	struct unseen *u;

	if (!room((void **)&fresh, n_fresh, &cap_fresh, sizeof(*fresh)))
		return NULL;
	u = &fresh[n_fresh++];
	u->start = start;
	u->end = end;
	u->prot = prot;
	u->shared = 0;
	u->path[0] = 0;
	return u;
}

static void found(const struct mt_map *m, uint64_t start, uint64_t end, size_t *hint)
{
	const uint64_t id = id_of(m, start, end);

	if (!was_known(id, hint)) {
		struct unseen *u = to_tell(start, end, m->prot);

		if (!u)
			return;
		u->shared = m->shared;
		memcpy(u->path, m->path, sizeof(u->path));
	}
	if (room((void **)&now.id, now.n, &now.cap, sizeof(*now.id)))
		now.id[now.n++] = id;
}

static int begins(const struct mt_map *m, const char *text)
{
	return !strncmp(m->path, text, strlen(text));
}

/* Of the kernel, of the recorder, or not accessible. */
static int is_not_meant(const struct mt_map *m)
{
	return !m->prot || begins(m, "[v") || begins(m, "[uprobes]") || begins(m, "/memfd:memtrace ") ||
	       zap_is_mapping(m, zap_space.dev, zap_space.ino) || (m->start >= MT_PLACE_START && m->end <= MT_PLACE_END);
}

/* The part of [at, end) up to which all of it is seen, or ours, or (negated) from which on it is not. */
static uint64_t seen_until(uint64_t at, uint64_t end, uint64_t *unseen_until)
{
	const struct zap_regions *set[] = { &zap_space.regions, &zap_space.shared };
	uint64_t hit_start, hit_end;

	*unseen_until = end;
	for (int k = 0; k < 2; k++) {
		size_t i = zap_regions_find(set[k], at);

		if (i == set[k]->n)
			continue;
		if (set[k]->r[i].start <= at)
			return set[k]->r[i].end;
		if (set[k]->r[i].start < *unseen_until)
			*unseen_until = set[k]->r[i].start;
	}
	if (mt_is_rawmem(at, *unseen_until, &hit_start, &hit_end)) {
		if (hit_start <= at)
			return hit_end;
		*unseen_until = hit_start;
	}
	return at;
}

int zap_unseen_flag(uint64_t addr, uint64_t len)
{
	const uint64_t end = addr + ((len + MT_PAGE - 1) & ~(MT_PAGE - 1));

	return zap_space.active && !zap_regions_cover(&zap_space.regions, addr, end) &&
	       !zap_regions_cover(&zap_space.shared, addr, end) && !zap_regions_cover(&zap_space.reserved, addr, end) ? CTX_UNSEEN : 0;
}

/* Pieces of one mapping that the kernel keeps apart, say where code was patched, are one. */
static void join_or_tell(struct mt_map *last, const struct mt_map *m, uint64_t start, uint64_t end, size_t *hint)
{
	if (last->end == start && last->ino == m->ino && last->prot == m->prot && last->shared == m->shared && !strcmp(last->path, m->path)) {
		last->end = end;
		return;
	}
	if (last->end)
		found(last, last->start, last->end, hint);
	*last = *m;
	last->start = start;
	last->end = end;
}

void zap_unseen_begin(void)
{
	const struct zap_regions *files = &zap_space.files;

	known.n = now.n = n_fresh = 0;
	for (size_t i = 0; i < files->n; i++)
		to_tell(files->r[i].start, files->r[i].end, CTX_SEEN);
}

void zap_unseen_look(struct mt_maps *m)
{
	const uint64_t self = (uint64_t)&zap_space;
	uint64_t own_ino = 0, own_end = 0;
	struct ids last = known;
	struct mt_map map, piece = { .end = 0 };
	size_t hint = 0;

	now.n = 0;
	mt_maps_rewind(m);
	while (!own_ino && mt_maps_next(m, &map))
		if (map.start <= self && self < map.end)
			own_ino = map.ino;
	mt_maps_rewind(m);
	while (mt_maps_next(m, &map)) {
		/* our library, and the anonymous memory behind its data */
		const int ours = own_ino && (map.ino == own_ino || (!map.ino && !map.path_len && map.start == own_end));

		if (ours)
			own_end = map.end;
		if (ours || is_not_meant(&map))
			continue;
		for (uint64_t at = map.start; at < map.end;) {
			uint64_t to, until = seen_until(at, map.end, &to);

			if (until > at) {
				at = until;
				continue;
			}
			join_or_tell(&piece, &map, at, to, &hint);
			at = to;
		}
	}
	if (piece.end)
		found(&piece, piece.start, piece.end, &hint);
	known = now;
	now = last;
}

void zap_unseen_tell(void)
{
	for (size_t i = 0; i < n_fresh; i++)
		ctx_note_unseen(fresh[i].start, fresh[i].end, fresh[i].prot, fresh[i].shared, fresh[i].path);
	n_fresh = 0;
}
