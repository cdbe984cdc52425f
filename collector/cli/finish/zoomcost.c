/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* zoomcost.c - what the images tell of a close look (record --zoom), as a sentence. */
#include <stdlib.h>

#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "cli/finish/zoomcost.h"

static uint64_t number(struct mt_csv *v, const char *column)
{
	return strtoull(mt_csv_get(v, mt_csv_column(v, column)), NULL, 10);
}

json_t *mt_zoom_describe(const char *trace, const json_t *asked, double budget)
{
	uint64_t samples = 0, lost = 0, turns = 0, busy = 0, cpu = 0, pages = 0, left_out = 0, beside = 0;
	size_t n, works = 0, k;
	char **images = mt_trace_images(trace, &n), *text, *what = mt_strdup("");
	json_t *z, *s;

	for (size_t i = 0; i < n; i++) {
		char *path = mt_printf("%s/%s/" MT_FILE_ZOOMCOST, trace, images[i]);
		uint64_t most_left_out = 0;
		struct mt_csv v;

		if (!mt_csv_open(&v, path)) {
			works++;
			while (mt_csv_next(&v)) {
				uint64_t p = number(&v, "Pages"), l = number(&v, "LeftOut");

				samples += number(&v, "Samples");
				beside += number(&v, "Beside");
				lost += number(&v, "Lost");
				turns += number(&v, "Turns");
				busy += number(&v, "BusyNs");
				cpu += number(&v, "MonitorCpuNs") + number(&v, "FaultCpuNs");
				pages = p > pages ? p : pages;
				most_left_out = l > most_left_out ? l : most_left_out;
			}
			mt_csv_close(&v);
		}
		left_out += most_left_out;
		free(path);
	}
	mt_names_free(images, n);
	json_array_foreach(asked, k, s) {
		char *more = mt_printf("%s%s%s", what, *what ? ", " : "", json_string_value(s));

		free(what);
		what = more;
	}
	if (!works)
		text = mt_printf("no close look at %s: it did not work in the program, see the message of the backend", what);
	else if (!pages)
		text = mt_printf("no close look at %s: the program did not have it", what);
	else
		text = mt_printf("close look at %s: %s samples on %s page%s, a look every %s, for %.0f %% of one CPU while it was there%s%s%s%s",
				 what, mt_human_count(samples), mt_human_count(pages), pages == 1 ? "" : "s",
				 mt_human_ns(turns ? busy / turns : 0), busy ? 100.0 * (double)cpu / (double)busy : 0.0,
				 lost ? "; could not be written: " : "", lost ? mt_human_count(lost) : "",
				 left_out ? "; pieces for which there was no room: " : "", left_out ? mt_human_count(left_out) : "");
	z = json_pack("{s:O, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "suspects", asked, "budget", budget, "samples",
		      (json_int_t)samples, "beside", (json_int_t)beside, "lost", (json_int_t)lost, "turns", (json_int_t)turns, "busy_ns",
		      (json_int_t)busy, "cpu_ns", (json_int_t)cpu, "pages", (json_int_t)pages, "left_out", (json_int_t)left_out, "text", text);
	free(text);
	free(what);
	return z;
}
