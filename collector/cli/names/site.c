/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* site.c - from the call stack of an allocation to what the programmer calls the block. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/names/library.h"
#include "cli/names/site.h"
#include "cli/names/source.h"
#include "cli/base/util.h"

#define MAX_FRAMES 512		/* of a stack, inlined ones included */
#define MAX_HOPS 8		/* functions of the program that are gone through */

/* From which return addresses a call returns to, in all stacks: pairs of (address, address of its caller). */
struct callers {
	struct pair {
		uint64_t ip, caller;
	} *p;
	size_t n, cap;
	bool done;
};

struct mt_site_names {
	const struct mt_context *c;
	struct mt_symbols *sy;
	struct mt_site *site;	/* by number of the stack */
	struct callers callers;
};

char *mt_site_of_frame(const struct mt_frame *f, uint64_t ip)
{
	char *fn, *p;
	int depth = 0;

	if (!f->function)
		return f->object ? mt_printf("%s+0x%" PRIx64, mt_base(f->object), f->offset) :
				   mt_printf("0x%" PRIx64, ip);
	/* without the parameter list of C++ */
	fn = mt_strdup(f->function);
	for (p = fn; *p; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && depth && p[-1] != '-')
			depth--;
		else if (*p == '(' && !depth && p > fn && strncmp(p, "(anonymous", 10) &&
			 strncmp(p, "(lambda", 7) && strncmp(p, "({lambda", 8))
			break;
	}
	*p = 0;
	if (f->line > 0) {
		p = mt_printf("%s:%d", fn, f->line);
		free(fn);
		return p;
	}
	return fn;
}

struct flat {
	const struct mt_frame *f;
	uint64_t ip;
	int inner;		/* functions inlined into it there */
};

/*
 * Which of several ALLOCATE objects of one Fortran line this is: the calls
 * stand in the order of the objects, so that the rank of the return address
 * among those of the same line says it.
 */
static int rank_on_line(const struct mt_context *c, struct mt_symbols *sy, const struct flat *me)
{
	uint64_t seen[32];
	int n = 0, rank = 0;

	for (size_t i = 0; i < c->n_stacks; i++) {
		const struct mt_callstack *st = &c->stacks[i];

		for (int k = 0; k < st->n && k < 3; k++) {
			const struct mt_frames *fr;
			bool known = false;

			if (st->ip[k] >= me->ip || me->ip - st->ip[k] > 16384)
				continue;
			fr = mt_symbols_frames(sy, st->ip[k]);
			if (fr->f[0].line != me->f->line || fr->f[0].file != me->f->file)
				continue;
			for (int j = 0; j < n; j++)
				known |= seen[j] == st->ip[k];
			if (!known && n < 32) {
				seen[n++] = st->ip[k];
				rank++;
			}
		}
	}
	return rank;
}

static bool fortran_file(const char *file)
{
	const char *dot = file ? strrchr(file, '.') : NULL;

	return dot && (dot[1] == 'f' || dot[1] == 'F');
}

/*
 * The source where the compiler found it; when it is not there, beside the
 * program: binaries that were moved to another machine with their sources.
 */
static char *readable_source(const struct mt_frame *f)
{
	const char *slash = f->object ? strrchr(f->object, '/') : NULL;

	if (!slash || !access(f->file, R_OK))
		return mt_strdup(f->file);
	return mt_printf("%.*s/%s", (int)(slash - f->object), f->object, mt_base(f->file));
}

#define WRAPPER_CALLERS 3	/* places that call a nameless function to allocate: it is an allocator of the program */

static int by_pair(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	if (a->ip != b->ip)
		return a->ip < b->ip ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static bool has_callers(const struct mt_context *c, struct callers *all, uint64_t ip, size_t least)
{
	size_t lo = 0, hi, w = 0;

	if (!all->done) {
		all->done = true;
		for (size_t i = 0; i < c->n_stacks; i++)
			for (int k = 0; k + 1 < c->stacks[i].n; k++) {
				MT_GROW(all->p, all->n, all->cap);
				all->p[all->n++] = (struct pair){ c->stacks[i].ip[k], c->stacks[i].ip[k + 1] };
			}
		if (all->n)
			qsort(all->p, all->n, sizeof(*all->p), by_pair);
		for (size_t i = 0; i < all->n; i++)
			if (!w || by_pair(&all->p[w - 1], &all->p[i]))
				all->p[w++] = all->p[i];
		all->n = w;
	}
	hi = all->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all->p[mid].ip < ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo + least <= all->n && all->p[lo].ip == ip && all->p[lo + least - 1].ip == ip;
}

/* Function, line or offset of a frame, without a variable. */
static void name_by_frame(const struct flat *at, struct mt_site *out)
{
	const struct mt_frame *f = at->f;

	out->name = f->generated && f->function ? mt_strdup(f->function) : mt_site_of_frame(f, at->ip);
	if (f->file && f->line > 0)
		out->site = mt_printf("%s:%d", f->file, f->line);
}

/*
 * In no code of the program (a thread of a library): the first frame outside of the run-time libraries that has a name and
 * does not only allocate, else library and offset.
 */
static void name_in_library(const struct flat *flat, int n, struct mt_site *out)
{
	int chosen = -1;

	for (int i = 0; i < n && chosen < 0; i++)
		if (!mt_library_object(flat[i].f->object) && flat[i].f->function && !mt_library_allocates(flat[i].f->function))
			chosen = i;
	for (int i = 0; i < n && chosen < 0; i++)
		if (!mt_library_object(flat[i].f->object))
			chosen = i;
	for (int i = 0; i < n && chosen < 0; i++)
		if (flat[i].f->function && !mt_library_allocates(flat[i].f->function) && !mt_library_starts(flat[i].f->function))
			chosen = i;
	if (chosen < 0)
		chosen = 0;
	name_by_frame(&flat[chosen], out);
	/* the library's own, whatever its debug information says: nothing that the program could change */
	if (flat[chosen].f->object) {
		free(out->site);
		out->site = mt_printf("%s+0x%" PRIx64, mt_base(flat[chosen].f->object), flat[chosen].f->offset);
	}
}

/* Does this frame allocate for somebody else: the system, a library of a language or a framework, what the user has named? */
static bool is_through(const struct mt_frame *f)
{
	return f->system || !f->object || mt_library_starts(f->function) || mt_library_source(f->file) || mt_library_function(f->function);
}

/*
 * A constructor of a class that is a template, or a method of one that makes it larger: "Array<double>::Array(int)". It is a container of
 * the program.
 */
static bool is_container(const char *function)
{
	static const char *const grow[] = { "resize", "reserve", "push_back", "emplace_back", "assign", "grow" };
	const char *open = function ? strchr(function, '<') : NULL, *paren = function ? strchr(function, '(') : NULL;
	const char *close = open && open > function ? strstr(open, ">::") : NULL, *class = open;
	size_t n;

	if (!close || (paren && paren < open))
		return false;
	while (class > function && (isalnum((unsigned char)class[-1]) || class[-1] == '_'))
		class--;
	n = (size_t)(open - class);
	if (n && !strncmp(close + 3, class, n) && (!close[3 + n] || close[3 + n] == '('))
		return true;
	for (size_t i = 0; i < sizeof(grow) / sizeof(grow[0]); i++)
		if (!strncmp(close + 3, grow[i], strlen(grow[i])) && (!close[3 + strlen(grow[i])] || close[3 + strlen(grow[i])] == '('))
			return true;
	return false;
}

/* What the source says of a frame. */
struct source_name {
	char *name;		/* NULL: none */
	bool passed_on;		/* to the caller: it is returned, or written where a parameter points to */
};

/* @address: what is looked for is written where a pointer that it passes points to. */
static struct source_name name_in_source(struct mt_site_names *s, const struct flat *at, bool address)
{
	const struct mt_frame *f = at->f;
	struct source_name found = { NULL, false };
	char *file;

	if (!f->file || f->line <= 0)
		return found;
	file = readable_source(f);
	if (address)
		found.name = mt_address_in_file(file, f->line, f->column);
	if (!found.name)
		found.name = mt_name_in_file(file, f->line, f->column, fortran_file(f->file) ? rank_on_line(s->c, s->sy, at) : 0);
	/* what is kept in a member stays one, also if it is returned */
	found.passed_on = found.name ? *found.name == '*' || (!strpbrk(found.name, ".>[:%") && mt_name_is_returned(file, f->line, found.name)) :
				       mt_name_is_returned(file, f->line, NULL);
	if (!found.name && access(file, R_OK))
		found.name = mt_symbols_declared(s->sy, at->ip, at->inner);
	free(file);
	return found;
}

/* Is a function without a variable one that only allocates: by its name, or because several places call it for that? */
static bool only_allocates(struct mt_site_names *s, const struct flat *at, const struct flat *outer)
{
	if (at->f->function)
		return mt_library_allocates(at->f->function);
	return has_callers(s->c, &s->callers, at->ip, WRAPPER_CALLERS) ||
	       /* zmalloc calls what a table says: the inner one has one caller, the outer one has many */
	       (outer && !outer->f->function && !outer->f->system && has_callers(s->c, &s->callers, outer->ip, WRAPPER_CALLERS));
}

/*
 * From the first frame of the program on, from inside out: what the source assigns the block to, as long as that is passed on to the
 * caller, whose name for it is better.
 */
static void name_in_program(struct mt_site_names *s, const struct flat *flat, int n, int user, struct mt_site *out)
{
	int named = -1, chosen = -1;
	bool passed_on = false;		/* what is found so far is the caller's */

	for (int i = user, hops = 0; i < n && hops < MAX_HOPS; i++) {
		struct source_name v;

		if (is_through(flat[i].f) && i != user)
			continue;
		hops++;
		v = name_in_source(s, &flat[i], out->name && *out->name == '*');
		if (v.name && out->name && !passed_on) {	/* a container: its member is a part of the caller's object */
			char *member = mt_printf("%s.%s", v.name, out->name);

			free(v.name);
			v.name = member;
		}
		if (v.name) {
			free(out->name);
			out->name = v.name;
			chosen = i;
			passed_on = v.passed_on;
			if (passed_on || (is_container(flat[i].f->function) && !strpbrk(v.name, ".[*")))
				continue;
			break;
		}
		if (out->name && passed_on && has_callers(s->c, &s->callers, flat[chosen].ip, 2)) {
			/* the wrapper's own variable stands for what several callers get */
			free(out->name);
			out->name = NULL;
		}
		if (v.passed_on || only_allocates(s, &flat[i], i + 1 < n ? &flat[i + 1] : NULL))
			continue;
		named = i;
		break;
	}
	if (!out->name) {
		name_by_frame(&flat[named >= 0 ? named : user], out);
		return;
	}
	out->variable = true;
	mt_symbols_block(s->sy, flat[chosen].ip, flat[chosen].inner, out->name, &out->element);
	if (flat[chosen].f->file && flat[chosen].f->line > 0)
		out->site = mt_printf("%s:%d", flat[chosen].f->file, flat[chosen].f->line);
}

/*
 * The first frame that a person would call "my code": not in a library of the system or of a language, not in one of its headers. Of a
 * program that runs JavaScript, Java or Python "my code" is that, when its names are known.
 */
static void name_site(struct mt_site_names *s, int64_t id, struct mt_site *out)
{
	const struct mt_callstack *st = &s->c->stacks[id];
	struct flat flat[MAX_FRAMES];
	int n = 0, user = -1;

	out->done = true;
	for (int i = 0; i < st->n; i++) {
		const struct mt_frames *fr = mt_symbols_frames(s->sy, st->ip[i]);

		for (int k = 0; k < fr->n && n < MAX_FRAMES; k++)
			flat[n++] = (struct flat){ &fr->f[k], st->ip[i], k };
	}
	if (!n)
		return;
	for (int i = 0; i < n; i++)
		if (flat[i].f->generated && !flat[i].f->system) {
			name_by_frame(&flat[i], out);
			return;
		}
	for (int i = 0; i < n && user < 0; i++)
		if (!is_through(flat[i].f))
			user = i;
	for (int i = 0; i < n && user < 0; i++)	/* a library of a language that is the program itself */
		if (!flat[i].f->system && flat[i].f->object && !mt_library_starts(flat[i].f->function))
			user = i;
	if (user < 0)
		name_in_library(flat, n, out);
	else
		name_in_program(s, flat, n, user, out);
}

struct mt_site_names *mt_sites_new(const struct mt_context *c, struct mt_symbols *sy)
{
	struct mt_site_names *s = mt_alloc(sizeof(*s));

	s->c = c;
	s->sy = sy;
	s->site = mt_alloc((c->n_stacks + 1) * sizeof(*s->site));
	return s;
}

const struct mt_site *mt_sites_at(struct mt_site_names *s, int64_t stack)
{
	struct mt_site *at = &s->site[stack];

	if (!at->done)
		name_site(s, stack, at);
	return at;
}

void mt_sites_free(struct mt_site_names *s)
{
	for (size_t i = 0; i < s->c->n_stacks; i++) {
		free(s->site[i].name);
		free(s->site[i].site);
		mt_element_free(&s->site[i].element);
	}
	free(s->site);
	free(s->callers.p);
	free(s);
}
