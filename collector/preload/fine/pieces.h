// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * pieces.h - the traced memory as address ranges that are of one structure each, as far as that is known while the program runs.
 *
 * Large structures (context/large.c) are ranges of their own. What lies between them is cut at round addresses, so that a large array in it
 * is not one range with everything else. Pure arithmetic.
 */
#ifndef MEMTRACE_FINE_PIECES_H
#define MEMTRACE_FINE_PIECES_H

#include "preload/fine/strata.h"
#include "preload/memory/ranges.h"

#define FINE_PIECES 64u		/* into so many, about, what lies between large structures is cut */
#define FINE_PIECE_PAGES 16u	/* none is shorter */

/*
 * @traced, @shared: bytes, of which no two overlap. @large: [start, end) in bytes, @n, any order; it is sorted. To @to, at most @room
 * ranges of pages; how many. Where there are too many structures the smaller ones are left out.
 */
size_t fine_pieces(const struct zap_regions *traced, const struct zap_regions *shared, uint64_t (*large)[2], size_t n,
		   struct fine_range *to, size_t room);

#endif
