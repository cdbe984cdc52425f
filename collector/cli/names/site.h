/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* site.h - what a programmer calls a block, by the call stack of its allocation. */
#ifndef MEMTRACE_CLI_SITE_H
#define MEMTRACE_CLI_SITE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/names/context.h"
#include "cli/names/symbols.h"
#include "cli/names/types.h"

struct mt_site {
	char *name, *site;	/* variable, member or function; path:line, NULL: not known */
	bool variable;		/* the name is what the source assigns to */
	struct mt_element element;
	bool done;
};

/* The sites of the stacks of an image; each is looked up once. */
struct mt_site_names;

struct mt_site_names *mt_sites_new(const struct mt_context *c, struct mt_symbols *sy);
/* @stack: a number of a stack that is in the context. Valid until mt_sites_free(). */
const struct mt_site *mt_sites_at(struct mt_site_names *s, int64_t stack);
void mt_sites_free(struct mt_site_names *s);

/* A frame as a name: its function without parameters and with its line, else object and offset. The caller's. */
char *mt_site_of_frame(const struct mt_frame *f, uint64_t ip);

#endif
