/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source_fake.c - any event is 1 in each sample, which measures the tool itself. `object` is the logical
 * index of the place, `sample` the number of the sample from 1, `formula` 10 * object + sample: sums and
 * means of these are known in advance.
 */
#include "cli/monitor/source.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

struct fake {
	int n;
	unsigned int index;
	struct { enum { ONE, OBJECT, SAMPLE, FORMULA } kind; } event[];
};

static void fake_list(const struct mon_context *c, struct mon_listing *to)
{
	static const struct mon_listed all[] = {
		{ .name = "ANY", .text = "1 in each sample: what the tool itself costs", .pattern = true },
		{ .name = "object", .text = "the index of the place" },
		{ .name = "sample", .text = "the number of the sample, from 1" },
		{ .name = "formula", .text = "10 * object + sample" },
	};

	(void)c;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		to->event(to, &all[i]);
}

static bool fake_knows(const struct mon_context *c, const char *event)
{
	(void)c;
	(void)event;
	return true;
}

static void *fake_open(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why)
{
	struct fake *f = mt_alloc(sizeof(*f) + d->n_events * sizeof(f->event[0]));

	(void)c;
	(void)why;
	f->n = (int)d->n_events;
	f->index = obj->logical_index;
	for (int i = 0; i < f->n; i++) {
		const char *name = d->event[i].name;

		f->event[i].kind = !strcmp(name, "object") ? OBJECT : !strcmp(name, "sample") ? SAMPLE :
			!strcmp(name, "formula") ? FORMULA : ONE;
	}
	return f;
}

static int fake_read(const struct mon_context *c, void *state, double *values)
{
	const struct fake *f = state;

	for (int i = 0; i < f->n; i++)
		switch (f->event[i].kind) {
		case OBJECT:
			values[i] = f->index;
			break;
		case SAMPLE:
			values[i] = (double)c->sample;
			break;
		case FORMULA:
			values[i] = 10.0 * f->index + (double)c->sample;
			break;
		default:
			values[i] = 1;
		}
	return 0;
}

const struct mon_source mon_source_fake = {
	.name = "fake", .text = "values that are known in advance", .list = fake_list, .knows = fake_knows,
	.open = fake_open, .read = fake_read, .close = free,
};
