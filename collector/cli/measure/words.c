/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <stdlib.h>

#include "cli/base/util.h"
#include "cli/measure/measure.h"

/* Three digits, never an exponent. */
static void rounded(char text[32], double v)
{
	snprintf(text, 32, v < 1 ? "%.3g" : v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v);
}

static double number(const json_t *figure, const char *key)
{
	return json_number_value(json_object_get(figure, key));
}

void mt_measure_print(const json_t *measured, FILE *out)
{
	const char *name;
	json_t *v;

	fprintf(out, "%-20s %10s %19s  %s\n", "WHAT", "VALUE", "LOW TO HIGH", "MEANING");
	json_object_foreach(json_object_get(measured, "figures"), name, v) {
		const char *why = json_string_value(json_object_get(v, "refused"));
		const char *unit = json_string_value(json_object_get(v, "unit")), *text = json_string_value(json_object_get(v, "text"));
		char range[80] = "", value[64] = "not known", low[32], high[32];

		rounded(low, number(v, "low"));
		rounded(high, number(v, "high"));
		if (number(v, "low") > 0)
			snprintf(range, sizeof(range), "%s to %s", low, high);
		rounded(low, number(v, "value"));
		if (!why)
			snprintf(value, sizeof(value), "%s %s", low, unit ? unit : "");
		fprintf(out, "%-20s %10s %19s  %s%s%s\n", name, value, range, text ? text : "", why ? "; not known: " : "", why ? why : "");
	}
	fprintf(out, "\nCaches as the kernel tells them: L1 %s, L2 %s, L3 %s. Load %.2f before, %.2f after; it took %s.\n",
		mt_human_bytes((uint64_t)json_integer_value(json_object_get(measured, "l1_bytes"))),
		mt_human_bytes((uint64_t)json_integer_value(json_object_get(measured, "l2_bytes"))),
		mt_human_bytes((uint64_t)json_integer_value(json_object_get(measured, "l3_bytes"))),
		number(measured, "load_before"), number(measured, "load_after"),
		mt_human_ns((uint64_t)json_integer_value(json_object_get(measured, "took_ns"))));
}

char *mt_measure_line(const json_t *measured)
{
	static const char *const shown[][2] = {
		{ "latency_l2", "L2" }, { "latency_l3", "L3" }, { "latency_memory", "memory" }, { "line_transfer", "a line of another core" },
		{ "fault", "a page fault" },
	};
	const json_t *figures = json_object_get(measured, "figures");
	const char *at = json_string_value(json_object_get(measured, "at"));
	char *all = mt_strdup(""), *more;
	size_t refused = 0;
	const char *name;
	char text[32];
	json_t *v;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		v = json_object_get(figures, shown[i][0]);
		if (!json_object_get(v, "value"))
			continue;
		rounded(text, number(v, "value"));
		more = mt_printf("%s%s%s %s ns", all, *all ? ", " : "", shown[i][1], text);
		free(all);
		all = more;
	}
	json_object_foreach((json_t *)figures, name, v)
		refused += json_object_get(v, "refused") != NULL;
	more = mt_printf("%s%s%zu of %zu figures known; measured %.10s at load %.3g", all, *all ? "; " : "",
			 json_object_size(figures) - refused, json_object_size(figures), at ? at : "?", number(measured, "load_before"));
	free(all);
	return more;
}
