// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/measure/measure.c cli/measure/words.c cli/measure/parts.c cli/measure/figure.c cli/measure/loads.c cli/measure/streams.c cli/measure/lines.c cli/measure/kernel.c cli/base/cache.c cli/base/util.c common/out.c
// libs: -ljansson -lzstd -lz -lpthread
/* What memory costs here: which pieces make a figure, which are refused, and for which machine it is kept. */
#include "harness.h"

#include <stdlib.h>
#include <sched.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/measure/figure.h"
#include "cli/measure/measure.h"

static char dir[] = "/tmp/mt-measure-XXXXXX";

static struct mt_figure judge(int n, double from, double step, int longer, double how_long)
{
	static struct mt_pieces p;

	for (int i = 0; i < n; i++)
		mt_piece(&p, from + i * step);
	for (int i = 0; i < longer; i++)
		mt_piece(&p, how_long);
	return mt_figure_of(&p);
}

static void quantiles(void)
{
	struct mt_figure f = judge(100, 100, 1, 0, 0);

	CHECK(!f.refused);
	CHECK_EQ((int)f.low, 110);
	CHECK_EQ((int)f.value, 125);
	CHECK_EQ((int)f.high, 150);
	CHECK_EQ(f.pieces, 100);
	/* most pieces were interrupted: those that were not still tell */
	f = judge(40, 100, 1, 60, 1e6);
	CHECK(!f.refused);
	CHECK_EQ((int)f.low, 104);
	CHECK_EQ(f.pieces, 40);
	/* refused: too few, none, or half of them much slower than the best */
	f = judge(MT_FEWEST_PIECES - 1, 100, 1, 0, 0);
	CHECK(f.refused != NULL);
	f = judge(0, 0, 0, 0, 0);
	CHECK(f.refused != NULL);
	f = judge(40, 100, 1, 60, 250);
	CHECK(f.refused != NULL);
	CHECK_EQ((int)f.high, 250);
	/* a clock that did not go on is no cost */
	f = judge(50, 0, 0, 0, 0);
	CHECK(f.refused != NULL);
	/* more than there is room for */
	f = judge(MT_PIECES + 10, 100, 0, 0, 0);
	CHECK_EQ(f.pieces, MT_PIECES);
}

static void json(void)
{
	struct mt_figure f = judge(100, 1.23456, 0, 0, 0);
	json_t *j = mt_figure_json(&f, "ns", "a load");

	CHECK(json_number_value(json_object_get(j, "value")) > 1.2339 && json_number_value(json_object_get(j, "value")) < 1.2351);
	CHECK(json_object_get(j, "refused") == NULL);
	CHECK_STR(json_string_value(json_object_get(j, "unit")), "ns");
	json_decref(j);
	f = judge(40, 100, 1, 60, 250);
	j = mt_figure_json(&f, "ns", "a load");
	CHECK(json_object_get(j, "value") == NULL);
	CHECK(json_object_get(j, "refused") != NULL);
	CHECK_EQ((int)json_number_value(json_object_get(j, "high")), 250);
	json_decref(j);
}

/* Each figure has a value between its bounds, or says why there is none; the thread may run where it did before. */
static void measured(void)
{
	cpu_set_t before, after;
	const char *name;
	json_t *m, *v;
	char *line;

	CPU_ZERO(&before);
	CPU_ZERO(&after);
	sched_getaffinity(0, sizeof(before), &before);
	m = mt_measure_now(1000000, 20000000000ull);
	sched_getaffinity(0, sizeof(after), &after);
	CHECK(CPU_EQUAL(&before, &after));
	CHECK(json_object_size(json_object_get(m, "figures")) > 25);
	json_object_foreach(json_object_get(m, "figures"), name, v) {
		const double value = json_number_value(json_object_get(v, "value"));

		CHECK(json_object_get(v, "refused") || value > 0);
		CHECK(json_object_get(v, "refused") || (json_number_value(json_object_get(v, "low")) <= value &&
							value <= json_number_value(json_object_get(v, "high"))));
		CHECK(*json_string_value(json_object_get(v, "text")));
	}
	line = mt_measure_line(m);
	CHECK(strstr(line, "figures known; measured 20") != NULL);
	free(line);
	json_decref(m);
	/* no time: all are told, none has a value */
	m = mt_measure_now(1000000, 0);
	json_object_foreach(json_object_get(m, "figures"), name, v)
		CHECK(json_object_get(v, "refused") != NULL);
	json_decref(m);
}

static void kept(void)
{
	json_t *m = mt_measure_now(1000000, 0), *other;
	char *path = NULL;

	setenv("MEMTRACE_CACHE", dir, 1);
	CHECK(mt_measure_known() == NULL);
	CHECK_EQ(mt_measure_keep(m, &path), 0);
	other = mt_measure_known();
	CHECK(json_equal(m, other));
	json_decref(other);
	/* another kernel, or another machine that uses the same home folder: its figures are not ours */
	json_object_set_new(json_object_get(m, "machine"), "kernel", json_string("1.0"));
	CHECK_EQ(mt_measure_keep(m, NULL), 0);
	CHECK(mt_measure_known() == NULL);
	CHECK(path && unlink(path) == 0);
	free(path);
	json_decref(m);
	rmdir(dir);
}

int main(void)
{
	CHECK(mkdtemp(dir) != NULL);
	quantiles();
	json();
	measured();
	kept();
	return mt_test_done();
}
