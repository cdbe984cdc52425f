/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * unseen.h - memory that a program mapped and the backend did not see: from context.log to unseen.csv of an image, and from
 * there to `unseen` of the manifest. docs/reference/trace-format.md tells the kinds.
 */
#ifndef MEMTRACE_CLI_UNSEEN_H
#define MEMTRACE_CLI_UNSEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	uint64_t stack_start, stack_end;	/* of the main thread at the begin, with the arguments */
};

/* A new mapping, of which the strings are copied; it takes the place of what was there. */
void mt_unseen_map(struct mt_unseen *u, const struct mt_unseen_range *r);
/* The same was found in the kernel's maps: nothing new where it is known already. */
void mt_unseen_found(struct mt_unseen *u, const struct mt_unseen_range *r);
void mt_unseen_unmap(struct mt_unseen *u, uint64_t start, uint64_t end, int64_t when);
void mt_unseen_move(struct mt_unseen *u, uint64_t old, uint64_t old_end, uint64_t to, uint64_t to_end, int64_t when);
/* One that is not among the living. Its index. */
size_t mt_unseen_add(struct mt_unseen *u, const struct mt_unseen_range *r);
void mt_unseen_free(struct mt_unseen *u);
/* Of two paths one may be cut; NULL is none. */
bool mt_unseen_same_path(const char *a, const char *b);
#define MT_UNSEEN_PATH_CUT 127	/* bytes, as common/maps.h has them */

struct mt_context;

/*
 * Writes unseen.csv of an image whose log is replayed, or removes it where it is not known what was not seen. @dir is the folder of
 * the image. 0 or a negative errno.
 */
int mt_unseen_write(struct mt_context *c, const char *trace, const char *image, const char *dir);

/*
 * `unseen` of the manifest: what all images did not see. @state of each image as in the manifest, in the order of @dirs; @sees: the
 * backend sees accesses at all; @others: there are processes that are not recorded.
 */
json_t *mt_unseen_describe(const char *trace, char *const *dirs, const char *const *state, size_t n, bool others);

#endif
