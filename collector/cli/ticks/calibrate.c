/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/ticks/calibrate.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/base/cache.h"
#include "cli/base/util.h"

#define LINES (1ul << 14)	/* of 64 bytes: 1 MiB, so that a load waits for longer than all the rest takes */
#define LINE 64
#define PERIOD_NS 50000
#define ENOUGH 40		/* ticks */
#define FEWEST 20
#define LONGEST_NS 400000000ull	/* of wall time, on a busy machine */
#define RING_PAGES 8

/* A chain of loads, each of which needs the one before. */
extern const char mt_skid_load[] __attribute__((visibility("hidden"))), mt_skid_next[] __attribute__((visibility("hidden")));

static __attribute__((noinline)) void **chase(void **p, long n)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\n"
			 ".globl mt_skid_load\n.hidden mt_skid_load\nmt_skid_load: mov (%0), %0\n"
			 ".globl mt_skid_next\n.hidden mt_skid_next\nmt_skid_next: lea 0(%0), %0\n"
			 "dec %1\n"
			 "jnz 1b" : "+r"(p), "+r"(n) : : "memory", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1:\n"
			 ".globl mt_skid_load\n.hidden mt_skid_load\nmt_skid_load: ldr %0, [%0]\n"
			 ".globl mt_skid_next\n.hidden mt_skid_next\nmt_skid_next: add %0, %0, #0\n"
			 "subs %1, %1, #1\n"
			 "b.ne 1b" : "+r"(p), "+r"(n) : : "memory", "cc");
#endif
	return p;
}

int mt_skid_judge(uint64_t at_load, uint64_t at_next, uint64_t elsewhere)
{
	const uint64_t all = at_load + at_next + elsewhere;

	if (all < FEWEST)
		return -1;
	return at_next * 5 > all * 4 ? 1 : at_load * 5 > all * 4 ? 0 : -1;
}

static void count(struct mt_skid *s, char *map, size_t page)
{
	struct perf_event_mmap_page *ctl = (void *)map;
	const char *data = map + page;
	const uint64_t head = __atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE), bytes = RING_PAGES * page;
	uint64_t tail = ctl->data_tail;

	while (tail < head) {
		struct { struct perf_event_header h; uint64_t ip; } r;

		for (size_t i = 0; i < sizeof(r); i++)
			((char *)&r)[i] = data[(tail + i) % bytes];
		if (!r.h.size)
			break;
		if (r.h.type == PERF_RECORD_SAMPLE) {
			if (r.ip == (uint64_t)(uintptr_t)mt_skid_load)
				s->at_load++;
			else if (r.ip == (uint64_t)(uintptr_t)mt_skid_next)
				s->at_next++;
			else
				s->elsewhere++;
		}
		tail += r.h.size;
	}
	__atomic_store_n(&ctl->data_tail, tail, __ATOMIC_RELEASE);
}

/* A ring through all lines: steps of an odd number of lines that no prefetcher follows, since it changes with each round of its bits. */
static void **ring(char *m)
{
	uint64_t at = 0;

	for (size_t i = 0; i < LINES; i++) {
		/* a generator of all numbers below a power of two (Knuth, 3.2.1.2) */
		const uint64_t next = (at * 1664525 + 1013904223) % LINES;

		*(void **)(m + at * LINE) = m + next * LINE;
		at = next;
	}
	return (void **)m;
}

static void measure(struct mt_skid *s)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP, .exclude_kernel = 1, .exclude_hv = 1, .disabled = 1,
	};
	const long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	char *map, *m;
	const uint64_t begin = mt_monotonic_ns();
	void **p;

	if (fd < 0) {
		s->err = -errno;
		return;
	}
	map = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	m = mmap(NULL, LINES * LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || m == MAP_FAILED) {
		s->err = -errno;
	} else {
		p = ring(m);
		while (s->at_load + s->at_next + s->elsewhere < ENOUGH && mt_monotonic_ns() - begin < LONGEST_NS) {
			ioctl((int)fd, PERF_EVENT_IOC_ENABLE, 0);
			p = chase(p, 4000);
			ioctl((int)fd, PERF_EVENT_IOC_DISABLE, 0);
			count(s, map, page);
		}
		s->behind = mt_skid_judge(s->at_load, s->at_next, s->elsewhere);
	}
	if (m != MAP_FAILED)
		munmap(m, LINES * LINE);
	if (map != MAP_FAILED)
		munmap(map, (1 + RING_PAGES) * page);
	close((int)fd);
}

/* A home folder may serve many machines: each has its file in @dir. */
static char *file_of(char dir[PATH_MAX])
{
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	return mt_cache_dir(dir) ? NULL : mt_printf("%s/skid-%s", dir, *u.nodename && !strchr(u.nodename, '/') ? u.nodename : "here");
}

/* The answer is that of the processor, so it holds until the next boot at least. -1: none is kept. */
static int kept(const char *file, const char *boot)
{
	char *line = mt_read_line(file);
	const size_t n = strlen(boot);
	int behind = -1;

	if (line && !strncmp(line, boot, n) && (!strcmp(line + n, " 0") || !strcmp(line + n, " 1")))
		behind = line[n + 1] - '0';
	free(line);
	return behind;
}

static void keep(const char *dir, const char *file, const char *boot, int behind)
{
	struct mt_newfile out;

	if (mt_newfile(&out, dir, mt_base(file)))
		return;
	fprintf(out.f, "%s %d\n", boot, behind);
	mt_newfile_commit(&out);
}

struct mt_skid mt_skid_here(void)
{
	static struct mt_skid known;
	static bool asked;
	char dir[PATH_MAX], *file, *boot;

	if (asked)
		return known;
	asked = true;
	file = file_of(dir);
	boot = mt_read_line("/proc/sys/kernel/random/boot_id");
	known.behind = file && boot ? kept(file, boot) : -1;
	if (known.behind < 0) {
		measure(&known);
		if (file && boot && known.behind >= 0)
			keep(dir, file, boot, known.behind);
	}
	free(boot);
	free(file);
	return known;
}
