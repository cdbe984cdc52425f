// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/finish/manifest.c cli/names/unseen.c cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/finish/zoomcost.c cli/finish/finebins.c cli/finish/windowseen.c cli/trace/unrecorded.c cli/trace/intervals.c cli/trace/accesses.c cli/trace/tracedir.c cli/base/processes.c cli/base/cache.c cli/base/util.c common/tracefile.c common/out.c cli/names/unseen_log.c cli/names/advice.c cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/finish/slower.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// libs: -lhwloc -lelf -ljansson -lzstd -lz -ldl
/* What the manifest says of images that have ended, of what was lost, and of a recorder that was killed. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness.h"
#include "cli/backend/backend.h"
#include "cli/finish/manifest.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "put_file.h"

#define HEADER "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,Resident,ScanNs,ZapNs," \
	"MonitorCpuNs,ProgramCpuNs,Event,LostRegion,LostWrite,Closed,UnseenShared,UnseenFile,Accesses\n"
#define UNSEEN "Kind,Name,Start,End,Birth,Death,Times,Most\n"
#define DEAD 999999999			/* larger than any process can have */

static char trace[] = "/tmp/mt-manifest-XXXXXX";

/* The list of the program needs everything of every backend: here are two without code. */
static json_t *nothing(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	(void)b;
	(void)r;
	return json_pack("{s:s}", "pages", "none");
}

static const struct mt_backend zap = { .name = "zap", .abilities = MT_ABILITY_ACCESSES }, none = { .name = "none", .guarantee = nothing };

const struct mt_backend *mt_backend_find(const char *name)
{
	return !strcmp(name, "zap") ? &zap : !strcmp(name, "none") ? &none : NULL;
}

static void image(const char *name, int pid, const char *how, int parent, const char *backend)
{
	char *text = mt_printf("{\"index\": %s, \"pid\": %d, \"how\": \"%s\", \"parent\": %d, \"executable\": \"/bin/x\", \"backend\": \"%s\"}",
			       name[4] ? name + 4 : "0", pid, how, parent, backend);

	put_file(trace, name, "image.json", text);
	free(text);
}

static long long at(json_t *o, const char *a, const char *b)
{
	json_t *v = json_object_get(json_object_get(o, a), b);

	return json_is_integer(v) ? json_integer_value(v) : -77;
}

static const char *state(json_t *m, size_t i)
{
	const char *s = json_string_value(json_object_get(json_array_get(json_object_get(m, "images"), i), "state"));

	return s ? s : "(none)";
}

/* A child that went on as another program with an environment that is older than itself; and a number that is used again. */
static void older_environments(void)
{
	json_t *m = json_pack("{s:{s:s}, s:{s:i}}", "backend", "name", "zap", "clock", "end_ns", 0);
	static const struct { const char *how; int pid, parent, right; const char *state; } images[] = {
		{ "start", DEAD, -1, -1, "aborted" }, { "fork", DEAD + 1, 0, 0, "exec" }, { "fork", DEAD + 2, 1, 1, "exec" },
		{ "exec", DEAD + 1, 0, 1, "exec" }, { "exec", DEAD + 2, 0, 2, "aborted" }, { "exec", DEAD + 1, 0, 3, "aborted" },
		{ "exec", DEAD + 2, 5, 5, "aborted" },
	};
	const size_t n = sizeof(images) / sizeof(images[0]);

	for (size_t i = 0; i < n; i++) {
		char *name = mt_printf("p%04zu", i);

		image(name, images[i].pid, images[i].how, images[i].parent, "zap");
		free(name);
	}
	mt_manifest_complete(m, trace, 1);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(state(m, i), images[i].state);
		CHECK_EQ(json_integer_value(json_object_get(json_array_get(json_object_get(m, "images"), i), "parent")), images[i].right);
	}
	json_decref(m);
}

static void completes(void)
{
	json_t *m = json_pack("{s:{s:s, s:{s:s}}, s:{s:i}, s:{s:i, s:i}, s:{s:i}}", "backend", "name", "auto", "guarantee", "pages", "all",
			      "clock", "end_ns", 0, "overhead", "recorder_cpu_ns", 5, "program_cpu_ns", 6, "unseen", "shared_bytes", 1);
	json_t *asked = json_pack("{s:i}", "interval_ns", 100);
	json_t *losses;

	/* went on as another program, which was stopped; one that was killed; one whose library came to its end; one that runs */
	image("p0000", DEAD, "start", -1, "none");
	put_file(trace, "p0000", "intervals.csv", HEADER "0,100,200,2,100,9,7,1,2,3,4096,20,30,10,60,,5,7,0,8192,0,9\n"
	    "1,200,350,2,100,3,3,1,0,0,4096,20,30,10,60,governor:shortened,40,0,0,4096,100,3\n");
	image("p0001", DEAD, "exec", 0, "zap");
	put_file(trace, "p0001", "intervals.csv", HEADER "0,350,450,2,100,9,7,1,200,300,4096,20,30,10,60,stop,500,700,0,0,300,9\n");
	put_file(trace, "p0001", "unseen.csv", UNSEEN "file-read,\"/d/a,b\",1000,2000,5,-1,1,4096\n"
		 "shared-memory,/dev/shm/x,8000,9000,5,-1,1,8192\nshared-memory,/dev/shm/x,a000,b000,5,-1,1,8192\n"
		 "code,/lib/libc.so,c000,e000,5,-1,1,8192\n");
	image("p0002", DEAD, "fork", 0, "zap");
	put_file(trace, "p0002", "unseen.csv", UNSEEN "file-read,\"/d/a,b\",1000,3000,5,9,3,8192\n");
	put_file(trace, "p0002", "intervals.csv", HEADER "0,350,900,2,100,0,0,0,0,0,4096,20,30,10,60,,0,0,0,0,0,0\n1,9");
	image("p0003", DEAD, "fork", 0, "zap");
	put_file(trace, "p0003", "context.log", "A 1\nE 2\n");
	image("p0004", (int)getpid(), "fork", 0, "zap");

	json_object_set_new(m, "parameters", asked);
	mt_manifest_complete(m, trace, 1234);
	CHECK_EQ(json_array_size(json_object_get(m, "images")), 5);
	CHECK_STR(state(m, 0), "exec");
	CHECK_STR(state(m, 1), "complete");
	CHECK_STR(state(m, 2), "aborted");
	CHECK_STR(state(m, 3), "complete");
	CHECK_STR(state(m, 4), "running");
	losses = json_object_get(m, "losses");
	CHECK_EQ(at(losses, "by_reason", "ring_overflow"), 202);
	CHECK_EQ(at(losses, "by_reason", "table_full"), 303);
	CHECK_EQ(at(losses, "by_reason", "unmapped"), 0);
	CHECK_EQ(at(losses, "by_reason", "region"), 545);
	CHECK_EQ(at(losses, "by_reason", "write_error"), 707);
	CHECK_EQ(at(m, "losses", "total"), 202 + 303 + 545 + 707);
	CHECK_EQ(json_integer_value(json_object_get(json_array_get(json_object_get(m, "images"), 0), "losses")), 2 + 3 + 45 + 7);
	CHECK_EQ(json_integer_value(json_object_get(json_array_get(json_object_get(m, "images"), 0), "accesses")), 10);
	CHECK_STR(json_string_value(json_object_get(json_array_get(json_object_get(m, "images"), 1), "dir")), "p0001");
	CHECK_STR(json_string_value(json_object_get(json_array_get(json_object_get(m, "images"), 1), "how")), "exec");
	/* some images tell what they did not see, some do not; one was killed */
	CHECK_EQ(at(m, "unseen", "shared_bytes"), 8192);
	CHECK_EQ(at(m, "unseen", "file_bytes"), 3 * 4096);
	CHECK_EQ(at(m, "unseen", "bytes"), 5 * 4096);
	CHECK_EQ(at(m, "unseen", "usual_bytes"), 2 * 4096);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "unseen"), "state")), "unknown");
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "unseen"), "text")),
		  "not seen: 12 KiB in 1 file mapped for reading (a,b) in 2 processes; 8.0 KiB of shared memory (/dev/shm/x); all memory of "
		  "1 process image; besides code, constants and arguments (8.0 KiB, most in libc.so); the recording was cut off: not known "
		  "what was not seen after the last interval");
	CHECK_EQ(at(m, "overhead", "program_cpu_ns"), 240);
	CHECK_EQ(at(m, "overhead", "monitor_cpu_ns"), 40);
	CHECK_EQ(at(m, "overhead", "recorder_cpu_ns"), 1234);
	CHECK_EQ(at(m, "overhead", "faults"), 21);
	CHECK_EQ(at(m, "overhead", "intervals"), 4);
	CHECK_EQ(at(m, "overhead", "zaps"), 4);
	CHECK_EQ(at(m, "overhead", "governor_changes"), 1);
	CHECK_EQ(at(m, "overhead", "late_intervals"), 1);	/* 150 of 100 is not */
	CHECK_EQ(at(m, "late", "intervals"), 1);
	CHECK_EQ(at(m, "late", "of"), 4);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "late"), "text")),
		  "1 of 4 intervals took longer than they should (225 ns on average, 550 ns the longest, where 100 ns were asked for): "
		  "the resolution in time is coarser, nothing is lost by it");
	CHECK_EQ(at(m, "overhead", "mean_interval_ns"), 900 / 4);
	CHECK_EQ(at(m, "overhead", "longest_interval_ns"), 550);
	CHECK_EQ(at(m, "clock", "end_ns"), 900);
	/* the first image that recorded something says what worked; its promise stays */
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "backend"), "name")), "zap");
	CHECK_STR(json_string_value(json_object_get(json_object_get(json_object_get(m, "backend"), "guarantee"), "pages")), "all");

	/* again, by one who does not know what the recorder cost; the end is known, the length that was asked for is not */
	json_object_del(m, "parameters");
	json_object_set_new(json_object_get(m, "clock"), "end_ns", json_integer(880));
	mt_manifest_complete(m, trace, -1);
	CHECK_EQ(at(m, "clock", "end_ns"), 880);
	CHECK_EQ(at(m, "overhead", "recorder_cpu_ns"), 1234);
	CHECK_EQ(at(m, "losses", "total"), 202 + 303 + 545 + 707);
	CHECK_EQ(json_array_size(json_object_get(m, "images")), 5);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "late"), "text")),
		  "1 of 4 intervals took longer than they should (225 ns on average, 550 ns the longest): "
		  "the resolution in time is coarser, nothing is lost by it");

	/* an interval that began shorter than asked for: 550 is not late where 400 were asked for */
	json_object_set_new(m, "parameters", json_pack("{s:i}", "interval_ns", 400));
	mt_manifest_complete(m, trace, -1);
	CHECK_EQ(at(m, "overhead", "late_intervals"), 0);
	CHECK(!json_object_get(m, "late"));
	json_object_set_new(m, "parameters", json_pack("{s:i}", "interval_ns", 366));
	mt_manifest_complete(m, trace, -1);
	CHECK_EQ(at(m, "overhead", "late_intervals"), 1);

	/* what was late is gone: no sentence */
	put_file(trace, "p0002", "intervals.csv", HEADER "0,350,450,2,100,0,0,0,0,0,4096,20,30,10,60,,0,0,0,0,0,0\n");
	mt_manifest_complete(m, trace, -1);
	CHECK(!json_object_get(m, "late"));
	json_decref(m);
}

/* A backend that worked without accesses promises nothing, whatever was promised. */
static void promises_nothing(void)
{
	json_t *m = json_pack("{s:{s:s, s:{s:s}}}", "backend", "name", "zap", "guarantee", "pages", "all");

	for (int i = 1; i < 5; i++) {
		char *rm = mt_printf("rm -r %s/p%04d", trace, i);

		CHECK_EQ(system(rm), 0);
		free(rm);
	}
	mt_manifest_complete(m, trace, 0);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "backend"), "name")), "none");
	CHECK_STR(json_string_value(json_object_get(json_object_get(json_object_get(m, "backend"), "guarantee"), "pages")), "none");
	CHECK_EQ(json_array_size(json_object_get(m, "images")), 1);
	json_decref(m);
}

static json_t *recording(const char *of, int pid)
{
	struct utsname u;
	json_t *m;

	uname(&u);
	m = json_pack("{s:{s:s}, s:{s:s}, s:{s:i}}", "status", "state", of, "host", "name", u.nodename, "recorder", "pid", pid);
	return m;
}

static void repairs(void)
{
	char *path = mt_printf("%s/manifest.json", trace), *text;
	json_t *m = recording("running", (int)getpid());

	CHECK_EQ(mt_manifest_repair(m, trace), 1);
	CHECK(json_object_get(m, "images") == NULL);
	json_object_set_new(json_object_get(m, "host"), "name", json_string("another machine"));
	CHECK_EQ(mt_manifest_repair(m, trace), 0);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "status"), "state")), "aborted");
	CHECK_EQ(json_array_size(json_object_get(m, "images")), 1);
	text = mt_read_file(path, NULL);
	CHECK(text && strstr(text, "the recorder was killed"));
	free(text);
	json_decref(m);

	m = recording("running", DEAD);
	CHECK_EQ(mt_manifest_repair(m, trace), 0);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "status"), "state")), "aborted");
	json_decref(m);

	/* the recorder ended well, and an image that outlived it has ended since */
	m = recording("complete", DEAD);
	CHECK_EQ(mt_manifest_repair(m, trace), 0);
	CHECK(json_object_get(m, "images") == NULL);
	json_object_set_new(m, "images", json_pack("[{s:s, s:s}]", "dir", "p0000", "state", "running"));
	json_object_set_new(m, "overhead", json_pack("{s:i}", "recorder_cpu_ns", 77));
	CHECK_EQ(mt_manifest_repair(m, trace), 0);
	CHECK_EQ(at(m, "overhead", "recorder_cpu_ns"), 77);
	CHECK_STR(state(m, 0), "aborted");
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "status"), "state")), "complete");
	json_decref(m);

	m = json_object();
	CHECK_EQ(mt_manifest_repair(m, trace), 0);	/* says nothing of itself */
	json_decref(m);
	free(path);
}

/* What of the run was seen: of each image until its end, a torn line and a second opening do not count. */
static void windows(void)
{
	json_t *m = json_pack("{s:{s:s}}", "parameters", "windows", "10%"), *w;
	char *rm = mt_printf("rm -rf %s/p*", trace);

	CHECK_EQ(system(rm), 0);
	free(rm);
	image("p0000", DEAD, "root", -1, "zap");
	put_file(trace, "p0000", "intervals.csv", HEADER "0,1000,2000,1,0,0,0,0,0,0,0,0,0,0,0,,0,0,0,0,0,0\n"
		 "1,2000,5000,1,0,0,0,0,0,0,0,0,0,0,0,,0,0,0,0,0,0\n");
	put_file(trace, "p0000", "windows.csv", "Time,Open\n1000,0\n1500,1\n1600,1\n2000,0\n4700,1\n49");
	image("p0001", DEAD, "fork", 0, "zap");
	put_file(trace, "p0001", "intervals.csv", HEADER "0,1000,5000,1,0,0,0,0,0,0,0,0,0,0,0,,0,0,0,0,0,0\n");
	mt_manifest_complete(m, trace, 0);
	w = json_object_get(m, "windows");
	CHECK_EQ(at(m, "windows", "windows"), 2);
	CHECK_EQ(at(m, "windows", "seen_ns"), 500 + 300);
	CHECK_EQ(at(m, "windows", "of_ns"), 4000 + 4000);
	CHECK_STR(json_string_value(json_object_get(w, "asked")), "10%");
	CHECK(strstr(json_string_value(json_object_get(w, "text")), "in 2 windows, 10 % of the time (--windows 10%)") != NULL);
	json_object_del(m, "parameters");
	mt_manifest_complete(m, trace, 0);
	CHECK(!json_object_get(m, "windows"));
	json_decref(m);
}

/* A device that uses the memory of a program by page tables of its own: not all was seen, whatever the backend says. */
static void followed(void)
{
	json_t *m = json_pack("{s:{s:i}}", "followed", "processes", 1), *u;
	char *rm = mt_printf("rm -rf %s/p*", trace);

	CHECK_EQ(system(rm), 0);
	free(rm);
	image("p0000", DEAD, "root", -1, "zap");
	put_file(trace, "p0000", "intervals.csv", HEADER "0,350,450,2,100,9,7,1,200,300,4096,20,30,10,60,stop,0,0,0,0,0,0\n");
	put_file(trace, "p0000", "unseen.csv", UNSEEN);
	for (int again = 0; again < 2; again++) {
		mt_manifest_complete(m, trace, 0);
		u = json_object_get(m, "unseen");
		CHECK_STR(json_string_value(json_object_get(u, "state")), "some");
		CHECK_STR(json_string_value(json_object_get(u, "text")),
			  "not seen: what devices or virtual machines (a GPU, RDMA, KVM) access of 1 process by page tables of their own; "
			  "else all memory seen");
	}
	json_object_del(m, "followed");
	mt_manifest_complete(m, trace, 0);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "unseen"), "state")), "all");
	json_decref(m);
}

static void build_ids(const char *self)
{
	char *id = mt_build_id(self);

	CHECK(!id || (strlen(id) >= 16 && strspn(id, "0123456789abcdef") == strlen(id)));
	free(id);
	CHECK(mt_build_id("/no such file") == NULL);
	put_file(trace, "p0000", "text", "no ELF file");
	{
		char *path = mt_printf("%s/p0000/text", trace);

		CHECK(mt_build_id(path) == NULL);
		free(path);
	}
}

/* What experiments compare: nothing of who asks, and nothing that changes by itself. */
static void machine(void)
{
	json_t *m = mt_machine_describe(), *again = mt_machine_describe(), *host = mt_host_describe("/nonexistent"), *v;
	const char *key;

	CHECK(json_is_object(m) && json_equal(m, again));
	CHECK(!json_object_get(m, "user") && !json_object_get(m, "boot_id"));
	CHECK(json_is_string(json_object_get(json_object_get(m, "settings"), "overcommit_memory")));
	CHECK(!json_object_get(json_object_get(m, "settings"), "loadavg_at_start"));
	CHECK(json_is_string(json_object_get(host, "user")));
	CHECK(json_is_string(json_object_get(json_object_get(host, "settings"), "loadavg_at_start")));
	CHECK(json_is_null(json_object_get(host, "topology")));
	json_object_del(json_object_get(host, "settings"), "loadavg_at_start");
	json_object_foreach(m, key, v)
		CHECK(json_equal(v, json_object_get(host, key)));
	json_decref(m);
	json_decref(again);
	json_decref(host);
}

int main(int argc, char **argv)
{
	char *rm;

	(void)argc;
	if (!mkdtemp(trace))
		return 1;
	machine();
	completes();
	promises_nothing();
	repairs();
	windows();
	followed();
	build_ids(argv[0]);
	rm = mt_printf("rm -r %s/*", trace);
	CHECK_EQ(system(rm), 0);
	free(rm);
	older_environments();
	rm = mt_printf("rm -r %s", trace);
	CHECK_EQ(system(rm), 0);
	free(rm);
	return mt_test_done();
}
