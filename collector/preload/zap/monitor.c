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
 *
 * What is touched between z and its own zap without a new fault is not seen again in the
 * next interval: that window is the zap time, reported per interval (ZapNs).
 *
 * Where faults in kernel mode, or all faults, have no events (zap_space.note_dropped), the
 * boundary is before the scan and only scanned pages are zapped: a page that is touched
 * during the scan is found by this scan or the next one, and the window (ZapNs) has the scan in it.
 *
 * Only pages that the kernel reports as file pages are zapped: should the program have
 * replaced a mapping behind our back with raw system calls, its private pages are safe.
 */
#include "monitor.h"

#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "context.h"
#include "governor.h"
#include "maps.h"
#include "perfring.h"
#include "rawsys.h"
#include "records.h"
#include "space.h"
#include "thread.h"
#include "x86rw.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Linux 6.7, not in the headers of Debian 12 */
#ifndef PAGEMAP_SCAN
#define PAGE_IS_FILE 4
#define PAGE_IS_PRESENT 8
struct page_region {
	uint64_t start, end, categories;
};
struct pm_scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)
#endif

#define CHUNK_BYTES (64ull << 20)
#define OUT_BYTES (4ul << 20)
#define MAX_RECORDS (1ul << 24)
#define SCAN_VEC 4096
#define GAP_PAGES 16		/* runs closer than this are zapped with one call */
#define DECODED_SLOTS 65536
#define PAGE_INFO_SLOTS (1ul << 18)
#define PAGE_INFO_INTERVALS 16	/* node and frame of a page are asked again after so many */
#define STACK_BYTES (256ul << 10)

#define REQUEST_FINISH 1
#define REQUEST_EXIT 2

/* Shared with threads of the program; futex words. */
static struct {
	uint32_t ready;
	uint32_t go;
	uint32_t wake;
	uint32_t request;
	uint32_t done;		/* intervals finished on request */
	uint32_t ended;
	uint32_t events;
	uint64_t fault_ns;
	uint64_t begin_ns;	/* the program goes on from here */
	char message[256];
	int zap;
	int main_tid;
	const struct mt_image *img;
} shared;

struct decoded {
	uint64_t ip;
	uint32_t generation;	/* code in traced memory (JIT) may change: valid for one interval */
	int direction;
};

struct page_info {
	uint64_t page;
	uint64_t frame;
	int32_t node;
	uint32_t stamp;
};

/* All below belongs to the monitor thread. */
static struct {
	struct zap_perf perf;
	struct zap_records records;
	struct zap_governor governor;
	struct mt_maps maps;
	struct zap_regions dropped;	/* mapped until a hook dropped them */
	struct zap_range *run;		/* mapped pages, ascending */
	size_t nruns, run_cap;
	struct page_region *vec;
	struct decoded *decoded;
	struct page_info *info;		/* NULL: frame and node are not asked for */
	int one_node;			/* the only node, -1 = several */
	int perf_works, scan_works, dontneed;
	int maps_fd, pagemap_fd, mem_fd, task_fd;
	struct mt_out accesses, intervals;
	int chunk;
	uint64_t chunk_bytes;
	uint32_t interval;
	int pid;
	/* of the current interval */
	uint64_t start_ns, faults, unattributed, scan_ns, zap_ns;
	uint64_t maps_cost_ns, maps_time_ns;
	uint64_t monitor_cpu_ns, process_cpu_ns;
	uint64_t lost_write_seen;
	uint64_t late_bytes[2], late_reported;	/* at the last two refreshes; counted as lost */
	uint64_t lost_region;			/* pages, of the current interval */
} mon;

/* ---- setting up */

/* Our descriptor table is a copy: everything that is the program's must go, else pipes never end. */
static void close_foreign_fds(void)
{
	const int *fds;
	int n = mt_fd_kept(&fds), next = 0;

	for (int i = 0; i < n; i++) {
		if (fds[i] > next)
			mt_sys(SYS_close_range, next, fds[i] - 1, 0);
		next = fds[i] + 1;
	}
	mt_sys(SYS_close_range, next, ~0u, 0);
}

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

/* "0" or "0-3" of /sys/devices/system/node/online */
static int only_node(void)
{
	char buf[64];
	int fd = open_proc("/sys/devices/system/node/online"), v = 0;
	long n = fd < 0 ? -1 : mt_sys(SYS_read, fd, buf, sizeof(buf));

	if (fd >= 0)
		mt_sys(SYS_close, fd);
	for (long i = 0; i < n && buf[i] != '\n'; i++) {
		if (buf[i] < '0' || buf[i] > '9')
			return -1;
		v = v * 10 + (buf[i] - '0');
	}
	return n > 0 ? v : 0;
}

static int open_chunk(void)
{
	char name[32] = "accesses-", *p = name + 9;
	unsigned v = (unsigned)mon.chunk, width = 100000;

	while (v / width >= 10)
		width *= 10;
	for (; width; width /= 10)
		*p++ = (char)('0' + v / width % 10);
	memcpy(p, ".csv", 5);
	return (int)mt_sys(SYS_openat, shared.img->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

#define ACCESSES_HEADER "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n"
#define INTERVALS_HEADER "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable," \
	"Resident,ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event,LostWrite,LostRegion\n"

static int set_up(void)
{
	const struct mt_config *c = shared.img->config;
	char *out1 = mt_rawmap(OUT_BYTES), *out2 = mt_rawmap(64 << 10);
	const char *what;
	int fd, err;

	if (!out1 || !out2)
		return -ENOMEM;
	mon.pid = shared.img->pid;
	mon.maps_fd = mt_maps_open();
	mon.pagemap_fd = open_proc("/proc/thread-self/pagemap");
	mon.mem_fd = open_proc("/proc/thread-self/mem");
	mon.task_fd = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	/* under kmod the launcher writes it */
	fd = c->backend_kmod ? -1 : (int)mt_sys(SYS_openat, shared.img->dirfd, "intervals.csv",
						O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	mt_out_init(&mon.intervals, fd, out2, 64 << 10);
	mt_out_str(&mon.intervals, INTERVALS_HEADER);
	mt_out_flush(&mon.intervals);	/* a program killed at once leaves a readable trace */
	mt_out_init(&mon.accesses, -1, out1, OUT_BYTES);
	zap_governor_init(&mon.governor, c->interval_ns, c->max_overhead_ppm);
	if (!shared.zap)
		return 0;

	if (mon.maps_fd < 0 || mon.pagemap_fd < 0) {
		say("/proc is not readable", mon.pagemap_fd);
		return -EACCES;
	}
	mon.accesses.fd = open_chunk();
	mt_out_str(&mon.accesses, ACCESSES_HEADER);
	mt_out_flush(&mon.accesses);
	mon.decoded = mt_rawmap(DECODED_SLOTS * sizeof(*mon.decoded));
	mon.vec = mt_rawmap(SCAN_VEC * sizeof(*mon.vec));
	mon.run_cap = 1 << 16;
	mon.run = mt_rawmap(mon.run_cap * sizeof(*mon.run));
	mon.one_node = only_node();
	if (c->physical || mon.one_node < 0)
		mon.info = mt_rawmap(PAGE_INFO_SLOTS * sizeof(*mon.info));
	if (!mon.decoded || !mon.vec || !mon.run)
		return -ENOMEM;
	mon.dontneed = MADV_DONTNEED_LOCKED;
	mon.scan_works = 1;
	mon.start_ns = mt_now_ns();	/* before the first fault that is counted */
	/* most children of fork live shortly, and making the rings is most of their start */
	err = zap_perf_open(&mon.perf, shared.main_tid,
			    shared.img->how[0] == 'f' ? c->ring_pages / 4 : c->ring_pages, &what);
	mon.perf_works = !err;
	zap_space.note_dropped = err || !mon.perf.with_kernel;
	if (err) {
		say("page set and times only, threads and directions are not known", 0);
		say(what, err);
	} else {
		if (!mon.perf.with_kernel)
			say("faults in system calls are found by the page-table scan only (perf_event_paranoid > 1)", 0);
		if (mon.perf.data_bytes / MT_PAGE < c->ring_pages / 8)
			say("small perf rings (RLIMIT_MEMLOCK, perf_event_mlock_kb)", 0);
	}
	err = zap_records_init(&mon.records, mon.perf_works ? mon.perf.ncpus : 64, MAX_RECORDS);
	if (err)
		return err;
	/* the monitor must win against the program's threads; refused without privileges */
	mt_sys(SYS_setpriority, PRIO_PROCESS, 0, -15);
	return 0;
}

/* ---- scanning and zapping */

static void add_run(uint64_t start, uint64_t end)
{
	if (mon.nruns && mon.run[mon.nruns - 1].end == start) {
		mon.run[mon.nruns - 1].end = end;
		return;
	}
	if (mon.nruns == mon.run_cap) {
		struct zap_range *r = mt_rawmap(mon.run_cap * 2 * sizeof(*r));

		if (!r)
			return;	/* not zapped: stays mapped, seen at the next scan */
		memcpy(r, mon.run, mon.nruns * sizeof(*r));
		mt_rawunmap(mon.run, mon.run_cap * sizeof(*r));
		mon.run = r;
		mon.run_cap *= 2;
	}
	mon.run[mon.nruns++] = (struct zap_range){ start, end };
}

/* Linux 6.7: 0, or negative errno when the kernel has no PAGEMAP_SCAN. */
static long scan_range(uint64_t start, uint64_t end)
{
	while (start < end) {
		struct pm_scan_arg a = {
			.size = sizeof(a), .start = start, .end = end,
			.vec = (uint64_t)mon.vec, .vec_len = SCAN_VEC,
			.category_mask = PAGE_IS_PRESENT | PAGE_IS_FILE,
			.return_mask = PAGE_IS_PRESENT,
		};
		long n = mt_sys(SYS_ioctl, mon.pagemap_fd, PAGEMAP_SCAN, &a);

		if (n < 0)
			return n;
		for (long i = 0; i < n; i++)
			add_run(mon.vec[i].start, mon.vec[i].end);
		if (a.walk_end <= start)
			break;
		start = a.walk_end;
	}
	return 0;
}

/* Older kernels: /proc/self/pagemap, only where the memory file has data. */
static void scan_range_pagemap(uint64_t start, uint64_t end)
{
	uint64_t entry[512];

	while (start < end) {
		long data = mt_sys(SYS_lseek, zap_space.memfd, start, 3 /* SEEK_DATA */), hole;

		if (data < 0 || (uint64_t)data >= end)
			return;
		hole = mt_sys(SYS_lseek, zap_space.memfd, data, 4 /* SEEK_HOLE */);
		start = (uint64_t)data & ~(MT_PAGE - 1);
		if (hole < 0 || (uint64_t)hole > end)
			hole = (long)end;
		while (start < (uint64_t)hole) {
			uint64_t want = ((uint64_t)hole - start + MT_PAGE - 1) / MT_PAGE;
			long n = mt_sys(SYS_pread64, mon.pagemap_fd, entry, (want > 512 ? 512 : want) * 8,
					start / MT_PAGE * 8) / 8;

			if (n <= 0)
				return;
			for (long i = 0; i < n; i++)	/* bit 63 present, bit 61 file or shared */
				if ((entry[i] >> 63) && (entry[i] >> 61 & 1))
					add_run(start + (uint64_t)i * MT_PAGE, start + (uint64_t)(i + 1) * MT_PAGE);
			start += (uint64_t)n * MT_PAGE;
		}
	}
}

static void scan(void)
{
	const struct zap_regions *s = &zap_space.regions;

	mon.nruns = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (mon.scan_works) {
			long err = scan_range(s->r[i].start, s->r[i].end);

			if (err != -ENOTTY && err != -EINVAL)
				continue;
			mon.scan_works = 0;
		}
		scan_range_pagemap(s->r[i].start, s->r[i].end);
	}
}

static void zap_run(uint64_t start, uint64_t end)
{
	long ret = mt_sys(SYS_madvise, start, end - start, mon.dontneed);

	if (ret == -EINVAL && mon.dontneed == MADV_DONTNEED_LOCKED) {
		/* Linux < 5.18, or a mapping that is not ours: mlocked memory then stays mapped */
		ret = mt_sys(SYS_madvise, start, end - start, MADV_DONTNEED);
		if (!ret)
			mon.dontneed = MADV_DONTNEED;
	}
}

/* Near runs with one call, but never over the border of a traced range. */
static void zap(void)
{
	const struct zap_regions *s = &zap_space.regions;
	/* what was touched since the scan must stay mapped when no event tells about it */
	const uint64_t gap = zap_space.note_dropped ? 0 : GAP_PAGES * MT_PAGE;
	size_t i = 0, r = 0;

	while (i < mon.nruns) {
		uint64_t start = mon.run[i].start, end = mon.run[i].end;

		while (r < s->n && s->r[r].end <= start)
			r++;
		for (i++; i < mon.nruns && r < s->n; i++) {
			if (mon.run[i].start - end > gap || mon.run[i].start >= s->r[r].end)
				break;
			end = mon.run[i].end;
		}
		zap_run(start, end);
	}
}

/* Frame and node of the mapped pages, before they are zapped. */
static struct page_info *info_slot(uint64_t page)
{
	return &mon.info[(page * 0x9e3779b97f4a7c15ull) >> (64 - 18)];
}

static void ask_nodes(void **pages, struct page_info **slots, int n)
{
	int status[256];

	if (mt_sys(SYS_move_pages, 0, n, pages, 0, status, 0) == 0)
		for (int i = 0; i < n; i++)
			slots[i]->node = status[i] >= 0 ? status[i] : -1;
}

static void collect_info(void)
{
	void *pages[256];
	struct page_info *slots[256];
	int n = 0, physical = shared.img->config->physical;

	for (size_t i = 0; i < mon.nruns; i++)
		for (uint64_t a = mon.run[i].start; a < mon.run[i].end; a += MT_PAGE) {
			struct page_info *p = info_slot(a / MT_PAGE);
			uint64_t e = 0;

			if (p->page == a / MT_PAGE && mon.interval - p->stamp < PAGE_INFO_INTERVALS)
				continue;
			p->page = a / MT_PAGE;
			p->stamp = mon.interval;
			p->node = mon.one_node;
			p->frame = 0;
			if (physical && mt_sys(SYS_pread64, mon.pagemap_fd, &e, 8, a / MT_PAGE * 8) == 8)
				p->frame = e & ((1ull << 55) - 1);
			if (mon.one_node < 0) {
				pages[n] = (void *)a;
				slots[n++] = p;
				if (n == 256) {
					ask_nodes(pages, slots, n);
					n = 0;
				}
			}
		}
	if (n)
		ask_nodes(pages, slots, n);
}

/* ---- faults */

static int direction(const struct zap_fault *f)
{
	struct decoded *d = &mon.decoded[(f->ip * 0x9e3779b97f4a7c15ull) >> 48];
	uint8_t insn[X86_INSN_MAX + 1] = { 0 };

	if (f->kernel)
		return x86_resolve_kernel(f->addr, &f->regs);
	if (f->addr - f->ip < X86_INSN_MAX)
		return X86_READ;	/* the instruction itself was fetched (JIT code) */
	if (d->ip != f->ip || (d->generation && d->generation != mon.interval + 1)) {
		long n;

		d->ip = f->ip;
		d->generation = zap_regions_contain(&zap_space.regions, f->ip) ? mon.interval + 1 : 0;
		/* code in traced memory is read from the file: through memory it would become "mapped" */
		n = mt_sys(SYS_pread64, d->generation ? zap_space.memfd : mon.mem_fd, insn, X86_INSN_MAX, f->ip);
		d->direction = n > 0 ? x86_direction(insn) : 0;
	}
	return x86_resolve(d->direction, f->addr, &f->regs);
}

static void on_fault(void *arg, const struct zap_fault *f)
{
	(void)arg;
	/* a child that shares our memory until it execs, or was forked before inherit_thread existed */
	if (f->pid != mon.pid)
		return;
	/* our own accesses while setting up, at addresses that the program got later */
	if (f->time < shared.begin_ns)
		return;
	if (!zap_was_traced(f->addr, f->time))
		return;		/* code, files, shared memory, our own */
	mon.faults++;
	zap_records_add(&mon.records, f->addr, f->tid, f->cpu, f->ip, direction(f));
}

/*
 * The set of ranges is read here without the lock: hooks change it. So faults are read
 * under the lock, in short pieces of work.
 */
static uint64_t read_faults(uint64_t until)
{
	uint64_t n;

	if (!mon.perf_works)
		return 0;
	mt_lock(&zap_space.lock);
	n = zap_perf_read(&mon.perf, until, on_fault, NULL);
	mt_unlock(&zap_space.lock);
	return n;
}

static void add_scanned_runs(const struct zap_range *run, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint64_t a = run[i].start; a < run[i].end; a += MT_PAGE)
			mon.unattributed += (uint64_t)zap_records_add_scanned(&mon.records, a);
}

static void add_scanned(void)
{
	add_scanned_runs(mon.run, mon.nruns);
	add_scanned_runs(mon.dropped.r, mon.dropped.n);
	zap_regions_clear(&mon.dropped);
}

/* Under the lock: what hooks dropped since the last boundary is the monitor's now. */
static void take_dropped(void)
{
	struct zap_regions taken = zap_space.dropped;

	zap_space.dropped = mon.dropped;
	mon.dropped = taken;
}

/* Under the lock. Library data that no hook could convert between two refreshes: counted once. */
static void count_late_data(void)
{
	uint64_t stays;

	mon.late_bytes[1] = mon.late_bytes[0];
	mon.late_bytes[0] = zap_space.late_bytes;
	stays = mon.late_bytes[0] < mon.late_bytes[1] ? mon.late_bytes[0] : mon.late_bytes[1];
	if (stays > mon.late_reported) {
		mon.lost_region += (stays - mon.late_reported) / MT_PAGE;
		mon.late_reported = stays;
	}
}

/* Ends a subinterval; returns the boundary. */
static uint64_t end_subinterval(int last_ever)
{
	uint64_t t0, z, t1;

	read_faults(~0ull);
	mt_lock(&zap_space.lock);
	t0 = mt_now_ns();
	if (!zap_space.active) {
		mt_unlock(&zap_space.lock);
		mon.nruns = 0;
		return t0;
	}
	/* hooks keep the set up to date; mappings made without libc are rare: at most 1 % of the time */
	if (t0 - mon.maps_time_ns >= mon.maps_cost_ns * 100) {
		zap_refresh(&mon.maps, mon.maps_fd);
		count_late_data();
		mon.maps_time_ns = mt_now_ns();
		mon.maps_cost_ns = mon.maps_time_ns - t0;
	}
	if (zap_space.rescue_uffd) {
		zap_register_all();
		zap_space.rescue_uffd = 0;
	}
	z = mt_now_ns();
	scan();
	if (mon.info)
		collect_info();
	if (!zap_space.note_dropped)
		z = mt_now_ns();
	zap_turn_gone();
	take_dropped();
	if (!last_ever)
		zap();
	t1 = mt_now_ns();
	mt_unlock(&zap_space.lock);
	mon.scan_ns += z - t0;
	mon.zap_ns += t1 - z;
	read_faults(z);
	add_scanned();
	return z;
}

/* ---- writing */

/* ",START,END," is the same on all lines of an interval. */
static void write_accesses(uint64_t start, uint64_t end)
{
	struct mt_out *o = &mon.accesses;
	char times[48], *te = times;

	*te++ = ',';
	te = mt_put_u64(te, start);
	*te++ = ',';
	te = mt_put_u64(te, end);
	*te++ = ',';
	for (size_t i = 0; i < mon.records.n; i++) {
		const struct zap_record *r = zap_record_at(&mon.records, i);
		uint64_t page = r->addr / MT_PAGE, frame = 0;
		int node = mon.one_node, w = mon.records.mask_words - 1;
		char *p;

		if (mon.info) {
			const struct page_info *pi = info_slot(page);

			if (pi->page == page) {
				frame = pi->frame;
				node = pi->node;
			}
		}
		if (o->cap - o->len < 320 + 16 * (size_t)mon.records.mask_words)
			mt_out_flush(o);
		p = o->buf + o->len;
		p = mt_put_hex(p, r->addr);
		*p++ = ',';
		p = frame ? mt_put_hex(p, frame * MT_PAGE) : (*p = '0', p + 1);
		*p++ = ',';
		p = mt_put_u64(p, r->nreads);
		*p++ = ',';
		p = mt_put_u64(p, r->nwrites);
		*p++ = ',';
		while (w > 0 && !r->cpus[w])
			w--;
		p = mt_put_hex(p, r->cpus[w]);
		while (--w >= 0)
			for (int shift = 60; shift >= 0; shift -= 4)
				*p++ = "0123456789abcdef"[r->cpus[w] >> shift & 15];
		memcpy(p, times, (size_t)(te - times));
		p += te - times;
		if (r->tid < 0) {
			*p++ = '-';
			*p++ = '1';
		} else {
			p = mt_put_u64(p, (uint64_t)r->tid);
		}
		*p++ = ',';
		p = mt_put_hex(p, r->ip);
		*p++ = ',';
		if (node < 0) {
			*p++ = '-';
			*p++ = '1';
		} else {
			p = mt_put_u64(p, (uint64_t)node);
		}
		*p++ = ',';
		p = mt_put_hex(p, r->flags);
		*p++ = '\n';
		o->len = (size_t)(p - o->buf);
	}
	mt_out_flush(o);
	if (o->fd < 0 || o->bytes - mon.chunk_bytes >= CHUNK_BYTES) {
		/* the next chunk; also when this one could not be created */
		if (o->fd >= 0) {
			mt_sys(SYS_close, o->fd);
			mon.chunk++;
		}
		mon.chunk_bytes = o->bytes;
		o->torn = 0;
		o->fd = open_chunk();
		mt_out_str(o, ACCESSES_HEADER);
	}
}

static void write_events(struct mt_out *o, uint32_t events, enum zap_governor_change g)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ MT_EVENT_FORK, "fork" }, { MT_EVENT_EXEC, "exec" },
		{ MT_EVENT_EXIT, "exit" }, { MT_EVENT_STOP, "stop" },
	};
	int n = 0;

	if (g != ZAP_KEPT) {
		mt_out_str(o, g == ZAP_LENGTHENED ? "governor:lengthened" : "governor:shortened");
		n++;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (events & names[i].bit) {
			if (n++)
				mt_out_char(o, ' ');
			mt_out_str(o, names[i].name);
		}
}

static void write_interval(uint64_t end, uint64_t target, uint64_t monitor_cpu, uint64_t program_cpu,
			   enum zap_governor_change g)
{
	struct mt_out *o = &mon.intervals;
	uint32_t events = __atomic_exchange_n(&shared.events, 0, __ATOMIC_RELAXED);
	uint64_t lost_write = mon.accesses.lost_lines - mon.lost_write_seen, resident = 0;
	struct stat st;

	if (shared.zap && !mt_sys(SYS_fstat, zap_space.memfd, &st))
		resident = (uint64_t)st.st_blocks * 512;
	mt_out_fmt(o, "%u,%llu,%llu,%d,%llu,", mon.interval, (unsigned long long)mon.start_ns, (unsigned long long)end,
		   shared.img->config->subphases, (unsigned long long)target);
	mt_out_fmt(o, "%llu,%llu,%llu,%llu,%llu,", (unsigned long long)mon.faults, (unsigned long long)mon.records.n,
		   (unsigned long long)mon.unattributed, (unsigned long long)mon.perf.lost,
		   (unsigned long long)mon.records.lost);
	mt_out_fmt(o, "%llu,%llu,%llu,%llu,%llu,", (unsigned long long)resident, (unsigned long long)mon.scan_ns,
		   (unsigned long long)mon.zap_ns, (unsigned long long)monitor_cpu, (unsigned long long)program_cpu);
	write_events(o, events, g);
	mt_out_fmt(o, ",%llu,%llu\n", (unsigned long long)lost_write, (unsigned long long)mon.lost_region);
	if (!mt_out_flush(o))
		mon.lost_write_seen = mon.accesses.lost_lines;
}

static void end_interval(int last_ever)
{
	uint64_t end, cpu_mon, cpu_all, monitor_cpu, program_cpu, fault_cpu, target = mon.governor.target_ns;
	enum zap_governor_change g;

	end = shared.zap ? end_subinterval(last_ever) : mt_now_ns();
	if (end <= mon.start_ns)
		end = mon.start_ns + 1;
	if (shared.zap)
		write_accesses(mon.start_ns, end);
	ctx_flush();
	cpu_mon = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	cpu_all = mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	monitor_cpu = cpu_mon - mon.monitor_cpu_ns;
	program_cpu = cpu_all - mon.process_cpu_ns;
	program_cpu = program_cpu > monitor_cpu ? program_cpu - monitor_cpu : 0;
	fault_cpu = mon.faults * shared.fault_ns;
	g = zap_governor_update(&mon.governor, monitor_cpu + fault_cpu,
				program_cpu > fault_cpu ? program_cpu - fault_cpu : 0);
	write_interval(end, target, monitor_cpu, program_cpu, g);
	mon.monitor_cpu_ns = cpu_mon;
	mon.process_cpu_ns = cpu_all;
	mon.start_ns = end;
	mon.lost_region = mon.faults = mon.unattributed = mon.scan_ns = mon.zap_ns = 0;
	mon.perf.lost = 0;
	if (shared.zap)
		zap_records_clear(&mon.records);
	mon.interval++;
}

/* ---- the thread */

/*
 * All threads of the program ended by raw exit(2), which libc does not see: only the zombie
 * of the first thread is left beside us, and nobody would end the process.
 */
static void end_abandoned_process(void)
{
	char buf[1024], *p;
	struct stat st;
	long fd, n, code = 0;
	int field;

	if (mon.task_fd < 0 || mt_sys(SYS_fstat, mon.task_fd, &st) || st.st_nlink > 4)
		return;
	fd = open_proc("/proc/self/stat");
	n = fd < 0 ? 0 : mt_sys(SYS_read, fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		mt_sys(SYS_close, fd);
	if (n <= 0)
		return;
	buf[n] = 0;
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || p[2] != 'Z')
		return;
	for (p += 2, field = 3; field < 52 && *p; p++)	/* exit_code is field 52 */
		if (*p == ' ')
			field++;
	for (; *p >= '0' && *p <= '9'; p++)
		code = code * 10 + (*p - '0');
	mt_monitor_event(MT_EVENT_EXIT);
	end_interval(1);
	ctx_fini();
	mt_sys(SYS_exit_group, code >> 8 & 255);
}

/* How long the rings last when every CPU faults as fast as it can, halved. */
static uint64_t drain_period_ns(void)
{
	uint64_t ns;

	if (!mon.perf_works)
		return 100000000;
	ns = mon.perf.data_bytes / (mon.perf.with_regs ? 96 : 48) * 1000 / 2;
	return ns < 1000000 ? 1000000 : ns > 20000000 ? 20000000 : ns;
}

static void sleep_ns(uint64_t ns)
{
	uint32_t w = __atomic_load_n(&shared.wake, __ATOMIC_ACQUIRE);
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	if (!__atomic_load_n(&shared.request, __ATOMIC_ACQUIRE))
		mt_futex_wait(&shared.wake, w, &ts);
}

static void run(void)
{
	const int subphases = shared.zap ? shared.img->config->subphases : 1;
	const uint64_t drain_ns = drain_period_ns();
	int phase = 0;
	uint64_t next;

	if (!mon.start_ns)
		mon.start_ns = mt_now_ns();
	mon.monitor_cpu_ns = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mon.process_cpu_ns = mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	next = mt_now_ns() + mon.governor.target_ns / (uint64_t)subphases;
	for (;;) {
		uint64_t now = mt_now_ns();
		uint32_t req = __atomic_exchange_n(&shared.request, 0, __ATOMIC_ACQ_REL);

		if (req) {
			end_interval(req & REQUEST_EXIT);
			if (req & REQUEST_EXIT)
				ctx_fini();
			__atomic_add_fetch(&shared.done, 1, __ATOMIC_RELEASE);
			mt_futex_wake(&shared.done);
			if (req & REQUEST_EXIT)
				return;
			phase = 0;
			next = mt_now_ns() + mon.governor.target_ns / (uint64_t)subphases;
			continue;
		}
		if (now < next) {
			uint64_t left = next - now;

			sleep_ns(left < drain_ns ? left : drain_ns);
			if (left > drain_ns)
				read_faults(~0ull);
			continue;
		}
		if (++phase < subphases) {
			end_subinterval(0);
		} else {
			uint64_t cpu = mon.process_cpu_ns;

			phase = 0;
			end_interval(0);
			if (mon.process_cpu_ns - cpu < 5000000)
				end_abandoned_process();
		}
		next += mon.governor.target_ns / (uint64_t)subphases;
		now = mt_now_ns();
		if (next < now + 1000000)	/* late: a short gap, not a burst of intervals */
			next = now + 1000000;
	}
}

static int monitor_main(void *arg)
{
	int err;

	(void)arg;
	zap_space.monitor_tid = mt_gettid();
	close_foreign_fds();
	err = set_up();
	__atomic_store_n(&shared.ready, err ? 2 : 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.ready);
	if (err)
		return 0;
	while (!__atomic_load_n(&shared.go, __ATOMIC_ACQUIRE))
		mt_futex_wait(&shared.go, 0, NULL);
	run();
	__atomic_store_n(&shared.ended, 1, __ATOMIC_RELEASE);
	/* the process ends now; until then the descriptors keep perf and uffd alive */
	for (;;)
		mt_futex_wait(&shared.ended, 1, NULL);
}

int mt_monitor_start(const struct mt_image *img, int with_zap, int main_tid, void *tls)
{
	int tid;

	memset(&shared, 0, sizeof(shared));
	memset(&mon, 0, sizeof(mon));
	shared.img = img;
	shared.zap = with_zap;
	shared.main_tid = main_tid;
	tid = mt_thread_start(monitor_main, NULL, STACK_BYTES, tls);
	if (tid < 0)
		return tid;
	while (!__atomic_load_n(&shared.ready, __ATOMIC_ACQUIRE))
		mt_futex_wait(&shared.ready, 0, NULL);
	return shared.ready == 1 ? 0 : -EIO;
}

const char *mt_monitor_message(void)
{
	return shared.message;
}

void mt_monitor_go(uint64_t fault_ns)
{
	shared.fault_ns = fault_ns;
	shared.begin_ns = mt_now_ns();
	__atomic_store_n(&shared.go, 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.go);
}

void mt_monitor_event(enum mt_event ev)
{
	__atomic_or_fetch(&shared.events, ev, __ATOMIC_RELAXED);
}

void mt_monitor_finish_interval(enum mt_event ev)
{
	uint64_t give_up = mt_now_ns() + 5000000000ull;
	uint32_t done;

	if (!__atomic_load_n(&shared.go, __ATOMIC_ACQUIRE) || __atomic_load_n(&shared.ended, __ATOMIC_ACQUIRE))
		return;
	done = __atomic_load_n(&shared.done, __ATOMIC_ACQUIRE);
	mt_monitor_event(ev);
	__atomic_or_fetch(&shared.request, ev == MT_EVENT_EXIT ? REQUEST_EXIT : REQUEST_FINISH, __ATOMIC_RELEASE);
	__atomic_add_fetch(&shared.wake, 1, __ATOMIC_RELEASE);
	mt_futex_wake(&shared.wake);
	while (__atomic_load_n(&shared.done, __ATOMIC_ACQUIRE) == done && mt_now_ns() < give_up) {
		struct timespec ts = { 0, 100000000 };

		mt_futex_wait(&shared.done, done, &ts);
	}
}

void mt_monitor_after_fork(void)
{
	zap_space.gone[0].n = zap_space.gone[1].n = 0;
	zap_regions_clear(&zap_space.dropped);
	zap_regions_free(&mon.dropped);
	/* the perf rings are not inherited; the rest is private memory of the parent's monitor */
	zap_records_free(&mon.records);
	mt_maps_free(&mon.maps);
	mt_rawunmap(mon.run, mon.run_cap * sizeof(*mon.run));
	mt_rawunmap(mon.vec, SCAN_VEC * sizeof(*mon.vec));
	mt_rawunmap(mon.decoded, DECODED_SLOTS * sizeof(*mon.decoded));
	mt_rawunmap(mon.info, PAGE_INFO_SLOTS * sizeof(*mon.info));
	mt_rawunmap(mon.accesses.buf, OUT_BYTES);
	mt_rawunmap(mon.intervals.buf, 64 << 10);
	if (mon.perf.ring)
		mt_rawunmap(mon.perf.ring, (size_t)mon.perf.ncpus * sizeof(*mon.perf.ring));
	memset(&mon, 0, sizeof(mon));
}
