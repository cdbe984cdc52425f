/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

struct mon_trace {
	const struct mon_set *set;
	enum mon_generation format;
	struct file {
		char *path;
		FILE *f;
	} *file;			/* of each level; of 2015 and 2016 the first has all */
	size_t n;
	uint64_t seen_ns;		/* all samples until then can be read by others */
};

/* How old a sample may be that others cannot read yet: for who follows the file. */
#define SEEN_NS 100000000

static void put(FILE *f, const char *format, double v)
{
	if (isnan(v))
		fputs(" nan", f);	/* never "-nan" */
	else
		fprintf(f, format, v);	// NOLINT(clang-diagnostic-format-nonliteral): one of two constants
}

static FILE *opened(const char *path)
{
	FILE *f = !strcmp(path, "-") || !strcmp(path, "1") ? stdout : !strcmp(path, "2") ? stderr : fopen(path, "we");

	if (!f)
		mt_error("monitor: %s: %s", path, strerror(errno));
	return f;
}

/* trace.txt with the name of the definition: trace.NAME.txt */
static char *beside(const char *path, const char *name)
{
	const char *dot = strrchr(mt_base(path), '.');

	if (!strcmp(path, "-"))
		return mt_strdup(path);
	if (!dot || dot == mt_base(path))
		return mt_printf("%s.%s", path, name);
	return mt_printf("%.*s.%s%s", (int)(dot - path), path, name, dot);
}

/* Where the places are, so that an import has the tree of the machine: a comment for each. */
static void places(const struct mon_set *s, const struct mon_level *l, FILE *f)
{
	for (size_t i = l->first; i < l->first + l->n; i++) {
		hwloc_obj_t above[64];
		int n = 0;

		for (hwloc_obj_t o = s->monitor[i].obj->parent; o && n < 64; o = o->parent)
			above[n++] = o;
		fprintf(f, "# at %s", s->monitor[i].place);
		for (int k = n; k-- > 0;) {
			char type[64];

			mon_type_name(above[k], type, sizeof(type));
			fprintf(f, "%s%s:%u", k == n - 1 ? " " : "/", type, above[k]->logical_index);
		}
		fputc('\n', f);
	}
}

static void head_2015(const struct mon_set *s, FILE *f)
{
	fputs("%EventDef MonitorValue 0\n%  id int\n%  phase int\n%  time_us int\n%  value double\n%EndEventDef\n"
	      "%EventDef MonitorNode 1\n%  id int\n%  level string\n%  sibling int\n%  name string\n%  logscale int\n%EndEventDef\n", f);
	for (size_t i = 0; i < s->n_levels; i++)
		if (!s->level[i].def->silent)
			places(s, &s->level[i], f);
	for (size_t i = 0; i < s->n; i++) {
		const struct mon_monitor *m = &s->monitor[i];
		const char *colon = strrchr(m->place, ':');

		if (!m->def->silent)
			fprintf(f, "1 %zu %.*s %s %s %d\n", i, (int)(colon - m->place), m->place, colon + 1, m->def->name, m->def->log_scale);
	}
}

static void head_2016(const struct mon_set *s, FILE *f)
{
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct mon_level *l = &s->level[i];
		const char *place = l->n ? s->monitor[l->first].place : "";

		if (l->def->silent)
			continue;
		places(s, l, f);
		fprintf(f, "# %s %.*s", l->def->name, (int)strcspn(place, ":"), place);
		for (int k = 0; k < l->n_outputs; k++)
			fprintf(f, " %s", l->label[k]);
		fputc('\n', f);
	}
}

static void head_2017(const struct mon_set *s, const struct mon_level *l, FILE *f)
{
	places(s, l, f);
	fputs("Obj Nanoseconds", f);
	for (int k = 0; k < l->n_outputs; k++)
		fprintf(f, " %s", l->label[k]);
	fputc('\n', f);
}

struct mon_trace *mon_trace_open(const struct mon_set *s, const char *path, enum mon_generation format)
{
	struct mon_trace *t = mt_alloc(sizeof(*t));
	size_t loud = 0;

	t->set = s;
	t->format = format;
	t->n = s->n_levels;
	t->file = mt_alloc(t->n * sizeof(*t->file) + 1);
	for (size_t i = 0; i < s->n_levels; i++)
		loud += !s->level[i].def->silent && !s->level[i].def->file;
	if (format != MON_2017 && path) {
		t->file[0].path = mt_strdup(path);
		t->file[0].f = opened(path);
		if (!t->file[0].f) {
			mon_trace_close(t, NULL);
			return NULL;
		}
		if (format == MON_2015)
			head_2015(s, t->file[0].f);
		else
			head_2016(s, t->file[0].f);
	}
	for (size_t i = 0; i < s->n_levels && format == MON_2017; i++) {
		const struct mon_level *l = &s->level[i];

		if (l->def->silent || (!path && !l->def->file))
			continue;
		t->file[i].path = l->def->file ? mt_strdup(l->def->file) : loud > 1 ? beside(path, l->def->name) : mt_strdup(path);
		t->file[i].f = opened(t->file[i].path);
		if (!t->file[i].f) {
			mon_trace_close(t, NULL);
			return NULL;
		}
		head_2017(s, l, t->file[i].f);
	}
	return t;
}

static void bound(FILE *f, bool has, double value)
{
	if (has)
		fprintf(f, " %.15g", value);
	else
		fputs(" -", f);
}

static void scale(const struct mon_trace *t, const struct mon_level *l, FILE *f)
{
	const struct mon_definition *d = l->def;
	int shown = d->display > 0 ? d->display - 1 : 0;

	if ((!d->has_min && !d->has_max && !d->log_scale) || shown >= l->n_outputs)
		return;
	fprintf(f, "# scale %s", t->format == MON_2015 ? d->name : l->label[shown]);
	bound(f, d->has_min, d->min);
	bound(f, d->has_max, d->max);
	fprintf(f, " %d\n", d->log_scale);
}

int mon_trace_machine(struct mon_trace *t)
{
	char *xml = NULL;
	int len = 0, err = 0;

	if (hwloc_topology_export_xmlbuffer(t->set->context->topology, &xml, &len, 0))
		return -(errno ? errno : ENOMEM);
	for (size_t i = 0; i < t->n; i++) {
		FILE *f = t->file[i].f;

		if (!f)
			continue;
		for (size_t k = 0; k < t->set->n_levels; k++)
			if ((t->format != MON_2017 || k == i) && !t->set->level[k].def->silent)
				scale(t, &t->set->level[k], f);
		for (const char *line = xml; *line;) {
			size_t n = strcspn(line, "\n");

			fprintf(f, "# topology %.*s\n", (int)n, line);
			line += n + (line[n] == '\n');
		}
		if (ferror(f))
			err = -EIO;
	}
	hwloc_free_xmlbuffer(t->set->context->topology, xml);
	return err;
}

int mon_trace_sample(struct mon_trace *t)
{
	uint64_t ns = t->set->context->now_ns;
	int err = 0;

	for (size_t i = 0; i < t->set->n_levels; i++) {
		const struct mon_level *l = &t->set->level[i];
		FILE *f = t->format == MON_2017 ? t->file[i].f : t->file[0].f;

		for (size_t k = l->first; k < l->first + l->n && f && !l->def->silent; k++) {
			const struct mon_monitor *m = &t->set->monitor[k];

			if (!m->active)
				continue;
			if (t->format == MON_2015) {
				if (isnan(m->shown))
					continue;
				fprintf(f, "0 %zu 0 %" PRIu64 " %.15g\n", k, ns / 1000, m->shown);
				continue;
			}
			fprintf(f, "%s %" PRIu64, m->place, ns);
			for (int v = 0; v < m->n_outputs; v++)
				put(f, t->format == MON_2016 ? " %.15g" : " %.6e", m->out[v]);
			fputc('\n', f);
		}
		if (f && ferror(f))
			err = -EIO;
	}
	if (ns - t->seen_ns >= SEEN_NS) {
		t->seen_ns = ns;
		for (size_t i = 0; i < t->n; i++)
			if (t->file[i].f && fflush(t->file[i].f))
				err = -EIO;
	}
	return err;
}

int mon_trace_close(struct mon_trace *t, char **names)
{
	char *all = mt_strdup("");
	int err = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct file *file = &t->file[i];
		bool own = file->f && file->f != stdout && file->f != stderr;

		if (file->f && (ferror(file->f) || (own ? fclose(file->f) : fflush(file->f)))) {
			err = errno ? -errno : -EIO;
			mt_error("monitor: %s: %s", file->path, strerror(-err));
		}
		if (own) {
			char *more = mt_printf("%s%s%s", all, *all ? " " : "", file->path);

			free(all);
			all = more;
		}
		free(file->path);
	}
	free(t->file);
	free(t);
	if (names)
		*names = all;
	else
		free(all);
	return err;
}
