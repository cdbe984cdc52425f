// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * zoom.h - a close look at a few structures (record --zoom): between the ends of subintervals the monitor unmaps only
 * their pages, every 50 microseconds or as rarely as the budget asks for. Each fault on them is a sample with its byte address.
 * Used by the monitor thread.
 *
 * Samples go to zoom.csv, what looking cost to zoomcost.csv (docs/reference/trace-files.md).
 */
#ifndef MEMTRACE_ZOOM_H
#define MEMTRACE_ZOOM_H

#include <stddef.h>
#include <stdint.h>

#include "common/out.h"
#include "preload/faults/perfring.h"
#include "preload/memory/ranges.h"

#define ZAP_ZOOM_SHORTEST_NS 50000ull
#define ZAP_ZOOM_LONGEST_NS 100000000ull
#define ZAP_ZOOM_PAGES 64u		/* unmapped at a turn; of more, some after the others */
#define ZAP_ZOOM_DWELL 256u		/* turns on the same pages then */
#define ZAP_ZOOM_LINE 64u
#define ZAP_ZOOM_FILE_SHIFT 21		/* the shortest period doubles with each 2 Mi samples in the file */

/* How often to look. */
struct zap_pace {
	double budget;		/* share of one CPU */
	uint64_t period_ns;	/* time between two turns */
};

/*
 * The next period: what the last stretch of @wall_ns cost, program and monitor together, is brought to the budget. It grows
 * at most four times and shrinks at most to a half, stays where the cost is between 70 and 100 % of the budget, and is never
 * shorter than what @samples in the file leave.
 */
void zap_pace_update(struct zap_pace *p, uint64_t wall_ns, uint64_t cost_ns, uint64_t samples);

struct zap_zoom {
	int on;
	uint64_t version;		/* of the suspects that are in the sets */
	struct zap_regions lines;	/* the suspects, in whole cache lines */
	struct zap_regions pages;	/* the pages that hold them */
	struct zap_regions ours, shared;	/* the pages of this turn, by what they are */
	uint64_t at;			/* the first page of the turn, when not all fit in one */
	unsigned int dwelt;
	struct zap_pace pace;
	struct mt_out samples, costs;
	uint64_t left_out;		/* suspects for which there was no room */
	/* since the last line of costs */
	uint64_t start_ns, turns, faults, written, beside, lost_told;
	uint64_t busy_ns;		/* of this time turns were made */
	uint64_t cpu_ns;		/* of the monitor for them */
	uint64_t all_samples;
};

/* The files in the directory @dirfd. 0 or negative errno; it is not on then. */
int zap_zoom_open(struct zap_zoom *z, int dirfd, double budget);
/* The suspects are [range[i][0], range[i][1]) now. */
void zap_zoom_aim(struct zap_zoom *z, const uint64_t (*range)[2], size_t n);
/* The pages of the next turn: those in @traced go to ours, those in @shared to shared. How many there are. */
uint64_t zap_zoom_turn(struct zap_zoom *z, const struct zap_regions *traced, const struct zap_regions *shared);
/* Is it a fault on a page that is looked at? Then it is a sample. @rw: ZAP_READ | ZAP_WRITE, 0 not known. */
int zap_zoom_fault(struct zap_zoom *z, const struct zap_fault *f, int rw);
/* The end of an interval: writes what is buffered, and the line of costs. @fault_ns: what a fault costs the program. */
void zap_zoom_interval(struct zap_zoom *z, uint64_t end, uint64_t fault_ns);
void zap_zoom_after_fork(struct zap_zoom *z);

#endif
