// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/strata.h"

#include <string.h>

#include "common/rawsys.h"

#define SLOTS (FINE_STRATA * 2)

int fine_strata_init(struct fine_strata *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed ? seed : 1;
	s->s = mt_rawmap(FINE_STRATA * sizeof(*s->s));
	s->slot = mt_rawmap(SLOTS * sizeof(*s->slot));
	s->in_bin = mt_rawmap(FINE_STRATA * sizeof(*s->in_bin));
	s->range = mt_rawmap(FINE_RANGES * sizeof(*s->range));
	return s->s && s->slot && s->in_bin && s->range ? 0 : -ENOMEM;
}

void fine_strata_free(struct fine_strata *s)
{
	mt_rawunmap(s->s, FINE_STRATA * sizeof(*s->s));
	mt_rawunmap(s->slot, SLOTS * sizeof(*s->slot));
	mt_rawunmap(s->in_bin, FINE_STRATA * sizeof(*s->in_bin));
	mt_rawunmap(s->range, FINE_RANGES * sizeof(*s->range));
	memset(s, 0, sizeof(*s));
}

void fine_strata_forget(struct fine_strata *s)
{
	memset(s->slot, 0, SLOTS * sizeof(*s->slot));
	s->first_id += (uint32_t)s->n;
	s->n = s->n_in_bin = 0;
}

uint64_t fine_random(struct fine_strata *s, uint64_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return n ? s->seed % n : 0;
}

/* Of a number below 1.1; there is no libm here. */
static float root(float x)
{
	float r = 0.5f;

	for (int i = 0; i < 5; i++)
		r = (r + x / r) / 2;
	return r;
}

/* Index + 1, 0: no room. */
static uint16_t stratum(struct fine_strata *s, const struct fine_range *r, uint16_t user)
{
	uint64_t h = (r->start * 0x9e3779b97f4a7c15ull) ^ (r->end * 0xc2b2ae3d27d4eb4full) ^ (user * 0x165667b19e3779f9ull);
	struct fine_stratum *to;
	size_t i = (h ^ h >> 29) % SLOTS;

	for (; s->slot[i]; i = (i + 1) % SLOTS) {
		to = &s->s[s->slot[i] - 1];
		if (to->start == r->start && to->end == r->end && to->user == user)
			break;
	}
	if (!s->slot[i]) {
		if (s->n == FINE_STRATA) {
			s->full = 1;
			return 0;
		}
		s->s[s->n] = (struct fine_stratum){ .start = r->start, .end = r->end, .user = user, .p = 0.5f };
		s->slot[i] = (uint16_t)++s->n;
	}
	to = &s->s[s->slot[i] - 1];
	if (!to->in_bin) {
		to->in_bin = 1;
		to->now = (struct fine_counts){ 0 };
		s->in_bin[s->n_in_bin++] = (uint16_t)(s->slot[i] - 1);
	}
	return s->slot[i];
}

static void clear_bin(struct fine_strata *s)
{
	for (size_t i = 0; i < s->n_in_bin; i++)
		s->s[s->in_bin[i]].in_bin = 0;
	s->n_in_bin = 0;
}

/* Each known page into its stratum, 0: more than @most strata with mapped pages. */
static int assign(struct fine_strata *s, struct fine_pages *pages, int all_armed, size_t most)
{
	size_t r = 0, with_mapped = 0;
	uint16_t at = 0, at_user = 0;
	size_t at_range = SIZE_MAX;

	clear_bin(s);
	for (size_t i = 0; i < s->n_ranges; i++)
		s->range[i].known = s->range[i].shared = 0;
	for (size_t c = 0; c < pages->n; c++) {
		uint64_t first;
		struct fine_page *p = fine_pages_chunk(pages, c, &first);

		for (uint64_t page = first; page < first + FINE_CHUNK; page++, p++) {
			struct fine_stratum *to;
			uint16_t user;

			p->stratum = 0;
			if (!(p->flags & FINE_KNOWN))
				continue;
			while (r < s->n_ranges && s->range[r].end <= page)
				r++;
			if (r == s->n_ranges || page < s->range[r].start) {
				*p = (struct fine_page){ 0 };
				continue;
			}
			s->range[r].known++;
			s->range[r].shared += (uint32_t)!!(p->flags & FINE_SHARED);
			user = s->by_thread ? p->user : 0;
			if (r != at_range || user != at_user) {
				at = stratum(s, &s->range[r], user);
				at_range = r;
				at_user = user;
			}
			if (!at)
				return 1;	/* full */
			to = &s->s[at - 1];
			p->stratum = at;
			p->flags &= (uint16_t)~(FINE_OF_BIN & ~FINE_PANEL);
			if (all_armed || p->flags & FINE_PANEL || !(p->flags & FINE_MAPPED))
				to->now.armed++;
			else if (!to->now.mapped++ && ++with_mapped > most && s->by_thread)
				return 0;
		}
	}
	return 1;
}

void fine_strata_begin(struct fine_strata *s, struct fine_pages *pages, int all_armed, size_t most)
{
	s->full = 0;
	if (s->n > FINE_STRATA / 2) {	/* most are of ranges that are no more */
		clear_bin(s);
		fine_strata_forget(s);
	}
	s->by_thread = 1;
	if (!assign(s, pages, all_armed, most)) {
		s->by_thread = 0;
		assign(s, pages, all_armed, most);
	}
}

/* Pages wanted of each stratum: in all about @k. */
static void share_out(struct fine_strata *s, size_t k)
{
	float sum = 0;
	uint32_t least = 2;
	size_t filled = 0;

	for (size_t i = 0; i < s->n_in_bin; i++) {
		const struct fine_stratum *t = &s->s[s->in_bin[i]];

		filled += t->now.mapped > 0;
		sum += (float)t->now.mapped * root(t->p * (1 - t->p) + 0.01f);
	}
	if (filled * 2 > k)
		least = filled > k ? 0 : 1;
	for (size_t i = 0; i < s->n_in_bin; i++) {
		struct fine_stratum *t = &s->s[s->in_bin[i]];
		const float share = sum > 0 ? (float)k * (float)t->now.mapped * root(t->p * (1 - t->p) + 0.01f) / sum : 0;

		t->want = (uint32_t)(share + 0.5f);
		if (t->want < least)
			t->want = least;
		if (t->want > t->now.mapped)
			t->want = t->now.mapped;
		t->seen = 0;
		t->part = UINT32_MAX;
	}
}

/* Is the next page of the stratum the one that is taken of its part? */
static int is_taken(struct fine_strata *s, struct fine_stratum *t)
{
	const uint64_t seen = t->seen++, all = t->now.mapped, want = t->want;
	uint32_t part;

	if (!want)
		return 0;
	part = (uint32_t)(seen * want / all);
	if (part != t->part) {
		const uint64_t from = (part * all + want - 1) / want, to = ((part + 1) * all + want - 1) / want;

		t->part = part;
		t->target = (uint32_t)(from + fine_random(s, to - from));
	}
	return seen == t->target;
}

size_t fine_strata_draw(struct fine_strata *s, struct fine_pages *pages, size_t k, uint64_t *page, size_t room)
{
	size_t n = 0;

	share_out(s, k);
	for (size_t c = 0; c < pages->n; c++) {
		uint64_t first;
		struct fine_page *p = fine_pages_chunk(pages, c, &first);

		for (unsigned int i = 0; i < FINE_CHUNK; i++, p++) {
			struct fine_stratum *t;

			if (!p->stratum || p->flags & FINE_PANEL || !(p->flags & FINE_MAPPED))
				continue;
			t = &s->s[p->stratum - 1];
			if (is_taken(s, t) && n < room) {
				p->flags |= FINE_SAMPLED;
				t->now.sampled++;
				page[n++] = first + i;
			} else {
				p->flags |= FINE_REST;
			}
		}
	}
	return n;
}

/* The first range that ends behind the page. */
static size_t find(const struct fine_strata *s, uint64_t page)
{
	size_t lo = 0, hi = s->n_ranges;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->range[mid].end <= page)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint16_t fine_strata_of(struct fine_strata *s, uint64_t page)
{
	const size_t i = find(s, page);

	return i < s->n_ranges && s->range[i].start <= page ? stratum(s, &s->range[i], 0) : 0;
}

void fine_strata_gap(const struct fine_strata *s, uint64_t page, uint64_t *start, uint64_t *end)
{
	const size_t i = find(s, page);

	if (i && s->range[i - 1].end > *start)
		*start = s->range[i - 1].end;
	if (i < s->n_ranges && s->range[i].start < *end)
		*end = s->range[i].start;
}

int fine_strata_add_range(struct fine_strata *s, uint64_t start, uint64_t end)
{
	const size_t i = find(s, start);

	if (s->n_ranges == FINE_RANGES) {
		s->full = 1;
		return -ENOSPC;
	}
	memmove(&s->range[i + 1], &s->range[i], (s->n_ranges - i) * sizeof(*s->range));
	s->range[i] = (struct fine_range){ .start = start, .end = end };
	s->n_ranges++;
	return 0;
}

void fine_strata_end(struct fine_strata *s)
{
	for (size_t i = 0; i < s->n_in_bin; i++) {
		struct fine_stratum *t = &s->s[s->in_bin[i]];

		if (t->now.sampled)
			t->p = ((float)t->now.hit + 1) / ((float)t->now.sampled + 2);
	}
}
