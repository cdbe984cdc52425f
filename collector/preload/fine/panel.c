// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/fine/panel.h"

#include <string.h>

#include "common/rawsys.h"

#define SHARED_WEIGHT 4u

int fine_panel_init(struct fine_panel *p)
{
	p->n = 0;
	p->m = mt_rawmap(FINE_PANEL_MAX * sizeof(*p->m));
	return p->m ? 0 : -ENOMEM;
}

void fine_panel_free(struct fine_panel *p)
{
	mt_rawunmap(p->m, FINE_PANEL_MAX * sizeof(*p->m));
	memset(p, 0, sizeof(*p));
}

struct fine_member *fine_panel_find(const struct fine_panel *p, uint64_t page)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->m[mid].page < page)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->m[lo].page == page ? &p->m[lo] : NULL;
}

static void add(struct fine_panel *p, uint64_t page, uint64_t now_ns)
{
	size_t i = p->n;

	for (; i && p->m[i - 1].page > page; i--)
		p->m[i] = p->m[i - 1];
	p->m[i] = (struct fine_member){ .page = page, .start_ns = now_ns };
	p->n++;
}

/* In use, as far as it is seen: what stays armed would tell nothing of who comes. */
static uint32_t weight_of(const struct fine_page *q, const struct fine_range *r)
{
	return !(q->flags & FINE_KNOWN) || !(q->flags & (FINE_MAPPED | FINE_HIT)) ? 0 : r->shared ? SHARED_WEIGHT : 1;
}

/* Of all pages. */
static uint64_t weights(const struct fine_strata *s, const struct fine_pages *pages)
{
	uint64_t all = 0;
	size_t r = 0;

	for (size_t c = 0; c < pages->n; c++) {
		uint64_t first;
		const struct fine_page *q = fine_pages_chunk(pages, c, &first);

		for (unsigned int i = 0; i < FINE_CHUNK; i++) {
			while (r < s->n_ranges && s->range[r].end <= first + i)
				r++;
			if (r < s->n_ranges && s->range[r].start <= first + i)
				all += weight_of(&q[i], &s->range[r]);
		}
	}
	return all;
}

void fine_panel_fill(struct fine_panel *p, struct fine_strata *s, struct fine_pages *pages, size_t k, uint64_t now_ns)
{
	const size_t part = (k + FINE_PANEL_BINS - 1) / FINE_PANEL_BINS;
	size_t want = p->n < k ? k - p->n : 0, n = 0, r = 0;
	uint64_t all, gone = 0, target = 0;
	int drawn = 0;

	if (want > part)
		want = part;
	all = want ? weights(s, pages) : 0;
	if (!all)
		return;
	/* one at random of each of @want equal parts, in the order of addresses */
	for (size_t c = 0; c < pages->n && n < want; c++) {
		uint64_t first;
		struct fine_page *q = fine_pages_chunk(pages, c, &first);

		for (unsigned int i = 0; i < FINE_CHUNK && n < want; i++) {
			uint32_t weight;

			if (!(q[i].flags & FINE_KNOWN))
				continue;
			while (r < s->n_ranges && s->range[r].end <= first + i)
				r++;
			if (r == s->n_ranges || s->range[r].start > first + i)
				continue;
			weight = weight_of(&q[i], &s->range[r]);
			if (!weight)
				continue;
			gone += weight;
			while (n < want) {
				const uint64_t from = n * all / want, to = (n + 1) * all / want;

				if (!drawn) {
					target = from + fine_random(s, to - from);
					drawn = 1;
				}
				if (target >= gone)
					break;
				if (!(q[i].flags & FINE_PANEL)) {
					q[i].flags |= FINE_PANEL;
					add(p, first + i, now_ns);
				}
				n++;
				drawn = 0;
			}
		}
	}
}

void fine_panel_seen(struct fine_member *m, int tid, uint64_t time_ns, int write)
{
	unsigned int i;

	if (!m->away_ns)
		return;
	if (write && !m->is_written) {
		m->is_written = 1;
		m->written++;
	}
	if (m->is_hit)
		return;
	m->is_hit = 1;
	m->active++;
	m->wait_ns += time_ns > m->away_ns ? time_ns - m->away_ns : 0;
	for (i = 0; i < m->users && m->user[i].tid != tid; i++)
		;
	if (i == FINE_PANEL_USERS - 1)
		tid = -1;	/* the last one are all others */
	if (i == FINE_PANEL_USERS)
		i--;
	if (i == m->users)
		m->user[m->users++].tid = tid;
	m->user[i].n++;
}

void fine_panel_looked(struct fine_panel *p, uint64_t now_ns, int counts)
{
	for (size_t i = 0; i < p->n; i++) {
		struct fine_member *m = &p->m[i];

		if (m->away_ns && counts) {
			m->looks++;
			if (!m->is_hit)
				m->wait_ns += now_ns > m->away_ns ? now_ns - m->away_ns : 0;
		}
		m->away_ns = 0;
	}
}

size_t fine_panel_take(struct fine_panel *p, enum fine_which which, uint64_t now_ns, uint64_t *page)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct fine_member *m = &p->m[i];

		if (which == FINE_EACH || m->is_hit)
			page[n++] = m->page;
		m->is_hit = m->is_written = 0;
		m->away_ns = now_ns;
	}
	return n;
}

void fine_panel_leave(struct fine_panel *p, struct fine_pages *pages, int all, void (*left)(void *arg, const struct fine_member *m),
		      void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct fine_member *m = &p->m[i];

		m->bins++;
		if (m->bins < FINE_PANEL_BINS && !all) {
			p->m[n++] = *m;
			continue;
		}
		{
			struct fine_page *q = fine_pages_add(pages, m->page);

			if (q)
				q->flags &= (uint16_t)~FINE_PANEL;
		}
		if (m->looks)
			left(arg, m);
	}
	p->n = n;
}
