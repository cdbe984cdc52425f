// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/perfring.c preload/faults/perfevent.c common/rawmem.c
/* Rings made by hand: events over the end of the ring, losses, the time limit, damage; and real ones that overflow. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "common/rawsys.h"
#include "preload/faults/perfring.h"

#define DATA 8192u

struct made {
	struct perf_event_header h;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, addr;
	uint64_t abi, ax, cx, si, di, sp;
};

static char *area;
static struct zap_ring ring = { .cpu = 7 };
static struct zap_perf perf = { .ring = &ring, .nrings = 1, .ncpus = 1, .data_bytes = DATA };
static struct perf_event_mmap_page *ctl;

static void put(const void *what, size_t n)
{
	for (size_t i = 0; i < n; i++)
		area[4096 + (ctl->data_head + i) % DATA] = ((const char *)what)[i];
	ctl->data_head += n;
}

static void put_fault(uint64_t i)
{
	const struct made m = {
		.h = { PERF_RECORD_SAMPLE, i % 3 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL, sizeof(m) },
		.ip = 0x400000 + i, .pid = 77, .tid = (uint32_t)(100 + i % 5), .time = 1000 + i, .addr = i << 12 | 8,
		.abi = i % 2, .ax = i, .cx = i + 1, .si = i + 2, .di = i + 3, .sp = i + 4,
	};

	put(&m, sizeof(m));
}

static uint64_t seen, wrong;

static void check(void *arg, const struct zap_fault *f)
{
	const uint64_t i = *(uint64_t *)arg + seen++;

	wrong += f->ip != 0x400000 + i || f->time != 1000 + i || f->addr != (i << 12 | 8) || f->pid != 77 ||
		 f->tid != (int)(100 + i % 5) || f->cpu != 7 || f->kernel != !(i % 3);
	if (i % 2)
		wrong += f->regs.ax != i || f->regs.cx != i + 1 || f->regs.si != i + 2 || f->regs.di != i + 3 ||
			 f->regs.sp != i + 4;
}

static uint64_t take(uint64_t first, uint64_t until)
{
	uint64_t n;

	seen = 0;
	n = zap_perf_read(&perf, until, check, &first);
	CHECK_EQ(n, seen);
	return n;
}

/* ---- what the kernel counted */

static int64_t counted[8];	/* by descriptor */
static int asked[8];

static int64_t fake_lost(int fd)
{
	asked[fd]++;
	return counted[fd];
}

static void fill(char *map)
{
	struct perf_event_mmap_page *c = (void *)map;

	c->data_head = c->data_tail + DATA - 100;
}

/* Only full rings are asked, both events of them; what was counted is counted once. */
static void counted_by_kernel(void)
{
	const struct { struct perf_event_header h; uint64_t id, lost; } lost = {
		{ PERF_RECORD_LOST, 0, sizeof(lost) }, 1, 17,
	};
	struct zap_ring r[3];
	struct zap_perf p = { .ring = r, .nrings = 3, .ncpus = 3, .data_bytes = DATA, .read_lost = fake_lost };
	uint64_t any = 0;

	for (int i = 0; i < 3; i++) {
		r[i] = (struct zap_ring){ .fd = 2 * i, .major_fd = 2 * i + 1, .map = aligned_alloc(4096, 4096 + DATA) };
		memset(r[i].map, 0, 4096 + DATA);
	}
	counted[0] = counted[1] = 1000;
	counted[4] = 3;
	zap_perf_count_lost(&p, 0);
	CHECK_EQ(zap_perf_take_lost(&p), 0);
	CHECK_EQ(asked[0] + asked[1] + asked[2] + asked[3] + asked[4] + asked[5], 0);

	/* full now, though nobody has read it yet */
	fill(r[1].map);
	counted[2] = 5;
	counted[3] = 1ll << 40;
	zap_perf_count_lost(&p, 0);
	CHECK_EQ(asked[0] + asked[1] + asked[4] + asked[5], 0);
	CHECK(asked[2] == 1 && asked[3] == 1);
	CHECK_EQ(zap_perf_take_lost(&p), (1ll << 40) + 5);
	CHECK_EQ(zap_perf_take_lost(&p), 0);
	CHECK(!p.full);

	/* full and lost nothing */
	fill(r[1].map);
	zap_perf_count_lost(&p, 0);
	CHECK(p.full);
	CHECK_EQ(zap_perf_take_lost(&p), 0);

	/* was full, and read since: what is lost after the boundary belongs to the next interval */
	memset((char *)r[1].map + 4096, 0, DATA);
	memcpy((char *)r[1].map + 4096, &lost, sizeof(lost));
	((struct perf_event_mmap_page *)r[1].map)->data_tail = 0;
	((struct perf_event_mmap_page *)r[1].map)->data_head = sizeof(lost);
	counted[2] = 8;
	CHECK_EQ(zap_perf_read(&p, ~0ull, check, &any), 0);
	CHECK_EQ(zap_perf_take_lost(&p), 0);
	zap_perf_count_lost(&p, 0);
	CHECK_EQ(zap_perf_take_lost(&p), 3);
	asked[2] = 0;
	zap_perf_count_lost(&p, 0);
	CHECK_EQ(asked[2], 0);
	CHECK_EQ(zap_perf_take_lost(&p), 0);

	/* the end: all; one that cannot be read changes nothing, and not what it was before */
	counted[2] = -1;
	counted[4] = 4;
	zap_perf_count_lost(&p, 1);
	CHECK_EQ(zap_perf_take_lost(&p), 2000 + 4);
	counted[2] = 9;
	zap_perf_count_lost(&p, 1);
	CHECK_EQ(zap_perf_take_lost(&p), 1);

	for (int i = 0; i < 3; i++)
		free(r[i].map);
}

static void count_fault(void *arg, const struct zap_fault *f)
{
	(void)f;
	++*(uint64_t *)arg;
}

/* Real rings that are too small: what was read and what was lost are what the events counted. */
static void too_small(void)
{
	const size_t pages = 20000;
	struct zap_perf p;
	const char *what;
	uint64_t events = 0, n = 0, lost;
	volatile char *memory;

	if (zap_perf_open(&p, (int)mt_gettid(), 8, &what)) {
		printf("not tested: perf is refused here (%s)\n", what);
		return;
	}
	if (!p.read_lost) {
		printf("not tested: this kernel does not count what a ring loses\n");
		zap_perf_close(&p);
		return;
	}
	memory = mmap(NULL, pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	madvise((void *)memory, pages << 12, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i << 12] = 1;
	zap_perf_count_lost(&p, 0);
	lost = zap_perf_take_lost(&p);
	CHECK(lost > pages / 2);
	/* once more, with a part of it read meanwhile */
	madvise((void *)memory, pages << 12, MADV_DONTNEED);
	for (size_t i = 0; i < pages; i++) {
		memory[i << 12] = 1;
		if (i % 1024 == 0)
			zap_perf_read(&p, ~0ull, count_fault, &n);
	}
	zap_perf_count_lost(&p, 0);
	lost += zap_perf_take_lost(&p);
	for (int i = 0; i < p.nrings; i++) {
		uint64_t v[2] = { 0, 0 };

		CHECK_EQ(read(p.ring[i].fd, v, sizeof(v)), sizeof(v));
		events += v[0];
		CHECK_EQ(read(p.ring[i].major_fd, v, sizeof(v)), sizeof(v));
		events += v[0];
	}
	zap_perf_read(&p, ~0ull, count_fault, &n);
	CHECK(n > 1000 && events >= 2 * pages);
	/* a fault between the last two lines of counting would be seen by one of them only */
	zap_perf_count_lost(&p, 1);
	lost += zap_perf_take_lost(&p);
	CHECK(n + lost >= events && n + lost - events < 20);
	zap_perf_close(&p);
	munmap((void *)memory, pages << 12);
}

int main(void)
{
	const struct { struct perf_event_header h; uint64_t id, lost; } lost = {
		{ PERF_RECORD_LOST, 0, sizeof(lost) }, 1, 17,
	};
	const struct perf_event_header other = { 99, 0, 8 }, bad = { PERF_RECORD_SAMPLE, 0, 4 };
	uint64_t next = 0;

	area = aligned_alloc(4096, 4096 + DATA);
	memset(area, 0, 4096 + DATA);
	ring.map = area;
	ctl = (void *)area;
	/* 8192 is no multiple of the size of an event: many rounds cut one at each of its words */
	for (int round = 0; round < 1000; round++) {
		uint64_t first = next, n = 1 + (uint64_t)round % 60;

		for (uint64_t i = 0; i < n; i++)
			put_fault(next++);
		if (round % 7 == 0)
			put(&other, sizeof(other));	/* skipped; shifts what follows by a word */
		CHECK(take(first, ~0ull) == n);
		CHECK(ctl->data_tail == ctl->data_head);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(perf.lost, 0);

	/* a lost record that wraps, too */
	for (int i = 0; i < 2000; i++) {
		put(&other, sizeof(other));
		put(&lost, sizeof(lost));
		CHECK(take(next, ~0ull) == 0);
	}
	CHECK_EQ(perf.lost, 2000 * 17);
	CHECK_EQ(zap_perf_take_lost(&perf), 2000 * 17);
	CHECK_EQ(zap_perf_take_lost(&perf), 0);

	/* a full ring is told at once, and not a second time when the kernel tells */
	CHECK(!zap_perf_is_tight(&perf));
	while (DATA - (ctl->data_head - ctl->data_tail) > 150)
		put(&other, sizeof(other));
	CHECK(zap_perf_is_tight(&perf));
	CHECK(take(next, ~0ull) == 0);
	CHECK(!zap_perf_is_tight(&perf) && perf.full);
	CHECK_EQ(zap_perf_take_lost(&perf), 1);
	put(&lost, sizeof(lost));
	CHECK(take(next, ~0ull) == 0);
	CHECK_EQ(zap_perf_take_lost(&perf), 16);
	CHECK_EQ(zap_perf_take_lost(&perf), 0);
	/* a half of it is not full */
	while (ctl->data_head - ctl->data_tail <= DATA / 2)
		put(&other, sizeof(other));
	CHECK(zap_perf_is_tight(&perf));
	CHECK(take(next, ~0ull) == 0);
	CHECK_EQ(zap_perf_take_lost(&perf), 0);

	/* later ones stay */
	for (int i = 0; i < 10; i++)
		put_fault(next++);
	CHECK_EQ(take(next - 10, 1000 + next - 7), 4);	/* the limit is included */
	CHECK_EQ(take(next - 6, 1000 + next - 7), 0);
	CHECK_EQ(take(next - 6, ~0ull), 6);
	CHECK_EQ(wrong, 0);

	/* what cannot be: reading goes on behind it */
	put_fault(next++);
	put(&bad, sizeof(bad));
	put_fault(next++);
	CHECK_EQ(take(next - 2, ~0ull), 1);
	CHECK_EQ(perf.bad, 1);
	CHECK(ctl->data_tail == ctl->data_head);
	put_fault(next++);
	CHECK_EQ(take(next - 1, ~0ull), 1);
	CHECK_EQ(wrong, 0);
	free(area);
	counted_by_kernel();
	too_small();
	return mt_test_done();
}
