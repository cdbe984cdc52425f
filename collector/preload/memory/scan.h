// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * scan.h - which traced pages are mapped now, where they lie, and taking them away.
 *
 * Used by the monitor thread only; finding and zapping are done under zap_space.lock,
 * because hooks change the ranges and the address space. Ranges are half-open, in bytes.
 */
#ifndef MEMTRACE_SCAN_H
#define MEMTRACE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "preload/memory/ranges.h"

struct page_region;
struct zap_page_info;

struct zap_scan {
	int memfd;		/* the memory file: offset = address */
	int pagemap_fd;		/* /proc/thread-self/pagemap */
	struct zap_range *run;	/* found by the last scan, ascending, neighbours merged */
	size_t nruns, run_cap;
	int rwp;		/* what is ours is hidden, not unmapped (rwp.h); set after zap_scan_init() */
	int has_ioctl;		/* PAGEMAP_SCAN works; cleared by the first scan where it does not */
	int dontneed;		/* the advice that unmaps */
	int no_vector;		/* process_madvise cannot do it here; set by the first call that fails */
	/* between pages of these nothing is taken away with them, NULL: there are none; set after zap_scan_init() */
	const struct zap_regions *files;
	struct page_region *vec;
	/* frames and nodes of pages; NULL: not asked for */
	struct zap_page_info *info;
	int physical;
	int one_node;		/* the only node, -1 = several */
	void (*between)(void *arg);	/* called now and then within long work, NULL: nothing is */
	void *between_arg;
};

/*
 * @physical: frames are asked for (needs root, else they are 0). 0 or -ENOMEM; what was
 * allocated is freed by zap_scan_free() in either case.
 */
int zap_scan_init(struct zap_scan *s, int memfd, int pagemap_fd, int physical);
void zap_scan_free(struct zap_scan *s);

/*
 * Finds the mapped file pages of the ranges; the result is in run. @traced: of the memory
 * file; @shared: of other files, which have no page in common with it.
 */
void zap_scan(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared);
/*
 * Unmaps what was found; contents stay in the files. Runs of one range that are less than
 * @gap bytes apart go with one call, and what lies between with them.
 */
void zap_scan_unmap(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared,
		    uint64_t gap);
/* The same for a few pages that lie far apart, with one call for many of them where the kernel has it. The runs are changed. */
void zap_scan_take(struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared);
/*
 * Bytes of the ranges whose pages are the program's own copies: private mappings of files,
 * after the first write.
 */
uint64_t zap_scan_copies(struct zap_scan *s, const struct zap_regions *files);

/*
 * Adds to @missed the pages of @page (n addresses, any order, also twice) that are in @traced but
 * not in what was found, to @shared_missed those of @shared.
 */
void zap_scan_missed(const struct zap_scan *s, const struct zap_regions *traced, const struct zap_regions *shared,
		     const uint64_t *page, size_t n, struct zap_regions *missed, struct zap_regions *shared_missed);

/* Asks for frame and node of what was found, if that is wanted, as long as it is mapped. @interval: its number. */
void zap_scan_ask(struct zap_scan *s, uint32_t interval);
/* What is known of a page (address / page size): node, -1 unknown; *frame, 0 unknown. */
int zap_scan_node(const struct zap_scan *s, uint64_t page, uint64_t *frame);

#endif
