// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * strata.h - which pages are likely to behave alike, and which of them are taken away as a sample. Raw counts come out of it
 * (docs/reference/trace-fine.md), never estimates.
 *
 * A stratum is (address range, thread that was seen last). At the begin of a bin the sample is shared out among the strata by
 * pages * sqrt(p (1 - p) + 0.01), where p is the share of the last sample that was used, at least two each. In a stratum one page at
 * random is taken of each of n equal parts in the order of addresses: so the error falls like 1 / n and not like 1 / sqrt(n) where
 * neighbours behave alike. Pure arithmetic. Pages are numbers (address / page size). Used by the monitor.
 */
#ifndef MEMTRACE_FINE_STRATA_H
#define MEMTRACE_FINE_STRATA_H

#include <stddef.h>
#include <stdint.h>

#include "preload/fine/pages.h"

#define FINE_RANGES 512u	/* at a time */
#define FINE_STRATA 8192u	/* since the table began anew; a power of two */

/* Pages [start, end) that are of one structure, as far as that is known. */
struct fine_range {
	uint64_t start, end;
	uint32_t known, shared;	/* pages in use, and of them those that several threads were seen on; of fine_strata_begin() */
};

/* Counts of the running bin, named as the columns are. */
struct fine_counts {
	uint32_t mapped, sampled, hit, hit_written, armed, armed_hit, armed_written;
};

struct fine_stratum {
	uint64_t start, end;
	uint16_t user;		/* index of the thread + 1; 0: any, or nobody */
	uint8_t in_bin, told;	/* it is in strata.csv */
	float p;		/* used, of the last sample */
	struct fine_counts now;
	/* while the sample is drawn: pages wanted; gone by; the part that they are in, and the page of it that is taken */
	uint32_t want, seen, part, target;
};

struct fine_strata {
	struct fine_stratum *s;
	uint16_t *slot;		/* (start, end, user) -> index + 1, open addressing */
	size_t n;
	uint32_t first_id;	/* number in the files of s[0] */
	uint16_t *in_bin;	/* indices of those of the running bin */
	size_t n_in_bin;
	struct fine_range *range;	/* ascending, disjoint; the caller writes them before a bin begins */
	size_t n_ranges;
	int by_thread;		/* strata of the running bin are by thread */
	int full;		/* there was no room for one: the bin is not known */
	uint64_t seed;		/* of the random numbers, never 0 */
};

/* 0 or -ENOMEM */
int fine_strata_init(struct fine_strata *s, uint64_t seed);
void fine_strata_free(struct fine_strata *s);
/* Threads have other indices from now on. */
void fine_strata_forget(struct fine_strata *s);

/* A random number below @n. */
uint64_t fine_random(struct fine_strata *s, uint64_t n);

/*
 * A bin begins: each known page comes to its stratum; those in no range are forgotten. @all_armed: it begins with a complete look, so that
 * no page counts as mapped. Pages with FINE_PANEL count as armed. Strata are by thread while there are at most @most of them.
 */
void fine_strata_begin(struct fine_strata *s, struct fine_pages *pages, int all_armed, size_t most);
/*
 * Draws at most about @k mapped pages, two of each stratum at least where @k allows it: they are FINE_SAMPLED, the others FINE_REST. The
 * numbers of the pages come to @page, ascending, at most @room; how many.
 */
size_t fine_strata_draw(struct fine_strata *s, struct fine_pages *pages, size_t k, uint64_t *page, size_t room);
/* The stratum of a page that is new in the running bin: index + 1, or 0: it is in no range. */
uint16_t fine_strata_of(struct fine_strata *s, uint64_t page);
/* [*start, *end), which has the page, that is in no range, becomes what of it is in none around the page. */
void fine_strata_gap(const struct fine_strata *s, uint64_t page, uint64_t *start, uint64_t *end);
/* Pages [start, end) are a range, too, in the running bin; no range has one of them. 0, or -ENOSPC, and the bin is not known. */
int fine_strata_add_range(struct fine_strata *s, uint64_t start, uint64_t end);
/* The bin ends: what was used is kept for the next one. */
void fine_strata_end(struct fine_strata *s);

#endif
