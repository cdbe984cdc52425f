// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The end of a (sub)interval, in this order:
 *
 *   lock (no hook changes the address space)
 *     refresh the set of traced ranges when it is cheap
 *     scan: which traced pages are mapped now
 *     z = now: the boundary
 *     zap: unmap them; contents stay in the memory file
 *   unlock
 *   read the faults up to z: they belong to this interval; later ones stay in the rings
 *   pages that were mapped without a fault event get a record without thread
 *   zap what faulted before z behind the scan's back: it would be found mapped at the next
 *   scan, and look touched in an interval in which nobody touched it
 *
 * What is touched between z and its own zap without a new fault is not seen again in the
 * next interval: that window is the zap time, reported per interval (ZapNs).
 *
 * Where faults in kernel mode, or all faults, have no events (zap_space.note_dropped), and
 * where the kernel maps pages around a read (zap_reads_in_groups()), and while events are lost or
 * may be (mon.careful), the boundary is before the scan and only scanned pages are zapped: a page that is touched during
 * the scan is found by this scan or the next one, and the window (ZapNs) has the scan in it. So the page set needs no event.
 */
#include "preload/monitor/monitor.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "preload/ground/context.h"
#include "preload/exact/counting.h"
#include "preload/faults/events.h"
#include "preload/fine/fine.h"
#include "preload/monitor/descriptors.h"
#include "preload/monitor/governor.h"
#include "preload/monitor/ledger.h"
#include "common/maps.h"
#include "preload/monitor/output.h"
#include "preload/monitor/price.h"
#include "preload/monitor/program.h"
#include "common/patience.h"
#include "preload/ground/process.h"
#include "common/quietwords.h"
#include "common/rawdir.h"
#include "common/rawsys.h"
#include "engines/valgrind/request.h"
#include "preload/regions/region.h"
#include "preload/memory/kept.h"
#include "preload/memory/rwp.h"
#include "preload/memory/scan.h"
#include "preload/memory/space.h"
#include "preload/memory/twin.h"
#include "preload/ground/thread.h"
#include "preload/ticks/ticks.h"
#include "preload/memory/unseen.h"
#include "preload/exact/windows.h"

#define MAX_RECORDS (1ul << 24)
#define GAP_PAGES 16		/* runs closer than this are zapped with one call */
#define STACK_BYTES (256ul << 10)
#define CAREFUL_BOUNDARIES 16	/* so many after a sign that events may be lost */
#define SEE_WRITES_BOUNDARIES 4
#define SUSPECTS 1024
#define ZOOM_LOOK_NS 10000000	/* so often the rings are read and the period is looked at while pages are looked at closely */

/*
 * A fault in a program costs more than in the loop that measures it, which has its data in the caches: 1.3 to 3 times as much,
 * half of ten programs more than 1.6 times (recordings with looks and without, by their difference in faults).
 */
#define FAULT_FACTOR 1.6
/* The first fault of a page of a shared file costs more than that of private memory: so many faults more, 3 microseconds as a whole. */
#define NEW_PAGE_FAULTS 1.0
#define HOOK_SHARE 0.5		/* of the time of a hook: the rest the program's own call would take */
#define SEVERAL_INTERVALS 4

#define KCMP_VM 1		/* of linux/kcmp.h */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define EXEC_LOOK_NS 1000000	/* so often it is looked whether an exec has come to its end */

#define REQUEST_FINISH 1
#define REQUEST_EXIT 2
#define REQUEST_OPEN 4
#define REQUEST_CLOSE 8
#define REQUEST_EVENT 16		/* times the event of the interval that ends: one word, so it is never of the interval before */

/* Shared with threads of the program; futex words. */
static struct {
	uint32_t ready;
	uint32_t go;
	uint32_t wake;
	uint32_t request;
	uint32_t done;		/* intervals finished on request */
	uint32_t ended;
	uint32_t events;
	uint32_t execs;		/* threads in execve(2), which kills the monitor in the middle of what it does */
	uint32_t adopted;	/* of a monitor that is a process of its own: its parent is who it stays */
	uint32_t call;		/* 1: a thread that holds zap_space.lock wants call_fn to be called */
	long (*call_fn)(void *arg, int maps_fd, int memfd);
	void *call_arg;
	long call_result;
	uint64_t progress;	/* grows while the monitor ends an interval */
	uint64_t fault_ns;
	uint64_t start_cpu_ns;
	uint64_t begin_ns;	/* the program goes on from here */
	char message[448];
	int zap, count;		/* how accesses are seen; neither: not at all */
	int main_tid;
	int apart;		/* the monitor is a process of its own */
	const struct mt_image *img;
} shared;

enum { READY = 1, NOT_READY, NOT_APART };	/* shared.ready */

/* A process of the recording before this one takes the orphans of its children. Inherited by fork. */
static int below_a_reaper;

/* All below belongs to the monitor. */
struct monitor {
	struct zap_events events;
	struct zap_scan scan;
	struct zap_output out;
	struct zap_governor governor;
	struct zap_late late;
	struct mt_maps maps;
	struct zap_regions dropped;	/* mapped until a hook dropped them */
	struct zap_regions missed, shared_missed;	/* mapped between the scan and the boundary */
	int maps_fd, mem_fd, task_fd, clear_refs_fd;
	int pid_fd;			/* of the program, in a process of our own */
	uint32_t interval;
	/* of the current interval */
	uint64_t start_ns, scan_ns, zap_ns, closed_ns;
	uint64_t lost_region;		/* pages */
	uint64_t unseen_shared, unseen_file;	/* bytes, at the last refresh of the maps */
	uint64_t maps_cost_ns, maps_time_ns;
	int careful;			/* boundaries at which events are not relied on */
	int see_writes_wait;		/* boundaries until new mappings are looked after between boundaries again */
	uint64_t window_ns;		/* the last scan and zap together */
	uint64_t resident;		/* bytes of the memory file at the last boundary of an interval */
	unsigned int looks;		/* subphases of the interval, the last one included */
	uint32_t several_until;		/* interval up to which several threads are taken to work */
	uint64_t monitor_cpu_ns, process_cpu_ns, waited_ns;
	struct cnt_interval counted;
	uint64_t look_ns;		/* until the next look at how much was counted */
	uint64_t (*suspect)[2];		/* room for those of the context library */
	struct fine fine;
	struct zap_ledger ledger;
};
static struct monitor mon;

/* ---- setting up */

static int open_proc(const char *path)
{
	return (int)mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

static void say(const char *text, int err)
{
	char tmp[32], *p = tmp;
	size_t n = strlen(shared.message), k;

	if (n && n + 2 < sizeof(shared.message)) {
		memcpy(shared.message + n, "; ", 3);
		n += 2;
	}
	*p = 0;
	if (err) {
		memcpy(p, ": errno ", 8);
		p = mt_put_u64(p + 8, (uint64_t)(err < 0 ? -err : err));
		*p = 0;
	}
	k = strlen(text);
	if (n + k + (size_t)(p - tmp) + 1 > sizeof(shared.message))
		return;
	memcpy(shared.message + n, text, k);
	memcpy(shared.message + n + k, tmp, (size_t)(p - tmp) + 1);
}

/* What is weaker without userfaultfd. */
static void say_granularity(void)
{
	char text[64] = "a read stands for a group of ", *p = text + strlen(text);

	if (zap_reads_in_groups()) {
		p = mt_put_u64(p, zap_space.faults.around);
		memcpy(p, " pages", 7);
		say(text, 0);
	}
	if (!zap_space.faults.writes_fault)
		say("a write after a read of the same subinterval is not seen", 0);
	if (zap_space.rwp)
		return;
	if (zap_reads_in_groups() || !zap_space.faults.writes_fault)
		say(zap_space.no_uffd, 0);
}

static int rings_tight(void)
{
	return zap_perf_is_tight(&mon.events.perf);
}

static void breathe_locked(void *arg), breathe(void *arg);

/* Without it the program is recorded all the same. */
static void zoom_open(void)
{
	const struct mt_config *c = shared.img->config;
	int err;

	if (!mon.events.works) {
		say("no zoom: it needs the events of page faults", 0);
		return;
	}
	mon.suspect = mt_rawmap(SUSPECTS * sizeof(*mon.suspect));
	err = mon.suspect ? zap_zoom_open(&mon.events.zoom, shared.img->dirfd, (double)c->zoom_share_ppm / 1e6) : -ENOMEM;
	if (err)
		say("no zoom: its files cannot be made", err);
	else
		mt_sys(SYS_prctl, PR_SET_TIMERSLACK, 1);	/* else each short sleep takes 50 microseconds more */
}

static int lock_to_take(void);
static void unlock_space(void), read_faults(uint64_t until);
static uint64_t process_cpu(void), fault_cost_ns(void);

#define FINE_SHARE 0.5		/* of the budget, what the fine clock may cost */

/* Without it the program is recorded all the same. */
static void fine_start(void)
{
	const struct mt_config *c = shared.img->config;
	int err;

	mon.fine = (struct fine){ .events = &mon.events, .scan = &mon.scan, .read = read_faults, .lock = lock_to_take, .unlock = unlock_space,
				  .process_cpu = process_cpu, .budget = c->max_overhead_ppm / 1e6 * FINE_SHARE };
	err = mon.events.works ? fine_watch(&mon.fine) : 0;
	if (!c->fine_ns)
		return;
	if (!mon.events.works || zap_space.note_dropped) {
		say("no fine clock: it needs the events of all page faults", 0);
		return;
	}
	err = err ? err : fine_open(&mon.fine, shared.img->dirfd, c->fine_ns, c->fine_pages, mt_now_ns());
	if (err)
		say("no fine clock: its files cannot be made", err);
}

static int set_up(void)
{
	const struct mt_config *c = shared.img->config;
	struct zap_events *e = &mon.events;
	const char *what;
	int err, pagemap_fd, why;

	mon.maps_fd = mt_maps_open();
	pagemap_fd = open_proc("/proc/thread-self/pagemap");
	mon.mem_fd = open_proc("/proc/thread-self/mem");
	mon.task_fd = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	mon.clear_refs_fd = zap_space.no_uffd || zap_space.rwp ? (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/clear_refs",
							    O_WRONLY | O_CLOEXEC, 0) : -1;
	zap_governor_init(&mon.governor, c->interval_ns, shared.zap ? c->first_interval_ns : c->interval_ns,
			  shared.zap ? c->subphases : 1, c->max_overhead_ppm);
	err = c->library == MT_LIBRARY_LEAVES_IT ? 0 : zap_output_open(&mon.out, shared.img->dirfd, shared.zap || shared.count);
	if (!err && shared.count) {
		mon.start_ns = mt_now_ns();
		err = cnt_open(shared.img);
	}
	tk_open(shared.img, shared.count ? 0 : shared.main_tid, mon.mem_fd);
	if (err || !shared.zap)
		return err;
	if (mon.maps_fd < 0 || pagemap_fd < 0) {
		say("/proc is not readable", pagemap_fd);
		return -EACCES;
	}
	if (zap_scan_init(&mon.scan, zap_space.memfd, pagemap_fd, c->physical) ||
	    zap_decode_init(&e->decode, mon.mem_fd, zap_space.memfd))
		return -ENOMEM;
	mon.scan.rwp = zap_space.rwp;
	mon.scan.files = &zap_space.files;
	e->decode.pagemap_fd = zap_space.rwp ? pagemap_fd : 0;
	e->twice = zap_space.rwp && zap_space.faults.writes_fault;
	mon.scan.between = breathe_locked;
	mon.out.between = breathe;
	if (c->without & MT_WITHOUT_PAGEMAP_SCAN)
		mon.scan.has_ioctl = 0;
	if (c->without & MT_WITHOUT_DONTNEED_LOCKED)
		mon.scan.dontneed = MADV_DONTNEED;
	e->pid = shared.img->pid;
	e->traced = &zap_space.regions;
	e->was_traced = zap_was_traced;
	mon.start_ns = mt_now_ns();	/* before the first fault that is counted */
	/* most children of fork live shortly, and making the rings is most of their start */
	err = zap_events_open(e, shared.main_tid, shared.img->how[0] == 'f' ? c->ring_pages / 4 : c->ring_pages,
			      MAX_RECORDS, zap_space.no_uffd ? zap_space.faults.around : 1, &what, &why);
	zap_space.note_dropped = !e->works || !e->perf.with_kernel || zap_reads_in_groups();
	zap_space.events_lost = 0;
	zap_space.rings_tight = e->works ? rings_tight : NULL;
	if (!e->works) {
		say("page set and times only, threads and directions are not known", 0);
		say(what, why);
	} else {
		if (!e->perf.with_kernel)
			say("faults in system calls are found by the page-table scan only (perf_event_paranoid > 1)", 0);
		if (e->perf.data_bytes / ZAP_RING_PAGE < c->ring_pages / 8)
			say("small perf rings (RLIMIT_MEMLOCK, perf_event_mlock_kb)", 0);
	}
	if (zap_space.no_uffd || zap_space.rwp)
		say_granularity();
	if (err)
		return err;
	if (c->zoom)
		zoom_open();
	fine_start();
	zap_ledger_open(&mon.ledger, shared.img->dirfd, shared.img->pid);
	/* the monitor must win against the program's threads; refused without privileges */
	mt_sys(SYS_setpriority, PRIO_PROCESS, 0, -15);
	return 0;
}

/* ---- for threads of the program that hold the lock */

#define CALL_POLL_NS 5000000

static void serve(void)
{
	if (!__atomic_load_n(&shared.call, __ATOMIC_ACQUIRE))
		return;
	shared.call_result = shared.call_fn(shared.call_arg, mon.maps_fd, zap_space.memfd);
	__atomic_store_n(&shared.call, 0, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.call);
}

/* Has the process ended? Asked by a monitor that outlives it. */
static int program_ended(void)
{
	return shared.apart && mt_has_ended(mon.pid_fd, shared.img->pid);
}

/* mt_lock(&zap_space.lock) of the monitor: who holds it may want a call of us, or be no more. */
static void lock_space(void)
{
	uint32_t c = 0, *word = &zap_space.lock.word;

	if (!__atomic_compare_exchange_n(word, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) {
			const struct timespec ts = { 0, CALL_POLL_NS };

			serve();
			if (mt_futex_wait(word, 2, &ts) == -ETIMEDOUT && program_ended())
				break;
		}
	}
	__atomic_store_n(&zap_space.monitor_locks, 1, __ATOMIC_RELEASE);
}

static void unlock_space(void)
{
	__atomic_store_n(&zap_space.monitor_locks, 0, __ATOMIC_RELEASE);
	mt_unlock(&zap_space.lock);
}

/* For the fine clock: takes the lock where pages may be taken away, and says so. Before an exec its interval ends, and nothing more is. */
static int lock_to_take(void)
{
	lock_space();
	if (zap_space.active && !__atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE))
		return 1;
	unlock_space();
	return 0;
}

/* ---- the end of a subinterval */

/* Hooks change the set of ranges, so faults are read under the lock, in short pieces of work. */
static void read_faults(uint64_t until)
{
	if (!mon.events.works) {
		tk_read();
		return;
	}
	lock_space();
	tk_read();
	zap_events_read(&mon.events, until);
	zap_space.events_lost |= mon.events.perf.full;
	unlock_space();
}

/* Who waits for the end of the interval sees that we are at it. */
static void go_on(void)
{
	__atomic_add_fetch(&shared.progress, 1, __ATOMIC_RELAXED);
}

/*
 * Within long work under the lock, and without it: the rings are read before they are full, so that
 * nothing is lost because the monitor is busy.
 */
#define FILLED_PARTS 4

static void breathe_locked(void *arg)
{
	(void)arg;
	go_on();
	if (!mon.events.works || !zap_perf_is_filled(&mon.events.perf, FILLED_PARTS))
		return;
	zap_events_read(&mon.events, ~0ull);
	zap_space.events_lost |= mon.events.perf.full;
}

static void breathe(void *arg)
{
	(void)arg;
	go_on();
	if (mon.events.works && zap_perf_is_filled(&mon.events.perf, FILLED_PARTS))
		read_faults(~0ull);
}

static void add_scanned(void)
{
	zap_events_scanned(&mon.events, mon.scan.run, mon.scan.nruns);
	zap_events_scanned(&mon.events, mon.dropped.r, mon.dropped.n);
	zap_regions_clear(&mon.dropped);
}

/* Under the lock: what hooks dropped since the last boundary is the monitor's now. */
static void take_dropped(void)
{
	struct zap_regions taken = zap_space.dropped;

	zap_space.dropped = mon.dropped;
	mon.dropped = taken;
}

/* What faulted behind the scan's back is zapped, too; only what a scan finds is safe to unmap. */
static void zap_missed(void)
{
	uint64_t t0, t1;

	lock_space();
	zap_regions_clear(&mon.missed);
	zap_regions_clear(&mon.shared_missed);
	zap_scan_missed(&mon.scan, &zap_space.regions, &zap_space.shared, mon.events.noted, mon.events.nnoted, &mon.missed,
			&mon.shared_missed);
	if (mon.missed.n || mon.shared_missed.n) {
		t0 = mt_now_ns();
		zap_scan(&mon.scan, &mon.missed, &mon.shared_missed);
		zap_scan_unmap(&mon.scan, &mon.missed, &mon.shared_missed, 0);
		t1 = mt_now_ns();
		mon.zap_ns += t1 - t0;
		mon.closed_ns = t1;
	}
	unlock_space();
}

/*
 * Under the lock, at a boundary: must the page set do without events? Yes while they are lost
 * or soon may be, or could be in the time that scan and zap took last.
 */
static int is_careful(void)
{
	if (zap_space.note_dropped)
		return 1;
	if (zap_space.events_lost || rings_tight() || zap_perf_half_ns(&mon.events.perf) < 2 * mon.window_ns)
		mon.careful = CAREFUL_BOUNDARIES;
	else if (mon.careful)
		mon.careful--;
	return mon.careful != 0;
}

/* Ends a subinterval, the last one of an interval if @whole; returns the boundary. */
static uint64_t end_subinterval(int whole, int last_ever)
{
	uint64_t t0, z, t1, scan_begin;
	int careful;

	fine_look_begin(&mon.fine, mt_now_ns(), last_ever);
	zap_events_note(&mon.events, !zap_space.note_dropped && !last_ever);
	read_faults(~0ull);
	lock_space();
	t0 = mt_now_ns();
	if (!zap_space.active) {
		zap_perf_count_lost(&mon.events.perf, 1);
		fine_look_end(&mon.fine, t0, 0);
		take_dropped();
		unlock_space();
		mon.scan.nruns = 0;
		add_scanned();		/* what was touched until tracing stopped */
		zap_events_note(&mon.events, 0);
		return t0;
	}
	/* hooks keep the set up to date; mappings made without libc are rare: at most 1 % of the time */
	if (t0 - mon.maps_time_ns >= mon.maps_cost_ns * 100) {
		if (!zap_refresh(&mon.maps, mon.maps_fd))
			zap_unseen_look(&mon.maps);
		mon.lost_region += zap_late_update(&mon.late, zap_space.late_bytes) / MT_PAGE;
		mon.unseen_shared = zap_space.unseen_shared;
		mon.unseen_file = zap_scan_copies(&mon.scan, &zap_space.file_copies);
		mon.maps_time_ns = mt_now_ns();
		mon.maps_cost_ns = mon.maps_time_ns - t0;
	}
	if (zap_space.rescue_uffd) {
		zap_register_all();
		zap_space.rescue_uffd = 0;
	}
	careful = is_careful();
	z = scan_begin = mt_now_ns();
	if (careful)
		zap_perf_count_lost(&mon.events.perf, last_ever);
	zap_events_turn_at(&mon.events, z);
	zap_scan(&mon.scan, &zap_space.regions, &zap_space.shared);
	zap_scan_ask(&mon.scan, mon.interval);
	if (!careful)
		z = mt_now_ns();
	if (whole)
		zap_events_end(&mon.events, z);
	if (!careful)
		zap_perf_count_lost(&mon.events.perf, last_ever);
	zap_turn_gone();
	zap_twin_age();
	take_dropped();
	zap_space.events_lost = 0;
	zap_regions_copy(&mon.events.shared, &zap_space.shared);
	/* what was touched since the scan must stay mapped when no event tells about it */
	if (!last_ever)
		zap_scan_unmap(&mon.scan, &zap_space.regions, &zap_space.shared, careful ? 0 : GAP_PAGES * MT_PAGE);
	t1 = mt_now_ns();
	if (mon.see_writes_wait)
		mon.see_writes_wait--;
	/* what was hidden is writable after a read, too, unless it is asked for each time */
	if (zap_space.rwp && !last_ever)
		zap_space.writes_unseen = 1;
	if (mon.clear_refs_fd >= 0)
		zap_see_writes(mon.clear_refs_fd);
	fine_look_end(&mon.fine, t1, 1);
	unlock_space();
	mon.scan_ns += z - t0;
	mon.zap_ns += t1 - z;
	mon.closed_ns = t1;
	mon.window_ns = t1 - scan_begin;
	read_faults(z);
	add_scanned();
	zap_events_turn(&mon.events);
	if (mon.events.note && mon.events.nnoted && !careful)
		zap_missed();
	zap_events_note(&mon.events, 0);
	mon.events.looks = mon.looks;
	return z;
}

/* ---- the end of an interval */

static void write_interval(uint64_t end, uint64_t target, uint64_t monitor_cpu, uint64_t program_cpu, enum mt_stretch stretch)
{
	struct mt_interval_row row = {
		.interval = mon.interval, .start = mon.start_ns, .end = end, .closed = mon.closed_ns, .target = target,
		.subphases = mon.looks,
		.faults = mon.events.now.faults, .records = mon.events.now.records.n - mon.events.moot, .unattributed = mon.events.unattributed,
		.lost_ring = zap_perf_take_lost(&mon.events.perf), .lost_table = mon.events.now.records.lost, .lost_region = mon.lost_region,
		.unseen_shared = mon.unseen_shared, .unseen_file = mon.unseen_file,
		.scan_ns = mon.scan_ns, .zap_ns = mon.zap_ns,
		.monitor_cpu_ns = monitor_cpu, .program_cpu_ns = program_cpu, .stretch = stretch,
		.marks = __atomic_exchange_n(&shared.events, 0, __ATOMIC_RELAXED),
		.resident = mon.resident,
	};

	if (shared.count) {
		row.records = mon.counted.rows;
		row.accesses = mon.counted.accesses;
		row.lost_table = mon.counted.lost;
	}
	zap_output_interval(&mon.out, &row);
}

/*
 * Does one thread work alone, so that more looks would show nothing new? Several do for some
 * intervals after they were seen. A thread that works has faults: those of its own stack.
 */
static int is_alone(void)
{
	if (!mon.events.works)
		return 0;
	if (mon.events.now.several)
		mon.several_until = mon.interval + SEVERAL_INTERVALS;
	return mon.interval >= mon.several_until;
}

/* And what hooks kept for blocks that have not come. */
static uint64_t take_hook_ns(void)
{
	uint64_t ns;

	lock_space();
	ns = zap_space.hook_ns;
	zap_space.hook_ns = 0;
	zap_drop_kept(zap_space.memfd);
	unlock_space();
	return ns;
}

static uint64_t fault_cost_ns(void)
{
	return (uint64_t)((double)shared.fault_ns * FAULT_FACTOR);
}

/* Pages by which the memory file grew in the interval; those that went meanwhile are not told apart. */
static uint64_t take_new_pages(void)
{
	const uint64_t before = mon.resident;
	struct stat st;

	if (shared.zap && zap_space.rwp) {	/* private memory: its first fault is native, too */
		mon.resident = zap_rwp_resident();
		return 0;
	}
	if (!shared.zap || mt_sys(SYS_fstat, zap_space.memfd, &st))
		return 0;
	mon.resident = (uint64_t)st.st_blocks * 512;
	return before && mon.resident > before ? (mon.resident - before) / MT_PAGE : 0;
}

/* CPU time of the program. Without the monitor's, if that is a process of its own. */
static uint64_t process_cpu(void)
{
	const uint64_t ns = mt_clock_ns(shared.apart ? (int)(~(unsigned int)shared.img->pid << 3 | 2) /* CPUCLOCK_SCHED */ :
					CLOCK_PROCESS_CPUTIME_ID);

	return ns > mon.process_cpu_ns ? ns : mon.process_cpu_ns;	/* 0 when nothing is left of the process */
}

/* The looks of an interval have been made: what they cost the run, and so how many the next one has. */
static enum mt_stretch govern(uint64_t monitor_cpu, uint64_t program_cpu, uint64_t wall)
{
	const uint64_t hooks = shared.zap ? (uint64_t)((double)take_hook_ns() * HOOK_SHARE) : 0;
	const uint64_t fault_ns = fault_cost_ns(), new_pages = take_new_pages();
	struct zap_interval_cost c = { .fault_ns = fault_ns, .wall_ns = wall };
	uint64_t beside, beside_faults;
	struct fine_cost fine;
	struct zap_price price;

	/* a close look has a budget of its own; the fine clock costs the same whatever complete looks do */
	fine_interval(&mon.fine, &fine);
	zap_governor_charge(&mon.governor, fine.cpu_ns + fine.faults * fault_ns);
	beside = mon.events.zoom.cpu_ns + fine.cpu_ns;
	beside_faults = (mon.events.zoom.faults + fine.faults) * fault_ns;
	c.faults = mon.events.now.faults + (uint64_t)((double)new_pages * NEW_PAGE_FAULTS);
	c.other_ns = (monitor_cpu > beside ? monitor_cpu - beside : 0) + hooks;
	c.program_ns = program_cpu > beside_faults + hooks ? program_cpu - beside_faults - hooks : 0;
	c.thread_faults = fine.thread_faults;
	c.thread_ns = fine.thread_ns;
	c.busiest_ns = fine.busiest_ns;
	price = zap_price_of(&c);
	mon.governor.waited_ns = shared.zap ? mt_waited_since(shared.img->pid, &mon.waited_ns) : 0;
	zap_ledger_interval(&mon.ledger, &(struct zap_costs){ mon.interval, mon.events.now.faults + mon.events.zoom.faults + fine.faults,
		new_pages, (uint64_t)((double)hooks / HOOK_SHARE), monitor_cpu, mon.interval ? 0 : shared.start_cpu_ns, program_cpu, wall,
		fine.busiest_ns, shared.fault_ns, mon.events.works ? (unsigned int)mon.events.perf.nrings : 0 });
	mon.looks++;
	return zap_governor_update(&mon.governor, price.cost_ns, price.run_ns, wall, is_alone());
}

static void end_interval(int last_ever)
{
	uint64_t end, cpu_mon, cpu_all, monitor_cpu, program_cpu, target = mon.governor.target_ns;
	enum mt_stretch stretch;

	go_on();
	end = shared.zap ? end_subinterval(1, last_ever) : mt_now_ns();
	if (end <= mon.start_ns)
		end = mon.start_ns + 1;
	go_on();
	zap_events_settle(&mon.events);
	go_on();
	if (shared.zap)
		zap_output_records(&mon.out, &mon.events.now.records, &mon.scan, mon.start_ns, end);
	/* what began while gates were open and came late is of the next window */
	if (shared.count && !windows_saw()) {
		mon.counted = (struct cnt_interval){ 0 };
	} else if (shared.count) {
		cnt_collect(&mon.out.file, mon.start_ns, end, shared.img->pid, &mon.counted);
		mon.closed_ns = mt_now_ns();
	}
	go_on();
	zap_unseen_tell();
	ctx_flush();
	tk_flush();
	mt_region_tell_lost();
	go_on();
	cpu_mon = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	cpu_all = process_cpu();
	monitor_cpu = cpu_mon - mon.monitor_cpu_ns;
	program_cpu = cpu_all - mon.process_cpu_ns;
	if (!shared.apart)
		program_cpu = program_cpu > monitor_cpu ? program_cpu - monitor_cpu : 0;
	stretch = govern(monitor_cpu, program_cpu, end - mon.start_ns);
	zap_zoom_interval(&mon.events.zoom, end, fault_cost_ns());
	write_interval(end, target, monitor_cpu, program_cpu, stretch);
	mon.monitor_cpu_ns = cpu_mon;
	mon.process_cpu_ns = cpu_all;
	mon.start_ns = end;
	mon.lost_region = mon.scan_ns = mon.zap_ns = 0;
	mon.looks = mon.events.looks = 0;
	if (shared.zap)
		zap_events_next(&mon.events);
	mon.interval++;
}

/* The program ends, or goes on as another one. */
static void tell_sites(void)
{
	if (shared.count)
		cnt_tell_sites();
	go_on();
}

/* ---- the thread */

/*
 * All threads of the program ended by raw exit(2), which libc does not see: only the zombie
 * of the first thread is left beside us, and nobody would end the process.
 */
static void end_abandoned_process(void)
{
	int code;

	if (mon.task_fd < 0)	/* there was no descriptor for it */
		mon.task_fd = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	code = mt_abandoned(mon.task_fd);
	if (code < 0)
		return;
	mt_monitor_event(MT_EVENT_EXIT);
	end_interval(1);
	tell_sites();
	ctx_fini();
	mt_sys(SYS_exit_group, code >> 8 & 255);
}

/* The process goes on as another program, and its memory is ours alone. */
static int went_on(void)
{
	const int pid = shared.img->pid;
	const long other = mt_sys(SYS_kcmp, pid, mt_getpid(), KCMP_VM, 0, 0);

	/* it may not be compared any more: a program that gains privileges */
	if (other < 0)
		return other != -ESRCH && __atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE);
	return other && mt_has_memory(pid);
}

/*
 * Is there nobody any more who uses this memory? Then what is left to be told was told, if the program did not do so at its end: it was
 * killed, or left by a system call of its own.
 */
static int is_left_behind(void)
{
	const int another = !program_ended() && went_on();
	int status;

	if (!another && !program_ended())
		return 0;
	if (another && __atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE))
		return 1;
	/* locks may be those of threads that were killed */
	zap_space.lock.word = 0;
	mt_rawmem_after_fork();
	status = another ? -1 : mt_exit_status(mon.pid_fd, shared.img->pid);
	mt_monitor_event(another ? MT_EVENT_EXEC : status >= 0 && !(status & 127) ? MT_EVENT_EXIT : MT_EVENT_KILLED);
	end_interval(1);
	tell_sites();
	if (!another && status >= 0 && !(status & 127))
		ctx_fini();
	return 1;
}

/* Were as many accesses counted as end an interval? Sets when to look again: seldom, since a look costs like an end. */
static int enough_counted(void)
{
	const uint64_t enough = shared.img->config->interval_accesses;
	uint64_t have, past;

	if (!shared.count || !enough)
		return 0;
	have = cnt_pending();
	if (have >= enough)
		return 1;
	past = mt_now_ns() - mon.start_ns;
	mon.look_ns = have ? (uint64_t)((unsigned __int128)past * (enough - have) / have) : 10000000;
	if (mon.look_ns < 500000)
		mon.look_ns = 500000;
	return 0;
}

/*
 * Without userfaultfd: writes after reads in new mappings are seen from here on, not only from the next
 * boundary. All that is mapped faults once more for it, so only where mappings are rarely made.
 */
static void see_writes_early(void)
{
	if (mon.clear_refs_fd < 0 || mon.see_writes_wait || !zap_space.writes_unseen)
		return;
	lock_space();
	zap_see_writes(mon.clear_refs_fd);
	unlock_space();
	mon.see_writes_wait = SEE_WRITES_BOUNDARIES;
}

/* How long the rings last when every CPU faults as fast as it can, halved. */
static uint64_t drain_period_ns(void)
{
	const uint64_t ns = mon.events.works ? zap_perf_half_ns(&mon.events.perf) : 0;

	if (!mon.events.works)
		return 100000000;
	return ns < 1000000 ? 1000000 : ns > 20000000 ? 20000000 : ns;
}

static void sleep_ns(uint64_t ns)
{
	uint32_t w = __atomic_load_n(&shared.wake, __ATOMIC_ACQUIRE);
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	if (!__atomic_load_n(&shared.request, __ATOMIC_ACQUIRE) && !__atomic_load_n(&shared.call, __ATOMIC_ACQUIRE))
		mt_futex_wait(&shared.wake, w, &ts);
}

/* ---- a close look at a few structures */

/* The suspects as they are now, after the faults of those that were. */
static void zoom_aim(void)
{
	struct zap_zoom *z = &mon.events.zoom;
	const uint64_t version = ctx_suspects_version();
	size_t n;

	if (version == z->version)
		return;
	read_faults(~0ull);
	n = ctx_suspects(mon.suspect, SUSPECTS, &z->left_out);
	zap_zoom_aim(z, (const uint64_t (*)[2])mon.suspect, n);
	z->version = version;
}

/* Unmaps what of the suspects is mapped. How many pages that were. */
static uint64_t zoom_turn(void)
{
	struct zap_zoom *z = &mon.events.zoom;
	uint64_t pages = 0;

	lock_space();
	/* before a program goes on as another one its interval ends, and nothing more is unmapped */
	if (zap_space.active && !__atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE) &&
	    zap_zoom_turn(z, &zap_space.regions, &zap_space.shared)) {
		/* where events may be missing: the next boundary must know that they were mapped */
		for (size_t i = 0; i < z->ours.n; i++)
			zap_note_present(z->ours.r[i].start, z->ours.r[i].end - z->ours.r[i].start);
		for (size_t i = 0; i < z->shared.n; i++)
			zap_note_present(z->shared.r[i].start, z->shared.r[i].end - z->shared.r[i].start);
		zap_scan(&mon.scan, &z->ours, &z->shared);
		zap_scan_unmap(&mon.scan, &z->ours, &z->shared, 0);
		for (size_t i = 0; i < mon.scan.nruns; i++)
			pages += (mon.scan.run[i].end - mon.scan.run[i].start) / MT_PAGE;
		mon.scan.nruns = 0;
	}
	unlock_space();
	return pages;
}

/* Looks closely for @ns, at most, or sleeps when there is nothing to look at. */
static void zoom_for(uint64_t ns)
{
	struct zap_zoom *z = &mon.events.zoom;
	const uint64_t begin = mt_now_ns(), cpu = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID), faults = z->faults;
	uint64_t now = begin, idle = 1, took;

	zoom_aim();
	if (!z->pages.n) {
		/* it may come at any time, but an aim costs next to nothing */
		sleep_ns(ns < ZOOM_LOOK_NS ? ns : ZOOM_LOOK_NS);
		return;
	}
	while (now - begin < ns && now - begin < ZOOM_LOOK_NS && !__atomic_load_n(&shared.request, __ATOMIC_ACQUIRE)) {
		uint64_t left = ns - (now - begin), period = z->pace.period_ns * idle;

		sleep_ns(period < left ? period : left);
		/* nobody comes: look less often, but soon again when somebody does */
		idle = zoom_turn() ? 1 : idle < 16 ? idle * 2 : 16;
		now = mt_now_ns();
		breathe(NULL);
		if (ctx_suspects_version() != z->version)
			zoom_aim();
	}
	read_faults(~0ull);
	took = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	now = mt_now_ns();
	z->cpu_ns += took;
	z->busy_ns += now - begin;
	/* a stretch that an interval ends early tells little */
	if (now - begin >= ZOOM_LOOK_NS / 4)
		zap_pace_update(&z->pace, now - begin, took + (z->faults - faults) * fault_cost_ns(), z->all_samples + z->written);
}

static uint64_t look_ns(void)
{
	return mon.governor.target_ns / (uint64_t)mon.governor.subphases;
}

/* One look was meant to be enough for this interval, but several threads work. */
static int is_short_of_looks(void)
{
	return shared.zap && mon.governor.subphases == 1 && mon.governor.most > 1 && mon.events.now.several;
}

/* A window begins or ends, and with it an interval: what is counted is of one that was open as a whole. */
static void turn(bool open)
{
	if (!open)
		windows_turn(false);
	end_interval(0);
	if (open)
		windows_turn(true);
}

/* Until something is due, in @left ns at most. */
static void wait_for_due(uint64_t now, uint64_t left, uint64_t drain_ns)
{
	const uint64_t tick = fine_turn(&mon.fine, now), longest = left < drain_ns ? left : drain_ns;
	uint64_t ns = longest;

	if (tick - now < ns)
		ns = tick > now ? tick - now : 1;
	if (mon.events.zoom.on)
		zoom_for(ns);
	else
		sleep_ns(ns);
	if (left > drain_ns || ns < longest) {
		read_faults(~0ull);
		see_writes_early();
	}
}

static void run(void)
{
	const uint64_t drain_ns = drain_period_ns();
	uint64_t next;

	if (!mon.start_ns)
		mon.start_ns = mt_now_ns();
	mon.monitor_cpu_ns = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mon.process_cpu_ns = process_cpu();
	next = mt_now_ns() + look_ns();
	for (;;) {
		uint64_t now = mt_now_ns();
		uint32_t req;
		bool open;

		if (shared.apart && is_left_behind())
			return;
		serve();
		req = __atomic_exchange_n(&shared.request, 0, __ATOMIC_ACQ_REL);
		if (req) {
			mt_monitor_event(req / REQUEST_EVENT);
			if (req & REQUEST_CLOSE)
				windows_turn(false);
			end_interval(req & REQUEST_EXIT);
			if (req & (REQUEST_EXIT | REQUEST_FINISH))
				tell_sites();
			if (req & REQUEST_OPEN)
				windows_turn(true);
			if (req & REQUEST_EXIT)
				ctx_fini();
			__atomic_add_fetch(&shared.done, 1, __ATOMIC_RELEASE);
			mt_futex_wake(&shared.done);
			if (req & REQUEST_EXIT)
				return;
			next = mt_now_ns() + look_ns();
			continue;
		}
		if (shared.count && !__atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE) && windows_due(now, &open)) {
			turn(open);
			next = mt_now_ns() + look_ns();
			continue;
		}
		if (now < next && enough_counted())
			next = now;
		if (now < next) {
			const uint64_t turn_ns = shared.count ? windows_next() : ~0ull;
			uint64_t left = (turn_ns < next ? turn_ns > now ? turn_ns : now + 1000000 : next) - now;

			if (mon.look_ns && mon.look_ns < left)
				left = mon.look_ns;
			if (shared.apart && left > EXEC_LOOK_NS && __atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE))
				left = EXEC_LOOK_NS;
			wait_for_due(now, left, drain_ns);
			/* the second thread begins: not all of this interval with one look */
			if (!is_short_of_looks())
				continue;
			next = mt_now_ns();
		}
		/* it would get as far as the accesses, not to the interval's line */
		if (__atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE)) {
			next = mt_now_ns() + look_ns();
			continue;
		}
		if (mon.looks + 1 < (unsigned int)mon.governor.subphases) {
			mon.looks++;
			end_subinterval(0, 0);
		} else {
			uint64_t cpu = mon.process_cpu_ns;

			end_interval(0);
			if (!shared.apart && mon.process_cpu_ns - cpu < 5000000)
				end_abandoned_process();
		}
		next += look_ns();
		now = mt_now_ns();
		if (next < now + 1000000)	/* late: a short gap, not a burst of intervals */
			next = now + 1000000;
	}
}

#define START_LOOK_NS 100000000

/* Until the program sets the word. Not 0: it has ended before. */
static int wait_for(uint32_t *word)
{
	const struct timespec ts = { 0, START_LOOK_NS };

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		if (mt_futex_wait(word, 0, shared.apart ? &ts : NULL) == -ETIMEDOUT && program_ended())
			return 1;
	return 0;
}

/*
 * A process of its own: not where a signal to the program's group comes, without a core, with as many descriptors as it may have. 0, or
 * negative errno: it cannot be one here.
 */
static int live_apart(void)
{
	const struct { uint64_t cur, max; } no_core = { 0, 0 };
	const int pid = shared.img->pid;
	char path[48] = "/proc/";
	struct { uint64_t cur, max; } files;
	long fd, n;

	mt_sys(SYS_prctl, PR_SET_NAME, MT_OUR_COMM);
	if (!mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &files)) {
		files.cur = files.max;
		mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, 0);
	}
	mt_close_foreign(shared.img->config->without & MT_WITHOUT_CLOSE_RANGE);
	mon.pid_fd = (int)mt_sys(SYS_pidfd_open, pid, 0);
	fd = wait_for(&shared.adopted) ? -ESRCH : mon.pid_fd;
	if (mt_sys(SYS_set_tid_address, &zap_space.monitor_alive) < 0) {
		__atomic_store_n(&zap_space.monitor_alive, 0, __ATOMIC_RELEASE);	/* nobody else will */
		return -ENOSYS;
	}
	if (fd < 0)
		return (int)fd;
	if (mt_sys(SYS_getppid) != shared.img->config->reaper || mt_sys(SYS_kcmp, pid, mt_getpid(), KCMP_VM, 0, 0) || !mt_has_memory(pid))
		return -ECHILD;
	/* /proc may be that of another process namespace */
	n = mt_sys_readlink("/proc/self", path + 6, sizeof(path) - 7);
	if (n <= 0 || mt_put_u64(path + 24, (uint64_t)mt_getpid()) - (path + 24) != n || memcmp(path + 6, path + 24, (size_t)n))
		return -ECHILD;
	/* the times of its threads (context/thread.c) */
	memcpy(mt_put_u64(path + 6, (uint64_t)pid), "/schedstat", 11);
	fd = open_proc(path);
	if (fd < 0)
		return (int)fd;
	mt_sys(SYS_close, fd);
	mt_sys(SYS_setsid);
	mt_sys(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, 0);
	return 0;
}

static int monitor_main(void *arg)
{
	int err = 0;

	(void)arg;
	zap_space.monitor_tid = mt_gettid();
	if (shared.apart && live_apart()) {
		__atomic_store_n(&shared.ready, NOT_APART, __ATOMIC_RELEASE);
		mt_futex_wake(&shared.ready);
		return 0;
	}
	if (cnt_has_tool()) {
		cnt_ask(MT_TOOL_UNCOUNTED, 0, 0);
		err = (int)mt_sys(SYS_unshare, CLONE_FILES | CLONE_FS);
	}
	if (!err && !shared.apart)
		mt_close_foreign(shared.img->config->without & MT_WITHOUT_CLOSE_RANGE);
	if (!err)
		err = set_up();
	__atomic_store_n(&shared.ready, err ? NOT_READY : READY, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.ready);
	if (err)
		return 0;
	if (wait_for(&shared.go))
		return 0;
	mon.events.begin_ns = shared.begin_ns;
	mon.fine.fault_ns = fault_cost_ns();
	zap_governor_charge(&mon.governor, shared.start_cpu_ns);
	run();
	__atomic_store_n(&shared.ended, 1, __ATOMIC_RELEASE);
	if (shared.apart)
		return 0;
	/* the process ends now; until then the descriptors keep perf and uffd alive */
	for (;;)
		mt_futex_wait(&shared.ended, 1, NULL);
}

static int takes_orphans(void)
{
	int yes = 0;

	return mt_getpid() == 1 || mt_sys(SYS_prctl, PR_GET_CHILD_SUBREAPER, &yes) || yes;
}

void mt_monitor_before_fork(void)
{
	if (!below_a_reaper)
		below_a_reaper = takes_orphans();
}

#define ORPHAN_NS 10000000000ull	/* who waits for orphans has done it by then; as in cli/backend/orphan.c */

/* Can the monitor of this process be a process of its own, which nobody sees? */
static int can_be_apart(const struct mt_config *c)
{
	struct stat st;

	return c->reaper > 0 && (mt_traces(c->library) || c->library == MT_LIBRARY_NO_ACCESSES) && !below_a_reaper && !takes_orphans() &&
	       !mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) && st.st_ino == c->reaper_ns_inode &&
	       (mt_now_ns() - c->orphan_ns < ORPHAN_NS || mt_sys(SYS_kill, c->orphan, 0) == -ESRCH);
}

/* Is a monitor that is a process of its own no more? */
static int is_gone(void)
{
	return shared.apart && !__atomic_load_n(&zap_space.monitor_alive, __ATOMIC_ACQUIRE);
}

/* 0, or negative errno; -ECHILD: it cannot be @apart. */
static int start(const struct mt_image *img, enum mt_watch watch, int main_tid, void *tls, int apart)
{
	const struct timespec ts = { 1, 0 };
	int tid;

	memset(&shared, 0, sizeof(shared));
	memset(&mon, 0, sizeof(mon));
	mon.pid_fd = -1;
	zap_unseen_begin();
	shared.img = img;
	shared.zap = watch == MT_WATCH_ZAP;
	shared.count = watch == MT_WATCH_COUNT;
	shared.main_tid = main_tid;
	shared.apart = apart;
	zap_space.our_tasks = !apart;
	zap_space.monitor_alive = 1;
	zap_space.monitor_locks = 0;
	tid = apart ? mt_process_start(monitor_main, NULL, STACK_BYTES, tls) :
	      cnt_has_tool() ? mt_thread_start_sharing(monitor_main, NULL, STACK_BYTES, tls) :
	      mt_thread_start(monitor_main, NULL, STACK_BYTES, tls);
	if (tid < 0)
		return apart ? -ECHILD : tid;
	if (apart) {
		__atomic_store_n(&shared.adopted, 1, __ATOMIC_RELEASE);
		mt_futex_wake(&shared.adopted);
	}
	while (!__atomic_load_n(&shared.ready, __ATOMIC_ACQUIRE) && !is_gone())
		mt_futex_wait(&shared.ready, 0, &ts);
	if (shared.ready == READY)
		return 0;
	/* nothing is begun anew while it may still write */
	while (apart && !is_gone())
		mt_futex_wait(&zap_space.monitor_alive, 1, &ts);
	return shared.ready == NOT_APART ? -ECHILD : -EIO;
}

/* Opens or closes the gates of the code that counts (windows.h), and ends the interval. */
static void turn_and_wait(bool open);

int mt_monitor_start(const struct mt_image *img, enum mt_watch watch, int main_tid, void *tls)
{
	int err;

	mt_windows_turn = turn_and_wait;
	zap_on_monitor = mt_monitor_call;
	err = can_be_apart(img->config) ? start(img, watch, main_tid, tls, 1) : -ECHILD;
	return err == -ECHILD ? start(img, watch, main_tid, tls, 0) : err;
}

void mt_monitor_name(struct mt_image *img, int there)
{
	img->monitor_tid = there && !shared.apart ? zap_space.monitor_tid : 0;
	img->monitor_pid = there && shared.apart ? zap_space.monitor_tid : 0;
	img->monitor_ns = mt_now_ns();
}

const char *mt_monitor_message(void)
{
	return shared.message;
}

void mt_monitor_go(uint64_t fault_ns, uint64_t start_cpu_ns)
{
	shared.fault_ns = fault_ns;
	shared.start_cpu_ns = start_cpu_ns;
	shared.begin_ns = mt_now_ns();
	__atomic_store_n(&shared.go, 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.go);
}

void mt_monitor_event(enum mt_event ev)
{
	__atomic_or_fetch(&shared.events, ev, __ATOMIC_RELAXED);
}

/*
 * Steps of ends of intervals, pages and records in them, bytes of accesses. Any thread; no system call, because a sandbox may kill for it.
 */
static uint64_t progress(void)
{
	return __atomic_load_n(&shared.progress, __ATOMIC_RELAXED) +
	       __atomic_load_n(&mon.out.file.accesses.bytes, __ATOMIC_RELAXED);
}

#define POLL_NS 100000000
#define FINISH_PATIENCE_NS 20000000000ull

/* One that is a process of its own must not go on to write what is told as lost. */
static void end_monitor(void)
{
	const struct timespec ts = { 0, POLL_NS };

	for (int i = 0; i < 100 && shared.apart && !is_gone(); i++) {
		mt_sys(SYS_kill, zap_space.monitor_tid, SIGKILL);
		mt_futex_wait(&zap_space.monitor_alive, 1, &ts);
	}
}

/* Until the monitor has done as @request says. @ev: why, 0 when it is no event. */
static void ask(uint32_t request, enum mt_event ev)
{
	struct mt_patience patience = { 0 };
	uint32_t done;

	if (!__atomic_load_n(&shared.go, __ATOMIC_ACQUIRE) || __atomic_load_n(&shared.ended, __ATOMIC_ACQUIRE))
		return;
	done = __atomic_load_n(&shared.done, __ATOMIC_ACQUIRE);
	if (ev == MT_EVENT_EXEC)
		__atomic_add_fetch(&shared.execs, 1, __ATOMIC_RELEASE);
	__atomic_or_fetch(&shared.request, request | ev * REQUEST_EVENT, __ATOMIC_RELEASE);
	__atomic_add_fetch(&shared.wake, 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.wake);
	/* gives up only on a monitor that stands still: how long it needs depends on the memory, the disk and the machine */
	while (__atomic_load_n(&shared.done, __ATOMIC_ACQUIRE) == done) {
		struct timespec ts = { 0, POLL_NS };

		if (is_gone() || mt_patience_over(&patience, mt_now_ns(), progress(), 2 * POLL_NS, FINISH_PATIENCE_NS)) {
			if (__atomic_load_n(&shared.done, __ATOMIC_ACQUIRE) == done) {
				end_monitor();
				mt_note_standstill(shared.img->path, mon.start_ns, mon.events.now.records.n,
						   ev == MT_EVENT_EXEC ? "exec" : "exit");
			}
			return;
		}
		mt_futex_wait(&shared.done, done, &ts);
	}
	/* a process of its own does not end with us: when this one is gone, so are its memory and all that it has open */
	while (shared.apart && request & REQUEST_EXIT && !is_gone() &&
	       !mt_patience_over(&patience, mt_now_ns(), progress(), 2 * POLL_NS, FINISH_PATIENCE_NS)) {
		struct timespec ts = { 0, POLL_NS };

		mt_futex_wait(&zap_space.monitor_alive, 1, &ts);
	}
}

void mt_monitor_finish_interval(enum mt_event ev)
{
	ask(ev == MT_EVENT_EXIT ? REQUEST_EXIT : REQUEST_FINISH, ev);
}

static void turn_and_wait(bool open)
{
	ask(open ? REQUEST_OPEN : REQUEST_CLOSE, 0);
}

long mt_monitor_call(long (*fn)(void *arg, int maps_fd, int memfd), void *arg)
{
	const struct timespec ts = { 0, CALL_POLL_NS };

	if (!__atomic_load_n(&shared.go, __ATOMIC_ACQUIRE))
		return -ESRCH;
	shared.call_fn = fn;
	shared.call_arg = arg;
	__atomic_store_n(&shared.call, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&shared.wake, 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.wake);
	while (__atomic_load_n(&shared.call, __ATOMIC_ACQUIRE)) {
		/* it has ended its last interval, and does nothing more */
		if (__atomic_load_n(&shared.ended, __ATOMIC_ACQUIRE) || is_gone()) {
			shared.call = 0;
			return -ESRCH;
		}
		mt_futex_wait(&shared.call, 1, &ts);
	}
	return shared.call_result;
}

void mt_monitor_exec_failed(void)
{
	if (__atomic_load_n(&shared.execs, __ATOMIC_ACQUIRE))
		__atomic_sub_fetch(&shared.execs, 1, __ATOMIC_RELEASE);
}

void mt_monitor_gone(void)
{
	shared.go = shared.call = 0;
}

void mt_monitor_after_fork(void)
{
	zap_space.gone[0].n = zap_space.gone[1].n = 0;
	zap_regions_clear(&zap_space.dropped);
	zap_space.rings_tight = NULL;
	zap_regions_free(&mon.dropped);
	zap_regions_free(&mon.missed);
	zap_regions_free(&mon.shared_missed);
	/* the perf rings are not inherited; the rest is private memory of the parent's monitor */
	zap_events_after_fork(&mon.events);
	fine_free(&mon.fine);
	zap_ledger_after_fork(&mon.ledger);
	tk_after_fork();
	zap_scan_free(&mon.scan);
	mt_rawunmap(mon.suspect, SUSPECTS * sizeof(*mon.suspect));
	zap_output_after_fork(&mon.out);
	mt_maps_free(&mon.maps);
	memset(&mon, 0, sizeof(mon));
}
