// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * panel.h - a few pages that stay for some bins and are taken away several times in each: who else comes to a page. Pure arithmetic. Pages
 * are numbers (address / page size), times ns. Used by the monitor.
 */
#ifndef MEMTRACE_FINE_PANEL_H
#define MEMTRACE_FINE_PANEL_H

#include <stddef.h>
#include <stdint.h>

#include "preload/fine/strata.h"

#define FINE_PANEL_MAX 1024u
#define FINE_PANEL_BINS 4u	/* a page stays */
#define FINE_PANEL_LOOKS 4u	/* in a bin */
#define FINE_PANEL_USERS 16u	/* that are told apart on a page */

struct fine_member {
	uint64_t page;
	uint64_t start_ns;
	uint64_t away_ns;	/* the look that is going on began */
	uint64_t wait_ns;
	uint32_t bins, looks, active, written;
	uint8_t is_hit, is_written;	/* in that look */
	uint16_t users;
	struct {
		int tid;
		uint32_t n;
	} user[FINE_PANEL_USERS];
};

struct fine_panel {
	struct fine_member *m;	/* by page, ascending */
	size_t n;
};

/* 0 or -ENOMEM */
int fine_panel_init(struct fine_panel *p);
void fine_panel_free(struct fine_panel *p);
struct fine_member *fine_panel_find(const struct fine_panel *p, uint64_t page);

/*
 * After fine_strata_begin() said which pages there are: @k members at most, of which a part of FINE_PANEL_BINS comes in each bin. They are
 * drawn at random of the pages in use (mapped, or used in the bin that ended), pages of ranges in which several threads were seen on a page
 * four times as often. They have FINE_PANEL when the next bin begins, and until they leave.
 */
void fine_panel_fill(struct fine_panel *p, struct fine_strata *s, struct fine_pages *pages, size_t k, uint64_t now_ns);
/* A fault on a member. */
void fine_panel_seen(struct fine_member *m, int tid, uint64_t time_ns, int write);
/* The look of all members that is going on ends, if one is; @counts: and is told. */
void fine_panel_looked(struct fine_panel *p, uint64_t now_ns, int counts);
/* The pages that are to be taken away now, ascending: those of @which (FINE_EACH) or those that somebody came to. Their look begins. */
enum fine_which { FINE_EACH, FINE_THE_HIT };
size_t fine_panel_take(struct fine_panel *p, enum fine_which which, uint64_t now_ns, uint64_t *page);
/* Members that have been there long enough leave, or @all: @left is called for each. */
void fine_panel_leave(struct fine_panel *p, struct fine_pages *pages, int all, void (*left)(void *arg, const struct fine_member *m),
		      void *arg);

#endif
