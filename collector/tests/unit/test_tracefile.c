// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/tracefile.c common/out.c common/records/recordwrite.c
/* What every backend writes: columns, masks of any width, chunks, what a full disk costs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "harness.h"
#include "common/tracefile.h"

static char dir[] = "/tmp/mt_tracefile_XXXXXX";
static char abuf[MT_TRACEFILE_BUFFER_MIN], ibuf[4096];

static const char *content(const char *name)
{
	static char text[8192];
	char path[256];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		return "(no file)";
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static void empty(void)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -f %s/*", dir);
	CHECK_EQ(system(cmd), 0);
}

static struct mt_interval_row interval(uint64_t n)
{
	return (struct mt_interval_row){
		.interval = n, .start = 100 + n * 50, .end = 150 + n * 50, .target = 50, .subphases = 5, .faults = 6,
		.records = 7, .unattributed = 1, .lost_ring = 2, .lost_table = 3, .lost_region = 4, .resident = 8192,
		.scan_ns = 9, .zap_ns = 10, .monitor_cpu_ns = 11, .program_cpu_ns = 12,
		.unseen_shared = 13, .unseen_file = 14, .accesses = 15,
	};
}

#define ACCESSES "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,ReadOffset,WriteOffset,First\n"
#define INTERVALS "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,Resident," \
	"ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event,LostRegion,LostWrite,Closed,UnseenShared,UnseenFile,Accesses\n"

static void lines(int dirfd)
{
	const uint64_t one[] = { 5 }, wide[] = { 1, 0, 0, 1ull << 63 }, low[] = { 0xabc, 0, 0 };
	struct mt_access_row a = { .virt = 0x7ffff0000010, .nreads = 2, .nwrites = 1, .cpus = one, .cpu_words = 1,
				   .tid = 7, .ip = 0x401234, .node = 0,
				   .read_at = 0x10, .write_at = 0xfff, .first_ns = 130 };
	struct mt_interval_row r = interval(0);
	struct mt_tracefile t;

	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), 0);
	CHECK_STR(content("intervals.csv"), INTERVALS);
	CHECK_STR(content("accesses-000000.csv"), "(no file)");
	CHECK_EQ(mt_tracefile_accesses(&t), 0);
	CHECK_STR(content("accesses-000000.csv"), ACCESSES);
	mt_tracefile_interval_begin(&t, 100, 150);
	mt_tracefile_access(&t, &a);
	a.cpus = wide;			/* CPUs 0 and 255 */
	a.cpu_words = 4;
	a.phys = 0x5000;
	a.tid = -1;
	a.node = -1;
	a.read_at = 0;
	a.write_at = -1;
	a.first_ns = 0;
	a.flags = MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION;
	mt_tracefile_access(&t, &a);
	a.read_at = -1;
	a.first_ns = 100;
	a.cpus = low;			/* no leading zeroes */
	a.cpu_words = 3;
	a.nreads = 1ull << 40;
	mt_tracefile_access(&t, &a);
	a.first_ns = 99;		/* begun before the interval, told in it */
	mt_tracefile_access(&t, &a);
	CHECK_EQ(mt_tracefile_turn(&t), 0);	/* not full: nothing */
	r.stretch = MT_STRETCH_LONGER;
	r.marks = MT_MARK_FORK | MT_MARK_EXIT;
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	r = interval(1);
	r.stretch = MT_STRETCH_SHORTER;
	r.closed = 207;
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	r = interval(2);
	r.marks = MT_MARK_EXEC | MT_MARK_STOP;
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	mt_tracefile_close(&t);
	CHECK_STR(content("accesses-000000.csv"), ACCESSES
		  "7ffff0000010,0,2,1,5,100,150,7,401234,0,0,10,fff,30\n"
		  "7ffff0000010,5000,2,1,8000000000000000000000000000000000000000000000000000000000000001,100,150,-1,401234,-1,3,0,,\n"
		  "7ffff0000010,5000,1099511627776,1,abc,100,150,-1,401234,-1,3,,,0\n"
		  "7ffff0000010,5000,1099511627776,1,abc,100,150,-1,401234,-1,3,,,0\n");
	CHECK_STR(content("intervals.csv"), INTERVALS
		  "0,100,150,5,50,6,7,1,2,3,8192,9,10,11,12,governor:lengthened fork exit,4,0,150,13,14,15\n"
		  "1,150,200,5,50,6,7,1,2,3,8192,9,10,11,12,governor:shortened,4,0,207,13,14,15\n"
		  "2,200,250,5,50,6,7,1,2,3,8192,9,10,11,12,exec stop,4,0,250,13,14,15\n");
	empty();
}

/* What a line takes from the one before it is right, whatever was there. */
static void like_the_last(int dirfd)
{
	static const uint64_t address[] = { 0, 5, 0xfffff, 0x100000, 0x1fffff, 0x100001, 0, 0x7ffff0000010, 0x7ffff00fffff, 0x7ffff0100000, ~0ull,
		0xfffff00000, 0x12 };
	static const int32_t tid[] = { 0, 0, -1, 2147483647, 0, 7, 7 };
	static const uint64_t number[] = { 0, 9, 10, 255 };
	struct mt_tracefile t;
	char want[8192] = ACCESSES;

	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), 0);
	CHECK_EQ(mt_tracefile_accesses(&t), 0);
	for (size_t i = 0; i < 60; i++) {
		const uint64_t n = number[i % 4];
		const struct mt_access_row a = { .virt = address[i % 13], .ip = address[(i * 5 + 1) % 13], .nreads = n, .nwrites = number[i / 4 % 4],
			.cpus = &n, .cpu_words = 1, .tid = tid[i / 3 % 7], .node = (int)(i % 14) - 1, .flags = (unsigned int)(i % 12), .read_at = -1,
			.write_at = -1 };

		if (i % 10 == 0)
			mt_tracefile_interval_begin(&t, i < 30 ? 18446744073709551615ull : i, i < 30 ? 18446744073709551615ull : i + 10);
		mt_tracefile_access(&t, &a);
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%llx,0,%llu,%llu,%llx,%llu,%llu,%d,%llx,%d,%x,,,\n",
			 (unsigned long long)a.virt, (unsigned long long)n, (unsigned long long)a.nwrites, (unsigned long long)n,
			 i < 30 ? 18446744073709551615ull : (unsigned long long)i / 10 * 10,
			 i < 30 ? 18446744073709551615ull : (unsigned long long)i / 10 * 10 + 10, a.tid, (unsigned long long)a.ip, a.node, a.flags);
	}
	mt_tracefile_close(&t);
	CHECK_STR(content("accesses-000000.csv"), want);
	empty();
}

/* A chunk is closed behind 64 MiB, and the next one begins with the header. */
static void chunks(int dirfd)
{
	static uint64_t mask[256];
	struct mt_access_row a = { .virt = 0x1000, .nreads = 1, .cpus = mask, .cpu_words = 256, .tid = 1 };
	struct mt_tracefile t;
	struct stat st;
	char path[256];

	mask[255] = 1;			/* 4 KiB of digits a line */
	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), 0);
	CHECK_EQ(mt_tracefile_accesses(&t), 0);
	mt_tracefile_interval_begin(&t, 100, 150);
	for (int i = 0; i < 17000; i++) {
		mt_tracefile_access(&t, &a);
		CHECK(mt_tracefile_turn(&t) == 0);
	}
	mt_tracefile_close(&t);
	snprintf(path, sizeof(path), "%s/accesses-000000.csv", dir);
	CHECK(!stat(path, &st) && st.st_size >= 64 << 20 && st.st_size < (64 << 20) + 8192);
	CHECK(!strncmp(content("accesses-000001.csv"), ACCESSES "1000,0,1,0,1000", strlen(ACCESSES) + 15));
	CHECK_STR(content("accesses-000002.csv"), "(no file)");
	CHECK_EQ(t.accesses.lost_lines, 0);
	/* the files must not exist */
	CHECK(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)) < 0);
	empty();
}

/* What could not be written stands in the next line that can be, once. */
static void losses(int dirfd)
{
	const uint64_t one[] = { 1 };
	struct mt_access_row a = { .virt = 0x1000, .nreads = 1, .cpus = one, .cpu_words = 1, .tid = 1, .read_at = 8, .write_at = -1 };
	struct rlimit old, limit;
	struct mt_interval_row r = interval(0);
	struct mt_tracefile t;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), 0);
	CHECK_EQ(mt_tracefile_accesses(&t), 0);
	mt_tracefile_interval_begin(&t, 100, 150);
	mt_tracefile_access(&t, &a);
	limit.rlim_cur = strlen(INTERVALS);	/* neither accesses nor the line */
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 20; i++)
		mt_tracefile_access(&t, &a);
	CHECK(mt_tracefile_interval_end(&t, &r) > 15);
	setrlimit(RLIMIT_FSIZE, &old);
	mt_tracefile_access(&t, &a);
	r = interval(1);
	CHECK(mt_tracefile_interval_end(&t, &r) > 15);	/* nobody was told yet */
	r = interval(2);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	mt_tracefile_close(&t);
	CHECK(strstr(content("intervals.csv"), "\n2,200,250,5,50,6,7,1,2,3,8192,9,10,11,12,,4,0,250,13,14,15\n") != NULL);
	{
		const char *one_line = strstr(content("intervals.csv"), "\n1,150,");
		unsigned long lost = 0;

		CHECK(one_line && sscanf(one_line, "\n1,150,200,5,50,6,7,1,2,3,8192,9,10,11,12,write:EFBIG,4,%lu\n", &lost) == 1);
		CHECK(lost > 15 && lost <= 21);
	}
	empty();
	/* a chunk that cannot be made: its records are lost, the header is not one of them */
	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), 0);
	t.dirfd = -1;
	CHECK(mt_tracefile_accesses(&t) < 0);
	mt_tracefile_interval_begin(&t, 100, 150);
	mt_tracefile_access(&t, &a);
	r = interval(0);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 1);
	t.dirfd = dirfd;
	CHECK_EQ(mt_tracefile_turn(&t), 0);	/* now it can */
	mt_tracefile_access(&t, &a);
	r = interval(1);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	mt_tracefile_close(&t);
	CHECK_STR(content("accesses-000000.csv"), ACCESSES "1000,0,1,0,1,100,150,1,0,0,0,8,,\n");
	CHECK(strstr(content("intervals.csv"), ",write:EBADF,4,1,") != NULL);
	empty();
}

/* A program that uses up its descriptors: a full chunk goes on, and the first line comes when it can. */
static void without_descriptors(int dirfd)
{
	const uint64_t one[] = { 1 };
	struct mt_access_row a = { .virt = 0x1000, .nreads = 1, .cpus = one, .cpu_words = 1, .tid = 1, .read_at = -1, .write_at = -1 };
	struct mt_interval_row r = interval(0);
	struct rlimit old, none;
	struct mt_tracefile t;

	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	CHECK_EQ(mt_tracefile_open(&t, dirfd, abuf, sizeof(abuf), ibuf, sizeof(ibuf)), -EMFILE);
	CHECK_EQ(mt_tracefile_accesses(&t), -EMFILE);
	mt_tracefile_interval_begin(&t, 100, 150);
	mt_tracefile_access(&t, &a);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 1);
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK_EQ(mt_tracefile_turn(&t), 0);
	t.chunk_begin -= 1ull << 40;	/* it is full */
	setrlimit(RLIMIT_NOFILE, &none);
	mt_tracefile_access(&t, &a);
	CHECK_EQ(mt_tracefile_turn(&t), 0);
	mt_tracefile_access(&t, &a);
	setrlimit(RLIMIT_NOFILE, &old);
	r = interval(1);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 1);	/* that of the first interval, which had no line */
	CHECK_EQ(mt_tracefile_turn(&t), 0);
	mt_tracefile_access(&t, &a);
	r = interval(2);
	CHECK_EQ(mt_tracefile_interval_end(&t, &r), 0);
	mt_tracefile_close(&t);
	CHECK_STR(content("accesses-000000.csv"), ACCESSES "1000,0,1,0,1,100,150,1,0,0,0,,,\n1000,0,1,0,1,100,150,1,0,0,0,,,\n");
	CHECK_STR(content("accesses-000001.csv"), ACCESSES "1000,0,1,0,1,100,150,1,0,0,0,,,\n");
	CHECK_STR(content("intervals.csv"), INTERVALS "1,150,200,5,50,6,7,1,2,3,8192,9,10,11,12,write:EMFILE,4,1,200,13,14,15\n"
		  "2,200,250,5,50,6,7,1,2,3,8192,9,10,11,12,,4,0,250,13,14,15\n");
	empty();
}

int main(void)
{
	int dirfd;

	if (!mkdtemp(dir))
		return 1;
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	lines(dirfd);
	like_the_last(dirfd);
	chunks(dirfd);
	losses(dirfd);
	without_descriptors(dirfd);
	close(dirfd);
	rmdir(dir);
	return mt_test_done();
}
