/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "common/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/faultprobe.h"
#include "preload/ground/image.h"

/* @value of a variable, within the limits; what is no number is as if it were not there. */
static uint64_t number(const char *value, uint64_t dflt, uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;

	if (!value || !*value)
		return dflt;
	v = strtoull(value, &end, 10);
	return *end ? dflt : v < min ? min : v > max ? max : v;
}

/* PROCESS:INODE:PROCESS:TIME, see struct mt_config. */
static void read_reaper(struct mt_config *c, const char *s)
{
	uint64_t v[4] = { 0 };
	char *end;

	for (int i = 0; s && i < 4; i++) {
		v[i] = strtoull(s, &end, 10);
		if (*end != (i < 3 ? ':' : 0))
			return;
		s = end + 1;
	}
	c->reaper = (int)v[0];
	c->reaper_ns_inode = v[1];
	c->orphan = (int)v[2];
	c->orphan_ns = v[3];
}

int mt_config_read(struct mt_config *c)
{
	const char *s = getenv(MT_VARIABLE(MEMTRACE_DIR));

	memset(c, 0, sizeof(*c));
	if (!s || s[0] != '/' || strlen(s) >= sizeof(c->dir))
		return -ENOENT;
	strcpy(c->dir, s);
	s = getenv(MT_VARIABLE(MEMTRACE_BACKEND));
	if (s && *s && strlen(s) < sizeof(c->backend))
		strcpy(c->backend, s);
	else
		strcpy(c->backend, "unknown");
	s = getenv(MT_VARIABLE(MEMTRACE_LIBRARY));
	for (enum mt_library l = 0; s && l < MT_N_LIBRARIES; l++)
		if (!strcmp(s, mt_library_word(l)))
			c->library = l;
#define SETTING(variable, field, type, unit, option, dflt, min, max, ...) \
	c->field = (type)number(getenv(#variable), dflt, min, max);
#define INNER(variable, field, type, dflt, min, max) c->field = (type)number(getenv(#variable), dflt, min, max);
#include "common/settings.list"
	if (c->first_interval_ns < 1000000 || c->first_interval_ns > c->interval_ns)
		c->first_interval_ns = c->interval_ns;
	if (c->library != MT_LIBRARY_COUNTS || ((c->windows == MT_WINDOW_SHARE || c->windows == MT_WINDOW_EACH) &&
						(!c->window_open_ns || c->window_period_ns <= c->window_open_ns)))
		c->windows = MT_WINDOW_NONE;
	s = getenv(MT_VARIABLE(MEMTRACE_ZOOM));
	c->zoom = s && *s;
	c->without = mt_without(getenv(MT_VARIABLE(MEMTRACE_WITHOUT)));
	read_reaper(c, getenv(MT_VARIABLE(MEMTRACE_MONITOR)));
	s = getenv(MT_VARIABLE(MEMTRACE_PARENT_IMAGE));
	c->parent_image = s && *s ? atoi(s) : -1;
	return 0;
}
