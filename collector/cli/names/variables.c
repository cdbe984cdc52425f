/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * variables.c - names, members, types and lines of static objects.
 *
 * The symbol table has the ranges, also of what debug information does not
 * know. The debug information says more about them: the name in the source of a
 * local static ("cnt", where the symbol is "cnt.0"), what lies in a Fortran
 * COMMON block, the type and the line.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/demangle.h"
#include "cli/names/types.h"
#include "cli/base/util.h"
#include "cli/names/variables.h"

#define MAX_DIES 3000000u	/* of one file: seconds */
#define MIN_GAP 8		/* bytes of a COMMON block in no member that are worth an object */

/* A variable with a fixed address, or a fixed place in the thread-local block. */
struct place {
	uint64_t addr;
	const char *name, *file;
	int line;
	long common;		/* which declaration of a COMMON block it is a member of, -1 none */
	Dwarf_Die type;		/* addr NULL: unknown */
};

struct mt_places {
	struct place *p[2];	/* sorted; [1]: thread-local */
	size_t n[2], cap[2];
	const char **common;	/* names of the declarations */
	size_t n_common, cap_common;
	unsigned int budget;
	void *members;		/* tree of struct known: many objects have one type */
};

struct known {
	const void *type;	/* mt_type_members_key() */
	char *members;
};

static int by_type(const void *x, const void *y)
{
	const struct known *a = x, *b = y;

	return (a->type > b->type) - (a->type < b->type);
}

static void free_known(void *k)
{
	free(((struct known *)k)->members);
	free(k);
}

/* mt_type_members(), each type once. */
static char *members_of(struct mt_places *all, Dwarf_Die *type)
{
	struct known key = { mt_type_members_key(type), NULL }, *k, **at = key.type ? tsearch(&key, &all->members, by_type) : NULL;

	if (!at)
		return mt_type_members(type);
	if (*at == &key) {
		k = mt_alloc(sizeof(*k));
		*k = (struct known){ key.type, mt_type_members(type) };
		*at = k;
	}
	return (*at)->members ? mt_strdup((*at)->members) : NULL;
}

static int by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->common < b->common ? -1 : a->common > b->common;
}

/* An expression that is an address, or an offset in thread-local data, plus a constant. */
static bool fixed_place(Dwarf_Die *die, Dwarf_Addr bias, uint64_t *addr, bool *tls)
{
	Dwarf_Attribute a, at;
	Dwarf_Op *op;
	size_t n, i = 1;

	if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_getlocation(&a, &op, &n) || n < 1)
		return false;
	*tls = n > 1 && (op[1].atom == DW_OP_form_tls_address || op[1].atom == DW_OP_GNU_push_tls_address);
	if (op[0].atom == DW_OP_addr || (*tls && (op[0].atom == DW_OP_const4u || op[0].atom == DW_OP_const8u))) {
		*addr = op[0].number;
	} else if ((op[0].atom == DW_OP_addrx || op[0].atom == DW_OP_constx) &&
		   dwarf_getlocation_attr(&a, &op[0], &at) == 0) {
		if (dwarf_formaddr(&at, addr))
			return false;
	} else {
		return false;
	}
	if (*tls)
		i++;
	else
		*addr += bias;
	if (i < n && op[i].atom == DW_OP_plus_uconst)
		*addr += op[i++].number;
	return i == n;
}

static void variable(Dwarf_Die *cu, Dwarf_Die *die, Dwarf_Addr bias, long common, struct mt_places *out)
{
	struct place p = { .common = common };
	Dwarf_Attribute a, dir;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	const char *comp_dir = NULL;
	size_t n_files;
	bool tls;

	if (!fixed_place(die, bias, &p.addr, &tls))
		return;
	if (dwarf_attr_integrate(die, DW_AT_name, &a))
		p.name = mt_symbols_keep(dwarf_formstring(&a));
	if (!dwarf_attr_integrate(die, DW_AT_type, &a) || !dwarf_formref_die(&a, &p.type))
		p.type.addr = NULL;
	if (!dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &a), &line) &&
	    !dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &a), &file) &&
	    !dwarf_getsrcfiles(cu, &files, &n_files) && file < n_files) {
		if (dwarf_attr(cu, DW_AT_comp_dir, &dir))
			comp_dir = dwarf_formstring(&dir);
		p.file = mt_symbols_absolute(dwarf_filesrc(files, file, NULL, NULL), comp_dir);
		p.line = (int)line;
	}
	MT_GROW(out->p[tls], out->n[tls], out->cap[tls]);
	out->p[tls][out->n[tls]++] = p;
}

static long new_common(Dwarf_Die *die, struct mt_places *out)
{
	MT_GROW(out->common, out->n_common, out->cap_common);
	out->common[out->n_common] = mt_symbols_keep(dwarf_diename(die));
	return (long)out->n_common++;
}

static void walk(Dwarf_Die *cu, Dwarf_Die *parent, Dwarf_Addr bias, long common, struct mt_places *out, int depth)
{
	Dwarf_Die die;

	if (depth > 12 || dwarf_child(parent, &die))
		return;
	do {
		if (!out->budget)
			return;
		out->budget--;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			variable(cu, &die, bias, common, out);
			break;
		case DW_TAG_common_block:
			walk(cu, &die, bias, new_common(&die, out), out, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:		/* Fortran */
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			walk(cu, &die, bias, -1, out, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

struct mt_places *mt_places_read(Dwfl_Module *mod)
{
	struct mt_places *p = mt_alloc(sizeof(*p));
	Dwarf_Addr bias;
	Dwarf_Die *cu = NULL;

	p->budget = MAX_DIES;
	while (mod && (cu = dwfl_module_nextcu(mod, cu, &bias)))
		walk(cu, cu, bias, -1, p, 0);
	for (int tls = 0; tls < 2; tls++)
		if (p->n[tls])
			qsort(p->p[tls], p->n[tls], sizeof(*p->p[tls]), by_place);
	return p;
}

void mt_places_free(struct mt_places *p)
{
	if (!p)
		return;
	free(p->p[0]);
	free(p->p[1]);
	free(p->common);
	tdestroy(p->members, free_known);
	free(p);
}

/* ------------------------------------------------------------ the objects */

static void add(struct mt_variables *out, struct mt_places *all, uint64_t start, uint64_t size, char *name, const struct place *p)
{
	struct mt_variable v = { .start = start, .size = size, .name = name };

	if (p && p->file)
		v.site = mt_printf("%s:%d", p->file, p->line);
	if (p && p->type.addr) {
		Dwarf_Die type = p->type;

		v.type = mt_type_declared(&type);
		if (v.type)	/* else nobody could say whose they are */
			v.members = members_of(all, &type);
	}
	MT_GROW(out->v, out->n, out->cap);
	out->v[out->n++] = v;
}

static uint64_t bytes_of(const struct place *p)
{
	Dwarf_Die type = p->type;
	Dwarf_Word size;

	return type.addr && dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
}

static const struct place *first_at(const struct place *p, size_t n, uint64_t addr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return p + lo;
}

/*
 * A COMMON block is declared in each subprogram that uses it, not always with
 * the same members: the declaration whose members cover most of the block, of
 * several the one with most members, then the first. -1: it is none.
 */
static long best_common(const struct place *from, const struct place *to, const struct mt_symbol *s)
{
	struct sum {
		long common;
		uint64_t bytes, members;
	} *sums = NULL, *best = NULL;
	size_t n = 0, cap = 0;
	long found;

	for (const struct place *p = from; p < to; p++) {
		uint64_t size = p->common >= 0 ? bytes_of(p) : 0;
		size_t i = 0;

		if (!size || size > s->start + s->size - p->addr)
			continue;
		while (i < n && sums[i].common != p->common)
			i++;
		if (i == n) {
			MT_GROW(sums, n, cap);
			sums[n++] = (struct sum){ p->common, 0, 0 };
		}
		sums[i].bytes += size;
		sums[i].members++;
	}
	for (size_t i = 0; i < n; i++)
		if (!best || sums[i].bytes > best->bytes ||
		    (sums[i].bytes == best->bytes && (sums[i].members > best->members ||
		     (sums[i].members == best->members && sums[i].common < best->common))))
			best = &sums[i];
	found = best ? best->common : -1;
	free(sums);
	return found;
}

/* The members of a COMMON block, and the block itself unless they cover all of it. */
static bool add_common(struct mt_variables *out, const struct mt_symbol *s, struct mt_places *all, bool tls)
{
	const struct place *p = all->p[tls], *from = first_at(p, all->n[tls], s->start),
		*to = first_at(p, all->n[tls], s->start + s->size);
	const long common = best_common(from, to, s);
	uint64_t end = s->start;

	if (common < 0 || !all->common[common])
		return false;
	for (const struct place *m = from; m < to; m++) {
		uint64_t size = m->common == common && m->name ? bytes_of(m) : 0;

		if (!size || m->addr < end || size > s->start + s->size - m->addr)
			continue;
		if (m->addr >= end + MIN_GAP)
			add(out, all, end, m->addr - end, mt_printf("%s (common)", all->common[common]), NULL);
		add(out, all, m->addr, size, mt_printf("%s::%s", all->common[common], m->name), m);
		end = m->addr + size;
	}
	if (s->start + s->size >= end + MIN_GAP)
		add(out, all, end, s->start + s->size - end, mt_printf("%s (common)", all->common[common]), NULL);
	return true;
}

/* "cnt.0" is the local static "cnt". */
static bool is_local_static(const char *symbol, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && !strncmp(symbol, name, n) && symbol[n] == '.' && symbol[n + 1 + strspn(symbol + n + 1, "0123456789.")] == 0;
}

void mt_variables_find(struct mt_variables *out, const struct mt_symbol *s, size_t n, bool tls, struct mt_places *places,
		       uint64_t min_bytes, uint64_t min_written_bytes)
{
	const struct mt_symbol *last = NULL;

	for (size_t k = 0; k < n; k++) {
		const struct place *p = NULL, *end = NULL;
		char *d;

		if (!s[k].size || s[k].size < (s[k].writable ? min_written_bytes : min_bytes) ||
		    (last && last->start == s[k].start))
			continue;
		last = &s[k];
		if (places) {
			if (add_common(out, &s[k], places, tls))
				continue;
			p = first_at(places->p[tls], places->n[tls], s[k].start);
			end = places->p[tls] + places->n[tls];
			if (p == end || p->addr != s[k].start)
				p = NULL;
		}
		if (p && is_local_static(s[k].name, p->name)) {
			d = mt_strdup(p->name);
		} else {
			d = mt_symbols_demangle(s[k].name);
			if (!d)
				d = mt_strdup(s[k].name);
		}
		add(out, places, s[k].start, s[k].size, d, p);
	}
}

void mt_variables_free(struct mt_variables *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->v[i].name);
		free(v->v[i].site);
		free(v->v[i].type);
		free(v->v[i].members);
	}
	free(v->v);
	memset(v, 0, sizeof(*v));
}
