/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/finish/slower.h"

#include <stdlib.h>

#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

static const char low_key[] = "wall_share_low", high_key[] = "wall_share_high", how_key[] = "wall_share_how", fault_key[] = "fault_ns_now";

static double number(struct mt_csv *v, const char *column)
{
	return strtod(mt_csv_get(v, mt_csv_column(v, column)), NULL);
}

void mt_slower_describe(json_t *m, const char *trace)
{
	json_t *overhead = json_object_get(m, "overhead");
	double low = 0, high = 0, run = 0, faults = 0, fault_ns = 0;
	size_t n;
	char **images = mt_trace_images(trace, &n);

	for (size_t i = 0; i < n; i++) {
		char *path = mt_printf("%s/%s/overhead.csv", trace, images[i]);
		struct mt_csv v;

		if (!mt_csv_open(&v, path)) {
			while (mt_csv_next(&v)) {
				const double k = number(&v, "Faults");

				low += number(&v, "LowNs");
				high += number(&v, "HighNs");
				run += number(&v, "RunNs");
				faults += k;
				fault_ns += k * number(&v, "FaultNs");
			}
			mt_csv_close(&v);
		}
		free(path);
	}
	mt_names_free(images, n);
	json_object_del(overhead, low_key);
	json_object_del(overhead, high_key);
	json_object_del(overhead, how_key);
	json_object_del(overhead, fault_key);
	if (run <= 0)
		return;
	/* what the command itself did before and after the run, as if nobody had waited for it */
	high += json_number_value(json_object_get(overhead, "recorder_cpu_ns"));
	json_object_set_new(overhead, low_key, json_real(low / run));
	json_object_set_new(overhead, high_key, json_real(high / run));
	json_object_set_new(overhead, how_key, json_string("bounds"));
	if (faults > 0)
		json_object_set_new(overhead, fault_key, json_integer((json_int_t)(fault_ns / faults)));
}

char *mt_slower_text(const json_t *m)
{
	const json_t *overhead = json_object_get(m, "overhead"), *high = json_object_get(overhead, high_key);
	const double from = json_number_value(json_object_get(overhead, low_key)) * 100, to = json_number_value(high) * 100;

	if (!high)
		return mt_strdup("");
	return mt_printf("about %.*f to %.*f %% longer", from < 9.95, from, to < 9.95, to);
}
