/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * rustname.c - names in Rust:
 *
 *	let mut v: Vec<f64> = vec![0.0; n];		v
 *	self.cells = Vec::with_capacity(n);		self.cells
 *	let g = Grid { cells: vec![0.0; n], .. };	g.cells
 *	particles.push(p);				particles
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/rustname.h"
#include "cli/base/util.h"

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Comments and the contents of strings and characters become blanks; lifetimes ('a) are no characters. */
static char *without_text(const char *statement)
{
	char *t = mt_strdup(statement);

	for (char *p = t; *p; p++) {
		if (p[0] == '/' && p[1] == '/') {
			while (*p)
				*p++ = ' ';
			break;
		}
		if (p[0] == '/' && p[1] == '*') {
			const char *end = strstr(p + 2, "*/");

			for (const char *stop = end ? end + 2 : p + strlen(p); p < stop;)
				*p++ = ' ';
			if (!*p)
				break;
		}
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++) {
				if (*p == '\\' && p[1])
					*p++ = ' ';
				*p = ' ';
			}
			if (!*p)
				break;
		} else if (*p == '\'' && p[1] && (p[1] == '\\' || p[2] == '\'')) {
			for (p++; *p && *p != '\''; p++) {
				if (*p == '\\' && p[1])
					*p++ = ' ';
				*p = ' ';
			}
			if (!*p)
				break;
		} else if (*p == '\t') {
			*p = ' ';
		}
	}
	return t;
}

static const char *skip(const char *p)
{
	return p + strspn(p, " ");
}

static char *text(const char *from, const char *to)
{
	char *s, *w;

	if (to <= from || to - from > 200)
		return NULL;
	s = w = mt_alloc((size_t)(to - from) + 1);
	for (; from < to; from++)
		if (*from != ' ')
			*w++ = *from;
	return s;
}

/* "name:" of a field in a literal, which a path "name::" is not. NULL: none. */
static char *field(const char *from)
{
	const char *p = skip(from), *end = p;

	while (is_ident(*end))
		end++;
	if (end == p || isdigit((unsigned char)*p) || *skip(end) != ':' || skip(end)[1] == ':')
		return NULL;
	return text(p, end);
}

/* "let mut name: Type =": its name; a pattern of several has none. *is_let: it is such a statement. */
static char *declared(const char *from, bool *is_let)
{
	const char *p = skip(from), *end;

	if (!strncmp(p, "if ", 3) || !strncmp(p, "while ", 6))
		p = skip(strchr(p, ' '));
	*is_let = !strncmp(p, "let ", 4) || !strncmp(p, "static ", 7) || !strncmp(p, "const ", 6);
	if (!*is_let)
		return NULL;
	p = skip(strchr(p, ' '));
	if (!strncmp(p, "mut ", 4))
		p = skip(p + 4);
	for (end = p; is_ident(*end); end++)
		;
	return *skip(end) == '=' || *skip(end) == ':' ? text(p, end) : NULL;
}

/* The first = in [from, to) that assigns. */
static const char *assigns(const char *from, const char *to)
{
	for (const char *p = from; p < to; p++) {
		if (*p != '=')
			continue;
		if (p[1] == '=' || p[1] == '>') {
			p++;
			continue;
		}
		if (p == from || !strchr("=!<>+-*/%&|^", p[-1]))
			return p;
	}
	return NULL;
}

/* "a.b[i].c" that ends before @end: its begin. */
static const char *path_before(const char *lo, const char *end)
{
	const char *p = end;

	for (;;) {
		const char *word;

		while (p > lo && (p[-1] == ']' || p[-1] == ' ')) {
			int depth = 0;

			if (*--p == ' ')
				continue;
			for (depth = 1; p > lo && depth;) {
				p--;
				depth += (*p == ']') - (*p == '[');
			}
			if (depth)
				return NULL;
		}
		for (word = p; p > lo && is_ident(p[-1]); p--)
			;
		if (p == word)
			return NULL;
		if (p > lo && p[-1] == '.')
			p--;
		else
			return p;
	}
}

/* The object of the last method before @to that may allocate for it. */
static char *grown(const char *from, const char *to)
{
	static const char *const methods[] = { "push", "push_str", "push_back", "push_front", "insert", "extend", "extend_from_slice", "resize",
		"reserve", "reserve_exact", "append", "entry" };

	for (const char *p = to; p > from; p--) {
		const char *end = p, *word;

		if (*p != '(')
			continue;
		for (word = end; word > from && is_ident(word[-1]); word--)
			;
		if (word == from || word[-1] != '.')
			continue;
		for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
			if (strlen(methods[i]) == (size_t)(end - word) && !strncmp(word, methods[i], (size_t)(end - word))) {
				const char *begin = path_before(from, word - 1);

				return begin ? text(begin, word - 1) : NULL;
			}
	}
	return NULL;
}

char *mt_name_in_rust(const char *statement, size_t pos)
{
	char *s = without_text(statement), *member = NULL, *name = NULL;
	const size_t len = strlen(s);
	const char *here = s + (pos && pos < len ? pos : len), *from, *segment = NULL;
	bool is_let = false;
	int depth = 0;

	while (!pos && here > s && strchr(" ;", here[-1]))
		here--;
	from = here;
	/* back to the begin of the statement, out of literals */
	for (; from > s; from--) {
		const char c = from[-1];

		if (strchr(")]}", c)) {
			if (c == '}' && !depth && pos == 0)
				break;
			depth++;
		} else if (c == ';' && depth <= 0) {
			break;
		} else if (c == ',' && depth <= 0 && !segment) {
			segment = from;
		} else if (strchr("([{", c) && depth-- <= 0) {
			depth = 0;
			if (c != '{') {
				segment = NULL;
				continue;
			}
			if (!member)
				member = field(segment ? segment : from);
			segment = NULL;
			if (!member)	/* a block */
				break;
		}
	}
	if (!member && pos)
		member = field(segment ? segment : from);
	name = declared(from, &is_let);
	if (!is_let && !member) {
		const char *eq = assigns(from, here), *begin = eq ? path_before(from, eq) : NULL;

		name = begin && begin == skip(from) ? text(begin, eq) : NULL;
		if (!name)
			name = grown(from, pos ? s + len : here);
	}
	if (member && name && is_let) {
		char *both = mt_printf("%s.%s", name, member);

		free(name);
		free(member);
		name = both;
		member = NULL;
	}
	if (!name) {
		name = member;
		member = NULL;
	}
	free(member);
	free(s);
	return name;
}
