// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/events.h"

#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "common/tracefile.h"
#include "preload/faults/rw.h"

#define NOTED_PAGES (1ul << 16)

int zap_events_open(struct zap_events *e, int tid, uint32_t ring_pages, size_t max_records,
		    unsigned int around, const char **why, int *why_err)
{
	int err;

	*why_err = zap_perf_open(&e->perf, tid, ring_pages, why);
	e->works = !*why_err;
	if (e->works)
		e->noted = mt_rawmap(NOTED_PAGES * sizeof(*e->noted));
	err = zap_around_init(&e->around, around);
	if (!err)
		err = zap_around_init(&e->around_next, around);
	if (!err)
		err = zap_records_init(&e->now.records, e->works ? e->perf.ncpus : 64, max_records);
	return err ? err : zap_records_init(&e->next.records, e->works ? e->perf.ncpus : 64, max_records);
}

void zap_events_on_fault(void *arg, const struct zap_fault *f)
{
	struct zap_events *e = arg;
	const int later = e->boundary_ns && f->time > e->boundary_ns;
	struct zap_part *part = later ? &e->next : &e->now;
	enum zap_traced traced;
	int rw, zoomed;

	/* a child that shares our memory until it execs, or was forked before inherit_thread existed */
	if (f->pid != e->pid)
		return;
	/* our own accesses while setting up, at addresses that the program got later */
	if (f->time < e->begin_ns)
		return;
	traced = e->was_traced(f->addr, f->time);
	if (traced == ZAP_NOT_TRACED)
		return;		/* code, files, our own */
	rw = zap_decode(&e->decode, e->traced, e->interval + (uint32_t)later, f);
	zoomed = zap_zoom_fault(&e->zoom, f, rw);
	if (e->fine)
		zoomed |= e->fine(e->fine_arg, f, rw);
	part->faults += (uint64_t)!zoomed;
	if (e->twice) {
		const struct zap_fault *l = &e->last;
		const int again = l->tid == f->tid && l->ip == f->ip && l->addr == f->addr && l->cpu == f->cpu &&
				  (l->time > e->boundary_ns) == (f->time > e->boundary_ns) && l->time <= f->time;

		e->last = *f;
		if (again) {
			e->last.tid = 0;	/* a third one is another access */
			return;
		}
	}
	if (!part->first_tid)
		part->first_tid = f->tid;
	else if (f->tid != part->first_tid)
		part->several = 1;
	if (e->note && !later && e->noted && e->nnoted < NOTED_PAGES)
		e->noted[e->nnoted++] = f->addr & ~(MT_PAGE - 1);
	if (!(rw & ZAP_WRITE))
		zap_around_note(e->turn_ns && f->time > e->turn_ns ? &e->around_next : &e->around, f->addr, f->time, f->tid,
				f->cpu, f->ip);
	part->records.now_ns = f->time;
	part->records.most = !zoomed && !e->sampled ? 0 : later ? 1 : e->looks + 1;
	zap_records_add(&part->records, f->addr, f->tid, f->cpu, f->ip, rw,
			traced == ZAP_TRACED_SHARED ? MT_ACCESS_SHARED : 0);
}

void zap_events_note(struct zap_events *e, int on)
{
	e->note = on;
	if (on)
		e->nnoted = 0;
}

void zap_events_read(struct zap_events *e, uint64_t until)
{
	if (e->works)
		zap_perf_read(&e->perf, until, zap_events_on_fault, e);
}

/* What the kernel mapped around a read, or what has no event for another reason. */
static void perhaps_touched(struct zap_events *e, uint64_t page, uint32_t flags)
{
	const struct zap_reader *r = zap_around_reader(&e->around, page);

	if (r)
		zap_records_add_around(&e->now.records, page, r->tid, r->cpu, r->ip, flags);
	else
		zap_records_add_around(&e->now.records, page, ZAP_TID_NONE, -1, 0, flags);
}

void zap_events_scanned(struct zap_events *e, const struct zap_range *run, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint64_t a = run[i].start; a < run[i].end; a += MT_PAGE) {
			uint32_t flags = zap_regions_contain(&e->shared, a) ? MT_ACCESS_SHARED : 0;

			if (e->around.bytes)
				perhaps_touched(e, a, flags);
			else
				e->unattributed += (uint64_t)zap_records_add_scanned(&e->now.records, a, flags);
		}
}

void zap_events_turn_at(struct zap_events *e, uint64_t time)
{
	e->turn_ns = time;
}

void zap_events_turn(struct zap_events *e)
{
	struct zap_around done = e->around;

	e->around = e->around_next;
	zap_around_clear(&done);
	e->around_next = done;
	e->turn_ns = 0;
}

void zap_events_settle(struct zap_events *e)
{
	e->moot = 0;
	if (!e->around.bytes)
		return;
	e->unattributed = 0;
	for (size_t i = 0; i < e->now.records.n; i++) {
		const struct zap_record *r = zap_record_at(&e->now.records, i);
		int moot = zap_record_is_moot(&e->now.records, r);

		e->moot += (uint64_t)moot;
		e->unattributed += (uint64_t)(!moot && r->tid == ZAP_TID_NONE);
	}
}

void zap_events_end(struct zap_events *e, uint64_t time)
{
	e->boundary_ns = time;
}

void zap_events_next(struct zap_events *e)
{
	struct zap_part done = e->now;

	e->now = e->next;
	zap_records_clear(&done.records);
	e->next = (struct zap_part){ .records = done.records };
	e->boundary_ns = 0;
	e->unattributed = 0;
	e->perf.lost = 0;
	e->interval++;
}

void zap_events_after_fork(struct zap_events *e)
{
	zap_records_free(&e->now.records);
	zap_records_free(&e->next.records);
	zap_decode_free(&e->decode);
	mt_rawunmap(e->noted, NOTED_PAGES * sizeof(*e->noted));
	zap_regions_free(&e->shared);
	zap_around_free(&e->around);
	zap_around_free(&e->around_next);
	zap_zoom_after_fork(&e->zoom);
	if (e->perf.ring)
		mt_rawunmap(e->perf.ring, (size_t)e->perf.ncpus * sizeof(*e->perf.ring));
}

uint64_t zap_late_update(struct zap_late *l, uint64_t bytes)
{
	uint64_t stays, more;

	l->bytes[1] = l->bytes[0];
	l->bytes[0] = bytes;
	stays = l->bytes[0] < l->bytes[1] ? l->bytes[0] : l->bytes[1];
	if (stays <= l->reported)
		return 0;
	more = stays - l->reported;
	l->reported = stays;
	return more;
}
