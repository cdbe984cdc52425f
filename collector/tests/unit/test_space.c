// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/late.c preload/memory/adopt.c preload/memory/contents.c preload/memory/kept.c preload/memory/ranges.c common/maps.c common/rawmem.c common/faultprobe.c common/out.c preload/memory/rwp.c common/rwprotect.c preload/memory/gone.c preload/memory/objects.c
// includes: preload/memory/space.c preload/memory/gone.c
/* What the traced memory is made of, and what was unmapped lately: the parts that need no mapping. */
#include "harness.h"

#include <stdlib.h>

#include "common/rawsys.h"

/* The clock of the test. */
static uint64_t clock_ns;
#define mt_now_ns() (clock_ns)

#include "preload/memory/space.c"
#include "preload/memory/gone.c"
#include "preload/memory/rwp.h"

int mt_fd_keep(int fd)
{
	return fd;
}

void mt_fd_close(int fd)
{
	(void)fd;
}

/* ---- ranges that were unmapped */

#define PAGES 64

struct model {
	uint64_t time[PAGES];	/* 0: not unmapped */
	int shared[PAGES];
};

static void add(struct zap_gone *g, struct model *m, unsigned int from, unsigned int to, uint64_t time, int shared)
{
	zap_gone_add(g, from * MT_PAGE, to * MT_PAGE, time, shared);
	for (unsigned int i = from; i < to; i++) {
		m->time[i] = time;
		m->shared[i] = shared;
	}
}

/* Sorted, disjoint, none of them empty; each page has the time of the last range that covered it. */
static int same(const struct zap_gone *g, const struct model *m)
{
	uint64_t end = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (g->r[i].start < end || g->r[i].end <= g->r[i].start)
			return 0;
		end = g->r[i].end;
	}
	for (unsigned int p = 0; p < PAGES; p++) {
		size_t i = gone_find(g, p * MT_PAGE);
		const int in = i < g->n && g->r[i].start <= p * MT_PAGE;

		if (in != (m->time[p] != 0))
			return 0;
		if (in && (g->r[i].time != m->time[p] || g->r[i].shared != m->shared[p]))
			return 0;
	}
	return 1;
}

static void the_last_time_counts(void)
{
	const unsigned int seed = 20261123;
	struct zap_gone g = { 0 };
	struct model m;
	int right = 0, all = 0;

	memset(&m, 0, sizeof(m));
	add(&g, &m, 10, 20, 1, 0);
	CHECK(same(&g, &m));
	CHECK_EQ(g.n, 1);
	add(&g, &m, 13, 15, 2, 1);	/* inside: three ranges */
	CHECK(same(&g, &m));
	CHECK_EQ(g.n, 3);
	add(&g, &m, 13, 15, 3, 0);	/* the same again */
	CHECK(same(&g, &m));
	CHECK_EQ(g.n, 3);
	add(&g, &m, 8, 12, 4, 0);	/* over a beginning */
	CHECK(same(&g, &m));
	add(&g, &m, 18, 25, 5, 0);	/* over an end */
	CHECK(same(&g, &m));
	add(&g, &m, 0, PAGES, 6, 0);	/* over all */
	CHECK(same(&g, &m));
	CHECK_EQ(g.n, 1);
	g.n = 0;
	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 200; round++) {
		memset(&m, 0, sizeof(m));
		g.n = 0;
		for (uint64_t t = 1; t < 60; t++) {
			const unsigned int from = (unsigned int)rand() % PAGES;

			add(&g, &m, from, from + 1 + (unsigned int)rand() % (PAGES - from), t, rand() & 1);
			right += same(&g, &m);
			all++;
		}
	}
	CHECK_EQ(right, all);
	mt_rawunmap(g.r, g.cap * sizeof(*g.r));
}

/* Many small ranges: neighbours of a kind become one, so that memory and time stay bounded. */
static void very_many_are_merged(void)
{
	struct zap_gone g = { 0 };

	for (uint64_t i = 0; i <= GONE_EXACT; i++)
		zap_gone_add(&g, 3 * i * MT_PAGE, (3 * i + 1) * MT_PAGE, 7, 0);
	CHECK_EQ(g.n, GONE_EXACT + 1);
	zap_gone_add(&g, 4 * MT_PAGE, 5 * MT_PAGE, 9, 0);	/* behind the second one */
	CHECK_EQ(g.n, GONE_EXACT + 1);
	CHECK_EQ(g.r[1].start, 3 * MT_PAGE);
	CHECK_EQ(g.r[1].end, 5 * MT_PAGE);
	CHECK_EQ(g.r[1].time, 9);			/* a fault of the earlier one still counts */
	zap_gone_add(&g, 5 * MT_PAGE, 6 * MT_PAGE, 10, 1);	/* of another kind: not */
	CHECK_EQ(g.n, GONE_EXACT + 2);
	zap_gone_add(&g, 100 * MT_PAGE, 101 * MT_PAGE, 11, 0);	/* 99 is one: merged */
	CHECK_EQ(g.n, GONE_EXACT + 2);
	CHECK_EQ(g.r[gone_find(&g, 99 * MT_PAGE)].end, 101 * MT_PAGE);
	mt_rawunmap(g.r, g.cap * sizeof(*g.r));
}

/* A fault that came before the unmapping belongs to the memory, for two boundaries. */
static void faults_of_what_is_gone(void)
{
	zap_regions_add(&zap_space.regions, 0x100000, 0x110000);
	zap_regions_add(&zap_space.shared, 0x200000, 0x210000);
	CHECK_EQ(zap_was_traced(0x100000, 5), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x10ffff, 5), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x110000, 5), ZAP_NOT_TRACED);
	CHECK_EQ(zap_was_traced(0x20ffff, 5), ZAP_TRACED_SHARED);

	clock_ns = 1000;
	remember_gone(&zap_space.regions, 0x0f0000, 0x104000);	/* only its traced part */
	zap_regions_remove(&zap_space.regions, 0x0f0000, 0x104000);
	CHECK_EQ(zap_space.gone[0].n, 1);
	CHECK_EQ(zap_space.gone[0].r[0].start, 0x100000);
	CHECK_EQ(zap_space.gone[0].r[0].end, 0x104000);
	clock_ns = 1100;
	remember_gone(&zap_space.shared, 0x20c000, 0x300000);
	zap_regions_remove(&zap_space.shared, 0x20c000, 0x300000);
	CHECK_EQ(zap_was_traced(0x100008, 1000), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x100008, 1001), ZAP_NOT_TRACED);	/* of whoever is there now */
	CHECK_EQ(zap_was_traced(0x0ffff8, 900), ZAP_NOT_TRACED);
	CHECK_EQ(zap_was_traced(0x104000, 900), ZAP_TRACED);		/* still there */
	CHECK_EQ(zap_was_traced(0x20c000, 1100), ZAP_TRACED_SHARED);
	CHECK_EQ(zap_was_traced(0x210000, 1100), ZAP_NOT_TRACED);
	zap_turn_gone();
	CHECK_EQ(zap_was_traced(0x100008, 1000), ZAP_TRACED);
	clock_ns = 2000;
	zap_regions_add(&zap_space.regions, 0x100000, 0x101000);
	remember_gone(&zap_space.regions, 0x100000, 0x101000);	/* again: both times */
	zap_regions_remove(&zap_space.regions, 0x100000, 0x101000);
	CHECK_EQ(zap_was_traced(0x100008, 1500), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x103000, 1500), ZAP_NOT_TRACED);
	zap_turn_gone();
	CHECK_EQ(zap_was_traced(0x103000, 1000), ZAP_NOT_TRACED);	/* forgotten */
	CHECK_EQ(zap_was_traced(0x100008, 2000), ZAP_TRACED);
	zap_turn_gone();
	CHECK_EQ(zap_was_traced(0x100008, 2000), ZAP_NOT_TRACED);
	zap_regions_clear(&zap_space.regions);
	zap_regions_clear(&zap_space.shared);
}

/* Tracing stops: all that was traced is gone at once, but known until then. */
static void all_is_let_go(void)
{
	zap_regions_add(&zap_space.regions, 0x100000, 0x110000);
	zap_regions_add(&zap_space.regions, 0x7ffff7ff0000, 0x7ffffffff000);
	zap_regions_add(&zap_space.shared, 0x200000, 0x210000);
	zap_space.active = 1;
	clock_ns = 3000;
	zap_let_go();
	CHECK_EQ(zap_space.active, 0);
	CHECK_EQ(zap_space.regions.n + zap_space.shared.n, 0);
	CHECK_EQ(zap_was_traced(0x100000, 3000), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x7fffffffeff8, 3000), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(0x20ffff, 3000), ZAP_TRACED_SHARED);
	CHECK_EQ(zap_was_traced(0x100000, 3001), ZAP_NOT_TRACED);
	zap_turn_gone();
	zap_turn_gone();
}

static void sizes(void)
{
	CHECK_EQ(page_up(0), 0);
	CHECK_EQ(page_up(1), 4096);
	CHECK_EQ(page_up(4096), 4096);
	CHECK_EQ(page_up(4097), 8192);
}

/* ---- the backend rwp: which ranges are traced. Without a userfaultfd, as in a program that has closed it: registering is put off. */

static const char *ranges(const struct zap_regions *s)
{
	static char text[2][256];
	static int turn;
	char *t = text[turn ^= 1];
	size_t n = 0;

	t[0] = 0;
	for (size_t i = 0; i < s->n; i++)
		n += (size_t)snprintf(t + n, sizeof(text[0]) - n, "%s%lu-%lu", i ? " " : "", (unsigned long)(s->r[i].start / MT_PAGE),
				      (unsigned long)(s->r[i].end / MT_PAGE));
	return t;
}

static void begin_rwp(void)
{
	memset(&zap_space, 0, sizeof(zap_space));
	zap_space.rwp = 1;
	zap_space.private_memory = &zap_rwp;
	zap_space.memfd = zap_space.uffd = -1;
	zap_space.active = 1;
}

static void reserved_until_it_is_accessible(void)
{
	begin_rwp();
	CHECK_EQ(zap_share(100 * MT_PAGE, 50 * MT_PAGE, PROT_NONE, 0), 0);
	CHECK_EQ(zap_share(200 * MT_PAGE, 9 * MT_PAGE + 1, PROT_READ, 0), 0);
	CHECK_STR(ranges(&zap_space.regions), "200-210");
	CHECK_STR(ranges(&zap_space.reserved), "100-150");
	CHECK_EQ(zap_space.rescue_uffd, 1);
	zap_rwp_protected(110 * MT_PAGE, 10 * MT_PAGE, PROT_NONE);
	CHECK_STR(ranges(&zap_space.reserved), "100-150");
	zap_rwp_protected(110 * MT_PAGE, 9 * MT_PAGE + 1, PROT_READ | PROT_WRITE);
	zap_rwp_protected(145 * MT_PAGE, 60 * MT_PAGE, PROT_READ);
	CHECK_STR(ranges(&zap_space.regions), "110-120 145-150 200-210");
	CHECK_STR(ranges(&zap_space.reserved), "100-110 120-145");
	zap_rwp_protected(0, 1000 * MT_PAGE, PROT_EXEC);
	CHECK_STR(ranges(&zap_space.regions), "100-150 200-210");
	CHECK_STR(ranges(&zap_space.reserved), "");
}

static void moved_and_given_up(void)
{
	begin_rwp();
	clock_ns = 1000;
	zap_share(100 * MT_PAGE, 10 * MT_PAGE, PROT_READ, 0);
	zap_rwp_moved(100 * MT_PAGE, 10 * MT_PAGE, 100 * MT_PAGE, 14 * MT_PAGE, 0);
	CHECK_STR(ranges(&zap_space.regions), "100-114");
	zap_rwp_moved(100 * MT_PAGE, 14 * MT_PAGE, 100 * MT_PAGE, 8 * MT_PAGE, 0);
	CHECK_STR(ranges(&zap_space.regions), "100-108");
	zap_share(300 * MT_PAGE, 4 * MT_PAGE, PROT_NONE, 0);
	zap_rwp_moved(100 * MT_PAGE, 8 * MT_PAGE, 302 * MT_PAGE, 8 * MT_PAGE, 0);
	CHECK_STR(ranges(&zap_space.regions), "302-310");
	CHECK_STR(ranges(&zap_space.reserved), "300-302");
	/* faults before it moved are still told */
	CHECK_EQ(zap_was_traced(105 * MT_PAGE, 999), ZAP_TRACED);
	CHECK_EQ(zap_was_traced(105 * MT_PAGE, 1001), ZAP_NOT_TRACED);
	zap_rwp_moved(302 * MT_PAGE, 8 * MT_PAGE, 400 * MT_PAGE, 8 * MT_PAGE, 1);
	CHECK_STR(ranges(&zap_space.regions), "302-310 400-408");
	zap_rwp_give_up(404 * MT_PAGE, 2 * MT_PAGE);
	zap_rwp_give_up(300 * MT_PAGE, 3 * MT_PAGE);
	CHECK_STR(ranges(&zap_space.regions), "303-310 400-404 406-408");
	CHECK_STR(ranges(&zap_space.reserved), "");
}

/* What the kernel's list says: ordinary memory is ours, but not that of the library, of the recorder or of files. */
static void mappings_of_the_kernel(void)
{
	char *raw = mt_rawmap(2 * MT_PAGE);
	const uint64_t r = (uint64_t)raw / MT_PAGE;
	struct zap_regions old = { 0 };
	uint64_t own_end = 0;
	struct mt_map m = { .start = 10 * MT_PAGE, .end = 12 * MT_PAGE, .prot = PROT_READ, .ino = 7, .path = "/lib/own.so", .path_len = 11 };
	char want[64];

	begin_rwp();
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	m = (struct mt_map){ .start = 12 * MT_PAGE, .end = 13 * MT_PAGE, .prot = PROT_READ };	/* its .bss */
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	CHECK_STR(ranges(&zap_space.regions), "");
	m.start = 20 * MT_PAGE;
	m.end = 22 * MT_PAGE;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	m.start = 30 * MT_PAGE;
	m.end = 32 * MT_PAGE;
	m.prot = PROT_NONE;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	zap_regions_add(&old, 40 * MT_PAGE, 42 * MT_PAGE);	/* was accessible, and is registered */
	m.start = 40 * MT_PAGE;
	m.end = 42 * MT_PAGE;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	CHECK_STR(ranges(&zap_space.regions), "20-22 40-42");
	CHECK_STR(ranges(&zap_space.reserved), "30-32");
	m.prot = PROT_READ;
	strcpy(m.path, "[vdso]");
	m.path_len = 6;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 0);
	m.shared = 1;
	m.path_len = 0;
	m.path[0] = 0;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 0);
	m.shared = 0;
	m.ino = 9;
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 0);
	/* the stack, down to where it may grow */
	zap_space.stack_start = 50 * MT_PAGE;
	m = (struct mt_map){ .start = 58 * MT_PAGE, .end = 60 * MT_PAGE, .prot = PROT_READ, .path = "[stack]", .path_len = 7 };
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	CHECK_STR(ranges(&zap_space.regions), "20-22 40-42 50-60");
	/* around the recorder's own */
	zap_regions_clear(&zap_space.regions);
	m = (struct mt_map){ .start = (r - 1) * MT_PAGE, .end = (r + 3) * MT_PAGE, .prot = PROT_READ };
	CHECK_EQ(zap_rwp_refresh(&old, &m, &own_end, 7), 1);
	snprintf(want, sizeof(want), "%lu-%lu %lu-%lu", r - 1, r, r + 2, r + 3);
	CHECK_STR(ranges(&zap_space.regions), want);
	mt_rawunmap(raw, 2 * MT_PAGE);
	zap_regions_free(&old);
}

int main(void)
{
	the_last_time_counts();
	very_many_are_merged();
	faults_of_what_is_gone();
	all_is_let_go();
	sizes();
	reserved_until_it_is_accessible();
	moved_and_given_up();
	mappings_of_the_kernel();
	return mt_test_done();
}
