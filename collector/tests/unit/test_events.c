// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/events.c preload/faults/closelook.c common/out.c preload/faults/around.c preload/faults/decode.c preload/faults/records.c preload/faults/perfring.c preload/faults/perfevent.c preload/memory/ranges.c preload/faults/x86rw.c common/rawmem.c preload/faults/arm64rw.c
/* From faults to records and counters. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "common/tracefile.h"
#include "preload/faults/events.h"
#include "preload/memory/rwp.h"
#include "preload/faults/x86rw.h"

static struct zap_regions traced;

static enum zap_traced was_traced(uint64_t addr, uint64_t time)
{
	(void)time;
	return zap_regions_contain(&traced, addr) ? ZAP_TRACED : ZAP_NOT_TRACED;
}

/* Code in traced memory with the backend rwp; no kernel here has it. */
long zap_rwp_peek(int mem_fd, int pagemap_fd, uint64_t addr, void *buf, size_t n)
{
	(void)mem_fd;
	CHECK_EQ(pagemap_fd, 9);
	memset(buf, 0x90, n);
	if (addr == 0x10000100)
		memcpy(buf, "\x89\x07", 2);	/* mov %eax,(%rdi) */
	return (long)n;
}

static struct zap_events *new_events(int code_fd, int memfd)
{
	struct zap_events *e = calloc(1, sizeof(*e));

	CHECK_EQ(zap_records_init(&e->now.records, 8, 1 << 20), 0);
	CHECK_EQ(zap_records_init(&e->next.records, 8, 1 << 20), 0);
	CHECK_EQ(zap_decode_init(&e->decode, code_fd, memfd), 0);
	e->traced = &traced;
	e->was_traced = was_traced;
	e->pid = 77;
	e->begin_ns = 1000;
	return e;
}

/* With the backend rwp a write to a hidden page faults twice: one access, two faults. */
static void twice(void)
{
	struct zap_events *e = new_events(-1, -1);
	struct zap_fault f = { .ip = 0x400000, .time = 2000, .addr = 0x10000008, .pid = 77, .tid = 5, .cpu = 3, .kernel = 0 };
	const struct zap_record *r;

	e->twice = 1;
	zap_events_on_fault(e, &f);
	f.time++;
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->now.faults, 2);
	CHECK_EQ(e->now.records.n, 1);
	r = zap_record_at(&e->now.records, 0);
	CHECK_EQ((r->nreads > r->nwrites ? r->nreads : r->nwrites), 1);
	zap_events_on_fault(e, &f);	/* the third is another access */
	r = zap_record_at(&e->now.records, 0);
	CHECK_EQ((r->nreads > r->nwrites ? r->nreads : r->nwrites), 2);
	f.tid = 6;
	zap_events_on_fault(e, &f);	/* of another thread */
	f.ip++;
	zap_events_on_fault(e, &f);	/* a read before, say */
	f.addr += 8;
	zap_events_on_fault(e, &f);
	f.cpu++;
	zap_events_on_fault(e, &f);	/* another ring */
	CHECK_EQ(e->now.faults, 7);
	CHECK_EQ(e->now.records.n, 2);
	/* on either side of a boundary it is two */
	e->boundary_ns = f.time;
	f.time++;
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->next.records.n, 1);
	/* code in traced memory is read through memory, and the page looks as before */
	e->boundary_ns = 0;
	e->decode.pagemap_fd = 9;
	f.ip = 0x10000100;
	f.addr = 0x10001000;
	zap_events_on_fault(e, &f);
	r = zap_record_at(&e->now.records, e->now.records.n - 1);
	CHECK_EQ(r->nwrites, 1);
	CHECK_EQ(r->nreads, 0);
	free(e);
}

static void counters(void)
{
	struct zap_events *e = new_events(-1, -1);
	struct zap_fault f = { .ip = 0x400000, .time = 2000, .addr = 0x10000008, .pid = 77, .tid = 5, .cpu = 3 };
	const struct zap_range found[] = { { 0x10000000, 0x10003000 } };

	zap_events_on_fault(e, &f);
	f.tid = 6;
	zap_events_on_fault(e, &f);
	zap_events_on_fault(e, &f);
	f.pid = 78;			/* of another process */
	zap_events_on_fault(e, &f);
	f.pid = 77;
	f.time = 999;			/* our own, before the program went on */
	zap_events_on_fault(e, &f);
	f.time = 1000;
	f.addr = 0x30000000;		/* not traced */
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->now.faults, 3);
	CHECK_EQ(e->now.records.n, 2);
	zap_events_scanned(e, found, 1);
	CHECK_EQ(e->unattributed, 2);	/* the first page has a record */
	CHECK_EQ(e->now.records.n, 4);
	zap_events_scanned(e, found, 1);
	CHECK_EQ(e->unattributed, 2);
	e->perf.lost = 9;
	zap_events_next(e);
	CHECK_EQ(e->interval, 1);
	CHECK_EQ(e->now.faults + e->unattributed + e->perf.lost + e->now.records.n, 0);
	zap_events_scanned(e, found, 1);
	CHECK_EQ(e->unattributed, 3);

	/* the interval ends at 2000; what is read while it is still worked at is sorted by its time */
	zap_events_next(e);
	f.addr = 0x10000008;
	f.time = 1999;
	zap_events_end(e, 2000);
	zap_events_on_fault(e, &f);
	f.tid = 8;
	f.time = 2001;
	zap_events_on_fault(e, &f);
	zap_events_on_fault(e, &f);
	f.tid = 9;
	f.time = 2000;
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->now.faults, 2);
	CHECK_EQ(e->now.records.n, 2);
	CHECK_EQ(e->now.several, 1);
	zap_events_scanned(e, found, 1);	/* of the interval that ends */
	CHECK_EQ(e->unattributed, 2);
	zap_events_next(e);
	CHECK_EQ(e->now.faults, 2);
	CHECK_EQ(e->now.records.n, 1);
	CHECK_EQ(e->now.several, 0);
	CHECK_EQ(zap_record_at(&e->now.records, 0)->tid, 8);
	f.time = 3000;
	zap_events_on_fault(e, &f);	/* no end yet */
	CHECK_EQ(e->now.faults, 3);
	zap_events_next(e);
	CHECK_EQ(e->now.faults + e->now.records.n, 0);
	zap_events_after_fork(e);
	free(e);
}

#ifdef __x86_64__
static const uint8_t store[] = { 0x48, 0x89, 0x08 }, load[] = { 0x48, 0x8b, 0x08 };	/* mov %rcx,(%rax); mov (%rax),%rcx */
#else
static const uint32_t store[] = { 0xf9000020 }, load[] = { 0xf9400020 };		/* str x0, [x1]; ldr x0, [x1] */
#endif

/* Where a read maps 16 pages, what has no fault of its own is the first reader's of its group, perhaps. */
static void groups(void)
{
	const struct zap_range found[] = { { 0x1000e000, 0x10012000 }, { 0x10020000, 0x10021000 }, { 0x10031000, 0x10033000 } };
	struct zap_fault f = { .time = 2000, .addr = 0x1000f008, .pid = 77, .tid = 5, .cpu = 3, .ip = 0x20000000 };
	int code = memfd_create("code", 0);
	struct zap_events *e = new_events(code, -1);
	const struct zap_record *r;

	CHECK_EQ(pwrite(code, load, sizeof(load), 0x20000000), (long)sizeof(load));
	CHECK_EQ(pwrite(code, store, sizeof(store), 0x20000010), (long)sizeof(store));
	CHECK_EQ(zap_around_init(&e->around, 16), 0);
	CHECK_EQ(zap_around_init(&e->around_next, 16), 0);
	zap_regions_add(&traced, 0x10030000, 0x10031000);
	zap_events_on_fault(e, &f);
	f.tid = 6;			/* later in time, or in another ring: an earlier one */
	f.time = 1999;
	f.addr = 0x10000010;
	zap_events_on_fault(e, &f);
	f.tid = 7;
	f.time = 2500;
	f.ip = 0x20000010;		/* a write maps nothing around */
	f.addr = 0x10030000;
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->now.records.n, 3);
	zap_events_scanned(e, found, 3);
	zap_events_settle(e);
	/* 1000e by thread 6; 1000f has its own; 10010, 10011, 10020, 10031 and 10032 by nobody who is known */
	CHECK_EQ(e->now.records.n, 9);
	CHECK_EQ(e->unattributed, 5);
	CHECK_EQ(e->moot, 0);
	r = zap_record_at(&e->now.records, 3);
	CHECK(r->addr == 0x1000e000 && r->tid == 6 && r->ip == 0x20000000 && r->flags & MT_ACCESS_AROUND);
	r = zap_record_at(&e->now.records, 4);
	CHECK(r->addr == 0x10010000 && r->tid == ZAP_TID_NONE && r->flags & MT_ACCESS_AROUND);
	/* a read while the subphase is ended is one of the next */
	zap_events_turn_at(e, 3000);
	f.tid = 8;
	f.time = 3001;
	f.ip = 0x20000000;
	f.addr = 0x1000d000;
	zap_events_on_fault(e, &f);
	CHECK(zap_around_reader(&e->around, 0x10000000)->tid == 6);
	zap_events_turn(e);
	CHECK(zap_around_reader(&e->around, 0x10000000)->tid == 8);
	zap_events_turn(e);
	/* the next subphase: nobody has read yet; one of the pages gets a fault of its own */
	zap_events_scanned(e, found, 1);
	CHECK_EQ(e->now.records.n, 11);	/* 1000e again, without thread */
	f.addr = 0x1000e100;
	zap_events_on_fault(e, &f);
	zap_events_settle(e);
	CHECK_EQ(e->now.records.n, 12);
	CHECK_EQ(e->moot, 2);
	CHECK_EQ(e->unattributed, 5);
	zap_events_next(e);
	CHECK_EQ(e->now.records.n, 0);
	zap_regions_remove(&traced, 0x10030000, 0x10031000);
	zap_events_after_fork(e);
	CHECK(!e->around.slot);
	free(e);
	close(code);
}

/* More groups than the table had room for at first. */
static void many_groups(void)
{
	struct zap_around a;
	uint64_t wrong = 0;

	CHECK_EQ(zap_around_init(&a, 1), 0);
	zap_around_note(&a, 0x1000, 1, 2, 3, 4);
	CHECK(!zap_around_reader(&a, 0x1000));
	CHECK_EQ(zap_around_init(&a, 16), 0);
	for (uint64_t i = 0; i < 100000; i++)
		zap_around_note(&a, (i << 16) + i % 65536, 5 + i, (int32_t)i + 1, 0, i);
	zap_around_note(&a, 0, 0, 4242, 1, 0);		/* earlier than the first */
	CHECK_EQ(a.n, 100000);
	for (uint64_t i = 0; i < 100000; i++) {
		const struct zap_reader *r = zap_around_reader(&a, (i << 16) + 65535);

		wrong += !r || r->tid != (i ? (int32_t)i + 1 : 4242) || r->ip != (i ? i : 0);
	}
	CHECK_EQ(wrong, 0);
	CHECK(!zap_around_reader(&a, 100000ull << 16));
	zap_around_clear(&a);
	CHECK(!a.n && !zap_around_reader(&a, 0));
	zap_around_free(&a);
}

/* Pages are noted when asked for, from the first fault that is kept. */
static void noted(void)
{
	static uint64_t room[1 << 16];
	struct zap_events *e = new_events(-1, -1);
	struct zap_fault f = { .ip = 0x400000, .time = 2000, .addr = 0x10000008, .pid = 77, .tid = 5, .cpu = 3 };

	e->noted = room;
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->nnoted, 0);
	zap_events_note(e, 1);
	zap_events_on_fault(e, &f);
	f.addr = 0x10001fff;
	zap_events_on_fault(e, &f);
	f.addr = 0x30000000;		/* not traced */
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->nnoted, 2);
	CHECK_EQ(room[0], 0x10000000);
	CHECK_EQ(room[1], 0x10001000);
	f.addr = 0x10000000;
	for (int i = 0; i < (1 << 16) + 5; i++)
		zap_events_on_fault(e, &f);
	CHECK_EQ(e->nnoted, 1 << 16);	/* the rest does not fit */
	zap_events_note(e, 0);
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->nnoted, 1 << 16);
	zap_events_note(e, 1);
	CHECK_EQ(e->nnoted, 0);
	e->noted = NULL;
	zap_events_on_fault(e, &f);	/* there was no memory for it */
	CHECK_EQ(e->nnoted, 0);
	zap_events_after_fork(e);
	free(e);
}

/* Code outside of traced memory is decoded once; in it, once per interval. */
static void directions(void)
{
	const long n = sizeof(store);
	const uint64_t at[] = { 0x20000000, 0x20001000 };
	struct zap_fault f = { .time = 2000, .addr = 0x10000008, .pid = 77, .tid = 5 };
	int code = memfd_create("code", 0), traced_code = memfd_create("traced", 0);
	struct zap_events *e = new_events(code, traced_code);

	zap_regions_add(&traced, 0x20001000, 0x20002000);
	CHECK_EQ(pwrite(code, store, sizeof(store), (off_t)at[0]), n);
	CHECK_EQ(pwrite(traced_code, store, sizeof(store), (off_t)at[1]), n);
	for (int i = 0; i < 2; i++) {
		f.ip = at[i];
		CHECK_EQ(zap_decode(&e->decode, &traced, 0, &f), X86_WRITE);
	}
	CHECK_EQ(pwrite(code, load, sizeof(load), (off_t)at[0]), n);
	CHECK_EQ(pwrite(traced_code, load, sizeof(load), (off_t)at[1]), n);
	f.ip = at[0];
	CHECK_EQ(zap_decode(&e->decode, &traced, 1, &f), X86_WRITE);	/* remembered */
	f.ip = at[1];
	CHECK_EQ(zap_decode(&e->decode, &traced, 0, &f), X86_WRITE);
	CHECK_EQ(zap_decode(&e->decode, &traced, 1, &f), X86_READ);	/* compiled anew meanwhile */
	f.addr = f.ip + 2;						/* the fetch itself */
	CHECK_EQ(zap_decode(&e->decode, &traced, 1, &f), X86_READ);
	f.addr = 0x10000008;
	f.ip = 0x66660000;						/* no code to read there */
	CHECK_EQ(zap_decode(&e->decode, &traced, 1, &f), 0);
	f.ip = at[0];
	zap_events_on_fault(e, &f);
	CHECK(zap_record_at(&e->now.records, 0)->nwrites == 1 && zap_record_at(&e->now.records, 0)->nreads == 0);
	zap_regions_remove(&traced, 0x20001000, 0x20002000);
	zap_events_after_fork(e);
	free(e);
	close(code);
	close(traced_code);
}

/* Lost when it stays for two refreshes, once; more of it counts as more. */
static void late(void)
{
	struct zap_late l = { 0 };

	CHECK_EQ(zap_late_update(&l, 8192), 0);
	CHECK_EQ(zap_late_update(&l, 0), 0);		/* converted in time */
	CHECK_EQ(zap_late_update(&l, 8192), 0);
	CHECK_EQ(zap_late_update(&l, 8192), 8192);
	CHECK_EQ(zap_late_update(&l, 8192), 0);		/* the same: not twice */
	CHECK_EQ(zap_late_update(&l, 20480), 0);
	CHECK_EQ(zap_late_update(&l, 20480), 12288);
	CHECK_EQ(zap_late_update(&l, 4096), 0);
	CHECK_EQ(zap_late_update(&l, 20480), 0);
	CHECK_EQ(zap_late_update(&l, 20480), 0);
}

/* Pages that are looked at closely: samples, and no more in the records than without. */
static void zoomed(void)
{
	struct zap_events *e = new_events(-1, -1);
	struct zap_fault f = { .ip = 0x400000, .time = 2000, .addr = 0x10000008, .pid = 77, .tid = 5, .cpu = 3 };
	const uint64_t range[][2] = { { 0x10000000, 0x10000040 } };
	char text[4096];

	e->zoom.on = 1;
	mt_out_init(&e->zoom.samples, -1, text, sizeof(text));
	zap_zoom_aim(&e->zoom, range, 1);
	for (int i = 0; i < 5; i++)
		zap_events_on_fault(e, &f);		/* no direction: a read */
	CHECK_EQ(e->zoom.faults, 5);
	CHECK_EQ(e->now.faults, 0);
	CHECK_EQ(zap_record_at(&e->now.records, 0)->nreads, 1);
	e->looks = 2;					/* the third subphase */
	for (int i = 0; i < 5; i++)
		zap_events_on_fault(e, &f);
	CHECK_EQ(zap_record_at(&e->now.records, 0)->nreads, 3);
	f.addr = 0x10001000;				/* another page: each fault counts */
	zap_events_on_fault(e, &f);
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->now.faults, 2);
	CHECK_EQ(zap_record_at(&e->now.records, 1)->nreads, 2);
	CHECK_EQ(e->zoom.faults, 10);
	zap_events_end(e, 3000);			/* of the next interval */
	f.addr = 0x10000008;
	f.time = 3001;
	zap_events_on_fault(e, &f);
	zap_events_on_fault(e, &f);
	CHECK_EQ(e->next.faults, 0);
	CHECK_EQ(zap_record_at(&e->next.records, 0)->nreads, 1);
	CHECK_EQ(zap_record_at(&e->now.records, 0)->nreads, 3);
	free(e);
}

int main(void)
{
	zap_regions_add(&traced, 0x10000000, 0x10010000);
	counters();
	twice();
	groups();
	many_groups();
	noted();
	directions();
	late();
	zoomed();
	zap_regions_free(&traced);
	return mt_test_done();
}
