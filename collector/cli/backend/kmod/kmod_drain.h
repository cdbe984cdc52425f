/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * kmod_drain.h - messages of the kernel module into the images of a trace.
 *
 * The module numbers address spaces; the trace has process images, each with a
 * directory that the preload library has made when the program started. They
 * are matched by process id and time: the directory that the process made
 * first after the address space began. A program without the library
 * (statically linked, environment cleared) gets a directory from us.
 */
#ifndef MEMTRACE_CLI_KMOD_DRAIN_H
#define MEMTRACE_CLI_KMOD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kmod_drain_options {
	const char *trace;		/* directory, exists */
	bool physical;
	bool modulo;			/* a module before 1.3 on more than 64 CPUs: CPUMask is unknown */
	uint32_t page_size;
	/* Losses that the messages do not have, since the last call; may be NULL. */
	void (*losses)(void *arg, uint64_t *region_pages, uint64_t *other);
	void *arg;
	/*
	 * Does this process have the preload library, so that its directory will
	 * come? NULL: /proc is asked. For tests.
	 */
	int (*has_preload)(int32_t pid);
};

struct mt_kmod_drain;

struct mt_kmod_drain *mt_kmod_drain_new(const struct mt_kmod_drain_options *o);
/* Whole messages. 0 or a negative errno (-EPROTO: not what abi.h says). */
int mt_kmod_drain_feed(struct mt_kmod_drain *d, const void *messages, size_t bytes);
/* After the last message; also frees. Totals: what was written. */
struct mt_kmod_totals {
	uint64_t records, intervals, dropped, lost_writes;
	uint64_t images;
};
void mt_kmod_drain_end(struct mt_kmod_drain *d, struct mt_kmod_totals *t);

#endif
