// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The event is the software event cpu-clock, a high-resolution timer that runs while the thread runs: no PMU, in virtual machines, too, and
 * no privileges (perf_event_paranoid <= 2; what a thread does in the kernel is seen with <= 1). As those of page faults
 * (faults/perfring.c) it is inherited by threads, not by children, removed by exec, and there is one for each CPU, since inherited ones can
 * be mapped only so.
 *
 * Lines of ticks.log, fields between commas:
 *   H,PERIOD_NS,ARCH,KERNEL		once: time between two ticks, processor, 1: those in the kernel are there
 *   E,ERRNO,STEP			instead of it: why there are none
 *   W,WEIGHT				each tick from here on stands for so many
 *   C,IP,BYTES,BEFORE		code from IP on, and that before it, which may be missing, hexadecimal
 *   T,TIME,TID,CPU,KERNEL,REGISTER...	a tick; registers hexadecimal in the order of their bits in the kernel's mask, empty for 0
 *   L,TIME,COUNT			so many had no room in a ring until now
 */
#include "preload/ticks/ticks.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/rawsys.h"
#include "preload/faults/perfevent.h"
#include "preload/memory/rwp.h"
#include "preload/memory/space.h"

#define RING_PAGES 32		/* of data, for each CPU: 700 ticks of x86-64, so most of a second */
#define TOTAL_BYTES (32u << 20)	/* of all rings of a process */
#define BUFFER_BYTES (1ul << 20)
#define TK_CODE 64		/* bytes of code that are kept from a tick on, and before it */
#define CODE_SLOTS (1u << 14)
#define PROBES 32
#define TICKS_AT_A_WEIGHT 200000

#if defined(__x86_64__)
/* ax bx cx dx si di bp sp ip, r8 to r15, in the order of the kernel */
#define TK_REGS_MASK (0x1ffull | 0xff0000ull)
#define TK_N_REGS 17
#define TK_REG_IP 8
#elif defined(__aarch64__)
/* x0 to x30, sp, pc */
#define TK_REGS_MASK 0x1ffffffffull
#define TK_N_REGS 33
#define TK_REG_IP 32
#endif

struct sample {
	uint64_t time;
	uint32_t pid, tid;
	int cpu;
	int kernel;		/* it was in the kernel; the registers are those with which it came there */
	int known;		/* there are registers */
	uint64_t reg[TK_N_REGS];
};

struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t abi;		/* 0: no registers follow */
	uint64_t reg[TK_N_REGS];
};
#define RECORD_MIN (sizeof(struct record) - TK_N_REGS * 8)

struct ring {
	int fd, cpu;
	char *map;
	uint64_t lost;
};

static struct {
	struct ring *ring;
	int nrings, ncpus, read_lost;
	size_t data_bytes;
	int pid, mem_fd, pagemap_fd;
	uint64_t seen, written, weight, lost, told;
	struct mt_out out;
	struct { uint64_t ip, sum; } *code;	/* whose bytes were written, and their checksum */
} tk;

/* Of so many ticks one is written: grows with the number that was written, so that files of long runs do not. */
static uint64_t stride_of(uint64_t written)
{
	uint64_t stride = 1;

	while (written >= TICKS_AT_A_WEIGHT) {
		written -= TICKS_AT_A_WEIGHT;
		stride *= 2;
	}
	return stride;
}

/* ---- opening */

static long open_cpu(int tid, int cpu, uint64_t period_ns, int with_kernel)
{
	struct perf_event_attr a = { .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = period_ns };

	a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER;
	a.sample_regs_user = TK_REGS_MASK;
	a.exclude_kernel = !with_kernel;
	a.wakeup_watermark = (uint32_t)tk.data_bytes;	/* nobody waits for it */
	return zap_perf_event(&a, tid, cpu, &tk.read_lost);
}

static void close_all(void)
{
	for (int i = 0; i < tk.nrings; i++) {
		mt_sys(SYS_munmap, tk.ring[i].map, tk.data_bytes + MT_PAGE);
		mt_sys(SYS_close, tk.ring[i].fd);
	}
	tk.nrings = 0;
}

static long open_all(int tid, uint64_t period_ns, int with_kernel, const char **what)
{
	for (int cpu = 0; cpu < tk.ncpus; cpu++) {
		long fd = open_cpu(tid, cpu, period_ns, with_kernel), map;

		if (fd == -ENODEV || fd == -ENXIO)
			continue;	/* possible, but not online */
		*what = "perf_event_open";
		if (fd < 0)
			return fd;
		map = mt_rawmap_at_place(tk.data_bytes + MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
		if (mt_failed(map)) {
			*what = "mmap of the perf ring";
			mt_sys(SYS_close, fd);
			return map;
		}
		tk.ring[tk.nrings++] = (struct ring){ .fd = (int)fd, .cpu = cpu, .map = (char *)map };
	}
	return tk.nrings ? 0 : -ENODEV;
}

/* 1: with ticks in the kernel, 0: without, or negative errno. */
static long open_rings(int tid, uint64_t period_ns, const char **what)
{
	size_t pages = RING_PAGES * 4096 / MT_PAGE;
	int with_kernel = 1;
	long err;

	tk.ncpus = zap_possible_cpus();
	tk.read_lost = 1;
	*what = "memory";
	tk.ring = mt_rawmap((size_t)tk.ncpus * sizeof(*tk.ring));
	if (!tk.ring)
		return -ENOMEM;
	while (pages > 2 && pages * MT_PAGE * (size_t)tk.ncpus > TOTAL_BYTES)
		pages /= 2;
	for (;;) {
		tk.data_bytes = (pages ? pages : 1) * MT_PAGE;
		err = open_all(tid, period_ns, with_kernel, what);
		if (!err)
			return with_kernel;
		close_all();
		if ((*what)[0] == 'm' && pages > 2)
			pages /= 2;	/* over perf_event_mlock_kb and RLIMIT_MEMLOCK */
		else if (with_kernel)
			with_kernel = 0;
		else
			return err;
	}
}

void tk_open(const struct mt_image *img, int tid, int mem_fd)
{
	const uint64_t hz = img->config->ticks_hz;
	const char *what = "";
	char *buf;
	long fd, kernel;

	memset(&tk, 0, sizeof(tk));
	if (!hz || !tid)
		return;
	fd = mt_sys(SYS_openat, img->dirfd, MT_FILE_TICKS_RAW, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	buf = mt_rawmap(BUFFER_BYTES);
	tk.code = buf ? mt_rawmap(CODE_SLOTS * sizeof(*tk.code)) : NULL;
	if (!tk.code) {
		mt_sys(SYS_close, fd);
		return;
	}
	mt_out_init(&tk.out, (int)fd, buf, BUFFER_BYTES);
	tk.pid = img->pid;
	tk.mem_fd = mem_fd;
	tk.pagemap_fd = zap_space.rwp ? (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0) : -1;
	kernel = open_rings(tid, 1000000000 / hz, &what);
	if (kernel < 0)
		mt_out_fmt(&tk.out, "E,%d,%s\n", (int)-kernel, what);
	else
		mt_out_fmt(&tk.out, "H,%llu," MT_UTS_MACHINE ",%d\n", (unsigned long long)(1000000000 / hz), (int)kernel);
	mt_out_flush(&tk.out);
}

/* ---- reading */

/* @n bytes of code. How many there are. */
static long peek(uint64_t at, void *buf, size_t n)
{
	if (!zap_regions_contain(&zap_space.regions, at))
		return mt_sys(SYS_pread64, tk.mem_fd, buf, n, at);
	/* code in traced memory is read from the file: through memory it would become "mapped" */
	return zap_space.rwp ? zap_rwp_peek(tk.mem_fd, tk.pagemap_fd, at, buf, n) : mt_sys(SYS_pread64, zap_space.memfd, buf, n, at);
}

static void put_bytes(const uint8_t *code, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	char hex[2 * TK_CODE];

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digit[code[i] >> 4];
		hex[2 * i + 1] = digit[code[i] & 15];
	}
	mt_out_char(&tk.out, ',');
	mt_out_mem(&tk.out, hex, 2 * n);
}

/* The code around a tick, once; where it may change, whenever it has changed. */
static void note_code(uint64_t ip)
{
	const int changes = zap_regions_contain(&zap_space.regions, ip);
	uint32_t at = (uint32_t)(ip * 0x9e3779b97f4a7c15ull >> 50);
	uint8_t behind[TK_CODE] = { 0 }, before[TK_CODE] = { 0 };
	uint64_t sum = 14695981039346656037ull;
	long n_behind, n_before;

	for (int i = 0; i < PROBES && tk.code[at].ip && tk.code[at].ip != ip; i++)
		at = (at + 1) % CODE_SLOTS;
	if (tk.code[at].ip == ip && !changes)
		return;
	n_behind = peek(ip, behind, TK_CODE);
	n_before = peek(ip - TK_CODE, before, TK_CODE);
	if (n_behind <= 0)
		return;
	for (size_t i = 0; i < TK_CODE; i++)
		sum = ((sum ^ behind[i]) * 1099511628211ull ^ before[i]) * 1099511628211ull;
	if (tk.code[at].ip == ip && tk.code[at].sum == sum)
		return;
	tk.code[at].ip = ip;
	tk.code[at].sum = sum;
	mt_out_str(&tk.out, "C,");
	mt_out_hex(&tk.out, ip);
	put_bytes(behind, (size_t)n_behind);
	put_bytes(before, n_before == TK_CODE ? TK_CODE : 0);
	mt_out_char(&tk.out, '\n');
}

static void on_tick(const struct sample *s)
{
	const uint64_t weight = stride_of(tk.written);

	/* a child that shares our memory until it execs, or was forked before inherit_thread existed */
	if ((int)s->pid != tk.pid)
		return;
	if (tk.seen++ % weight)
		return;
	if (weight != tk.weight) {
		tk.weight = weight;
		mt_out_fmt(&tk.out, "W,%llu\n", (unsigned long long)weight);
	}
	tk.written++;
	if (s->known)
		note_code(s->reg[TK_REG_IP]);
	mt_out_fmt(&tk.out, "T,%llu,%u,%d,%d", (unsigned long long)s->time, s->tid, s->cpu, s->kernel);
	for (int i = 0; s->known && i < TK_N_REGS; i++) {
		mt_out_char(&tk.out, ',');
		if (s->reg[i])
			mt_out_hex(&tk.out, s->reg[i]);
	}
	mt_out_char(&tk.out, '\n');
}

static void read_ring(struct ring *r)
{
	struct perf_event_mmap_page *ctl = (void *)r->map;
	const char *data = r->map + MT_PAGE;
	uint64_t head = __atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE), tail = ctl->data_tail;

	while (tail < head) {
		struct record s;
		size_t n;

		zap_ring_copy(data, tk.data_bytes, tail, &s.header, sizeof(s.header));
		if (s.header.size < sizeof(s.header) || s.header.size > head - tail) {
			tk.lost++;
			tail = head;
			break;
		}
		n = s.header.size < sizeof(s) ? s.header.size : sizeof(s);
		zap_ring_copy(data, tk.data_bytes, tail, &s, n);
		if (s.header.type == PERF_RECORD_LOST && n >= 24 && !tk.read_lost) {
			uint64_t lost[2];	/* id, count */

			zap_ring_copy(data, tk.data_bytes, tail + sizeof(s.header), lost, sizeof(lost));
			tk.lost += lost[1];
		} else if (s.header.type == PERF_RECORD_SAMPLE && n >= RECORD_MIN) {
			struct sample t = {
				.time = s.time, .pid = s.pid, .tid = s.tid, .cpu = r->cpu,
				.kernel = (s.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
				.known = n == sizeof(s) && s.abi == PERF_SAMPLE_REGS_ABI_64,
			};

			if (t.known)
				memcpy(t.reg, s.reg, sizeof(t.reg));
			on_tick(&t);
		}
		tail += s.header.size;
	}
	__atomic_store_n(&ctl->data_tail, tail, __ATOMIC_RELEASE);
}

void tk_read(void)
{
	for (int i = 0; i < tk.nrings; i++)
		read_ring(&tk.ring[i]);
}

void tk_flush(void)
{
	for (int i = 0; tk.read_lost && i < tk.nrings; i++) {
		const int64_t lost = zap_perf_event_lost(tk.ring[i].fd);

		if (lost > (int64_t)tk.ring[i].lost) {
			tk.lost += (uint64_t)lost - tk.ring[i].lost;
			tk.ring[i].lost = (uint64_t)lost;
		}
	}
	if (tk.lost + tk.out.lost_lines > tk.told) {
		const uint64_t more = tk.lost + tk.out.lost_lines - tk.told;

		mt_out_fmt(&tk.out, "L,%llu,%llu\n", (unsigned long long)mt_now_ns(), (unsigned long long)more);
		tk.told += more;
	}
	if (tk.out.len)
		mt_out_flush(&tk.out);
}

void tk_after_fork(void)
{
	if (tk.ring)
		mt_rawunmap(tk.ring, (size_t)tk.ncpus * sizeof(*tk.ring));
	if (tk.code)
		mt_rawunmap(tk.code, CODE_SLOTS * sizeof(*tk.code));
	if (tk.out.buf)
		mt_rawunmap(tk.out.buf, BUFFER_BYTES);
	memset(&tk, 0, sizeof(tk));
}
