// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/monitor/ledger.c common/out.c common/rawmem.c
/* By how much recording makes a run longer: at least and at most. */
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/rawsys.h"
#include "preload/monitor/ledger.h"

#define MS 1000000ull

static struct zap_slower of(const struct zap_costs *c, uint64_t system_ns, uint64_t faults)
{
	struct zap_slower s;

	zap_slower_of(c, system_ns, faults, &s);
	return s;
}

static void one_thread(void)
{
	/* 10,000 faults of 2 us are 20 of 100 ms; at most 32 */
	struct zap_costs c = { .faults = 10000, .fault_ns = 2000, .program_ns = 100 * MS, .wall_ns = 120 * MS, .busiest_ns = 100 * MS };
	struct zap_slower s = of(&c, 0, 0);

	CHECK_EQ(s.fault_ns, 3200);
	CHECK_EQ(s.run_ns, 68 * MS);
	CHECK_EQ(s.high_ns, 32 * MS);
	CHECK_EQ(s.low_ns, 17 * MS);		/* 20 of 80, of 68 */
	/* what came first would have come alone, too; but dearer */
	c.new_pages = 10000;
	CHECK_EQ(of(&c, 0, 0).low_ns, 0);
	CHECK_EQ(of(&c, 0, 0).high_ns, 32 * MS);
	/* hooks, the monitor, the start */
	c.new_pages = 0;
	c.hook_ns = 3 * MS;
	c.monitor_ns = 5 * MS;
	c.start_ns = 7 * MS;
	CHECK_EQ(of(&c, 0, 0).high_ns, (32 + 3 + 5 + 7) * MS);
	CHECK(of(&c, 0, 0).low_ns >= 7 * MS);
}

/* The price is learnt from system time; what it can say is bounded on both sides. */
static void price(void)
{
	const struct zap_costs c = { .faults = 1000, .fault_ns = 2000, .program_ns = 100 * MS, .wall_ns = 100 * MS, .busiest_ns = 100 * MS };

	CHECK_EQ(of(&c, 500 * MS, 100000).fault_ns, 5000);
	CHECK_EQ(of(&c, 500 * MS, 5000).fault_ns, 3200);	/* too few of them */
	CHECK_EQ(of(&c, 100 * MS, 100000).fault_ns, 3200);	/* too little time */
	CHECK_EQ(of(&c, 9000 * MS, 10000).fault_ns, 12000);	/* a program of system calls */
	CHECK_EQ(of(&c, 200 * MS, 1000000).fault_ns, 2000);
}

static void threads(void)
{
	/* 16 that work: at least each is late by its part, at most by all */
	struct zap_costs c = { .faults = 16000, .fault_ns = 1000, .program_ns = 1600 * MS, .wall_ns = 100 * MS, .busiest_ns = 100 * MS };
	struct zap_slower s = of(&c, 0, 0);

	CHECK(s.low_ns > MS / 2 && s.low_ns <= MS);
	CHECK_EQ(s.high_ns, 25600000);
	/* on two processors the run is no shorter than half of their time */
	c.processors = 2;
	CHECK(of(&c, 0, 0).run_ns > 750 * MS);
	/* the program got a tenth of the processors: the time in which it ran counts */
	c = (struct zap_costs){ .faults = 1000, .fault_ns = 1000, .program_ns = 10 * MS, .wall_ns = 100 * MS };
	CHECK(of(&c, 0, 0).run_ns < 10 * MS);
}

/* Never more than what there was, never a number that is none: seeds are printed. */
static void law(void)
{
	const unsigned int seed = 20261128;
	int bad = 0;

	printf("seed %u\n", seed);
	srand(seed);
	for (int i = 0; i < 100000; i++) {
		const uint64_t cpu = (uint64_t)(rand() % 1000) * MS;
		struct zap_costs c = { .faults = (uint64_t)rand() % 1000000, .new_pages = (uint64_t)rand() % 1000, .fault_ns = (uint64_t)rand() % 5000,
				       .program_ns = cpu, .wall_ns = (uint64_t)(rand() % 1000) * MS, .monitor_ns = (uint64_t)rand() % MS,
				       .busiest_ns = cpu / (1 + (uint64_t)rand() % 8), .processors = (unsigned int)rand() % 4 };
		const struct zap_slower s = of(&c, (uint64_t)rand() % (1000 * MS), (uint64_t)rand() % 100000);

		bad += s.low_ns > s.high_ns || s.run_ns > cpu || s.low_ns > cpu || s.fault_ns < c.fault_ns || s.fault_ns > 6 * c.fault_ns;
	}
	CHECK_EQ(bad, 0);
}

static void file(void)
{
	char dir[] = "/tmp/memtrace-ledger.XXXXXX", path[64], text[1024] = "";
	const struct zap_costs c = { .interval = 3, .faults = 12, .fault_ns = 1000, .program_ns = MS, .wall_ns = MS, .monitor_ns = 77 };
	struct zap_ledger l;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	zap_ledger_open(&l, fd, getpid());
	zap_ledger_interval(&l, &c);
	snprintf(path, sizeof(path), "%s/overhead.csv", dir);
	close(fd);
	fd = open(path, O_RDONLY);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	CHECK(strstr(text, "Interval,Faults,NewPages,FaultNs,HookNs,StartNs,MonitorCpuNs,ProgramCpuNs,BusiestCpuNs,LowNs,HighNs,RunNs\n") == text);
	CHECK(strstr(text, "\n3,12,0,1600,0,0,77,1000000,0,") != NULL);
	close(fd);
	close(l.out.fd);
	zap_ledger_after_fork(&l);
	zap_ledger_interval(&l, &c);	/* nothing is open */
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	one_thread();
	price();
	threads();
	law();
	file();
	return mt_test_done();
}
