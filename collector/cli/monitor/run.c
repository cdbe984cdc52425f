/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/table/command.h"
#include "cli/base/util.h"

static bool by_children(const struct mon_definition *d)
{
	return d->source && (!strcasecmp(d->source, "hierarchical") || !strcasecmp(d->source, "accumulate"));
}

/* hierarchical of 2017 takes the outputs of the children one after the other, all else adds their events up. */
static bool adds(const struct mon_set *s, const struct mon_definition *d)
{
	return s->file->generation == MON_2016 || !strcasecmp(d->source, "accumulate");
}

/* ---- places */

static int depth_of(hwloc_topology_t t, const char *name)
{
	hwloc_obj_type_t type;
	union hwloc_obj_attr_u attr;
	int depth;

	if (!name || !strcasecmp(name, "System"))
		return 0;
	memset(&attr, 0, sizeof(attr));
	if (hwloc_type_sscanf(name, &type, &attr, sizeof(attr)))
		return HWLOC_TYPE_DEPTH_UNKNOWN;
	depth = hwloc_get_type_depth(t, type);
	/* "Cache" or "Group" alone: any that is there */
	return depth == HWLOC_TYPE_DEPTH_MULTIPLE ? hwloc_get_type_or_below_depth(t, type) : depth;
}

static void types_here(hwloc_topology_t t, char *to, size_t n)
{
	size_t used = 0;

	for (int d = -1; d < hwloc_topology_get_depth(t) && used < n; d++) {
		hwloc_obj_t o = d < 0 ? hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 0) : hwloc_get_obj_by_depth(t, d, 0);
		char type[64];

		if (!o)
			continue;
		mon_type_name(o, type, sizeof(type));
		used += (size_t)snprintf(to + used, n - used, "%s%s", used ? ", " : "", type);
	}
}

/* ---- definitions in the order of evaluation */

static const struct mon_definition *child_of(const struct mon_set *s, const struct mon_definition *d, const char *name)
{
	for (size_t i = 0; i < s->file->n; i++)
		if (&s->file->def[i] != d && !strcmp(s->file->def[i].name, name))
			return &s->file->def[i];
	for (size_t i = 0; i < s->file->n; i++) {
		const struct mon_definition *o = &s->file->def[i];

		if (o != d && depth_of(s->context->topology, name) != HWLOC_TYPE_DEPTH_UNKNOWN &&
		    depth_of(s->context->topology, o->object) == depth_of(s->context->topology, name))
			return o;
	}
	return NULL;
}

struct order {
	const struct mon_definition **def;
	size_t n;
	unsigned char *seen;		/* 1: being visited, 2: done */
};

static bool visit(struct mon_set *s, struct order *o, size_t i)
{
	const struct mon_definition *d = &s->file->def[i];

	if (o->seen[i] == 2)
		return true;
	if (o->seen[i] == 1)
		return mon_file_fail(s->file, d->events_at, "the monitor '%s' is made of monitors that are made of it", d->name);
	o->seen[i] = 1;
	for (size_t e = 0; by_children(d) && e < d->n_events; e++) {
		const struct mon_definition *child = child_of(s, d, d->event[e].name);

		if (!child)
			return mon_file_fail(s->file, d->event[e].at, "there is no monitor '%.60s', and none on places of this type, "
					     "for '%s' to be made of", d->event[e].name, d->name);
		if (!visit(s, o, (size_t)(child - s->file->def)))
			return false;
	}
	o->seen[i] = 2;
	o->def[o->n++] = d;
	return true;
}

/* ---- making monitors */

static struct mon_level *level_of(struct mon_set *s, const struct mon_definition *d)
{
	for (size_t i = 0; i < s->n_levels; i++)
		if (s->level[i].def == d)
			return &s->level[i];
	return NULL;
}

static void add_children(struct mon_set *s, struct mon_monitor *m)
{
	size_t cap = 0;

	m->n_events = 0;
	for (size_t e = 0; e < m->def->n_events; e++) {
		const struct mon_level *l = level_of(s, child_of(s, m->def, m->def->event[e].name));
		bool first = true;

		for (size_t i = l->first; i < l->first + l->n; i++) {
			const struct mon_monitor *k = &s->monitor[i];

			if (k->dead || !hwloc_bitmap_isincluded(k->obj->cpuset, m->obj->cpuset) || hwloc_bitmap_iszero(k->obj->cpuset))
				continue;
			MT_GROW(m->child, m->n_children, cap);
			m->child[m->n_children++] = i;
			if (!adds(s, m->def))
				m->n_events += k->n_outputs;
			else if (first)
				m->n_events += k->n_events;
			first = false;
		}
	}
	m->dead = !m->n_children;
}

static double *room(int n)
{
	double *v = mt_alloc((size_t)(n ? n : 1) * sizeof(*v));

	for (int i = 0; i < n; i++)
		v[i] = NAN;
	return v;
}

static struct mon_window window(int n, int capacity)
{
	struct mon_window w = { .n = n, .capacity = capacity };

	w.value = mt_alloc((size_t)(n ? n : 1) * (size_t)capacity * sizeof(*w.value));
	return w;
}

/* Do the reductions exist, and the @n events that they take? @place: of which this is the number, NULL: of all. */
static bool reductions_are_known(struct mon_set *s, const struct mon_definition *d, int n, const char *place)
{
	const struct mon_function *f = d->set_function ? mon_function_find(d->set_function) : NULL;

	for (size_t i = 0; i < d->n_outputs; i++) {
		const struct mon_op *op = mon_expr_largest(d->output[i].expr);

		if (op && op->event >= n)
			return mon_file_fail(s->file, mon_position(s->file, op->at), "the monitor '%s' has %d event%s%s%s, $0 is the first: "
					     "there is no $%d", d->name, n, n == 1 ? "" : "s", place ? " at " : "", place ? place : "", op->event);
	}
	if (d->set_function && !f)
		return mon_file_fail(s->file, d->set_function_at, "there is no reduction '%.60s'; 'memtrace monitor --list' shows them",
				     d->set_function);
	if (d->samples_function && !mon_function_find(d->samples_function))
		return mon_file_fail(s->file, d->samples_function_at, "there is no reduction '%.60s'; 'memtrace monitor --list' shows them",
				     d->samples_function);
	if (f && f->values && d->n_function_outputs > 1)
		return mon_file_fail(s->file, d->set_function_at, "%s gives one value", d->set_function);
	return true;
}

/* Checks what can be checked only when the events are known, and makes room for the values. */
static bool finish(struct mon_set *s, struct mon_monitor *m)
{
	const struct mon_definition *d = m->def;
	const struct mon_function *f = d->set_function ? mon_function_find(d->set_function) : NULL;

	if (!reductions_are_known(s, d, m->dead ? INT_MAX : m->n_events, m->place))
		return false;
	m->n_outputs = d->samples_function ? 1 : f ? d->n_function_outputs : d->n_outputs ? (int)d->n_outputs : m->n_events;
	m->event = room(m->n_events);
	m->now = room(m->n_events);
	m->out = room(m->n_outputs);
	if (f && f->window)
		for (int i = 0; i < m->n_outputs; i++)
			m->out[i] = 0;
	m->events = window(m->n_events, f && f->window ? d->window : 1);
	m->samples = window(1, d->samples_function ? d->window : 1);
	m->shown = m->before = NAN;
	return true;
}

/* Tells once for each definition and event why it gives no values. */
static void tell(struct mon_set *s, const struct mon_definition *d, const struct mon_refusal *why, bool *told, const char *place)
{
	for (size_t e = 0; e < d->n_events; e++) {
		if (!why[e].why[0] || told[e])
			continue;
		told[e] = true;
		s->n_refused++;
		mt_error("monitor: %s:%d:%d: no values at %s: %s", s->file->path, d->event[e].at.line, d->event[e].at.column, place,
			 why[e].why);
		if (why[e].command[0])
			mt_error("monitor: to change it: %s", why[e].command);
	}
}

static const struct mon_source *source_of(struct mon_set *s, const struct mon_definition *d)
{
	static const struct mon_source *const counters[] = { &mon_source_perf, &mon_source_papi, &mon_source_proc };
	const struct mon_source *source;

	if (d->source) {
		source = mon_source_find(d->source);
		if (!source && !strcasecmp(d->source, "maqao"))
			mon_file_fail(s->file, d->source_at, "maqao cannot be used: its library is not public; perf and papi have counters, too");
		else if (!source)
			mon_file_fail(s->file, d->source_at, "there is no source '%.40s': there are proc, perf, papi, trace, fake, accumulate "
				      "and hierarchical", d->source);
		return source;
	}
	if (s->file->generation != MON_2015)
		return &mon_source_fake;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		size_t known = 0;

		while (known < d->n_events && counters[i]->knows(s->context, d->event[known].name))
			known++;
		if (known == d->n_events)
			return counters[i];
	}
	for (size_t e = 0; e < d->n_events; e++)
		if (!mon_source_perf.knows(s->context, d->event[e].name) && !mon_source_papi.knows(s->context, d->event[e].name) &&
		    !mon_source_proc.knows(s->context, d->event[e].name)) {
			mon_file_fail(s->file, d->event[e].at, "there is no counter '%.60s'; 'memtrace monitor --list' shows them", d->event[e].name);
			return NULL;
		}
	mon_file_fail(s->file, d->events_at, "no source has all counters of this expression: use monitors of 2017 for several sources");
	return NULL;
}

static bool make_level(struct mon_set *s, const struct mon_definition *d, hwloc_const_bitmap_t keep, struct mon_level *level)
{
	hwloc_topology_t t = s->context->topology;
	const struct mon_source *source = by_children(d) ? NULL : source_of(s, d);
	struct mon_refusal *why = mt_alloc(d->n_events * sizeof(*why));
	bool *told = mt_alloc(d->n_events * sizeof(*told));
	int depth = depth_of(t, d->object);
	char types[200] = "";
	bool ok = source || by_children(d);

	*level = (struct mon_level){ .def = d, .first = s->n, .least = d->has_min ? d->min : NAN, .most = d->has_max ? d->max : NAN };
	types_here(t, types, sizeof(types));
	if (ok && depth == HWLOC_TYPE_DEPTH_UNKNOWN)
		ok = mon_file_fail(s->file, d->object_at, "this machine has no '%.40s'; it has %s", d->object, types);
	if (ok && source && source->next)
		s->clock = source;
	for (hwloc_obj_t o = ok ? hwloc_get_next_obj_by_depth(t, depth, NULL) : NULL; o && ok; o = hwloc_get_next_obj_by_depth(t, depth, o)) {
		struct mon_monitor m = { .def = d, .obj = o, .source = source };
		char type[64];

		if (d->object_first >= 0 && ((int)o->logical_index < d->object_first || (int)o->logical_index > d->object_last))
			continue;
		if (keep && !hwloc_bitmap_intersects(o->cpuset, keep))
			continue;
		mon_type_name(o, type, sizeof(type));
		snprintf(m.place, sizeof(m.place), "%s:%u", type, o->logical_index);
		memset(why, 0, d->n_events * sizeof(*why));
		if (source) {
			size_t refused = 0;

			m.n_events = (int)d->n_events;
			m.state = source->open(s->context, d, o, why);
			for (size_t e = 0; e < d->n_events; e++)
				refused += why[e].why[0] != 0;
			m.dead = !m.state || refused == d->n_events;
			tell(s, d, why, told, m.place);
		} else {
			add_children(s, &m);
		}
		ok = finish(s, &m);
		if (level->n_outputs < m.n_outputs)
			level->n_outputs = m.n_outputs;
		MT_GROW(s->monitor, s->n, s->cap);
		s->monitor[s->n++] = m;
		level->n++;
	}
	if (ok && !level->n)
		ok = mon_file_fail(s->file, d->object ? d->object_at : d->at, "no place for the monitor '%s' is left%s", d->name, keep ?
				   " among the PUs that are watched" : "");
	level->label = mt_alloc((size_t)(level->n_outputs + 1) * sizeof(*level->label));
	for (int i = 0; i < level->n_outputs; i++) {
		bool events = !d->n_outputs && !d->set_function && !d->samples_function && source && (size_t)i < d->n_events;

		level->label[i] = d->n_outputs > (size_t)i && d->output[i].name ? mt_strdup(d->output[i].name) : events ?
			mt_strdup(d->event[i].name) : level->n_outputs == 1 ? mt_strdup(d->name) : mt_printf("%s.%d", d->name, i);
	}
	free(why);
	free(told);
	return ok;
}

/* The definitions in the order of evaluation: those of children first. */
static bool in_order(struct mon_set *s, struct order *o)
{
	bool ok = true;

	o->n = 0;
	o->def = mt_alloc(s->file->n * sizeof(*o->def) + 1);
	o->seen = mt_alloc(s->file->n + 1);
	for (size_t i = 0; i < s->file->n && ok; i++)
		ok = visit(s, o, i);
	free(o->seen);
	return ok;
}

int mon_set_make(struct mon_set *s, struct mon_file *file, struct mon_context *c, hwloc_const_bitmap_t keep)
{
	struct order o;
	size_t alive = 0;
	bool ok;

	*s = (struct mon_set){ .file = file, .context = c };
	ok = in_order(s, &o);
	s->level = mt_alloc(file->n * sizeof(*s->level) + 1);
	for (size_t i = 0; i < o.n && ok; i++)
		ok = make_level(s, o.def[i], keep, &s->level[s->n_levels++]);
	free(o.def);
	if (!ok) {
		mt_error("monitor: %s", file->error);
		return MT_EXIT_INPUT;
	}
	for (size_t i = 0; i < s->n; i++)
		alive += !s->monitor[i].dead;
	if (!alive) {
		mt_error("monitor: no monitor of %s can have a value here; 'memtrace monitor --list' tells what works", file->path);
		return MT_EXIT_UNAVAILABLE;
	}
	return MT_EXIT_OK;
}

/* ---- only checking */

static bool events_are_known(struct mon_set *s, const struct mon_definition *d, const struct mon_source *source)
{
	const char *missing = source == &mon_source_papi ? mon_papi_missing() : NULL;

	/* which labels a trace has is known when it is read */
	for (size_t e = 0; e < d->n_events && source != &mon_source_trace; e++) {
		if (source->knows(s->context, d->event[e].name))
			continue;
		if (!missing)
			return mon_file_fail(s->file, d->event[e].at, "%s has no event '%.60s'; 'memtrace monitor --list' shows them", source->name,
					     d->event[e].name);
		mt_note("monitor: %s:%d:%d: the event '%s' is not checked: %s", s->file->path, d->event[e].at.line, d->event[e].at.column,
			d->event[e].name, missing);
	}
	return reductions_are_known(s, d, (int)d->n_events, NULL);
}

static bool place_is_known(struct mon_set *s, const struct mon_definition *d)
{
	hwloc_obj_type_t type;
	union hwloc_obj_attr_u attr;
	char types[200] = "";

	memset(&attr, 0, sizeof(attr));
	if (depth_of(s->context->topology, d->object) != HWLOC_TYPE_DEPTH_UNKNOWN)
		return true;
	if (hwloc_type_sscanf(d->object, &type, &attr, sizeof(attr)))
		return mon_file_fail(s->file, d->object_at, "'%.40s' is no type of places that hwloc knows", d->object);
	types_here(s->context->topology, types, sizeof(types));
	mt_note("monitor: %s:%d:%d: this machine has no '%s'; it has %s", s->file->path, d->object_at.line, d->object_at.column, d->object,
		types);
	return true;
}

bool mon_set_check(struct mon_file *file, struct mon_context *c)
{
	struct mon_set s = { .file = file, .context = c };
	struct order o;
	bool ok = true;

	for (size_t i = 0; i < file->n && ok; i++) {
		const struct mon_definition *d = &file->def[i];
		const struct mon_source *source = by_children(d) ? NULL : source_of(&s, d);

		ok = place_is_known(&s, d) && (by_children(d) ? reductions_are_known(&s, d, INT_MAX, NULL) :
					       source && events_are_known(&s, d, source));
	}
	if (ok) {
		ok = in_order(&s, &o);
		free(o.def);
	}
	return ok;
}

/* ---- a sample */

/* Adds b to *a; what is missing on one side is left out. */
static void add(double *a, double b)
{
	if (isnan(*a))
		*a = b;
	else if (!isnan(b))
		*a += b;
}

/* The events of a monitor that is made of others. Returns whether one of these has values in this sample. */
static bool gather(const struct mon_set *s, struct mon_monitor *m, double *now)
{
	bool active = false, sums = adds(s, m->def);
	int at = 0, end = 0;
	const struct mon_definition *of = NULL;

	for (int i = 0; i < m->n_events; i++)
		now[i] = NAN;
	for (size_t i = 0; i < m->n_children; i++) {
		const struct mon_monitor *k = &s->monitor[m->child[i]];

		if (sums && k->def != of) {	/* the next event of EVSET */
			of = k->def;
			at = end;
			end += k->n_events;
		}
		for (int e = 0; e < (sums ? k->n_events : k->n_outputs) && at + e < m->n_events && k->active; e++) {
			if (sums)
				add(&now[at + e], k->events.rows ? mon_row(&k->events, k->events.rows - 1)[e] : NAN);
			else
				now[at + e] = k->out[e];
		}
		if (!sums)
			at += k->n_outputs;
		active |= k->active;
	}
	return active;
}

static void reduce(struct mon_monitor *m)
{
	const struct mon_definition *d = m->def;
	const struct mon_function *f = d->set_function ? mon_function_find(d->set_function) : NULL;
	const struct mon_function *g = d->samples_function ? mon_function_find(d->samples_function) : NULL;
	double one;

	if (!g && f && f->window) {
		f->window(&m->events, m->out, m->n_outputs);
		return;
	}
	if (!g && !f && !d->n_outputs) {
		memcpy(m->out, m->event, (size_t)m->n_outputs * sizeof(*m->out));
		return;
	}
	if (!g && !f) {
		for (int i = 0; i < m->n_outputs; i++)
			m->out[i] = mon_expr_value(d->output[i].expr, m->event, m->n_events);
		return;
	}
	/* one value of the set; without a reduction of it, as with SAMPLES_REDUCE alone, the sum */
	one = NAN;
	if (f && f->window)
		f->window(&m->events, &one, 1);
	else if (f)
		one = f->values(m->event, m->n_events);
	else
		one = d->n_outputs ? mon_expr_value(d->output[0].expr, m->event, m->n_events) : mon_sum(m->event, m->n_events);
	if (!g) {
		m->out[0] = one;
		return;
	}
	mon_window_push(&m->samples, &one);
	if (g->window) {
		g->window(&m->samples, m->out, 1);
	} else {
		double *v = mt_alloc((size_t)m->samples.rows * sizeof(*v));

		for (int k = 0; k < m->samples.rows; k++)
			v[k] = *mon_row(&m->samples, k);
		m->out[0] = g->values(v, m->samples.rows);
		free(v);
	}
}

static void update(struct mon_set *s, struct mon_monitor *m, hwloc_const_bitmap_t running)
{
	double *now = m->now;

	for (int i = 0; i < m->n_events; i++)
		now[i] = NAN;
	m->active = false;
	if (m->source && (!m->state || m->source->read(s->context, m->state, now)))
		return;
	if (m->source)
		m->active = !running || hwloc_bitmap_intersects(running, m->obj->cpuset);
	else
		m->active = gather(s, m, now);
	/* where the source counts the program itself, what it counted happened */
	for (int i = 0; i < m->n_events && m->source == &mon_source_perf && !m->active; i++)
		m->active = now[i] > 0;
	/* a recorded trace has its places only while they were active */
	if (m->source && m->source->next) {
		bool any = false;

		for (int i = 0; i < m->n_events; i++)
			any |= !isnan(now[i]);
		m->active = any;
	}
	if (!s->context->sample || !m->active) {
		m->active = false;
		return;
	}
	for (int i = 0; i < m->n_events; i++)
		if (m->def->accumulate)
			add(&m->event[i], now[i]);
		else
			m->event[i] = now[i];
	mon_window_push(&m->events, m->event);
	reduce(m);
	m->n_values++;
}

static void show(struct mon_set *s, struct mon_level *l)
{
	int k = l->def->display - 1;

	for (size_t i = l->first; i < l->first + l->n; i++) {
		struct mon_monitor *m = &s->monitor[i];

		if (!m->active || k < 0 || k >= m->n_outputs)
			continue;
		m->before = m->shown;
		m->shown = m->out[k];
		if (isnan(m->shown))
			continue;
		m->sum += m->shown;
		m->n_shown++;
		if (!l->def->has_min && !(m->shown >= l->least))
			l->least = m->shown;
		if (!l->def->has_max && !(m->shown <= l->most))
			l->most = m->shown;
	}
}

void mon_set_update(struct mon_set *s, hwloc_const_bitmap_t running)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->monitor[i].dead)
			update(s, &s->monitor[i], running);
	for (size_t i = 0; i < s->n_levels && s->context->sample; i++)
		show(s, &s->level[i]);
}

void mon_set_free(struct mon_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct mon_monitor *m = &s->monitor[i];

		if (m->source && m->state)
			m->source->close(m->state);
		free(m->child);
		free(m->event);
		free(m->now);
		free(m->events.value);
		free(m->samples.value);
		free(m->out);
	}
	for (size_t i = 0; i < s->n_levels; i++) {
		for (int k = 0; k < s->level[i].n_outputs && s->level[i].label; k++)
			free(s->level[i].label[k]);
		free(s->level[i].label);
	}
	free(s->monitor);
	free(s->level);
}
