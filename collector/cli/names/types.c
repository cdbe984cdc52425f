/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/types.h"
#include "cli/base/util.h"

#define MAX_NAME 200
#define MAX_STEPS 16		/* of an expression, of nested typedefs, of base classes */
#define MAX_MEMBERS 100		/* of a type, those of structures in it counted one by one */
#define MAX_NESTED 4		/* structures in structures */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, type);
}

static int language_of(Dwarf_Die *die)
{
	Dwarf_Die cu;

	return dwarf_diecu(die, &cu, NULL, NULL) ? dwarf_srclang(&cu) : -1;
}

static bool is_c(Dwarf_Die *die)
{
	const int l = language_of(die);

	return l == DW_LANG_C || l == DW_LANG_C89 || l == DW_LANG_C99 || l == DW_LANG_C11;
}

static bool is_fortran(Dwarf_Die *die)
{
	const int l = language_of(die);

	return l == DW_LANG_Fortran77 || l == DW_LANG_Fortran90 || l == DW_LANG_Fortran95 || l == DW_LANG_Fortran03 ||
	       l == DW_LANG_Fortran08;
}

/* Without const, volatile and typedefs. */
static bool peel(Dwarf_Die *type, Dwarf_Die *out)
{
	return dwarf_peel_type(type, out) == 0;
}

/*
 * "sim::grid::" for a type of C++ in these namespaces or classes; "" for others. Inline namespaces, which no source names,
 * and functions are left out. *in_class: it is a name within a class.
 */
static char *find_scope(Dwarf_Die *type, bool *in_class)
{
	char *text = mt_strdup("");
	Dwarf_Die *scopes;
	int n;

	*in_class = false;
	if (is_c(type) || is_fortran(type))
		return text;
	n = dwarf_getscopes_die(type, &scopes);
	for (int i = 1; i < n; i++) {
		const int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);
		char *more;

		if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
			continue;
		if (dwarf_hasattr(&scopes[i], DW_AT_export_symbols) || (!name && tag != DW_TAG_namespace))
			continue;
		*in_class |= i == 1 && tag != DW_TAG_namespace;
		more = mt_printf("%s::%s", name ? name : "(anonymous namespace)", text);
		free(text);
		text = more;
	}
	if (n > 0)
		free(scopes);
	return text;
}

struct scope {
	const void *type;		/* where the debug information has it, which stays for the life of the process */
	char *text;
	bool in_class;
};

static int by_type(const void *x, const void *y)
{
	const struct scope *a = x, *b = y;

	return a->type < b->type ? -1 : a->type > b->type;
}

/* The same, looked for once for each type: libdw goes through all of its unit for that. The caller's. */
static char *scope_of(Dwarf_Die *type, bool *in_class)
{
	static void *known;
	struct scope key = { .type = type->addr }, *s, **found = tsearch(&key, &known, by_type);

	if (!found)
		return find_scope(type, in_class);
	if (*found == &key) {
		s = mt_alloc(sizeof(*s));
		s->type = type->addr;
		s->text = find_scope(type, &s->in_class);
		*found = s;
	}
	*in_class = (*found)->in_class;
	return mt_strdup((*found)->text);
}

/* As it would be declared: "struct node", "unsigned char *". NULL: it has no name. */
static char *plain_name(Dwarf_Die *type, int depth)
{
	const int tag = dwarf_tag(type);
	const char *name = dwarf_diename(type), *what = "";
	Dwarf_Die to;
	char *inner, *full, *scope;
	bool in_class;

	if (depth > 8)
		return NULL;
	switch (tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		return type_of(type, &to) ? plain_name(&to, depth + 1) : mt_strdup("void");
	case DW_TAG_pointer_type:
		inner = type_of(type, &to) ? plain_name(&to, depth + 1) : mt_strdup("void");
		if (!inner)
			return NULL;
		full = mt_printf("%s%s*", inner, inner[strlen(inner) - 1] == '*' ? "" : " ");
		free(inner);
		return full;
	case DW_TAG_structure_type:
		what = is_fortran(type) ? "type " : is_c(type) ? "struct " : "";
		break;
	case DW_TAG_union_type:
		what = is_c(type) ? "union " : "";
		break;
	case DW_TAG_enumeration_type:
		what = is_c(type) ? "enum " : "";
		break;
	case DW_TAG_base_type:	/* in no namespace */
		return name && strlen(name) <= MAX_NAME ? mt_strdup(name) : NULL;
	case DW_TAG_typedef:
	case DW_TAG_class_type:
		break;
	default:		/* functions, references, members: nothing that is declared by a name */
		return NULL;
	}
	if (!name || strlen(name) > MAX_NAME)
		return NULL;
	scope = scope_of(type, &in_class);
	if (in_class && tag == DW_TAG_typedef) {	/* "pointer" of a container: what it stands for says more */
		free(scope);
		return type_of(type, &to) ? plain_name(&to, depth + 1) : NULL;
	}
	full = strlen(scope) + strlen(name) <= MAX_NAME ? mt_printf("%s%s%s", what, scope, name) : mt_printf("%s%s", what, name);
	free(scope);
	return full;
}

/* A constant bound: in a form without a sign 0xff is 255. */
static bool bound(Dwarf_Attribute *a, int64_t *v)
{
	const unsigned int form = dwarf_whatform(a);
	Dwarf_Sword with_sign;
	Dwarf_Word word;

	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		if (dwarf_formsdata(a, &with_sign))
			return false;
		*v = with_sign;
		return true;
	}
	if (dwarf_formudata(a, &word))
		return false;
	*v = (int64_t)word;
	return true;
}

/* Elements of a dimension; -1: not fixed. */
static int64_t extent(Dwarf_Die *range, bool fortran)
{
	Dwarf_Attribute a;
	int64_t low = fortran, high;

	if (dwarf_attr_integrate(range, DW_AT_count, &a))
		return bound(&a, &high) ? high : -1;
	if (dwarf_attr_integrate(range, DW_AT_lower_bound, &a) && !bound(&a, &low))
		return -1;
	if (!dwarf_attr_integrate(range, DW_AT_upper_bound, &a) || !bound(&a, &high))
		return -1;
	return high - low + 1;
}

/* Is it an array, also behind a typedef? Then its elements, and its dimensions as they are written. */
static bool take_array(Dwarf_Die *type, Dwarf_Die *element, char **dims)
{
	Dwarf_Die array, range;
	bool fortran, first = true;
	char *text;

	if (!peel(type, &array) || dwarf_tag(&array) != DW_TAG_array_type || !type_of(&array, element))
		return false;
	fortran = is_fortran(&array);
	text = mt_strdup(fortran ? "(" : "");
	if (dwarf_child(&array, &range) == 0)
		do {
			int64_t n;
			char *more;

			if (dwarf_tag(&range) != DW_TAG_subrange_type)
				continue;
			n = extent(&range, fortran);
			if (fortran)
				more = n >= 0 ? mt_printf("%s%s%" PRId64, text, first ? "" : ",", n) : mt_printf("%s%s:", text, first ? "" : ",");
			else
				more = n >= 0 ? mt_printf("%s[%" PRId64 "]", text, n) : mt_printf("%s[]", text);
			free(text);
			text = more;
			first = false;
		} while (dwarf_siblingof(&range, &range) == 0);
	*dims = fortran ? mt_printf("%s)", text) : mt_strdup(text);
	free(text);
	return true;
}

/* All dimensions, those of arrays of arrays as well, and what is in them. */
static char *take_arrays(Dwarf_Die *type, Dwarf_Die *element)
{
	char *all = mt_strdup(""), *dims, *more;

	*element = *type;
	for (int i = 0; i < MAX_STEPS && take_array(element, element, &dims); i++) {
		more = mt_printf("%s%s", all, dims);
		free(all);
		free(dims);
		all = more;
	}
	return all;
}

char *mt_type_declared(Dwarf_Die *type)
{
	Dwarf_Die element;
	char *dims = take_arrays(type, &element), *name = plain_name(&element, 0);
	char *text = name ? mt_printf("%s%s", name, dims) : NULL;

	free(dims);
	free(name);
	return text;
}

/* --------------------------------------------------------------- members */

struct members {
	FILE *out;
	int n;
};

/* Where a member or a base class begins in what has it, in bytes. False: not by a constant, or nowhere in it (static members). */
static bool place_of(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute a;
	int64_t v;

	if (dwarf_hasattr(die, DW_AT_external) || dwarf_hasattr(die, DW_AT_declaration) || dwarf_hasattr(die, DW_AT_const_value))
		return false;
	if (dwarf_attr(die, DW_AT_data_bit_offset, &a)) {
		if (!bound(&a, &v))
			return false;
		*offset = (uint64_t)v / 8;
		return true;
	}
	*offset = 0;	/* of a union */
	if (!dwarf_attr(die, DW_AT_data_member_location, &a))
		return true;
	if (!bound(&a, &v) || v < 0)
		return false;
	*offset = (uint64_t)v;
	return true;
}

static bool is_aggregate(Dwarf_Die *type)
{
	const int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Those of @type, which begins at @base and is called @prefix ("", "pos."). */
static void list_members(struct members *m, Dwarf_Die *type, uint64_t base, const char *prefix, int depth)
{
	Dwarf_Die die, of, peeled;

	if (dwarf_child(type, &die))
		return;
	do {
		const int tag = dwarf_tag(&die);
		const char *name = dwarf_diename(&die);
		Dwarf_Word bytes;
		uint64_t at;
		char *text;

		if (m->n >= MAX_MEMBERS || (tag != DW_TAG_member && tag != DW_TAG_inheritance) || !place_of(&die, &at) ||
		    !type_of(&die, &of) || !peel(&of, &peeled))
			continue;
		if (is_aggregate(&peeled) && depth < MAX_NESTED) {
			/* of a base class and of a structure without a name the members are those of this one */
			text = tag == DW_TAG_member && name ? mt_printf("%s%s.", prefix, name) : mt_strdup(prefix);
			list_members(m, &peeled, base + at, text, depth + 1);
			free(text);
			continue;
		}
		if (!name || dwarf_aggregate_size(&of, &bytes))
			continue;
		text = mt_type_declared(&of);
		fprintf(m->out, ";%" PRIu64 " %" PRIu64 " %s%s %s", base + at, (uint64_t)bytes, prefix, name, text ? text : "");
		free(text);
		m->n++;
	} while (dwarf_siblingof(&die, &die) == 0);
}

const void *mt_type_members_key(Dwarf_Die *type)
{
	Dwarf_Die element, peeled;
	char *dims = take_arrays(type, &element);

	free(dims);
	return peel(&element, &peeled) ? peeled.addr : NULL;
}

char *mt_type_members(Dwarf_Die *type)
{
	struct members m = { NULL, 0 };
	Dwarf_Die element, peeled;
	Dwarf_Word bytes;
	char *text, *dims = take_arrays(type, &element);
	size_t len;

	free(dims);
	if (!peel(&element, &peeled) || dwarf_aggregate_size(&peeled, &bytes) || !bytes)
		return NULL;
	if (!is_aggregate(&peeled))
		return mt_printf("%" PRIu64, (uint64_t)bytes);
	m.out = open_memstream(&text, &len);
	if (!m.out)
		return NULL;
	fprintf(m.out, "%" PRIu64, (uint64_t)bytes);
	list_members(&m, &peeled, 0, "", 0);
	fclose(m.out);
	return text;
}

/* ----------------------------------------------------------- expressions */

/* A variable or parameter of this name among the children, in blocks that hold pc before others. */
static bool find_local(Dwarf_Die *scope, Dwarf_Addr pc, const char *name, Dwarf_Die *found, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_STEPS || dwarf_child(scope, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_lexical_block && dwarf_haspc(&die, pc) > 0 && find_local(&die, pc, name, found, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	if (dwarf_child(scope, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);
		const char *here = tag == DW_TAG_variable || tag == DW_TAG_formal_parameter ? dwarf_diename(&die) : NULL;

		if (here && !strcmp(here, name)) {
			*found = die;
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The same among what is outside of functions. */
static bool find_global(Dwarf_Die *scope, const char *name, Dwarf_Die *found, int depth)
{
	Dwarf_Die die;

	if (depth > 3 || dwarf_child(scope, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);
		const char *here = tag == DW_TAG_variable ? dwarf_diename(&die) : NULL;

		if (here && !strcmp(here, name)) {
			*found = die;
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_common_block) &&
		    find_global(&die, name, found, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* A member of a structure, of one without a name in it, or of a base class. */
static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *found, int depth)
{
	Dwarf_Die of, die, inner;

	if (depth > MAX_STEPS || !peel(type, &of) || dwarf_child(&of, &die))
		return false;
	do {
		const int tag = dwarf_tag(&die);
		const char *here = dwarf_diename(&die);

		if (tag == DW_TAG_member && here && !strcasecmp(here, name) && type_of(&die, found))
			return true;
		if ((tag == DW_TAG_inheritance || (tag == DW_TAG_member && !here)) && type_of(&die, &inner) &&
		    find_member(&inner, name, found, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* Without the reference to it. */
static void behind_reference(Dwarf_Die *type)
{
	Dwarf_Die p, to;

	if (peel(type, &p) && (dwarf_tag(&p) == DW_TAG_reference_type || dwarf_tag(&p) == DW_TAG_rvalue_reference_type) &&
	    type_of(&p, &to))
		*type = to;
}

/* What a pointer points to. */
static bool behind_pointer(Dwarf_Die *type, Dwarf_Die *to)
{
	Dwarf_Die p;
	int tag;

	if (!peel(type, &p))
		return false;
	tag = dwarf_tag(&p);
	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) && type_of(&p, to);
}

/* The class that a name without "this->" may be a member of. */
static bool class_of(Dwarf_Die *chain, int n, Dwarf_Addr pc, Dwarf_Die *type)
{
	Dwarf_Die self, pointer;

	for (int i = 0; i < n; i++)
		if (find_local(&chain[i], pc, "this", &self, 0))
			return type_of(&self, &pointer) && behind_pointer(&pointer, type);
	return false;
}

static bool find_name(Dwarf_Die *cu, Dwarf_Die *chain, int n, Dwarf_Addr pc, const char *name, Dwarf_Die *type)
{
	Dwarf_Die die, owner;
	Dwarf_Attribute a;

	for (int i = 0; i < n; i++) {
		if (find_local(&chain[i], pc, name, &die, 0))
			return type_of(&die, type);
		/* what was not kept of an inlined function */
		if (dwarf_attr(&chain[i], DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &owner) &&
		    find_local(&owner, pc, name, &die, 0))
			return type_of(&die, type);
	}
	if (class_of(chain, n, pc, &owner) && find_member(&owner, name, type, 0))
		return true;
	return find_global(cu, name, &die, 0) && type_of(&die, type);
}

/* Over the brackets that begin here. */
static const char *skip_brackets(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += *p == '[' || *p == '(';
		depth -= *p == ']' || *p == ')';
		if (!depth)
			return p + 1;
	}
	return p;
}

/* One index: into a pointer, or into an array with this one dimension. */
static bool by_index(Dwarf_Die *type, Dwarf_Die *element)
{
	char *dims;
	bool ok;

	if (behind_pointer(type, element))
		return true;
	if (!take_array(type, element, &dims))
		return false;
	ok = !strchr(dims, ',') && (!strchr(dims, '[') || strchr(dims, '[') == strrchr(dims, '['));
	free(dims);
	return ok;
}

static bool type_of_expression(Dwarf_Die *cu, Dwarf_Die *chain, int n, Dwarf_Addr pc, const char *text, Dwarf_Die *type)
{
	const char *p = text, *scope;
	char name[MAX_NAME];
	int stars = 0;
	size_t len;

	for (; *p == '*' || *p == '&' || *p == ' '; p++)
		stars += *p == '*' ? 1 : *p == '&' ? -1 : 0;
	while ((scope = strstr(p, "::")))	/* by the last part: namespaces and classes are searched anyway */
		p = scope + 2;
	for (int step = 0; step < MAX_STEPS; step++) {
		for (len = 0; isalnum((unsigned char)p[len]) || p[len] == '_' || p[len] == '$'; len++)
			;
		if (!len || len >= sizeof(name))
			return false;
		memcpy(name, p, len);
		name[len] = 0;
		p += len;
		if (step) {
			Dwarf_Die owner = *type;

			behind_pointer(type, &owner);
			if (!find_member(&owner, name, type, 0))
				return false;
		} else if (!find_name(cu, chain, n, pc, name, type)) {
			/* Fortran does not know capital letters */
			for (char *c = name; *c; c++)
				*c = (char)tolower((unsigned char)*c);
			if (!is_fortran(cu) || !find_name(cu, chain, n, pc, name, type))
				return false;
		}
		while (*p == '[' || *p == '(') {
			Dwarf_Die element;

			if (!by_index(type, &element))
				return false;
			*type = element;
			p = skip_brackets(p);
		}
		if (!*p)
			break;
		if (p[0] == '-' && p[1] == '>')
			p += 2;
		else if (*p == '.' || *p == '%')
			p++;
		else
			return false;
	}
	for (; stars > 0; stars--) {
		Dwarf_Die to;

		if (!behind_pointer(type, &to))
			return false;
		*type = to;
	}
	return !*p;
}

/* ---------------------------------------------------------------- blocks */

/* The elements of containers that keep them in one block. */
static bool in_container(Dwarf_Die *type, Dwarf_Die *element)
{
	static const char *const names[] = { "vector<", "unique_ptr<", "valarray<" };
	Dwarf_Die c, die;
	const char *name;
	bool known = false;

	if (!peel(type, &c))
		return false;
	name = dwarf_diename(&c);
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		known |= !strncmp(name, names[i], strlen(names[i]));
	if (!known || dwarf_child(&c, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_template_type_parameter)
			return type_of(&die, element);
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

bool mt_type_of_block(Dwarf_Die *cu, Dwarf_Die *chain, int n, Dwarf_Addr pc, const char *name, struct mt_element *out)
{
	Dwarf_Die type, to, element;
	Dwarf_Word bytes = 0;
	char *dims;

	memset(out, 0, sizeof(*out));
	if (!type_of_expression(cu, chain, n, pc, name, &type))
		return false;
	behind_reference(&type);
	if (take_array(&type, &element, &dims)) {
		/* an allocatable array, whose descriptor the variable is */
		if (!is_fortran(cu)) {
			free(dims);
			return false;
		}
		out->dims = dims;
		out->name = plain_name(&element, 0);
		out->members = mt_type_members(&element);
	} else if (behind_pointer(&type, &to) || in_container(&type, &to)) {
		out->dims = take_arrays(&to, &element);
		out->name = plain_name(&element, 0);
		out->members = mt_type_members(&element);
		if (is_fortran(cu) && *out->dims)
			bytes = 0;
		else if (!strcmp(out->dims, "[]")) {	/* unique_ptr<double[]> */
			*out->dims = 0;
			if (dwarf_aggregate_size(&element, &bytes))
				bytes = 0;
		} else if (dwarf_aggregate_size(&to, &bytes)) {
			bytes = 0;
		}
		out->bytes = bytes;
	}
	if (!out->name || !strcmp(out->name, "void")) {
		mt_element_free(out);
		return false;
	}
	return true;
}

void mt_element_free(struct mt_element *e)
{
	free(e->name);
	free(e->dims);
	free(e->members);
	memset(e, 0, sizeof(*e));
}

char *mt_element_type(const struct mt_element *e, uint64_t block_bytes)
{
	if (!e->name)
		return NULL;
	/* one is no array; what is no multiple has something else beside them */
	if (e->bytes && block_bytes > e->bytes && block_bytes % e->bytes == 0)
		return mt_printf("%s[%" PRIu64 "]%s", e->name, block_bytes / e->bytes, e->dims);
	return mt_printf("%s%s", e->name, e->dims);
}
