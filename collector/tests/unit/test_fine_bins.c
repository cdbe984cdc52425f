// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/fine/fine.c preload/fine/files.c preload/fine/pages.c preload/fine/panel.c preload/fine/pieces.c preload/fine/strata.c preload/fine/threads.c preload/faults/perfring.c preload/faults/perfevent.c preload/memory/ranges.c common/rawmem.c common/out.c
// includes: preload/fine/fine.c
/*
 * Bins of the fine clock on a program that is made up: a page table of the test says what is mapped, its faults come from it, and so the
 * counts of each bin are known exactly. SEED=N repeats one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "common/rawsys.h"

/* The clock of the test. */
static uint64_t clock_now;
#define mt_now_ns() (clock_now)

#include "preload/fine/fine.c"

#define BASE 0x7f0000000000ull
#define PAGES 600u
#define LENGTH 50000000ull	/* of a bin */

struct zap_space zap_space;

static uint64_t state, cpu_ns[3];
static uint8_t mapped[PAGES];		/* 1 for reading, 2 for writing */
static int allowed = 1;
static struct zap_events events;
static struct zap_scan scan;
static struct zap_range runs[PAGES];
static struct fine fine;
static struct { int used[PAGES], written[PAGES]; } truth;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* ---- what the fine clock calls */

void zap_note_present(uint64_t addr, uint64_t len)
{
	(void)addr, (void)len;
}

/* One structure of 100 pages. */
size_t ctx_large(uint64_t (*to)[2], size_t room)
{
	CHECK(room > 0);
	to[0][0] = BASE + 200 * MT_PAGE + 16;
	to[0][1] = BASE + 300 * MT_PAGE;
	return 1;
}

uint64_t ctx_thread_cpu(int tid)
{
	return cpu_ns[tid - 100] + 1;
}

void zap_scan(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared)
{
	(void)shared;
	s->run = runs;
	s->nruns = 0;
	for (uint64_t i = 0; i < PAGES; i++)
		if (mapped[i] && zap_regions_contain(traced, BASE + i * MT_PAGE))
			s->run[s->nruns++] = (struct zap_range){ BASE + i * MT_PAGE, BASE + (i + 1) * MT_PAGE };
}

void zap_scan_take(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared)
{
	(void)traced, (void)shared;
	for (size_t i = 0; i < s->nruns; i++)
		mapped[(s->run[i].start - BASE) / MT_PAGE] = 0;
}

static void read_until(uint64_t until)
{
	(void)until;	/* each fault is told at once */
}

static int may_take(void)
{
	return allowed;
}

static void nothing(void)
{
}

static uint64_t process_cpu(void)
{
	return cpu_ns[0] + cpu_ns[1] + cpu_ns[2];
}

/* ---- the program */

static void touch(int tid, uint64_t page, int write)
{
	struct zap_fault f = { .addr = BASE + page * MT_PAGE + 8, .time = clock_now, .tid = tid };
	const uint8_t want = write ? 2 : 1;

	truth.used[page] = 1;
	truth.written[page] |= write;
	if (mapped[page] >= want)
		return;
	mapped[page] = want;
	events.fine(events.fine_arg, &f, write ? ZAP_WRITE : ZAP_READ);
}

/* Both threads go on for @ns of CPU time each, which takes twice as long, and use what they use. */
static void go_on(uint64_t ns)
{
	clock_now += 2 * ns;
	cpu_ns[1] += ns;
	cpu_ns[2] += ns / 2;
	for (uint64_t i = 0; i < 200; i++)
		touch(101, i, 1);
	for (uint64_t i = 200; i < 300; i += 2)
		touch(102, i, 0);
	touch(101 + (int)rnd(2), 400 + rnd(20), (int)rnd(2));
}

static void open_fine(int dirfd, size_t pages)
{
	memset(&fine, 0, sizeof(fine));
	memset(&events, 0, sizeof(events));
	memset(mapped, 0, sizeof(mapped));
	memset(cpu_ns, 0, sizeof(cpu_ns));
	memset(&truth, 0, sizeof(truth));
	clock_now = 1000000000;
	zap_regions_clear(&zap_space.regions);
	zap_regions_add(&zap_space.regions, BASE, BASE + 500 * MT_PAGE);
	fine = (struct fine){ .events = &events, .scan = &scan, .read = read_until, .lock = may_take, .unlock = nothing,
			      .process_cpu = process_cpu };
	CHECK_EQ(fine_watch(&fine), 0);
	CHECK_EQ(fine_open(&fine, dirfd, LENGTH, pages, state), 0);
	/* the first bin: of what our start has mapped no event tells that the program used it since */
	zap_regions_clear(&zap_space.dropped);
	mapped[490] = 2;
	fine_turn(&fine, clock_now);
	CHECK(!mapped[490] && zap_regions_contain(&zap_space.dropped, BASE + 490 * MT_PAGE));
	CHECK(fine.in_bin && fine.bin.number == 0);
}

/* Sums of the running bin over all strata. */
static struct fine_counts sums(void)
{
	struct fine_counts all = { 0 };

	for (size_t i = 0; i < fine.strata.n_in_bin; i++) {
		const struct fine_counts *c = &fine.strata.s[fine.strata.in_bin[i]].now;

		all.mapped += c->mapped;
		all.sampled += c->sampled;
		all.hit += c->hit;
		all.hit_written += c->hit_written;
		all.armed += c->armed;
		all.armed_hit += c->armed_hit;
		all.armed_written += c->armed_written;
	}
	return all;
}

static unsigned int in_truth(const int *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PAGES; i++)
		n += (unsigned int)!!set[i];
	return n;
}

/* The program goes on until a bin has ended, in so many eighths of its length; the truth of the new one begins. */
static int next_bin(void (*check)(void))
{
	const uint64_t number = fine.bin.number;
	int eighths = 0;

	while (fine.bin.number == number && eighths < 40) {
		go_on(LENGTH / 8);
		eighths++;
		if (check)
			check();
		fine_turn(&fine, clock_now);
	}
	CHECK_EQ(fine.bin.number, number + 1);
	memset(&truth, 0, sizeof(truth));
	return eighths;
}

static void is_exact(void)
{
	const struct fine_counts c = sums();

	CHECK_EQ(c.hit + c.armed_hit, in_truth(truth.used));
	CHECK_EQ(c.hit_written + c.armed_written, in_truth(truth.written));
	CHECK_EQ(c.sampled, c.mapped);
}

/* All pages are sampled: each bin is exact, whatever is used. CPU time of the busiest thread ends it, not the time. */
static void exact(int dirfd)
{
	open_fine(dirfd, 4096);
	next_bin(is_exact);
	for (int bin = 1; bin < 12; bin++) {
		const int eighths = next_bin(is_exact);

		/* it is looked at when it may be over, at the earliest, and not much later */
		CHECK(eighths >= 8 && eighths <= 10);
		if (bin == 7) {	/* memory that comes in a bin */
			zap_regions_add(&zap_space.regions, BASE + 520 * MT_PAGE, BASE + 560 * MT_PAGE);
			for (uint64_t i = 530; i < 540; i++)
				touch(101, i, 1);
		}
		/* nobody works: nothing ends */
		clock_now += 100 * LENGTH;
		fine_turn(&fine, clock_now);
		CHECK_EQ(fine.bin.number, (uint64_t)bin + 1);
	}
	fine_free(&fine);
}

static void is_between(void)
{
	const struct fine_counts c = sums();

	CHECK(c.sampled < c.mapped);
	CHECK(c.hit + c.armed_hit <= in_truth(truth.used));
	CHECK(c.hit + c.armed_hit + (c.mapped - c.sampled) >= in_truth(truth.used));
	/* a page of the panel is looked at four times; each may be read, then written */
	CHECK(fine.bin.faults <= 2 * (36 + 4 * 12 + 2 * fine.strata.n_in_bin));
}

/* A sample: between the bounds of what is known, and a complete look makes it exact. */
static void sampled(int dirfd)
{
	struct fine_counts c;
	struct fine_cost cost;

	open_fine(dirfd, 48);
	next_bin(NULL);
	for (int bin = 1; bin < 8; bin++)
		next_bin(is_between);
	for (int look = 0; look < 3; look++) {
		const uint64_t number = fine.bin.number;

		memset(&truth, 0, sizeof(truth));
		go_on(LENGTH * 2 / 3);
		fine_look_begin(&fine, clock_now, 0);
		CHECK_EQ(fine.bin.number, number + 1);
		memset(mapped, 0, sizeof(mapped));
		clock_now += 1000000;
		fine_look_end(&fine, clock_now, 1);
		CHECK(fine.bin.look && fine.bin.away_ns == clock_now && fine.bin.start_ns == clock_now - 1000000);
		memset(&truth, 0, sizeof(truth));
		go_on(LENGTH / 3);
		c = sums();
		CHECK_EQ(c.mapped, 0);
		CHECK_EQ(c.armed_hit, in_truth(truth.used));
		CHECK_EQ(c.armed_written, in_truth(truth.written));
		/* and one soon after it ends no bin */
		fine_look_begin(&fine, clock_now, 0);
		memset(mapped, 0, sizeof(mapped));
		fine_look_end(&fine, clock_now + 1000, 1);
		CHECK_EQ(fine.bin.number, number + 1);
		go_on(1000);
		CHECK_EQ(sums().armed_hit, in_truth(truth.used));
	}
	fine_interval(&fine, &cost);
	CHECK(cost.faults > 0 && cost.thread_faults > 0);
	CHECK(cost.busiest_ns > 0 && cost.busiest_ns <= cpu_ns[1] + 1 && cost.thread_ns <= cost.busiest_ns);
	fine_interval(&fine, &cost);
	CHECK(!cost.faults && !cost.busiest_ns);
	fine_look_begin(&fine, clock_now, 1);
	CHECK_EQ(fine_turn(&fine, clock_now), ~0ull);
	fine_free(&fine);
}

static int64_t lost_in_rings;

static int64_t read_lost(int fd)
{
	return fd == 7 ? lost_in_rings : 0;
}

/* After a loss the bin is not known, and the page table says what is mapped; nothing is taken away where it must not be. */
static void losses(int dirfd)
{
	static struct zap_ring ring = { .fd = 7, .major_fd = 8 };
	static char page[8192];

	open_fine(dirfd, 64);
	ring.map = page;
	ring.lost = ring.major_lost = 0;
	lost_in_rings = 0;
	events.perf = (struct zap_perf){ .ring = &ring, .nrings = 1, .read_lost = read_lost, .data_bytes = 4096 };
	next_bin(NULL);
	next_bin(NULL);
	CHECK(!(fine_pages_add(&fine.pages, BASE / MT_PAGE + 450)->flags & FINE_KNOWN));
	lost_in_rings = 5;
	ring.full = 1;
	mapped[450] = 1;	/* its event was lost */
	next_bin(NULL);
	CHECK(fine_pages_add(&fine.pages, BASE / MT_PAGE + 450)->flags & FINE_KNOWN);
	/* and the next boundary is told of it, since it may have been taken away by then */
	CHECK(zap_regions_contain(&zap_space.dropped, BASE + 450 * MT_PAGE));
	CHECK_EQ(fine.bin.lost, 0);
	next_bin(NULL);
	allowed = 0;	/* nothing may be taken away */
	for (int i = 0; i < 12 && fine.in_bin; i++) {
		go_on(LENGTH / 8);
		fine_turn(&fine, clock_now);
	}
	CHECK(!fine.in_bin);
	allowed = 1;
	clock_now += LENGTH;
	fine_turn(&fine, clock_now);
	CHECK(fine.in_bin);
	/* tracing stops */
	go_on(LENGTH);
	fine_look_begin(&fine, clock_now, 0);
	fine_look_end(&fine, clock_now, 0);
	CHECK_EQ(fine_turn(&fine, clock_now + LENGTH), ~0ull);
	fine_interval(&fine, &(struct fine_cost){ 0 });
	events.perf.nrings = 0;
	fine_free(&fine);
}

/* The sample shrinks until a bin costs what it may, and grows again. */
static void cheaper(int dirfd)
{
	size_t least;

	open_fine(dirfd, 256);
	fine.budget = 0.005;
	fine.fault_ns = 4000;
	for (int bin = 0; bin < 12; bin++)
		next_bin(NULL);
	least = fine.k;
	CHECK(least >= 8 && least < 128);
	fine.fault_ns = 40;
	for (int bin = 0; bin < 20; bin++)
		next_bin(NULL);
	CHECK(fine.k > least);
	fine_free(&fine);
}

/* Bins of the file are those that were, a lost one is told without counts. */
static void files(const char *dir)
{
	char path[128], line[256];
	int n = 0, lost = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/bins.csv", dir);
	f = fopen(path, "r");
	CHECK(f != NULL);
	CHECK(f && fgets(line, sizeof(line), f) && !strcmp(line, "Bin,Start,Away,End,CpuNs,Look,Faults,Lost,MonitorCpuNs\n"));
	for (; f && fgets(line, sizeof(line), f); n++) {
		unsigned long long bin, start, away, end, cpu, look, faults, gone;

		CHECK_EQ(sscanf(line, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu", &bin, &start, &away, &end, &cpu, &look, &faults, &gone), 8);
		CHECK(bin == (unsigned long long)n && start <= away && away < end);
		lost += gone > 0;
	}
	CHECK_EQ(lost, 1);
	CHECK(n >= 4);
	if (f)
		fclose(f);
}

static void each(void (*test)(int dirfd), void (*after)(const char *dir))
{
	char dir[] = "/tmp/memtrace-fine-XXXXXX", cmd[128];
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	test(fd);
	if (after)
		after(dir);
	close(fd);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	CHECK_EQ(system(cmd), 0);
}

int main(void)
{
	const char *seed = getenv("SEED");

	state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2654435761u + 1;
	printf("SEED=%llu\n", (unsigned long long)state);
	for (int i = 0; i < 5; i++) {
		each(exact, NULL);
		each(sampled, NULL);
	}
	each(losses, files);
	each(cheaper, NULL);
	return mt_test_done();
}
