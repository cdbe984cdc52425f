// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * pages.h - what is known of each page of the program between two looks: is it mapped, who used it last, what is it in the running bin.
 *
 * Bookkeeping only, no system calls but the one for memory. Pages are numbers (address / page size). Used by the monitor.
 */
#ifndef MEMTRACE_FINE_PAGES_H
#define MEMTRACE_FINE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define FINE_CHUNK 512u		/* pages that are kept together, in the order of addresses */

/* Of a page. The first four live as long as the page, the others for a bin. */
enum {
	FINE_KNOWN = 1,		/* it was seen in use */
	FINE_MAPPED = 2,	/* its use is not seen; else it is armed */
	FINE_SHARED = 4,	/* several threads were seen on it */
	FINE_AFTER = 8,		/* it was used since the look that is going on began */
	FINE_TAKEN = 16,	/* the fine clock took it away: its faults are the price of the fine clock */
	FINE_REST = 32,		/* mapped when the bin began, and left alone */
	FINE_SAMPLED = 64,	/* mapped when the bin began, and taken away */
	FINE_PANEL = 128,
	FINE_HIT = 256,		/* used in the bin */
	FINE_WRITTEN = 512,
};
#define FINE_OF_BIN (FINE_REST | FINE_SAMPLED | FINE_PANEL | FINE_HIT | FINE_WRITTEN)

struct fine_page {
	uint16_t flags;
	uint16_t stratum;	/* of the running bin: index + 1; 0: none */
	uint16_t user;		/* index of the thread seen last + 1; 0: nobody */
	uint16_t first;		/* the first one in the bin */
};

struct fine_pages {
	struct fine_page *page;	/* chunks, in the order in which they came */
	struct fine_chunk {
		uint64_t number;	/* page / FINE_CHUNK */
		size_t at;		/* index in page */
	} *chunk;		/* ascending */
	size_t n, cap, max;	/* chunks */
	size_t last;		/* looked up last */
};

/* Room for at most @max pages. 0 or -ENOMEM. */
int fine_pages_init(struct fine_pages *t, size_t max);
void fine_pages_free(struct fine_pages *t);
/* The page, which is made if it is new; NULL: there is no room. Valid until the next call. */
struct fine_page *fine_pages_add(struct fine_pages *t, uint64_t page);
/* The pages of chunk @c, whose first one is *first. */
static inline struct fine_page *fine_pages_chunk(const struct fine_pages *t, size_t c, uint64_t *first)
{
	*first = t->chunk[c].number * FINE_CHUNK;
	return &t->page[t->chunk[c].at];
}

/* A complete look has begun: what is used from now on is told apart. */
void fine_pages_look(struct fine_pages *t);
/* It has ended: all pages are armed but those that were used meanwhile. */
void fine_pages_armed(struct fine_pages *t);
/* Nothing is known of them any more but that they exist; all are armed but those in @mapped (pages [start, end), ascending, @n). */
struct zap_range;
void fine_pages_anew(struct fine_pages *t, const struct zap_range *mapped, size_t n);

#endif
