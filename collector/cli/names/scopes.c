/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/scopes.h"
#include "cli/base/util.h"

#define DEEPEST 64		/* nested scopes that are followed */

/* A function of a unit; one whose code lies at several places has several. */
struct range {
	Dwarf_Addr start, end;
	Dwarf_Off die;		/* of the function */
	Dwarf_Addr reach;	/* the greatest end of this range and those before it */
};

struct unit {
	Dwarf_Off off;
	struct range *r;	/* by start, then the longest first */
	size_t n, cap;
};

struct mt_scopes {
	struct unit *unit;	/* by off */
	size_t n, cap;
};

struct mt_scopes *mt_scopes_new(void)
{
	return mt_alloc(sizeof(struct mt_scopes));
}

void mt_scopes_free(struct mt_scopes *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free(s->unit[i].r);
	if (s)
		free(s->unit);
	free(s);
}

static int by_start(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static void add_function(struct unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		MT_GROW(u->r, u->n, u->cap);
		u->r[u->n++] = (struct range){ start, end, dwarf_dieoffset(die), 0 };
	}
}

/* Functions of @parent. Not those nested in others with code elsewhere, which have a symbol. */
static void list_functions(struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEEPEST || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_function(u, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			list_functions(u, &die, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct unit *unit_of(struct mt_scopes *s, Dwarf_Die *cu)
{
	const Dwarf_Off off = dwarf_dieoffset(cu);
	Dwarf_Addr reach = 0;
	struct unit *u;
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->unit[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n && s->unit[lo].off == off)
		return &s->unit[lo];
	MT_GROW(s->unit, s->n, s->cap);
	u = &s->unit[lo];
	memmove(u + 1, u, (s->n++ - lo) * sizeof(*u));
	*u = (struct unit){ .off = off };
	list_functions(u, cu, 0);
	if (u->n)
		qsort(u->r, u->n, sizeof(*u->r), by_start);
	for (size_t i = 0; i < u->n; i++) {
		reach = u->r[i].end > reach ? u->r[i].end : reach;
		u->r[i].reach = reach;
	}
	return u;
}

/* The innermost function of the list: the last that begins before @pc and ends behind it. */
static const struct range *range_at(const struct unit *u, Dwarf_Addr pc)
{
	size_t lo = 0, hi = u->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->r[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- && u->r[lo].reach > pc)
		if (u->r[lo].end > pc)
			return &u->r[lo];
	return NULL;
}

/* Appends the functions below @scope that hold @pc, the outer ones first; a nested function begins a new chain. */
static int descend(Dwarf_Die *scope, Dwarf_Addr pc, Dwarf_Die *chain, int n, int max, int depth)
{
	Dwarf_Die die;

	if (depth > DEEPEST || dwarf_child(scope, &die))
		return n;
	do {
		const int tag = dwarf_tag(&die);

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
		    tag != DW_TAG_try_block && tag != DW_TAG_catch_block && tag != DW_TAG_with_stmt)
			continue;
		if (dwarf_haspc(&die, pc) != 1)
			continue;
		if (tag == DW_TAG_subprogram)
			n = 0;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			if (n == max)
				return n;
			chain[n++] = die;
		}
		return descend(&die, pc, chain, n, max, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
	return n;
}

int mt_scopes_at(struct mt_scopes *s, Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *chain, int max)
{
	const struct range *r = range_at(unit_of(s, cu), pc);
	int n;

	if (!r || max < 1 || !dwarf_offdie(dwarf_cu_getdwarf(cu->cu), r->die, &chain[0]))
		return 0;
	n = descend(&chain[0], pc, chain, 1, max, 0);
	for (int i = 0; i < n / 2; i++) {
		Dwarf_Die t = chain[i];

		chain[i] = chain[n - 1 - i];
		chain[n - 1 - i] = t;
	}
	return n;
}

/* Can a variable hold a block: a pointer, a structure, an array; not a number? */
static bool holds_block(Dwarf_Die *variable)
{
	Dwarf_Attribute a;
	Dwarf_Die type, peeled;

	if (!dwarf_attr_integrate(variable, DW_AT_type, &a) || !dwarf_formref_die(&a, &type) || dwarf_peel_type(&type, &peeled))
		return false;
	return dwarf_tag(&peeled) != DW_TAG_base_type && dwarf_tag(&peeled) != DW_TAG_enumeration_type;
}

/* Names of variables below @scope that are declared on a line; how many different ones. */
static int declared(Dwarf_Die *scope, int line, const char **name, int depth)
{
	Dwarf_Die die;
	int n = 0;

	if (depth > DEEPEST || dwarf_child(scope, &die))
		return 0;
	do {
		const int tag = dwarf_tag(&die);
		Dwarf_Attribute a;
		Dwarf_Word at = 0;
		const char *own;

		if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
			n += declared(&die, line, name, depth + 1);
		if (tag != DW_TAG_variable || !dwarf_attr_integrate(&die, DW_AT_decl_line, &a) || dwarf_formudata(&a, &at) ||
		    at != (Dwarf_Word)line || dwarf_hasattr_integrate(&die, DW_AT_artificial))
			continue;
		own = dwarf_diename(&die);
		if (own && strncmp(own, "__", 2) && holds_block(&die) && (!*name || strcmp(*name, own))) {
			*name = own;
			n++;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return n;
}

char *mt_scopes_declared(Dwarf_Die *function, int line)
{
	const char *name = NULL;

	return declared(function, line, &name, 0) == 1 ? mt_strdup(name) : NULL;
}
