/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/listing.h"

#include <ctype.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/monitor/statistics.h"

static const char *const value_names[MON_N_VALUES] = {
	[MON_OF_PLACES] = "places", [MON_OF_SOURCE] = "source", [MON_OF_EVENTS] = "events", [MON_OF_COUNTERS] = "counters",
	[MON_OF_SET_REDUCTION] = "set-reduction", [MON_OF_SAMPLES_REDUCTION] = "samples-reduction", [MON_OF_REDUCTIONS] = "reductions",
	[MON_OF_NUMBER] = "number", [MON_OF_FLAG] = "flag", [MON_OF_FILE] = "file",
};

/* Made of other monitors; run.c has them. */
static const struct { const char *name, *text; } made_of_others[] = {
	{ "accumulate", "the sum, event by event, of the monitors on the places below; EVSET names the monitor" },
	{ "hierarchical", "of 2016 the same, EVSET names the type of the places; of 2017 the outputs of the monitors below, all in a row" },
};

/* Types of places that files usually name; those of hwloc, and none that has no PUs. */
static const hwloc_obj_type_t types[] = {
	HWLOC_OBJ_MACHINE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_GROUP, HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE,
	HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE, HWLOC_OBJ_PU,
};

/* "L3" and not "L3Cache": both are known, and people write the short one. */
static void type_word(hwloc_obj_type_t type, char *to, size_t n)
{
	size_t len;

	snprintf(to, n, "%s", hwloc_obj_type_string(type));
	len = strlen(to);
	if (len > 5 && !strcmp(to + len - 5, "Cache"))
		to[len - 5] = 0;
}

/* ---- one source */

struct collected {
	struct mon_listing listing;
	json_t *events, *notes;
};

static struct collected *of(struct mon_listing *l)
{
	return (struct collected *)((char *)l - offsetof(struct collected, listing));
}

static void add_event(struct mon_listing *l, const struct mon_listed *e)
{
	json_array_append_new(of(l)->events, json_pack("{s:s, s:s, s:s?, s:b, s:b}", "name", e->name, "text", e->text, "places", e->places,
						       "here", !e->refused, "pattern", (int)e->pattern));
}

static void add_note(struct mon_listing *l, const char *text)
{
	json_array_append_new(of(l)->notes, json_string(text));
}

static json_t *describe(const struct mon_context *c, const struct mon_source *s)
{
	struct collected all = { .listing = { .event = add_event, .note = add_note }, .events = json_array(), .notes = json_array() };

	s->list(c, &all.listing);
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", s->name, "text", s->text, "of_monitors", 0, "events", all.events, "notes",
			 all.notes);
}

/* ---- text */

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void print_source(const json_t *source, FILE *to)
{
	const json_t *events = json_object_get(source, "events"), *e;
	int name = 0, places = 0;
	size_t i;

	fprintf(to, "%s: %s\n", text_of(source, "name"), text_of(source, "text"));
	json_array_foreach(events, i, e) {
		int n = (int)strlen(text_of(e, "name")), p = (int)strlen(text_of(e, "places"));

		name = n > name ? n : name;
		places = p > places ? p : places;
	}
	json_array_foreach(events, i, e) {
		fprintf(to, "  %-*s  ", name, text_of(e, "name"));
		if (places)
			fprintf(to, "%-*s  ", places, text_of(e, "places"));
		fprintf(to, "%s%s\n", text_of(e, "text"), json_is_true(json_object_get(e, "here")) ? "" : "   (not here)");
	}
	json_array_foreach(json_object_get(source, "notes"), i, e)
		fprintf(to, "  %s\n", json_string_value(e));
}

static char *function_name(const struct mon_function *f)
{
	return mt_printf("%s%s", islower((unsigned char)*f->name) ? "" : "MONITOR_", f->name);
}

void mon_listing_text(const struct mon_context *c, FILE *to)
{
	fprintf(to, "SOURCES AND EVENTS (PERF_LIB, EVSET)\n");
	for (int i = 0; mon_sources[i]; i++) {
		json_t *source = describe(c, mon_sources[i]);

		print_source(source, to);
		json_decref(source);
	}
	for (size_t i = 0; i < sizeof(made_of_others) / sizeof(made_of_others[0]); i++)
		fprintf(to, "%s: %s\n", made_of_others[i].name, made_of_others[i].text);
	fprintf(to, "\nREDUCTIONS (EVSET_REDUCE, SAMPLES_REDUCE, REDUCTION:=n#NAME)\n");
	for (const struct mon_function *f = mon_functions; f->name; f++) {
		char *name = function_name(f);

		fprintf(to, "  %-22s %s\n", name, f->text);
		free(name);
	}
	fprintf(to, "  or an expression: + - * / ( ) of numbers and $0, $1, ..., the events in their order\n");
}

/* ---- JSON */

static void dump(json_t *top, FILE *to)
{
	json_dumpf(top, to, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	fputc('\n', to);
	json_decref(top);
}

static json_t *describe_fields(void)
{
	json_t *all = json_array();

	for (const struct mon_field *f = mon_fields; f->name; f++) {
		json_t *in = json_array();

		for (int year = MON_2015; year <= MON_2017; year++)
			if (f->in >> (year - MON_2015) & 1)
				json_array_append_new(in, json_integer(year));
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "name", f->name, "text", f->text, "value",
						     value_names[f->value], "generations", in));
	}
	return all;
}

static json_t *describe_reductions(void)
{
	json_t *all = json_array();

	for (const struct mon_function *f = mon_functions; f->name; f++) {
		char *name = function_name(f);

		json_array_append_new(all, json_pack("{s:s, s:s, s:b}", "name", name, "text", f->text, "window", f->window != NULL));
		free(name);
	}
	return all;
}

static json_t *describe_types(hwloc_topology_t topology)
{
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int n = hwloc_get_nbobjs_by_type(topology, types[i]);
		char word[32];

		type_word(types[i], word, sizeof(word));
		json_array_append_new(all, json_pack("{s:s, s:i}", "name", word, "places", n > 0 ? n : 0));
	}
	return all;
}

void mon_listing_json(const struct mon_context *c, const char *built_in, FILE *to)
{
	json_t *sources = json_array();

	for (int i = 0; mon_sources[i]; i++)
		json_array_append_new(sources, describe(c, mon_sources[i]));
	for (size_t i = 0; i < sizeof(made_of_others) / sizeof(made_of_others[0]); i++)
		json_array_append_new(sources, json_pack("{s:s, s:s, s:b, s:[], s:[]}", "name", made_of_others[i].name, "text",
							 made_of_others[i].text, "of_monitors", 1, "events", "notes"));
	dump(json_pack("{s:s, s:o, s:o, s:o, s:o, s:s}", "schema", "memtrace.monitor-list/1", "fields", describe_fields(), "sources", sources,
		       "reductions", describe_reductions(), "types", describe_types(c->topology), "built_in", built_in), to);
}

void mon_check_json(const struct mon_file *f, FILE *to)
{
	json_t *mistake = f->error[0] ? json_pack("{s:i, s:i, s:s}", "line", f->mistake_at.line, "column", f->mistake_at.column, "text",
						  f->mistake) : json_null();

	dump(json_pack("{s:s, s:i, s:I, s:o}", "schema", "memtrace.monitor-check/1", "generation", (int)f->generation, "monitors",
		       (json_int_t)f->n, "mistake", mistake), to);
}
