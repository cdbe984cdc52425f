// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/closelook.c preload/memory/ranges.c common/out.c common/rawmem.c
/* The close look: how often, at which pages, which faults are samples. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "preload/faults/closelook.h"

#define PAGE 4096ull

static void pace(void)
{
	struct zap_pace p = { .budget = 0.25, .period_ns = 200000 };

	zap_pace_update(&p, 10000000, 5000000, 0);	/* 50 %: twice as long */
	CHECK_EQ(p.period_ns, 400000);
	zap_pace_update(&p, 10000000, 20000000, 0);	/* on several CPUs; at most four times */
	CHECK_EQ(p.period_ns, 1600000);
	zap_pace_update(&p, 10000000, 2500000, 0);	/* at the budget */
	CHECK_EQ(p.period_ns, 1600000);
	zap_pace_update(&p, 10000000, 1800000, 0);	/* a little below */
	CHECK_EQ(p.period_ns, 1600000);
	zap_pace_update(&p, 10000000, 1400000, 0);	/* 14 of 17.5 % */
	CHECK_EQ(p.period_ns, 1280000);
	zap_pace_update(&p, 10000000, 0, 0);		/* at least a half */
	CHECK_EQ(p.period_ns, 640000);
	for (int i = 0; i < 20; i++)
		zap_pace_update(&p, 10000000, 0, 0);
	CHECK_EQ(p.period_ns, ZAP_ZOOM_SHORTEST_NS);
	zap_pace_update(&p, 10000000, 0, (1ull << ZAP_ZOOM_FILE_SHIFT) - 1);
	CHECK_EQ(p.period_ns, ZAP_ZOOM_SHORTEST_NS);
	zap_pace_update(&p, 10000000, 0, 3ull << ZAP_ZOOM_FILE_SHIFT);	/* the file has grown */
	CHECK_EQ(p.period_ns, 8 * ZAP_ZOOM_SHORTEST_NS);
	zap_pace_update(&p, 10000000, 0, 100ull << ZAP_ZOOM_FILE_SHIFT);
	CHECK_EQ(p.period_ns, ZAP_ZOOM_LONGEST_NS / 2);
	for (int i = 0; i < 20; i++)
		zap_pace_update(&p, 10000000, 10000000, 0);
	CHECK_EQ(p.period_ns, ZAP_ZOOM_LONGEST_NS);
	p.period_ns = 100000;
	zap_pace_update(&p, 0, 0, 0);			/* nothing was measured */
	CHECK_EQ(p.period_ns, 100000);
}

/* It may cost nothing more than the budget, whatever a turn costs: as if the program did always the same. */
static void budget(void)
{
	for (uint64_t turn = 1000; turn <= 1000000; turn *= 10) {
		struct zap_pace p = { .budget = 0.25, .period_ns = ZAP_ZOOM_SHORTEST_NS };
		double share = 1;

		for (int i = 0; i < 50; i++) {
			uint64_t turns = 10000000 / (p.period_ns + turn) + 1;

			share = (double)turn / (double)(p.period_ns + turn);
			zap_pace_update(&p, turns * (p.period_ns + turn), turns * turn, 0);
		}
		CHECK(share <= 0.26);
	}
}

static void turns(void)
{
	struct zap_zoom z = { 0 };
	struct zap_regions traced = { 0 }, shared = { 0 };
	const uint64_t few[][2] = { { 0x10010, 0x10050 }, { 0x12ff8, 0x13008 }, { 0x20000, 0x20000 } };
	const uint64_t around[][2] = { { 0x100000 + 50 * PAGE, 0x100000 + 80 * PAGE } };
	const uint64_t many[][2] = { { 0x100000, 0x100000 + 100 * PAGE } };
	uint64_t seen = 0;

	zap_regions_add(&traced, 0x10000, 0x13000);
	zap_regions_add(&shared, 0x13000, 0x14000);
	zap_zoom_aim(&z, few, 3);
	CHECK_EQ(zap_regions_bytes(&z.pages), 3 * PAGE);
	CHECK_EQ(zap_regions_bytes(&z.lines), 64 + 64 + 2 * 64);
	CHECK_EQ(zap_zoom_turn(&z, &traced, &shared), 3);
	CHECK_EQ(zap_regions_bytes(&z.ours), 2 * PAGE);
	CHECK(zap_regions_contain(&z.ours, 0x10000) && !zap_regions_contain(&z.ours, 0x11000) && zap_regions_contain(&z.ours, 0x12fff));
	CHECK_EQ(zap_regions_bytes(&z.shared), PAGE);
	zap_regions_remove(&traced, 0x10000, 0x11000);	/* the program unmapped it */
	CHECK_EQ(zap_zoom_turn(&z, &traced, &shared), 2);
	CHECK(!zap_regions_contain(&z.ours, 0x10000));

	/* of many pages some after the others, and all of them in the end */
	zap_regions_add(&traced, 0x100000, 0x100000 + 100 * PAGE);
	zap_zoom_aim(&z, many, 1);
	CHECK(!zap_regions_contain(&z.pages, 0x10000));
	for (unsigned int i = 0; i < 4 * ZAP_ZOOM_DWELL; i++) {
		CHECK_EQ(zap_zoom_turn(&z, &traced, &shared), ZAP_ZOOM_PAGES);
		if (i == ZAP_ZOOM_DWELL - 1)
			CHECK(!zap_regions_contain(&z.ours, 0x100000 + ZAP_ZOOM_PAGES * PAGE));
		if (i == ZAP_ZOOM_DWELL)
			CHECK_EQ(z.ours.r[0].start, 0x100000);	/* goes on at the begin */
		for (unsigned int k = 0; k < 64 && i == ZAP_ZOOM_DWELL; k++)
			seen += zap_regions_contain(&z.ours, 0x100000 + (ZAP_ZOOM_PAGES + k) * PAGE);
	}
	CHECK_EQ(seen, 36);
	/* fewer than fit, before and behind the place where it was */
	z.at = 0x100000 + 64 * PAGE;
	zap_zoom_aim(&z, around, 1);
	CHECK_EQ(zap_zoom_turn(&z, &traced, &shared), 30);
	CHECK_EQ(zap_regions_bytes(&z.ours), 30 * PAGE);
	CHECK_EQ(z.at, 0);
	zap_zoom_aim(&z, NULL, 0);
	CHECK_EQ(zap_zoom_turn(&z, &traced, &shared), 0);
}

static char *contents(int dir, const char *name)
{
	static char text[4096];
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static void samples(void)
{
	char path[] = "/tmp/test_zoom.XXXXXX";
	int dir = open(mkdtemp(path), O_RDONLY | O_DIRECTORY);
	const uint64_t range[][2] = { { 0x10048, 0x10050 } };
	struct zap_fault f = { .ip = 0x401000, .time = 500, .addr = 0x10078, .pid = 1, .tid = 7, .cpu = 3 };
	struct zap_zoom z, again;
	char *line;

	CHECK_EQ(zap_zoom_open(&z, dir, 0.25), 0);
	zap_zoom_aim(&z, range, 1);
	CHECK_EQ(zap_zoom_fault(&z, &f, X86_WRITE), 1);		/* the same line, beside the object */
	f.addr = 0x10080;
	CHECK_EQ(zap_zoom_fault(&z, &f, X86_WRITE), 1);		/* the next line */
	f.addr = 0x11000;
	CHECK_EQ(zap_zoom_fault(&z, &f, X86_WRITE), 0);		/* another page */
	f.addr = 0x10048;
	f.kernel = 1;
	f.tid = 8;
	CHECK_EQ(zap_zoom_fault(&z, &f, X86_READ | X86_WRITE), 1);
	f.kernel = 0;
	CHECK_EQ(zap_zoom_fault(&z, &f, X86_READ), 1);
	CHECK_EQ(zap_zoom_fault(&z, &f, 0), 1);
	CHECK_EQ(z.faults, 5);
	z.start_ns = 100;
	z.turns = 9;
	z.busy_ns = 800;
	z.cpu_ns = 70;
	zap_zoom_interval(&z, 1000, 3);
	CHECK_STR(contents(dir, "zoom.csv"), "Time,TaskId,@Virt,Access,Ip,Cpu\n500,7,10078,w,401000,3\n500,8,10048,rw,0,3\n"
		  "500,8,10048,r,401000,3\n500,8,10048,?,401000,3\n");
	line = strchr(contents(dir, "zoomcost.csv"), '\n');
	CHECK_STR(line ? line : "", "\n100,1000,800,9,200000,1,5,4,1,0,0,70,15\n");
	CHECK_EQ(z.turns + z.faults + z.written + z.beside + z.cpu_ns + z.busy_ns, 0);
	CHECK_EQ(z.all_samples, 4);
	CHECK(zap_zoom_open(&again, dir, 0.25) < 0);		/* never over what is there */
	CHECK_EQ(again.on, 0);
	CHECK_EQ(zap_zoom_fault(&again, &f, X86_READ), 0);

	/* a disk that takes nothing: counted, and told with the next line that can be written */
	close(z.samples.fd);
	z.samples.fd = open("/dev/full", O_WRONLY);
	zap_zoom_fault(&z, &f, X86_READ);
	zap_zoom_fault(&z, &f, X86_READ);
	zap_zoom_interval(&z, 2000, 3);
	CHECK(strstr(contents(dir, "zoomcost.csv"), "\n1000,2000,0,0,200000,1,2,0,0,2,0,0,6\n") != NULL);
	zap_zoom_fault(&z, &f, X86_READ);
	zap_zoom_interval(&z, 3000, 3);
	CHECK(strstr(contents(dir, "zoomcost.csv"), "\n2000,3000,0,0,200000,1,1,0,0,1,0,0,3\n") != NULL);
	close(z.samples.fd);
	zap_zoom_after_fork(&z);
	unlinkat(dir, "zoom.csv", 0);
	unlinkat(dir, "zoomcost.csv", 0);
	rmdir(path);
}

int main(void)
{
	pace();
	budget();
	turns();
	samples();
	return mt_test_done();
}
