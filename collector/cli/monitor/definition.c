/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/definition.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

#define MAX_WINDOW 1000000
#define MAX_OUTPUTS 4096

struct mon_pos mon_position(const struct mon_file *f, size_t offset)
{
	struct mon_pos p = { 1, 1 };

	for (size_t i = 0; i < offset && i < f->len; i++) {
		p.column++;
		if (f->text[i] == '\n') {
			p.line++;
			p.column = 1;
		}
	}
	return p;
}

bool mon_file_fail(struct mon_file *f, struct mon_pos at, const char *fmt, ...)
{
	va_list ap;

	if (f->error[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(f->mistake, sizeof(f->mistake), fmt, ap);
	va_end(ap);
	f->mistake_at = at;
	snprintf(f->error, sizeof(f->error), "%.300s:%d:%d: %s", f->path, at.line, at.column, f->mistake);
	return false;
}

/* ---- reading one thing after the other */

struct reader {
	struct mon_file *f;
	size_t at;
	struct mon_pos generation_at;	/* the field that told the generation */
	const char *generation_field;
};

static char peek(struct reader *r)
{
	r->at = mon_skip_blanks(r->f->text, r->f->len, r->at);
	return r->at < r->f->len ? r->f->text[r->at] : 0;
}

static struct mon_pos here(struct reader *r)
{
	peek(r);
	return mon_position(r->f, r->at);
}

static bool expect(struct reader *r, char c, const char *after)
{
	if (peek(r) == c) {
		r->at++;
		return true;
	}
	if (r->at >= r->f->len)
		return mon_file_fail(r->f, here(r), "the file ends, but '%c' must follow %s", c, after);
	return mon_file_fail(r->f, here(r), "'%c' must follow %s", c, after);
}

/* A word of letters, digits and _; NULL when there is none. */
static char *word(struct reader *r, const char *more)
{
	size_t begin;
	char *w;

	peek(r);
	begin = r->at;
	while (r->at < r->f->len && (isalnum((unsigned char)r->f->text[r->at]) || r->f->text[r->at] == '_' ||
				     (r->f->text[r->at] && strchr(more, r->f->text[r->at]))))
		r->at++;
	if (r->at == begin)
		return NULL;
	w = mt_alloc(r->at - begin + 1);
	memcpy(w, r->f->text + begin, r->at - begin);
	return w;
}

static bool take_word(struct reader *r, char **to, struct mon_pos *at, const char *more, const char *what)
{
	*at = here(r);
	free(*to);
	*to = word(r, more);
	return *to || mon_file_fail(r->f, *at, "%s is expected here", what);
}

static bool take_int(struct reader *r, int *to, int least, int most, const char *field)
{
	struct mon_pos at = here(r);
	char *w = word(r, "-+."), *end;
	long v;

	if (!w)
		return mon_file_fail(r->f, at, "%s needs a whole number", field);
	errno = 0;
	v = strtol(w, &end, 10);
	if (*end || errno || v < least || v > most)
		mon_file_fail(r->f, at, "%s is a whole number from %d to %d, not '%.40s'", field, least, most, w);
	else
		*to = (int)v;
	free(w);
	return !r->f->error[0];
}

static bool take_number(struct reader *r, double *to, const char *field)
{
	struct mon_pos at = here(r);
	char *w = word(r, "-+."), *end;
	double v;

	if (!w)
		return mon_file_fail(r->f, at, "%s needs a number", field);
	v = strtod(w, &end);
	if (*end || !isfinite(v))
		mon_file_fail(r->f, at, "%s needs a number, not '%.40s'", field, w);
	else
		*to = v;
	free(w);
	return !r->f->error[0];
}

/* OBJ: a type, and which of them: PU, PU:3, PU:0..3 */
static bool take_object(struct reader *r, struct mon_definition *d)
{
	size_t begin;
	char *w, *end;
	struct mon_pos at;
	long first, last;

	if (!take_word(r, &d->object, &d->object_at, "", "a type of the topology (PU, Core, L3, NUMANode, Package, Machine)"))
		return false;
	if (peek(r) != ':')
		return true;
	r->at++;
	at = here(r);
	begin = r->at;
	w = word(r, ".");
	errno = 0;
	first = w && isdigit((unsigned char)*w) ? strtol(w, &end, 10) : -1;
	last = first;
	if (first >= 0 && !strncmp(end, "..", 2) && isdigit((unsigned char)end[2]))
		last = strtol(end + 2, &end, 10);
	if (first < 0 || *end || errno || last < first || last > INT_MAX) {
		r->at = begin;
		mon_file_fail(r->f, at, "behind %s: stands an index or a range of them, such as 3 or 0..3", d->object);
	}
	d->object_first = (int)first;
	d->object_last = (int)last;
	free(w);
	return !r->f->error[0];
}

/* One event up to , or ; with its attributes: NAME, NAME:x:y, NAME[k=v,l=w] */
static bool take_event(struct reader *r, struct mon_definition *d)
{
	struct mon_pos at = here(r);
	size_t begin = r->at, n;
	bool inside = false;
	struct mon_event e = { .at = at };

	for (; r->at < r->f->len; r->at++) {
		char c = r->f->text[r->at];

		if (c == '[' && !inside)
			inside = true;
		else if (c == ']' && inside)
			inside = false;
		else if (c == ';' || (c == ',' && !inside) || c == '#' || c == '%' || isspace((unsigned char)c))
			break;
		else if (!isalnum((unsigned char)c) && !strchr("_-.:/=@", c) && !(c == ',' && inside))
			return mon_file_fail(r->f, mon_position(r->f, r->at), "the name of an event cannot have this character");
		else if (!c)
			return mon_file_fail(r->f, mon_position(r->f, r->at), "there is a zero byte in the file");
	}
	if (inside)
		return mon_file_fail(r->f, at, "the attributes of this event have no ]");
	n = r->at - begin;
	if (!n)
		return mon_file_fail(r->f, at, "the name of an event is expected here");
	e.name = mt_alloc(n + 1);
	memcpy(e.name, r->f->text + begin, n);
	MT_GROW(d->event, d->n_events, d->cap_events);
	d->event[d->n_events++] = e;
	return true;
}

static bool take_events(struct reader *r, struct mon_definition *d)
{
	do {
		if (d->n_events)
			r->at += peek(r) == ',';
		if (!take_event(r, d))
			return false;
		if (d->n_events > MAX_OUTPUTS)
			return mon_file_fail(r->f, here(r), "a monitor has %d events at most", MAX_OUTPUTS);
	} while (peek(r) == ',');
	return true;
}

/* Counters of 2015 are events in the order in which they are first used. */
static int counter(void *arg, const char *text, size_t n)
{
	struct mon_definition *d = arg;
	struct mon_event e = { .name = NULL };

	for (size_t i = 0; i < d->n_events; i++)
		if (strlen(d->event[i].name) == n && !memcmp(d->event[i].name, text, n))
			return (int)i;
	if (d->n_events >= MAX_OUTPUTS)
		return -1;
	e.name = mt_alloc(n + 1);
	memcpy(e.name, text, n);
	MT_GROW(d->event, d->n_events, d->cap_events);
	d->event[d->n_events] = e;
	return (int)d->n_events++;
}

static bool take_expression(struct reader *r, struct mon_definition *d, char *name)
{
	struct mon_output o = { .name = name };
	size_t first = d->n_events;
	bool counters = r->f->generation == MON_2015;
	const char *why;

	peek(r);
	o.expr = mon_expr_parse(r->f->text, r->f->len, &r->at, counters ? counter : NULL, d, &why);
	if (!o.expr) {
		free(name);
		return mon_file_fail(r->f, mon_position(r->f, r->at), "%s", why);
	}
	for (size_t i = 0; i < o.expr->n; i++)
		if (o.expr->op[i].kind == MON_EVENT && counters && (size_t)o.expr->op[i].event >= first &&
		    !d->event[o.expr->op[i].event].at.line)
			d->event[o.expr->op[i].event].at = mon_position(r->f, o.expr->op[i].at);
	MT_GROW(d->output, d->n_outputs, d->cap_outputs);
	d->output[d->n_outputs++] = o;
	return true;
}

/* EVSET_REDUCE: the name of a function, or an expression. */
static bool take_set_reduction(struct reader *r, struct mon_definition *d)
{
	if (isalpha((unsigned char)peek(r)) || peek(r) == '_') {
		d->n_function_outputs = 1;
		return take_word(r, &d->set_function, &d->set_function_at, "", "a function");
	}
	return take_expression(r, d, NULL);
}

/* REDUCTION: n#function, or expressions that may have names, with commas. */
static bool take_reduction(struct reader *r, struct mon_definition *d)
{
	size_t at;

	peek(r);
	for (at = r->at; at < r->f->len && isdigit((unsigned char)r->f->text[at]); at++)
		;
	if (at > r->at && at < r->f->len && r->f->text[at] == '#') {
		struct mon_pos pos = here(r);
		long n = strtol(r->f->text + r->at, NULL, 10);

		if (n < 1 || n > MAX_OUTPUTS)
			return mon_file_fail(r->f, pos, "a function gives 1 to %d values", MAX_OUTPUTS);
		d->n_function_outputs = (int)n;
		r->at = at + 1;
		/* no blanks here: they would hide what begins a comment */
		if (r->at >= r->f->len || !(isalpha((unsigned char)r->f->text[r->at]) || r->f->text[r->at] == '_'))
			return mon_file_fail(r->f, mon_position(r->f, r->at), "the name of a function must follow %ld#", n);
		return take_word(r, &d->set_function, &d->set_function_at, "", "a function");
	}
	do {
		char *name = NULL;

		if (d->n_outputs)
			r->at += peek(r) == ',';
		if (isalpha((unsigned char)peek(r)) || peek(r) == '_') {
			name = word(r, "");
			if (!expect(r, '=', "the name of an output")) {
				free(name);
				return false;
			}
		}
		if (!take_expression(r, d, name))
			return false;
		if (d->n_outputs > MAX_OUTPUTS)
			return mon_file_fail(r->f, here(r), "a monitor has %d outputs at most", MAX_OUTPUTS);
	} while (peek(r) == ',');
	return true;
}

static bool take_path(struct reader *r, struct mon_definition *d)
{
	struct mon_pos at = here(r);
	size_t begin = r->at, end;

	while (r->at < r->f->len && !strchr(";\n{}", r->f->text[r->at]))
		r->at++;
	for (end = r->at; end > begin && isspace((unsigned char)r->f->text[end - 1]); end--)
		;
	if (end == begin)
		return mon_file_fail(r->f, at, "OUTPUT is 0 (none), 1 (standard output), 2 (standard error) or a path");
	d->file = mt_alloc(end - begin + 1);
	memcpy(d->file, r->f->text + begin, end - begin);
	if (!strcmp(d->file, "0"))
		d->silent = true;
	return true;
}

/* ---- fields */

enum field { OBJ, CTR, LOGSCALE, PERF_LIB, EVSET, EVSET_REDUCE, SAMPLES_REDUCE, N_SAMPLES, ACCUMULATE, SILENT, REDUCTION, WINDOW,
	OUTPUT, DISPLAY, MAX, MIN, N_FIELDS };

#define IN(year) (1u << ((year) - 2015))

const struct mon_field mon_fields[] = {
	[OBJ] = { "OBJ", "type of the places: PU, Core, L3, NUMANode; PU:3 or PU:0..3 are some of them", IN(2015) | IN(2016) | IN(2017),
		MON_OF_PLACES },
	[CTR] = { "CTR", "expression of counters by their names", IN(2015), MON_OF_COUNTERS },
	[LOGSCALE] = { "LOGSCALE", "1: logarithmic scale, which is usual; 0: linear", IN(2015), MON_OF_FLAG },
	[PERF_LIB] = { "PERF_LIB", "source of the events", IN(2016) | IN(2017), MON_OF_SOURCE },
	[EVSET] = { "EVSET", "events; $0 is the first one", IN(2016) | IN(2017), MON_OF_EVENTS },
	[EVSET_REDUCE] = { "EVSET_REDUCE", "one sample from the events: an expression, or a reduction", IN(2016), MON_OF_SET_REDUCTION },
	[SAMPLES_REDUCE] = { "SAMPLES_REDUCE", "the value from the samples that are kept: a reduction", IN(2016), MON_OF_SAMPLES_REDUCTION },
	[N_SAMPLES] = { "N_SAMPLES", "samples that are kept, usually 32", IN(2016), MON_OF_NUMBER },
	[ACCUMULATE] = { "ACCUMULATE", "1: events count from the start, not from the last sample", IN(2016), MON_OF_FLAG },
	[SILENT] = { "SILENT", "1: no output of its own, as for a monitor that others are made of", IN(2016) | IN(2017), MON_OF_FLAG },
	[REDUCTION] = { "REDUCTION", "values: expressions, name=expression, or n#reduction", IN(2017), MON_OF_REDUCTIONS },
	[WINDOW] = { "WINDOW", "samples that are kept, usually 1", IN(2017), MON_OF_NUMBER },
	[OUTPUT] = { "OUTPUT", "0 none, 1 standard output, 2 standard error, or a path", IN(2017), MON_OF_FILE },
	[DISPLAY] = { "DISPLAY", "which value is drawn, from 1; 0 none", IN(2017), MON_OF_NUMBER },
	[MAX] = { "MAX", "upper end of the scale", IN(2015) | IN(2016), MON_OF_NUMBER },
	[MIN] = { "MIN", "lower end of the scale", IN(2015) | IN(2016), MON_OF_NUMBER },
	[N_FIELDS] = { .name = NULL },
};

static int field_of(const char *w)
{
	if (!strcmp(w, "N_SAMPLE"))	/* an early spelling */
		return N_SAMPLES;
	for (int i = 0; i < N_FIELDS; i++)
		if (!strcmp(mon_fields[i].name, w))
			return i;
	return -1;
}

/* What a field belongs to decides the generation of the file, or contradicts it. */
static bool generation(struct reader *r, int field, struct mon_pos at)
{
	unsigned int in = mon_fields[field].in;

	if (in & (in - 1)) {		/* more than one */
		if (r->f->generation && !(in & IN((int)r->f->generation)))
			return mon_file_fail(r->f, at, "%s is no field of %d, as %s in line %d is", mon_fields[field].name,
					     (int)r->f->generation, r->generation_field, r->generation_at.line);
		return true;
	}
	for (int year = 2015; year <= 2017; year++)
		if (in == IN(year)) {
			if (r->f->generation && (int)r->f->generation != year)
				return mon_file_fail(r->f, at, "%s is a field of %d, but %s in line %d is one of %d", mon_fields[field].name,
						     year, r->generation_field, r->generation_at.line, (int)r->f->generation);
			r->f->generation = (enum mon_generation)year;
		}
	if (!r->generation_field) {
		r->generation_field = mon_fields[field].name;
		r->generation_at = at;
	}
	return true;
}

static bool assignment(struct reader *r, const char *name, struct mon_pos at)
{
	bool colon = peek(r) == ':';

	if (colon)
		r->at++;
	if (!(colon && r->at < r->f->len && r->f->text[r->at] == '=') && !(!colon && peek(r) == '='))
		return mon_file_fail(r->f, here(r), "%s must follow %s", r->f->generation == MON_2015 ? "=" : ":=", name);
	r->at++;
	if (colon && r->f->generation == MON_2015)
		return mon_file_fail(r->f, at, "fields of 2015 have = and not :=, as %s in line %d", r->generation_field, r->generation_at.line);
	if (!colon && r->f->generation && r->f->generation != MON_2015)
		return mon_file_fail(r->f, at, "fields of %d have := and not =", (int)r->f->generation);
	if (!colon && !r->f->generation) {
		r->f->generation = MON_2015;
		r->generation_field = "=";
		r->generation_at = at;
	}
	return true;
}

static bool value(struct reader *r, struct mon_definition *d, int field)
{
	const char *name = mon_fields[field].name;
	int n = 0;

	switch (field) {
	case OBJ:
		return take_object(r, d);
	case PERF_LIB:
		return take_word(r, &d->source, &d->source_at, "-", "the name of a source of events");
	case CTR:
		d->events_at = here(r);
		return take_expression(r, d, NULL);
	case EVSET:
		d->events_at = here(r);
		return take_events(r, d);
	case EVSET_REDUCE:
		return take_set_reduction(r, d);
	case SAMPLES_REDUCE:
		return take_word(r, &d->samples_function, &d->samples_function_at, "", "the name of a function");
	case REDUCTION:
		return take_reduction(r, d);
	case N_SAMPLES:
		if (!take_int(r, &d->window, 0, MAX_WINDOW, name))
			return false;
		if (d->window < 3)
			d->window = 2;
		return true;
	case WINDOW:
		return take_int(r, &d->window, 1, MAX_WINDOW, name);
	case ACCUMULATE:
		if (!take_int(r, &n, 0, INT_MAX, name))
			return false;
		d->accumulate = n > 0;
		return true;
	case SILENT:
		if (!take_int(r, &n, 0, INT_MAX, name))
			return false;
		d->silent = n > 0;
		return true;
	case LOGSCALE:
		if (!take_int(r, &n, 0, 1, name))
			return false;
		d->log_scale = n;
		return true;
	case DISPLAY:
		return take_int(r, &d->display, 0, MAX_OUTPUTS, name);
	case OUTPUT:
		return take_path(r, d);
	case MAX:
		d->has_max = true;
		return take_number(r, &d->max, name);
	default:
		d->has_min = true;
		return take_number(r, &d->min, name);
	}
}

static bool definition(struct reader *r)
{
	struct mon_definition *d;
	unsigned int seen = 0;

	MT_GROW(r->f->def, r->f->n, r->f->cap);
	d = &r->f->def[r->f->n++];
	*d = (struct mon_definition){ .object_first = -1, .object_last = -1, .display = 1, .at = here(r) };
	d->name = word(r, "");
	if (!d->name)
		return mon_file_fail(r->f, d->at, "the name of a monitor is expected here");
	for (size_t i = 0; i + 1 < r->f->n; i++)
		if (!strcmp(r->f->def[i].name, d->name))
			return mon_file_fail(r->f, d->at, "there is a monitor '%s' in line %d already", d->name, r->f->def[i].at.line);
	if (!expect(r, '{', "the name of a monitor"))
		return false;
	while (peek(r) != '}') {
		struct mon_pos at = here(r);
		char *w;
		int field;
		bool ok;

		if (r->at >= r->f->len)
			return mon_file_fail(r->f, at, "the file ends inside of the monitor '%s', which begins in line %d", d->name, d->at.line);
		w = word(r, "");
		if (!w)
			return mon_file_fail(r->f, at, "a field of a monitor is expected here, or }");
		field = field_of(w);
		if (field < 0) {
			mon_file_fail(r->f, at, "there is no field '%.40s': 2015 has OBJ, CTR, MAX, MIN, LOGSCALE; 2016 OBJ, PERF_LIB, EVSET, "
				      "EVSET_REDUCE, SAMPLES_REDUCE, N_SAMPLES, ACCUMULATE, SILENT, MAX, MIN; 2017 OBJ, PERF_LIB, EVSET, "
				      "REDUCTION, WINDOW, SILENT, OUTPUT, DISPLAY", w);
			free(w);
			return false;
		}
		ok = generation(r, field, at) && assignment(r, w, at);
		if (ok && seen & 1u << field)
			ok = mon_file_fail(r->f, at, "the monitor '%s' has two fields %s", d->name, w);
		seen |= 1u << field;
		free(w);
		if (!ok || !value(r, d, field) || !expect(r, ';', "the value of a field"))
			return false;
	}
	r->at++;
	if (!d->n_events)
		return mon_file_fail(r->f, d->at, "the monitor '%s' has no events: %s is missing", d->name,
				     r->f->generation == MON_2015 ? "CTR with a counter" : "EVSET");
	if (seen & 1u << MIN && seen & 1u << MAX && d->max <= d->min)
		return mon_file_fail(r->f, d->at, "MAX of the monitor '%s' is not above its MIN", d->name);
	if (!(seen & 1u << LOGSCALE))
		d->log_scale = r->f->generation == MON_2015;
	return true;
}

/* A file with fields that two generations have only: % begins comments in 2017. */
static enum mon_generation by_comments(const struct mon_file *f)
{
	for (size_t at = 0; at < f->len; at++) {
		if (f->text[at] == '#')
			return MON_2016;
		if (f->text[at] == '%')
			return MON_2017;
	}
	return MON_2016;
}

static void check(struct mon_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct mon_definition *d = &f->def[i];

		if (!d->window)
			d->window = f->generation == MON_2016 ? 32 : 1;
		if (f->generation == MON_2016)	/* a place has one monitor */
			for (size_t k = 0; k < i; k++) {
				const char *a = d->object ? d->object : "Machine", *b = f->def[k].object ? f->def[k].object : "Machine";

				if (!strcasecmp(a, b) && (d->object_first < 0 || f->def[k].object_first < 0 ||
							  (d->object_first <= f->def[k].object_last &&
							   f->def[k].object_first <= d->object_last)))
					mon_file_fail(f, d->object ? d->object_at : d->at, "%s has the monitor '%s' already; "
						      "a place holds one in files of 2016", a, f->def[k].name);
			}
	}
}

struct mon_file *mon_file_parse(const char *path, const char *text, size_t len)
{
	struct mon_file *f = mt_alloc(sizeof(*f));
	struct reader r = { .f = f };

	f->path = mt_strdup(path);
	f->text = mt_alloc(len + 1);
	memcpy(f->text, text, len);
	f->len = len;
	if (memchr(text, 0, len)) {
		mon_file_fail(f, mon_position(f, (size_t)((const char *)memchr(text, 0, len) - text)), "there is a zero byte in the file");
		return f;
	}
	while (peek(&r))
		if (!definition(&r))
			return f;
	if (!f->n)
		mon_file_fail(f, here(&r), "the file defines no monitor");
	if (!f->generation)
		f->generation = by_comments(f);
	check(f);
	return f;
}

struct mon_file *mon_file_read(const char *path)
{
	struct mon_file *f;
	size_t len;
	char *text = mt_read_given(path, &len);

	if (!text) {
		int err = errno;

		f = mt_alloc(sizeof(*f));
		f->path = mt_strdup(path);
		snprintf(f->mistake, sizeof(f->mistake), "%s", mt_read_error(err));
		snprintf(f->error, sizeof(f->error), "%.300s: %s", path, f->mistake);
		return f;
	}
	f = mon_file_parse(path, text, len);
	free(text);
	return f;
}

void mon_file_free(struct mon_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct mon_definition *d = &f->def[i];

		for (size_t k = 0; k < d->n_events; k++)
			free(d->event[k].name);
		for (size_t k = 0; k < d->n_outputs; k++) {
			free(d->output[k].name);
			mon_expr_free(d->output[k].expr);
		}
		free(d->name);
		free(d->object);
		free(d->source);
		free(d->event);
		free(d->output);
		free(d->set_function);
		free(d->samples_function);
		free(d->file);
	}
	free(f->def);
	free(f->path);
	free(f->text);
	free(f);
}
