/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* source.c - sources of the program: the statement of a line, what is assigned in it, what its function returns. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/names/rustname.h"
#include "cli/names/source.h"
#include "cli/names/srcname.h"
#include "cli/base/util.h"

#define MAX_SOURCE (32u << 20)
#define MAX_BEFORE 6		/* lines of a statement before and after the line */
#define MAX_AFTER 4

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

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
	char *t = mt_source_clean(line, 0);
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
			char *c = mt_source_clean(w, 0);

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
	name = strstr(part, "posix_memalign") ? NULL : mt_name_at(part, at - 1 - from);
	if (!name)
		name = mt_name_in_statement(part, item, 0);
	free(part);
	return name;
}

char *mt_address_in_file(const char *file, int line, int column)
{
	struct source *s = source(file);
	char *statement, *part, *clear, *name;
	size_t at;

	if (line < 1 || (size_t)line > s->n || is_fortran(file) || is_rust(file))
		return NULL;
	statement = statement_at(s, line, column, false, &at);
	part = statement;
	for (char *p = statement; *p; p++) {	/* of several the one in which the call stands */
		if (*p != ';')
			continue;
		if (at && (size_t)(p - statement) < at) {
			part = p + 1;
		} else {
			*p = 0;
			break;
		}
	}
	clear = mt_source_clean(part, 0);
	name = mt_name_of_address(clear);
	free(clear);
	free(statement);
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
			if (mt_find_word(p, words[i], i == 0 || i == 3))
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
	const char *p = mt_find_word(text, "return", false), *end;
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
			char *text = mt_source_clean(s->line[i], 0);

			found = i == line - 1 ? mt_find_word(text, "return", false) != NULL : !strncmp(text + strspn(text, " {"), "return ", 7);
			free(text);
			if (i && ends(s->line[i - 1]))
				break;
		}
		return found;
	}
	/* a function that ends on the line, or returns it there */
	if (strstr(s->line[line - 1], name) && strchr(strstr(s->line[line - 1], name), ';')) {
		char *text = mt_source_clean(strchr(strstr(s->line[line - 1], name), ';') + 1, 0);

		found = returns(text, name);
		free(text);
	}
	for (const char *p = strrchr(s->line[line - 1], ';'); p && *p; p++) {
		depth += (*p == '{') - (*p == '}');
		least = depth < least ? depth : least;
	}
	for (size_t i = (size_t)line; i < s->n && i < (size_t)line + MAX_BEHIND && !found; i++) {
		char *text = mt_source_clean(s->line[i], 0);
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
