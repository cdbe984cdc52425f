/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * symbols.h - addresses to functions and lines, and static objects, of the
 * executables and libraries of a trace (libdwfl; separate debug files are
 * found by build id and debug link; those
 * of the program and its own libraries also by debuginfod, if DEBUGINFOD_URLS is set).
 */
#ifndef MEMTRACE_CLI_SYMBOLS_H
#define MEMTRACE_CLI_SYMBOLS_H

#include "cli/names/ctxlog.h"

struct mt_symbols;

struct mt_symbols *mt_symbols_new(const struct mt_object *objects, size_t n);
/*
 * Names of code that the program made at run time: lines "START SIZE NAME" (hexadecimal), as perf reads them
 * from /tmp/perf-PID.map. Node, Java, Python and others write such a file when they are asked to. False: not readable.
 */
bool mt_symbols_perf_map(struct mt_symbols *s, const char *path);
/* Frames of a return address; cached, owned by the symbols. */
const struct mt_frames *mt_symbols_frames(struct mt_symbols *s, uint64_t return_address);
/* Frames of a function's first instruction (no return address). */
const struct mt_frames *mt_symbols_function(struct mt_symbols *s, uint64_t entry);

struct mt_element;

/*
 * What a block consists of that is assigned to the variable @name in function number @frame of
 * mt_symbols_frames(). False: not known. See types.h.
 */
bool mt_symbols_block(struct mt_symbols *s, uint64_t return_address, int frame, const char *name, struct mt_element *out);

/*
 * The variable that function number @frame of mt_symbols_frames() declares on the line of the call there. The caller's; NULL: none, or
 * several.
 */
char *mt_symbols_declared(struct mt_symbols *s, uint64_t return_address, int frame);

/* Smallest static object of a library of the system, or in memory that is only read, in bytes. */
#define MT_MIN_STATIC_SYSTEM 64

struct mt_variable;

/*
 * Calls `found` for each static object of at least min_bytes of object i (see above for
 * libraries of the system), by ascending address, one for each address. @start: where it
 * lies in this image.
 */
typedef void (*mt_static_fn)(void *arg, const struct mt_variable *v, uint64_t start);
int mt_symbols_statics(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found,
		       void *arg);
/* Same for the thread-local objects; @start: offset in the object's thread-local block. */
void mt_symbols_thread_locals(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found, void *arg);
/*
 * Calls `found` for each writable segment of object i, [start, end), in whole pages, with NULL; and for the tables of
 * addresses through which it calls and uses other objects, with the name of the section: ".got", ".got.plt".
 */
typedef void (*mt_segment_fn)(void *arg, uint64_t start, uint64_t end, const char *table);
int mt_symbols_segments(struct mt_symbols *s, size_t i, mt_segment_fn found, void *arg);
void mt_symbols_free(struct mt_symbols *s);

#endif
