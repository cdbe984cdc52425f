/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * figure.h - one number of a machine, taken from many short pieces. A piece is shorter than a time slice; the one in which the thread was
 * interrupted is long and falls away, so numbers are right on a busy machine, too.
 */
#ifndef MEMTRACE_CLI_FIGURE_H
#define MEMTRACE_CLI_FIGURE_H

#include <jansson.h>
#include <stdint.h>

#define MT_PIECES 4096
#define MT_FEWEST_PIECES 20
#define MT_WIDEST 2.0		/* half of the pieces may cost so many times what the best tenth does */

/* Pieces of one figure, in its unit. */
struct mt_pieces {
	double v[MT_PIECES];
	size_t n;
};

/* What pieces say: the lower quartile, the tenth and the fiftieth percentile; why there is no value, or NULL. */
struct mt_figure {
	double value, low, high;
	size_t pieces;
	const char *refused;
};

/* One more piece; those above MT_PIECES are dropped. */
void mt_piece(struct mt_pieces *p, double v);
/* Judges and empties them. */
struct mt_figure mt_figure_of(struct mt_pieces *p);
/* {value, low, high, pieces, unit, text}, with `refused` in place of a value that is none. */
json_t *mt_figure_json(const struct mt_figure *f, const char *unit, const char *text);

#endif
