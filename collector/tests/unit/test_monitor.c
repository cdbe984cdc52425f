// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/monitor/descriptors.c preload/monitor/program.c preload/monitor/price.c preload/monitor/ledger.c preload/fine/fine.c preload/fine/files.c preload/fine/pages.c preload/fine/panel.c preload/fine/pieces.c preload/fine/strata.c preload/fine/threads.c preload/faults/events.c preload/faults/closelook.c preload/faults/around.c preload/faults/decode.c preload/faults/x86rw.c preload/faults/perfring.c preload/faults/perfevent.c preload/faults/records.c preload/memory/ranges.c preload/monitor/governor.c common/rawmem.c common/out.c common/maps.c preload/faults/arm64rw.c
// includes: preload/monitor/monitor.c
/*
 * What the monitor adds up and when it does what, without a traced program: the clock, the scan and the
 * address space are told by the test, and a line of intervals.csv comes back as it would be written.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/rawsys.h"

/* The clock of the test; only the functions below make it go on. */
static uint64_t clock_ns;
#define mt_now_ns() (clock_ns)
/* CPU time: of the monitor's thread and of the process */
static uint64_t thread_cpu_ns, process_cpu_ns;
#define mt_clock_ns(clock) ((clock) == CLOCK_THREAD_CPUTIME_ID ? thread_cpu_ns : process_cpu_ns)

#include "preload/faults/events.h"
#include "preload/monitor/governor.h"

/* What happens at a boundary, in its order: a letter for each step. */
static char steps[64];
static uint64_t read_until, turned_at, ended_at;
static size_t scanned, noted;
static struct { uint64_t cost, program, wall; int alone, n; } asked;

static void step(char what)
{
	const size_t n = strlen(steps);

	if (n + 1 < sizeof(steps)) {
		steps[n] = what;
		steps[n + 1] = 0;
	}
}

static void note(struct zap_events *e, int on)
{
	step(on ? 'N' : 'n');
	e->note = on;
	e->nnoted = 0;
}

static void read_events(struct zap_events *e, uint64_t until)
{
	step(until == ~0ull ? 'R' : 'r');
	read_until = until;
	if (e->note)
		e->nnoted = noted;
}

static void turn_at(uint64_t time)
{
	step('t');
	turned_at = time;
}

static void end_at(uint64_t time)
{
	step('e');
	ended_at = time;
}

static void take_scanned(size_t n)
{
	step('s');
	scanned += n;
}

static enum mt_stretch ask_governor(uint64_t cost, uint64_t program, uint64_t wall, int alone)
{
	asked.cost = cost;
	asked.program = program;
	asked.wall = wall;
	asked.alone = alone;
	asked.n++;
	return MT_STRETCH_LONGER;
}

#define zap_events_note note
#define zap_events_read read_events
#define zap_events_turn_at(e, time) turn_at(time)
#define zap_events_end(e, time) end_at(time)
#define zap_events_scanned(e, run, n) take_scanned(n)
#define zap_events_turn(e) step('T')
#define zap_events_settle(e) step('S')
#define zap_events_next(e) step('>')
#define zap_governor_update(g, cost, program, wall, alone) ask_governor(cost, program, wall, alone)

#include "preload/monitor/monitor.c"

struct zap_space zap_space;
long (*zap_on_monitor)(long (*fn)(void *arg, int maps_fd, int memfd), void *arg);
void (*mt_windows_turn)(bool open);

/* ---- what the monitor calls */

static uint64_t scan_takes_ns, unmap_takes_ns, refresh_takes_ns;
static uint64_t late_bytes;		/* at the next refresh */
static uint64_t copies;
static uint64_t pending;
static int refreshes, registered, flushed, lines;
static uint64_t gap;			/* of the last unmap */
static int unmaps;
static struct mt_interval_row line;
static int *kept, n_kept;

void zap_twin_age(void) { }
void zap_unseen_begin(void)
{
}

void zap_unseen_look(struct mt_maps *m)
{
	(void)m;
}

void zap_unseen_tell(void)
{
}

int zap_refresh(struct mt_maps *m, int fd)
{
	(void)m, (void)fd;
	refreshes++;
	clock_ns += refresh_takes_ns;
	zap_space.late_bytes = late_bytes;
	return 0;
}

uint64_t zap_scan_copies(struct zap_scan *s, const struct zap_regions *files)
{
	(void)s, (void)files;
	return copies;
}

void zap_scan(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *programs)
{
	(void)s;
	step(traced == &mon.missed && programs == &mon.shared_missed ? 'm' : 'c');
	clock_ns += scan_takes_ns;
}

void zap_scan_unmap(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *programs, uint64_t g)
{
	(void)s;
	step(traced == &mon.missed && programs == &mon.shared_missed ? 'M' : 'u');
	gap = g;
	unmaps++;
	clock_ns += unmap_takes_ns;
}

int zap_scan_init(struct zap_scan *s, int memfd, int pagemap_fd, int physical)
{
	(void)s, (void)memfd, (void)pagemap_fd, (void)physical;
	return 0;
}

void zap_scan_free(struct zap_scan *s)
{
	(void)s;
}

void zap_scan_missed(const struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *programs,
		     const uint64_t *page, size_t n, struct zap_regions *missed, struct zap_regions *shared_missed)
{
	(void)s, (void)traced, (void)programs, (void)page, (void)shared_missed;
	if (n)
		zap_regions_add(missed, 0x10000, 0x12000);
}

long zap_rwp_peek(int mem_fd, int pagemap_fd, uint64_t addr, void *buf, size_t n)
{
	(void)mem_fd, (void)pagemap_fd, (void)addr, (void)buf, (void)n;
	return -EIO;
}

/* of the fine clock, which is off here (test_fine_bins.c) */
void zap_scan_take(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *programs)
{
	zap_scan_unmap(s, traced, programs, 0);
}

void zap_note_present(uint64_t addr, uint64_t len)
{
	(void)addr, (void)len;
}

size_t ctx_large(uint64_t (*to)[2], size_t room)
{
	(void)to, (void)room;
	return 0;
}

uint64_t ctx_thread_cpu(int tid)
{
	(void)tid;
	return 0;
}

uint64_t zap_rwp_resident(void)
{
	return 4711;
}

void zap_scan_ask(struct zap_scan *s, uint32_t interval)
{
	(void)s, (void)interval;
	step('a');
}

void zap_drop_kept(int fd)
{
	(void)fd;
}

void zap_turn_gone(void)
{
}

void zap_register_all(void)
{
	registered++;
}

void zap_see_writes(int fd)
{
	(void)fd;
}

enum zap_traced zap_was_traced(uint64_t addr, uint64_t time)
{
	(void)addr, (void)time;
	return ZAP_NOT_TRACED;
}

int zap_output_open(struct zap_output *o, int dirfd, int accesses)
{
	(void)o, (void)dirfd, (void)accesses;
	return 0;
}

void zap_output_records(struct zap_output *o, const struct zap_records *r, const struct zap_scan *s, uint64_t start, uint64_t end)
{
	(void)o, (void)r, (void)s, (void)start, (void)end;
}

void zap_output_interval(struct zap_output *o, const struct mt_interval_row *row)
{
	(void)o;
	line = *row;
	lines++;
}

void zap_output_after_fork(struct zap_output *o)
{
	(void)o;
}

int cnt_open(const struct mt_image *img)
{
	(void)img;
	return 0;
}

void cnt_collect(struct mt_tracefile *f, uint64_t start, uint64_t end, int pid, struct cnt_interval *out)
{
	(void)f, (void)start, (void)end, (void)pid;
	*out = (struct cnt_interval){ .accesses = 700, .rows = 70, .lost = 7 };
}

static int sites_told;

void cnt_tell_sites(void)
{
	sites_told++;
}

/* Windows of counted accesses. */
static bool saw = true, turns_to;
static int turns;
static uint64_t turn_ns = ~0ull;

uint64_t windows_next(void)
{
	return turn_ns;
}

bool windows_due(uint64_t now, bool *open)
{
	*open = turns_to;
	return now >= turn_ns;
}

void windows_turn(bool open)
{
	CHECK_EQ(open, turns_to);
	turns += 1 + (lines ? 10 : 0);	/* behind the end of the interval, or before it */
}

bool windows_saw(void)
{
	return saw;
}

uint64_t cnt_pending(void)
{
	return pending;
}

void tk_open(const struct mt_image *img, int tid, int mem_fd)
{
	(void)img;
	(void)tid;
	(void)mem_fd;
}

void tk_read(void)
{
}

void tk_flush(void)
{
}

void tk_after_fork(void)
{
}

void mt_region_tell_lost(void)
{
}

void ctx_flush(void)
{
	flushed++;
}

void ctx_fini(void)
{
}

enum cnt_tool cnt_has_tool(void)
{
	return CNT_NONE;
}

int mt_thread_start_sharing(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	(void)fn, (void)arg, (void)stack_bytes, (void)tls;
	return -ENOSYS;
}

int mt_process_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	(void)fn, (void)arg, (void)stack_bytes, (void)tls;
	return -EAGAIN;
}

int mt_thread_start(int (*fn)(void *), void *arg, size_t stack_bytes, void *tls)
{
	(void)fn, (void)arg, (void)stack_bytes, (void)tls;
	return -EAGAIN;
}

int mt_fd_kept(const int **fds)
{
	*fds = kept;
	return n_kept;
}

/* ---- the tests */

static struct mt_config config;
static struct mt_image image = { .config = &config, .pid = 1 };

/* A monitor that has just begun at 1 s, with intervals of 50 ms and no events of faults. */
static void begin(int zap, int count)
{
	memset(&mon, 0, sizeof(mon));
	memset(&shared, 0, sizeof(shared));
	memset(&zap_space, 0, sizeof(zap_space));
	config = (struct mt_config){ .interval_ns = 50000000, .subphases = 1 };
	clock_ns = mon.start_ns = 1000000000;
	scan_takes_ns = unmap_takes_ns = refresh_takes_ns = late_bytes = copies = pending = 0;
	refreshes = registered = flushed = lines = unmaps = 0;
	gap = 99;
	shared.img = &image;
	shared.zap = zap;
	shared.count = count;
	mon.clear_refs_fd = mon.task_fd = -1;
	zap_space.memfd = -1;
	zap_space.active = zap;
	mon.events.perf.data_bytes = 1 << 20;	/* half a ring lasts for 13 ms of faults */
	*steps = 0;
	thread_cpu_ns = process_cpu_ns = scanned = noted = 0;
	memset(&asked, 0, sizeof(asked));
	zap_governor_init(&mon.governor, config.interval_ns, config.interval_ns, 1, 0);
}

static void pass(uint64_t ns)
{
	clock_ns += ns;
}

/* Pages of libraries that stay untraced over two refreshes are lost, once: in the interval in which they are found. */
static void lost_pages_count_once(void)
{
	uint64_t sum = 0;

	begin(1, 0);
	late_bytes = 10 * MT_PAGE;
	for (int i = 0; i < 6; i++) {
		if (i == 4)
			late_bytes = 13 * MT_PAGE;
		pass(50000000);
		end_interval(0);
		sum += line.lost_region;
		/* the first refresh may be too early for the hook that converts them */
		CHECK_EQ(line.lost_region, i == 1 ? 10 : i == 5 ? 3 : 0);
		CHECK_EQ(mon.lost_region, 0);
	}
	CHECK_EQ(sum, 13);
	CHECK_EQ(refreshes, 6);
	CHECK_EQ(lines, 6);
}

/* What several looks in an interval find stands in its one line, added up. */
static void looks_add_up_in_an_interval(void)
{
	begin(1, 0);
	scan_takes_ns = 3000;
	unmap_takes_ns = 500;
	late_bytes = 4 * MT_PAGE;
	pass(10000000);
	end_subinterval(0, 0);
	mon.looks++;
	pass(10000000);
	end_subinterval(0, 0);
	mon.looks++;
	CHECK_EQ(mon.lost_region, 4);
	late_bytes = 9 * MT_PAGE;
	pass(10000000);
	end_subinterval(0, 0);
	mon.looks++;
	pass(10000000);
	end_interval(0);
	CHECK_EQ(line.lost_region, 9);
	CHECK_EQ(line.scan_ns, 4 * 3000);
	CHECK_EQ(line.zap_ns, 4 * 500);
	CHECK_EQ(line.subphases, 4);
	CHECK_EQ(line.interval, 0);
	pass(10000000);
	end_interval(0);
	CHECK_EQ(line.lost_region, 0);
	CHECK_EQ(line.scan_ns, 3000);
	CHECK_EQ(line.zap_ns, 500);
	CHECK_EQ(line.subphases, 1);
	CHECK_EQ(line.interval, 1);
}

/* An interval begins where the one before ended, and is never empty. */
static void intervals_touch(void)
{
	uint64_t end;

	begin(1, 0);
	scan_takes_ns = 2000;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(line.start, 1000000000);
	CHECK_EQ(line.end, 1050002000);		/* after the scan: events tell what it did not see */
	CHECK_EQ(line.closed, line.end);
	CHECK_EQ(line.target, 50000000);
	end = line.end;
	scan_takes_ns = 0;
	end_interval(0);			/* no time has passed */
	CHECK_EQ(line.start, end);
	CHECK_EQ(line.end, end + 1);
	CHECK_EQ(flushed, 2);
}

/* Where no event tells about a page, the boundary is before the scan, and nothing but what it found is unmapped. */
static void without_events_the_boundary_is_before_the_scan(void)
{
	begin(1, 0);
	zap_space.note_dropped = 1;
	scan_takes_ns = 2000;
	unmap_takes_ns = 300;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(line.end, 1050000000);
	CHECK_EQ(line.scan_ns, 0);
	CHECK_EQ(line.zap_ns, 2300);
	CHECK_EQ(line.closed, 1050002300);
	CHECK_EQ(gap, 0);
}

static void lost_events_make_careful_for_a_while(void)
{
	begin(1, 0);
	pass(50000000);
	end_interval(0);
	CHECK_EQ(gap, GAP_PAGES * MT_PAGE);
	CHECK_EQ(mon.careful, 0);
	zap_space.events_lost = 1;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(gap, 0);
	CHECK_EQ(zap_space.events_lost, 0);
	CHECK_EQ(mon.careful, CAREFUL_BOUNDARIES);
	for (int i = 1; i < CAREFUL_BOUNDARIES; i++) {
		pass(50000000);
		end_interval(0);
		CHECK_EQ(gap, 0);
	}
	pass(50000000);
	end_interval(0);
	CHECK_EQ(gap, GAP_PAGES * MT_PAGE);
	/* scan and zap that take more than a quarter of what a ring lasts */
	unmap_takes_ns = zap_perf_half_ns(&mon.events.perf) / 2;
	CHECK_EQ(zap_perf_half_ns(&mon.events.perf), (1 << 20) / ZAP_SAMPLE_BYTES(0) * 1000 / 2);
	end_interval(0);
	CHECK_EQ(mon.careful, 0);
	CHECK_EQ(mon.window_ns, unmap_takes_ns);
	unmap_takes_ns++;
	end_interval(0);
	end_interval(0);
	CHECK_EQ(mon.careful, CAREFUL_BOUNDARIES);
	CHECK_EQ(gap, 0);
}

/* Reading the maps costs at most a hundredth of the time. */
static void maps_are_read_when_it_is_cheap(void)
{
	begin(1, 0);
	refresh_takes_ns = 2000000;
	copies = 8192;
	zap_space.unseen_shared = 4096;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(refreshes, 1);
	CHECK_EQ(line.unseen_shared, 4096);
	CHECK_EQ(line.unseen_file, 8192);
	pass(199999999);
	end_interval(0);
	CHECK_EQ(refreshes, 1);
	CHECK_EQ(line.unseen_file, 8192);	/* as it was */
	pass(1);
	end_interval(0);
	CHECK_EQ(refreshes, 2);
}

/* When the program's end is the boundary its pages stay mapped; and a program that stopped being traced is not scanned. */
static void what_ends_is_not_unmapped(void)
{
	begin(1, 0);
	scan_takes_ns = 2000;
	zap_space.rescue_uffd = 1;
	pass(50000000);
	end_interval(1);
	CHECK_EQ(unmaps, 0);
	CHECK_EQ(line.end, 1050002000);
	CHECK_EQ(registered, 1);
	CHECK_EQ(zap_space.rescue_uffd, 0);
	zap_space.active = 0;
	mon.scan.nruns = 5;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(unmaps, 0);
	CHECK_EQ(mon.scan.nruns, 0);
	CHECK_EQ(line.scan_ns, 0);
	CHECK_EQ(line.end, 1100002000);
	CHECK_EQ(registered, 1);
}

static void marks_stand_in_one_line(void)
{
	begin(1, 0);
	mt_monitor_event(MT_EVENT_FORK);
	mt_monitor_event(MT_EVENT_EXEC);
	pass(50000000);
	end_interval(0);
	CHECK_EQ(line.marks, MT_MARK_FORK | MT_MARK_EXEC);
	pass(50000000);
	end_interval(0);
	CHECK_EQ(line.marks, 0);
}

/* Losses of hooks and of counters come from where they are counted. */
static void counted_accesses_have_their_own_numbers(void)
{
	begin(0, 1);
	pass(50000000);
	end_interval(0);
	CHECK_EQ(line.records, 70);
	CHECK_EQ(line.accesses, 700);
	CHECK_EQ(line.lost_table, 7);
	CHECK_EQ(line.end, 1050000000);
	CHECK_EQ(refreshes, 0);
	CHECK_EQ(unmaps, 0);
}

/* A window closes before its interval ends, and opens behind the one before it; where nothing was counted nobody looks. */
static void windows_are_intervals(void)
{
	begin(0, 1);
	saw = false;
	pass(1000);
	end_interval(0);
	CHECK_EQ(line.accesses, 0);
	saw = true;
	pass(1000);
	end_interval(1);
	CHECK_EQ(line.accesses, 700);
	turns_to = false;
	lines = turns = 0;
	turn(false);
	CHECK_EQ(turns, 1);
	CHECK_EQ(lines, 1);
	turns_to = true;
	lines = turns = 0;
	turn(true);
	CHECK_EQ(turns, 11);
	CHECK_EQ(lines, 1);
}

/* With --interval-accesses a look is due when, at the pace until now, the interval is full. */
static void counting_sets_the_next_look(void)
{
	begin(0, 1);
	CHECK(!enough_counted());
	CHECK_EQ(mon.look_ns, 0);
	config.interval_accesses = 1000;
	CHECK(!enough_counted());
	CHECK_EQ(mon.look_ns, 10000000);	/* no pace yet */
	pass(30000000);
	pending = 250;
	CHECK(!enough_counted());
	CHECK_EQ(mon.look_ns, 90000000);
	pending = 999;
	CHECK(!enough_counted());
	CHECK_EQ(mon.look_ns, 500000);		/* not more often */
	pending = 1000;
	CHECK(enough_counted());
	config.interval_accesses = 1ull << 62;
	clock_ns = 1ull << 40;
	pending = 1ull << 61;
	CHECK(!enough_counted());
	CHECK_EQ(mon.look_ns, (1ull << 40) - mon.start_ns);	/* a product of more than 64 bits */
	shared.count = 0;
	CHECK(!enough_counted());
}

static void several_threads_count_for_some_intervals(void)
{
	begin(1, 0);
	CHECK(!is_alone());			/* nothing is known without events */
	mon.events.works = 1;
	CHECK(is_alone());
	mon.interval = 7;
	mon.events.now.several = 1;
	CHECK(!is_alone());
	mon.events.now.several = 0;
	mon.interval = 10;
	CHECK(!is_alone());
	mon.interval = 11;
	CHECK(is_alone());

	mon.governor.subphases = 1;
	mon.governor.most = 4;
	mon.events.now.several = 1;
	CHECK(is_short_of_looks());
	mon.governor.most = 1;
	CHECK(!is_short_of_looks());
	mon.governor.most = 4;
	mon.governor.subphases = 2;
	CHECK(!is_short_of_looks());
	CHECK_EQ(look_ns(), 25000000);
	mon.events.now.several = 0;
	mon.governor.subphases = 1;
	CHECK(!is_short_of_looks());
}

static void rings_are_read_before_they_are_full(void)
{
	begin(1, 0);
	CHECK_EQ(drain_period_ns(), 100000000);
	mon.events.works = 1;
	mon.events.perf.data_bytes = MT_PAGE;
	CHECK_EQ(drain_period_ns(), 1000000);
	mon.events.perf.data_bytes = 128 * MT_PAGE;
	CHECK_EQ(drain_period_ns(), 128 * MT_PAGE / 40 * 500);
	mon.events.perf.with_regs = 1;
	CHECK_EQ(drain_period_ns(), 128 * MT_PAGE / 88 * 1000 / 2);
	mon.events.perf.data_bytes = 1 << 28;
	CHECK_EQ(drain_period_ns(), 20000000);
}

/* The sentence about what is weaker: parts with "; " between them, an errno, and never more than there is room for. */
static void message_has_all_that_fits(void)
{
	char longest[sizeof(shared.message)];
	size_t n;

	begin(1, 0);
	CHECK_STR(mt_monitor_message(), "");
	say("no rings", 0);
	CHECK_STR(mt_monitor_message(), "no rings");
	say("no file", -13);
	CHECK_STR(mt_monitor_message(), "no rings; no file: errno 13");
	say("and more", 5);
	CHECK_STR(mt_monitor_message(), "no rings; no file: errno 13; and more: errno 5");
	for (n = 0; n < sizeof(longest); n++) {
		memset(longest, 'x', n);
		longest[n] = 0;
		memset(&shared.message, 0, sizeof(shared.message));
		shared.img = &image;
		say(longest, 0);
		CHECK_EQ(strlen(shared.message), n < sizeof(shared.message) ? n : 0);
		if (n == sizeof(longest) - 1)
			break;
	}
	say("y", 0);
	CHECK_EQ(strlen(shared.message), sizeof(shared.message) - 1);

	begin(1, 0);
	zap_space.faults.around = 16;
	zap_space.faults.writes_fault = 1;
	zap_space.no_uffd = "why";
	say_granularity();
	CHECK_STR(mt_monitor_message(), "a read stands for a group of 16 pages; why");
	begin(1, 0);
	zap_space.faults.around = 1;
	zap_space.no_uffd = "why";
	say_granularity();
	CHECK_STR(mt_monitor_message(), "a write after a read of the same subinterval is not seen; why");
	begin(1, 0);
	zap_space.faults.around = 1;
	zap_space.faults.writes_fault = 1;
	zap_space.no_uffd = "why";
	say_granularity();
	CHECK_STR(mt_monitor_message(), "");
}

/* The monitor's table of descriptors keeps what is kept, and nothing else. In a process of its own. */
static void foreign_descriptors_go(unsigned int without)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int keep[2], others[4], bad = 0;

		config.without = without;
		for (int i = 0; i < 4; i++)
			others[i] = fcntl(2, F_DUPFD, 20 + 10 * i);
		for (int i = 0; i < 2; i++)
			keep[i] = fcntl(2, F_DUPFD, 25 + 10 * i);
		kept = keep;
		n_kept = 2;
		mt_close_foreign(shared.img->config->without & MT_WITHOUT_CLOSE_RANGE);
		for (int i = 0; i < 2; i++)
			bad |= fcntl(keep[i], F_GETFD) < 0;
		for (int i = 0; i < 4; i++)
			bad |= fcntl(others[i], F_GETFD) >= 0;
		bad |= fcntl(0, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0;
		_exit(bad);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/*
 * The order at a boundary: all faults are read, the scan looks, faults up to the boundary are read, what was found
 * becomes records. The next subphase begins before the scan.
 */
static void order_at_a_boundary(void)
{
	begin(1, 0);
	mon.events.works = 1;
	scan_takes_ns = 2000;
	mon.scan.nruns = 4;
	zap_regions_add(&zap_space.dropped, 0x1000, 0x2000);
	pass(50000000);
	end_subinterval(0, 0);
	CHECK_STR(steps, "NRtcaurssTn");
	CHECK_EQ(turned_at, 1050000000);
	CHECK_EQ(read_until, 1050002000);
	CHECK_EQ(scanned, 5);				/* with what hooks dropped */
	CHECK_EQ(zap_space.dropped.n + mon.dropped.n, 0);
	*steps = 0;
	end_interval(0);
	CHECK_STR(steps, "NRtcaeurssTnS>");
	CHECK_EQ(ended_at, line.end);
	*steps = 0;
	pass(1000);
	zap_space.note_dropped = 1;			/* nothing is noted: the scan alone tells the page set */
	end_interval(0);
	CHECK_STR(steps, "nRtcaeurssTnS>");
	CHECK_EQ(ended_at, line.end);
	*steps = 0;
	zap_space.note_dropped = 0;
	end_interval(1);				/* the last one: nothing is unmapped */
	CHECK_STR(steps, "nRtcaerssTnS>");
	begin(1, 0);					/* no rings: nothing is read */
	end_interval(0);
	CHECK_STR(steps, "NtcaeussTnS>");
}

/* Pages that faulted between the scan and the boundary are unmapped, too; not when events may be missing. */
static void what_the_scan_missed(void)
{
	begin(1, 0);
	mon.events.works = 1;
	noted = 1;
	scan_takes_ns = 2000;
	unmap_takes_ns = 300;
	pass(50000000);
	end_subinterval(0, 0);
	CHECK_STR(steps, "NRtcaurssTmMn");
	CHECK_EQ(gap, 0);
	CHECK_EQ(mon.zap_ns, 300 + 2300);
	CHECK_EQ(mon.closed_ns, 1050002300 + 2300);
	CHECK_EQ(mon.missed.n, 1);
	*steps = 0;
	noted = 0;
	end_subinterval(0, 0);
	CHECK_STR(steps, "NRtcaurssTn");
	*steps = 0;
	noted = 1;
	zap_space.events_lost = 1;
	end_subinterval(0, 0);
	CHECK_STR(steps, "NRtcaurssTn");
	/* found before: it is not the same again */
	mon.careful = 0;
	mon.window_ns = 0;
	mon.missed.n = 1;
	end_subinterval(0, 0);
	CHECK_EQ(mon.missed.n, 1);
}

/* Pages by which the memory file grew since the last interval; the first one has what was there before. */
static void the_first_fault_of_a_page_is_dearer(void)
{
	const int before = zap_space.memfd;
	char page[MT_PAGE] = "";

	zap_space.memfd = memfd_create("test", MFD_CLOEXEC);
	mon.events.now.faults = 0;
	for (int written = 0, grown; written < 3 + 7; written += grown) {
		grown = written ? 7 : 3;
		for (int i = 0; i < grown; i++)
			CHECK(pwrite(zap_space.memfd, page, MT_PAGE, (off_t)(written + i) * (off_t)MT_PAGE) == (ssize_t)MT_PAGE);
		process_cpu_ns += 1000000;
		pass(50000000);
		end_interval(0);
		CHECK_EQ(asked.cost, written ? 7 * 1600 : 0);
		CHECK_EQ(line.resident, (written + grown) * MT_PAGE);
	}
	/* fewer than before: nothing was new */
	CHECK(!ftruncate(zap_space.memfd, (off_t)MT_PAGE));
	end_interval(0);
	CHECK_EQ(asked.cost, 0);
	CHECK_EQ(line.resident, MT_PAGE);
	close(zap_space.memfd);
	zap_space.memfd = before;
}

/* What tracing costs: the monitor's CPU time, the faults, and half of the time in hooks. The rest is the program's. */
static void cost_and_work_are_told_to_the_governor(void)
{
	begin(1, 0);
	shared.fault_ns = 1000;
	mon.events.now.faults = 5000;
	mon.monitor_cpu_ns = 100;
	mon.process_cpu_ns = 1000;
	thread_cpu_ns = 100 + 3000000;
	process_cpu_ns = 1000 + 43000000;
	zap_space.hook_ns = 2000000;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(asked.cost, 3000000 + 8000000 + 1000000);
	CHECK_EQ(asked.program, 40000000 - 9000000);
	CHECK_EQ(asked.wall, 50000000);
	CHECK_EQ(asked.alone, 0);
	CHECK_EQ(line.monitor_cpu_ns, 3000000);
	CHECK_EQ(line.program_cpu_ns, 40000000);
	CHECK_EQ(line.stretch, MT_STRETCH_LONGER);
	CHECK_EQ(line.faults, 5000);
	CHECK_EQ(zap_space.hook_ns, 0);
	CHECK_EQ(zap_space.lock.word, 0);
	/* clocks of threads and processes are read one after the other */
	mon.events.now.faults = 0;
	thread_cpu_ns += 7;
	process_cpu_ns += 5;
	pass(50000000);
	end_interval(0);
	CHECK_EQ(asked.cost, 7);
	CHECK_EQ(asked.program, 0);
	CHECK_EQ(line.program_cpu_ns, 0);
	/* more faults than the program has time */
	mon.events.now.faults = 1000000;
	process_cpu_ns += 1000000;
	end_interval(0);
	CHECK_EQ(asked.cost, 1600000000);
	CHECK_EQ(asked.program, 0);
	CHECK_EQ(asked.n, 3);
	the_first_fault_of_a_page_is_dearer();
	/* hooks are none of the cost of a program that is counted */
	begin(0, 1);
	zap_space.hook_ns = 2000000;
	end_interval(0);
	CHECK_EQ(asked.cost, 0);
	CHECK_STR(steps, "S");
}

/* Who waits for the end of an interval sees that the monitor is at it. */
static void progress_grows_at_the_end_of_an_interval(void)
{
	uint64_t before;

	begin(1, 0);
	before = progress();
	end_interval(0);
	CHECK_EQ(progress() - before, 5);
	mon.out.file.accesses.bytes = 1000;
	CHECK_EQ(progress() - before, 1005);
}

/* At the end of a program that counts, and of no other. */
static void sites_at_the_end(void)
{
	shared.count = 0;
	tell_sites();
	CHECK_EQ(sites_told, 0);
	shared.count = 1;
	tell_sites();
	CHECK_EQ(sites_told, 1);
	shared.count = 0;
}

int main(void)
{
	sites_at_the_end();
	lost_pages_count_once();
	looks_add_up_in_an_interval();
	intervals_touch();
	without_events_the_boundary_is_before_the_scan();
	lost_events_make_careful_for_a_while();
	maps_are_read_when_it_is_cheap();
	what_ends_is_not_unmapped();
	marks_stand_in_one_line();
	counted_accesses_have_their_own_numbers();
	windows_are_intervals();
	counting_sets_the_next_look();
	several_threads_count_for_some_intervals();
	rings_are_read_before_they_are_full();
	message_has_all_that_fits();
	order_at_a_boundary();
	what_the_scan_missed();
	cost_and_work_are_told_to_the_governor();
	progress_grows_at_the_end_of_an_interval();
	begin(1, 0);
	foreign_descriptors_go(0);
	foreign_descriptors_go(MT_WITHOUT_CLOSE_RANGE);
	return mt_test_done();
}
