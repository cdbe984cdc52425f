/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * small.c - heaps with small blocks, divided by the places that allocated in them.
 *
 * The samples of a heap lie in the order of their addresses. Places that allocate one after the other have ranges of their own there;
 * places that allocate in turns are mixed. WINDOW samples that follow each other are of one place when at least SAME of them are: of a
 * place that has half of the bytes, 14 of 16 are found in one of 500 windows, of one that has 0.7 in one of 10. Windows of one place
 * that follow each other are one range. What is mixed stays "heap (small blocks)".
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/small.h"
#include "cli/base/util.h"
#include "cli/names/ctxlog.h"

#define WINDOW 16u
#define SAME 14u
#define ALONE 6u		/* samples of a heap that has fewer than a window, all of one place */
#define HOLE 12u		/* mean distances without a sample: nothing is known there */
#define MIXED ((size_t)-1)

/* What allocates small blocks. */
struct place {
	const char *site;	/* of the trace's sites; NULL: none */
	char *name;		/* without the sizes of the blocks */
	bool rows;		/* it is an element of an array that gets them: u[i][j] */
	double bytes;		/* that were allocated there, estimated */
	struct size {
		uint64_t bytes;
		double weight;
	} *sizes;
	size_t n_sizes, cap_sizes;
};

struct places {
	struct place *p;
	size_t n, cap;
	size_t *of_stack;	/* 0: not known yet; else number + 1 */
};

/* A sample in the order of addresses. */
struct at {
	uint64_t start, end, mean;
	size_t place;
};

/* "u" of "u[l][k][j]"; true: it had indexes. */
static char *without_index(const char *name, bool *indexed)
{
	size_t n = strlen(name);
	int depth = 0;

	*indexed = n && name[n - 1] == ']';
	while (n && (depth || name[n - 1] == ']')) {
		n--;
		depth += (name[n] == ']') - (name[n] == '[');
	}
	return n ? mt_printf("%.*s", (int)n, name) : mt_strdup(name);
}

static size_t place_of(struct places *all, struct mt_site_names *sites, int64_t stack)
{
	const struct mt_site *site = mt_sites_at(sites, stack);
	size_t *known = &all->of_stack[stack], i;
	bool rows = false;
	char *name;

	if (*known)
		return *known - 1;
	name = site->name ? without_index(site->name, &rows) : mt_strdup("unnamed allocation");
	for (i = 0; i < all->n; i++)
		if (!strcmp(all->p[i].name, name) && (site->site ? all->p[i].site && !strcmp(all->p[i].site, site->site) : !all->p[i].site))
			break;
	if (i == all->n) {
		MT_GROW(all->p, all->n, all->cap);
		all->p[all->n++] = (struct place){ .site = site->site, .name = name, .rows = rows };
	} else {
		free(name);
	}
	*known = i + 1;
	return i;
}

static void add_size(struct place *p, uint64_t bytes, double weight)
{
	size_t i = 0;

	p->bytes += weight;
	while (i < p->n_sizes && p->sizes[i].bytes != bytes)
		i++;
	if (i == p->n_sizes) {
		if (i == 64)		/* of so many sizes none is the one */
			return;
		MT_GROW(p->sizes, p->n_sizes, p->cap_sizes);
		p->sizes[p->n_sizes++] = (struct size){ bytes, 0 };
	}
	p->sizes[i].weight += weight;
}

/* "u (rows of 2 KiB)", "insert:45 (small blocks)". The caller's. */
static char *name_of_place(const struct place *p)
{
	const char *what = p->rows ? "rows" : "blocks";
	const struct size *most = NULL;

	for (size_t i = 0; i < p->n_sizes; i++)
		if (!most || p->sizes[i].weight > most->weight)
			most = &p->sizes[i];
	if (!most || most->weight < 0.75 * p->bytes)
		return mt_printf("%s (small %s)", p->name, what);
	if (most->bytes < 1024)
		return mt_printf("%s (%s of %" PRIu64 " bytes)", p->name, what, most->bytes);
	return mt_printf("%s (%s of %.3g KiB)", p->name, what, (double)most->bytes / 1024);
}

static int by_start(const void *x, const void *y)
{
	const struct at *a = x, *b = y;

	return a->start != b->start ? (a->start < b->start ? -1 : 1) : (a->place > b->place) - (a->place < b->place);
}

/* The place that SAME of WINDOW samples are of, or MIXED. */
static size_t place_of_window(const struct at *a, size_t n)
{
	const size_t least = n < WINDOW ? n : n * SAME / WINDOW;

	for (size_t i = 0; i <= n - least; i++) {
		size_t same = 0;

		for (size_t k = 0; k < n; k++)
			same += a[k].place == a[i].place;
		if (same >= least)
			return a[i].place;
	}
	return MIXED;
}

/*
 * Where one range ends and the next begins, among the samples [from, to) that both have: as few as possible on the wrong side.
 */
static size_t border(const struct at *a, size_t from, size_t to, size_t left, size_t right)
{
	size_t best = from, wrong = 0, least;

	for (size_t i = from; i < to; i++)
		wrong += left == MIXED ? a[i].place != right : a[i].place == left;
	least = wrong;
	for (size_t i = from; i < to; i++) {
		/* the sample i goes to the left */
		wrong += right == MIXED ? a[i].place != left : a[i].place == right;
		wrong -= left == MIXED ? a[i].place != right : a[i].place == left;
		if (wrong < least) {
			least = wrong;
			best = i + 1;
		}
	}
	return best;
}

static void add_range(struct mt_context *c, const struct mt_structure *heap, struct place *p, uint64_t start, uint64_t end)
{
	const uint64_t page = c->page_bytes ? c->page_bytes : 4096;
	size_t i;

	start &= ~(page - 1);
	end = (end + page - 1) & ~(page - 1);
	if (start < heap->start)
		start = heap->start;
	if (end > heap->end)
		end = heap->end;
	if (start >= end)
		return;
	i = mt_context_add(c);
	c->s[i].kind = MT_BRK;
	c->s[i].start = start;
	c->s[i].end = end;
	c->s[i].birth = heap->birth;
	c->s[i].death = heap->death;
	c->s[i].name = name_of_place(p);
	c->s[i].site = mt_strdup(p->site ? p->site : p->name);	/* it tells the part from the heap */
}

/* The samples [from, to) are a range of a place; it is cut where there are none. @lo, @hi: where its neighbours end and begin. */
static void add_ranges(struct mt_context *c, const struct mt_structure *heap, struct place *p, const struct at *a, size_t from, size_t to,
		       uint64_t lo, uint64_t hi)
{
	uint64_t start = lo;

	for (size_t i = from; i < to; i++) {
		const bool last = i + 1 == to;

		if (!last && a[i + 1].start - a[i].start < HOLE * a[i].mean)
			continue;
		add_range(c, heap, p, start, last ? hi : a[i].end);
		start = last ? hi : a[i + 1].start;
	}
}

/* Between two samples, but not further from the first than its distance. */
static uint64_t between(const struct at *left, const struct at *right)
{
	const uint64_t page = 4096, middle = left->end < right->start ? left->end + (right->start - left->end) / 2 : right->start;

	return (middle - left->end < left->mean ? middle : left->end) & ~(page - 1);
}

/* Samples [from, to), those of one place or mixed. */
struct run {
	size_t from, to, place;
};

static void divide(struct mt_context *c, struct mt_structure heap, struct places *all, const struct at *a, size_t n)
{
	struct run *r = NULL;
	size_t n_runs = 0, cap = 0;

	for (size_t from = 0, to; from < n && n >= ALONE; from = to) {
		size_t place;

		to = n - from < 2 * WINDOW ? n : from + WINDOW;	/* the last window has the rest */
		place = place_of_window(a + from, to - from);
		if (n_runs && r[n_runs - 1].place == place) {
			r[n_runs - 1].to = to;
			continue;
		}
		MT_GROW(r, n_runs, cap);
		r[n_runs++] = (struct run){ from, to, place };
	}
	for (size_t i = 1; i < n_runs; i++) {
		const size_t lo = r[i].from - r[i - 1].from > WINDOW ? r[i].from - WINDOW : r[i - 1].from;
		const size_t hi = r[i].to - r[i].from > WINDOW ? r[i].from + WINDOW : r[i].to;

		r[i - 1].to = r[i].from = border(a, lo, hi, r[i - 1].place, r[i].place);
	}
	for (size_t i = 0; i < n_runs; i++) {
		const size_t from = r[i].from, to = r[i].to;

		if (r[i].place != MIXED && from < to)
			add_ranges(c, &heap, &all->p[r[i].place], a, from, to, from ? between(&a[from - 1], &a[from]) : a[from].start,
				   to < n ? between(&a[to - 1], &a[to]) : a[to - 1].end);
	}
	free(r);
}

void mt_small_places(struct mt_context *c, struct mt_site_names *sites)
{
	struct places all = { NULL, 0, 0, NULL };
	struct at *a = mt_alloc((c->n_samples + 1) * sizeof(*a));
	const size_t n_heaps = c->n;
	size_t n = 0;

	all.of_stack = mt_alloc((c->n_stacks + 1) * sizeof(*all.of_stack));
	for (size_t i = 0; i < c->n_samples; i++) {
		const struct mt_sample *s = &c->samples[i];
		const double mean = (double)s->mean;

		if (s->stack < 0 || (size_t)s->stack >= c->n_stacks || !c->stacks[s->stack].n || !s->mean || !s->bytes)
			continue;
		a[n] = (struct at){ s->addr, s->addr + s->bytes, s->mean, place_of(&all, sites, s->stack) };
		add_size(&all.p[a[n].place], s->bytes, (double)s->bytes / -expm1(-(double)s->bytes / mean));
		n++;
	}
	if (n)
		qsort(a, n, sizeof(*a), by_start);
	for (size_t i = 0; i < n_heaps; i++) {
		size_t from = 0, to;

		if (c->s[i].kind != MT_BRK)
			continue;
		while (from < n && a[from].start < c->s[i].start)
			from++;
		for (to = from; to < n && a[to].start < c->s[i].end; to++)
			;
		divide(c, c->s[i], &all, a + from, to - from);
	}
	for (size_t i = 0; i < all.n; i++) {
		free(all.p[i].name);
		free(all.p[i].sizes);
	}
	free(all.p);
	free(all.of_stack);
	free(a);
}
