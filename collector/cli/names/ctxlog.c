/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * ctxlog.c - replay of context.log.
 *
 * The events are sorted by time (lines of one thread are in order already, so
 * that the position in the file decides between equal times) and applied one
 * after the other to the set of living blocks and mappings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/base/addrmap.h"
#include "cli/names/advice.h"
#include "cli/names/ctxlog.h"
#include "cli/names/log_parse.h"
#include "cli/base/util.h"

const char *const mt_kind_name[MT_N_KINDS] = { "static", "heap", "mmap", "stack", "brk", "file" };

struct mt_live {
	struct mt_addrmap blocks;	/* address -> index of the living structure */
	/* living mappings, sorted by start, disjoint */
	struct piece {
		uint64_t start, end;
		size_t s;
	} *map;
	size_t n_map, cap_map;
	/* heaps with small blocks, by start; the one at the break grows both ways */
	uint64_t brk_lo, brk_hi;
	int64_t brk_birth;
	struct heap {
		uint64_t start, end;
		int64_t birth;
	} *heap;
	size_t n_heaps, cap_heaps;
};

size_t mt_context_add(struct mt_context *c)
{
	MT_GROW(c->s, c->n, c->cap);
	memset(&c->s[c->n], 0, sizeof(*c->s));
	c->s[c->n].stack = c->s[c->n].tid = c->s[c->n].death = -1;
	return c->n++;
}

static uint64_t page_up(const struct mt_context *c, uint64_t v)
{
	const uint64_t page = c->page_bytes ? c->page_bytes : 4096;

	return (v + page - 1) & ~(page - 1);
}

size_t mt_context_add_heap(struct mt_context *c, uint64_t start, uint64_t end, int64_t birth)
{
	size_t i = mt_context_add(c);

	c->s[i].kind = MT_BRK;
	c->s[i].start = start;
	c->s[i].end = page_up(c, end);
	c->s[i].birth = birth;
	c->s[i].name = mt_strdup("heap (small blocks)");
	return i;
}

/* ---------------------------------------------------------------- replay */

/* 0, or -1: there is no block that lives at this address. */
static int block_dies(struct mt_context *c, uint64_t addr, int64_t when)
{
	const size_t *at = mt_addrmap_find(&c->live->blocks, addr);

	if (!at)
		return -1;
	c->s[*at].death = when;
	mt_addrmap_remove(&c->live->blocks, addr);
	return 0;
}

static void block_born(struct mt_context *c, const struct mt_log_event *e)
{
	size_t i;

	if (!e->a || e->a == 1)
		return;
	block_dies(c, e->a, e->time);	/* one whose death was not seen */
	i = mt_context_add(c);
	c->s[i].kind = MT_HEAP;
	c->s[i].how = e->how;
	c->s[i].start = e->a;
	c->s[i].end = e->a + e->b;
	c->s[i].birth = e->time;
	c->s[i].tid = e->tid;
	c->s[i].stack = e->stack;
	mt_addrmap_put(&c->live->blocks, e->a, i);
}

/* First piece that ends behind addr. */
static size_t piece_at(struct mt_live *l, uint64_t addr)
{
	size_t lo = 0, hi = l->n_map;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->map[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void piece_insert(struct mt_live *l, size_t at, uint64_t start, uint64_t end, size_t s)
{
	MT_GROW(l->map, l->n_map, l->cap_map);
	memmove(l->map + at + 1, l->map + at, (l->n_map - at) * sizeof(*l->map));
	l->map[at] = (struct piece){ start, end, s };
	l->n_map++;
}

/*
 * [start, end) is no longer mapped. A mapping that loses a part is cut: the
 * lost part ends here, what stays keeps its birth.
 */
static void unmap(struct mt_context *c, uint64_t start, uint64_t end, int64_t when)
{
	struct mt_live *l = c->live;
	size_t i = piece_at(l, start);

	while (i < l->n_map && l->map[i].start < end) {
		struct piece p = l->map[i];
		struct mt_structure *s = &c->s[p.s];

		if (p.start < start) {		/* left part stays, goes on as p.s */
			size_t rest = mt_context_add(c);

			s = &c->s[p.s];
			c->s[rest] = *s;
			if (s->path)
				c->s[rest].path = mt_strdup(s->path);
			s->end = start;
			l->map[i].end = start;
			c->s[rest].seg_offset += start - c->s[rest].start;
			c->s[rest].start = start;
			piece_insert(l, i + 1, start, p.end, rest);
			i++;
			continue;
		}
		if (p.end > end) {		/* right part stays as a new one */
			size_t rest = mt_context_add(c);

			s = &c->s[p.s];
			c->s[rest] = *s;
			if (s->path)
				c->s[rest].path = mt_strdup(s->path);
			s->end = end;
			s->death = when;
			c->s[rest].seg_offset += end - c->s[rest].start;
			c->s[rest].start = end;
			l->map[i] = (struct piece){ end, p.end, rest };
			return;
		}
		s->death = when;
		memmove(l->map + i, l->map + i + 1, (l->n_map - i - 1) * sizeof(*l->map));
		l->n_map--;
	}
}

static void map_new(struct mt_context *c, const struct mt_log_event *e, uint64_t start, uint64_t len,
		    const struct mt_structure *like)
{
	uint64_t end = start + page_up(c, len);
	size_t i;

	if (end <= start)
		return;
	unmap(c, start, end, e->time);
	i = mt_context_add(c);
	c->s[i].kind = MT_MMAP;
	c->s[i].start = start;
	c->s[i].end = end;
	c->s[i].birth = e->time;
	c->s[i].tid = like ? like->tid : e->tid;
	c->s[i].stack = like ? like->stack : e->stack;
	if (like ? like->path : e->str)
		c->s[i].path = mt_strdup(like ? like->path : e->str);
	c->s[i].segment = like ? like->segment : e->segment;
	c->s[i].seg_device = like ? like->seg_device : e->seg[0];
	c->s[i].seg_inode = like ? like->seg_inode : e->seg[1];
	c->s[i].seg_offset = like ? like->seg_offset : e->seg[2];
	piece_insert(c->live, piece_at(c->live, start), start, end, i);
}

static void remap(struct mt_context *c, const struct mt_log_event *e)
{
	size_t at = piece_at(c->live, e->a);
	struct mt_structure like;
	bool known = at < c->live->n_map && c->live->map[at].start <= e->a;
	uint64_t osz = page_up(c, e->b), nsz = page_up(c, e->d);

	if (!known) {		/* the program's allocator, or mapped before the start */
		return;
	}
	like = c->s[c->live->map[at].s];
	if (like.path)
		like.path = mt_strdup(like.path);
	if (e->a == e->c) {	/* in place */
		struct piece *p = &c->live->map[at];

		if (nsz < osz) {
			unmap(c, e->a + nsz, e->a + osz, e->time);
		} else if (nsz > osz && p->end == e->a + osz) {
			unmap(c, e->a + osz, e->a + nsz, e->time);
			p = &c->live->map[piece_at(c->live, e->a)];
			p->end = e->a + nsz;
			c->s[p->s].end = p->end;
		}
	} else {
		if (osz)
			unmap(c, e->a, e->a + osz, e->time);
		map_new(c, e, e->c, nsz, &like);
	}
	free(like.path);
}

/* A mapping that the backend does not see, or takes the place of one. */
static void map_unseen(struct mt_context *c, const struct mt_log_event *e)
{
	const uint64_t end = e->a + page_up(c, e->b);
	const struct mt_unseen_range r = {
		.start = e->a, .end = end, .birth = e->time, .death = -1, .prot = (unsigned int)e->c, .path = e->str,
		.shared = (e->d & MAP_TYPE) != MAP_PRIVATE, .flags = (uint32_t)e->d, .segment = e->segment && !e->seg[0],
	};

	/* huge pages and devices are unseen by each backend that sees page faults; others do not tell */
	if (e->d >> 32 || e->d & MAP_HUGETLB ||
	    (e->str && !strncmp(e->str, "/dev/", 5) && strncmp(e->str, "/dev/shm/", 9) != 0 && strncmp(e->str, "/dev/zero", 9) != 0))
		mt_unseen_map(&c->unseen, &r);
	else
		mt_unseen_unmap(&c->unseen, r.start, r.end, e->time);
}

static void find_unseen(struct mt_context *c, const struct mt_log_event *e)
{
	const struct mt_unseen_range r = {
		.start = e->a, .end = e->a + e->b, .birth = e->time, .death = -1, .prot = (unsigned int)e->c, .shared = e->d != 0,
		.path = e->str,
	};

	mt_unseen_found(&c->unseen, &r);
}

static struct mt_thread *thread_of(struct mt_context *c, int64_t tid)
{
	for (size_t i = c->n_threads; i-- > 0; )
		if (c->threads[i].tid == tid)
			return &c->threads[i];
	return NULL;
}

static void set_name(struct mt_thread *t, const char *name)
{
	free(t->name);
	t->name = name ? mt_strdup(name) : NULL;
}

static void heap_grew(struct mt_live *l, const struct mt_log_event *e)
{
	size_t i = 0;

	while (i < l->n_heaps && l->heap[i].start != e->a)
		i++;
	if (i == l->n_heaps) {
		MT_GROW(l->heap, l->n_heaps, l->cap_heaps);
		l->heap[l->n_heaps++] = (struct heap){ e->a, e->a, e->time };
	}
	if (e->b > l->heap[i].end)
		l->heap[i].end = e->b;
}

/* The child begins with what the parent had; the thread that called fork is its main thread. */
static void forked(struct mt_context *c, const struct mt_log_event *e)
{
	struct mt_thread *t;

	c->n_cpu = 0;		/* of the parent */
	t = thread_of(c, e->parent);
	if (t) {
		struct mt_thread me = *t;

		t->name = NULL;
		for (size_t i = 0; i < c->n_threads; i++)
			free(c->threads[i].name);
		me.tid = e->tid;
		me.cpu_ns = -1;
		me.parent = -1;
		me.birth = e->time;
		c->threads[0] = me;
		c->n_threads = 1;
	} else {
		MT_GROW(c->threads, c->n_threads, c->cap_threads);
		c->n_threads = 1;
		c->threads[0] = (struct mt_thread){ e->tid, -1, NULL, e->time, -1, 0, 0, 0, -1, 0 };
	}
}

static void object_born(struct mt_context *c, const struct mt_log_event *e)
{
	MT_GROW(c->objects, c->n_objects, c->cap_objects);
	c->objects[c->n_objects++] = (struct mt_object){ e->a, e->b, e->c, e->time, -1,
		e->d == 1, mt_strdup(e->str ? e->str : ""), e->tid, e->stack > 0 ? (uint64_t)e->stack : 0 };
}

static void object_dies(struct mt_context *c, const struct mt_log_event *e)
{
	for (size_t i = c->n_objects; i-- > 0;)
		if (c->objects[i].start == e->a && c->objects[i].death < 0) {
			c->objects[i].death = e->time;
			return;
		}
}

static void block_resized(struct mt_context *c, const struct mt_log_event *e)
{
	const size_t *at = mt_addrmap_find(&c->live->blocks, e->a);

	if (!at) {
		block_born(c, e);
	} else {
		/* one range per structure: the largest it ever had */
		struct mt_structure *s = &c->s[*at];

		if (e->a + e->b > s->end)
			s->end = e->a + e->b;
	}
}

static void break_moved(struct mt_live *l, const struct mt_log_event *e)
{
	if (!l->brk_lo) {
		l->brk_lo = e->a;
		l->brk_hi = e->a;
		l->brk_birth = e->time;
	}
	if (e->a < l->brk_lo)
		l->brk_lo = e->a;
	if (e->c > l->brk_hi)
		l->brk_hi = e->c;
}

/* What is said of a thread: that it begins, its name, its CPU time, its end. */
static void apply_thread(struct mt_context *c, const struct mt_log_event *e)
{
	struct mt_thread *t;

	if (e->kind == 'T') {
		MT_GROW(c->threads, c->n_threads, c->cap_threads);
		c->threads[c->n_threads++] = (struct mt_thread){ e->tid, e->parent, NULL, e->time,
			-1, e->a, e->b, e->c, -1, e->d };
		return;
	}
	t = thread_of(c, e->tid);
	if (!t)
		return;
	if (e->kind == 'P') {
		t->cpu_ns = (int64_t)e->a;
		MT_GROW(c->cpu, c->n_cpu, c->cap_cpu);
		c->cpu[c->n_cpu++] = (struct mt_cpu_time){ e->tid, e->time, e->a };
		return;
	}
	if (e->str)
		set_name(t, e->str);
	if (e->kind == 'X')
		t->death = e->time;
}

/* A system call of memory. */
static void apply_mapping(struct mt_context *c, const struct mt_log_event *e)
{
	long at;

	switch (e->kind) {
	case 'M':
		mt_advise(c, e->time, e->a, e->b, 0);
		map_new(c, e, e->a, e->b, NULL);
		map_unseen(c, e);
		break;
	case 'U':
		mt_advise(c, e->time, e->a, e->b, 0);
		unmap(c, e->a, e->a + page_up(c, e->b), e->time);
		mt_unseen_unmap(&c->unseen, e->a, e->a + page_up(c, e->b), e->time);
		break;
	case 'W':		/* the advice is the mapping's */
		at = mt_advice_at(c, e->a, INT64_MAX);
		mt_advise(c, e->time, e->a, e->b, 0);
		mt_advise(c, e->time, e->c, e->d, (int)at);
		remap(c, e);
		mt_unseen_move(&c->unseen, e->a, e->a + page_up(c, e->b), e->c, e->c + page_up(c, e->d), e->time);
		break;
	default:
		mt_advise(c, e->time, e->a, e->b, (int)e->c);
	}
}

static void apply(struct mt_context *c, struct mt_log_event *e)
{
	switch (e->kind) {
	case 'O':
		object_born(c, e);
		break;
	case 'o':
		object_dies(c, e);
		break;
	case 'A':
		block_born(c, e);
		break;
	case 'L':
		MT_GROW(c->samples, c->n_samples, c->cap_samples);
		c->samples[c->n_samples++] = (struct mt_sample){ e->a, e->b, e->c, e->time, e->stack };
		break;
	case 'R':
		block_resized(c, e);
		break;
	case 'D':
		if (block_dies(c, e->a, e->time))
			c->unmatched++;
		break;
	case 'M':
	case 'U':
	case 'W':
	case 'G':
		apply_mapping(c, e);
		break;
	case 'Q':
		find_unseen(c, e);
		break;
	case 'B':
		break_moved(c->live, e);
		break;
	case 'H':
		heap_grew(c->live, e);
		break;
	case 'T':
	case 'N':
	case 'X':
	case 'P':
		apply_thread(c, e);
		break;
	case 'Y':
		forked(c, e);
		break;
	case 'C':
		c->small_count = e->a;
		c->small_bytes = e->b;
		c->lost_events = e->c + (uint64_t)e->stack;
		c->lost_bytes = e->d;
		break;
	case 'K':
		c->brief_count = e->a;
		c->brief_bytes = e->b;
		break;
	case 'E':
		c->end = e->time;
		break;
	}
}

/* What died before a fork is not in the child. */
static void forget_dead(struct mt_context *c)
{
	size_t w = 0, *moved = mt_alloc((c->n + 1) * sizeof(*moved));

	for (size_t i = 0; i < c->n; i++) {
		if (c->s[i].death >= 0) {
			free(c->s[i].path);
			continue;
		}
		moved[i] = w;
		c->s[w++] = c->s[i];
	}
	c->n = w;
	for (size_t i = 0; c->live->blocks.key && i <= c->live->blocks.mask; i++)
		if (c->live->blocks.key[i] > 1)
			c->live->blocks.value[i] = moved[c->live->blocks.value[i]];
	for (size_t i = 0; i < c->live->n_map; i++)
		c->live->map[i].s = moved[c->live->map[i].s];
	free(moved);
	w = 0;
	for (size_t i = 0; i < c->n_objects; i++) {
		if (c->objects[i].death >= 0)
			free(c->objects[i].path);
		else
			c->objects[w++] = c->objects[i];
	}
	c->n_objects = w;
	c->small_count = c->small_bytes = c->brief_count = c->brief_bytes = c->lost_events = c->lost_bytes = 0;
	c->bad_lines = c->unmatched = 0;
	c->end = -1;
}

static void *copy(const void *p, size_t bytes)
{
	void *q = mt_alloc(bytes);

	if (bytes)
		memcpy(q, p, bytes);
	return q;
}

/* dst gets what lives in src; dst->live is set and empty. */
static void inherit(struct mt_context *dst, const struct mt_context *src)
{
	struct mt_live *to = dst->live;
	const struct mt_live *from = src->live;

	*dst = *src;
	memset(&dst->unseen, 0, sizeof(dst->unseen));
	dst->live = to;
	dst->cap = src->n;
	dst->s = copy(src->s, src->n * sizeof(*src->s));
	for (size_t i = 0; i < src->n; i++)
		if (src->s[i].path)
			dst->s[i].path = mt_strdup(src->s[i].path);
	dst->cap_cpu = src->n_cpu;
	dst->cpu = copy(src->cpu, src->n_cpu * sizeof(*src->cpu));
	dst->cap_threads = src->n_threads;
	dst->threads = copy(src->threads, src->n_threads * sizeof(*src->threads));
	for (size_t i = 0; i < src->n_threads; i++)
		if (src->threads[i].name)
			dst->threads[i].name = mt_strdup(src->threads[i].name);
	dst->cap_objects = src->n_objects;
	dst->objects = copy(src->objects, src->n_objects * sizeof(*src->objects));
	for (size_t i = 0; i < src->n_objects; i++)
		dst->objects[i].path = mt_strdup(src->objects[i].path);
	dst->cap_samples = src->n_samples;
	dst->samples = copy(src->samples, src->n_samples * sizeof(*src->samples));
	dst->cap_advice = src->n_advice;
	dst->advice = copy(src->advice, src->n_advice * sizeof(*src->advice));
	dst->cap_stacks = src->n_stacks;
	dst->stacks = copy(src->stacks, src->n_stacks * sizeof(*src->stacks));
	for (size_t i = 0; i < src->n_stacks; i++)
		if (src->stacks[i].n)
			dst->stacks[i].ip = copy(src->stacks[i].ip,
						 (size_t)src->stacks[i].n * sizeof(uint64_t));
	*to = *from;
	mt_addrmap_copy(&to->blocks, &from->blocks);
	to->map = copy(from->map, from->n_map * sizeof(*from->map));
	to->cap_map = from->n_map;
	to->heap = NULL;		/* the child tells of its heaps itself */
	to->n_heaps = to->cap_heaps = 0;
	forget_dead(dst);
}

static void apply_log(struct mt_context *c, struct mt_log_event *e)
{
	if (e->kind == 'V')
		c->start = e->time;
	apply(c, e);
}

static void context_init(struct mt_context *c, struct mt_live *live)
{
	memset(c, 0, sizeof(*c));
	memset(live, 0, sizeof(*live));
	c->start = c->end = -1;
	c->live = live;
}

static void live_free(struct mt_live *l)
{
	mt_addrmap_free(&l->blocks);
	free(l->map);
	free(l->heap);
	memset(l, 0, sizeof(*l));
}

/*
 * The replay of a log that stands still at a time. A process with a thousand
 * children would otherwise be replayed a thousand times; children are mostly
 * asked for in the order of their forks.
 */
#define N_CURSORS 8

struct cursor_state {
	char *trace, *dir;
	struct mt_log log;
	size_t pos;
	struct mt_context c;
	struct mt_live live;
	size_t alive;		/* structures after the last clean-up */
	uint64_t used;
};

static struct cursor_state cursors[N_CURSORS];
static uint64_t clock_of_use;

static void cursor_free(struct cursor_state *k)
{
	if (!k->dir)
		return;
	mt_log_free(&k->log);
	live_free(&k->live);
	k->c.live = NULL;
	mt_context_free(&k->c);
	free(k->trace);
	free(k->dir);
	memset(k, 0, sizeof(*k));
}

static int begin(struct mt_context *c, struct mt_live *live, struct mt_log *l, const char *trace,
		 const char *dir, int depth);

/* The state of an image at a time (inclusive), or NULL. Valid until the next call. */
static const struct mt_context *state_at(const char *trace, const char *dir, int64_t until, int depth)
{
	struct cursor_state *k = NULL, fresh;

	for (int i = 0; i < N_CURSORS; i++)
		if (cursors[i].dir && !strcmp(cursors[i].dir, dir) && !strcmp(cursors[i].trace, trace))
			k = &cursors[i];
	if (k && k->pos && k->log.ev[k->pos - 1].time > until) {
		cursor_free(k);		/* asked for an earlier time */
		k = NULL;
	}
	if (!k) {
		memset(&fresh, 0, sizeof(fresh));
		/* may use and replace other cursors: the ancestors of this one */
		if (begin(&fresh.c, &fresh.live, &fresh.log, trace, dir, depth)) {
			live_free(&fresh.live);
			fresh.c.live = NULL;
			mt_context_free(&fresh.c);
			return NULL;
		}
		k = &cursors[0];
		for (int i = 1; i < N_CURSORS; i++)
			if (cursors[i].used < k->used)
				k = &cursors[i];
		cursor_free(k);
		*k = fresh;
		k->c.live = &k->live;
		k->trace = mt_strdup(trace);
		k->dir = mt_strdup(dir);
	}
	k->used = ++clock_of_use;
	while (k->pos < k->log.n && k->log.ev[k->pos].time <= until) {
		apply_log(&k->c, &k->log.ev[k->pos++]);
		if (k->c.n > 2 * k->alive + 10000) {
			forget_dead(&k->c);
			k->alive = k->c.n;
		}
	}
	return &k->c;
}

/* Reads the log of an image and sets c to what it inherits. */
static int begin(struct mt_context *c, struct mt_live *live, struct mt_log *l, const char *trace,
		 const char *dir, int depth)
{
	struct mt_context own;
	char parent[16];
	int err;

	context_init(c, live);
	memset(&own, 0, sizeof(own));
	err = mt_log_read(l, &own, trace, dir);
	if (err) {
		mt_context_free(&own);
		return err;
	}
	snprintf(parent, sizeof(parent), "p%04" PRId64, l->parent);
	if (l->fork_time >= 0 && depth < 200 && l->parent >= 0 && l->parent < 1000000 &&
	    strcmp(parent, dir)) {
		const struct mt_context *p = state_at(trace, parent, l->fork_time, depth + 1);

		if (p)
			inherit(c, p);
	}
	/* the child goes on with the numbers of its parent's stacks */
	for (size_t i = 0; i < own.n_stacks; i++) {
		if (!own.stacks[i].n || (i < c->n_stacks && c->stacks[i].n))
			continue;
		mt_log_set_stack(c, i, own.stacks[i].ip, own.stacks[i].n);
	}
	c->bad_lines = own.bad_lines;
	c->page_bytes = own.page_bytes;
	c->have_log = true;
	mt_context_free(&own);
	return 0;
}

int mt_context_read(struct mt_context *c, const char *trace, const char *dir)
{
	struct mt_live live;
	struct mt_log l;
	int err = begin(c, &live, &l, trace, dir, 0);

	if (!err) {
		for (size_t i = 0; i < l.n; i++)
			apply_log(c, &l.ev[i]);
		mt_log_free(&l);
	}
	if (live.brk_hi > live.brk_lo)
		mt_context_add_heap(c, live.brk_lo, live.brk_hi, live.brk_birth);
	for (size_t i = 0; i < live.n_heaps; i++)
		mt_context_add_heap(c, live.heap[i].start, live.heap[i].end, live.heap[i].birth);
	live_free(&live);
	c->live = NULL;
	return err;
}

void mt_context_forget(void)
{
	for (int i = 0; i < N_CURSORS; i++)
		cursor_free(&cursors[i]);
}

void mt_context_free(struct mt_context *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->s[i].name);
		free(c->s[i].site);
		free(c->s[i].type);
		free(c->s[i].path);
	}
	for (size_t i = 0; i < c->n_threads; i++)
		free(c->threads[i].name);
	for (size_t i = 0; i < c->n_objects; i++)
		free(c->objects[i].path);
	for (size_t i = 0; i < c->n_stacks; i++)
		free(c->stacks[i].ip);
	mt_unseen_free(&c->unseen);
	free(c->s);
	free(c->threads);
	free(c->cpu);
	free(c->objects);
	free(c->stacks);
	free(c->advice);
	free(c->samples);
	memset(c, 0, sizeof(*c));
}
