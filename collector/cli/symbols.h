/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * symbols.h - addresses to functions and lines, and static objects, of the
 * executables and libraries of a trace (libdwfl; separate debug files are
 * found by build id and debug link, never over the network).
 */
#ifndef MEMTRACE_CLI_SYMBOLS_H
#define MEMTRACE_CLI_SYMBOLS_H

#include "ctxlog.h"

struct mt_frame {
	const char *object;	/* path or NULL */
	uint64_t offset;	/* of the address in the object, as in its file */
	const char *function;	/* demangled, or NULL */
	const char *file;	/* NULL: no line information */
	int line, column;	/* column 0: unknown */
	bool inlined;		/* into the next frame, which has the same ip */
	bool system;		/* in a library of the system or one of its headers */
};

struct mt_frames {
	int n;
	struct mt_frame *f;	/* innermost first; at least one */
};

struct mt_symbols;

struct mt_symbols *mt_symbols_new(const struct mt_object *objects, size_t n);
/* Frames of a return address; cached, owned by the symbols. */
const struct mt_frames *mt_symbols_frames(struct mt_symbols *s, uint64_t return_address);
/* Frames of a function's first instruction (no return address). */
const struct mt_frames *mt_symbols_function(struct mt_symbols *s, uint64_t entry);

/*
 * Calls `found` for each static object of at least min_bytes of object i, by
 * ascending address, one name per address. `site` may be NULL.
 */
typedef void (*mt_static_fn)(void *arg, const char *name, uint64_t start, uint64_t size,
			     const char *site);
int mt_symbols_statics(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found,
		       void *arg);
/* Calls `found` for each writable segment of object i: [start, end). */
typedef void (*mt_segment_fn)(void *arg, uint64_t start, uint64_t end);
int mt_symbols_segments(struct mt_symbols *s, size_t i, mt_segment_fn found, void *arg);
void mt_symbols_free(struct mt_symbols *s);

/* Rank among names of one address: smaller is better. For tests. */
int mt_symbol_prefer(int bind_a, uint64_t size_a, const char *a, int bind_b, uint64_t size_b,
		     const char *b);

#endif
