// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/backend/kmod/kmod_drain.c cli/base/processes.c cli/trace/tracedir.c cli/base/cache.c cli/base/util.c cli/base/program.c cli/names/finish.c cli/trace/intervals.c cli/trace/accesses.c cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/names/scopes.c cli/names/symbols.c cli/names/variables.c cli/names/types.c cli/names/srcname.c common/tracefile.c common/out.c common/maps.c common/rawmem.c cli/names/unseen.c cli/names/unseen_log.c common/sanitizer.c cli/names/demangle.c cli/names/generated.c cli/names/site.c cli/names/library.c cli/names/rustname.c cli/names/advice.c cli/names/small.c cli/names/tables.c cli/names/source.c cli/ticks/codes.c cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/recordpack.c
// libs: -ldw -lelf -ljansson -lzstd -lz -liberty -lm -ldl
/* Messages of the kernel module become images of a trace. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memtrace/abi.h>

#include "harness.h"
#include "cli/backend/backend.h"
#include "cli/names/finish.h"
#include "cli/backend/kmod/kmod_drain.h"
#include "cli/base/util.h"

/* Only the manifest asks for backends. */
const struct mt_backend *mt_backend_find(const char *name)
{
	(void)name;
	return NULL;
}

static char trace[] = "/tmp/mt_drain_XXXXXX";
static char buf[1 << 16];
static size_t len;
static int preload_answer;

static int has_preload(int32_t pid)
{
	(void)pid;
	return preload_answer;
}

static void *put(uint16_t kind, size_t bytes)
{
	struct memtrace_head *h = (void *)(buf + len);

	memset(h, 0, bytes);
	h->kind = kind;
	h->bytes = (uint32_t)bytes;
	len += bytes;
	return h;
}

static void image(uint32_t number, int pid, uint32_t how, uint32_t parent, uint64_t time)
{
	struct memtrace_image *im = put(MEMTRACE_IMAGE, sizeof(*im));

	im->image = number;
	im->parent = parent;
	im->pid = pid;
	im->how = how;
	im->time_ns = time;
	strcpy(im->comm, "prog");
}

static struct memtrace_record *block(uint32_t im, int tid, uint64_t interval, uint32_t n)
{
	struct memtrace_block *b = put(MEMTRACE_BLOCK, sizeof(*b) + n * sizeof(struct memtrace_record));

	b->image = im;
	b->tid = tid;
	b->pid = 100;
	b->records = n;
	b->interval = interval;
	b->start_ns = 1000000000 + interval * 50000000;
	b->end_ns = b->start_ns + 50000000;
	b->closed_ns = b->end_ns + 700;
	for (uint32_t i = 0; i < n; i++) {
		b->record[i].virt = 0x7f0000001008 + i * 4096;
		b->record[i].phys = 0x5008;
		b->record[i].ip = 0x401234;
		b->record[i].cpus = 5;
		b->record[i].reads = 2;
		b->record[i].writes = 1;
		b->record[i].node = 0;
	}
	return b->record;
}

static void interval(uint64_t n, uint32_t stretch)
{
	struct memtrace_interval *iv = put(MEMTRACE_INTERVAL, sizeof(*iv));

	iv->interval = n;
	iv->start_ns = 1000000000 + n * 50000000;
	iv->end_ns = iv->start_ns + 50000000;
	iv->target_ns = 50000000;
	iv->subphases = 2;
	iv->dropped = 4;
	iv->resident = 77;
	iv->scan_ns = 10;
	iv->monitor_cpu_ns = 20;
	iv->program_cpu_ns = 30;
	iv->stretch = stretch;
}

static void ended(uint32_t number)
{
	((struct memtrace_image_end *)put(MEMTRACE_IMAGE_END, sizeof(struct memtrace_image_end)))->image = number;
}

static int feed(struct mt_kmod_drain *d)
{
	int err = mt_kmod_drain_feed(d, buf, len);

	len = 0;
	return err;
}

/* What the preload library does. */
static void library_makes(const char *name, int pid, uint64_t start_ns, int monitor)
{
	char *dir = mt_printf("%s/%s", trace, name), *path = mt_printf("%s/image.json", dir);
	FILE *f;

	CHECK_EQ(mkdir(dir, 0755), 0);
	f = fopen(path, "w");
	fprintf(f, "{\"index\": %s, \"pid\": %d, \"start_ns\": %llu, \"monitor_tid\": %d}\n", name[4] ? name + 4 : "0", pid,
		(unsigned long long)start_ns, monitor);
	fclose(f);
	free(dir);
	free(path);
}

static const char *content(const char *file)
{
	static char *text;
	char *path = mt_printf("%s/%s", trace, file);

	free(text);
	text = mt_read_file(path, NULL);
	free(path);
	return text ? text : "(no file)";
}

static int count_lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void losses(void *arg, uint64_t *region, uint64_t *other)
{
	(void)arg;
	*region = 512;
	*other = 1;
}

#define ACCESSES "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,ReadOffset,WriteOffset,First\n"
#define INTERVALS "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,Resident," \
	"ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event,LostRegion,LostWrite,Closed,UnseenShared,UnseenFile,Accesses\n"

int main(void)
{
	struct mt_kmod_drain_options o = { .trace = trace, .page_size = 4096, .losses = losses,
					   .has_preload = has_preload };
	struct mt_kmod_totals t;
	struct mt_kmod_drain *d;
	struct memtrace_record *r;

	if (!mkdtemp(trace))
		return 1;
	mt_quiet = true;
	d = mt_kmod_drain_new(&o);
	preload_answer = 1;
	/* the directory comes late: blocks and intervals before it are kept */
	image(0, 100, MEMTRACE_HOW_EXEC, ~0u, 1000000100);
	r = block(0, 100, 0, 2);
	r[0].flags = MEMTRACE_RECORD_CPU_LIST;
	r[0].cpus = 1 << 16 | 131;		/* CPUs 130 and 0 */
	r[1].flags = MEMTRACE_RECORD_SHARED;
	interval(0, 1);
	CHECK_EQ(feed(d), 0);
	CHECK_STR(content("p0000/intervals.csv"), "(no file)");
	library_makes("p0000", 100, 1040000000, 150);
	r = block(0, -1, 1, 1);
	r->flags = MEMTRACE_RECORD_INFERRED | MEMTRACE_RECORD_DIRECTION;
	r->reads = 1;
	r->writes = 0;
	r->ip = 0;
	r->node = -1;
	block(0, 150, 1, 3);			/* our own monitor */
	{					/* our own library */
		char *maps = mt_printf("%s/p0000/maps-start.txt", trace);
		FILE *f = fopen(maps, "w");

		fputs("7f0000002000-7f0000003000 r-xp 00000000 08:01 1  /usr/lib/libc.so.6\n"
		      "7e0000001000-7e0000002000 r-xp 00000000 08:01 2  /usr/lib/memtrace/libmemtrace-preload.so\n"
		      "7e0000002000-7e0000003000 rw-p 00001000 08:01 2  /usr/lib/memtrace/libmemtrace-preload.so\n", f);
		fclose(f);
		free(maps);
		r = block(0, 100, 1, 5);
		r[0].virt = 0x7e0000001010;
		r[1].virt = 0x7e0000002fff;
		r[2].virt = 0x7e0000003000;
		r[3].virt = 0x2a0000000000;	/* its buffers, see rawplace.h */
		r[4].virt = 0x3effffffffff;
	}
	interval(1, 0);
	CHECK_EQ(feed(d), 0);
	CHECK_STR(content("p0000/accesses-000000.csv"), ACCESSES
		  "7f0000001008,0,2,1,400000000000000000000000000000001,1000000000,1050000000,100,401234,0,0,,,\n"
		  "7f0000002008,0,2,1,5,1000000000,1050000000,100,401234,0,4,,,\n"
		  "7f0000001008,0,1,0,0,1050000000,1100000000,-1,0,-1,3,,,\n"
		  "7e0000003000,0,2,1,5,1050000000,1100000000,100,401234,0,0,,,\n");
	CHECK_STR(content("p0000/intervals.csv"), INTERVALS
		  "0,1000000000,1050000000,2,50000000,6,2,0,4,1,315392,10,0,20,30,governor:lengthened,512,0,1050000700,0,0,0\n"
		  "1,1050000000,1100000000,2,50000000,3,2,1,4,1,315392,10,0,20,30,,512,0,1100000700,0,0,0\n");

	/* a fork, whose directory exists already, and a static program without one; they end */
	library_makes("p0001", 101, 1100000200, 0);
	image(1, 101, MEMTRACE_HOW_FORK, 0, 1100000100);
	image(2, 102, MEMTRACE_HOW_EXEC, 1, 1100000300);
	r = block(1, 101, 2, 2);
	r[0].reads = 0;			/* only writes: the first access is the first write */
	r[1].writes = 0;
	block(2, 102, 2, 1);
	ended(1);
	preload_answer = 0;
	interval(2, 0);
	CHECK_EQ(feed(d), 0);
	CHECK(strstr(content("p0001/accesses-000000.csv"), ",101,401234,0,0,,8,\n") != NULL);
	CHECK(strstr(content("p0001/accesses-000000.csv"), ",101,401234,0,0,8,,\n") != NULL);
	CHECK(strstr(content("p0001/intervals.csv"), "2,1100000000,1150000000,2,50000000,3,2,0,0,0,0,0,0,0,0,exit,0,0,1150000700,0,0,0\n") != NULL);
	CHECK_STR(content("p0002/image.json"), "(no file)");	/* too early to say */
	for (uint64_t i = 3; i < 9; i++)
		interval(i, 0);
	CHECK_EQ(feed(d), 0);
	CHECK(strstr(content("p0002/image.json"), "\"how\": \"exec\"") != NULL);
	CHECK(strstr(content("p0002/image.json"), "\"parent\": 1") != NULL);
	CHECK(strstr(content("p0002/image.json"), "\"prog\"") != NULL);
	CHECK(strstr(content("p0002/accesses-000000.csv"), ",102,401234,0,0,,,\n") != NULL);
	/* nothing lost of the intervals before, nothing written after the end */
	CHECK(strstr(content("p0002/intervals.csv"), "\n2,1100000000,") != NULL);
	CHECK(strstr(content("p0001/intervals.csv"), "\n3,") == NULL);

	/* the same process executes another program: its own directory, not the old one */
	image(3, 100, MEMTRACE_HOW_EXEC, 0, 1500000000);
	library_makes("p0003", 100, 1500000100, 0);
	block(3, 100, 10, 1);
	ended(0);
	interval(9, 2);
	interval(10, 0);
	CHECK_EQ(feed(d), 0);
	CHECK(strstr(content("p0003/accesses-000000.csv"), ",100,401234,") != NULL);
	CHECK(strstr(content("p0000/intervals.csv"), "governor:shortened exit") != NULL);
	/* the sums move on to the oldest that lives */
	CHECK(strstr(content("p0002/intervals.csv"), "10,1500000000,1550000000,2,50000000,0,0,0,4,1,315392,10,0,20,30,,512,0,1550000000,0,0,0\n") != NULL);

	/*
	 * A process that executes at once: its first address space never made a directory, the
	 * second one did. That is not the first one's, whose records get one of their own.
	 */
	image(5, 110, MEMTRACE_HOW_FORK, 0, 1550000200);
	block(5, 110, 11, 1);
	ended(5);
	image(6, 110, MEMTRACE_HOW_EXEC, 5, 1550000300);
	library_makes("p0004", 110, 1550000400, 0);
	block(6, 110, 11, 2);
	interval(11, 0);
	CHECK_EQ(feed(d), 0);
	CHECK_EQ(count_lines(content("p0004/accesses-000000.csv")), 3);
	CHECK_EQ(count_lines(content("p0005/accesses-000000.csv")), 2);
	ended(6);

	/* an image without a single record leaves nothing behind */
	image(4, 103, MEMTRACE_HOW_FORK, 0, 1550000100);
	ended(4);
	interval(11, 0);
	CHECK_EQ(feed(d), 0);

	/* an image that was not announced: lost, counted with the next interval */
	block(77, 1, 12, 3);
	interval(12, 0);
	CHECK_EQ(feed(d), 0);
	CHECK(strstr(content("p0002/intervals.csv"), "12,1600000000,1650000000,2,50000000,0,0,0,4,4,315392,") != NULL);

	/*
	 * A process that executes twice at once. The first address space made no directory; that of the second began in the
	 * nanosecond in which the first one ended; another process begins between the third one and its directory.
	 */
	image(8, 120, MEMTRACE_HOW_FORK, 0, 1650000000);
	image(9, 120, MEMTRACE_HOW_EXEC, 8, 1650000200);
	image(10, 120, MEMTRACE_HOW_EXEC, 9, 1650000400);
	image(11, 121, MEMTRACE_HOW_FORK, 0, 1650000420);
	library_makes("p0006", 120, 1650000200, 0);
	library_makes("p0007", 120, 1650000450, 0);
	block(8, 120, 13, 1);
	block(9, 120, 13, 2);
	block(10, 120, 13, 3);
	for (uint32_t i = 8; i < 12; i++)
		ended(i);
	interval(13, 0);
	CHECK_EQ(feed(d), 0);
	CHECK_EQ(count_lines(content("p0006/accesses-000000.csv")), 3);
	CHECK_EQ(count_lines(content("p0007/accesses-000000.csv")), 4);
	CHECK_EQ(count_lines(content("p0008/accesses-000000.csv")), 2);

	/*
	 * A child that began while the end of the interval was worked on: after end_ns, but its first pages were seen by the sweep.
	 * What has records of an interval has a row of it, with a directory or before it has one; who has none of it has no row.
	 */
	library_makes("p0009", 130, 1750000100, 0);
	image(12, 130, MEMTRACE_HOW_FORK, 2, 1750000000);
	image(13, 131, MEMTRACE_HOW_FORK, 2, 1750000020);
	image(14, 132, MEMTRACE_HOW_FORK, 2, 1750000030);
	block(12, -1, 14, 2);
	block(13, -1, 14, 1);
	interval(14, 0);
	block(14, 132, 15, 1);
	for (uint32_t i = 12; i < 15; i++)
		ended(i);
	interval(15, 0);
	CHECK_EQ(feed(d), 0);
	for (int i = 9; i < 12; i++) {
		static const char *const rows[] = {
			"14,1700000000,1750000000,2,50000000,0,2,2,0,0,0,0,0,0,0,,0,0,1750000700,0,0,0\n"
			"15,1750000000,1800000000,2,50000000,0,0,0,0,0,0,0,0,0,0,exit,0,0,1800000000,0,0,0\n",
			"14,1700000000,1750000000,2,50000000,0,1,1,0,0,0,0,0,0,0,,0,0,1750000700,0,0,0\n"
			"15,1750000000,1800000000,2,50000000,0,0,0,0,0,0,0,0,0,0,exit,0,0,1800000000,0,0,0\n",
			"15,1750000000,1800000000,2,50000000,3,1,0,0,0,0,0,0,0,0,exit,0,0,1800000700,0,0,0\n",
		};
		char *name = mt_printf("p%04d/intervals.csv", i), *want = mt_printf("%s%s", INTERVALS, rows[i - 9]);

		CHECK_STR(content(name), want);
		free(name);
		free(want);
	}

	/* not what the interface says */
	block(3, 1, 12, 2);
	((struct memtrace_block *)buf)->records = 3;
	CHECK_EQ(feed(d), -EPROTO);
	interval(12, 0);
	len -= 8;
	CHECK_EQ(feed(d), -EPROTO);
	put(99, 16);				/* a kind of the future */
	CHECK_EQ(feed(d), 0);

	mt_kmod_drain_end(d, &t);
	CHECK_EQ(t.images, 12);
	CHECK_EQ(t.records, 21);
	CHECK_EQ(t.intervals, 17);
	CHECK_EQ(t.dropped, 68);
	CHECK_STR(content("p0012/image.json"), "(no file)");
	{	/* gone before anybody could look at its mappings and threads: it had a main thread */
		const struct mt_finish_options none = { 0 };

		CHECK_EQ(mt_finish_image(trace, "p0002", &none), 0);
		CHECK(strstr(content("p0002/threads.csv"), "\n102,") != NULL);
	}
	{
		char *rm = mt_printf("rm -r %s", trace);

		CHECK_EQ(system(rm), 0);
		free(rm);
	}
	return mt_test_done();
}
