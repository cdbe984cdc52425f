// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Only pages that the kernel reports as file pages are found: should the program have
 * replaced a mapping behind our back with raw system calls, its private pages are safe.
 */
#include "preload/memory/scan.h"

#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "preload/memory/kept.h"
#include "preload/memory/rwp.h"

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

#define SCAN_VEC 4096
#define FIRST_RUNS (1ul << 16)
#define INFO_BITS 18
#define INFO_SLOTS (1ul << INFO_BITS)
#define INFO_INTERVALS 16	/* node and frame of a page are asked again after so many */

struct zap_page_info {
	uint64_t page;
	uint64_t frame;
	int32_t node;
	uint32_t stamp;
};

/* "0" or "0-3" of /sys/devices/system/node/online */
static int only_node(void)
{
	char buf[64];
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : mt_sys(SYS_read, fd, buf, sizeof(buf));
	int v = 0;

	if (fd >= 0)
		mt_sys(SYS_close, fd);
	for (long i = 0; i < n && buf[i] != '\n'; i++) {
		if (buf[i] < '0' || buf[i] > '9')
			return -1;
		v = v * 10 + (buf[i] - '0');
	}
	return n > 0 ? v : 0;
}

int zap_scan_init(struct zap_scan *s, int memfd, int pagemap_fd, int physical)
{
	memset(s, 0, sizeof(*s));
	s->memfd = memfd;
	s->pagemap_fd = pagemap_fd;
	s->dontneed = MADV_DONTNEED_LOCKED;
	s->has_ioctl = 1;
	s->vec = mt_rawmap(SCAN_VEC * sizeof(*s->vec));
	s->run_cap = FIRST_RUNS;
	s->run = mt_rawmap(s->run_cap * sizeof(*s->run));
	s->one_node = only_node();
	s->physical = physical;
	if (physical || s->one_node < 0)
		s->info = mt_rawmap(INFO_SLOTS * sizeof(*s->info));
	return s->vec && s->run ? 0 : -ENOMEM;
}

static void take_breath(const struct zap_scan *s)
{
	if (s->between)
		s->between(s->between_arg);
}

void zap_scan_free(struct zap_scan *s)
{
	mt_rawunmap(s->run, s->run_cap * sizeof(*s->run));
	mt_rawunmap(s->vec, SCAN_VEC * sizeof(*s->vec));
	mt_rawunmap(s->info, INFO_SLOTS * sizeof(*s->info));
	memset(s, 0, sizeof(*s));
}

/* In ascending order; what the kernel reports again (walk_end before the last region) is left out. */
static void add_run(struct zap_scan *s, uint64_t start, uint64_t end)
{
	if (s->nruns && start < s->run[s->nruns - 1].end)
		start = s->run[s->nruns - 1].end;
	if (start >= end)
		return;
	if (s->nruns && s->run[s->nruns - 1].end == start) {
		s->run[s->nruns - 1].end = end;
		return;
	}
	if (s->nruns == s->run_cap) {
		struct zap_range *r = mt_rawmap(s->run_cap * 2 * sizeof(*r));

		if (!r)
			return;	/* not zapped: stays mapped, seen at the next scan */
		memcpy(r, s->run, s->nruns * sizeof(*r));
		mt_rawunmap(s->run, s->run_cap * sizeof(*r));
		s->run = r;
		s->run_cap *= 2;
	}
	s->run[s->nruns++] = (struct zap_range){ start, end };
}

/* Linux 6.7: 0, or negative errno when the kernel has no PAGEMAP_SCAN. */
static long scan_range(struct zap_scan *s, uint64_t start, uint64_t end, uint64_t is)
{
	while (start < end) {
		struct pm_scan_arg a = {
			.size = sizeof(a), .start = start, .end = end,
			.vec = (uint64_t)s->vec, .vec_len = SCAN_VEC,
			.category_mask = is,
			.return_mask = is,
		};
		long n = mt_sys(SYS_ioctl, s->pagemap_fd, PAGEMAP_SCAN, &a);

		if (n < 0)
			return n;
		for (long i = 0; i < n; i++)
			add_run(s, s->vec[i].start, s->vec[i].end);
		take_breath(s);
		if (a.walk_end <= start)
			break;
		start = a.walk_end;
	}
	return 0;
}

/* Older kernels: /proc/self/pagemap, of the memory file (@ours) only where it has data. */
static void scan_range_pagemap(struct zap_scan *s, uint64_t start, uint64_t end, int ours)
{
	uint64_t entry[512];

	while (start < end) {
		long data = ours && !s->rwp ? mt_sys(SYS_lseek, s->memfd, start, 3 /* SEEK_DATA */) : (long)start, hole;

		if (data < 0 || (uint64_t)data >= end)
			return;
		hole = ours && !s->rwp ? mt_sys(SYS_lseek, s->memfd, data, 4 /* SEEK_HOLE */) : (long)end;
		start = (uint64_t)data & ~(MT_PAGE - 1);
		if (hole < 0 || (uint64_t)hole > end)
			hole = (long)end;
		while (start < (uint64_t)hole) {
			uint64_t want = ((uint64_t)hole - start + MT_PAGE - 1) / MT_PAGE;
			long n = mt_sys(SYS_pread64, s->pagemap_fd, entry, (want > 512 ? 512 : want) * 8,
					start / MT_PAGE * 8) / 8;

			if (n <= 0)
				return;
			for (long i = 0; i < n; i++)	/* bit 63 present, bit 61 file or shared */
				if (ours && s->rwp ? mt_rwp_touched(entry[i]) : (entry[i] >> 63) && (entry[i] >> 61 & 1))
					add_run(s, start + (uint64_t)i * MT_PAGE, start + (uint64_t)(i + 1) * MT_PAGE);
			start += (uint64_t)n * MT_PAGE;
		}
	}
}

void zap_scan(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared)
{
	size_t i = 0, j = 0;

	s->nruns = 0;
	while (i < traced->n || j < shared->n) {
		int ours = j == shared->n || (i < traced->n && traced->r[i].start < shared->r[j].start);
		const struct zap_range *r = ours ? &traced->r[i++] : &shared->r[j++];

		if (s->has_ioctl) {
			long err = scan_range(s, r->start, r->end,
					      ours && s->rwp ? MT_PAGE_IS_ACCESSED : PAGE_IS_PRESENT | PAGE_IS_FILE);

			if (err != -ENOTTY && err != -EINVAL)
				continue;
			s->has_ioctl = 0;
		}
		scan_range_pagemap(s, r->start, r->end, ours);
	}
}

/* Present pages that are not the file's. */
static uint64_t copies_pagemap(struct zap_scan *s, uint64_t start, uint64_t end)
{
	uint64_t entry[512], pages = 0;

	while (start < end) {
		uint64_t want = (end - start + MT_PAGE - 1) / MT_PAGE;
		long n = mt_sys(SYS_pread64, s->pagemap_fd, entry, (want > 512 ? 512 : want) * 8, start / MT_PAGE * 8) / 8;

		if (n <= 0)
			break;
		for (long i = 0; i < n; i++)
			pages += (entry[i] >> 63) & ~(entry[i] >> 61) & 1;
		start += (uint64_t)n * MT_PAGE;
	}
	return pages * MT_PAGE;
}

uint64_t zap_scan_copies(struct zap_scan *s, const struct zap_regions *files)
{
	uint64_t bytes = 0;

	for (size_t i = 0; s->has_ioctl && i < files->n; i++) {
		uint64_t start = files->r[i].start, end = files->r[i].end;

		while (start < end) {
			struct pm_scan_arg a = {
				.size = sizeof(a), .start = start, .end = end,
				.vec = (uint64_t)s->vec, .vec_len = SCAN_VEC,
				.category_inverted = PAGE_IS_FILE, .category_mask = PAGE_IS_PRESENT | PAGE_IS_FILE,
				.return_mask = PAGE_IS_PRESENT,
			};
			long n = mt_sys(SYS_ioctl, s->pagemap_fd, PAGEMAP_SCAN, &a);

			for (long k = 0; k < n; k++)
				bytes += s->vec[k].end - s->vec[k].start;
			if (n < 0 || a.walk_end <= start)
				break;
			start = a.walk_end;
		}
	}
	if (!s->has_ioctl)
		for (size_t i = 0; i < files->n; i++)
			bytes += copies_pagemap(s, files->r[i].start, files->r[i].end);
	return bytes;
}

static void unmap_run(struct zap_scan *s, uint64_t start, uint64_t end)
{
	long ret = mt_sys(SYS_madvise, start, end - start, s->dontneed);
	uint64_t middle;

	if (ret == -EINVAL && s->dontneed == MADV_DONTNEED_LOCKED) {
		/* Linux < 5.18, or a mapping that is not ours: mlocked memory then stays mapped */
		ret = mt_sys(SYS_madvise, start, end - start, MADV_DONTNEED);
		if (!ret)
			s->dontneed = MADV_DONTNEED;
	}
	if (ret != -EINVAL || end - start <= MT_PAGE)
		return;
	/* what lies behind the mlocked pages of a run is unmapped all the same */
	middle = start + (end - start) / 2 / MT_PAGE * MT_PAGE;
	unmap_run(s, start, middle);
	unmap_run(s, middle, end);
}

/* The backend rwp: what is ours is hidden, what lies between is unmapped; a run may hold both when ranges are neighbours. */
static void take_run(struct zap_scan *s, const struct zap_regions *traced, uint64_t start, uint64_t end)
{
	size_t i = zap_regions_find(traced, start);

	while (start < end) {
		const struct zap_range *r = i < traced->n ? &traced->r[i] : NULL;
		const int ours = r && r->start <= start;
		uint64_t to = !r ? end : ours ? r->end : r->start;

		if (to > end)
			to = end;
		if (ours)
			zap_rwp_hide(start, to);
		else
			unmap_run(s, start, to);
		i += (size_t)ours;
		start = to;
	}
}

/* The end of the range that holds the byte before @at, looked for from *cursor on; @at when there is none. */
static uint64_t border(const struct zap_regions *set, size_t *cursor, uint64_t at)
{
	while (*cursor < set->n && set->r[*cursor].end < at)
		++*cursor;
	return *cursor < set->n && set->r[*cursor].start < at ? set->r[*cursor].end : at;
}

static void note_touched(const struct zap_scan *s)
{
	for (size_t i = 0; i < s->nruns; i++)
		zap_touched(s->run[i].start, s->run[i].end);
}

/* Near runs with one call, but never over the border of a traced range. */
void zap_scan_unmap(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared,
		    uint64_t gap)
{
	size_t i = 0, in_traced = 0, in_shared = 0;

	note_touched(s);
	while (i < s->nruns) {
		uint64_t start = s->run[i].start, end = s->run[i].end;

		for (i++; i < s->nruns; i++) {
			uint64_t limit = border(traced, &in_traced, end);

			if (limit == end)
				limit = border(shared, &in_shared, end);
			/* what is between them would be taken for untouched, whoever touches it now; or is no page of a file */
			if (s->run[i].start - end > gap || s->run[i].start >= limit || zap_has_untouched(end, s->run[i].start) ||
			    (s->files && zap_regions_overlap(s->files, end, s->run[i].start)))
				break;
			end = s->run[i].end;
		}
		if (s->rwp)
			take_run(s, traced, start, end);
		else
			unmap_run(s, start, end);
		take_breath(s);
	}
}

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#define SELF (-10001)		/* PIDFD_SELF_THREAD_GROUP, Linux 6.14; a process may unmap its own memory so since 6.13 */
#define TAKE_RUNS 256

void zap_scan_take(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared)
{
	struct { uint64_t start, bytes; } vec[TAKE_RUNS];
	size_t i = 0;

	note_touched(s);
	while (!s->rwp && !s->no_vector && i < s->nruns) {
		size_t n = 0;
		uint64_t bytes = 0;

		for (; n < TAKE_RUNS && i + n < s->nruns; n++) {
			vec[n].start = s->run[i + n].start;
			vec[n].bytes = s->run[i + n].end - s->run[i + n].start;
			bytes += vec[n].bytes;
		}
		/* one flush of TLBs for all. What it does not do is done one by one */
		if (mt_sys(SYS_process_madvise, SELF, vec, n, s->dontneed, 0) != (long)bytes)
			s->no_vector = 1;
		else
			i += n;
	}
	memmove(s->run, s->run + i, (s->nruns - i) * sizeof(*s->run));
	s->nruns -= i;
	zap_scan_unmap(s, traced, shared, 0);
}

static int found(const struct zap_scan *s, uint64_t page)
{
	size_t lo = 0, hi = s->nruns;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->run[mid].end <= page)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nruns && s->run[lo].start <= page;
}

void zap_scan_missed(const struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared,
		     const uint64_t *page, size_t n, struct zap_regions *missed, struct zap_regions *shared_missed)
{
	for (size_t i = 0; i < n; i++) {
		if (found(s, page[i]))
			continue;
		if (zap_regions_contain(traced, page[i]))
			zap_regions_add(missed, page[i], page[i] + MT_PAGE);
		else if (zap_regions_contain(shared, page[i]))
			zap_regions_add(shared_missed, page[i], page[i] + MT_PAGE);
	}
}

static struct zap_page_info *info_slot(const struct zap_scan *s, uint64_t page)
{
	return &s->info[(page * 0x9e3779b97f4a7c15ull) >> (64 - INFO_BITS)];
}

static void ask_nodes(void **pages, struct zap_page_info **slots, int n)
{
	int status[256];

	if (mt_sys(SYS_move_pages, 0, n, pages, 0, status, 0) == 0)
		for (int i = 0; i < n; i++)
			slots[i]->node = status[i] >= 0 ? status[i] : -1;
}

void zap_scan_ask(struct zap_scan *s, uint32_t interval)
{
	void *pages[256];
	struct zap_page_info *slots[256];
	int n = 0;

	for (size_t i = 0; s->info && i < s->nruns; i++)
		for (uint64_t a = s->run[i].start; a < s->run[i].end; a += MT_PAGE) {
			struct zap_page_info *p = info_slot(s, a / MT_PAGE);
			uint64_t e = 0;

			if (p->page == a / MT_PAGE && interval - p->stamp < INFO_INTERVALS)
				continue;
			p->page = a / MT_PAGE;
			p->stamp = interval;
			p->node = s->one_node;
			p->frame = 0;
			if (s->physical && mt_sys(SYS_pread64, s->pagemap_fd, &e, 8, a / MT_PAGE * 8) == 8)
				p->frame = e & ((1ull << 55) - 1);
			if (s->one_node < 0) {
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

int zap_scan_node(const struct zap_scan *s, uint64_t page, uint64_t *frame)
{
	const struct zap_page_info *p;

	*frame = 0;
	if (!s->info)
		return s->one_node;
	p = info_slot(s, page);
	if (p->page != page)
		return s->one_node;
	*frame = p->frame;
	return p->node;
}
