// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/trace/accesses.c cli/trace/tracedir.c cli/base/processes.c cli/base/util.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c common/out.c cli/trace/recordpack.c
// libs: -ljansson -lzstd -lz
/*
 * testdata/format-example holds what its README says, and the tables of
 * docs/reference/trace-format.md and trace-files.md name exactly its columns and keys.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/trace/accesses.h"
#include "cli/names/finish.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define EXAMPLE "../testdata/format-example"
#define DOC "../docs/reference/trace-format.md"
#define DOC_FILES "../docs/reference/trace-files.md"

struct sums {
	uint64_t records, reads, writes, unattributed, pages, flags[3];
	uint64_t page[64];
	struct mt_access first, last;
};

static bool add(void *arg, const struct mt_access *a)
{
	struct sums *s = arg;
	uint64_t i;

	if (!s->records++)
		s->first = *a;
	s->last = *a;
	s->reads += a->reads;
	s->writes += a->writes;
	s->unattributed += a->tid < 0;
	for (int k = 0; k < 3; k++)
		s->flags[k] += a->flags >> k & 1;
	for (i = 0; i < s->pages && s->page[i] != a->virt / 4096; i++)
		;
	if (i == s->pages && i < 64)
		s->page[s->pages++] = a->virt / 4096;
	CHECK(a->start < a->end);
	CHECK(a->reads + a->writes > 0);
	return true;
}

/* Chunks packed by gzip, one of them cut and one damaged. */
static void gzipped(void)
{
	char dir[] = "/tmp/memtrace-gz.XXXXXX", cmd[512];
	struct mt_access_counts k;
	struct mt_totals t;
	struct sums s = { 0 };

	CHECK(mkdtemp(dir) != NULL);
	snprintf(cmd, sizeof(cmd), "cp -r %s/p0000 %s && gzip %s/p0000/accesses-*.csv",
		 EXAMPLE, dir, dir);
	CHECK_EQ(system(cmd), 0);
	CHECK_EQ(mt_accesses_read(dir, "p0000", add, &s, &k), 0);
	CHECK_EQ(k.records, 12);
	CHECK_EQ(k.torn, 1);
	CHECK_EQ(s.writes, 12);
	mt_image_totals(dir, "p0000", 0, &t);
	CHECK(t.chunks > 0);
	snprintf(cmd, sizeof(cmd), "cd %s/p0000 && f=$(ls accesses-*.gz | tail -1) && head -c -12 $f >x && mv x $f", dir);
	CHECK_EQ(system(cmd), 0);
	memset(&s, 0, sizeof(s));
	CHECK_EQ(mt_accesses_read(dir, "p0000", add, &s, &k), 0);
	CHECK(k.records > 0);
	snprintf(cmd, sizeof(cmd), "cd %s/p0000 && f=$(ls accesses-*.gz | head -1) && "
		 "printf '\\377\\377\\377\\377' | dd of=$f bs=1 seek=40 conv=notrunc 2>/dev/null", dir);
	CHECK_EQ(system(cmd), 0);
	CHECK_EQ(mt_accesses_read(dir, "p0000", add, &s, &k), -EBADMSG);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	CHECK_EQ(system(cmd), 0);
}

static void accesses(void)
{
	struct mt_access_counts k;
	struct sums s = { 0 };

	CHECK_EQ(mt_accesses_read(EXAMPLE, "p0000", add, &s, &k), 0);
	CHECK_EQ(s.records, 12);
	CHECK_EQ(k.records, 12);
	CHECK_EQ(k.torn, 1);
	CHECK_EQ(k.bad, 0);
	CHECK_EQ(s.reads, 10);
	CHECK_EQ(s.writes, 12);
	CHECK_EQ(s.pages, 7);
	CHECK_EQ(s.unattributed, 1);
	CHECK_EQ(s.flags[0], 1);
	CHECK_EQ(s.flags[1], 1);
	CHECK_EQ(s.flags[2], 0);
	CHECK_EQ(s.first.virt, 0x7ffff0000010);
	CHECK_EQ(s.first.tid, 1000);
	CHECK_EQ(s.first.node, 0);
	CHECK_EQ(s.first.ip, 0x555555555180);
	CHECK_STR(s.first.cpus, "1");
	CHECK_EQ(s.last.virt, 0x5555555590a8);
	CHECK_EQ(s.last.node, -1);

	memset(&s, 0, sizeof(s));
	CHECK_EQ(mt_accesses_read(EXAMPLE, "p0001", add, &s, &k), 0);
	CHECK_EQ(s.records, 2);
	CHECK_EQ(s.reads, 1);
	CHECK_EQ(s.writes, 1);
	CHECK_EQ(s.pages, 2);
	CHECK_EQ(s.flags[2], 1);
	CHECK_EQ(k.torn, 0);
}

static void totals(void)
{
	struct mt_totals t;
	size_t n;
	char **v = mt_trace_images(EXAMPLE, &n);

	CHECK_EQ(n, 2);
	CHECK_STR(v[0], "p0000");
	CHECK_STR(v[1], "p0001");
	mt_names_free(v, n);
	mt_image_totals(EXAMPLE, "p0000", 0, &t);
	CHECK_EQ(t.intervals, 4);
	CHECK_EQ(t.faults, 19);
	CHECK_EQ(t.records, 12);
	CHECK_EQ(t.unattributed, 1);
	CHECK_EQ(t.lost_ring, 2);
	CHECK_EQ(t.lost_table, 1);
	CHECK_EQ(t.governor_changes, 1);
	CHECK_EQ(t.start, 1000000000);
	CHECK_EQ(t.end, 1200000000);
	CHECK_EQ(t.structures, 8);
	CHECK_EQ(t.threads, 2);
	CHECK_EQ(t.chunks, 2);
	CHECK(!t.ended);
	mt_image_totals(EXAMPLE, "p0001", 0, &t);
	CHECK(t.ended);
	CHECK_EQ(t.intervals, 1);
}

/* The same records come out of the compressed chunks. */
static void compressed(void)
{
	char dir[] = "/tmp/mt-example-XXXXXX", *cmd, *p;
	struct mt_access_counts k;
	struct sums s = { 0 };
	uint64_t saved = 0;

	CHECK(mkdtemp(dir) != NULL);
	cmd = mt_printf("cp -r %s/p0000 %s/", EXAMPLE, dir);
	CHECK_EQ(system(cmd), 0);
	free(cmd);
	CHECK_EQ(mt_image_compress(dir, "p0000", &saved), 0);
	CHECK(saved > 0);
	p = mt_printf("%s/p0000/accesses-000000.csv", dir);
	CHECK(!mt_exists(p));
	free(p);
	CHECK_EQ(mt_accesses_read(dir, "p0000", add, &s, &k), 0);
	CHECK_EQ(s.records, 12);
	CHECK_EQ(k.torn, 1);
	CHECK_EQ(s.writes, 12);
	cmd = mt_printf("rm -r %s", dir);
	CHECK_EQ(system(cmd), 0);
	free(cmd);
}

static void structures(void)
{
	struct mt_csv c;
	int name, start;

	CHECK_EQ(mt_csv_open(&c, EXAMPLE "/p0000/structures.csv"), 0);
	name = mt_csv_column(&c, "Name");
	start = mt_csv_column(&c, "Start");
	for (int i = 0; i < 7; i++)
		CHECK(mt_csv_next(&c));
	CHECK_STR(mt_csv_get(&c, name), "B");
	CHECK_STR(mt_csv_get(&c, start), "7ffff0000010");
	CHECK(mt_csv_next(&c));
	CHECK_STR(mt_csv_get(&c, name), "buffer[0], \"raw\"");
	CHECK(!mt_csv_next(&c));
	CHECK_EQ(c.torn, 0);
	mt_csv_close(&c);

	CHECK_EQ(mt_csv_open(&c, EXAMPLE "/p0000/accesses-000001.csv"), 0);
	while (mt_csv_next(&c))
		;
	CHECK_EQ(c.torn, 1);
	mt_csv_close(&c);
}

/* The section of the document with this heading. */
static char *section(const char *doc, const char *heading)
{
	const char *at = strstr(doc, heading), *end;

	CHECK(at != NULL);
	if (!at)
		return mt_strdup("");
	end = strstr(at + 3, "\n## ");
	return end ? strndup(at, (size_t)(end - at)) : mt_strdup(at);
}

static bool names(const char *text, const char *word)
{
	char *q = mt_printf("`%s`", word), *in_list = mt_printf("%s", word);
	bool yes = strstr(text, q) != NULL;

	/* inside `{a, b, c}` or `a,b,c` */
	for (const char *p = text; !yes && (p = strstr(p, in_list)); p++) {
		char before = p > text ? p[-1] : ' ', after = p[strlen(in_list)];

		yes = strchr("{, `\n", before) && strchr("}, ;`:\n", after);
	}
	free(q);
	free(in_list);
	return yes;
}

static void header_in_doc(const char *doc, const char *heading, const char *file)
{
	char *text = section(doc, heading);
	struct mt_csv c;

	CHECK_EQ(mt_csv_open(&c, file), 0);
	for (size_t i = 0; i < c.n_columns; i++) {
		if (!names(text, c.column[i]))
			printf("%s: column %s is not in the document\n", file, c.column[i]);
		CHECK(names(text, c.column[i]));
	}
	mt_csv_close(&c);
	free(text);
}

/* Each `key` of the first cells of a table is in the object. */
static void keys_in_example(const char *text, const json_t *o, const char *optional)
{
	const char *p = text;

	while ((p = strstr(p, "\n| `"))) {
		const char *cell = p + 2, *end = strchr(cell, '|');
		const char *q = cell;

		while (end && (q = strchr(q, '`')) && q < end) {
			const char *e = strchr(q + 1, '`');
			char *key = strndup(q + 1, (size_t)(e - q - 1));

			if (!json_object_get(o, key) && !strstr(optional, key))
				printf("key %s is not in the example\n", key);
			CHECK(json_object_get(o, key) || strstr(optional, key));
			free(key);
			q = e + 1;
		}
		p = cell;
	}
}

static void document(void)
{
	char *doc = mt_read_file(DOC, NULL), *files = mt_read_file(DOC_FILES, NULL), *text;
	json_t *m = mt_manifest_read(EXAMPLE), *j;
	const char *key;
	json_t *v;

	CHECK(doc && files && m);
	if (!doc || !files || !m)
		return;
	header_in_doc(doc, "\n## pNNNN/accesses-NNNNNN.csv", EXAMPLE "/p0000/accesses-000000.csv");
	header_in_doc(doc, "\n## pNNNN/intervals.csv", EXAMPLE "/p0000/intervals.csv");
	header_in_doc(files, "\n## pNNNN/structures.csv", EXAMPLE "/p0000/structures.csv");
	header_in_doc(files, "\n## pNNNN/stacks.csv", EXAMPLE "/p0000/stacks.csv");
	header_in_doc(files, "\n## pNNNN/threads.csv", EXAMPLE "/p0000/threads.csv");
	header_in_doc(files, "\n## pNNNN/instructions.csv", EXAMPLE "/p0000/instructions.csv");

	text = section(doc, "\n## manifest.json");
	keys_in_example(text, m, "purpose measured unseen unlisted followed late ticks unrecorded job windows with");
	json_object_foreach(json_object_get(json_object_get(m, "backend"), "guarantee"), key, v)
		CHECK(names(text, key));
	json_object_foreach(json_object_get(m, "parameters"), key, v)
		CHECK(names(text, key));
	json_object_foreach(json_object_get(json_object_get(m, "losses"), "by_reason"), key, v)
		CHECK(names(text, key));
	json_object_foreach(json_object_get(m, "overhead"), key, v)
		CHECK(names(text, key));
	free(text);

	text = section(doc, "\n## pNNNN/image.json");
	j = mt_image_read(EXAMPLE, "p0001");
	CHECK(j != NULL);
	json_object_foreach(j, key, v) {
		if (!names(text, key))
			printf("image.json: key %s is not in the document\n", key);
		CHECK(names(text, key));
	}
	json_decref(j);
	free(text);
	json_decref(m);
	free(doc);
	free(files);
}

/* A reader refuses what is newer and names both versions. */
static void newer(void)
{
	char dir[] = "/tmp/mt-newer-XXXXXX", *p, *err;
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	p = mt_printf("%s/manifest.json", dir);
	f = fopen(p, "w");
	fputs("{\"format\": \"memtrace\", \"format_version\": 7}", f);
	fclose(f);
	err = mt_printf("%s/err", dir);
	CHECK(freopen(err, "w", stderr) != NULL);
	CHECK(mt_manifest_read(dir) == NULL);
	fflush(stderr);
	{
		char *text = mt_read_file(err, NULL);

		CHECK(text && strstr(text, "version 7") && strstr(text, "version 1"));
		free(text);
	}
	unlink(p);
	unlink(err);
	rmdir(dir);
	free(p);
	free(err);
}

int main(void)
{
	accesses();
	gzipped();
	totals();
	compressed();
	structures();
	document();
	newer();
	return mt_test_done();
}
