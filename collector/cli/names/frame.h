/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* frame.h - what is known of a code address: the functions around it. Plain data. */
#ifndef MEMTRACE_CLI_FRAME_H
#define MEMTRACE_CLI_FRAME_H

#include <stdbool.h>
#include <stdint.h>

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
