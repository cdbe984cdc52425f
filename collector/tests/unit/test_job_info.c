// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/info/job_info.c cli/info/cmd_info.c cli/finish/manifest.c cli/finish/zoomcost.c cli/finish/finebins.c cli/finish/windowseen.c cli/trace/unrecorded.c cli/trace/intervals.c cli/trace/accesses.c cli/trace/tracedir.c cli/base/processes.c cli/base/cache.c cli/base/util.c common/tracefile.c common/out.c cli/names/unseen.c cli/names/unseen_log.c cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/info/words.c cli/info/explain.c cli/names/advice.c cli/measure/words.c cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/finish/slower.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// libs: -lhwloc -lelf -ljansson -lzstd -lz -ldl
/* memtrace info of the folder of a job: ranks, machines, losses and promises of folders that are made here. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness.h"
#include "cli/info/info.h"
#include "cli/table/native.h"
#include "cli/base/util.h"
#include "put_file.h"
#include "info_stubs.h"

static char folder[] = "/tmp/mt-job-XXXXXX";
static bool as_json, explain;
static char out[1 << 16], err[4096];

/* What the program has of its command line and backends. */
bool mt_args_has(const struct mt_args *a, const char *name)
{
	(void)a;
	return explain && !strcmp(name, "explain");
}

bool mt_args_json(const struct mt_args *a)
{
	(void)a;
	return as_json;
}

void mt_finish_before(const char *trace)
{
	(void)trace;
}

static void rank(int number, int size, const char *id, const char *host, const char *pages, int lost)
{
	char *dir = mt_printf("r%04d", number), *image = mt_printf("%s/p0000", dir);
	char *text = mt_printf("{\"format\": \"memtrace\", \"format_version\": 1, \"command\": [\"./app\"],"
		"\"job\": {\"launcher\": \"slurm\", \"id\": \"%s\", \"rank\": %d, \"size\": %d},"
		"\"host\": {\"name\": \"%s\", \"boot_id\": \"boot of %s\"}, \"clock\": {\"start_ns\": 10, \"end_ns\": %d,"
		"\"start_realtime\": \"2024-06-07T08:09:1%d.0Z\"}, \"backend\": {\"name\": \"zap\", \"guarantee\": {\"pages\": \"%s\"}},"
		"\"status\": {\"state\": \"complete\", \"message\": \"exited with code 0\", \"exit_code\": 0},"
		"\"losses\": {\"total\": %d, \"by_reason\": {\"region\": %d, \"unmapped\": 0}}%s}",
		id, number, size, host, host, 1000 * (number + 1) + 10, 9 - number % 10, pages, lost, lost,
		number ? "" : ", \"unseen\": {\"text\": \"something\"}");

	put_file(folder, dir, "manifest.json", text);
	put_file(folder, image, "intervals.csv", "Interval,Start,End,Subphases,TargetNs,Faults,Records\n0,1,2,1,1,5,4\n1,2,3,1,1,5,3\n");
	free(image);
	free(text);
	free(dir);
}

static void empty(void)
{
	char *cmd = mt_printf("rm -rf %s/*", folder);

	CHECK_EQ(system(cmd), 0);
	free(cmd);
}

static void read_back(FILE *f, char *to, size_t size)
{
	rewind(f);
	to[fread(to, 1, size - 1, f)] = 0;
	fclose(f);
}

/* memtrace info FOLDER; what it prints is in out and err. */
static int info(void)
{
	char *argv[] = { folder, NULL };
	struct mt_args a = { .argc = 1, .argv = argv };
	FILE *o = tmpfile(), *e = tmpfile();
	int rc, saved[2] = { dup(1), dup(2) };

	fflush(NULL);
	dup2(fileno(o), 1);
	dup2(fileno(e), 2);
	rc = cmd_info(&a);
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
	}
	read_back(o, out, sizeof(out));
	read_back(e, err, sizeof(err));
	return rc;
}

#define SAYS(text) CHECK(strstr(out, text) != NULL)
#define LACKS(text) CHECK(strstr(out, text) == NULL)

static void a_whole_job(void)
{
	for (int i = 0; i < 12; i++)
		rank(i, 12, "7", i < 8 ? "alpha" : "beta", "complete", 0);
	CHECK_EQ(info(), 0);
	SAYS(": 12 ranks\n");
	SAYS("launched by slurm, number 7\n");
	SAYS("Recorded    2024-06-07T08:09:10 UTC, the longest rank lasted 12");
	SAYS("Machines    alpha: ranks 0-7\n            beta: ranks 8-11\n");
	SAYS("Result      complete; exited with code 0\n");
	SAYS("Backend     zap\nPromise     every page touched");
	SAYS("Losses      none of what was seen\n            of 11 ranks it is not known what was not seen\n            rank 0: something\n");
	SAYS("\n     9  beta                     1        0          0         2              7            0");
	LACKS("not here");
	empty();
}

static void parts_of_a_job(void)
{
	json_t *o, *v;
	char *text;

	rank(1, 7, "7", "alpha", "complete", 3);
	rank(2, 7, "7", "beta", "sampled", 0);
	rank(4, 7, "7", "alpha", "complete", 4);
	rank(6, 7, "7", "alpha", "complete", 0);
	put_file(folder, "other", "manifest.json", "{\"format\": \"memtrace\", \"format_version\": 1}");	/* no rank */
	put_file(folder, "files", "list", "");
	CHECK_EQ(info(), 0);
	SAYS(": 4 ranks of 7; not here: 0, 3, 5\n");
	SAYS("Machines    alpha: ranks 1, 4, 6\n            beta: rank 2\n");
	SAYS("Backend     ranks 1, 4, 6: zap\nPromise     every page");
	SAYS("            rank 2: zap, whose numbers do not mean the same\n            pages are sampled");
	SAYS("Losses      region 7\n");
	LACKS("other");
	as_json = true;
	CHECK_EQ(info(), 0);
	as_json = false;
	o = json_loads(out, 0, NULL);
	CHECK(o != NULL);
	text = json_dumps(json_object_get(o, "missing_ranks"), JSON_COMPACT);
	CHECK_STR(text, "[0,3,5]");
	free(text);
	CHECK_EQ(json_integer_value(json_object_get(json_object_get(o, "losses"), "total")), 7);
	v = json_array_get(json_object_get(o, "ranks"), 2);
	CHECK_EQ(json_integer_value(json_object_get(v, "rank")), 4);
	CHECK_EQ(json_integer_value(json_object_get(v, "access_records")), 7);
	CHECK_EQ(json_integer_value(json_object_get(v, "lost")), 4);
	text = json_dumps(json_object_get(json_array_get(json_object_get(o, "backends"), 0), "ranks"), JSON_COMPACT);
	CHECK_STR(text, "[1,4,6]");
	free(text);
	json_decref(o);
	explain = true;
	CHECK_EQ(info(), 1);		/* no purpose */
	explain = false;
	SAYS("Rank 1 (");
	SAYS("\nRank 4 (");
	empty();
}

/* What is no file is not read: a pipe would be waited for. */
static void no_file(const char *name, mode_t kind, const char *wanted)
{
	char path[512], message[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(message, sizeof(message), "%s: is %s, and a trace directory has only files", path, wanted);
	CHECK_EQ(kind == S_IFIFO ? mkfifo(path, 0600) : symlink(kind == S_IFCHR ? "/dev/zero" : "nowhere", path), 0);
	CHECK_EQ(info(), 3);
	CHECK(strstr(err, message) != NULL);
	CHECK_EQ(unlink(path), 0);
}

static void what_is_wrong(void)
{
	rank(0, 2, "7", "alpha", "complete", 0);
	put_file(folder, "r0001", "manifest.json", "{");
	CHECK_EQ(info(), 3);
	CHECK(strstr(err, "r0001/manifest.json:1: ") != NULL);
	SAYS(": 1 rank of 2; not here: 1\n");
	rank(1, 2, "8", "alpha", "complete", 0);
	CHECK_EQ(info(), 3);
	CHECK(strstr(err, "r0001 is of job 8 (slurm, 2 ranks), and r0000 of job 7 (slurm, 2 ranks)") != NULL);
	rank(1, 3, "7", "alpha", "complete", 0);
	CHECK_EQ(info(), 3);
	rank(1, 2, "7", "alpha", "complete", 0);
	CHECK_EQ(info(), 0);
	put_file(folder, "again", "manifest.json", "{\"format\": \"memtrace\", \"format_version\": 1, \"job\":"
	    "{\"launcher\": \"slurm\", \"id\": \"7\", \"rank\": 1, \"size\": 2}}");
	CHECK_EQ(info(), 3);
	CHECK(strstr(err, "again and r0001 are both rank 1: they are of two runs") != NULL);
	CHECK_STR(out, "");
	put_file(folder, "again", "manifest.json", "{\"format\": \"memtrace\", \"format_version\": 1, \"job\":"
	    "{\"launcher\": \"slurm\", \"id\": \"7\", \"rank\": 2}}");
	no_file("again/topology.xml", S_IFIFO, "a named pipe");
	no_file("again/lost.csv", S_IFLNK, "a link that leads to nothing");
	no_file("again/zero.csv", S_IFCHR, "a device");
	empty();
	CHECK_EQ(info(), 3);
	CHECK(strstr(err, "not a trace directory") != NULL);
}

int main(void)
{
	CHECK(mkdtemp(folder) != NULL);
	a_whole_job();
	parts_of_a_job();
	what_is_wrong();
	CHECK_EQ(rmdir(folder), 0);
	return mt_test_done();
}
