/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
// uses: cli/names/log_parse.c cli/base/util.c
/* Each kind of line of context.log: which field of an event it fills. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "put_file.h"
#include "cli/base/util.h"
#include "cli/names/log_parse.h"

static const char *folder;

/* All fields as text; lines that are not understood behind "bad". The caller's. */
static char *said(const char *line)
{
	struct mt_context c = { 0 };
	struct mt_log l;
	char *text = mt_printf("%s;\n", line);

	put_file(folder, "p0000", "context.log", text);
	free(text);
	CHECK_EQ(mt_log_read(&l, &c, folder, "p0000"), 0);
	if (l.n) {
		const struct mt_log_event *e = l.ev;

		text = mt_printf("%c t%" PRId64 " i%" PRId64 " p%" PRId64 " s%" PRId64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s %c", e->kind,
				 e->time, e->tid, e->parent, e->stack, e->a, e->b, e->c, e->d, e->str ? e->str : "-", e->how ? e->how : '-');
		if (e->segment) {
			char *more = mt_printf("%s %" PRIx64 ":%" PRIx64 ":%" PRIx64, text, e->seg[0], e->seg[1], e->seg[2]);

			free(text);
			text = more;
		}
	} else {
		text = mt_printf("bad %zu, stacks %zu, page %" PRIu64, (size_t)c.bad_lines, c.n_stacks, (uint64_t)c.page_bytes);
	}
	mt_log_free(&l);
	for (size_t i = 0; i < c.n_stacks; i++)
		free(c.stacks[i].ip);
	free(c.stacks);
	return text;
}

static void check(const char *line, const char *want)
{
	char *got = said(line);

	CHECK_STR(got, want);
	free(got);
}

int main(void)
{
	char made[] = "/tmp/log-parse-XXXXXX";

	folder = mkdtemp(made);
	CHECK(folder);
	check("V 1 5 77 32 8 65536", "V t5 i0 p0 s-1 0 0 0 0 - -");
	check("F 5 77", "F t5 i0 p77 s-1 0 0 0 0 - -");
	check("Y 5 77 78", "Y t5 i78 p77 s-1 0 0 0 0 - -");
	check("O 5 1000 2000 a0 17 /lib/x%20y.so", "O t5 i0 p0 s-1 1000 2000 a0 11 /lib/x y.so -");
	check("O 5 1000 2000 a0 17 - 9 3", "O t5 i9 p0 s3 1000 2000 a0 11 - -");
	check("o 5 1000", "o t5 i0 p0 s-1 1000 0 0 0 - -");
	check("A 5 9 ff0 64 3 m", "A t5 i9 p0 s3 ff0 40 0 0 - m");
	check("R 5 9 ff0 64 -1 r", "R t5 i9 p0 s-1 ff0 40 0 0 - r");
	check("D 5 9 ff0", "D t5 i9 p0 s-1 ff0 0 0 0 - -");
	check("M 5 9 1000 4096 3 22 4 -", "M t5 i9 p0 s4 1000 1000 3 22 - -");
	check("M 5 9 1000 4096 3 1 4 /f 801 1f 0", "M t5 i9 p0 s4 1000 1000 3 1 /f - 801:1f:0");
	check("Q 5 1000 4096 3 16 /f", "Q t5 i0 p0 s-1 1000 1000 3 10 /f -");
	check("U 5 1000 4096", "U t5 i0 p0 s-1 1000 1000 0 0 - -");
	check("W 5 1000 4096 2000 8192", "W t5 i0 p0 s-1 1000 1000 2000 2000 - -");
	check("B 5 1000 4096 2000 16", "B t5 i0 p0 s-1 1000 1000 2000 10 - -");
	check("G 5 1000 4096 e", "G t5 i0 p0 s-1 1000 1000 e 0 - -");
	check("H 5 1000 2000", "H t5 i0 p0 s-1 1000 2000 0 0 - -");
	check("T 5 9 8 10 20 30", "T t5 i9 p8 s-1 10 20 30 0 - -");
	check("T 5 9 8 10 20 30 40", "T t5 i9 p8 s-1 10 20 30 40 - -");
	check("N 5 9 worker%201", "N t5 i9 p0 s-1 0 0 0 0 worker 1 -");
	check("X 5 9 -", "X t5 i9 p0 s-1 0 0 0 0 - -");
	check("P 5 9 255", "P t5 i9 p0 s-1 ff 0 0 0 - -");
	check("C 5 1 2 3 4 6", "C t5 i0 p0 s6 1 2 3 4 - -");
	check("K 5 1 2", "K t5 i0 p0 s-1 1 2 0 0 - -");
	check("E 5", "E t5 i0 p0 s-1 0 0 0 0 - -");
	check("S 2 1000 2000", "bad 0, stacks 3, page 0");
	/* not understood: no such kind, a number that is none, fewer fields */
	check("Z 5", "bad 1, stacks 0, page 0");
	check("\xc3\xa4 5", "bad 1, stacks 0, page 0");
	check("D 5 9 xyz", "bad 1, stacks 0, page 0");
	check("A 5 9 ff0", "bad 1, stacks 0, page 0");
	CHECK(!chdir(folder) && !unlink("p0000/context.log") && !rmdir("p0000") && !rmdir(folder));
	return mt_test_done();
}
