// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Why these attributes:
 *  sample_period 1     every fault, and the first overflow of an event is never
 *                      throttled by the kernel
 *  page-faults-min     and -maj, into one ring: of faults that were served only, when they
 *                      are. The event page-faults is also made of faults that end in a signal or in
 *                      EFAULT (guard pages, barriers of garbage collectors), which are no accesses
 *  inherit             threads made later are seen; with inherit_thread (5.13)
 *                      children after fork are not: they have rings of their own
 *  remove_on_exec      (5.13) a monitor that is a process of its own reads no faults of the next program
 *  one event per CPU   an inherited event can only be mapped when it is bound to a
 *                      CPU
 *  regs_intr           the operands of copies and push, and in kernel mode the only
 *                      way to tell a copy to the program from a copy from it
 *  exclude_kernel = 0  needs perf_event_paranoid <= 1 or a capability; without it
 *                      pages touched by system calls are found by the scan only
 *  PERF_FORMAT_LOST    (6.0) an event says how many of its records, and of those of the threads that inherited it, had
 *                      no room. Without it a record in the ring says so, with the next event after there is room again
 */
#include "preload/faults/perfring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/rawsys.h"
#include "preload/faults/perfevent.h"

#define PAGE MT_PAGE
/* Of all rings of a process: they are allocated at once, on hundreds of CPUs too. */
#define TOTAL_BYTES (256u << 20)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t addr;
	/* with_regs only; abi 0 = no registers follow */
	uint64_t abi;
	struct zap_regs regs;
};
#define SAMPLE_MIN offsetof(struct sample, abi)

static long open_cpu(struct zap_perf *p, int tid, int cpu, uint64_t event)
{
	struct perf_event_attr a = { .config = event, .sample_period = 1 };
	int counts_lost = p->read_lost != NULL;
	long fd;

	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;	/* the CPU is that of the ring */
	if (p->with_regs) {
		a.sample_type |= PERF_SAMPLE_REGS_INTR;
		a.sample_regs_intr = ZAP_SAMPLE_REGS;
	}
	a.exclude_kernel = !p->with_kernel;
	a.wakeup_watermark = (uint32_t)(p->data_bytes / 2);
	fd = zap_perf_event(&a, tid, cpu, &counts_lost);
	if (!counts_lost)
		p->read_lost = NULL;
	return fd;
}

/* The faults that had to wait for a disk go into the ring of the others. The descriptor, or negative errno. */
static long open_major(struct zap_perf *p, int tid, int cpu, int ring_fd)
{
	long fd = open_cpu(p, tid, cpu, PERF_COUNT_SW_PAGE_FAULTS_MAJ), err;

	if (fd < 0)
		return fd;
	err = mt_sys(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd);
	if (!err)
		return fd;
	mt_sys(SYS_close, fd);
	return err;
}

/* All CPUs with one size of ring. -ENOMEM/-EPERM from mmap asks for smaller rings. */
static long open_all(struct zap_perf *p, int tid, const char **what)
{
	for (int cpu = 0; cpu < p->ncpus; cpu++) {
		long fd = open_cpu(p, tid, cpu, PERF_COUNT_SW_PAGE_FAULTS_MIN), map, major;

		if (fd == -ENODEV || fd == -ENXIO)
			continue;	/* possible, but not online */
		if (fd < 0) {
			*what = "perf_event_open";
			return fd;
		}
		map = mt_rawmap_at_place(p->data_bytes + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
		if (mt_failed(map)) {
			*what = "mmap of the perf ring";
			mt_sys(SYS_close, fd);
			return map;
		}
		major = open_major(p, tid, cpu, (int)fd);
		if (major < 0) {
			*what = "perf_event_open";
			mt_sys(SYS_munmap, map, p->data_bytes + PAGE);
			mt_sys(SYS_close, fd);
			return major;
		}
		p->ring[p->nrings++] = (struct zap_ring){ .cpu = cpu, .fd = (int)fd, .major_fd = (int)major, .map = (void *)map };
	}
	if (!p->nrings) {
		*what = "perf_event_open";
		return -ENODEV;
	}
	return 0;
}

static void close_all(struct zap_perf *p)
{
	for (int i = 0; i < p->nrings; i++) {
		mt_sys(SYS_munmap, p->ring[i].map, p->data_bytes + PAGE);
		mt_sys(SYS_close, p->ring[i].major_fd);
		mt_sys(SYS_close, p->ring[i].fd);
	}
	p->nrings = 0;
}

int zap_perf_open(struct zap_perf *p, int tid, uint32_t ring_pages, const char **what)
{
	uint32_t pages = 8;
	long err = -ENOMEM;

	memset(p, 0, sizeof(*p));
	*what = "memory";
	p->ncpus = zap_possible_cpus();
	p->ring = mt_rawmap((size_t)p->ncpus * sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	ring_pages = ring_pages > PAGE / ZAP_RING_PAGE ? ring_pages / (uint32_t)(PAGE / ZAP_RING_PAGE) : 1;
	if (ring_pages > TOTAL_BYTES / PAGE / (uint32_t)p->ncpus)
		ring_pages = TOTAL_BYTES / PAGE / (uint32_t)p->ncpus;
	while (pages * 2 <= ring_pages && pages < 1u << 16)
		pages *= 2;
	p->with_kernel = 1;
	p->with_regs = 1;
	for (;;) {
		p->data_bytes = pages * PAGE;
		p->read_lost = zap_perf_event_lost;
		err = open_all(p, tid, what);
		if (!err)
			return 0;
		close_all(p);
		if ((*what)[0] == 'm' && pages > 8)
			pages /= 2;	/* over perf_event_mlock_kb and RLIMIT_MEMLOCK */
		else if (p->with_kernel)
			p->with_kernel = 0;
		else if (p->with_regs && err != -EACCES && err != -EPERM)
			p->with_regs = 0;
		else
			break;
	}
	zap_perf_close(p);
	return (int)err;
}

void zap_perf_close(struct zap_perf *p)
{
	close_all(p);
	if (p->ring)
		mt_rawunmap(p->ring, (size_t)p->ncpus * sizeof(*p->ring));
	p->ring = NULL;
}

/* The kernel leaves out what does not fit: the largest record, and one that says how much was left out. */
#define LARGEST_RECORDS (sizeof(struct sample) + 64)

static void note_full(struct zap_perf *p, struct zap_ring *r)
{
	const struct perf_event_mmap_page *ctl = r->map;
	uint64_t head = __atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE);

	if (head - ctl->data_tail + LARGEST_RECORDS > p->data_bytes)
		p->full = r->full = 1;
}

static void give_back(struct zap_perf *p, struct zap_ring *r, uint64_t tail)
{
	struct perf_event_mmap_page *ctl = r->map;

	note_full(p, r);
	__atomic_store_n(&ctl->data_tail, tail, __ATOMIC_RELEASE);
}

static uint64_t read_ring(struct zap_perf *p, struct zap_ring *r, uint64_t until,
			  void (*fn)(void *arg, const struct zap_fault *f), void *arg)
{
	const struct perf_event_mmap_page *ctl = r->map;
	const char *data = (const char *)r->map + PAGE;
	uint64_t head = __atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ctl->data_tail, count = 0;

	note_full(p, r);
	while (tail < head) {
		struct sample s;
		size_t n;

		/* room for the kernel while we read */
		if (tail - ctl->data_tail > p->data_bytes / 8)
			give_back(p, r, tail);
		zap_ring_copy(data, p->data_bytes, tail, &s.header, sizeof(s.header));
		if (s.header.size < sizeof(s.header) || s.header.size > head - tail) {
			p->bad++;
			tail = head;
			break;
		}
		n = s.header.size < sizeof(s) ? s.header.size : sizeof(s);
		zap_ring_copy(data, p->data_bytes, tail, &s, n);
		if (s.header.type == PERF_RECORD_LOST && n >= 24) {
			uint64_t lost[2];	/* id, count */

			zap_ring_copy(data, p->data_bytes, tail + sizeof(s.header), lost, sizeof(lost));
			r->full = 1;
			if (!p->read_lost)
				p->lost += lost[1];
		} else if (s.header.type == PERF_RECORD_SAMPLE && n >= SAMPLE_MIN) {
			struct zap_fault f = {
				.ip = s.ip, .time = s.time, .addr = s.addr,
				.pid = (int)s.pid, .tid = (int)s.tid, .cpu = r->cpu,
				.kernel = (s.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
			};

			if (s.time > until)
				break;
			if (n == sizeof(s) && s.abi)
				f.regs = s.regs;
			fn(arg, &f);
			count++;
		}
		tail += s.header.size;
	}
	give_back(p, r, tail);
	return count;
}

uint64_t zap_perf_read(struct zap_perf *p, uint64_t until,
		       void (*fn)(void *arg, const struct zap_fault *f), void *arg)
{
	uint64_t count = 0;

	for (int i = 0; i < p->nrings; i++)
		count += read_ring(p, &p->ring[i], until, fn, arg);
	return count;
}

static uint64_t lost_since(const struct zap_perf *p, int fd, uint64_t *before)
{
	const int64_t now = p->read_lost(fd);
	uint64_t more;

	if (now < 0 || (uint64_t)now <= *before)
		return 0;
	more = (uint64_t)now - *before;
	*before = (uint64_t)now;
	return more;
}

void zap_perf_count_lost(struct zap_perf *p, int all)
{
	for (int i = 0; p->read_lost && i < p->nrings; i++) {
		struct zap_ring *r = &p->ring[i];

		note_full(p, r);
		if (!r->full && !all)
			continue;
		r->full = 0;
		p->lost += lost_since(p, r->fd, &r->lost) + lost_since(p, r->major_fd, &r->major_lost);
	}
}

uint64_t zap_perf_take_lost(struct zap_perf *p)
{
	uint64_t lost = p->lost;

	if (p->read_lost) {
		/* as it is */
	} else if (lost >= p->told) {
		lost -= p->told;
		p->told = 0;
	} else {
		p->told -= lost;
		lost = 0;
	}
	if (p->full && !lost && !p->read_lost) {
		p->told++;
		lost = 1;
	}
	p->lost = 0;
	p->full = 0;
	return lost;
}

int zap_perf_is_filled(const struct zap_perf *p, unsigned int parts)
{
	for (int i = 0; i < p->nrings; i++) {
		const struct perf_event_mmap_page *ctl = p->ring[i].map;

		if (__atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE) -
		    __atomic_load_n(&ctl->data_tail, __ATOMIC_ACQUIRE) > p->data_bytes / parts)
			return 1;
	}
	return 0;
}

int zap_perf_is_tight(const struct zap_perf *p)
{
	return zap_perf_is_filled(p, 2);
}

uint64_t zap_perf_half_ns(const struct zap_perf *p)
{
	return p->data_bytes / ZAP_SAMPLE_BYTES(p->with_regs) * ZAP_FAULT_NS_MIN / 2;
}
