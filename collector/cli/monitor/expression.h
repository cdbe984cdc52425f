/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * expression.h - what a definition file computes from the events of a monitor:
 * + - * / over numbers, $k and names, with parentheses. A compiled expression is a
 * list of operations on a stack of known depth; evaluating it allocates nothing.
 * No state is shared: any thread may use its own expressions.
 */
#ifndef MEMTRACE_MONITOR_EXPRESSION_H
#define MEMTRACE_MONITOR_EXPRESSION_H

#include <stddef.h>

#define MON_DEPTH 64			/* of the stack, and of parentheses */

struct mon_op {
	enum { MON_NUMBER, MON_EVENT, MON_ADD, MON_SUB, MON_MUL, MON_DIV, MON_NEG } kind;
	double number;
	int event;			/* of MON_EVENT: index of an event, from 0 */
	size_t at;			/* where it stands in the text */
};

struct mon_expr {
	struct mon_op *op;
	size_t n, cap;
};

/* Index of the event with the name text[0..n), or -1: names mean nothing here. */
typedef int (*mon_name_fn)(void *arg, const char *text, size_t n);

/*
 * Compiles text[*at...) up to the first thing that cannot belong to an expression, and sets *at behind
 * the last thing that did. Blanks, line ends and comments (# or % to the end of the line) are skipped.
 * NULL: a sentence in *why, and *at is where it is wrong.
 */
struct mon_expr *mon_expr_parse(const char *text, size_t len, size_t *at, mon_name_fn name, void *arg, const char **why);

/* Division by zero, and an event without a value (NaN), give NaN: no value. */
double mon_expr_value(const struct mon_expr *e, const double *events, int n_events);

/* The operation with the largest event, or NULL when it has none: what is to be checked against the number of events. */
const struct mon_op *mon_expr_largest(const struct mon_expr *e);

void mon_expr_free(struct mon_expr *e);

/* Behind blanks and comments from @at on. */
size_t mon_skip_blanks(const char *text, size_t len, size_t at);

#endif
