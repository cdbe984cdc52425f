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
#include <sys/stat.h>

#include "cli/names/rustname.h"
#include "cli/names/srcname.h"
#include "cli/base/util.h"

#define MAX_SOURCE (32u << 20)
#define MAX_BEFORE 6		/* lines of a statement before and after the line */
#define MAX_AFTER 4

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Comments, string contents and preprocessor lines become blanks. */
static char *clean(const char *s, int fortran)
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

static const char *find_word(const char *s, const char *word, bool part)
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
	const char *p = find_word(s, "allocate", false), *b;
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
	const char *p = find_word(s, "posix_memalign", true), *e;
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
		const char *p = find_word(s, methods[i], false), *b;

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
	char *s = clean(statement, fortran), *name = NULL;
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

/*
 * Same with the position of the call in the (cleaned) statement: the object
 * that is declared there, else the last assignment before it. Tells
 * "double *a = malloc(n), *b = malloc(n)" apart.
 */
static char *name_at(const char *statement, size_t pos)
{
	char *s = clean(statement, 0), *name = NULL;
	const char *here = s + pos, *lo = s, *e, *b, *eq = NULL;
	int depth = 0;

	while (*lo == ' ')
		lo++;
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

/* ------------------------------------------------------------- the files */

struct source {
	char *path;
	char *text;		/* LF replaced by NUL; NULL: not readable */
	char **line;
	size_t n;
	struct source *next;
};

static struct source *sources[256];

static struct source *source(const char *path)
{
	unsigned int h = 5381;
	struct source *s;
	struct stat st;
	size_t cap = 0;

	for (const char *p = path; *p; p++)
		h = h * 33 + (unsigned char)*p;
	for (s = sources[h & 255]; s; s = s->next)
		if (!strcmp(s->path, path))
			return s;
	s = mt_alloc(sizeof(*s));
	s->path = mt_strdup(path);
	s->next = sources[h & 255];
	sources[h & 255] = s;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE)
		return s;
	s->text = mt_read_file(path, NULL);
	for (char *p = s->text; p && *p; ) {
		char *e = strchr(p, '\n');

		MT_GROW(s->line, s->n, cap);
		s->line[s->n++] = p;
		if (!e)
			break;
		*e = 0;
		p = e + 1;
	}
	return s;
}

static bool is_fortran(const char *path)
{
	const char *e = strrchr(path, '.');

	return e && (!strcasecmp(e, ".f90") || !strcasecmp(e, ".f") || !strcasecmp(e, ".f95") ||
		     !strcasecmp(e, ".f03") || !strcasecmp(e, ".f08") || !strcasecmp(e, ".for"));
}

static char last_char(const char *line)
{
	char *t = clean(line, 0);
	size_t n = strlen(t);
	char c;

	while (n && t[n - 1] == ' ')
		n--;
	c = n ? t[n - 1] : 0;
	free(t);
	return c;
}

static bool blank_or_directive(const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	return !*line || *line == '#';
}

/* Does the C statement end on this line? */
static bool ends(const char *line)
{
	char c = last_char(line);

	return c == ';' || c == '{' || c == '}' || c == ':' || blank_or_directive(line);
}

static bool is_rust(const char *path)
{
	const char *e = strrchr(path, '.');

	return e && !strcmp(e, ".rs");
}

/* The first and last line, from 0, of the statement around one. */
static void lines_of_statement(const struct source *s, int line, bool fortran, int *first, int *last)
{
	*first = *last = line;
	if (fortran) {
		while (*first > 0 && line - *first < MAX_BEFORE && last_char(s->line[*first - 1]) == '&')
			--*first;
		while ((size_t)*last + 1 < s->n && *last - line <= MAX_AFTER && last_char(s->line[*last]) == '&')
			++*last;
		return;
	}
	while (*first > 0 && line - *first < MAX_BEFORE && !ends(s->line[*first - 1]))
		--*first;
	while ((size_t)*last + 1 < s->n && *last - line <= MAX_AFTER && !ends(s->line[*last]))
		++*last;
}

/* The statement around a line, its lines joined. *at: where the column is in it, from 1; 0: not known. */
static char *statement_at(const struct source *s, int line, int column, bool fortran, size_t *at)
{
	int first, last;
	char *statement;
	size_t n = 1;

	*at = 0;
	lines_of_statement(s, line - 1, fortran, &first, &last);
	for (int i = first; i <= last; i++)
		n += strlen(s->line[i]) + 1;
	statement = mt_alloc(n);
	for (int i = first; i <= last; i++) {
		size_t len = strlen(s->line[i]);
		char *w = statement + strlen(statement);

		if (i == line - 1 && column > 0 && (size_t)column <= len)
			*at = (size_t)(w - statement) + (size_t)column;

		memcpy(w, s->line[i], len);
		while (fortran && len && (w[len - 1] == ' ' || w[len - 1] == '&'))
			len--;		/* continuation */
		w[len] = ' ';
		w[len + 1] = 0;
		/* a // comment of this line must not swallow the next ones */
		if (!fortran) {
			char *c = clean(w, 0);

			memcpy(w, c, strlen(c));
			free(c);
		}
	}
	return statement;
}

/* Of several statements on one line the one in which the call stands. */
static char *name_at_column(const char *statement, size_t at, int item)
{
	size_t from = at - 1;
	char *part, *semi, *name;

	while (from && !strchr(";{}", statement[from - 1]))
		from--;
	part = mt_strdup(statement + from);
	semi = strchr(part + (at - 1 - from), ';');
	if (semi)
		*semi = 0;
	name = strstr(part, "posix_memalign") ? NULL : name_at(part, at - 1 - from);
	if (!name)
		name = mt_name_in_statement(part, item, 0);
	free(part);
	return name;
}

/* Of several statements the one that has a word of allocation. It is cut there. */
static char *allocating(char *statement)
{
	static const char *const words[] = { "alloc", "new", "mmap", "memalign" };
	char *semi;

	for (char *p = statement; p; p = semi ? semi + 1 : NULL) {
		semi = strchr(p, ';');
		if (semi)
			*semi = 0;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (find_word(p, words[i], i == 0 || i == 3))
				return p;
		if (semi)
			*semi = ';';
	}
	return NULL;
}

char *mt_name_in_file(const char *file, int line, int column, int item)
{
	struct source *s = source(file);
	const bool fortran = is_fortran(file), rust = is_rust(file);
	char *statement, *name = NULL, *semi, *part;
	size_t at;

	if (line < 1 || (size_t)line > s->n)
		return NULL;
	statement = statement_at(s, line, column, fortran, &at);
	semi = strchr(statement, ';');
	if (rust)
		name = mt_name_in_rust(statement, at);
	else if (!fortran && at)
		name = name_at_column(statement, at, item);
	if (!name && !rust) {
		part = !fortran && semi && semi[1] ? allocating(statement) : NULL;
		name = mt_name_in_statement(part ? part : statement, item, fortran);
	}
	free(statement);
	return name;
}

/* ------------------------------------------------ what a function returns */

#define MAX_BEHIND 200		/* lines that are looked at behind the allocation */

/* "return name;", "return (T *)name;", "return std::move(name);": the word at the end of what is returned. */
static bool returns(const char *text, const char *name)
{
	const char *p = find_word(text, "return", false), *end;
	const size_t n = strlen(name);

	if (!p)
		return false;
	p += 6;
	p += strspn(p, " ");
	end = p + strcspn(p, ";");
	while (end > p && strchr(" )", end[-1]))
		end--;
	if ((size_t)(end - p) < n || strncmp(end - n, name, n) || strchr("*!&", *p))
		return false;
	return end - n == p || (!is_ident(end[-n - 1]) && !strchr(".>", end[-n - 1]) && strcspn(p, "=+-/!|?%<,") >= (size_t)(end - p));
}

/* Does another function begin on this line? */
static bool begins_function(const char *text)
{
	static const char *const words[] = { "if", "for", "while", "else", "switch", "do", "catch", "try", "match", "loop" };
	const char *first = text + strspn(text, " }");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(first, words[i], strlen(words[i])) && !is_ident(first[strlen(words[i])]))
			return false;
	return strchr(text, '(') && strchr(text, '{');
}

bool mt_name_is_returned(const char *file, int line, const char *name)
{
	struct source *s = source(file);
	const bool rust = is_rust(file);
	int depth = 0, least = 0;
	bool found = false;

	if (line < 1 || (size_t)line > s->n || is_fortran(file))
		return false;
	if (!name) {
		for (int i = line - 1; i >= 0 && line - 1 - i <= MAX_BEFORE && !found; i--) {
			char *text = clean(s->line[i], 0);

			found = i == line - 1 ? find_word(text, "return", false) != NULL : !strncmp(text + strspn(text, " {"), "return ", 7);
			free(text);
			if (i && ends(s->line[i - 1]))
				break;
		}
		return found;
	}
	/* a function that ends on the line */
	for (const char *p = strrchr(s->line[line - 1], ';'); p && *p; p++) {
		depth += (*p == '{') - (*p == '}');
		least = depth < least ? depth : least;
	}
	for (size_t i = (size_t)line; i < s->n && i < (size_t)line + MAX_BEHIND && !found; i++) {
		char *text = clean(s->line[i], 0);
		const char *word = text + strspn(text, " ");
		const size_t n = strlen(name);

		if (*text == '}' || (least < 0 && begins_function(text))) {
			free(text);
			break;
		}
		for (const char *p = text; *p; p++) {
			depth += (*p == '{') - (*p == '}');
			least = depth < least ? depth : least;
		}
		found = returns(text, name) || (rust && !strncmp(word, name, n) && !word[n + strspn(word + n, " ")] && i + 1 < s->n &&
						s->line[i + 1][strspn(s->line[i + 1], " \t")] == '}');
		free(text);
	}
	return found;
}
