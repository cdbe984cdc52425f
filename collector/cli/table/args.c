/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/table/args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mt_fail(const struct mt_args *a, enum mt_exit code, const char *fmt, ...)
{
	va_list ap;

	if (a && a->cmd && a->cmd != &mt_common)
		fprintf(stderr, "memtrace %s: ", a->cmd->name);
	else
		fputs("memtrace: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

const struct mt_command *mt_command_find(const char *name)
{
	const struct mt_command *c;

	for (c = mt_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Edit distance with transpositions; words of more than 31 letters are far from all. */
static int distance(const char *a, const char *b)
{
	int d[32][32], la = (int)strlen(a), lb = (int)strlen(b), i, j;

	if (la > 31 || lb > 31)
		return 99;
	for (i = 0; i <= la; i++)
		d[i][0] = i;
	for (j = 0; j <= lb; j++)
		d[0][j] = j;
	for (i = 1; i <= la; i++)
		for (j = 1; j <= lb; j++) {
			int v = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < v)
				v = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < v)
				v = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < v)
				v = d[i - 2][j - 2] + 1;
			d[i][j] = v;
		}
	return d[la][lb];
}

const char *mt_nearest(const char *typed, const char *const *names)
{
	const char *best = NULL;
	size_t len = strlen(typed);
	int best_d = len <= 3 ? 2 : 3;

	for (; *names; names++) {
		int d = distance(typed, *names);

		if (len >= 2 && !strncmp(typed, *names, len))
			return *names;

		if (d < best_d) {
			best_d = d;
			best = *names;
		}
	}
	return best;
}

/*
 * A decimal number with at most one point, without sign or exponent, times
 * @scale, rounded half up; integer arithmetic, so 0.1s is exactly 1e8 ns.
 */
static int scaled(const char *s, size_t len, uint64_t scale, uint64_t *out)
{
	uint64_t value = 0, frac = 0, div = 1;
	bool point = false, digit = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		digit = true;
		if (!point) {
			if (value > (UINT64_MAX - 9) / 10)
				return -EINVAL;
			value = value * 10 + (uint64_t)(s[i] - '0');
		} else if (div < 1000000000) {
			frac = frac * 10 + (uint64_t)(s[i] - '0');
			div *= 10;
		}
	}
	if (!digit || (value && scale > (uint64_t)INT64_MAX / value))
		return -EINVAL;
	*out = value * scale + (uint64_t)((unsigned __int128)frac * scale + div / 2) / div;
	return 0;
}

struct unit {
	const char *name;
	uint64_t scale;
};

static int with_unit(const char *s, const struct unit *units, uint64_t *out)
{
	size_t len = strspn(s, "0123456789.");

	for (; units->name; units++)
		if (!strcmp(s + len, units->name))
			return scaled(s, len, units->scale, out);
	return -EINVAL;
}

int mt_parse_duration_ns(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "min", 60000000000ULL }, { "h", 3600000000000ULL }, { NULL, 0 },
	};

	if (!strcmp(s, "0")) {
		*ns = 0;
		return 0;
	}
	return with_unit(s, units, ns);
}

int mt_parse_size_bytes(const char *s, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "B", 1 }, { "k", 1 << 10 }, { "K", 1 << 10 }, { "KiB", 1 << 10 },
		{ "M", 1 << 20 }, { "MiB", 1 << 20 }, { "G", 1 << 30 }, { "GiB", 1 << 30 },
		{ "T", 1ULL << 40 }, { "TiB", 1ULL << 40 }, { NULL, 0 },
	};

	return with_unit(s, units, bytes);
}

static int parse_number(const char *s, double *d)
{
	char *end;

	if (!*s || strspn(s, "+-.0123456789eE") != strlen(s))
		return -EINVAL;
	*d = strtod(s, &end);
	return *end || !isfinite(*d) ? -EINVAL : 0;
}

static int parse_int(const char *s, long long *v)
{
	char *end;

	if (!*s || strspn(s, "+-0123456789") != strlen(s))
		return -EINVAL;
	errno = 0;
	*v = strtoll(s, &end, 10);
	return *end || errno ? -EINVAL : 0;
}

static bool in_choices(const char *choices, const char *value)
{
	size_t len = strlen(value);
	const char *p = choices;

	while (len && p) {
		size_t n = strcspn(p, "|");

		if (n == len && !strncmp(p, value, n))
			return true;
		p = p[n] ? p + n + 1 : NULL;
	}
	return false;
}

/* -1, 0 or 1 for @a against @b, both valid values of @type. */
static int compare(enum mt_type type, const char *a, const char *b)
{
	double da = 0, db = 0;
	uint64_t ua = 0, ub = 0;
	long long ia = 0, ib = 0;

	switch (type) {
	case MT_INT:
		parse_int(a, &ia);
		parse_int(b, &ib);
		return (ia > ib) - (ia < ib);
	case MT_NUMBER:
		parse_number(a, &da);
		parse_number(b, &db);
		return (da > db) - (da < db);
	case MT_DURATION:
		mt_parse_duration_ns(a, &ua);
		mt_parse_duration_ns(b, &ub);
		return (ua > ub) - (ua < ub);
	case MT_SIZE:
		mt_parse_size_bytes(a, &ua);
		mt_parse_size_bytes(b, &ub);
		return (ua > ub) - (ua < ub);
	default:
		return 0;
	}
}

static int check_value(const struct mt_args *a, const struct mt_option *o, const char *value)
{
	const char *want = NULL;
	long long i;
	uint64_t u;
	double d;

	switch (o->type) {
	case MT_INT:
		if (parse_int(value, &i))
			want = "a whole number";
		break;
	case MT_NUMBER:
		if (parse_number(value, &d))
			want = "a number";
		break;
	case MT_DURATION:
		if (mt_parse_duration_ns(value, &u))
			want = "a time with a unit, such as 50ms";
		break;
	case MT_SIZE:
		if (mt_parse_size_bytes(value, &u))
			want = "a size, such as 4096 or 64k";
		break;
	case MT_CHOICE:
		if (!in_choices(o->arg, value))
			return mt_fail(a, MT_EXIT_USAGE, "--%s must be one of %s, not '%s'", o->name, o->arg, value);
		break;
	case MT_PATH:
		if (!*value)
			want = "a path";
		break;
	default:
		break;
	}
	if (want)
		return mt_fail(a, MT_EXIT_USAGE, "--%s needs %s, not '%s'", o->name, want, value);
	if (o->min && compare(o->type, value, o->min) < 0)
		return mt_fail(a, MT_EXIT_USAGE, "--%s must be at least %s, not %s", o->name, o->min, value);
	if (o->max && compare(o->type, value, o->max) > 0)
		return mt_fail(a, MT_EXIT_USAGE, "--%s must be at most %s, not %s", o->name, o->max, value);
	return 0;
}

static const struct mt_option *find_in(const struct mt_option *o, const char *name, size_t len, char letter)
{
	for (; o->name; o++)
		if (letter ? o->letter == letter : strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct mt_option *find(const struct mt_command *cmd, const char *name, size_t len, char letter)
{
	const struct mt_option *o = find_in(cmd->options, name, len, letter);

	return o ? o : find_in(mt_common.options, name, len, letter);
}

static int unknown_option(const struct mt_args *a, const char *arg)
{
	const char *names[128], *near = NULL;
	const struct mt_option *o;
	char typed[64];
	int n = 0;

	if (arg[1] == '-') {
		snprintf(typed, sizeof typed, "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
		for (o = a->cmd->options; o->name && n < 100; o++)
			names[n++] = o->name;
		for (o = mt_common.options; o->name && n < 127; o++)
			names[n++] = o->name;
		names[n] = NULL;
		near = mt_nearest(typed, names);
	}
	if (near)
		return mt_fail(a, MT_EXIT_USAGE, "unknown option %s; did you mean --%s?", arg, near);
	return mt_fail(a, MT_EXIT_USAGE, "unknown option %s; see 'memtrace %s --help'", arg, a->cmd->name);
}

static int add(struct mt_args *a, const struct mt_option *o, const char *value)
{
	int i, rc = o->type == MT_FLAG ? 0 : check_value(a, o, value);

	if (rc)
		return rc;
	if (!strcmp(o->name, "help"))
		a->help = true;
	for (i = 0; i < a->n_given && !o->repeat; i++)
		if (a->given[i].opt == o) {
			a->given[i].value = value;
			return 0;
		}
	a->given[a->n_given].opt = o;
	a->given[a->n_given++].value = value;
	return 0;
}

static int check_count(const struct mt_args *a)
{
	const struct mt_command *c = a->cmd;

	if (a->argc < c->min_args)
		return mt_fail(a, MT_EXIT_USAGE, "%s is missing; usage: memtrace %s %.*s",
			       c->arguments[0].label ? c->arguments[a->argc && c->arguments[1].label ? 1 : 0].label : "an argument",
			       c->name, (int)strcspn(c->usage, "\n"), c->usage);
	if (c->max_args >= 0 && a->argc > c->max_args)
		return mt_fail(a, MT_EXIT_USAGE, "unexpected argument '%s'; usage: memtrace %s %.*s", a->argv[c->max_args],
			       c->name, (int)strcspn(c->usage, "\n"), c->usage);
	return 0;
}

int mt_args_parse(struct mt_args *a, const struct mt_command *cmd, int argc, char **argv)
{
	bool options = true;
	int i, rc;

	memset(a, 0, sizeof *a);
	a->cmd = cmd;
	/* every option takes at least one letter of some argument */
	for (i = 0, rc = 1; i < argc; i++)
		rc += (int)strlen(argv[i]);
	a->given = calloc((size_t)rc, sizeof *a->given);
	a->argv = calloc((size_t)argc + 1, sizeof *a->argv);
	if (!a->given || !a->argv)
		return mt_fail(a, MT_EXIT_INTERNAL, "out of memory");
	if (cmd->foreign && argc && strcmp(argv[0], "--help") && strcmp(argv[0], "-h"))
		options = false;
	for (i = 0; i < argc; i++) {
		char *s = argv[i];

		if (!options || s[0] != '-' || !s[1]) {
			a->argv[a->argc++] = s;
			if (cmd->rest)
				options = false;
		} else if (!strcmp(s, "--")) {
			options = false;
		} else if (s[1] == '-') {
			size_t len = strcspn(s + 2, "=");
			const struct mt_option *o = find(cmd, s + 2, len, 0);
			const char *value = s[2 + len] ? s + 3 + len : NULL;

			if (!o)
				return unknown_option(a, s);
			if (o->type == MT_FLAG && value)
				return mt_fail(a, MT_EXIT_USAGE, "--%s takes no value", o->name);
			if (o->optional && !value)
				value = o->dflt;
			if (o->type != MT_FLAG && !value) {
				if (i + 1 >= argc)
					return mt_fail(a, MT_EXIT_USAGE, "--%s needs a value (%s)", o->name, o->arg);
				value = argv[++i];
			}
			if ((rc = add(a, o, value)))
				return rc;
		} else {
			for (s++; *s; s++) {
				const struct mt_option *o = find(cmd, NULL, 0, *s);
				const char *value = NULL;

				if (!o)
					return unknown_option(a, argv[i]);
				if (o->type != MT_FLAG) {
					value = s[1] ? s + 1 : i + 1 < argc ? argv[++i] : NULL;
					if (!value)
						return mt_fail(a, MT_EXIT_USAGE, "-%c needs a value (%s)", *s, o->arg);
				}
				if ((rc = add(a, o, value)))
					return rc;
				if (value)
					break;
			}
		}
		if (a->help)
			return 0;
	}
	return check_count(a);
}

void mt_args_free(struct mt_args *a)
{
	free(a->given);
	free(a->argv);
	memset(a, 0, sizeof *a);
}

static const struct mt_option *known(const struct mt_args *a, const char *name)
{
	const struct mt_option *o = find(a->cmd, name, strlen(name), 0);

	if (!o) {
		fprintf(stderr, "memtrace: bug: the command table has no option --%s for %s\n", name, a->cmd->name);
		abort();
	}
	return o;
}

bool mt_args_has(const struct mt_args *a, const char *name)
{
	const struct mt_option *o = known(a, name);
	int i;

	for (i = 0; i < a->n_given; i++)
		if (a->given[i].opt == o)
			return true;
	return false;
}

const char *mt_args_nth(const struct mt_args *a, const char *name, int n)
{
	const struct mt_option *o = known(a, name);
	int i;

	for (i = 0; i < a->n_given; i++)
		if (a->given[i].opt == o && n-- == 0)
			return a->given[i].value;
	return NULL;
}

const char *mt_args_get(const struct mt_args *a, const char *name)
{
	const struct mt_option *o = known(a, name);
	int i;

	for (i = a->n_given; i-- > 0;)
		if (a->given[i].opt == o)
			return a->given[i].value;
	return o->dflt;
}

bool mt_args_json(const struct mt_args *a)
{
	const char *format = mt_args_get(a, "format");

	return (format && !strcmp(format, "json")) || mt_args_has(a, "json");
}

static const char *needed(const struct mt_args *a, const char *name, enum mt_type type)
{
	const char *s = mt_args_get(a, name);

	if (!s || known(a, name)->type != type) {
		fprintf(stderr, "memtrace: bug: --%s has no value of this type\n", name);
		abort();
	}
	return s;
}

long long mt_args_int(const struct mt_args *a, const char *name)
{
	long long v = 0;

	parse_int(needed(a, name, MT_INT), &v);
	return v;
}

double mt_args_number(const struct mt_args *a, const char *name)
{
	double v = 0;

	parse_number(needed(a, name, MT_NUMBER), &v);
	return v;
}

uint64_t mt_args_duration_ns(const struct mt_args *a, const char *name)
{
	uint64_t v = 0;

	mt_parse_duration_ns(needed(a, name, MT_DURATION), &v);
	return v;
}

uint64_t mt_args_size_bytes(const struct mt_args *a, const char *name)
{
	uint64_t v = 0;

	mt_parse_size_bytes(needed(a, name, MT_SIZE), &v);
	return v;
}
