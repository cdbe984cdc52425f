/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/backend/probe.h"
#include "cli/base/util.h"

struct mt_facility *mt_probe_find(struct mt_backend_probe *b, const char *name)
{
	for (int i = b->n_facilities; i-- > 0;)
		if (!strcmp(b->facility[i].name, name))
			return &b->facility[i];
	return NULL;
}

enum mt_works mt_probe_note(struct mt_backend_probe *b, const char *name, enum mt_works w, const char *fmt, ...)
{
	struct mt_facility *f;
	va_list ap;

	/* no backend has as many; what has no room is left out, not written behind the others */
	if (b->n_facilities == (int)(sizeof(b->facility) / sizeof(b->facility[0])))
		return w;
	f = &b->facility[b->n_facilities++];

	va_start(ap, fmt);
	f->name = name;
	f->works = w;
	if (vasprintf(&f->why, fmt, ap) < 0)
		f->why = NULL;
	va_end(ap);
	return w;
}
