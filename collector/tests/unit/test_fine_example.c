// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/trace/tracedir.c cli/base/processes.c cli/base/util.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c common/out.c cli/trace/accesses.c cli/trace/recordpack.c
// libs: -ljansson -lzstd -lz
/* testdata/fine-example keeps the rules of docs/reference/trace-fine.md, which names exactly its columns and keys. */
#include <jansson.h>
#include <stdlib.h>

#include "harness.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define EXAMPLE "../testdata/fine-example"
#define DOC "../docs/reference/trace-fine.md"
#define MANY 16

struct table {
	struct mt_csv csv;
	int column[16];
};

/* Opens a file of the image whose header is exactly @header, a line of the document. */
static int open_table(struct table *t, const char *doc, const char *file, const char *header)
{
	char *path = mt_printf("%s/p0000/%s", EXAMPLE, file), *quoted = mt_printf("\n`%s`:", header), *h = mt_strdup(header), *p = h;
	int n = 0;

	CHECK(strstr(doc, quoted) != NULL);
	CHECK_EQ(mt_csv_open(&t->csv, path), 0);
	for (char *name; (name = strsep(&p, ",")); n++) {
		t->column[n] = mt_csv_column(&t->csv, name);
		CHECK_EQ(t->column[n], n);
	}
	CHECK_EQ((int)t->csv.n_columns, n);
	free(path);
	free(quoted);
	free(h);
	return n;
}

static long long at(struct table *t, int i)
{
	return strtoll(mt_csv_get(&t->csv, t->column[i]), NULL, 10);
}

static bool known[MANY];	/* bins */
static long long hits[MANY][MANY][2];	/* of bins and strata: of the sample, armed */

static void bins(const char *doc)
{
	struct table t;
	long long end = 0, last = -1;
	int n = 0, lost = 0;

	open_table(&t, doc, "bins.csv", "Bin,Start,Away,End,CpuNs,Look,Faults,Lost,MonitorCpuNs");
	for (; mt_csv_next(&t.csv); n++) {
		CHECK(at(&t, 0) > last && at(&t, 0) < MANY);
		CHECK(at(&t, 1) >= end && at(&t, 1) <= at(&t, 2) && at(&t, 2) < at(&t, 3));
		last = at(&t, 0);
		end = at(&t, 3);
		known[last] = !at(&t, 7);
		lost += at(&t, 7) > 0;
	}
	CHECK_EQ(n, 7);
	CHECK_EQ(lost, 1);
	CHECK_EQ(t.csv.torn, 0);
	mt_csv_close(&t.csv);
}

static void counts(const char *doc)
{
	static const char header[] = "Bin,Stratum,Mapped,Sampled,Hit,HitWritten,Armed,ArmedHit,ArmedWritten";
	const char *const file[] = { "fine-000000.csv", "fine-000001.csv" };
	int n = 0, torn = 0, not_known = 0;

	for (int i = 0; i < 2; i++) {
		struct table t;

		open_table(&t, doc, file[i], header);
		for (; mt_csv_next(&t.csv); n++) {
			CHECK(known[at(&t, 0)]);
			CHECK(at(&t, 3) <= at(&t, 2) && at(&t, 4) <= at(&t, 3) && at(&t, 5) <= at(&t, 4));
			CHECK(at(&t, 7) <= at(&t, 6) && at(&t, 8) <= at(&t, 7));
			CHECK(at(&t, 2) > 0 || at(&t, 7) > 0);
			not_known += at(&t, 2) > 0 && !at(&t, 3);
			hits[at(&t, 0)][at(&t, 1)][0] += at(&t, 4);
			hits[at(&t, 0)][at(&t, 1)][1] += at(&t, 7);
		}
		torn += (int)t.csv.torn;
		mt_csv_close(&t.csv);
	}
	CHECK_EQ(n, 20);
	CHECK_EQ(torn, 1);
	CHECK_EQ(not_known, 1);
}

/* The threads of a bin and stratum have its hits, all of them. */
static void threads(const char *doc)
{
	struct table t;

	open_table(&t, doc, "finethreads-000000.csv", "Bin,Stratum,TaskId,Hit,Written,ArmedHit,ArmedWritten,WaitNs");
	while (mt_csv_next(&t.csv)) {
		CHECK(at(&t, 3) + at(&t, 5) > 0);
		CHECK(at(&t, 4) <= at(&t, 3) && at(&t, 6) <= at(&t, 5));
		hits[at(&t, 0)][at(&t, 1)][0] -= at(&t, 3);
		hits[at(&t, 0)][at(&t, 1)][1] -= at(&t, 5);
	}
	mt_csv_close(&t.csv);
	for (int b = 0; b < MANY; b++)
		for (int s = 0; s < MANY; s++)
			CHECK(!hits[b][s][0] && !hits[b][s][1]);
}

static void others(const char *doc)
{
	struct table t;
	int n = 0;

	open_table(&t, doc, "strata.csv", "Stratum,Start,End,TaskId");
	for (; mt_csv_next(&t.csv); n++)
		CHECK_EQ(at(&t, 0), n);
	CHECK_EQ(n, 7);
	mt_csv_close(&t.csv);
	open_table(&t, doc, "panel.csv", "@Virt,Start,End,Looks,Active,WaitNs,Written,Users");
	for (n = 0; mt_csv_next(&t.csv); n++) {
		long long sum = 0;

		for (const char *p = mt_csv_get(&t.csv, t.column[7]); (p = strchr(p, ':')); p++)
			sum += strtoll(p + 1, NULL, 10);
		CHECK_EQ(sum, at(&t, 4));
		CHECK(at(&t, 1) < at(&t, 2) && at(&t, 4) <= at(&t, 3) && at(&t, 6) <= at(&t, 4));
	}
	CHECK_EQ(n, 3);
	mt_csv_close(&t.csv);
}

static void manifest(const char *doc)
{
	json_t *m = mt_manifest_read(EXAMPLE), *v;
	const char *key, *at_end = strstr(doc, "\n## In the manifest");

	CHECK(m && at_end);
	if (!m || !at_end)
		return;
	json_object_foreach(json_object_get(json_object_get(json_object_get(m, "backend"), "guarantee"), "fine"), key, v)
		CHECK(strstr(at_end, key) != NULL);
	json_object_foreach(json_object_get(m, "overhead"), key, v)
		if (!strncmp(key, "fine_", 5) || !strncmp(key, "wall_", 5))
			CHECK(strstr(at_end, key) != NULL);
	CHECK(json_object_get(json_object_get(m, "overhead"), "wall_share_how") != NULL);
	json_decref(m);
}

int main(void)
{
	char *doc = mt_read_file(DOC, NULL);

	CHECK(doc != NULL);
	if (!doc)
		return mt_test_done();
	bins(doc);
	counts(doc);
	threads(doc);
	others(doc);
	manifest(doc);
	free(doc);
	return mt_test_done();
}
