/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * unseen_log.h - memory that a program mapped and the backend did not see: the mappings, as context.log tells them.
 */
#ifndef MEMTRACE_CLI_UNSEEN_LOG_H
#define MEMTRACE_CLI_UNSEEN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_UNSEEN_SEEN 0x20000000u	/* CTX_SEEN of preload/ground/context.h: in the place of the rights */

/* A mapping with its life: [start, end), [birth, death), death -1 = to the end. */
struct mt_unseen_range {
	uint64_t start, end;
	int64_t birth, death;
	unsigned int prot;
	bool shared;
	uint64_t flags;		/* of mmap(); 0: not known */
	char *path;		/* NULL: anonymous */
	bool segment;		/* of System V */
};

/* What one image mapped. All zero is empty. */
struct mt_unseen {
	struct mt_unseen_range *r;
	size_t n, cap;
	size_t *live, n_live, cap_live;		/* those that are there, by address; disjoint */
	bool looked;		/* the backend told what it does not see */
	struct mt_unseen_range *seen;	/* what an image began with, and sees: [start, end) only */
	size_t n_seen, cap_seen;
	uint64_t stack_start, stack_end;	/* of the main thread at the begin, with the arguments */
};

/* A new mapping, of which the strings are copied; it takes the place of what was there. */
void mt_unseen_map(struct mt_unseen *u, const struct mt_unseen_range *r);
/* The same was found in the kernel's maps: nothing new where it is known already. */
void mt_unseen_found(struct mt_unseen *u, const struct mt_unseen_range *r);
/* Is it among the mappings at the begin of an image, and seen? mt_unseen_found() was told so, with MT_UNSEEN_SEEN. */
bool mt_unseen_is_seen(const struct mt_unseen *u, uint64_t start, uint64_t end);
void mt_unseen_unmap(struct mt_unseen *u, uint64_t start, uint64_t end, int64_t when);
void mt_unseen_move(struct mt_unseen *u, uint64_t old, uint64_t old_end, uint64_t to, uint64_t to_end, int64_t when);
/* One that is not among the living. Its index. */
size_t mt_unseen_add(struct mt_unseen *u, const struct mt_unseen_range *r);
void mt_unseen_free(struct mt_unseen *u);
/* Of two paths one may be cut; NULL is none. */
bool mt_unseen_same_path(const char *a, const char *b);
#define MT_UNSEEN_PATH_CUT 127	/* bytes, as common/maps.h has them */

#endif
