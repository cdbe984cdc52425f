/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/finish/finebins.h"

#include <stdlib.h>

#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define PANEL_PART 4	/* preload/fine/fine.c */
#define PANEL_LOOKS 4

static uint64_t number(struct mt_csv *v, const char *column)
{
	return strtoull(mt_csv_get(v, mt_csv_column(v, column)), NULL, 10);
}

void mt_fine_describe(json_t *m, const char *trace)
{
	const json_t *asked = json_object_get(m, "parameters");
	const json_int_t pages = json_integer_value(json_object_get(asked, "fine_pages"));
	json_t *overhead = json_object_get(m, "overhead"), *promise = json_object_get(json_object_get(m, "backend"), "guarantee");
	uint64_t bins = 0, lost = 0, faults = 0, cpu = 0;
	size_t n, works = 0;
	char **images = mt_trace_images(trace, &n);

	for (size_t i = 0; i < n; i++) {
		char *path = mt_printf("%s/%s/bins.csv", trace, images[i]);
		struct mt_csv v;

		if (!mt_csv_open(&v, path)) {
			works++;
			for (; mt_csv_next(&v); bins++) {
				lost += number(&v, "Lost") > 0;
				faults += number(&v, "Faults");
				cpu += number(&v, "MonitorCpuNs");
			}
			mt_csv_close(&v);
		}
		free(path);
	}
	mt_names_free(images, n);
	if (!works)
		return;
	if (promise)
		json_object_set_new(promise, "fine", json_pack("{s:O, s:s, s:I, s:I, s:i, s:s}", "granularity_ns", json_object_get(asked, "fine_ns"),
			"clock", "busiest-thread-cpu", "sample_pages", pages, "panel_pages", pages / PANEL_PART, "panel_looks", PANEL_LOOKS,
			"threads", "first-of-sample"));
	json_object_set_new(overhead, "fine_bins", json_integer((json_int_t)bins));
	json_object_set_new(overhead, "fine_bins_lost", json_integer((json_int_t)lost));
	json_object_set_new(overhead, "fine_faults", json_integer((json_int_t)faults));
	json_object_set_new(overhead, "fine_cpu_ns", json_integer((json_int_t)cpu));
}
