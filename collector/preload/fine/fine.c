// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A bin ends at a tick of the fine clock, or where a complete look is due anyway and half of it is over:
 *
 *	read the faults up to the border: they are of the bin
 *	write its counts, or none of them if events were lost
 *	each known page comes to its stratum; mapped ones are the population
 *	a sample of them and the panel are taken away: what is touched from now on is seen
 *
 * State comes from the events alone, so what a bin costs does not depend on the memory of the program but for one pass over a table. Where
 * an event was lost, a page may be mapped and be taken for armed: then the page table says it (the scan), once.
 *
 * A page may be taken for mapped that is not: one that was used while a look went on and was then taken away, memory that was unmapped and
 * mapped again. That makes no error: as one of those that are not looked at it is estimated like them, whatever its state; if it is drawn,
 * it is found not to be mapped, and its next use is seen.
 */
#include "preload/fine/fine.h"

#include <string.h>

#include "preload/ground/context.h"
#include "common/rawsys.h"
#include "preload/faults/rw.h"
#include "preload/fine/pieces.h"
#include "preload/memory/space.h"

#define MAX_PAGES (1ul << 24)
#define LARGE 4096u
#define SHARES 8192u		/* a power of two */
#define SHARE_SLOTS (SHARES * 2)
#define K_MAX 4096u
#define K_LEAST 8u
#define LIST (K_MAX + FINE_PANEL_MAX)	/* pages that are taken away at a time */
#define PANEL_PART 4		/* of the sample */
#define CHECKS 16		/* the clock is looked at so often in a bin, at most */
#define IDLE_BINS 4		/* a look ends a bin that took so many times its length in time */

static const uint64_t never = ~0ull;

void fine_free(struct fine *f)
{
	mt_rawunmap(f->shares.share, SHARES * sizeof(*f->shares.share));
	mt_rawunmap(f->shares.slot, SHARE_SLOTS * sizeof(*f->shares.slot));
	mt_rawunmap(f->large, LARGE * sizeof(*f->large));
	mt_rawunmap(f->list, LIST * 2 * sizeof(*f->list));
	fine_pages_free(&f->pages);
	fine_strata_free(&f->strata);
	fine_panel_free(&f->panel);
	fine_threads_free(&f->threads);
	fine_files_free(&f->files);
	zap_regions_free(&f->ours);
	zap_regions_free(&f->shared);
	memset(f, 0, sizeof(*f));
}

/* ---- faults */

static struct fine_share *share_of(struct fine_shares *s, uint16_t stratum, uint16_t user)
{
	size_t i = ((uint32_t)stratum * 0x9e3779b1u ^ (uint32_t)user * 0x85ebca6bu) % SHARE_SLOTS;

	for (; s->slot[i]; i = (i + 1) % SHARE_SLOTS) {
		struct fine_share *h = &s->share[s->slot[i] - 1];

		if (h->stratum == stratum && h->user == user)
			return h;
	}
	if (s->n == SHARES) {
		s->full = 1;
		return NULL;
	}
	s->share[s->n] = (struct fine_share){ .stratum = stratum, .user = user };
	s->slot[i] = (uint16_t)++s->n;
	return &s->share[s->n - 1];
}

static void clear_shares(struct fine_shares *s)
{
	memset(s->slot, 0, SHARE_SLOTS * sizeof(*s->slot));
	s->n = 0;
	s->full = 0;
}

/* Memory that came in the running bin, or went in it: what of its region has no stratum yet. */
static uint16_t new_stratum(struct fine *f, uint64_t page, uint64_t addr)
{
	const struct zap_regions *const set[] = { &zap_space.regions, &zap_space.shared };
	uint64_t start = page & ~(uint64_t)(FINE_PIECE_PAGES - 1), end = start + FINE_PIECE_PAGES;

	for (int k = 0; k < 2; k++) {
		const size_t i = zap_regions_find(set[k], addr);

		if (i < set[k]->n && set[k]->r[i].start <= addr) {
			start = set[k]->r[i].start >> MT_PAGE_SHIFT;
			end = set[k]->r[i].end >> MT_PAGE_SHIFT;
		}
	}
	fine_strata_gap(&f->strata, page, &start, &end);
	return fine_strata_add_range(&f->strata, start, end) ? 0 : fine_strata_of(&f->strata, page);
}

static void count_hit(struct fine *f, struct fine_page *p, uint16_t user, uint64_t time)
{
	struct fine_stratum *s = &f->strata.s[p->stratum - 1];
	struct fine_share *h = share_of(&f->shares, p->stratum, user);

	if (p->flags & FINE_SAMPLED) {
		s->now.hit++;
		if (h) {
			h->hit++;
			h->wait_ns += time > f->bin.away_ns ? time - f->bin.away_ns : 0;
		}
	} else {
		s->now.armed_hit++;
		if (h)
			h->armed_hit++;
	}
	p->first = user;
}

static void count_write(struct fine *f, const struct fine_page *p)
{
	struct fine_stratum *s = &f->strata.s[p->stratum - 1];
	struct fine_share *h = share_of(&f->shares, p->stratum, p->first);

	if (p->flags & FINE_SAMPLED)
		s->now.hit_written++;
	else
		s->now.armed_written++;
	if (!h)
		return;
	if (p->flags & FINE_SAMPLED)
		h->written++;
	else
		h->armed_written++;
}

/* One that came of a complete look. */
static void count_fault(struct fine *f, uint16_t user)
{
	if (user)
		f->threads.t[user - 1].faults++;
}

/* Under the lock: a fault on traced memory. 1: it came of the fine clock. */
static int fault(void *arg, const struct zap_fault *e, int rw)
{
	struct fine *f = arg;
	const uint64_t page = e->addr >> MT_PAGE_SHIFT;
	const uint16_t user = fine_threads_index(&f->threads, e->tid);
	struct fine_page *p;
	int ours;

	if (!f->on || f->stopped) {
		count_fault(f, user);
		return 0;
	}
	p = fine_pages_add(&f->pages, page);
	if (!p || !user) {
		f->bin.lost++;
		return 0;
	}
	ours = p->flags & FINE_TAKEN;
	if (ours) {
		f->bin.faults++;
		f->faults++;
	} else {
		count_fault(f, user);
	}
	if (f->in_bin && !p->stratum) {
		p->stratum = fine_strata_of(&f->strata, page);
		if (!p->stratum)
			p->stratum = new_stratum(f, page, e->addr);
		if (p->stratum)
			f->strata.s[p->stratum - 1].now.armed++;
	}
	if (p->flags & FINE_PANEL && f->in_bin) {
		struct fine_member *m = fine_panel_find(&f->panel, page);

		if (m)
			fine_panel_seen(m, e->tid, e->time, rw & ZAP_WRITE);
	}
	if (p->stratum && !(p->flags & FINE_REST)) {
		if (!(p->flags & FINE_HIT))
			count_hit(f, p, user, e->time);
		if (rw & ZAP_WRITE && !(p->flags & FINE_WRITTEN))
			count_write(f, p);
	}
	p->flags |= FINE_KNOWN | FINE_MAPPED | FINE_HIT | FINE_AFTER;
	if (rw & ZAP_WRITE)	/* it faults no more */
		p->flags = (uint16_t)((p->flags & ~FINE_TAKEN) | FINE_WRITTEN);
	if (p->user && p->user != user)
		p->flags |= FINE_SHARED;
	p->user = user;
	return !!ours;
}

int fine_watch(struct fine *f)
{
	const int err = fine_threads_init(&f->threads, ctx_thread_cpu);

	if (!err) {
		f->events->fine = fault;
		f->events->fine_arg = f;
	}
	return err;
}

int fine_open(struct fine *f, int dirfd, uint64_t length_ns, size_t pages, uint64_t seed)
{
	int err;

	f->length_ns = length_ns;
	f->most = f->k = pages < K_LEAST ? K_LEAST : pages > K_MAX ? K_MAX : pages;
	f->shares.share = mt_rawmap(SHARES * sizeof(*f->shares.share));
	f->shares.slot = mt_rawmap(SHARE_SLOTS * sizeof(*f->shares.slot));
	f->large = mt_rawmap(LARGE * sizeof(*f->large));
	f->list = mt_rawmap(LIST * 2 * sizeof(*f->list));
	err = fine_pages_init(&f->pages, MAX_PAGES);
	if (!err)
		err = fine_strata_init(&f->strata, seed);
	if (!err)
		err = fine_panel_init(&f->panel);
	if (!err && !(f->shares.share && f->shares.slot && f->large && f->list))
		err = -ENOMEM;
	if (!err)
		err = fine_files_open(&f->files, dirfd);
	f->on = f->events->sampled = !err;
	return err;
}

/* ---- the end of a bin */

/* Events may be missing: of the running bin. */
static void note_lost(struct fine *f)
{
	struct zap_perf *perf = &f->events->perf;

	if (!f->looking)	/* else the look asks */
		zap_perf_count_lost(perf, 0);
	if (perf->lost < f->lost_seen)
		f->lost_seen = 0;	/* they were told with an interval */
	f->bin.lost += perf->lost - f->lost_seen;
	f->lost_seen = perf->lost;
	if (!perf->read_lost && perf->full)
		f->bin.lost++;
}

static int tid_of(const struct fine *f, uint16_t user)
{
	return user ? f->threads.t[user - 1].tid : -1;
}

static void write_counts(struct fine *f)
{
	for (size_t i = 0; i < f->strata.n_in_bin; i++) {
		struct fine_stratum *s = &f->strata.s[f->strata.in_bin[i]];
		const uint32_t id = f->strata.first_id + f->strata.in_bin[i];

		if (!s->now.mapped && !s->now.armed_hit)
			continue;
		if (!s->told)
			fine_files_stratum(&f->files, id, s, tid_of(f, s->user));
		s->told = 1;
		fine_files_counts(&f->files, f->bin.number, id, &s->now);
	}
	for (size_t i = 0; i < f->shares.n; i++) {
		const struct fine_share *h = &f->shares.share[i];

		fine_files_share(&f->files, f->bin.number, f->strata.first_id + h->stratum - 1, tid_of(f, h->user), h);
	}
}

static void member_left(void *arg, const struct fine_member *m)
{
	struct fine *f = arg;

	if (!f->bin.lost)
		fine_files_member(&f->files, m, f->bin.end_ns);
}

/* So many pages that a bin costs what it may. */
static void adapt(struct fine *f)
{
	const double cost = (double)f->bin.faults * (double)f->fault_ns + (double)f->bin.monitor_ns;
	const double may = f->budget * (double)(f->bin.cpu_ns > f->length_ns ? f->bin.cpu_ns : f->length_ns);
	double k = (double)f->k;

	if (f->budget <= 0)
		return;
	if (cost > may)
		k *= cost > 2 * may ? 0.5 : may / cost;
	else if (cost < may / 2)
		k *= 1.25;
	f->k = k < K_LEAST ? K_LEAST : k > (double)f->most ? f->most : (size_t)k;
}

/* The faults up to @end are read. */
static void end_bin(struct fine *f, uint64_t end)
{
	int known;

	note_lost(f);
	f->bin.lost += (uint64_t)(f->strata.full || f->shares.full);
	known = !f->bin.lost;
	f->bin.end_ns = end;
	if (end <= f->bin.away_ns)	/* it ends while pages are taken away */
		f->bin.end_ns = f->bin.away_ns + 1;
	fine_threads_ask(&f->threads);
	f->bin.cpu_ns = fine_threads_since_tick(&f->threads);
	if (known) {
		write_counts(f);
		fine_strata_end(&f->strata);
	}
	fine_panel_looked(&f->panel, end, known);
	fine_panel_leave(&f->panel, &f->pages, !known, member_left, f);
	adapt(f);
	fine_files_bin(&f->files, &f->bin);
	f->in_bin = 0;
	f->next_bin = f->bin.number + 1;
}

/* ---- the begin of a bin */

/* Under the lock: takes away what of the pages is mapped. @n of f->list, ascending, some may stand there twice. */
static void take(struct fine *f, size_t n)
{
	zap_regions_clear(&f->ours);
	zap_regions_clear(&f->shared);
	for (size_t i = 0; i < n; i++) {
		const uint64_t addr = f->list[i] << MT_PAGE_SHIFT;
		struct fine_page *p = fine_pages_add(&f->pages, f->list[i]);

		if (zap_regions_contain(&zap_space.regions, addr))
			zap_regions_add(&f->ours, addr, addr + MT_PAGE);
		else if (zap_regions_contain(&zap_space.shared, addr))
			zap_regions_add(&f->shared, addr, addr + MT_PAGE);
		else
			continue;
		if (p)
			p->flags = (uint16_t)((p->flags & ~FINE_MAPPED) | FINE_TAKEN);
	}
	/* where events may be missing: the next boundary must know that they were mapped */
	for (size_t i = 0; i < f->ours.n; i++)
		zap_note_present(f->ours.r[i].start, f->ours.r[i].end - f->ours.r[i].start);
	for (size_t i = 0; i < f->shared.n; i++)
		zap_note_present(f->shared.r[i].start, f->shared.r[i].end - f->shared.r[i].start);
	zap_scan(f->scan, &f->ours, &f->shared);
	zap_scan_take(f->scan, &f->ours, &f->shared);
	f->scan->nruns = 0;
}

/*
 * Under the lock: the page table says what is mapped, where events cannot. A page may have been used without an event in this interval:
 * those that our start has mapped, and where events were lost. The next boundary would find it; so it is told of it, whatever is taken away
 * until then.
 */
static void anew(struct fine *f)
{
	zap_scan(f->scan, &zap_space.regions, &zap_space.shared);
	for (size_t i = 0; i < f->scan->nruns; i++) {
		zap_regions_add(&zap_space.dropped, f->scan->run[i].start, f->scan->run[i].end);
		f->scan->run[i].start >>= MT_PAGE_SHIFT;
		f->scan->run[i].end >>= MT_PAGE_SHIFT;
	}
	fine_pages_anew(&f->pages, f->scan->run, f->scan->nruns);
	f->scan->nruns = 0;
}

/* Two lists in one order. */
static size_t merge(uint64_t *to, const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	size_t i = 0, j = 0, k = 0;

	while (i < n || j < m)
		to[k++] = j == m || (i < n && a[i] < b[j]) ? a[i++] : b[j++];
	return k;
}

/* Under the lock. */
static void begin_bin(struct fine *f, uint64_t now, uint64_t cpu_ns, int look)
{
	const size_t panel = f->k / PANEL_PART, most = panel > FINE_PANEL_MAX ? FINE_PANEL_MAX : panel;
	const int first = !f->next_bin, lost = f->bin.lost || first;

	f->bin = (struct fine_bin){ .number = f->next_bin, .start_ns = now, .away_ns = now, .look = look };
	f->bin_cpu_ns = cpu_ns;
	f->look = 0;
	f->in_bin = 1;
	clear_shares(&f->shares);
	if (f->threads.n == FINE_THREADS) {
		fine_threads_forget(&f->threads);
		fine_strata_forget(&f->strata);
		for (size_t i = 0; i < f->pages.n * FINE_CHUNK; i++)
			f->pages.page[i].user = 0;
	}
	if (lost && !look)
		anew(f);
	fine_panel_fill(&f->panel, &f->strata, &f->pages, most, now);
	f->strata.n_ranges = fine_pieces(&zap_space.regions, &zap_space.shared, f->large, ctx_large(f->large, LARGE), f->strata.range,
					 FINE_RANGES);
	fine_strata_begin(&f->strata, &f->pages, look, f->k / 2);
	if (!look) {
		uint64_t *const sample = f->list + LIST, *const members = sample + K_MAX;
		const size_t m = fine_strata_draw(&f->strata, &f->pages, f->k - most, sample, K_MAX);

		take(f, merge(f->list, members, fine_panel_take(&f->panel, FINE_EACH, now, members), sample, m));
		f->bin.away_ns = mt_now_ns();
	}
	fine_threads_tick(&f->threads);
}

/* ---- when */

/* A tick. */
static void tick(struct fine *f, uint64_t now, uint64_t cpu_ns)
{
	f->read(now);
	if (f->in_bin)
		end_bin(f, now);
	f->check_ns = now + f->length_ns / CHECKS;
	if (!f->lock())
		return;
	begin_bin(f, now, cpu_ns, 0);
	f->unlock();
	f->check_ns = f->bin.away_ns + f->length_ns / FINE_PANEL_LOOKS;
}

/* The panel is looked at, in the middle of a bin. */
static void look_at_panel(struct fine *f, uint64_t now)
{
	f->read(now);
	fine_panel_looked(&f->panel, now, 1);
	f->look++;
	f->check_ns = now + f->length_ns / CHECKS;
	if (!f->lock())
		return;
	take(f, fine_panel_take(&f->panel, FINE_THE_HIT, now, f->list));
	f->unlock();
}

/* CPU time of the busiest thread in the bin; less is enough to know if it cannot be @goal. */
static uint64_t used(struct fine *f, uint64_t now, uint64_t cpu_ns, uint64_t goal)
{
	const uint64_t wall = now - f->bin.start_ns, all = cpu_ns > f->bin_cpu_ns ? cpu_ns - f->bin_cpu_ns : 0;
	uint64_t most;

	if (wall < goal || all < goal)	/* no thread has used more than that */
		return wall < all ? wall : all;
	fine_threads_ask(&f->threads);
	most = fine_threads_since_tick(&f->threads);
	/* threads that are not known */
	return most > all / FINE_ASKED ? most : all / FINE_ASKED;
}

/* Until a thread that used @most in @wall has used @rest more, as it went until now; not too late if it goes faster. */
static uint64_t wait_ns(uint64_t wall, uint64_t most, uint64_t rest, uint64_t least)
{
	const uint64_t slowest = 8 * rest;
	uint64_t ns = most ? (uint64_t)((double)rest * (double)wall / (double)most * 0.7) : slowest;

	if (ns > slowest)
		ns = slowest;
	if (ns < rest)
		ns = rest;
	return ns > least ? ns : least;
}

static void step(struct fine *f, uint64_t now, uint64_t cpu_ns)
{
	const uint64_t goal = f->length_ns * (f->look + 1) / FINE_PANEL_LOOKS, least = f->length_ns / CHECKS;
	uint64_t most;

	if (!f->in_bin) {
		tick(f, now, cpu_ns);
		return;
	}
	most = used(f, now, cpu_ns, goal);
	if (most < goal)
		f->check_ns = now + wait_ns(now - f->bin.start_ns, most, goal - most, least);
	else if (most < f->length_ns)
		look_at_panel(f, now);
	else
		tick(f, now, cpu_ns);
}

uint64_t fine_turn(struct fine *f, uint64_t now_ns)
{
	uint64_t begin;

	if (!f->on || f->stopped)
		return never;
	if (now_ns < f->check_ns)
		return f->check_ns;
	begin = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	step(f, now_ns, f->process_cpu());
	begin = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	f->bin.monitor_ns += begin;
	f->cpu_ns += begin;
	return f->check_ns;
}

void fine_look_begin(struct fine *f, uint64_t now_ns, int last)
{
	uint64_t cpu_ns;
	int ends;

	if (!f->on || f->stopped)
		return;
	f->read(now_ns);
	cpu_ns = f->process_cpu();
	ends = !f->in_bin || last || used(f, now_ns, cpu_ns, f->length_ns / 2) * 2 >= f->length_ns ||
	       now_ns - f->bin.start_ns >= IDLE_BINS * f->length_ns;
	if (!ends) {
		note_lost(f);
	} else if (f->in_bin) {
		end_bin(f, now_ns);
	}
	f->stopped = last;
	if (last || !f->lock())
		return;
	if (ends)
		begin_bin(f, now_ns, cpu_ns, 1);
	fine_pages_look(&f->pages);
	f->unlock();
	f->looking = 1;
}

void fine_look_end(struct fine *f, uint64_t away_ns, int all)
{
	if (!f->looking)
		return;
	note_lost(f);
	f->looking = 0;
	if (!all) {
		f->stopped = 1;
		f->in_bin = 0;
		return;
	}
	fine_pages_armed(&f->pages);
	if (f->in_bin && f->bin.look && f->bin.away_ns == f->bin.start_ns) {
		f->bin.away_ns = away_ns;
		fine_panel_take(&f->panel, FINE_EACH, away_ns, f->list);
		f->check_ns = away_ns + f->length_ns / FINE_PANEL_LOOKS;
	}
}

void fine_interval(struct fine *f, struct fine_cost *cost)
{
	*cost = (struct fine_cost){ .faults = f->faults, .cpu_ns = f->cpu_ns };
	f->faults = f->cpu_ns = 0;
	if (f->on)
		fine_files_flush(&f->files);
	if (!f->threads.t)
		return;
	fine_threads_ask(&f->threads);
	fine_threads_interval(&f->threads, &cost->thread_faults, &cost->thread_ns, &cost->busiest_ns);
	if (f->threads.n == FINE_THREADS && !f->in_bin)
		fine_threads_forget(&f->threads);
}
