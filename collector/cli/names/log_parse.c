/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* log_parse.c - context.log as events, by time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/names/log_parse.h"
#include "common/tracenames.h"

struct cursor {
	char *p;
	bool bad;
};

static char *word(struct cursor *c)
{
	char *w;

	while (*c->p == ' ')
		c->p++;
	w = c->p;
	while (*c->p && *c->p != ' ')
		c->p++;
	if (c->p == w)
		c->bad = true;
	if (*c->p)
		*c->p++ = 0;
	return w;
}

static uint64_t number(struct cursor *c, int base)
{
	char *w = word(c), *end;
	uint64_t v = 0;

	/* nearly all are few plain digits */
	for (end = w; *end >= '0' && *end <= '9' && base == 10; end++)
		v = v * 10 + (uint64_t)(*end - '0');
	for (; base == 16 && ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'f')); end++)
		v = v << 4 | (uint64_t)(*end <= '9' ? *end - '0' : *end - 'a' + 10);
	if (!*end && end > w && end - w <= (base == 10 ? 19 : 16))
		return v;
	v = base == 10 && *w == '-' ? (uint64_t)strtoll(w, &end, 10) :
					       strtoull(w, &end, base);

	if (*end || end == w)
		c->bad = true;
	return v;
}

#define DEC(c) ((int64_t)number((c), 10))
#define HEX(c) number((c), 16)

static char *string(struct cursor *c)
{
	char *w = word(c), *out, *o;

	if (!strcmp(w, "-"))
		return NULL;
	out = o = mt_alloc(strlen(w) + 1);
	for (; *w; w++) {
		if (*w == '%' && w[1] && w[2]) {
			char h[3] = { w[1], w[2], 0 };

			*o++ = (char)strtoul(h, NULL, 16);
			w += 2;
		} else {
			*o++ = *w;
		}
	}
	return out;
}

void mt_log_set_stack(struct mt_context *c, size_t id, const uint64_t *ip, int n)
{
	if (id >= c->n_stacks) {
		if (id + 1 > c->cap_stacks) {
			c->cap_stacks = (id + 1) * 2;
			c->stacks = mt_resize(c->stacks, c->cap_stacks * sizeof(*c->stacks));
		}
		memset(c->stacks + c->n_stacks, 0, (id + 1 - c->n_stacks) * sizeof(*c->stacks));
		c->n_stacks = id + 1;
	}
	if (c->stacks[id].n)
		return;
	c->stacks[id].n = n;
	c->stacks[id].ip = mt_alloc((size_t)n * sizeof(uint64_t));
	memcpy(c->stacks[id].ip, ip, (size_t)n * sizeof(uint64_t));
}

static void add_stack(struct mt_context *c, struct cursor *k)
{
	int64_t id = DEC(k);
	uint64_t ip[256];
	int n = 0;

	while (*k->p && n < 256 && !k->bad)
		ip[n++] = HEX(k);
	if (k->bad || id < 0 || id > 100000000 || !n)
		return;
	mt_log_set_stack(c, (size_t)id, ip, n);
}

/*
 * What stands behind the letter of a line: t the time, i the thread, p the parent, s the stack, a to d numbers, in capitals hexadecimal,
 * S a text, w a word of one letter.
 */
static const char *const fields[128] = {
	['F'] = "tp", ['Y'] = "tpi", ['O'] = "tABCdS", ['o'] = "tA", ['A'] = "tiAbsw", ['L'] = "tiAbsc", ['R'] = "tiAbsw", ['D'] = "tiA",
	['M'] = "tiAbCDsS", ['Q'] = "tAbCdS", ['U'] = "tAb", ['W'] = "tAbCd", ['B'] = "tAbCd", ['G'] = "tAbC", ['H'] = "tAB",
	['T'] = "tipABC", ['N'] = "tiS", ['X'] = "tiS", ['P'] = "tia", ['C'] = "tabcds", ['K'] = "tab", ['E'] = "t",
};

static void read_field(struct cursor *k, struct mt_log_event *e, char field)
{
	uint64_t *const at[] = { &e->a, &e->b, &e->c, &e->d };

	switch (field) {
	case 't':
		e->time = DEC(k);
		break;
	case 'i':
		e->tid = DEC(k);
		break;
	case 'p':
		e->parent = DEC(k);
		break;
	case 's':
		e->stack = DEC(k);
		break;
	case 'S':
		e->str = string(k);
		break;
	case 'w':
		e->how = *word(k);
		break;
	default:
		if (field >= 'a')
			*at[field - 'a'] = (uint64_t)DEC(k);
		else
			*at[field - 'A'] = HEX(k);
	}
}

/* The first line: version, time, pid, min_alloc, stack_depth; later ones have the size of a page. */
static void read_version(struct cursor *k, struct mt_context *c, struct mt_log_event *e, int *version)
{
	uint64_t page;

	*version = (int)DEC(k);
	e->time = DEC(k);
	for (int i = 0; i < 3; i++)
		DEC(k);
	k->bad = false;
	page = (uint64_t)DEC(k);
	c->page_bytes = !k->bad && page >= 4096 && !(page & (page - 1)) ? page : 4096;
	k->bad = false;
}

/* What only some lines have at their end. */
static void read_rest(struct cursor *k, struct mt_log_event *e)
{
	if (e->kind == 'O' && *k->p) {		/* thread-local data */
		e->tid = DEC(k);
		e->stack = DEC(k);
	} else if (e->kind == 'T' && *k->p) {
		e->d = HEX(k);
	} else if (e->kind == 'M') {
		while (*k->p == ' ')
			k->p++;
		if (!*k->p || k->bad)
			return;
		e->segment = true;
		for (int i = 0; i < 3; i++)
			e->seg[i] = HEX(k);
	}
}

/* One line without ; and LF. False: not understood. */
static bool parse(struct mt_context *c, char *line, struct mt_log_event *e, int *version)
{
	struct cursor k = { line + 1, false };
	const char *f = line[0] > 0 ? fields[(unsigned char)line[0]] : NULL;

	memset(e, 0, sizeof(*e));
	e->kind = line[0];
	e->stack = -1;
	if (line[0] == 'V') {
		read_version(&k, c, e, version);
	} else if (line[0] == 'S') {
		add_stack(c, &k);
	} else if (f) {
		for (; *f; f++)
			read_field(&k, e, *f);
		read_rest(&k, e);
	} else {
		return false;
	}
	return !k.bad;
}

/* Of one time the order in the file decides. */
static void sort_by_time(struct mt_log_event *ev, size_t n)
{
	uint64_t *key = mt_alloc((n + 1) * sizeof(*key));

	for (size_t i = 0; i < n; i++)
		key[i] = MT_SIGNED_KEY(ev[i].time);
	mt_sort(ev, n, sizeof(*ev), key, NULL);
	free(key);
}

void mt_log_free(struct mt_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->ev[i].str);
	free(l->ev);
	memset(l, 0, sizeof(*l));
}

int mt_log_read(struct mt_log *l, struct mt_context *c, const char *trace, const char *dir)
{
	char *path = mt_printf("%s/%s/" MT_FILE_CONTEXT, trace, dir), *data, *p, *end;
	size_t cap = 0, len;
	int version = 0, err = 0;

	memset(l, 0, sizeof(*l));
	l->fork_time = -1;
	data = mt_read_file(path, &len);
	if (!data) {
		err = -errno;
		free(path);
		return err;
	}
	end = data + len;
	for (p = data; p < end; ) {
		char *lf = memchr(p, '\n', (size_t)(end - p));
		char *stop = lf ? lf : end;

		if (stop > p && lf && stop[-1] == ';') {
			stop[-1] = 0;
			MT_GROW(l->ev, l->n, cap);
			if (!parse(c, p, &l->ev[l->n], &version)) {
				c->bad_lines++;
			} else if (l->ev[l->n].kind != 'S') {
				l->n++;
			}
		} else if (stop > p) {
			c->bad_lines++;
		}
		p = stop + 1;
	}
	free(data);
	if (version > 1) {
		mt_error("%s: version %d of the log is newer than this program (1)", path, version);
		mt_log_free(l);
		free(path);
		return -EPROTO;
	}
	free(path);
	sort_by_time(l->ev, l->n);
	for (size_t i = 0; i < l->n; i++) {
		if (l->ev[i].kind == 'F') {
			l->fork_time = l->ev[i].time;
			l->parent = l->ev[i].parent;
			break;
		}
	}
	return 0;
}
