// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/closelook.h"

#include <fcntl.h>
#include <string.h>

#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "preload/faults/rw.h"

#define SAMPLE_BYTES (1ul << 20)
#define COST_BYTES (16ul << 10)
#define ENOUGH 0.7		/* of the budget: below it the period shrinks */

static double clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

void zap_pace_update(struct zap_pace *p, uint64_t wall_ns, uint64_t cost_ns, uint64_t samples)
{
	const uint64_t doublings = samples >> ZAP_ZOOM_FILE_SHIFT;
	const uint64_t shortest = doublings > 10 ? ZAP_ZOOM_LONGEST_NS / 2 : ZAP_ZOOM_SHORTEST_NS << doublings;
	double share, period = (double)p->period_ns;

	if (wall_ns) {
		share = (double)cost_ns / (double)wall_ns;
		if (share > p->budget)
			period *= clamp(share / p->budget, 1, 4);
		else if (share < p->budget * ENOUGH)
			period *= clamp(share / (p->budget * ENOUGH), 0.5, 1);
	}
	p->period_ns = (uint64_t)clamp(period, (double)shortest, (double)ZAP_ZOOM_LONGEST_NS);
}

static int create(int dirfd, const char *name)
{
	return (int)mt_sys(SYS_openat, dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
}

int zap_zoom_open(struct zap_zoom *z, int dirfd, double budget)
{
	char *sbuf, *cbuf;
	int samples, costs;

	memset(z, 0, sizeof(*z));
	samples = create(dirfd, "zoom.csv");
	costs = samples < 0 ? samples : create(dirfd, MT_FILE_ZOOMCOST);
	if (costs < 0)
		return costs;
	sbuf = mt_rawmap(SAMPLE_BYTES);
	cbuf = mt_rawmap(COST_BYTES);
	if (!sbuf || !cbuf)
		return -ENOMEM;
	mt_out_init(&z->samples, samples, sbuf, SAMPLE_BYTES);
	mt_out_init(&z->costs, costs, cbuf, COST_BYTES);
	mt_out_str(&z->samples, "Time,TaskId,@Virt,Access,Ip,Cpu\n");
	mt_out_str(&z->costs, "Start,End,BusyNs,Turns,PeriodNs,Pages,Faults,Samples,Beside,Lost,LeftOut,MonitorCpuNs,FaultCpuNs\n");
	mt_out_flush(&z->samples);
	mt_out_flush(&z->costs);
	z->pace = (struct zap_pace){ .budget = budget, .period_ns = ZAP_ZOOM_SHORTEST_NS * 4 };
	z->start_ns = mt_now_ns();
	z->version = ~0ull;
	z->on = 1;
	return 0;
}

void zap_zoom_aim(struct zap_zoom *z, const uint64_t (*range)[2], size_t n)
{
	zap_regions_clear(&z->lines);
	zap_regions_clear(&z->pages);
	for (size_t i = 0; i < n; i++) {
		const uint64_t start = range[i][0], end = range[i][1];

		if (start >= end)
			continue;
		zap_regions_add(&z->lines, start & ~(uint64_t)(ZAP_ZOOM_LINE - 1), (end + ZAP_ZOOM_LINE - 1) & ~(uint64_t)(ZAP_ZOOM_LINE - 1));
		zap_regions_add(&z->pages, start & ~(MT_PAGE - 1), (end + MT_PAGE - 1) & ~(MT_PAGE - 1));
	}
}

/*
 * The first pages of suspects at @at or behind it that are in one of the sets: *start to the end of what can be unmapped as one
 * piece, which is returned; 0: there are none. *in is the set.
 */
static uint64_t next_piece(const struct zap_zoom *z, const struct zap_regions *const set[2], uint64_t at, uint64_t *start, int *in)
{
	for (size_t i = zap_regions_find(&z->pages, at); i < z->pages.n; i++) {
		const struct zap_range *r = &z->pages.r[i];
		const uint64_t from = r->start > at ? r->start : at;
		uint64_t end = 0;

		for (int k = 0; k < 2; k++) {
			size_t j = zap_regions_find(set[k], from);
			uint64_t first;

			if (j == set[k]->n || set[k]->r[j].start >= r->end)
				continue;
			first = set[k]->r[j].start > from ? set[k]->r[j].start : from;
			if (end && first >= *start)
				continue;
			*start = first;
			*in = k;
			end = set[k]->r[j].end < r->end ? set[k]->r[j].end : r->end;
		}
		if (end)
			return end;
	}
	return 0;
}

uint64_t zap_zoom_turn(struct zap_zoom *z, const struct zap_regions *traced, const struct zap_regions *shared)
{
	const struct zap_regions *const set[2] = { traced, shared };
	uint64_t left = ZAP_ZOOM_PAGES, at = z->at, start = 0, end;
	int in = 0, again = 0;

	zap_regions_clear(&z->ours);
	zap_regions_clear(&z->shared);
	while (left) {
		end = next_piece(z, set, at, &start, &in);
		if (!end || (again && start >= z->at)) {
			if (again++ || !z->at)
				break;
			at = 0;		/* goes on at the begin */
			continue;
		}
		if (again && end > z->at)
			end = z->at;
		if (end - start > left * MT_PAGE)
			end = start + left * MT_PAGE;
		zap_regions_add(in ? &z->shared : &z->ours, start, end);
		left -= (end - start) / MT_PAGE;
		at = end;
	}
	z->turns++;
	if (left) {		/* all of them fit */
		z->dwelt = 0;
		z->at = 0;
	} else if (++z->dwelt >= ZAP_ZOOM_DWELL) {
		z->dwelt = 0;
		z->at = at;
	}
	return ZAP_ZOOM_PAGES - left;
}

int zap_zoom_fault(struct zap_zoom *z, const struct zap_fault *f, int rw)
{
	static const char *const access[] = { "?", "r", "w", "rw" };
	int k;

	if (!z->on || !zap_regions_contain(&z->pages, f->addr))
		return 0;
	z->faults++;
	if (!zap_regions_contain(&z->lines, f->addr)) {
		z->beside++;
		return 1;
	}
	k = (rw & ZAP_READ ? 1 : 0) | (rw & ZAP_WRITE ? 2 : 0);
	mt_out_u64(&z->samples, f->time);
	mt_out_char(&z->samples, ',');
	mt_out_i64(&z->samples, f->tid);
	mt_out_char(&z->samples, ',');
	mt_out_hex(&z->samples, f->addr);
	mt_out_char(&z->samples, ',');
	mt_out_str(&z->samples, access[k]);
	mt_out_char(&z->samples, ',');
	mt_out_hex(&z->samples, f->kernel ? 0 : f->ip);
	mt_out_char(&z->samples, ',');
	mt_out_i64(&z->samples, f->cpu);
	mt_out_char(&z->samples, '\n');
	z->written++;
	return 1;
}

void zap_zoom_interval(struct zap_zoom *z, uint64_t end, uint64_t fault_ns)
{
	uint64_t lost;

	if (!z->on)
		return;
	mt_out_flush(&z->samples);
	lost = z->samples.lost_lines - z->lost_told;
	z->all_samples += z->written;
	mt_out_fmt(&z->costs, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
		   (unsigned long long)z->start_ns, (unsigned long long)end, (unsigned long long)z->busy_ns,
		   (unsigned long long)z->turns, (unsigned long long)z->pace.period_ns,
		   (unsigned long long)(zap_regions_bytes(&z->pages) / MT_PAGE), (unsigned long long)z->faults,
		   (unsigned long long)(z->written - lost), (unsigned long long)z->beside, (unsigned long long)lost,
		   (unsigned long long)z->left_out, (unsigned long long)z->cpu_ns,
		   (unsigned long long)(z->faults * fault_ns));
	if (!mt_out_flush(&z->costs))
		z->lost_told += lost;
	z->start_ns = end;
	z->turns = z->faults = z->written = z->beside = z->busy_ns = z->cpu_ns = 0;
}

void zap_zoom_after_fork(struct zap_zoom *z)
{
	zap_regions_free(&z->lines);
	zap_regions_free(&z->pages);
	zap_regions_free(&z->ours);
	zap_regions_free(&z->shared);
	if (z->samples.buf)
		mt_rawunmap(z->samples.buf, SAMPLE_BYTES);
	if (z->costs.buf)
		mt_rawunmap(z->costs.buf, COST_BYTES);
}
