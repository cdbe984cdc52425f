// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/faults/records.c common/rawmem.c
#include <stdlib.h>

#include "harness.h"
#include "common/tracefile.h"
#include "preload/faults/records.h"
#include "preload/faults/x86rw.h"

static void examples(void)
{
	struct zap_records t;
	struct zap_record *r;

	CHECK_EQ(zap_records_init(&t, 130, 1 << 20), 0);
	CHECK_EQ(t.mask_words, 3);
	zap_records_add(&t, 0x5010, 7, 0, 0x400, X86_READ, 0);
	zap_records_add(&t, 0x5020, 7, 129, 0x404, X86_READ | X86_WRITE, 0);
	zap_records_add(&t, 0x5030, 8, 1, 0x408, 0, 0);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.npages, 1);
	r = zap_record_at(&t, 0);
	CHECK_EQ(r->addr, 0x5010);	/* of the first access */
	CHECK_EQ(r->ip, 0x400);
	CHECK_EQ(r->nreads, 2);
	CHECK_EQ(r->nwrites, 1);
	CHECK(r->cpus[0] == 1 && r->cpus[1] == 0 && r->cpus[2] == 2);
	CHECK_EQ(r->read_at, 0x10 + 1);
	CHECK_EQ(r->write_at, 0x20 + 1);
	r = zap_record_at(&t, 1);
	CHECK(r->read_at == 0x30 + 1 && r->write_at == 0);
	CHECK_EQ(r->flags, MT_ACCESS_NO_DIRECTION);
	CHECK(r->nreads == 1 && r->nwrites == 0);
	/* found by the scan: only pages without a record, never 0 in both */
	CHECK_EQ(zap_records_add_scanned(&t, 0x5000, 0), 0);
	CHECK_EQ(zap_records_add_scanned(&t, 0x6000, 0), 1);
	CHECK_EQ(zap_records_add_scanned(&t, 0x6000, 0), 0);
	r = zap_record_at(&t, 2);
	CHECK(r->read_at == 0 && r->write_at == 0);
	CHECK(r->tid == ZAP_TID_NONE && r->nreads == 1 && r->flags == (MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION));
	zap_records_add(&t, 0x7fff, 7, 0, 0x400, X86_WRITE, 0);	/* the last byte of a page */
	zap_records_add(&t, 0x7000, 7, 0, 0x400, X86_READ, 0);
	r = zap_record_at(&t, 3);
	CHECK(r->write_at == 0x1000 && r->read_at == 1);
	zap_records_clear(&t);
	CHECK_EQ(t.n, 0);
	CHECK_EQ(zap_records_add_scanned(&t, 0x5000, 0), 1);
	zap_records_free(&t);
}

static void growth_and_limit(void)
{
	struct zap_records t;
	size_t sum = 0;

	CHECK_EQ(zap_records_init(&t, 1, 1 << 16), 0);
	for (int round = 0; round < 3; round++) {
		/* rounds of different size: both ways to clear */
		size_t pages = round == 1 ? 100 : 40000;

		for (size_t i = 0; i < pages; i++)
			for (int32_t tid = 1; tid <= 2; tid++)
				zap_records_add(&t, 0x7f0000000000ull + i * 4096 * 3, tid, 0, 1, X86_WRITE, 0);
		sum = 0;
		for (size_t i = 0; i < t.n; i++)
			sum += zap_record_at(&t, i)->nwrites;
		CHECK_EQ(t.n, pages * 2 > 65536 ? 65536 : pages * 2);
		CHECK_EQ(sum + t.lost, pages * 2);
		zap_records_clear(&t);
		CHECK_EQ(t.lost, 0);
	}
	zap_records_free(&t);
}

/* A page with a record is not found again by the scan, however often the tables grew. */
static void page_set_after_growth(void)
{
	struct zap_records t;
	uint64_t twice = 0;

	CHECK_EQ(zap_records_init(&t, 1, 1 << 20), 0);
	for (size_t i = 0; i < 100000; i++)
		zap_records_add(&t, 0x7f0000000000ull + i * 4096, 1, 0, 1, X86_WRITE, 0);
	CHECK_EQ(t.npages, 100000);
	for (size_t i = 0; i < 100000; i++)
		twice += (uint64_t)zap_records_add_scanned(&t, 0x7f0000000000ull + i * 4096, 0);
	CHECK_EQ(twice, 0);
	CHECK_EQ(zap_records_add_scanned(&t, 0x7f0000000000ull + 100000 * 4096, 0), 1);
	CHECK_EQ(t.n, 100001);
	zap_records_free(&t);
}

/* Pages mapped around a read: a guess, which a fault of the page in the same interval ends. */
static void guesses(void)
{
	const uint32_t around = MT_ACCESS_AROUND | MT_ACCESS_FROM_SCAN | MT_ACCESS_NO_DIRECTION;
	struct zap_records t;
	struct zap_record *r;

	CHECK_EQ(zap_records_init(&t, 8, 1 << 20), 0);
	zap_records_add(&t, 0x5010, 7, 0, 0x400, X86_READ, 0);
	zap_records_add_around(&t, 0x5000, 8, 1, 0x404, 0);	/* is certain already */
	zap_records_add_around(&t, 0x6000, 7, 2, 0x408, 0);
	zap_records_add_around(&t, 0x6000, 8, 1, 0x40c, MT_ACCESS_SHARED);
	zap_records_add_around(&t, 0x6000, 8, 3, 0x40c, 0);
	zap_records_add_around(&t, 0x7000, ZAP_TID_NONE, -1, 0, 0);
	CHECK_EQ(t.n, 4);
	CHECK_EQ(t.npages, 3);
	r = zap_record_at(&t, 2);
	CHECK(r->tid == 8 && r->nreads == 1 && r->nwrites == 0 && r->ip == 0x40c && r->cpus[0] == 0xa && r->flags == around);
	CHECK(r->read_at == 0 && r->write_at == 0);
	for (size_t i = 0; i < t.n; i++)
		CHECK_EQ(zap_record_is_moot(&t, zap_record_at(&t, i)), 0);
	/* thread 8 really writes to the page: of its guess nothing is left, that of thread 7 is moot */
	zap_records_add(&t, 0x6020, 8, 5, 0x500, X86_WRITE, 0);
	CHECK_EQ(t.n, 4);
	CHECK(r->addr == 0x6020 && r->nreads == 0 && r->nwrites == 1 && r->ip == 0x500 && r->cpus[0] == 0x20 && r->flags == 0);
	CHECK(zap_record_is_moot(&t, zap_record_at(&t, 1)));
	CHECK(!zap_record_is_moot(&t, r) && !zap_record_is_moot(&t, zap_record_at(&t, 3)));
	zap_records_add_around(&t, 0x6000, 9, 1, 0x40c, 0);
	CHECK_EQ(t.n, 4);
	/* what is certain stays so when the tables grow, and is forgotten with the interval */
	for (uint64_t i = 0; i < 20000; i++)
		zap_records_add_around(&t, (0x100000 + i) << 12, 3, 0, 0, 0);
	CHECK_EQ(t.n, 20004);
	CHECK(zap_record_is_moot(&t, zap_record_at(&t, 1)) && !zap_record_is_moot(&t, zap_record_at(&t, 3)));
	zap_records_clear(&t);
	zap_records_add_around(&t, 0x6000, 7, 2, 0x408, 0);
	CHECK(t.n == 1 && !zap_record_is_moot(&t, zap_record_at(&t, 0)));
	zap_records_clear(&t);		/* the other way to clear: few records in large tables */
	CHECK_EQ(zap_records_add_scanned(&t, 0x6000, 0), 1);
	zap_records_free(&t);
}

int main(void)
{
	guesses();
	examples();
	growth_and_limit();
	page_set_after_growth();
	return mt_test_done();
}
