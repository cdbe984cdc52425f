/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source_papi.c - events by their names in PAPI, whose library is loaded when a file asks for it.
 * A place counts on each of its PUs, multiplexed, and the sum is its value.
 * Without the library, presets that are generic events of perf are counted by perf.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/monitor/papi_api.h"
#include "cli/monitor/source.h"

#define MISSING "PAPI is not installed (libpapi.so), and perf has no generic event for it"
#define INSTALL "apt install libpapi7.0 (Debian 12), or add the folder of libpapi.so to LD_LIBRARY_PATH"

static struct {
#define FIELD(result, name, ...) result (*name)(__VA_ARGS__);
	MT_PAPI_FUNCTIONS(FIELD)
#undef FIELD
	enum { NOT_TRIED, HERE, ABSENT } state;
	char why[128];			/* it is here, and cannot be used */
} papi;

static bool load(void)
{
	static const char *const names[] = { "libpapi.so", "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7",
		"libpapi.so.6.0", "libpapi.so.6", "libpapi.so.5" };
	static const int versions[] = { MT_PAPI_VERSION(7, 2), MT_PAPI_VERSION(7, 1), MT_PAPI_VERSION(7, 0), MT_PAPI_VERSION(7, 3),
		MT_PAPI_VERSION(6, 0), MT_PAPI_VERSION(5, 7), MT_PAPI_VERSION(5, 6), MT_PAPI_VERSION(5, 5), MT_PAPI_VERSION(5, 4) };
	void *lib = NULL;
	bool whole = true;

	if (papi.state)
		return papi.state == HERE;
	papi.state = ABSENT;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return false;
#define LOAD(result, name, ...) whole &= (papi.name = (__typeof__(papi.name))dlsym(lib, "PAPI_" #name)) != NULL;
	MT_PAPI_FUNCTIONS(LOAD)
#undef LOAD
	if (!whole) {
		snprintf(papi.why, sizeof(papi.why), "libpapi.so is here, but not one that this program knows");
		return false;
	}
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (papi.library_init(versions[i]) == versions[i]) {
			papi.state = HERE;
			papi.multiplex_init();
			return true;
		}
	snprintf(papi.why, sizeof(papi.why), "libpapi.so is here, but of a version that this program does not know");
	return false;
}

struct state {
	int n_events, n_pus;
	bool begun;
	void *perf;			/* without PAPI: the state of the source perf */
	struct mon_definition in_perf;
	bool *refused;
	int *column;			/* of an event in an event set, -1: refused */
	long long *before;		/* n_pus rows of n_events */
	long long *now;			/* a row */
	int set[];
};

const char *mon_papi_missing(void)
{
	return load() ? NULL : papi.why[0] ? papi.why : "PAPI is not installed (libpapi.so)";
}

static bool papi_knows(const struct mon_context *c, const char *event)
{
	int code;

	if (load())
		return papi.event_name_to_code(event, &code) == MT_PAPI_OK;
	return mon_perf_for_papi(event) && mon_source_perf.knows(c, event);
}

static void papi_list(const struct mon_context *c, struct mon_listing *to)
{
	static const char *const some[] = { "PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_L3_TCM", "PAPI_L2_TCM", "PAPI_L1_DCM", "PAPI_RES_STL",
		"PAPI_BR_MSP", "PAPI_TLB_DM" };
	bool here = load();

	if (here)
		to->note(to, "what papi_avail and papi_native_avail list");
	else
		to->note(to, papi.why[0] ? papi.why : "PAPI is not installed: " INSTALL);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const char *perf = mon_perf_for_papi(some[i]);
		char *text;

		if (!papi_knows(c, some[i]))
			continue;
		text = here ? mt_strdup("a preset of PAPI") : mt_printf("is counted as %s by perf", perf);
		to->event(to, &(struct mon_listed){ .name = some[i], .text = text });
		free(text);
	}
}

static void papi_close(void *state)
{
	struct state *s = state;

	if (s->perf) {
		mon_source_perf.close(s->perf);
	} else {
		for (int p = 0; p < s->n_pus; p++) {
			if (s->begun)
				papi.stop(s->set[p], s->before + (size_t)p * (size_t)s->n_events);
			papi.cleanup_eventset(s->set[p]);
			papi.destroy_eventset(&s->set[p]);
		}
	}
	free(s->refused);
	free(s->column);
	free(s->before);
	free(s->now);
	free(s);
}

static void *papi_open(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why)
{
	int pus = hwloc_bitmap_weight(obj->cpuset);
	struct state *s = mt_alloc(sizeof(*s) + (size_t)pus * sizeof(s->set[0]));
	unsigned int cpu;

	s->n_events = (int)d->n_events;
	s->refused = mt_alloc(d->n_events * sizeof(*s->refused));
	if (!load()) {
		s->perf = mon_source_perf.open(c, d, obj, why);
		for (int e = 0; e < s->n_events; e++)
			if (!mon_perf_for_papi(d->event[e].name)) {
				snprintf(why[e].why, sizeof(why[e].why), "%s: %s", d->event[e].name, papi.why[0] ? papi.why : MISSING);
				snprintf(why[e].command, sizeof(why[e].command), "%s%s", mon_sudo(), INSTALL);
			}
		return s;
	}
	s->column = mt_alloc(d->n_events * sizeof(*s->column));
	s->before = mt_alloc(d->n_events * (size_t)pus * sizeof(*s->before) + 1);
	s->now = mt_alloc(d->n_events * sizeof(*s->now));
	hwloc_bitmap_foreach_begin(cpu, obj->cpuset)
		struct mt_papi_cpu_option option = { .cpu_num = cpu };
		int set = MT_PAPI_NULL, columns = 0, err = papi.create_eventset(&set);

		if (err == MT_PAPI_OK)
			err = papi.assign_eventset_component(set, 0);
		option.eventset = set;
		if (err == MT_PAPI_OK)
			err = papi.set_opt(MT_PAPI_CPU_ATTACH, &option);
		if (err == MT_PAPI_OK)
			papi.set_multiplex(set);	/* fewer events fit without it, nothing else */
		for (int e = 0; e < s->n_events; e++) {
			int added = err != MT_PAPI_OK ? err : papi.add_named_event(set, d->event[e].name);

			s->column[e] = added == MT_PAPI_OK ? columns++ : -1;
			if (added != MT_PAPI_OK && !why[e].why[0])
				snprintf(why[e].why, sizeof(why[e].why), "%s: PAPI says: %s", d->event[e].name, papi.strerror(added));
		}
		s->set[s->n_pus++] = set;
	hwloc_bitmap_foreach_end();
	return s;
}

static int papi_read(const struct mon_context *c, void *state, double *values)
{
	struct state *s = state;

	if (s->perf)
		return mon_source_perf.read(c, s->perf, values);
	for (int e = 0; e < s->n_events; e++)
		values[e] = s->column[e] < 0 ? NAN : 0;
	for (int p = 0; p < s->n_pus; p++) {
		long long *before = s->before + (size_t)p * (size_t)s->n_events, *now = s->now;
		int err;

		err = s->begun ? MT_PAPI_OK : papi.start(s->set[p]);
		if (err == MT_PAPI_OK)
			err = papi.read(s->set[p], now);
		for (int e = 0; e < s->n_events; e++)
			if (s->column[e] >= 0) {
				values[e] += err == MT_PAPI_OK ? (double)(now[s->column[e]] - before[s->column[e]]) : NAN;
				if (err == MT_PAPI_OK)
					before[s->column[e]] = now[s->column[e]];
			}
	}
	s->begun = true;
	return 0;
}

const struct mon_source mon_source_papi = {
	.name = "papi", .text = "events by their names in PAPI", .list = papi_list, .knows = papi_knows,
	.open = papi_open, .read = papi_read, .close = papi_close,
};
