// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/fine/strata.c preload/fine/pages.c preload/fine/panel.c preload/fine/pieces.c preload/memory/ranges.c common/rawmem.c
// libs: -lm
/* Strata, sample, panel and pieces of the fine clock: laws that hold for each seed. SEED=N repeats one. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "harness.h"
#include "common/arch.h"
#include "preload/fine/panel.h"
#include "preload/fine/pieces.h"
#include "preload/fine/strata.h"

#define FIRST 0x7f0000000ull	/* page */
#define MANY 4096

static uint64_t state;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static void put(struct fine_pages *t, uint64_t page, unsigned int flags, uint16_t user)
{
	struct fine_page *p = fine_pages_add(t, page);

	p->flags = (uint16_t)flags;
	p->user = user;
}

/* Ranges of random length with gaps, pages of random users; some of no range. */
static void fill(struct fine_strata *s, struct fine_pages *t, unsigned int users)
{
	uint64_t at = FIRST;

	s->n_ranges = 0;
	for (int i = 0; i < 12; i++) {
		const uint64_t start = at + rnd(40), end = start + 1 + rnd(400);

		s->range[s->n_ranges++] = (struct fine_range){ .start = start, .end = end };
		for (uint64_t p = start; p < end; p++)
			if (rnd(5))
				put(t, p, FINE_KNOWN | (rnd(4) ? FINE_MAPPED : 0), (uint16_t)(rnd(users) + (uint64_t)!rnd(9)));
		at = end + 5;
		put(t, end + 2, FINE_KNOWN | FINE_MAPPED, 1);
	}
}

/* Each known page of a range is counted once; the sample is spread over each stratum; what is of no range is forgotten. */
static void counts(void)
{
	struct fine_pages t;
	struct fine_strata s;
	uint64_t page[MANY], known = 0, mapped = 0, armed = 0, sampled = 0;
	size_t n, k = 8 + rnd(500);

	CHECK_EQ(fine_pages_init(&t, 1 << 20), 0);
	CHECK_EQ(fine_strata_init(&s, state), 0);
	fill(&s, &t, 1 + (unsigned int)rnd(6));
	fine_strata_begin(&s, &t, 0, k / 2);
	n = fine_strata_draw(&s, &t, k, page, MANY);
	for (size_t i = 1; i < n; i++)
		CHECK(page[i - 1] < page[i]);
	for (size_t i = 0; i < s.n_ranges; i++)
		known += s.range[i].known;
	for (size_t i = 0; i < s.n_in_bin; i++) {
		const struct fine_stratum *x = &s.s[s.in_bin[i]];

		CHECK(x->now.sampled <= x->now.mapped);
		CHECK_EQ(x->now.sampled, x->want);
		mapped += x->now.mapped;
		armed += x->now.armed;
		sampled += x->now.sampled;
	}
	CHECK_EQ(sampled, n);
	CHECK_EQ(mapped + armed, known);
	/* shares are rounded, and two of each at least */
	CHECK(n <= k + 2 * s.n_in_bin);
	CHECK(n >= (k < mapped ? k : mapped) / 2);
	for (size_t c = 0; c < t.n; c++) {
		uint64_t first;
		struct fine_page *p = fine_pages_chunk(&t, c, &first);

		for (unsigned int i = 0; i < FINE_CHUNK; i++) {
			const int roles = !!(p[i].flags & FINE_SAMPLED) + !!(p[i].flags & FINE_REST);

			if (p[i].flags & FINE_KNOWN)
				CHECK(p[i].stratum && roles == !!(p[i].flags & FINE_MAPPED));
			else
				CHECK(!p[i].stratum && !roles);
		}
	}
	fine_strata_free(&s);
	fine_pages_free(&t);
}

/* Of each of n equal parts of a stratum one page, in the order of addresses, and each page is as likely as any other. */
static void spread(void)
{
	enum { PAGES = 60, TURNS = 20000 };
	static int drawn[PAGES];
	struct fine_pages t;
	struct fine_strata s;
	uint64_t page[MANY], want = 5 + rnd(20);
	double chi = 0;

	CHECK_EQ(fine_pages_init(&t, 1 << 20), 0);
	CHECK_EQ(fine_strata_init(&s, state), 0);
	memset(drawn, 0, sizeof(drawn));
	for (int turn = 0; turn < TURNS; turn++) {
		size_t n;

		s.n_ranges = 1;
		s.range[0] = (struct fine_range){ .start = FIRST, .end = FIRST + PAGES };
		for (uint64_t p = 0; p < PAGES; p++)
			put(&t, FIRST + p, FINE_KNOWN | FINE_MAPPED, 1);
		fine_strata_begin(&s, &t, 0, MANY);
		n = fine_strata_draw(&s, &t, want, page, MANY);
		if (n != want)
			CHECK_EQ(n, want);
		for (size_t i = 0; i < n; i++) {
			const uint64_t at = page[i] - FIRST;

			drawn[at]++;
			if (at * want / PAGES != i)
				CHECK_EQ(at * want / PAGES, i);
		}
	}
	/* a part may have a page more than another: its pages are as likely as that leaves them */
	for (uint64_t p = 0; p < PAGES; p++) {
		const uint64_t part = p * want / PAGES;
		const double size = (double)(((part + 1) * PAGES + want - 1) / want - (part * PAGES + want - 1) / want), expected = TURNS / size;

		chi += (drawn[p] - expected) * (drawn[p] - expected) / (expected * (1 - 1 / size + 1e-9));
	}
	/* 60 pages: the sum is 60 +- 11; 150 in one of 10^9 runs */
	printf("spread: %llu of %d pages, chi square %.1f\n", (unsigned long long)want, PAGES, chi);
	CHECK(chi < 150);
	fine_strata_free(&s);
	fine_pages_free(&t);
}

/*
 * What the counts of a bin say of it, against the truth of a program that is made up: a part of a range in use, neighbours or any pages.
 * The interval of 95 % of docs/reference/trace-fine.md holds in 90 % of all at least, and the mean of all estimates is right.
 */
static void estimates(int clustered)
{
	enum { PAGES = 2000, TURNS = 600 };
	struct fine_pages t;
	struct fine_strata s;
	uint64_t page[MANY];
	double bias = 0, error = 0;
	int held = 0;

	CHECK_EQ(fine_pages_init(&t, 1 << 20), 0);
	CHECK_EQ(fine_strata_init(&s, state), 0);
	for (int turn = 0; turn < TURNS; turn++) {
		const uint64_t share = rnd(101), shift = rnd(PAGES);
		uint64_t truth = 0, hit = 0, n;
		double m, value, q, rest, half;

		s.n_ranges = 1;
		s.range[0] = (struct fine_range){ .start = FIRST, .end = FIRST + PAGES };
		for (uint64_t p = 0; p < PAGES; p++)
			put(&t, FIRST + p, FINE_KNOWN | FINE_MAPPED, 1);
		fine_strata_begin(&s, &t, 0, MANY);
		n = fine_strata_draw(&s, &t, 96, page, MANY);
		for (uint64_t p = 0, i = 0; p < PAGES; p++) {
			const int used = clustered ? (p + shift) % PAGES < PAGES * share / 100 : rnd(100) < share;

			truth += (uint64_t)used;
			if (i < n && page[i] == FIRST + p) {
				hit += (uint64_t)used;
				i++;
			}
		}
		m = (double)n;
		rest = PAGES - m;
		value = PAGES * (double)hit / m;
		q = ((double)hit + 2) / (m + 4);
		half = 1.96 * sqrt(rest * rest * q * (1 - q) / (m + 4) + rest * q * (1 - q));
		held += fabs(value - (double)truth) <= half;
		bias += value - (double)truth;
		error += fabs(value - (double)truth);
		fine_strata_end(&s);
	}
	printf("estimates of %s pages: mean error %.2f %% of the range, bias %.2f %%, interval held %.1f %%\n", clustered ? "neighbouring" : "scattered",
	       error / TURNS / PAGES * 100, bias / TURNS / PAGES * 100, held * 100.0 / TURNS);
	CHECK(held >= TURNS * 90 / 100);
	CHECK(fabs(bias) / TURNS / PAGES < 0.01);
	/* simple random choice of 96 has a mean error of 3.3 %; neighbours are told from one page in each part */
	if (clustered)
		CHECK(error / TURNS / PAGES < 0.012);
	fine_strata_free(&s);
	fine_pages_free(&t);
}

static int n_left;
static uint64_t sum_active;

static void left(void *arg, const struct fine_member *m)
{
	uint64_t sum = 0;

	(void)arg;
	for (unsigned int i = 0; i < m->users; i++)
		sum += m->user[i].n;
	CHECK_EQ(sum, m->active);
	CHECK(m->active <= m->looks);
	CHECK(m->written <= m->active);
	CHECK(m->bins <= FINE_PANEL_BINS);
	n_left++;
	sum_active += m->active;
}

/* Members stay for four bins, come in a part at a time, are known pages, and their looks add up. */
static void panel(void)
{
	struct fine_pages t;
	struct fine_strata s;
	struct fine_panel p;
	uint64_t page[FINE_PANEL_MAX], seen = 0;
	const size_t k = 4 + rnd(40);
	uint64_t now = 1000;

	CHECK_EQ(fine_pages_init(&t, 1 << 20), 0);
	CHECK_EQ(fine_strata_init(&s, state), 0);
	CHECK_EQ(fine_panel_init(&p), 0);
	n_left = 0;
	sum_active = 0;
	fill(&s, &t, 4);
	fine_strata_begin(&s, &t, 0, 64);
	for (int bin = 0; bin < 12; bin++) {
		fine_panel_fill(&p, &s, &t, k, now);
		CHECK(p.n <= k);
		CHECK(bin || p.n <= (k + FINE_PANEL_BINS - 1) / FINE_PANEL_BINS);
		for (size_t i = 0; i < p.n; i++)
			CHECK(fine_pages_add(&t, p.m[i].page)->flags & FINE_MAPPED);	/* one that stays armed shows nobody */
		fine_strata_begin(&s, &t, 0, 64);
		for (unsigned int look = 0; look < FINE_PANEL_LOOKS; look++, now += 100) {
			const size_t n = fine_panel_take(&p, look ? FINE_THE_HIT : FINE_EACH, now, page);

			CHECK(look || n == p.n);
			for (size_t i = 0; i < p.n; i++) {
				CHECK(!i || p.m[i - 1].page < p.m[i].page);
				CHECK(fine_panel_find(&p, p.m[i].page) == &p.m[i]);
				CHECK(fine_pages_add(&t, p.m[i].page)->flags & FINE_PANEL);
				if (rnd(2)) {
					fine_panel_seen(&p.m[i], 1 + (int)rnd(30), now + rnd(100), (int)rnd(2));
					fine_panel_seen(&p.m[i], 1 + (int)rnd(30), now + rnd(100), (int)rnd(2));
					seen++;
				}
			}
			fine_panel_looked(&p, now + 100, 1);
		}
		fine_panel_leave(&p, &t, 0, left, NULL);
	}
	fine_panel_leave(&p, &t, 1, left, NULL);
	CHECK_EQ(p.n, 0);
	CHECK_EQ(sum_active, seen);
	CHECK(n_left >= (int)k);
	for (size_t i = 0; i < t.n * FINE_CHUNK; i++)
		CHECK(!(t.page[i].flags & FINE_PANEL));
	fine_panel_free(&p);
	fine_strata_free(&s);
	fine_pages_free(&t);
}

/* Pieces are ascending and disjoint, cover all regions and nothing else, and no border of a large structure is within one. */
static void pieces(void)
{
	static struct fine_range to[FINE_RANGES];
	struct zap_regions traced = { 0 }, shared = { 0 };
	uint64_t large[64][2], covered = 0, at = 0x100000000, end = 0;
	size_t n, nlarge = 0, room = rnd(4) ? FINE_RANGES : 40;

	for (int i = 0; i < 10; i++) {
		const uint64_t start = at + (1 + rnd(50)) * MT_PAGE, bytes = (1 + rnd(3000)) * MT_PAGE;

		zap_regions_add(rnd(3) ? &traced : &shared, start, start + bytes);
		for (uint64_t b = start; nlarge < 64 && rnd(4); nlarge++) {
			const uint64_t from = b + rnd(20) * 1000, till = from + 65536 + rnd(100) * 3000;

			if (till > start + bytes)
				break;
			large[nlarge][0] = from;
			large[nlarge][1] = till;
			b = till;
		}
		at = start + bytes;
	}
	for (size_t i = nlarge; i > 1; i--)	/* in any order */
		for (int j = 0; j < 2; j++) {
			const size_t k = state % i;
			const uint64_t x = large[i - 1][j];

			large[i - 1][j] = large[k][j];
			large[k][j] = x;
		}
	n = fine_pieces(&traced, &shared, large, nlarge, to, room);
	CHECK(n && n <= room);
	for (size_t i = 0; i < n; i++) {
		const uint64_t a = to[i].start * MT_PAGE, b = to[i].end * MT_PAGE;

		CHECK(a >= end && a < b);
		CHECK(zap_regions_cover(&traced, a, b) || zap_regions_cover(&shared, a, b));
		end = b;
		covered += b - a;
		for (size_t k = 0; room == FINE_RANGES && k < nlarge; k++) {	/* but in its first and last page */
			CHECK(large[k][0] < a + MT_PAGE || large[k][0] >= b - MT_PAGE || large[k][0] % MT_PAGE == 0);
			CHECK(large[k][1] <= a + MT_PAGE || large[k][1] > b - MT_PAGE);
		}
	}
	CHECK_EQ(covered, zap_regions_bytes(&traced) + zap_regions_bytes(&shared));
	zap_regions_free(&traced);
	zap_regions_free(&shared);
}

/* A table that is full begins anew, and says how its numbers go on; without room a bin is not known. */
static void full(void)
{
	struct fine_pages t;
	struct fine_strata s;
	uint64_t end = 0, start = 0;

	CHECK_EQ(fine_pages_init(&t, FINE_CHUNK * 2), 0);
	CHECK(fine_pages_add(&t, FIRST) != NULL);
	CHECK(fine_pages_add(&t, FIRST + FINE_CHUNK) != NULL);
	CHECK(fine_pages_add(&t, FIRST - FINE_CHUNK) == NULL);
	CHECK_EQ(fine_strata_init(&s, 1), 0);
	put(&t, FIRST, FINE_KNOWN, 1);
	for (uint64_t i = 0; i < FINE_STRATA; i++) {
		s.range[0] = (struct fine_range){ .start = FIRST - i - 1, .end = FIRST + FINE_CHUNK };
		s.n_ranges = 1;
		fine_strata_begin(&s, &t, 0, 64);
		CHECK(!s.full && s.n_in_bin == 1);
	}
	CHECK(s.first_id > 0 && s.n + s.first_id == FINE_STRATA);
	CHECK_EQ(fine_strata_of(&s, FIRST + FINE_CHUNK), 0);
	end = FIRST + 2 * FINE_CHUNK;
	fine_strata_gap(&s, FIRST + FINE_CHUNK, &start, &end);
	CHECK_EQ(start, FIRST + FINE_CHUNK);
	CHECK_EQ(fine_strata_add_range(&s, start, end), 0);
	CHECK(fine_strata_of(&s, FIRST + FINE_CHUNK) > 0);
	for (uint64_t i = 0; s.n_ranges < FINE_RANGES; i++)
		CHECK_EQ(fine_strata_add_range(&s, end + i, end + i + 1), 0);
	CHECK(!s.full);
	CHECK(fine_strata_add_range(&s, end + FINE_RANGES, end + FINE_RANGES + 1) < 0);
	CHECK(s.full);
	fine_strata_free(&s);
	fine_pages_free(&t);
}

int main(void)
{
	const char *seed = getenv("SEED");

	state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2654435761u + 1;
	printf("SEED=%llu\n", (unsigned long long)state);
	for (int i = 0; i < 50; i++) {
		counts();
		panel();
		pieces();
	}
	spread();
	estimates(0);
	estimates(1);
	full();
	return mt_test_done();
}
