/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source_trace.c - the fields of a trace that monitors have written, so that others can be computed from it.
 *
 * A line is `TYPE:INDEX NANOSECONDS v1 v2 ...`, behind a name or not; the events are 1, 2, ... or the
 * labels of a header. What has the same time is one sample. Places that the trace does not have give no values.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/util.h"
#include "cli/monitor/source.h"

struct line {
	uint64_t ns;
	hwloc_obj_type_t type;		/* of the place */
	unsigned int index;
	size_t first;			/* value */
	int n;				/* values */
	int header;			/* index, -1: none before it */
};

static struct {
	bool tried;
	int err;
	char *text, *path;
	struct line *line;
	size_t n, cap;
	double *value;
	size_t n_values, cap_values;
	size_t *header, n_headers, cap_headers;	/* offsets of header lines */
	size_t begin, end;			/* lines of the sample that is shown */
	uint64_t bad;
} in;

static bool is_place(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon && colon > word && isdigit((unsigned char)colon[1]) && !colon[1 + strspn(colon + 1, "0123456789")];
}

/* The types of all versions of the other tool: L3 or L3Cache, Socket or Package, Node or NUMANode. */
static bool place(const char *word, hwloc_obj_type_t *type, unsigned int *index)
{
	const char *colon = strrchr(word, ':');
	union hwloc_obj_attr_u attr;
	char name[64];

	memset(&attr, 0, sizeof(attr));
	snprintf(name, sizeof(name), "%.*s", (int)(colon - word), word);
	*index = (unsigned int)strtoul(colon + 1, NULL, 10);
	return !hwloc_type_sscanf(name, type, &attr, sizeof(attr));
}

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns ? 1 : x->first < y->first ? -1 : x->first > y->first;
}

static void line(char *at)
{
	struct line l = { .first = in.n_values, .header = (int)in.n_headers - 1 };
	char *save, *word = strtok_r(at, " \t\r", &save), *end;

	if (!word || *word == '#' || *word == '%')
		return;
	if (!strcasecmp(word, "Obj")) {
		MT_GROW(in.header, in.n_headers, in.cap_headers);
		in.header[in.n_headers++] = (size_t)(save - in.text);
		return;
	}
	if (!is_place(word))
		word = strtok_r(NULL, " \t\r", &save);
	if (!word || !is_place(word)) {
		in.bad++;
		return;
	}
	if (!place(word, &l.type, &l.index)) {
		in.bad++;
		return;
	}
	word = strtok_r(NULL, " \t\r", &save);
	l.ns = word && isdigit((unsigned char)*word) ? strtoull(word, &end, 10) : 0;
	if (!word || !isdigit((unsigned char)*word) || *end) {
		in.bad++;
		return;
	}
	while ((word = strtok_r(NULL, " \t\r", &save))) {
		double v = strtod(word, &end);

		MT_GROW(in.value, in.n_values, in.cap_values);
		in.value[in.n_values++] = *end ? NAN : v;
		l.n++;
	}
	MT_GROW(in.line, in.n, in.cap);
	in.line[in.n++] = l;
}

static bool load(const struct mon_context *c)
{
	char *save, *l;

	if (in.tried)
		return !in.err;
	in.tried = true;
	in.path = c->trace ? mt_strdup(c->trace) : NULL;
	if (!in.path)
		in.err = ENOENT;
	else if (!(in.text = mt_read_given(in.path, NULL)))
		in.err = errno;
	if (in.err)
		return false;
	for (l = strtok_r(in.text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		line(l);
	if (in.n)
		qsort(in.line, in.n, sizeof(*in.line), by_time);
	if (in.bad)
		mt_note("monitor: %s: %llu lines are not TYPE:INDEX NANOSECONDS VALUES... and were left out", in.path,
			(unsigned long long)in.bad);
	if (!in.n)
		in.err = EINVAL;
	return !in.err;
}

struct state {
	hwloc_obj_type_t type;
	unsigned int index;
	int n;
	struct { int field; char *label; } event[];
};

static bool trace_knows(const struct mon_context *c, const char *event)
{
	(void)c;
	return *event && !event[strspn(event, "0123456789")];
}

static void trace_list(const struct mon_context *c, struct mon_listing *to)
{
	(void)c;
	to->event(to, &(struct mon_listed){ .name = "1, 2, ...", .pattern = true,
		.text = "the fields of the trace that --replay or MONITOR_TRACE_PATH names, or their labels" });
}

static void trace_close(void *state)
{
	struct state *s = state;

	for (int i = 0; i < s->n; i++)
		free(s->event[i].label);
	free(s);
}

static void *trace_open(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why)
{
	struct state *s;

	if (!load(c)) {
		snprintf(why[0].why, sizeof(why[0].why), "%.150s: %s", in.path ? in.path : "no trace was given",
			 !in.path ? "--replay FILE or MONITOR_TRACE_PATH names it" : in.err == EINVAL ?
			 "it has no line TYPE:INDEX NANOSECONDS VALUES..." : mt_read_error(in.err));
		return NULL;
	}
	s = mt_alloc(sizeof(*s) + d->n_events * sizeof(s->event[0]));
	s->n = (int)d->n_events;
	s->type = obj->type;
	s->index = obj->logical_index;
	for (int i = 0; i < s->n; i++) {
		const char *name = d->event[i].name;

		if (trace_knows(c, name)) {
			s->event[i].field = (int)strtol(name, NULL, 10);
			if (!s->event[i].field)
				snprintf(why[i].why, sizeof(why[i].why), "fields of a trace are counted from 1");
		} else {
			bool found = false;

			for (size_t h = 0; h < in.n_headers; h++)
				found |= strstr(in.text + in.header[h], name) != NULL;
			if (!found)
				snprintf(why[i].why, sizeof(why[i].why), "%s: no header of %.100s has this label", name, in.path);
			s->event[i].label = mt_strdup(name);
		}
	}
	return s;
}

/* Index from 1 of a label in the header; its text was cut into words by strtok_r or not at all. */
static int field_of(const struct line *l, const char *label)
{
	const char *at;
	int k = -1;			/* behind Obj comes Nanoseconds */

	if (l->header < 0)
		return 0;
	for (at = in.text + in.header[l->header]; *at;) {
		size_t n;

		at += strspn(at, " \t\r");
		n = strcspn(at, " \t\r");
		if (!n)
			break;
		k++;
		if (k > 0 && strlen(label) == n && !memcmp(at, label, n))
			return k;
		at += n;
	}
	return 0;
}

static int trace_read(const struct mon_context *c, void *state, double *values)
{
	const struct state *s = state;

	for (int i = 0; i < s->n; i++)
		values[i] = NAN;
	if (!c->sample)
		return 0;
	for (size_t k = in.begin; k < in.end; k++) {
		const struct line *l = &in.line[k];

		if (l->type != s->type || l->index != s->index)
			continue;
		for (int i = 0; i < s->n; i++) {
			int field = s->event[i].label ? field_of(l, s->event[i].label) : s->event[i].field;

			if (field >= 1 && field <= l->n)
				values[i] = in.value[l->first + (size_t)field - 1];
		}
	}
	return 0;
}

/* Times of one sample differ a little between places in traces of several threads: equal ones are put together. */
static bool trace_next(const struct mon_context *c, uint64_t *now_ns)
{
	(void)c;
	in.begin = in.end;
	if (in.begin >= in.n)
		return false;
	while (in.end < in.n && in.line[in.end].ns == in.line[in.begin].ns)
		in.end++;
	*now_ns = in.line[in.begin].ns;
	return true;
}

const struct mon_source mon_source_trace = {
	.name = "trace", .text = "the fields of a trace of monitors", .list = trace_list, .knows = trace_knows,
	.open = trace_open, .read = trace_read, .close = trace_close, .next = trace_next,
};
