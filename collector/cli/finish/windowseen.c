/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* windowseen.c - what the images tell of windows (record --exact --windows), as a sentence. */
#include <stdlib.h>

#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "cli/finish/windowseen.h"

/* Adds what was seen of an image that ended at @end. */
static void add(const char *trace, const char *image, uint64_t end, uint64_t *windows, uint64_t *seen)
{
	char *path = mt_printf("%s/%s/" MT_FILE_WINDOWS, trace, image);
	uint64_t since = 0;
	bool open = false;
	struct mt_csv c;

	if (!mt_csv_open(&c, path)) {
		const int time = mt_csv_column(&c, "Time"), state = mt_csv_column(&c, "Open");

		while (mt_csv_next(&c)) {
			const uint64_t at = strtoull(mt_csv_get(&c, time), NULL, 10);
			const bool now = *mt_csv_get(&c, state) == '1';

			if (c.n < c.n_columns || now == open)
				continue;
			if (now)
				++*windows;
			else
				*seen += at - since;
			open = now;
			since = at;
		}
		mt_csv_close(&c);
	}
	if (open && end > since)
		*seen += end - since;
	free(path);
}

json_t *mt_windows_describe(const char *trace, const char *asked)
{
	uint64_t windows = 0, seen = 0, all = 0;
	size_t n;
	char **images = mt_trace_images(trace, &n), *text;
	json_t *w;

	for (size_t i = 0; i < n; i++) {
		struct mt_totals t;

		mt_image_totals(trace, images[i], 0, &t);
		if (t.end <= t.start)
			continue;
		all += (uint64_t)(t.end - t.start);
		add(trace, images[i], (uint64_t)t.end, &windows, &seen);
	}
	mt_names_free(images, n);
	seen = seen < all ? seen : all;
	text = mt_printf("accesses were counted in %s window%s, %.3g %% of the time (--windows %s): "
			 "neither numbers nor first touches are those of the whole run",
			 mt_human_count(windows), windows == 1 ? "" : "s", all ? 100.0 * (double)seen / (double)all : 0.0, asked);
	w = json_pack("{s:s, s:I, s:I, s:I, s:s}", "asked", asked, "windows", (json_int_t)windows, "seen_ns", (json_int_t)seen,
		      "of_ns", (json_int_t)all, "text", text);
	free(text);
	return w;
}
