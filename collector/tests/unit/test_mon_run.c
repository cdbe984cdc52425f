// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/monitor/definition.c cli/monitor/expression.c cli/monitor/statistics.c cli/monitor/run.c cli/monitor/output.c cli/monitor/table.c cli/monitor/times.c cli/monitor/source.c cli/monitor/source_perf.c cli/monitor/source_proc.c cli/monitor/source_papi.c cli/monitor/source_trace.c cli/base/processes.c cli/base/util.c cli/monitor/sources.c cli/monitor/source_fake.c
// includes: cli/monitor/source_papi.c
// libs: -lhwloc -lm
/*
 * Monitors on topologies that are not this machine, with counters that are known in
 * advance: sums at all levels, reductions, the three formats, what is computed again from a trace, and
 * PAPI with a library that is made here.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

/* ---- a PAPI of our own: the k-th read of the i-th event on CPU c has counted (k + 1) * (100 * (i + 1) + c) */

static bool papi_is_here;
static struct { int cpu, events, reads; } papi_set[64];
static int papi_sets;

static int P_library_init(int v) { return v; }
static int P_multiplex_init(void) { return 0; }
static int P_create_eventset(int *s) { *s = papi_sets++; return 0; }
static int P_assign_eventset_component(int s, int c) { (void)s; return c; }
static int P_set_opt(int option, void *o) { papi_set[*(int *)o].cpu = ((int *)o)[1]; return option == 27 ? 0 : -1; }
static int P_set_multiplex(int s) { (void)s; return 0; }
static int P_add_named_event(int s, const char *name) { return strcmp(name, "PAPI_NONE") ? (papi_set[s].events++, 0) : -7; }
static int P_event_name_to_code(const char *name, int *code) { *code = 1; return strcmp(name, "PAPI_NONE") ? 0 : -7; }
static int P_start(int s) { papi_set[s].reads = 0; return 0; }
static int P_read(int s, long long *v)
{
	for (int i = 0; i < papi_set[s].events; i++)
		v[i] = papi_set[s].reads * (100ll * (i + 1) + papi_set[s].cpu);
	papi_set[s].reads++;
	return 0;
}
static int P_stop(int s, long long *v) { (void)s; (void)v; return 0; }
static int P_cleanup_eventset(int s) { (void)s; return 0; }
static int P_destroy_eventset(int *s) { *s = -1; return 0; }
static char *P_strerror(int e) { (void)e; return (char *)"Event does not exist"; }

static void *fake_dlopen(const char *name, int flags)
{
	(void)name;
	(void)flags;
	return papi_is_here ? (void *)papi_set : NULL;
}

static void *fake_dlsym(void *lib, const char *name)
{
	(void)lib;
#define P(x) if (!strcmp(name, "PAPI_" #x)) return (void *)P_##x;
	P(library_init) P(multiplex_init) P(create_eventset) P(assign_eventset_component) P(set_opt) P(set_multiplex) P(add_named_event)
	P(event_name_to_code) P(start) P(read) P(stop) P(cleanup_eventset) P(destroy_eventset) P(strerror)
	return NULL;
}

#define dlopen fake_dlopen
#define dlsym fake_dlsym
#include "cli/monitor/source_papi.c"
#undef dlopen
#undef dlsym

#include "cli/monitor/output.h"
#include "cli/monitor/run.h"
#include "cli/monitor/table.h"
#include "cli/monitor/times.h"

static hwloc_topology_t synthetic(const char *text)
{
	hwloc_topology_t t;

	CHECK(!hwloc_topology_init(&t) && !hwloc_topology_set_synthetic(t, text) &&
	      !hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL) && !hwloc_topology_load(t));
	return t;
}

struct machine {
	struct mon_context c;
	struct mon_set s;
	struct mon_file *f;
	int rc;
};

static struct machine *make(const char *topology, const char *text)
{
	struct machine *m = mt_alloc(sizeof(*m));

	m->c.topology = synthetic(topology);
	m->f = mon_file_parse("f", text, strlen(text));
	CHECK_STR(m->f->error, "");
	m->rc = m->f->error[0] ? -1 : mon_set_make(&m->s, m->f, &m->c, NULL);
	return m;
}

/* Sample 0 begins; the k-th is at k milliseconds. */
static void samples(struct machine *m, int n, hwloc_const_bitmap_t running, struct mon_trace *t)
{
	if (!m->c.sample) {
		mon_set_update(&m->s, running);
		m->c.sample++;
	}
	for (int i = 0; i < n; i++) {
		m->c.now_ns = m->c.sample * 1000000;
		mon_set_update(&m->s, running);
		if (t)
			CHECK_EQ(mon_trace_sample(t), 0);
		m->c.sample++;
	}
}

static const struct mon_monitor *at(struct machine *m, const char *name, const char *place)
{
	for (size_t i = 0; i < m->s.n; i++)
		if (!strcmp(m->s.monitor[i].def->name, name) && !strcmp(m->s.monitor[i].place, place))
			return &m->s.monitor[i];
	printf("there is no %s at %s\n", name, place);
	CHECK(0);
	return &m->s.monitor[0];
}

static void destroy(struct machine *m)
{
	mon_set_free(&m->s);
	mon_file_free(m->f);
	hwloc_topology_destroy(m->c.topology);
	free(m);
}

#define VALUE(m, name, place, want) CHECK_EQ(1000 * at(m, name, place)->out[0], 1000 * (want))

static void levels(void)
{
	/* formula: 10 * index + sample */
	struct machine *m = make("pack:2 l3:1 core:4 pu:2",
		"pu { OBJ:=PU; EVSET:=formula, one; }\n"
		"core { OBJ:=Core; PERF_LIB:=accumulate; EVSET:=pu; }\n"
		"l3 { OBJ:=L3; PERF_LIB:=accumulate; EVSET:=pu; REDUCTION:=$0/$1; }\n"
		"top { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=core; REDUCTION:=$0, n=$1; }\n"
		"far { OBJ:=Machine; PERF_LIB:=hierarchical; EVSET:=l3; REDUCTION:=1#monitor_evset_var; }\n");

	CHECK_EQ(m->rc, 0);
	CHECK_EQ(m->s.n, 16 + 8 + 2 + 1 + 1);
	samples(m, 3, NULL, NULL);
	VALUE(m, "pu", "PU:5", 53);
	VALUE(m, "core", "Core:2", 40 + 50 + 2 * 3);
	VALUE(m, "l3", "L3Cache:0", 10 * 28 / 8.0 + 3);
	VALUE(m, "l3", "L3Cache:1", 10 * (8 + 9 + 10 + 11 + 12 + 13 + 14 + 15) / 8.0 + 3);
	VALUE(m, "top", "Machine:0", 10 * 120 + 16 * 3);
	CHECK(at(m, "top", "Machine:0")->out[1] == 16);
	VALUE(m, "far", "Machine:0", 80 * 80 / 2.0);	/* two values 80 apart */
	CHECK_STR(m->s.level[3].label[0], "top.0");
	CHECK_STR(m->s.level[3].label[1], "n");
	CHECK_STR(m->s.level[0].label[0], "formula");
	destroy(m);
}

/* The sum over the places of each level is the same at all levels, whatever the topology. */
static void sums(void)
{
	static const char *const machines[] = { "pack:2 core:1 pu:1", "pack:2 l3:2 core:8 pu:2", "node:4 core:16 pu:1", "pack:1 core:1 pu:1",
		"pack:3 l3:1 core:5 pu:2" };

	for (size_t k = 0; k < sizeof(machines) / sizeof(machines[0]); k++) {
		struct machine *m = make(machines[k],
			"a { OBJ:=PU; EVSET:=formula; } b { OBJ:=Core; PERF_LIB:=accumulate; EVSET:=a; }\n"
			"c { OBJ:=NUMANode; PERF_LIB:=accumulate; EVSET:=b; } d { PERF_LIB:=accumulate; EVSET:=c; REDUCTION:=$0; }\n");
		double want = 0;

		samples(m, 7, NULL, NULL);
		for (size_t l = 0; l < m->s.n_levels; l++) {
			double sum = 0;

			for (size_t i = m->s.level[l].first; i < m->s.level[l].first + m->s.level[l].n; i++)
				sum += m->s.monitor[i].out[0];
			if (!l)
				want = sum;
			CHECK(sum == want && sum > 0);
		}
		destroy(m);
	}
}

static void reductions(void)
{
	struct machine *m = make("pack:1 core:2 pu:1",
		"last { OBJ:=PU; EVSET:=sample, object; EVSET_REDUCE:=$0*10+$1; SAMPLES_REDUCE:=MONITOR_SAMPLES_LAST; N_SAMPLES:=4; }\n"
		"mean { OBJ:=Core; EVSET:=sample; SAMPLES_REDUCE:=MONITOR_SAMPLES_MEAN; N_SAMPLES:=4; }\n"
		"all { OBJ:=Package; EVSET:=sample; ACCUMULATE:=1; }\n"
		"max { OBJ:=Machine; EVSET:=sample, x; EVSET_REDUCE:=MONITOR_EVSET_MAX; }\n");

	samples(m, 6, NULL, NULL);
	VALUE(m, "last", "PU:1", 61);
	VALUE(m, "mean", "Core:0", (3 + 4 + 5 + 6) / 4.0);
	VALUE(m, "all", "Package:0", 1 + 2 + 3 + 4 + 5 + 6);
	VALUE(m, "max", "Machine:0", 6);
	destroy(m);

	m = make("pack:1 core:2 pu:1",
		"w { OBJ:=PU; EVSET:=sample, one; REDUCTION:=2#monitor_events_sum; WINDOW:=3; }\n"
		"v { OBJ:=Core; EVSET:=sample; REDUCTION:=1#monitor_events_var; WINDOW:=3; }\n"
		"c { OBJ:=Package; EVSET:=sample; REDUCTION:=4#clustering; WINDOW:=4; }\n"
		"raw { OBJ:=Package; EVSET:=sample, formula, one; }\n"
		"fit { OBJ:=Machine; PERF_LIB:=hierarchical; EVSET:=twice; REDUCTION:=3#lsq_fit; WINDOW:=4; }\n"
		"twice { OBJ:=Package; PERF_LIB:=accumulate; EVSET:=raw; REDUCTION:=3*$0+5, $0, $2; }\n");
	CHECK_EQ(m->rc, 0);
	samples(m, 6, NULL, NULL);
	VALUE(m, "w", "PU:1", 4 + 5 + 6);
	CHECK(at(m, "w", "PU:1")->out[1] == 3);
	VALUE(m, "v", "Core:1", 1);
	CHECK(at(m, "c", "Package:0")->out[0] == 0 && at(m, "c", "Package:0")->out[1] == 0 && at(m, "c", "Package:0")->out[2] == 1 &&
	      at(m, "c", "Package:0")->out[3] == 1);
	/* $0 = 3 * $1 + 5 * $2 is found, and then predicted without an error */
	CHECK(fabs(at(m, "fit", "Machine:0")->out[0]) < 1e-6);
	CHECK(fabs(at(m, "fit", "Machine:0")->out[1] - 3) < 1e-4 && fabs(at(m, "fit", "Machine:0")->out[2] - 5) < 1e-3);
	destroy(m);
}

/* Where the program does not run nothing is recorded; what is above it has the running ones only. */
static void running(void)
{
	struct machine *m = make("pack:2 core:2 pu:1",
		"pu { OBJ:=PU; EVSET:=one; } all { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=pu; REDUCTION:=$0; }");
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	samples(m, 1, NULL, NULL);
	VALUE(m, "all", "Machine:0", 4);
	hwloc_bitmap_set_range(set, 1, 2);
	samples(m, 1, set, NULL);
	CHECK(!at(m, "pu", "PU:0")->active && at(m, "pu", "PU:1")->active && at(m, "pu", "PU:2")->active);
	VALUE(m, "all", "Machine:0", 2);
	hwloc_bitmap_zero(set);
	samples(m, 1, set, NULL);
	CHECK(!at(m, "all", "Machine:0")->active);
	CHECK_EQ(at(m, "all", "Machine:0")->n_values, 2);
	hwloc_bitmap_free(set);
	destroy(m);
}

static void wrong(const char *text, const char *want)
{
	struct machine *m = make("pack:1 core:2 pu:1", text);

	CHECK(m->rc != 0);
	CHECK_STR(m->f->error, want);
	destroy(m);
}

static void mistakes(void)
{
	wrong("a{OBJ:=L3;EVSET:=x;}", "f:1:8: this machine has no 'L3'; it has NUMANode, Machine, Package, Core, PU");
	wrong("a{OBJ:=Foo;EVSET:=x;}", "f:1:8: this machine has no 'Foo'; it has NUMANode, Machine, Package, Core, PU");
	wrong("a{OBJ:=PU:7;EVSET:=x;}", "f:1:8: no place for the monitor 'a' is left");
	wrong("a{OBJ:=PU;EVSET:=x,y;\nEVSET_REDUCE:=$0+$2;}", "f:2:18: the monitor 'a' has 2 events at PU:0, $0 is the first: there is no $2");
	wrong("a{EVSET:=x;EVSET_REDUCE:=foo;}", "f:1:26: there is no reduction 'foo'; 'memtrace monitor --list' shows them");
	wrong("a{EVSET:=x;REDUCTION:=2#monitor_evset_sum;}", "f:1:25: monitor_evset_sum gives one value");
	wrong("a{PERF_LIB:=foo;EVSET:=x;}", "f:1:13: there is no source 'foo': there are proc, perf, papi, trace, fake, accumulate and hierarchical");
	wrong("a{PERF_LIB:=accumulate;EVSET:=b;}", "f:1:31: there is no monitor 'b', and none on places of this type, for 'a' to be made of");
	wrong("a{PERF_LIB:=accumulate;EVSET:=b;WINDOW:=1;}b{PERF_LIB:=accumulate;EVSET:=a;}",
	      "f:1:31: the monitor 'a' is made of monitors that are made of it");
	wrong("a{OBJ=PU;CTR=PAPI_NONE+1;}", "f:1:14: there is no counter 'PAPI_NONE'; 'memtrace monitor --list' shows them");
	wrong("a{OBJ:=PU;PERF_LIB:=perf;EVSET:=cycles;}", "");	/* not this machine: refused, and not the file's mistake */
}

static void file_is(const char *path, const char *want)
{
	char *text = mt_read_file(path, NULL);

	CHECK_STR(text ? text : "(nothing)", want);
	free(text);
}

static void formats(void)
{
	static const char y2017[] = "pu { OBJ:=PU; EVSET:=formula; REDUCTION:=a=$0, b=1/($0-11); }\n"
		"sum { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=pu; REDUCTION:=$0; DISPLAY:=1; }\n"
		"quiet { OBJ:=Core; EVSET:=x; SILENT:=1; }\n";
	static const char again[] = "in { OBJ:=PU; PERF_LIB:=trace; EVSET:=1, b; }\n"
		"t { PERF_LIB:=accumulate; EVSET:=in; REDUCTION:=2*$0, $1; }\n";
	char dir[] = "/tmp/mt-mon-XXXXXX", *base, *pu, *sum, *names;
	struct machine *m;
	struct mon_trace *t;

	CHECK(mkdtemp(dir) != NULL);
	base = mt_printf("%s/t.txt", dir);
	pu = mt_printf("%s/t.pu.txt", dir);
	sum = mt_printf("%s/t.sum.txt", dir);

	m = make("pack:1 core:2 pu:1", y2017);
	t = mon_trace_open(&m->s, base, MON_2017);
	samples(m, 2, NULL, t);
	CHECK_EQ(mon_trace_close(t, &names), 0);
	CHECK(strstr(names, pu) && strstr(names, sum));
	free(names);
	file_is(pu, "# at PU:0 Machine:0/Package:0/Core:0\n# at PU:1 Machine:0/Package:0/Core:1\nObj Nanoseconds a b\n"
		"PU:0 1000000 1.000000e+00 -1.000000e-01\nPU:1 1000000 1.100000e+01 nan\n"
		"PU:0 2000000 2.000000e+00 -1.111111e-01\nPU:1 2000000 1.200000e+01 1.000000e+00\n");
	file_is(sum, "# at Machine:0\nObj Nanoseconds sum\nMachine:0 1000000 1.200000e+01\nMachine:0 2000000 1.400000e+01\n");

	t = mon_trace_open(&m->s, base, MON_2016);
	samples(m, 1, NULL, t);
	CHECK_EQ(mon_trace_close(t, NULL), 0);
	file_is(base, "# at PU:0 Machine:0/Package:0/Core:0\n# at PU:1 Machine:0/Package:0/Core:1\n# pu PU a b\n# at Machine:0\n# sum Machine sum\nPU:0 3000000 3 -0.125\nPU:1 3000000 13 0.5\nMachine:0 3000000 16\n");

	t = mon_trace_open(&m->s, base, MON_2015);
	samples(m, 1, NULL, t);
	CHECK_EQ(mon_trace_close(t, NULL), 0);
	file_is(base, "%EventDef MonitorValue 0\n%  id int\n%  phase int\n%  time_us int\n%  value double\n%EndEventDef\n"
		"%EventDef MonitorNode 1\n%  id int\n%  level string\n%  sibling int\n%  name string\n%  logscale int\n%EndEventDef\n"
		"# at PU:0 Machine:0/Package:0/Core:0\n# at PU:1 Machine:0/Package:0/Core:1\n# at Machine:0\n"
		"1 0 PU 0 pu 0\n1 1 PU 1 pu 0\n1 2 Machine 0 sum 0\n0 0 0 4000 4\n0 1 0 4000 14\n0 2 0 4000 18\n");
	destroy(m);

	/* what was recorded on PUs, computed again on the machine */
	m = mt_alloc(sizeof(*m));
	m->c.topology = synthetic("pack:1 core:2 pu:1");
	m->c.trace = pu;
	m->f = mon_file_parse("f", again, strlen(again));
	CHECK_EQ(mon_set_make(&m->s, m->f, &m->c, NULL), 0);
	CHECK(m->s.clock == &mon_source_trace);
	mon_set_update(&m->s, NULL);
	m->c.sample++;
	CHECK(m->s.clock->next(&m->c, &m->c.now_ns) && m->c.now_ns == 1000000);
	mon_set_update(&m->s, NULL);
	VALUE(m, "t", "Machine:0", 2 * 12);
	CHECK(at(m, "t", "Machine:0")->out[1] == -0.1);		/* nan is left out */
	CHECK(m->s.clock->next(&m->c, &m->c.now_ns) && m->c.now_ns == 2000000);
	mon_set_update(&m->s, NULL);
	VALUE(m, "t", "Machine:0", 2 * 14);
	CHECK(!m->s.clock->next(&m->c, &m->c.now_ns));
	destroy(m);
	unlink(pu);
	unlink(sum);
	unlink(base);
	rmdir(dir);
	free(pu);
	free(sum);
	free(base);
}

/* Comments in a trace: the machine, and how values are to be drawn. */
static void about_the_machine(void)
{
	static const char text[] = "l3 { OBJ=L3; CTR=cpu_clock*2; MAX=1e6; MIN=0; LOGSCALE=0; }\np { OBJ=PU; CTR=page_faults; }\n"
		"c { OBJ=Core; CTR=page_faults; LOGSCALE=0; }";
	char dir[] = "/tmp/mtmonXXXXXX";
	char *path, *got;
	size_t len;
	struct machine *m = make("pack:2 l3:1 core:2 pu:1", text);
	struct mon_trace *t;

	CHECK(mkdtemp(dir) != NULL);
	path = mt_printf("%s/t.txt", dir);
	t = mon_trace_open(&m->s, path, MON_2016);
	CHECK_EQ(mon_trace_machine(t), 0);
	CHECK_EQ(mon_trace_close(t, NULL), 0);
	got = mt_read_file(path, &len);
	CHECK(got && strstr(got, "\n# scale l3 0 1000000 0\n") && strstr(got, "\n# scale p - - 1\n") && !strstr(got, "# scale c"));
	CHECK(strstr(got, "\n# topology <topology") && strstr(got, "type=\"PU\"") && strstr(got, "\n# topology </topology>\n"));
	for (const char *line = got; *line; line = strchr(line, '\n') + 1)
		CHECK(*line == '#');
	free(got);
	destroy(m);
	unlink(path);
	rmdir(dir);
	free(path);
}

/* Who follows a trace sees its samples before it is closed. */
static void followed(void)
{
	char dir[] = "/tmp/mtmonXXXXXX";
	char *path, *got;
	size_t len;
	struct machine *m = make("pack:1 core:1 pu:1", "p { OBJ:=PU; PERF_LIB:=fake; EVSET:=formula; REDUCTION:=f=$0; }");
	struct mon_trace *t;

	CHECK(mkdtemp(dir) != NULL);
	path = mt_printf("%s/t.txt", dir);
	t = mon_trace_open(&m->s, path, MON_2016);
	samples(m, 99, NULL, t);
	got = mt_read_file(path, &len);
	CHECK(got && !strstr(got, "PU:0 1000000 "));	/* not each of them for itself: that costs */
	free(got);
	samples(m, 1, NULL, t);
	got = mt_read_file(path, &len);
	CHECK(got && strstr(got, "PU:0 1000000 ") && strstr(got, "\nPU:0 100000000 "));
	free(got);
	CHECK_EQ(mon_trace_close(t, NULL), 0);
	destroy(m);
	unlink(path);
	rmdir(dir);
	free(path);
}

/* The example of the publication, as it is there, with a PAPI whose counts are known. */
static void published(void)
{
	static const char text[] =
		"L3_miss_per_cycle{\nOBJ:=PU;\nPERF_LIB:=papi;\nEVSET:=PAPI_L3_TCM, PAPI_TOT_CYC;\nEVSET_REDUCE:=$0/$1;\n"
		"SAMPLES_REDUCE:=MONITOR_SAMPLES_LAST;\nN_SAMPLES:=128;\n}\n";
	struct machine *m;

	papi_is_here = true;
	papi.state = NOT_TRIED;
	m = make("pack:2 l3:1 core:4 pu:1", text);
	CHECK_EQ(m->rc, 0);
	CHECK_EQ(m->s.n, 8);
	samples(m, 200, NULL, NULL);
	for (int k = 0; k < 8; k++)
		CHECK(fabs(m->s.monitor[k].out[0] - (100.0 + k) / (200.0 + k)) < 1e-12);
	destroy(m);
	m = make("pack:2 l3:1 core:4 pu:1", "a{OBJ:=L3;PERF_LIB:=papi;EVSET:=PAPI_NONE,PAPI_TOT_CYC;}");
	samples(m, 2, NULL, NULL);
	CHECK(isnan(m->s.monitor[0].out[0]));			/* refused, and the other one counts on */
	CHECK(at(m, "a", "L3Cache:1")->out[1] == 4 * 100 + 4 + 5 + 6 + 7);
	destroy(m);
}

static void times(void)
{
	struct mon_times t = { .n = 0 };
	struct mon_quartiles q = mon_times_quartiles(&t);

	CHECK_EQ(q.most, 0);
	for (uint64_t i = 0; i < 1000000; i++)
		mon_times_add(&t, i * 7 % 1000000);
	q = mon_times_quartiles(&t);
	CHECK_EQ(q.least, 0);
	CHECK_EQ(q.most, 999999);
	CHECK(q.mean == 499999.5);
	CHECK(q.q1 > 245000 && q.q1 < 255000 && q.median > 495000 && q.median < 505000 && q.q3 > 745000 && q.q3 < 755000);
	CHECK_EQ(t.count, 1000000);
	free(t.ns);
}

static void shares(void)
{
	struct mon_definition d = { .name = NULL };
	struct mon_level l = { .def = &d, .least = 2, .most = 10 };

	CHECK(mon_share(&l, 5) == 0.5);			/* observed bounds begin at 0 */
	CHECK(isnan(mon_share(&l, NAN)));
	d.has_min = d.has_max = true;
	CHECK(mon_share(&l, 6) == 0.5);
	CHECK(mon_share(&l, 1) == 0 && mon_share(&l, 11) == 1);
	d.log_scale = true;
	l.least = 0;
	l.most = 99;
	CHECK(fabs(mon_share(&l, 9) - 0.5) < 1e-12);
}

/* --check: what is wrong on any machine is a mistake, what is only not here is none. */
static void check(const char *text, const char *error)
{
	struct mon_context c = { .topology = synthetic("pack:1 core:2 pu:1") };
	struct mon_file *f = mon_file_parse("f", text, strlen(text));

	CHECK_STR(f->error, "");
	CHECK_EQ(mon_set_check(f, &c), !*error);
	CHECK_STR(f->error, error);
	if (*error) {
		char place[40];

		snprintf(place, sizeof(place), "f:%d:%d: ", f->mistake_at.line, f->mistake_at.column);
		CHECK(!strncmp(error, place, strlen(place)));
		CHECK_STR(f->mistake, error + strlen(place));
	}
	mon_file_free(f);
	hwloc_topology_destroy(c.topology);
}

static void checks(void)
{
	check("a { OBJ:=PU; PERF_LIB:=perf; EVSET:=page-faults, cycles; REDUCTION:=$0/$1; }", "");
	check("a { OBJ:=PU; PERF_LIB:=perf; EVSET:=page-faults,\n nonsense; }",
	      "f:2:2: perf has no event 'nonsense'; 'memtrace monitor --list' shows them");
	check("a { OBJ:=PU; PERF_LIB:=proc; EVSET:=cpuload, page-faults; }",
	      "f:1:46: proc has no event 'page-faults'; 'memtrace monitor --list' shows them");
	check("a { OBJ:=PU; PERF_LIB:=nothing; EVSET:=x; REDUCTION:=$0; }",
	      "f:1:24: there is no source 'nothing': there are proc, perf, papi, trace, fake, accumulate and hierarchical");
	check("a { OBJ:=L3; EVSET:=x; }", "");		/* not here */
	check("a { OBJ:=Kore; EVSET:=x; }", "f:1:10: 'Kore' is no type of places that hwloc knows");
	check("a { OBJ:=PU; EVSET:=x; REDUCTION:=$1; }", "f:1:35: the monitor 'a' has 1 event, $0 is the first: there is no $1");
	check("a { OBJ:=PU; EVSET:=x; REDUCTION:=1#NOTHING; }",
	      "f:1:37: there is no reduction 'NOTHING'; 'memtrace monitor --list' shows them");
	check("a { OBJ:=PU; PERF_LIB:=trace; EVSET:=some, 3; REDUCTION:=$1; }", "");
	check("a { OBJ:=Core; PERF_LIB:=accumulate; EVSET:=b; REDUCTION:=$4; } b { OBJ:=PU; EVSET:=x; }", "");
	check("a { OBJ:=Core; PERF_LIB:=accumulate; EVSET:=c; } b { OBJ:=PU; EVSET:=x; }",
	      "f:1:45: there is no monitor 'c', and none on places of this type, for 'a' to be made of");
	check("a { OBJ:=PU; PERF_LIB:=papi; EVSET:=PAPI_NONE; }",
	      "f:1:37: papi has no event 'PAPI_NONE'; 'memtrace monitor --list' shows them");
}

int main(void)
{
	FILE *quiet = freopen("/dev/null", "w", stderr);	/* refusals are told there */

	CHECK(quiet != NULL);
	levels();
	sums();
	reductions();
	running();
	formats();
	about_the_machine();
	followed();
	published();
	times();
	shares();
	mistakes();
	checks();
	return mt_test_done();
}
