/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/record/settings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/util.h"

/* Values of options, by the unit of settings.list. */
static uint64_t take_NS(const struct mt_args *a, const char *option)
{
	return mt_args_duration_ns(a, option);
}

static uint64_t take_BYTES(const struct mt_args *a, const char *option)
{
	return mt_args_size_bytes(a, option);
}

static uint64_t take_COUNT(const struct mt_args *a, const char *option)
{
	return (uint64_t)mt_args_int(a, option);
}

static uint64_t take_PPM(const struct mt_args *a, const char *option)
{
	return (uint64_t)(mt_args_number(a, option) * 1e6 + 0.5);
}

static uint64_t take_FLAG(const struct mt_args *a, const char *option)
{
	return mt_args_has(a, option);
}

void mt_settings_take(struct mt_config *c, const struct mt_args *a, const struct mt_window_spec *windows)
{
#define SETTING(variable, field, type, unit, option, ...) \
	if (*option) \
		c->field = (type)take_##unit(a, option);
#include "common/settings.list"
	/* where nobody asked for a length, short programs have as many intervals as others */
	c->first_interval_ns = mt_args_has(a, "interval") ? c->interval_ns : c->interval_ns / 8;
	c->windows = windows->kind;
	c->window_open_ns = windows->open_ns;
	c->window_period_ns = windows->period_ns;
}

static void set_number(const char *name, uint64_t v)
{
	char t[32];

	snprintf(t, sizeof(t), "%" PRIu64, v);
	setenv(name, t, 1);
}

void mt_settings_text(const char *name, const char *text)
{
	if (text && *text)
		setenv(name, text, 1);
	else
		unsetenv(name);
}

void mt_settings_environment(const struct mt_config *c, const struct mt_args *a)
{
#define SETTING(variable, field, ...) set_number(#variable, (uint64_t)c->field);
#define TEXT(variable, option, ...) mt_settings_text(#variable, mt_args_get(a, option));
#include "common/settings.list"
}

static json_t *describe_NS(uint64_t v)
{
	return json_integer((json_int_t)v);
}

#define describe_BYTES describe_NS
#define describe_COUNT describe_NS

static json_t *describe_PPM(uint64_t v)
{
	return json_real((double)v / 1e6);
}

static json_t *describe_FLAG(uint64_t v)
{
	return json_boolean(v);
}

json_t *mt_settings_describe(const struct mt_config *c, const struct mt_args *a)
{
	json_t *p = json_object();

#define SETTING(variable, field, type, unit, option, dflt, min, max, manifest, when) \
	if (*manifest && (!*when || mt_args_has(a, when))) \
		json_object_set_new(p, manifest, describe_##unit((uint64_t)c->field));
#define KEPT(unit, option, manifest) json_object_set_new(p, manifest, describe_##unit(take_##unit(a, option)));
#define TEXT(variable, option, manifest) \
	if (mt_args_has(a, option)) \
		json_object_set_new(p, manifest, mt_json_text(mt_args_get(a, option)));
#include "common/settings.list"
	return p;
}

json_t *mt_json_text(const char *s)
{
	json_t *j = json_string(s);
	char *t;

	if (j)
		return j;
	t = mt_strdup(s);
	for (unsigned char *p = (unsigned char *)t; *p; p++)
		if (*p >= 0x80)
			*p = '?';
	j = json_string(t);
	free(t);
	return j;
}
