// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/pieces.h"

#include "common/arch.h"

struct pieces {
	struct fine_range *to;
	size_t n, room;
	uint64_t piece;		/* pages, a power of two */
};

static uint64_t down(uint64_t addr)
{
	return addr >> MT_PAGE_SHIFT;
}

static uint64_t up(uint64_t addr)
{
	return (addr + MT_PAGE - 1) >> MT_PAGE_SHIFT;
}

static void add(struct pieces *p, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	if (p->n < p->room)
		p->to[p->n] = (struct fine_range){ .start = start, .end = end };
	p->n++;
}

/* What is of no large structure, cut at multiples of the piece. A rest that is short goes with what is before it. */
static void add_between(struct pieces *p, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t to = (start / p->piece + 1) * p->piece;

		if (to - start < FINE_PIECE_PAGES)
			to += p->piece;
		if (to > end || end - to < FINE_PIECE_PAGES)
			to = end;
		add(p, start, to);
		start = to;
	}
}

/* By Shell: there are some hundreds, nearly in order. */
static void sort(uint64_t (*r)[2], size_t n)
{
	for (size_t gap = n / 2; gap; gap /= 2)
		for (size_t i = gap; i < n; i++)
			for (size_t k = i; k >= gap && r[k - gap][0] > r[k][0]; k -= gap)
				for (int j = 0; j < 2; j++) {
					const uint64_t t = r[k][j];

					r[k][j] = r[k - gap][j];
					r[k - gap][j] = t;
				}
}

static void cut(struct pieces *p, uint64_t start, uint64_t end, uint64_t (*large)[2], size_t n, size_t *at, uint64_t least)
{
	const uint64_t to = down(end);
	uint64_t from = down(start);

	while (*at < n && large[*at][1] <= start)
		++*at;
	for (size_t i = *at; i < n && large[i][0] < end; i++) {
		uint64_t s = down(large[i][0]), e = up(large[i][1]);

		if (large[i][1] <= start || large[i][1] - large[i][0] < least)
			continue;
		if (s < from)
			s = from;
		if (e > to)
			e = to;
		if (s >= e)
			continue;
		add_between(p, from, s);
		add(p, s, e);
		from = e;
	}
	add_between(p, from, to);
}

static size_t all(struct pieces *p, const struct zap_regions *traced, const struct zap_regions *shared, uint64_t (*large)[2], size_t n,
		  uint64_t least)
{
	size_t i = 0, j = 0, at = 0;

	p->n = 0;
	while (i < traced->n || j < shared->n) {
		const int ours = j == shared->n || (i < traced->n && traced->r[i].start < shared->r[j].start);
		const struct zap_range *r = ours ? &traced->r[i++] : &shared->r[j++];

		cut(p, r->start, r->end, large, n, &at, least);
	}
	return p->n;
}

size_t fine_pieces(const struct zap_regions *traced, const struct zap_regions *shared, uint64_t (*large)[2], size_t n,
		   struct fine_range *to, size_t room)
{
	const uint64_t pages = (zap_regions_bytes(traced) + zap_regions_bytes(shared)) >> MT_PAGE_SHIFT;
	struct pieces p = { .to = to, .room = room, .piece = FINE_PIECE_PAGES };
	uint64_t least = 0;

	while (p.piece * FINE_PIECES < pages)
		p.piece *= 2;
	sort(large, n);
	/* a program of a thousand regions has one range for each of them, at most */
	for (int tries = 0; tries < 40 && all(&p, traced, shared, large, n, least) > room; tries++) {
		least = least ? least * 2 : MT_PAGE * FINE_PIECE_PAGES;
		p.piece *= 2;
	}
	return p.n < room ? p.n : room;
}
