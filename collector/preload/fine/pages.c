// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/pages.h"

#include <string.h>

#include "common/rawsys.h"
#include "preload/memory/ranges.h"

#define FIRST_CHUNKS 64u

static int reserve(struct fine_pages *t, size_t cap)
{
	struct fine_page *page = mt_rawmap(cap * FINE_CHUNK * sizeof(*page));
	struct fine_chunk *chunk = mt_rawmap(cap * sizeof(*chunk));

	if (!page || !chunk) {
		mt_rawunmap(page, cap * FINE_CHUNK * sizeof(*page));
		mt_rawunmap(chunk, cap * sizeof(*chunk));
		return -ENOMEM;
	}
	if (t->n && t->page) {
		memcpy(page, t->page, t->n * FINE_CHUNK * sizeof(*page));
		memcpy(chunk, t->chunk, t->n * sizeof(*chunk));
	}
	mt_rawunmap(t->page, t->cap * FINE_CHUNK * sizeof(*page));
	mt_rawunmap(t->chunk, t->cap * sizeof(*chunk));
	t->page = page;
	t->chunk = chunk;
	t->cap = cap;
	return 0;
}

int fine_pages_init(struct fine_pages *t, size_t max)
{
	*t = (struct fine_pages){ .max = (max + FINE_CHUNK - 1) / FINE_CHUNK };
	return reserve(t, FIRST_CHUNKS < t->max ? FIRST_CHUNKS : t->max);
}

void fine_pages_free(struct fine_pages *t)
{
	mt_rawunmap(t->page, t->cap * FINE_CHUNK * sizeof(*t->page));
	mt_rawunmap(t->chunk, t->cap * sizeof(*t->chunk));
	memset(t, 0, sizeof(*t));
}

/* Index of the first chunk that is not below. */
static size_t find(const struct fine_pages *t, uint64_t number)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->chunk[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct fine_page *fine_pages_add(struct fine_pages *t, uint64_t page)
{
	const uint64_t number = page / FINE_CHUNK;
	size_t i = t->last;

	if (i >= t->n || t->chunk[i].number != number)
		i = find(t, number);
	if (i == t->n || t->chunk[i].number != number) {
		if (t->n == t->cap) {
			const size_t cap = t->cap * 2 < t->max ? t->cap * 2 : t->max;

			if (cap == t->cap || reserve(t, cap))
				return NULL;
		}
		memmove(&t->chunk[i + 1], &t->chunk[i], (t->n - i) * sizeof(*t->chunk));
		t->chunk[i] = (struct fine_chunk){ number, t->n++ * FINE_CHUNK };
	}
	t->last = i;
	return &t->page[t->chunk[i].at + page % FINE_CHUNK];
}

void fine_pages_look(struct fine_pages *t)
{
	for (size_t i = 0; i < t->n * FINE_CHUNK; i++)
		t->page[i].flags &= (uint16_t)~(FINE_AFTER | FINE_TAKEN);
}

void fine_pages_armed(struct fine_pages *t)
{
	for (size_t i = 0; i < t->n * FINE_CHUNK; i++)
		if (!(t->page[i].flags & FINE_AFTER))
			t->page[i].flags &= (uint16_t)~FINE_MAPPED;
}

void fine_pages_anew(struct fine_pages *t, const struct zap_range *mapped, size_t n)
{
	for (size_t i = 0; i < t->n * FINE_CHUNK; i++)
		t->page[i].flags &= FINE_KNOWN | FINE_SHARED | FINE_PANEL;
	for (size_t i = 0; i < n; i++)
		for (uint64_t page = mapped[i].start; page < mapped[i].end; page++) {
			struct fine_page *p = fine_pages_add(t, page);

			if (p)
				p->flags |= FINE_KNOWN | FINE_MAPPED;
		}
}
