// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/finish/manifest.c cli/finish/zoomcost.c cli/finish/finebins.c cli/finish/windowseen.c cli/trace/unrecorded.c cli/trace/intervals.c cli/trace/accesses.c cli/trace/tracedir.c cli/base/processes.c cli/base/cache.c cli/base/util.c common/tracefile.c common/out.c cli/names/unseen.c cli/names/unseen_log.c cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/info/words.c cli/info/explain.c cli/names/advice.c cli/measure/words.c cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/finish/slower.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// includes: cli/info/cmd_info.c
// libs: -lhwloc -lelf -ljansson -lzstd -lz -ldl
/* What memtrace info counts and adds up: pages, structures of one origin, losses, the command as a line for a shell. */
#include <sys/stat.h>

#include "harness.h"
#include "cli/info/cmd_info.c"
#include "info_stubs.h"

/* What is asked for by the command itself, which is not called here. */
bool mt_args_has(const struct mt_args *a, const char *name)
{
	(void)a;
	(void)name;
	return false;
}

bool mt_args_json(const struct mt_args *a)
{
	(void)a;
	return false;
}

char **mt_info_ranks(const char *folder, size_t *n)
{
	(void)folder;
	*n = 0;
	return NULL;
}

int mt_info_job(const struct mt_args *a, const char *folder, char **ranks, size_t n)
{
	(void)a;
	(void)folder;
	(void)ranks;
	(void)n;
	return 0;
}

static char trace[] = "/tmp/mt-info-XXXXXX";

static FILE *made(const char *name)
{
	char *path = mt_printf("%s/p0000/%s", trace, name);
	FILE *f = fopen(path, "we");

	CHECK(f != NULL);
	free(path);
	return f;
}

static void shell(const char *json, const char *want)
{
	json_t *m = json_pack("{s:o}", "command", json_loads(json, 0, NULL));
	char *got = mt_info_command(m);

	CHECK_STR(got, want);
	free(got);
	json_decref(m);
}

static void commands(void)
{
	shell("[\"./app\", \"-n\", \"4\", \"--size=1,2:3\"]", "./app -n 4 --size=1,2:3");
	shell("[\"a b\", \"\", \"$x\"]", "'a b' '' '$x'");
	shell("[\"it's\", \"''\"]", "'it'\\''s' ''\\'''\\'''");
	shell("[]", "");
	shell("[\"\\u00e9\"]", "'\xc3\xa9'");
}

static void lost(const char *json, const char *want)
{
	json_t *m = json_pack("{s:o}", "losses", json_loads(json, 0, NULL));
	char *got = mt_info_losses(m);

	CHECK_STR(got, want);
	free(got);
	json_decref(m);
}

static void losses(void)
{
	lost("{\"total\": 0, \"by_reason\": {}}", "none");
	lost("{}", "none");
	lost("{\"total\": 1234567, \"by_reason\": {\"region\": 0, \"ring_overflow\": 1234566, \"table_full\": 1}}",
	     "ring_overflow 1,234,566, table_full 1");
	lost("{\"total\": 3, \"by_reason\": {}}", "unknown reason");
}

/* A word of a backend that is not known does not say that there were no accesses. */
static void promises(void)
{
	CHECK(strstr(mt_info_promise_pages("complete"), "every page"));
	CHECK(strstr(mt_info_promise_pages("sampled"), "sampled"));
	CHECK_STR(mt_info_promise_pages("none"), "no accesses were recorded");
	CHECK_STR(mt_info_promise_pages(""), "no accesses were recorded");
	CHECK_STR(mt_info_promise_pages("dirty"), "nothing is promised that this version knows: pages may be missing");
}

/* Pages are counted once each, whatever their number; the set grows on the way. */
static void pages(void)
{
	const unsigned int seed = (unsigned int)mt_monotonic_ns();
	const size_t range = 30000, n = 60000;
	struct image im = { .dir = mt_strdup("p0000"), .totals.access_bytes = 1 };
	bool *seen = mt_alloc(range);
	uint64_t distinct = 0, reads = 0, writes = 0, without = 0;
	FILE *f = made("accesses-000000.csv");

	printf("seed %u\n", seed);
	srand(seed);
	fputs("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n", f);
	for (size_t i = 0; i < n; i++) {
		const size_t page = i < 2 ? i * (range - 1) : (size_t)rand() % range;
		const int r = rand() % 3, w = rand() % 2, tid = rand() % 4 ? 7 : -1;

		distinct += !seen[page];
		seen[page] = true;
		reads += (uint64_t)r;
		writes += (uint64_t)w;
		without += tid < 0;
		/* the first and the last page of all, too */
		fprintf(f, "%llx,0,%d,%d,1,0,1,%d\n", (unsigned long long)(page == range - 1 ? ~0ull : page << 12 | (size_t)rand() % 4096),
			r, w, tid);
	}
	fputs("1,2,3", f);
	fclose(f);
	CHECK_EQ(count(trace, &im, 4096), 0);
	CHECK(im.counted);
	CHECK_EQ(im.records, n);
	CHECK_EQ(im.torn, 1);
	CHECK_EQ(im.pages, distinct);
	CHECK_EQ(im.reads, reads);
	CHECK_EQ(im.writes, writes);
	CHECK_EQ(im.unattributed, without);
	/* larger pages are fewer; too many bytes are not counted at all */
	im = (struct image){ .dir = im.dir, .totals.access_bytes = 1 };
	CHECK_EQ(count(trace, &im, 1ull << 40), 0);
	CHECK_EQ(im.pages, 2);
	im = (struct image){ .dir = im.dir, .totals.access_bytes = COUNT_LIMIT + 1 };
	CHECK_EQ(count(trace, &im, 4096), 0);
	CHECK(!im.counted && !im.records);
	free(im.dir);
	free(seen);
}

static void top(const struct structure *s, const char *kind, const char *name, const char *type, uint64_t bytes, uint64_t instances)
{
	CHECK_STR(s->kind, kind);
	CHECK_STR(s->name, name);
	CHECK_STR(s->type, type);
	CHECK_EQ(s->bytes, bytes);
	CHECK_EQ(s->instances, instances);
}

/*
 * Of one kind, name and site one line, with the most bytes that lived at one time; what the program made before what libraries have,
 * then the largest.
 */
static void one_origin(void)
{
	struct image im = { .dir = mt_strdup("p0000") };
	FILE *f = made("structures.csv");

	fputs("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members,Segment\n"
	      "0,file,libc.so.6,1000,9000,0,-1,-1,-1,,,,\n"
	      "1,static,table,0,2000,0,-1,-1,-1,,,,\n"
	      "2,heap,A,10000,10800,1,2,7,0,a.c:3,double[256],,\n"
	      "3,heap,A,20000,21000,2,4,7,0,a.c:3,double[512],,\n"
	      "4,heap,A,30000,30400,3,-1,7,0,a.c:3,double[128],,\n"
	      "5,heap,A,40000,40100,1,2,7,0,a.c:9,double[32],,\n"
	      "6,static,\"a, b\",50000,51800,0,-1,-1,-1,a.c:1,int[2][4],,\n"
	      "7,brk,heap (small blocks),60000,90000,0,-1,-1,-1,,,,\n", f);
	fclose(f);
	structures(trace, &im);
	CHECK_EQ(im.n_structures, 8);
	CHECK_EQ(im.n_top, 6);
	if (im.n_top == 6) {
		top(&im.top[0], "static", "a, b", "int[2][4]", 0x1800, 1);
		top(&im.top[1], "heap", "A", "double[512]", 0x1400, 3);	/* at one time */
		top(&im.top[2], "heap", "A", "double[32]", 0x100, 1);
		top(&im.top[3], "brk", "heap (small blocks)", "", 0x30000, 1);
		top(&im.top[4], "file", "libc.so.6", "", 0x8000, 1);
		top(&im.top[5], "static", "table", "", 0x2000, 1);
	}
	for (size_t i = 0; i < im.n_top; i++) {
		free(im.top[i].kind);
		free(im.top[i].name);
		free(im.top[i].site);
		free(im.top[i].type);
	}
	free(im.top);
	free(im.dir);
}

int main(void)
{
	char *path;

	CHECK(mkdtemp(trace) != NULL);
	path = mt_printf("%s/p0000", trace);
	CHECK_EQ(mkdir(path, 0755), 0);
	free(path);
	commands();
	losses();
	promises();
	pages();
	one_origin();
	path = mt_printf("rm -rf %s", trace);
	CHECK_EQ(system(path), 0);
	free(path);
	return mt_test_done();
}
