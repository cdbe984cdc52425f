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

#include "ctxlog.h"
#include "util.h"

const char *const mt_kind_name[MT_N_KINDS] = { "static", "heap", "mmap", "stack", "brk", "file" };

struct event {
	char kind, how;
	int64_t time;
	size_t order;
	int64_t tid, parent, stack;
	uint64_t a, b, c, d;
	char *str;
};

/* block address -> index of the living structure, open addressing */
struct mt_live {
	uint64_t *key;		/* 0 = free, 1 = deleted */
	size_t *value;
	size_t mask, used;
	/* living mappings, sorted by start, disjoint */
	struct piece {
		uint64_t start, end;
		size_t s;
	} *map;
	size_t n_map, cap_map;
	uint64_t brk_lo, brk_hi;
	int64_t brk_birth;
};

static size_t hash(uint64_t a)
{
	a = (a >> 4) * 0x9e3779b97f4a7c15ull;
	return (size_t)(a ^ (a >> 31));
}

static void live_put(struct mt_live *l, uint64_t key, size_t value)
{
	size_t i;

	if (!l->key || l->used * 2 > l->mask) {
		struct mt_live old = *l;
		size_t n = 1024, alive = 0;

		for (i = 0; old.key && i <= old.mask; i++)
			alive += old.key[i] > 1;
		while (n < alive * 4)
			n *= 2;
		l->key = mt_alloc(n * sizeof(*l->key));
		l->value = mt_alloc(n * sizeof(*l->value));
		l->mask = n - 1;
		l->used = 0;
		for (i = 0; old.key && i <= old.mask; i++)
			if (old.key[i] > 1)
				live_put(l, old.key[i], old.value[i]);
		free(old.key);
		free(old.value);
	}
	for (i = hash(key) & l->mask; l->key[i] && l->key[i] != key; i = (i + 1) & l->mask)
		;
	if (!l->key[i])
		l->used++;
	l->key[i] = key;
	l->value[i] = value;
}

/* Position of the key or -1. */
static long live_find(struct mt_live *l, uint64_t key)
{
	if (!l->key)
		return -1;
	for (size_t i = hash(key) & l->mask; l->key[i]; i = (i + 1) & l->mask)
		if (l->key[i] == key)
			return (long)i;
	return -1;
}

size_t mt_context_add(struct mt_context *c)
{
	MT_GROW(c->s, c->n, c->cap);
	memset(&c->s[c->n], 0, sizeof(*c->s));
	c->s[c->n].stack = c->s[c->n].tid = c->s[c->n].death = -1;
	return c->n++;
}

/* ----------------------------------------------------------------- lines */

struct cursor {
	char *p;
	bool bad;
};

static char *word(struct cursor *c)
{
	char *w;

	while (*c->p == ' ')
		c->p++;
	w = c->p;
	while (*c->p && *c->p != ' ')
		c->p++;
	if (c->p == w)
		c->bad = true;
	if (*c->p)
		*c->p++ = 0;
	return w;
}

static uint64_t number(struct cursor *c, int base)
{
	char *w = word(c), *end;
	uint64_t v = base == 10 && *w == '-' ? (uint64_t)strtoll(w, &end, 10) :
					       strtoull(w, &end, base);

	if (*end || end == w)
		c->bad = true;
	return v;
}

#define DEC(c) ((int64_t)number((c), 10))
#define HEX(c) number((c), 16)

static char *string(struct cursor *c)
{
	char *w = word(c), *out, *o;

	if (!strcmp(w, "-"))
		return NULL;
	out = o = mt_alloc(strlen(w) + 1);
	for (; *w; w++) {
		if (*w == '%' && w[1] && w[2]) {
			char h[3] = { w[1], w[2], 0 };

			*o++ = (char)strtoul(h, NULL, 16);
			w += 2;
		} else {
			*o++ = *w;
		}
	}
	return out;
}

static void add_stack(struct mt_context *c, struct cursor *k)
{
	int64_t id = DEC(k);
	uint64_t ip[256];
	int n = 0;

	while (*k->p && n < 256 && !k->bad)
		ip[n++] = HEX(k);
	if (k->bad || id < 0 || id > 100000000 || !n)
		return;
	if ((size_t)id >= c->n_stacks) {
		size_t want = (size_t)id + 1;

		if (want > c->cap_stacks) {
			c->cap_stacks = want * 2;
			c->stacks = mt_resize(c->stacks, c->cap_stacks * sizeof(*c->stacks));
		}
		memset(c->stacks + c->n_stacks, 0, (want - c->n_stacks) * sizeof(*c->stacks));
		c->n_stacks = want;
	}
	if (c->stacks[id].n)
		return;
	c->stacks[id].n = n;
	c->stacks[id].ip = mt_alloc((size_t)n * sizeof(uint64_t));
	memcpy(c->stacks[id].ip, ip, (size_t)n * sizeof(uint64_t));
}

/* One line without ; and LF. False: not understood. */
static bool parse(struct mt_context *c, char *line, struct event *e, int *version)
{
	struct cursor k = { line + 1, false };

	memset(e, 0, sizeof(*e));
	e->kind = line[0];
	e->stack = -1;
	switch (line[0]) {
	case 'V':
		*version = (int)DEC(&k);
		e->time = DEC(&k);
		break;
	case 'S':
		add_stack(c, &k);
		return !k.bad;
	case 'F':
		e->time = DEC(&k);
		e->parent = DEC(&k);
		break;
	case 'Y':
		e->time = DEC(&k);
		e->parent = DEC(&k);
		e->tid = DEC(&k);
		break;
	case 'O':
		e->time = DEC(&k);
		e->a = HEX(&k);
		e->b = HEX(&k);
		e->c = HEX(&k);
		e->d = (uint64_t)DEC(&k);
		e->str = string(&k);
		break;
	case 'o':
		e->time = DEC(&k);
		e->a = HEX(&k);
		break;
	case 'A':
	case 'R':
		e->time = DEC(&k);
		e->tid = DEC(&k);
		e->a = HEX(&k);
		e->b = (uint64_t)DEC(&k);
		e->stack = DEC(&k);
		e->how = *word(&k);
		break;
	case 'D':
		e->time = DEC(&k);
		e->tid = DEC(&k);
		e->a = HEX(&k);
		break;
	case 'M':
		e->time = DEC(&k);
		e->tid = DEC(&k);
		e->a = HEX(&k);
		e->b = (uint64_t)DEC(&k);
		e->c = HEX(&k);
		e->d = HEX(&k);
		e->stack = DEC(&k);
		e->str = string(&k);
		break;
	case 'U':
		e->time = DEC(&k);
		e->a = HEX(&k);
		e->b = (uint64_t)DEC(&k);
		break;
	case 'W':
	case 'B':
		e->time = DEC(&k);
		e->a = HEX(&k);
		e->b = (uint64_t)DEC(&k);
		e->c = HEX(&k);
		e->d = (uint64_t)DEC(&k);
		break;
	case 'T':
		e->time = DEC(&k);
		e->tid = DEC(&k);
		e->parent = DEC(&k);
		e->a = HEX(&k);
		e->b = HEX(&k);
		e->c = HEX(&k);
		break;
	case 'N':
	case 'X':
		e->time = DEC(&k);
		e->tid = DEC(&k);
		e->str = string(&k);
		break;
	case 'C':
		e->time = DEC(&k);
		e->a = (uint64_t)DEC(&k);
		e->b = (uint64_t)DEC(&k);
		e->c = (uint64_t)DEC(&k);
		e->d = (uint64_t)DEC(&k);
		e->stack = DEC(&k);
		break;
	case 'E':
		e->time = DEC(&k);
		break;
	default:
		return false;
	}
	return !k.bad;
}

static int by_time(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---------------------------------------------------------------- replay */

static void block_dies(struct mt_context *c, long at, int64_t when)
{
	struct mt_live *l = c->live;

	c->s[l->value[at]].death = when;
	l->key[at] = 1;
}

static void block_born(struct mt_context *c, const struct event *e)
{
	long old = live_find(c->live, e->a);
	size_t i;

	if (!e->a || e->a == 1)
		return;
	if (old >= 0)		/* its death was not seen */
		block_dies(c, old, e->time);
	i = mt_context_add(c);
	c->s[i].kind = MT_HEAP;
	c->s[i].how = e->how;
	c->s[i].start = e->a;
	c->s[i].end = e->a + e->b;
	c->s[i].birth = e->time;
	c->s[i].tid = e->tid;
	c->s[i].stack = e->stack;
	live_put(c->live, e->a, i);
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
			c->s[rest].start = end;
			l->map[i] = (struct piece){ end, p.end, rest };
			return;
		}
		s->death = when;
		memmove(l->map + i, l->map + i + 1, (l->n_map - i - 1) * sizeof(*l->map));
		l->n_map--;
	}
}

static void map_new(struct mt_context *c, const struct event *e, uint64_t start, uint64_t len,
		    const struct mt_structure *like)
{
	uint64_t end = start + ((len + 4095) & ~4095ull);
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
	piece_insert(c->live, piece_at(c->live, start), start, end, i);
}

static void remap(struct mt_context *c, const struct event *e)
{
	size_t at = piece_at(c->live, e->a);
	struct mt_structure like;
	bool known = at < c->live->n_map && c->live->map[at].start <= e->a;
	uint64_t osz = (e->b + 4095) & ~4095ull, nsz = (e->d + 4095) & ~4095ull;

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

static void apply(struct mt_context *c, struct event *e)
{
	struct mt_thread *t;
	long at;

	switch (e->kind) {
	case 'O':
		MT_GROW(c->objects, c->n_objects, c->cap_objects);
		c->objects[c->n_objects++] = (struct mt_object){ e->a, e->b, e->c, e->time, -1,
			e->d == 1, mt_strdup(e->str ? e->str : "") };
		break;
	case 'o':
		for (size_t i = c->n_objects; i-- > 0; )
			if (c->objects[i].start == e->a && c->objects[i].death < 0) {
				c->objects[i].death = e->time;
				break;
			}
		break;
	case 'A':
		block_born(c, e);
		break;
	case 'R':
		at = live_find(c->live, e->a);
		if (at < 0) {
			block_born(c, e);
		} else {
			/* one range per structure: the largest it ever had */
			struct mt_structure *s = &c->s[c->live->value[at]];

			if (e->a + e->b > s->end)
				s->end = e->a + e->b;
		}
		break;
	case 'D':
		at = live_find(c->live, e->a);
		if (at < 0)
			c->unmatched++;
		else
			block_dies(c, at, e->time);
		break;
	case 'M':
		map_new(c, e, e->a, e->b, NULL);
		break;
	case 'U':
		unmap(c, e->a, e->a + ((e->b + 4095) & ~4095ull), e->time);
		break;
	case 'W':
		remap(c, e);
		break;
	case 'B':
		if (!c->live->brk_lo) {
			c->live->brk_lo = e->a;
			c->live->brk_hi = e->a;
			c->live->brk_birth = e->time;
		}
		if (e->a < c->live->brk_lo)
			c->live->brk_lo = e->a;
		if (e->c > c->live->brk_hi)
			c->live->brk_hi = e->c;
		break;
	case 'T':
		MT_GROW(c->threads, c->n_threads, c->cap_threads);
		c->threads[c->n_threads++] = (struct mt_thread){ e->tid, e->parent, NULL, e->time,
			-1, e->a, e->b, e->c };
		break;
	case 'N':
	case 'X':
		t = thread_of(c, e->tid);
		if (!t)
			break;
		if (e->str)
			set_name(t, e->str);
		if (e->kind == 'X')
			t->death = e->time;
		break;
	case 'Y':
		/* the thread that called fork is the main thread of the child */
		t = thread_of(c, e->parent);
		if (t) {
			struct mt_thread me = *t;

			t->name = NULL;
			for (size_t i = 0; i < c->n_threads; i++)
				free(c->threads[i].name);
			me.tid = e->tid;
			me.parent = -1;
			me.birth = e->time;
			c->threads[0] = me;
			c->n_threads = 1;
		} else {
			MT_GROW(c->threads, c->n_threads, c->cap_threads);
			c->n_threads = 1;
			c->threads[0] = (struct mt_thread){ e->tid, -1, NULL, e->time, -1, 0, 0, 0 };
		}
		break;
	case 'C':
		c->small_count = e->a;
		c->small_bytes = e->b;
		c->lost_events = e->c + (uint64_t)e->stack;
		c->lost_bytes = e->d;
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
	for (size_t i = 0; c->live->key && i <= c->live->mask; i++)
		if (c->live->key[i] > 1)
			c->live->value[i] = moved[c->live->value[i]];
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
	c->small_count = c->small_bytes = c->lost_events = c->lost_bytes = 0;
	c->end = -1;
}

static int replay(struct mt_context *c, const char *trace, const char *dir, int64_t until,
		  int depth)
{
	char *path = mt_printf("%s/%s/context.log", trace, dir), *data, *p, *end;
	struct event *ev = NULL;
	size_t n = 0, cap = 0, len;
	int version = 0, err = 0;

	data = mt_read_file(path, &len);
	if (!data) {
		err = -errno;
		free(path);
		return err;
	}
	end = data + len;
	for (p = data; p < end; ) {
		char *lf = memchr(p, '\n', (size_t)(end - p));
		char *stop = lf ? lf : end;

		if (stop > p && lf && stop[-1] == ';') {
			stop[-1] = 0;
			MT_GROW(ev, n, cap);
			if (!parse(c, p, &ev[n], &version))
				c->bad_lines++;
			else if (ev[n].kind != 'S') {
				ev[n].order = n;
				n++;
			}
		} else if (stop > p) {
			c->bad_lines++;
		}
		p = stop + 1;
	}
	if (version > 1) {
		mt_error("%s: version %d of the log is newer than this program (1)", path, version);
		err = -EPROTO;
		goto out;
	}
	if (n)
		qsort(ev, n, sizeof(*ev), by_time);
	for (size_t i = 0; i < n; i++) {
		char parent[16];

		if (ev[i].kind != 'F')
			continue;
		snprintf(parent, sizeof(parent), "p%04" PRId64, ev[i].parent);
		if (depth < 200 && ev[i].parent >= 0 && ev[i].parent < 1000000 &&
		    strcmp(parent, dir)) {
			replay(c, trace, parent, ev[i].time, depth + 1);
			forget_dead(c);
		}
		break;
	}
	c->have_log = true;
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind == 'V')
			c->start = ev[i].time;
		if (ev[i].time <= until)
			apply(c, &ev[i]);
	}
out:
	for (size_t i = 0; i < n; i++)
		free(ev[i].str);
	free(ev);
	free(data);
	free(path);
	return err;
}

int mt_context_read(struct mt_context *c, const char *trace, const char *dir)
{
	struct mt_live live;
	int err;

	memset(c, 0, sizeof(*c));
	memset(&live, 0, sizeof(live));
	c->start = c->end = -1;
	c->live = &live;
	err = replay(c, trace, dir, INT64_MAX, 0);
	if (live.brk_hi > live.brk_lo) {
		size_t i = mt_context_add(c);

		c->s[i].kind = MT_BRK;
		c->s[i].start = live.brk_lo;
		c->s[i].end = (live.brk_hi + 4095) & ~4095ull;
		c->s[i].birth = live.brk_birth;
		c->s[i].name = mt_strdup("heap (brk)");
	}
	free(live.key);
	free(live.value);
	free(live.map);
	c->live = NULL;
	return err;
}

void mt_context_free(struct mt_context *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->s[i].name);
		free(c->s[i].site);
		free(c->s[i].path);
	}
	for (size_t i = 0; i < c->n_threads; i++)
		free(c->threads[i].name);
	for (size_t i = 0; i < c->n_objects; i++)
		free(c->objects[i].path);
	for (size_t i = 0; i < c->n_stacks; i++)
		free(c->stacks[i].ip);
	free(c->s);
	free(c->threads);
	free(c->objects);
	free(c->stacks);
	memset(c, 0, sizeof(*c));
}
