/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* The command table as text, Markdown and man pages. The table is ASCII: bytes are columns. */
#include "cli/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

#define WIDTH 80

static void indent(FILE *f, int columns)
{
	fprintf(f, "%*s", columns, "");
}

/*
 * Prints @text reflowed, each line behind @left columns; the cursor already
 * stands at column @at (0: nothing printed in this line). Lines that begin
 * with a space are kept, blank lines separate paragraphs.
 */
static void wrap(FILE *f, const char *text, int left, int at)
{
	int column = at;
	bool fresh = at <= left;	/* nothing of the text in this line yet */

	if (at < left) {
		indent(f, left - at);
		column = left;
	}
	while (*text) {
		size_t n;

		if (*text == '\n') {
			text++;
			if (*text == '\n' || *text == ' ' || !*text) {
				bool paragraph = *text == '\n';

				if (*text)
					fputc('\n', f);
				while (*text == '\n')
					text++;
				if (paragraph)
					fputc('\n', f);
				if (*text == ' ') {
					n = strcspn(text, "\n");
					indent(f, left);
					fwrite(text, 1, n, f);
					text += n;
					column = WIDTH;	/* the next word begins a line */
					fresh = false;
				} else if (*text) {
					indent(f, left);
					column = left;
					fresh = true;
				}
			}
			continue;
		}
		if (*text == ' ') {
			text++;
			continue;
		}
		n = strcspn(text, " \n");
		if (!fresh && column + 1 + (int)n > WIDTH) {
			fputc('\n', f);
			indent(f, left);
			column = left;
			fresh = true;
		}
		if (!fresh) {
			fputc(' ', f);
			column++;
		}
		fwrite(text, 1, n, f);
		column += (int)n;
		fresh = false;
		text += n;
	}
	fputc('\n', f);
}

static const char *before_value(const struct mt_option *o)
{
	return o->optional ? "[=" : o->arg ? " " : "";
}

static int label(char *buf, size_t size, const struct mt_option *o)
{
	return snprintf(buf, size, "%c%c%s--%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			o->letter ? ", " : "  ", o->name, before_value(o), o->arg ? o->arg : "", o->optional ? "]" : "");
}

static void default_of(char *buf, size_t size, const struct mt_option *o)
{
	char limits[64] = "";

	if (o->min && o->max)
		snprintf(limits, sizeof limits, "%s to %s", o->min, o->max);
	else if (o->min)
		snprintf(limits, sizeof limits, "at least %s", o->min);
	else if (o->max)
		snprintf(limits, sizeof limits, "at most %s", o->max);
	buf[0] = '\0';
	if (o->dflt && limits[0])
		snprintf(buf, size, " [default %s; %s]", o->dflt, limits);
	else if (o->dflt)
		snprintf(buf, size, " [default %s]", o->dflt);
	else if (limits[0])
		snprintf(buf, size, " [%s]", limits);
}

#define TEXT_COLUMN 26

static void entry(FILE *f, const char *name, const char *text, int left)
{
	int n = fprintf(f, "  %s", name);

	if (n > left - 2) {
		fputc('\n', f);
		n = 0;
	}
	wrap(f, text, left, n);
}

static void options(FILE *f, const struct mt_option *o)
{
	char name[128], dflt[128];

	for (; o->name; o++) {
		char *text;

		label(name, sizeof name, o);
		default_of(dflt, sizeof dflt, o);
		text = mt_printf("%s%s", o->text, dflt);	/* lists of names have no greatest length */
		entry(f, name, text, TEXT_COLUMN);
		free(text);
	}
}

static void usage(FILE *f, const struct mt_command *c, const char *first, const char *next, const char *end)
{
	const char *p = c->usage;
	bool overview = c == &mt_common;

	do {
		size_t n = strcspn(p, "\n");

		fprintf(f, "%smemtrace%s%s%s%.*s%s", p == c->usage ? first : next, overview ? "" : " ",
			overview ? "" : c->name, n ? " " : "", (int)n, p, end);
		p += n + (p[n] == '\n');
	} while (*p);
}

static void items(FILE *f, const char *title, const struct mt_item *i)
{
	int left = 0;
	const struct mt_item *k;

	if (!i->label)
		return;
	fprintf(f, "\n%s:\n", title);
	for (k = i; k->label; k++)
		if ((int)strlen(k->label) + 4 > left && strlen(k->label) + 4 <= TEXT_COLUMN)
			left = (int)strlen(k->label) + 4;
	if (!left)
		left = TEXT_COLUMN;
	for (; i->label; i++)
		entry(f, i->label, i->text, left);
}

static void examples(FILE *f, const struct mt_item *i)
{
	if (!i->label)
		return;
	fputs("\nExamples:\n", f);
	for (; i->label; i++) {
		fprintf(f, "  %s\n", i->label);
		wrap(f, i->text, 6, 0);
	}
}

void mt_help_command(FILE *f, const struct mt_command *c)
{
	fprintf(f, "memtrace %s - %s\n\n", c->name, c->summary);
	usage(f, c, "Usage: ", "       ", "\n");
	if (*c->text) {
		fputc('\n', f);
		wrap(f, c->text, 0, 0);
	}
	items(f, "Arguments", c->arguments);
	fputs("\nOptions:\n", f);
	options(f, c->options);
	options(f, mt_common.options);
	examples(f, c->examples);
	items(f, "Exit codes", c->exits);
	items(f, "Environment", c->variables);
}

void mt_help_overview(FILE *f)
{
	const struct mt_command *c;
	const char *section = "";

	fprintf(f, "memtrace - %s\n\n", mt_common.summary);
	usage(f, &mt_common, "Usage: ", "       ", "\n");
	fputc('\n', f);
	wrap(f, mt_common.text, 0, 0);
	for (c = mt_commands; c->name; c++) {
		if (strcmp(section, c->section)) {
			section = c->section;
			fprintf(f, "\n%s:\n", section);
		}
		fprintf(f, "  %-12s  %s\n", c->name, c->summary);
	}
	fputs("\nOptions of every command:\n", f);
	options(f, mt_common.options);
	examples(f, mt_common.examples);
	items(f, "Exit codes", mt_common.exits);
	items(f, "Environment", mt_common.variables);
	fputs("\n'memtrace help COMMAND' tells more about a command.\n", f);
}

/* --- Markdown ----------------------------------------------------------- */

/* The name of a command in the anchor of its heading, as GitHub and MkDocs make it: without signs. */
static void markdown_anchor(FILE *f, const char *name)
{
	for (; *name; name++) {
		if (isalnum((unsigned char)*name) || *name == '-')
			fputc(*name, f);
	}
}

static void markdown_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (strchr("|<>*_[]\\", *s))
			fputc('\\', f);
		fputc(*s == '\n' && s[1] != '\n' && (s[-1] != '\n') ? ' ' : *s, f);
	}
}

static void markdown_items(FILE *f, const char *title, const struct mt_item *i)
{
	if (!i->label)
		return;
	fprintf(f, "\n%s:\n\n", title);
	for (; i->label; i++) {
		fprintf(f, "- `%s`: ", i->label);
		markdown_text(f, i->text);
		fputc('\n', f);
	}
}

static void markdown_options(FILE *f, const struct mt_option *o)
{
	char dflt[128];

	for (; o->name; o++) {
		default_of(dflt, sizeof dflt, o);
		fputs("- `", f);
		if (o->letter)
			fprintf(f, "-%c`, `", o->letter);
		fprintf(f, "--%s%s%s%s`: ", o->name, before_value(o), o->arg ? o->arg : "", o->optional ? "]" : "");
		markdown_text(f, o->text);
		markdown_text(f, dflt);
		fputc('\n', f);
	}
}

static void markdown_examples(FILE *f, const struct mt_item *i)
{
	if (!i->label)
		return;
	fputs("\nExamples:\n", f);
	for (; i->label; i++) {
		fputc('\n', f);
		markdown_text(f, i->text);
		fprintf(f, "\n\n```\n%s\n```\n", i->label);
	}
}

void mt_help_markdown(FILE *f)
{
	const struct mt_command *c;
	const char *section = "";

	fputs("<!-- Generated by `memtrace help --markdown`; the source is org.memtrace.cli/commands/. -->\n", f);
	fputs("# The command line\n\n```\n", f);
	usage(f, &mt_common, "", "", "\n");
	fputs("```\n\n", f);
	markdown_text(f, mt_common.text);
	fputs("\n", f);
	markdown_examples(f, mt_common.examples);
	for (c = mt_commands; c->name; c++) {
		if (strcmp(section, c->section)) {
			section = c->section;
			fprintf(f, "\n**%s**\n\n", section);
		}
		fprintf(f, "- [%s](#memtrace-", c->name);
		markdown_anchor(f, c->name);
		fprintf(f, "): %s\n", c->summary);
	}
	fputs("\nOptions of every command:\n\n", f);
	markdown_options(f, mt_common.options);
	markdown_items(f, "Exit codes", mt_common.exits);
	markdown_items(f, "Environment", mt_common.variables);
	fputs("\nTimes have a unit: `ns`, `us`, `ms`, `s`, `min`, `h`. Sizes are bytes, or have a unit of 1024:\n"
	      "`k`, `M`, `G`, `T` (also `KiB` and so on).\n", f);
	for (c = mt_commands; c->name; c++) {
		fprintf(f, "\n## memtrace %s\n\n```\n", c->name);
		usage(f, c, "", "", "\n");
		fputs("```\n\n", f);
		markdown_text(f, *c->text ? c->text : c->summary);
		fputc('\n', f);
		markdown_items(f, "Arguments", c->arguments);
		if (c->options[0].name) {
			fputs("\nOptions:\n\n", f);
			markdown_options(f, c->options);
		}
		markdown_examples(f, c->examples);
		markdown_items(f, "Exit codes", c->exits);
		markdown_items(f, "Environment", c->variables);
	}
}

/* --- man pages ---------------------------------------------------------- */

static void roff(FILE *f, const char *s)
{
	bool line_start = true;

	for (; *s; s++) {
		if (line_start && (*s == '.' || *s == '\''))
			fputs("\\&", f);
		if (*s == '\n' && s[1] == '\n') {
			fputs("\n.PP\n", f);
			while (s[1] == '\n')
				s++;
			line_start = true;
			continue;
		}
		if (*s == '\\')
			fputs("\\e", f);
		else if (*s == '-')
			fputs("\\-", f);
		else if (*s == '\'')
			fputs("\\(aq", f);
		else
			fputc(*s, f);
		line_start = *s == '\n';
	}
}

static void roff_items(FILE *f, const char *title, const struct mt_item *i)
{
	if (!i->label)
		return;
	fprintf(f, ".SH %s\n", title);
	for (; i->label; i++) {
		fputs(".TP\n.B ", f);
		roff(f, i->label);
		fputc('\n', f);
		roff(f, i->text);
		fputc('\n', f);
	}
}

static void roff_options(FILE *f, const struct mt_option *o)
{
	char dflt[128];

	for (; o->name; o++) {
		default_of(dflt, sizeof dflt, o);
		fputs(".TP\n", f);
		if (o->letter)
			fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
		fputs("\\fB\\-\\-", f);
		roff(f, o->name);
		fputs("\\fR", f);
		if (o->arg) {
			fprintf(f, "%s\\fI", before_value(o));
			roff(f, o->arg);
			fprintf(f, "\\fR%s", o->optional ? "]" : "");
		}
		fputc('\n', f);
		roff(f, o->text);
		roff(f, dflt);
		fputc('\n', f);
	}
}

void mt_help_man(FILE *f, const struct mt_command *c)
{
	bool overview = c == &mt_common;
	const struct mt_command *o;
	const char *section = "", *p;

	fputs(".\\\" Generated by memtrace help --man\n.TH \"MEMTRACE", f);
	for (p = overview ? "" : c->name; *p; p++)
		fprintf(f, "%s%c", p == c->name ? "\\-" : "", *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
	fprintf(f, "\" 1 \"\" \"memtrace %s\" \"memtrace\"\n.SH NAME\nmemtrace%s%s \\- ", mt_version, overview ? "" : "\\-",
		overview ? "" : c->name);
	roff(f, c->summary);
	fputs("\n.SH SYNOPSIS\n.nf\n", f);
	for (p = c->usage;;) {
		char line[256];
		size_t n = strcspn(p, "\n");

		snprintf(line, sizeof line, "memtrace%s%s %.*s", overview ? "" : " ", overview ? "" : c->name, (int)n, p);
		roff(f, line);
		fputc('\n', f);
		if (!p[n])
			break;
		p += n + 1;
	}
	fputs(".fi\n.SH DESCRIPTION\n", f);
	roff(f, *c->text ? c->text : c->summary);
	fputc('\n', f);
	if (overview) {
		fputs(".SH COMMANDS\n", f);
		for (o = mt_commands; o->name; o++) {
			if (strcmp(section, o->section)) {
				section = o->section;
				fputs(".SS ", f);
				roff(f, section);
				fputc('\n', f);
			}
			fputs(".TP\n\\fBmemtrace\\-", f);
			roff(f, o->name);
			fputs("\\fR(1)\n", f);
			roff(f, o->summary);
			fputc('\n', f);
		}
	}
	roff_items(f, "ARGUMENTS", c->arguments);
	fputs(".SH OPTIONS\n", f);
	if (!overview)
		roff_options(f, c->options);
	roff_options(f, mt_common.options);
	if (c->examples[0].label) {
		const struct mt_item *i;

		fputs(".SH EXAMPLES\n", f);
		for (i = c->examples; i->label; i++) {
			fputs(".PP\n", f);
			roff(f, i->text);
			fputs("\n.PP\n.RS 4\n.nf\n", f);
			roff(f, i->label);
			fputs("\n.fi\n.RE\n", f);
		}
	}
	if (overview) {
		roff_items(f, "EXIT STATUS", c->exits);
	} else {
		fputs(".SH EXIT STATUS\n", f);
		if (c->exits[0].label) {
			const struct mt_item *i;

			for (i = c->exits; i->label; i++) {
				fputs(".TP\n.B ", f);
				roff(f, i->label);
				fputc('\n', f);
				roff(f, i->text);
				fputc('\n', f);
			}
		}
		fputs(".PP\nSee \\fBmemtrace\\fR(1) for the codes that all commands have.\n", f);
	}
	roff_items(f, "ENVIRONMENT", c->variables);
	if (!overview)
		fputs(".SH SEE ALSO\n\\fBmemtrace\\fR(1)\n", f);
}
