/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * srcname.c - names of data structures, read from the source.
 *
 * No compiler front end: the line of the allocation is known exactly from
 * DWARF, and on it a few forms cover nearly all programs:
 *
 *	lvalue = ... alloc(...)         double *A = malloc(n), m->data = calloc(..)
 *	posix_memalign(&lvalue, ...)    also with casts
 *	object.method(...)              v.resize(n), map.insert(..)
 *	Type object(n), Type object{n}  std::vector<double> v(n)
 *	object[key] = ...               hash[k] = v makes the table grow
 *	allocate(a(n), b(n))            Fortran
 *
 * A form that is not recognised gives no name: a wrong name is worse.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/names/srcname.h"
#include "cli/base/util.h"

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Comments, string contents and preprocessor lines become blanks. */
char *mt_source_clean(const char *s, int fortran)
{
	char *t = mt_strdup(s);

	for (char *p = t; *p; p++) {
		if (fortran ? *p == '!' : (*p == '/' && p[1] == '/')) {
			while (*p && *p != '\n')
				*p++ = ' ';
			if (!*p)
				break;
		} else if (!fortran && *p == '/' && p[1] == '*') {
			while (*p && !(*p == '*' && p[1] == '/'))
				*p++ = ' ';
			if (!*p)
				break;
			p[0] = p[1] = ' ';
		} else if (*p == '"' || *p == '\'') {
			char q = *p;

			/* a digit separator of C++ (1'000) is no quote */
			if (q == '\'' && p > t && isdigit((unsigned char)p[-1]) &&
			    isalnum((unsigned char)p[1]))
				continue;
			for (p++; *p && *p != q && *p != '\n'; p++) {
				if (*p == '\\' && p[1])
					*p++ = ' ';
				*p = ' ';
			}
			if (!*p)
				break;
		}
	}
	for (char *p = t; *p; p++)
		if (*p == '\n' || *p == '\t' || *p == '\r')
			*p = ' ';
	return t;
}

static char *cut(const char *from, const char *to)
{
	char *s = mt_alloc((size_t)(to - from) + 1), *w = s;

	for (; from < to; from++)	/* "m -> data" and "m->data" are one name */
		if (*from != ' ')
			*w++ = *from;
	if (!s[0] || w - s > 200) {
		free(s);
		return NULL;
	}
	return s;
}

static const char *skip_back(const char *lo, const char *p)
{
	while (p > lo && p[-1] == ' ')
		p--;
	return p;
}

/*
 * The lvalue that ends at `end`: identifiers joined by . -> :: with index
 * expressions, e.g. this->rows[i].data. *begin is set to its first character.
 */
static bool lvalue_before(const char *lo, const char *end, const char **begin)
{
	const char *p = skip_back(lo, end), *q;

	for (;;) {
		p = skip_back(lo, p);
		if (p > lo && (p[-1] == ']' || p[-1] == ')')) {
			char close = p[-1], open = close == ']' ? '[' : '(';
			int depth = 0;

			while (p > lo) {
				p--;
				if (*p == close)
					depth++;
				else if (*p == open && --depth == 0)
					break;
			}
			if (depth)
				return false;
			if (close == ')') {	/* (*p)[N] or (*p) */
				*begin = p;
				return true;
			}
			continue;
		}
		q = p;
		while (p > lo && is_ident(p[-1]))
			p--;
		if (p == q || isdigit((unsigned char)*p))
			return false;
		*begin = p;
		p = skip_back(lo, p);
		if (p > lo && p[-1] == '.') {
			p--;
		} else if (p - lo >= 2 && p[-1] == '>' && p[-2] == '-') {
			p -= 2;
		} else if (p - lo >= 2 && p[-1] == ':' && p[-2] == ':') {
			p -= 2;
		} else {
			return true;
		}
	}
}

/* Text from begin to end as a name; (*B)[8] becomes B, (*B) becomes B, and
 * *out = keeps its star when only stars stand before it in the statement. */
static char *name_of(const char *lo, const char *begin, const char *end)
{
	const char *p = begin;

	end = skip_back(begin, end);
	if (*begin == '(') {		/* declarator of a pointer to array, or (*p) */
		const char *q = begin + 1;

		while (q < end && (*q == '*' || *q == ' ' || *q == '('))
			q++;
		p = q;
		while (q < end && (is_ident(*q) || *q == '.' || (*q == '-' && q[1] == '>') ||
				   *q == '>'))
			q++;
		return q > p ? cut(p, q) : NULL;
	}
	p = skip_back(lo, begin);
	if (p > lo && p[-1] == '*') {
		const char *q = p;

		while (q > lo && (q[-1] == '*' || q[-1] == ' '))
			q--;
		if (q == lo)		/* *out = malloc(n) */
			return cut(p - 1, end);
	}
	return cut(begin, end);
}

static const char *begin_of(const char *s)
{
	return s + strspn(s, " ");
}

static bool is_keyword(const char *s)
{
	static const char *const words[] = { "return", "if", "while", "for", "else", "switch",
		"sizeof", "new", "delete", "throw", "case", "auto", "const", "static", "do", "using" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

/* Is it a word that cannot be assigned to? Words of C++ alone are names in C: "double *new = malloc(n)". */
static bool is_no_name(const char *s)
{
	static const char *const words[] = { "return", "if", "while", "for", "else", "switch", "sizeof", "case", "auto", "const", "static", "do" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

const char *mt_find_word(const char *s, const char *word, bool part)
{
	size_t n = strlen(word);

	for (const char *p = strcasestr(s, word); p; p = strcasestr(p + 1, word))
		if (part || ((p == s || !is_ident(p[-1])) && !is_ident(p[n])))
			return p;
	return NULL;
}

/* allocate(a(n, m), x%b(n)) : the item-th object */
static char *fortran_name(const char *s, int item)
{
	const char *p = mt_find_word(s, "allocate", false), *b;
	int depth = 0, k = 0;

	if (!p) {	/* automatic allocation on assignment: a = [..] */
		const char *eq = strchr(s, '=');

		if (!eq || eq[1] == '=' || !lvalue_before(s, eq, &b))
			return NULL;
		return cut(b, skip_back(b, eq));
	}
	p += 8;
	while (*p == ' ')
		p++;
	if (*p != '(')
		return NULL;
	p++;
	for (const char *q = strstr(p, "::"); q; q = NULL)	/* allocate(type :: a(n)) */
		p = q + 2;
	for (b = p; *p; p++) {
		if (*p == '(') {
			if (depth == 0 && k == item) {
				while (b < p && *b == ' ')
					b++;
				return cut(b, p);
			}
			depth++;
		} else if (*p == ')') {
			if (depth-- == 0)
				break;
		} else if (*p == ',' && depth == 0) {
			b = p + 1;
			k++;
		}
	}
	return NULL;
}

/* The first = that assigns, outside of parentheses and brackets if possible. */
static const char *assignment(const char *s)
{
	const char *inner = NULL;
	int depth = 0;

	for (const char *p = s; *p; p++) {
		if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if (*p == ')' || *p == ']' || *p == '}')
			depth--;
		if (*p != '=')
			continue;
		if (p[1] == '=') {
			p++;
			continue;
		}
		if (p > s && strchr("=!<>+-*/%&|^", p[-1]))
			continue;
		if (depth <= 0)
			return p;
		if (!inner)
			inner = p;	/* if ((p = malloc(n)) == NULL) */
	}
	return inner;
}

/* posix_memalign((void **)&m->data, ...) : what follows the & */
static char *out_argument(const char *s)
{
	const char *p = mt_find_word(s, "posix_memalign", true), *e;
	int depth = 0;

	if (!p)
		return NULL;
	p = strchr(p, '(');
	if (!p)
		return NULL;
	for (e = p + 1; *e; e++) {
		if (*e == '(' || *e == '[')
			depth++;
		else if (*e == ')' || *e == ']')
			depth--;
		if ((*e == ',' && depth == 0) || depth < 0)
			break;
	}
	for (const char *q = p + 1; q < e; q++)
		if (*q == '&')
			return cut(q + 1, skip_back(q, e));
	/* a pointer to the pointer is passed on */
	for (const char *q = e; q > p; q--)
		if (q[-1] == ')' || q[-1] == '(' || q[-1] == ' ')
			return cut(q, skip_back(q, e));
	return NULL;
}

/* v.resize(n), p->push_back(x) */
static char *method_object(const char *s)
{
	static const char *const methods[] = { "resize", "reserve", "push_back", "emplace_back",
		"insert", "emplace", "assign", "append", "push", "try_emplace", "push_front",
		"emplace_front", "reset", "rehash", "shrink_to_fit", "insert_or_assign" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const char *p = mt_find_word(s, methods[i], false), *b;

		if (!p || p == s)
			continue;
		p = skip_back(s, p);
		if (p > s && p[-1] == '.')
			p--;
		else if (p - s >= 2 && p[-1] == '>' && p[-2] == '-')
			p -= 2;
		else
			continue;
		if (lvalue_before(s, p, &b))
			return name_of(s, b, p);
	}
	return NULL;
}

/* std::vector<double> v(n), Matrix m{n, n}: two words, then ( or {. */
static char *declared_object(const char *s)
{
	int angle = 0;

	for (const char *p = s; *p; p++) {
		const char *b, *t;

		if (*p == '<')
			angle++;
		else if (*p == '>' && angle)
			angle--;
		if ((*p != '(' && *p != '{') || angle)
			continue;
		t = skip_back(s, p);
		b = t;
		while (b > s && is_ident(b[-1]))
			b--;
		if (b == t || isdigit((unsigned char)*b))
			return NULL;
		t = skip_back(s, b);
		/* the type ends with an identifier or a template's > before blanks */
		if (t > s && t < b && (is_ident(t[-1]) || t[-1] == '>')) {
			char *n = cut(b, skip_back(b, p)), *type;
			const char *tb = t;

			while (tb > s && is_ident(tb[-1]))
				tb--;
			type = cut(tb, t);
			if ((type && is_keyword(type)) || (n && is_keyword(n))) {
				free(type);
				free(n);
				return NULL;
			}
			free(type);
			return n;
		}
		return NULL;
	}
	return NULL;
}

char *mt_name_in_statement(const char *statement, int item, int fortran)
{
	char *s = mt_source_clean(statement, fortran), *name = NULL;
	const char *lo = s, *eq, *b;

	while (*lo == ' ' || *lo == '{' || *lo == '}' || *lo == ';')
		lo++;
	if (fortran) {
		name = fortran_name(lo, item);
		goto out;
	}
	name = out_argument(lo);
	if (name)
		goto out;
	eq = assignment(lo);
	if (eq) {
		if (lvalue_before(lo, eq, &b)) {
			name = name_of(lo, b, eq);
			if (name && is_no_name(name)) {
				free(name);
				name = NULL;
			}
		}
		goto out;
	}
	name = method_object(lo);
	if (!name)
		name = declared_object(lo);
out:
	free(s);
	return name;
}

/* f(&lvalue, n): the only argument of which the address is passed. NULL: there is none, or several. */
char *mt_name_of_address(const char *s)
{
	char *found = NULL;

	for (const char *p = s; *p; p++) {
		const char *from, *to;
		int depth = 0;

		if (*p != '(' && *p != ',')
			continue;
		for (from = p + 1; *from == ' ';)
			from++;
		if (*from != '&' || from[1] == '&')
			continue;
		for (to = from; *to && depth >= 0 && (depth || *to != ','); to++)
			depth += (*to == '(' || *to == '[') - (*to == ')' || *to == ']');
		if (found) {
			free(found);
			return NULL;
		}
		found = cut(from + 1, skip_back(from, depth < 0 ? to - 1 : to));
	}
	return found;
}

/* The member that a constructor initialises where the call stands: "Sim(int n) : pos(n), force(new double[n])". */
static char *initialised_member(const char *s, const char *here)
{
	const char *item = NULL, *end;
	int depth = 0;

	for (const char *p = s; p < here; p++) {
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (depth)
			continue;
		if (*p == ':' && p[1] == ':') {
			p++;
		} else if (!item && strchr("?=", *p)) {
			return NULL;
		} else if (*p == ':' && !item) {
			const char *before = skip_back(s, p);

			if (before == s || before[-1] != ')')
				return NULL;
			item = p + 1;
		} else if (*p == ',' && item) {
			item = p + 1;
		}
	}
	if (!item)
		return NULL;
	item = begin_of(item);
	for (end = item; is_ident(*end); end++)
		;
	return end > item && strchr("({", *begin_of(end)) && *begin_of(end) ? cut(item, end) : NULL;
}

/*
 * Same with the position of the call in the (cleaned) statement: the object
 * that is declared there, else the last assignment before it. Tells
 * "double *a = malloc(n), *b = malloc(n)" apart.
 */
char *mt_name_at(const char *statement, size_t pos)
{
	char *s = mt_source_clean(statement, 0), *name = NULL;
	const char *here = s + pos, *lo = s, *e, *b, *eq = NULL;
	int depth = 0;

	while (*lo == ' ')
		lo++;
	name = initialised_member(lo, here);
	if (name)
		goto out;
	for (const char *p = lo; p < here; p++)
		depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
	for (e = here; is_ident(*e); e++)
		;
	b = e;
	while (b > lo && is_ident(b[-1]))
		b--;
	if (e > b && !isdigit((unsigned char)*b) && depth == 0) {
		const char *next = e + strspn(e, " "), *before = skip_back(lo, b);
		const char *w = before;

		while (w > lo && is_ident(w[-1]))
			w--;
		if ((*next == '(' || *next == '{') && before > lo) {
			char *type = cut(w, before);
			bool word = type && !is_keyword(type) && before < b;

			if (word || (before[-1] == '>' && before - lo >= 2 && before[-2] != '-' &&
				     before < b) ||
			    (before[-1] == ',' && !memchr(lo, '=', (size_t)(b - lo))))
				name = cut(b, e);
			free(type);
			if (name)
				goto out;
		}
	}
	for (const char *p = lo; p < here; p++) {
		if (*p != '=')
			continue;
		if (p[1] == '=') {
			p++;
			continue;
		}
		if (p > lo && strchr("=!<>+-*/%&|^", p[-1]))
			continue;
		eq = p;
	}
	if (eq && lvalue_before(lo, eq, &b)) {
		const char *from = lo;

		/* the declarator begins behind the last comma outside of brackets */
		for (const char *p = lo, *q = lo; p < b; p++) {
			if (*p == '(' || *p == '[')
				q = NULL;
			if (*p == ',' && q)
				from = p + 1;
			if (*p == ')' || *p == ']')
				q = p;
		}
		/* a star behind a comma belongs to a declaration: no dereference */
		if (from > lo && *begin_of(from) == '*')
			name = cut(b, skip_back(b, eq));
		else
			name = name_of(lo, b, eq);
		if (name && is_no_name(name)) {
			free(name);
			name = NULL;
		}
	}
out:
	free(s);
	return name;
}
