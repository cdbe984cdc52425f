// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/monitor/definition.c cli/monitor/expression.c cli/base/util.c
// libs: -lm
/* Definition files of three generations, their mistakes by line and column, expressions against a second evaluator, and any bytes. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "cli/monitor/definition.h"

static const char y2016[] =
	"# misses of each PU\n"
	"misses_per_cycle{\n"
	"OBJ:=PU;\n"
	"PERF_LIB:=papi;\n"
	"EVSET:=PAPI_L3_TCM, PAPI_TOT_CYC;\n"
	"EVSET_REDUCE:=$0/$1;\n"
	"SAMPLES_REDUCE:=MONITOR_SAMPLES_LAST;\n"
	"N_SAMPLES:=128;\n"
	"}\n"
	"sum { PERF_LIB:=hierarchical; EVSET:=PU; N_SAMPLES:=1; ACCUMULATE:=1; SILENT:=1; MAX:=1.5e3; MIN:=-2; } # the machine\n";

static const char y2017[] =
	"%% comment\n"
	"raw { OBJ:=PU:0..3; PERF_LIB:=perf; EVSET:=page-faults, sched:sched_switch[cpu=0,x=1]; SILENT:=1; }\n"
	"out { OBJ:=Machine; PERF_LIB:=hierarchical; EVSET:=raw; % two values\n"
	"  REDUCTION:= a=($0+$1)/2, -$1*(2 - 1), 1; WINDOW:=16; DISPLAY:=2; OUTPUT:=/tmp/out.txt; }\n"
	"fit { OBJ:=Core:1; EVSET:=1,2; REDUCTION:=5#lsq_fit; OUTPUT:=1; }\n";

static const char y2015[] =
	"l3 { OBJ=L3; CTR=PAPI_A*2/PAPI_B + PAPI_A; MAX=1e6; MIN=0; LOGSCALE=0; }\n"
	"pu { OBJ=PU; CTR=cpu_clock; } # log by default\n";

static struct mon_file *parse(const char *text)
{
	return mon_file_parse("f", text, strlen(text));
}

static void generations(void)
{
	struct mon_file *f = parse(y2016);
	double ev[2] = { 6, 3 };

	CHECK_STR(f->error, "");
	CHECK_EQ(f->generation, MON_2016);
	CHECK_EQ(f->n, 2);
	CHECK_STR(f->def[0].name, "misses_per_cycle");
	CHECK_STR(f->def[0].object, "PU");
	CHECK_EQ(f->def[0].object_first, -1);
	CHECK_STR(f->def[0].event[0].name, "PAPI_L3_TCM");	/* $0 is the first, not the last */
	CHECK_EQ(f->def[0].event[1].at.line, 5);
	CHECK_EQ(f->def[0].event[1].at.column, 21);
	CHECK(mon_expr_value(f->def[0].output[0].expr, ev, 2) == 2);
	CHECK_STR(f->def[0].samples_function, "MONITOR_SAMPLES_LAST");
	CHECK_EQ(f->def[0].window, 128);
	CHECK(!f->def[0].accumulate && !f->def[0].silent && !f->def[0].has_max && !f->def[0].log_scale);
	CHECK(!f->def[1].object);
	CHECK_EQ(f->def[1].window, 2);			/* below 3 */
	CHECK(f->def[1].accumulate && f->def[1].silent && f->def[1].max == 1500 && f->def[1].min == -2);
	mon_file_free(f);

	f = parse(y2017);
	CHECK_STR(f->error, "");
	CHECK_EQ(f->generation, MON_2017);
	CHECK_EQ(f->def[0].object_first, 0);
	CHECK_EQ(f->def[0].object_last, 3);
	CHECK_STR(f->def[0].event[1].name, "sched:sched_switch[cpu=0,x=1]");
	CHECK_EQ(f->def[0].n_events, 2);
	CHECK_EQ(f->def[1].n_outputs, 3);
	CHECK_STR(f->def[1].output[0].name, "a");
	CHECK(!f->def[1].output[1].name);
	CHECK(mon_expr_value(f->def[1].output[0].expr, ev, 2) == 4.5);
	CHECK(mon_expr_value(f->def[1].output[1].expr, ev, 2) == -3);
	CHECK_EQ(f->def[1].window, 16);
	CHECK_EQ(f->def[1].display, 2);
	CHECK_STR(f->def[1].file, "/tmp/out.txt");
	CHECK_EQ(f->def[2].n_function_outputs, 5);
	CHECK_STR(f->def[2].set_function, "lsq_fit");
	CHECK_EQ(f->def[2].window, 1);
	mon_file_free(f);

	f = parse(y2015);
	CHECK_STR(f->error, "");
	CHECK_EQ(f->generation, MON_2015);
	CHECK_EQ(f->def[0].n_events, 2);			/* PAPI_A is used twice */
	CHECK_EQ(f->def[0].event[1].at.column, 27);
	CHECK(mon_expr_value(f->def[0].output[0].expr, ev, 2) == 10);
	CHECK(!f->def[0].log_scale && f->def[1].log_scale);
	mon_file_free(f);

	/* only fields that 2016 and 2017 share: the comments tell */
	f = parse("% x\na{EVSET:=1;}");
	CHECK_EQ(f->generation, MON_2017);
	mon_file_free(f);
	f = parse("a{EVSET:=1;}");
	CHECK_EQ(f->generation, MON_2016);
	mon_file_free(f);
}

static void mistake(const char *text, const char *want)
{
	struct mon_file *f = parse(text);

	if (strncmp(f->error, want, strlen(want)) != 0)
		CHECK_STR(f->error, want);
	else
		CHECK(1);
	mon_file_free(f);
}

static void mistakes(void)
{
	mistake("", "f:1:1: the file defines no monitor");
	mistake("a{\n OBJ:=PU;\n}", "f:1:1: the monitor 'a' has no events: EVSET is missing");
	mistake("a{\n OBJ:=PU\n EVSET:=x;}", "f:3:2: ';' must follow the value of a field");
	mistake("a{\n\tFOO:=1;}", "f:2:2: there is no field 'FOO'");
	mistake("a{EVSET:=x;EVSET:=y;}", "f:1:12: the monitor 'a' has two fields EVSET");
	mistake("a{EVSET:=x;}\na{EVSET:=y;}", "f:2:1: there is a monitor 'a' in line 1 already");
	mistake("a{EVSET:=x;N_SAMPLES:=3;}b{EVSET:=x;\nWINDOW:=2;}", "f:2:1: WINDOW is a field of 2017, but N_SAMPLES in line 1 is one of 2016");
	mistake("a{OBJ=PU;CTR=x;}b{OBJ:=PU;}", "f:1:19: fields of 2015 have = and not :=");
	mistake("a{N_SAMPLES:=2;OBJ=PU;}", "f:1:16: fields of 2016 have := and not =");
	mistake("a{EVSET:=x;EVSET_REDUCE:=$0/;}", "f:1:29: a number, $k or ( is expected here");
	mistake("a{EVSET:=x;EVSET_REDUCE:=($0+1;}", "f:1:31: a parenthesis is not closed here");
	mistake("a{EVSET:=x;EVSET_REDUCE:=$;}", "f:1:27: $ needs the number of an event");
	mistake("a{EVSET:=x;EVSET_REDUCE:=1.2.3;}", "f:1:26: this is no number");
	mistake("a{EVSET:=x,;}", "f:1:12: the name of an event is expected here");
	mistake("a{EVSET:=x[a;}", "f:1:10: the attributes of this event have no ]");
	mistake("a{EVSET:=x{;}", "f:1:11: the name of an event cannot have this character");
	mistake("a{N_SAMPLES:=x;}", "f:1:14: N_SAMPLES is a whole number from 0 to 1000000, not 'x'");
	mistake("a{WINDOW:=0;}", "f:1:11: WINDOW is a whole number from 1 to 1000000, not '0'");
	mistake("a{OBJ:=PU:4..2;EVSET:=x;}", "f:1:11: behind PU: stands an index or a range of them");
	mistake("a{EVSET:=x;MAX:=1;MIN:=2;}", "f:1:1: MAX of the monitor 'a' is not above its MIN");
	mistake("a{EVSET:=x;REDUCTION:=0#f;}", "f:1:23: a function gives 1 to 4096 values");
	mistake("a{EVSET:=x;REDUCTION:=2#;}", "f:1:25: the name of a function must follow 2#");
	mistake("a{OBJ:=PU;EVSET:=x;}b{OBJ:=PU;EVSET:=x;N_SAMPLES:=4;}", "f:1:28: PU has the monitor 'a' already");
	mistake("a", "f:1:2: the file ends, but '{' must follow the name of a monitor");
	mistake("a{EVSET:=x;", "f:1:12: the file ends inside of the monitor 'a', which begins in line 1");
}

/* ---- expressions: a random tree, written down and computed by itself */

static unsigned int seed;

static unsigned int chance(unsigned int n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static double tree(char *to, size_t n, const double *ev, int depth, int level)
{
	unsigned int what = depth ? chance(8) : chance(2);
	size_t used = strlen(to);
	double a, b;

#define PUT(...) (used = strlen(to), (void)snprintf(to + used, n - used, __VA_ARGS__))
	if (what == 0) {
		unsigned int k = chance(3);

		PUT("$%u", k);
		return ev[k];
	}
	if (what == 1) {
		unsigned int k = chance(50);

		PUT("%u.5", k);
		return k + 0.5;
	}
	if (what == 2) {
		PUT("-");
		return -tree(to, n, ev, 0, 2);
	}
	if (what == 3 || level == 2) {
		PUT(" ( ");
		a = tree(to, n, ev, depth - 1, 0);
		PUT(")");
		return a;
	}
	if (what < 6 || level == 1) {		/* a product takes products and what is in parentheses on its left */
		bool divide = chance(2);

		a = tree(to, n, ev, depth - 1, 2);
		PUT(divide ? "/" : " * ");
		b = tree(to, n, ev, depth - 1, 2);
		return divide ? a / b : a * b;
	}
	a = tree(to, n, ev, depth - 1, 1);
	b = chance(2);
	PUT(b ? "+" : " - ");
	return b ? a + tree(to, n, ev, depth - 1, 1) : a - tree(to, n, ev, depth - 1, 1);
}

static void expressions(void)
{
	const double ev[3] = { 3, 0.25, -7 };
	int computed = 0;

	for (int i = 0; i < 3000; i++) {
		char text[4096] = "";
		double want = tree(text, sizeof(text), ev, 6, 0), got;
		const char *why = NULL;
		size_t at = 0;
		struct mon_expr *e = mon_expr_parse(text, strlen(text), &at, NULL, NULL, &why);

		if (!e || at != strlen(text)) {
			printf("seed %u: %s: %s at %zu\n", seed, text, why ? why : "not to its end", at);
			CHECK(0);
			mon_expr_free(e);
			continue;
		}
		got = mon_expr_value(e, ev, 3);
		if (isfinite(want) && fabs(want - got) > 1e-9 * fabs(want)) {
			printf("seed %u: %s: got %g, want %g\n", seed, text, got, want);
			CHECK(0);
		}
		computed += isfinite(want) && !isnan(got);
		if (!isfinite(want) && !isnan(got))
			CHECK(0);
		mon_expr_free(e);
	}
	CHECK(computed > 2000);
}

static double value(const char *text)
{
	const double ev[2] = { 6, NAN };
	const char *why;
	size_t at = 0;
	struct mon_expr *e = mon_expr_parse(text, strlen(text), &at, NULL, NULL, &why);
	double v = e ? mon_expr_value(e, ev, 2) : -999;

	mon_expr_free(e);
	return v;
}

static void values(void)
{
	char deep[400] = "";

	CHECK(value("1-2-3") == -4);
	CHECK(value("12/3/2") == 2);
	CHECK(value("1+2*3") == 7);
	CHECK(value("-2*-3") == 6);
	CHECK(value("2e3 + .5") == 2000.5);
	CHECK(isnan(value("1/0")));
	CHECK(isnan(value("0/0")));
	CHECK(isnan(value("$1+1")));
	CHECK(isnan(value("1e308*10")));
	CHECK(isnan(value("$7")));			/* no such event */
	memset(deep, '(', 200);
	CHECK(value(deep) == -999);
}

/* Any change of a file gives definitions, or one sentence with its place. */
static void fuzz(void)
{
	static const char *const files[] = { y2015, y2016, y2017 };
	static const char some[] = "{}();:=,#%$/*+-. \n\t\"[]0123456789eOBJEVSETx";
	int good = 0, bad = 0;

	printf("seed %u\n", seed);
	for (int i = 0; i < 20000; i++) {
		char text[1024];
		size_t len = strlen(files[i % 3]);
		struct mon_file *f;

		memcpy(text, files[i % 3], len);
		for (unsigned int k = chance(4); k-- > 0 && len > 1;) {
			size_t at = chance((unsigned int)len);

			switch (chance(4)) {
			case 0:
				text[at] = (char)chance(256);
				break;
			case 1:
				text[at] = some[chance(sizeof(some) - 1)];
				break;
			case 2:
				memmove(text + at, text + at + 1, len - at - 1);
				len--;
				break;
			default:
				len = at + 1;
			}
		}
		f = mon_file_parse("f", text, len);
		if (f->error[0]) {
			int line = 0, column = 0;

			bad++;
			if (sscanf(f->error, "f:%d:%d: ", &line, &column) != 2 || line < 1 || column < 1 || strchr(f->error, '\n'))
				CHECK_STR(f->error, "f:LINE:COLUMN: a sentence");
		} else {
			good++;
			if (!f->n || !f->def[0].n_events || !f->generation || f->def[0].window < 1)
				CHECK(0);
		}
		mon_file_free(f);
	}
	CHECK(good > 1000 && bad > 1000);
}

int main(void)
{
	seed = getenv("SEED") ? (unsigned int)atoi(getenv("SEED")) : 4711;
	generations();
	mistakes();
	values();
	expressions();
	fuzz();
	return mt_test_done();
}
