/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/monitor/expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

struct parser {
	const char *text;
	size_t len, at;
	mon_name_fn name;
	void *arg;
	const char *why;
	struct mon_expr *e;
	int nesting;			/* parentheses and signs that are open */
	int depth;			/* of the stack behind the last operation */
};

size_t mon_skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len) {
		if (text[at] == '#' || text[at] == '%')
			while (at < len && text[at] != '\n')
				at++;
		else if (isspace((unsigned char)text[at]))
			at++;
		else
			break;
	}
	return at;
}

static char peek(struct parser *p)
{
	p->at = mon_skip_blanks(p->text, p->len, p->at);
	return p->at < p->len ? p->text[p->at] : 0;
}

static bool fail(struct parser *p, const char *why)
{
	p->why = why;
	return false;
}

static bool put(struct parser *p, struct mon_op op, int growth)
{
	p->depth += growth;
	if (p->depth > MON_DEPTH)
		return fail(p, "the expression is nested too deeply");
	MT_GROW(p->e->op, p->e->n, p->e->cap);
	p->e->op[p->e->n++] = op;
	return true;
}

static bool sum(struct parser *p);

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.';
}

static bool number(struct parser *p)
{
	char digits[64], *end;
	size_t n = 0, begin = p->at;
	double v;

	/* copied, as the text need not end with a NUL; no "inf", "nan" or hexadecimal */
	while (p->at < p->len && n < sizeof(digits) - 1) {
		char c = p->text[p->at];

		if (!isdigit((unsigned char)c) && c != '.' &&
		    !((c == 'e' || c == 'E') && n) && !((c == '+' || c == '-') && n && (digits[n - 1] | 32) == 'e'))
			break;
		digits[n++] = c;
		p->at++;
	}
	digits[n] = 0;
	v = strtod(digits, &end);
	if (end == digits || *end || !isfinite(v)) {
		p->at = begin;
		return fail(p, "this is no number");
	}
	return put(p, (struct mon_op){ .kind = MON_NUMBER, .number = v, .at = begin }, 1);
}

static bool event(struct parser *p)
{
	size_t begin = p->at++;
	long k = 0;

	if (p->at == p->len || !isdigit((unsigned char)p->text[p->at]))
		return fail(p, "$ needs the number of an event, counted from 0");
	while (p->at < p->len && isdigit((unsigned char)p->text[p->at])) {
		k = k * 10 + (p->text[p->at++] - '0');
		if (k > 9999) {
			p->at = begin;
			return fail(p, "no monitor has so many events");
		}
	}
	return put(p, (struct mon_op){ .kind = MON_EVENT, .event = (int)k, .at = begin }, 1);
}

static bool primary(struct parser *p)
{
	char c = peek(p);

	if (c == '(' || c == '-' || c == '+') {
		size_t begin = p->at++;
		bool ok;

		if (++p->nesting > MON_DEPTH)
			return fail(p, "the expression is nested too deeply");
		if (c == '(') {
			ok = sum(p);
			if (ok && peek(p) != ')')
				return fail(p, "a parenthesis is not closed here");
			p->at += ok;
		} else {
			ok = primary(p);
			if (ok && c == '-')
				ok = put(p, (struct mon_op){ .kind = MON_NEG, .at = begin }, 0);
		}
		p->nesting--;
		return ok;
	}
	if (c == '$')
		return event(p);
	if (isdigit((unsigned char)c) || c == '.')
		return number(p);
	if ((isalpha((unsigned char)c) || c == '_') && p->name) {
		size_t begin = p->at;
		int k;

		while (p->at < p->len && is_name(p->text[p->at]))
			p->at++;
		k = p->name(p->arg, p->text + begin, p->at - begin);
		if (k < 0) {
			p->at = begin;
			return fail(p, "there is no event of this name");
		}
		return put(p, (struct mon_op){ .kind = MON_EVENT, .event = k, .at = begin }, 1);
	}
	return fail(p, p->name ? "a number, a counter or ( is expected here" : "a number, $k or ( is expected here");
}

static bool product(struct parser *p)
{
	if (!primary(p))
		return false;
	for (char c = peek(p); c == '*' || c == '/'; c = peek(p)) {
		size_t begin = p->at++;

		if (!primary(p) || !put(p, (struct mon_op){ .kind = c == '*' ? MON_MUL : MON_DIV, .at = begin }, -1))
			return false;
	}
	return true;
}

static bool sum(struct parser *p)
{
	if (!product(p))
		return false;
	for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
		size_t begin = p->at++;

		if (!product(p) || !put(p, (struct mon_op){ .kind = c == '+' ? MON_ADD : MON_SUB, .at = begin }, -1))
			return false;
	}
	return true;
}

struct mon_expr *mon_expr_parse(const char *text, size_t len, size_t *at, mon_name_fn name, void *arg, const char **why)
{
	struct parser p = { .text = text, .len = len, .at = *at, .name = name, .arg = arg };

	p.e = mt_alloc(sizeof(*p.e));
	if (!sum(&p)) {
		mon_expr_free(p.e);
		p.e = NULL;
	}
	*at = p.at;
	*why = p.why;
	return p.e;
}

double mon_expr_value(const struct mon_expr *e, const double *events, int n_events)
{
	double stack[MON_DEPTH + 1] = { 0 };
	int top = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct mon_op *op = &e->op[i];
		double b;

		if (op->kind == MON_NUMBER) {
			stack[top++] = op->number;
			continue;
		}
		if (op->kind == MON_EVENT) {
			stack[top++] = op->event < n_events ? events[op->event] : NAN;
			continue;
		}
		if (op->kind == MON_NEG) {
			stack[top - 1] = -stack[top - 1];
			continue;
		}
		b = stack[--top];
		switch (op->kind) {
		case MON_ADD:
			stack[top - 1] += b;
			break;
		case MON_SUB:
			stack[top - 1] -= b;
			break;
		case MON_MUL:
			stack[top - 1] *= b;
			break;
		default:
			stack[top - 1] = b == 0 ? NAN : stack[top - 1] / b;
		}
	}
	return isfinite(stack[0]) ? stack[0] : NAN;
}

const struct mon_op *mon_expr_largest(const struct mon_expr *e)
{
	const struct mon_op *largest = NULL;

	for (size_t i = 0; i < e->n; i++)
		if (e->op[i].kind == MON_EVENT && (!largest || e->op[i].event > largest->event))
			largest = &e->op[i];
	return largest;
}

void mon_expr_free(struct mon_expr *e)
{
	if (e)
		free(e->op);
	free(e);
}
