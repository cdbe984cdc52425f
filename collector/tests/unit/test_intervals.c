// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/trace/intervals.c cli/trace/accesses.c cli/trace/tracedir.c cli/base/processes.c cli/base/util.c common/tracefile.c common/out.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// libs: -ljansson -lzstd -lz
/* A writer killed between the accesses of an interval and its line, at every byte of the line. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/finish.h"
#include "cli/trace/intervals.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define HEADER "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable," \
	"Resident,ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event"
#define ACCESSES "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId\n"
#define LINE_0 "0,100,150,2,50,9,2,0,0,0,98304,20,30,10,60,\n"
#define LINE_1 "1,150,230,2,60,3,3,1,2,1,98304,20,30,10,60,governor:lengthened\n"
#define CHUNK_0 ACCESSES "1000,0,1,0,1,100,150,7\n2000,0,1,0,1,100,150,7\n1000,0,0,1,1,150,230,7\n"
#define CHUNK_1 ACCESSES "3000,0,1,0,1,150,230,7\n4000,0,1,0,1,150,230,7\n"

static char dir[] = "/tmp/mt-intervals-XXXXXX";

static void put(const char *name, const char *text, size_t len)
{
	char *path = mt_printf("%s/p0000/%s", dir, name);
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(text, 1, len, f) == len && !fclose(f));
	free(path);
}

#define PUT(name, text) put(name, text, strlen(text))

static void expect(int added, const char *want)
{
	char *path = mt_printf("%s/p0000/intervals.csv", dir), *is;

	CHECK_EQ(mt_intervals_complete(dir, "p0000"), added);
	is = mt_read_file(path, NULL);
	CHECK_STR(is ? is : "(no file)", want);
	CHECK_EQ(mt_intervals_complete(dir, "p0000"), 0);	/* again: nothing to do */
	free(is);
	free(path);
}

static void drop(const char *name)
{
	char *path = mt_printf("%s/p0000/%s", dir, name);

	unlink(path);
	free(path);
}

/* The second line is cut after each of its bytes; only the whole one counts. */
static void each_byte(void)
{
	static const char all[] = HEADER "\n" LINE_0 LINE_1;
	const size_t begin = strlen(all) - strlen(LINE_1);

	PUT("accesses-000000.csv", CHUNK_0);
	PUT("accesses-000001.csv", CHUNK_1);
	for (size_t n = begin; n < strlen(all); n++) {
		put("intervals.csv", all, n);
		expect(1, HEADER "\n" LINE_0 "1,150,230,2,50,0,3,0,0,0,0,0,0,0,0,killed\n");
	}
	PUT("intervals.csv", all);
	expect(0, all);
}

/* Killed before the file had a line, or a header, or was there at all. */
static void from_nothing(void)
{
	/* a file without a header gets the present columns */
	static const char want[] = HEADER ",LostRegion,LostWrite,Closed,UnseenShared,UnseenFile,Accesses\n0,100,150,0,0,0,2,0,0,0,0,0,0,0,0,killed,0,0,150,0,0,0\n"
		"1,150,230,0,0,0,3,0,0,0,0,0,0,0,0,killed,0,0,230,0,0,0\n";
	static const char old[] = HEADER "\n0,100,150,0,0,0,2,0,0,0,0,0,0,0,0,killed\n"
		"1,150,230,0,0,0,3,0,0,0,0,0,0,0,0,killed\n";

	for (size_t n = 0; n <= strlen(HEADER) + 1; n++) {
		put("intervals.csv", HEADER "\n", n);
		expect(2, n > strlen(HEADER) ? old : want);
	}
	drop("intervals.csv");
	expect(2, want);
}

/* A chunk that has only its header was begun after the accesses; a torn access is none. */
static void last_chunk(void)
{
	PUT("intervals.csv", HEADER "\n" LINE_0);
	PUT("accesses-000001.csv", ACCESSES);
	expect(1, HEADER "\n" LINE_0 "1,150,230,2,50,0,1,0,0,0,0,0,0,0,0,killed\n");
	PUT("intervals.csv", HEADER "\n" LINE_0);
	PUT("accesses-000001.csv", "@Virt,@Ph");
	PUT("accesses-000000.csv", ACCESSES "1000,0,1,0,1,100,150,7\n1000,0,1,0,1,150,230");
	expect(0, HEADER "\n" LINE_0);
	drop("accesses-000001.csv");
}

/* A file that is there and cannot be read is not an empty one: nothing is written over it, and the sums are not "no losses". */
static void unreadable(void)
{
	char *path = mt_printf("%s/p0000/intervals.csv", dir);
	struct mt_totals t;
	struct stat st;

	PUT("accesses-000000.csv", CHUNK_0);
	drop("intervals.csv");
	CHECK_EQ(mkdir(path, 0755), 0);
	CHECK_EQ(mt_intervals_complete(dir, "p0000"), -EISDIR);
	CHECK(!stat(path, &st) && S_ISDIR(st.st_mode));
	mt_image_totals(dir, "p0000", 0, &t);
	CHECK(t.unreadable);
	CHECK_EQ(rmdir(path), 0);
	mt_image_totals(dir, "p0000", 0, &t);
	CHECK(!t.unreadable);
	free(path);
}

/* Columns of other tools and orders stay; the monitor goes on until an exec has taken place. */
static void columns(void)
{
	PUT("accesses-000000.csv", CHUNK_0);
	PUT("intervals.csv", "Event,End,Start,LostWrite,Records,Interval\n,150,100,4,2,0\n");
	expect(1, "Event,End,Start,LostWrite,Records,Interval\n,150,100,4,2,0\nkilled,230,150,0,1,1\n");
	PUT("intervals.csv", "Event,End,Start,LostWrite,Records,Interval\nexec,150,100,4,2,0\n");
	expect(1, "Event,End,Start,LostWrite,Records,Interval\nexec,150,100,4,2,0\nkilled,230,150,0,1,1\n");
}

/* The recorder stood still when the program ended: what it had is lost, and told. */
static void standstill(void)
{
	static const char lost[] = HEADER ",LostWrite\n0,100,150,2,50,9,2,0,0,0,98304,20,30,10,60,,0\n";
	char want[800];

	/* nothing of it was written */
	PUT("accesses-000000.csv", ACCESSES "1000,0,1,0,1,100,150,7\n2000,0,1,0,1,100,150,7\n");
	PUT("intervals.csv", lost);
	PUT("standstill.csv", "Start,End,Records,Event\n150,900,40,exit\n");
	snprintf(want, sizeof(want), "%s1,150,900,2,50,0,40,0,0,0,0,0,0,0,0,exit lost,40\n", lost);
	expect(1, want);
	/* a part of it */
	PUT("accesses-000000.csv", ACCESSES "1000,0,1,0,1,100,150,7\n2000,0,1,0,1,150,230,7\n");
	PUT("intervals.csv", lost);
	snprintf(want, sizeof(want), "%s1,150,230,2,50,0,40,0,0,0,0,0,0,0,0,exit lost,39\n", lost);
	expect(1, want);
	/* all that is known: at least one is lost */
	PUT("intervals.csv", lost);
	PUT("standstill.csv", "Start,End,Records,Event\n150,900,0,exec\n");
	snprintf(want, sizeof(want), "%s1,150,230,2,50,0,2,0,0,0,0,0,0,0,0,exec lost,1\n", lost);
	expect(1, want);
	/* it came to an end after all; a torn line tells nothing */
	PUT("intervals.csv", HEADER "\n" LINE_0 LINE_1);
	expect(0, HEADER "\n" LINE_0 LINE_1);
	PUT("intervals.csv", HEADER "\n" LINE_0 LINE_1);
	PUT("standstill.csv", "Start,End,Records,Event\n230,90");
	expect(0, HEADER "\n" LINE_0 LINE_1);
	drop("standstill.csv");
}

int main(void)
{
	char *path;

	CHECK(mkdtemp(dir) != NULL);
	path = mt_printf("%s/p0000", dir);
	CHECK_EQ(mkdir(path, 0755), 0);
	each_byte();
	from_nothing();
	last_chunk();
	unreadable();
	columns();
	standstill();
	drop("accesses-000000.csv");
	drop("intervals.csv");
	rmdir(path);
	rmdir(dir);
	free(path);
	return mt_test_done();
}
