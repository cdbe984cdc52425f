/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * context.h - what was alive when in one image: structures, threads, objects, stacks, and what is known of a code address. Plain data;
 * ctxlog.h makes it from the log, symbols.h the frames.
 */
#ifndef MEMTRACE_CLI_CONTEXT_H
#define MEMTRACE_CLI_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/names/unseen_log.h"

enum mt_kind { MT_STATIC, MT_HEAP, MT_MMAP, MT_STACK, MT_BRK, MT_FILE, MT_N_KINDS };

/* One structure with its life. [start, end), [birth, death), death -1 = alive
 * at the end. */
struct mt_structure {
	enum mt_kind kind;
	char how;		/* heap: m c r a */
	uint64_t start, end;
	int64_t birth, death;
	int64_t tid;
	int64_t stack;		/* id or -1 */
	char *name;		/* NULL: to be found */
	char *site;		/* NULL: none */
	char *type;		/* as it is declared; NULL: not known */
	const char *members;	/* of its type, see mt_type_members(); not its own, NULL: none */
	char *path;		/* mmap of a file: its path, else NULL */
	bool segment;		/* shared memory that others can map: what it is, and where @start is in it */
	uint64_t seg_device, seg_inode, seg_offset;
};

/* What the program advised about huge pages in a range, in the order of time; what is unmapped has no advice any more. */
struct mt_advice {
	int64_t time;
	uint64_t start, end;
	int what;		/* MADV_HUGEPAGE, MADV_NOHUGEPAGE, 0: none any more */
};

struct mt_thread {
	int64_t tid, parent;
	char *name;
	int64_t birth, death;
	uint64_t stack_start, stack_end, start_routine;
	int64_t cpu_ns;		/* user and system, at its end or when last seen; -1 unknown */
	uint64_t pointer;	/* its thread pointer, 0 unknown */
};

struct mt_cpu_time {
	int64_t tid, time;
	uint64_t cpu_ns;	/* since the birth of the thread in this image */
};

struct mt_object {
	uint64_t bias, start, end;
	int64_t birth, death;
	bool ours;		/* the preload library */
	char *path;
	int64_t tls_offset;	/* of its thread-local data from the thread pointer of each thread */
	uint64_t tls_size;	/* bytes; 0: none, or not at the same distance in all threads */
};

struct mt_callstack {
	int n;
	uint64_t *ip;		/* innermost first, return addresses */
};

/* One small block of many: what was allocated is known by samples. */
struct mt_sample {
	uint64_t addr, bytes;
	uint64_t mean;		/* distance of samples, in bytes of small blocks of the thread, when it was taken */
	int64_t time, stack;	/* id or -1 */
};

struct mt_context {
	struct mt_structure *s;
	size_t n, cap;
	struct mt_thread *threads;
	size_t n_threads, cap_threads;
	struct mt_cpu_time *cpu;	/* in the order of time */
	size_t n_cpu, cap_cpu;
	struct mt_object *objects;
	size_t n_objects, cap_objects;
	struct mt_callstack *stacks;	/* by id; n == 0: not in the log */
	size_t n_stacks, cap_stacks;
	struct mt_sample *samples;	/* in the order of time */
	size_t n_samples, cap_samples;
	uint64_t small_count, small_bytes, lost_events, lost_bytes;
	uint64_t brief_count, brief_bytes;	/* blocks that lived too briefly, and were too many, to be listed */
	int64_t start, end;		/* V and E lines; -1 */
	uint64_t bad_lines;		/* torn or unknown */
	uint64_t unmatched;		/* deaths of unknown blocks */
	bool have_log;
	uint64_t page_bytes;		/* of the kernel on which it was recorded; 0: no log told it */
	struct mt_advice *advice;
	size_t n_advice, cap_advice;
	struct mt_unseen unseen;	/* of the image itself: a child of fork tells what it inherits */
	/* of the replay */
	struct mt_live *live;
};

/* What is known of a code address: the functions around it. */
struct mt_frame {
	const char *object;	/* path or NULL */
	uint64_t offset;	/* of the address in the object, as in its file */
	const char *function;	/* demangled, or NULL */
	const char *file;	/* NULL: no line information */
	int line, column;	/* column 0: unknown */
	bool inlined;		/* into the next frame, which has the same ip */
	bool system;		/* in a library of the system or one of its headers */
	bool generated;		/* code made at run time, named by a perf map: the line is where the function begins */
};

struct mt_frames {
	int n;
	struct mt_frame *f;	/* innermost first; at least one */
};

#endif
