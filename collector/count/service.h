// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * service.h - between the code that `memtrace cc` puts into a program (hooks.c, one copy in the
 * executable and in each shared library) and the preload library, which has the counters.
 *
 * The hooks find mt_count_service_find() by its name. Without it, or where nothing is to be
 * counted, they do nothing.
 */
#ifndef MEMTRACE_COUNT_SERVICE_H
#define MEMTRACE_COUNT_SERVICE_H

#include "count/site.h"

/* Raised when struct mt_count_thread, mt_count_hit() or what is below changes. */
#define MT_COUNT_SERVICE_VERSION 3u
#define MT_COUNT_SERVICE_OLDEST 2u	/* without what is after range */
#define MT_COUNT_SERVICE_FIND "mt_count_service_find"

/*
 * Gates of a module: instructions of five bytes, of which the first one says whether accesses are counted. MT_GATE_JUMP
 * goes to where the last four bytes say, MT_GATE_PASS (a comparison of which nobody looks at the result) goes on. The
 * change of one byte is atomic: a thread runs the one or the other, and no thread has to be stopped.
 */
struct mt_count_gate {
	int32_t at;			/* address of the instruction - address of this */
	uint32_t open;			/* its first byte while accesses are counted, MT_GATE_JUMP or MT_GATE_PASS */
};
#define MT_GATE_JUMP 0xe9u
#define MT_GATE_PASS 0xa9u
#define MT_GATE_CALL 0xe8u

struct mt_count_module {
	const void *image;		/* where its ELF header is in memory */
	const struct mt_count_gate *gate, *gate_end;
	struct mt_count_module *next;	/* of the service */
	uint32_t closed;		/* its gates are, until the service opens them */
};

struct mt_count_service {
	/* Are accesses counted now? */
	const uint32_t *open;
	/* A module comes, once, and goes. Without gates it counts always; with gates that are closed they are opened where it counts. */
	void (*module)(struct mt_count_module *m);
	void (*module_gone)(struct mt_count_module *m);
	/* @hook was called while accesses are not counted, and goes back to @back: this call may be left out until they are. */
	void (*idle_call)(const void *hook, const void *back);
	/* Counters of the calling thread, always the same; NULL: nothing is counted. */
	struct mt_count_thread *(*thread)(void);
	void (*slow)(struct mt_count_thread *t, uint64_t address, unsigned int write, uint64_t n, bool first);
	void (*range)(struct mt_count_thread *t, uint64_t address, uint64_t bytes, unsigned int write);
	/*
	 * What each instruction accesses is counted, too: then all accesses come here, and none to what is above.
	 * sites() is as thread(); itself NULL: it is not counted. @how: write, and the bytes times two; @ip: in the instruction.
	 */
	struct mt_site_thread *(*sites)(void);
	void (*site)(struct mt_site_thread *t, uint64_t address, unsigned int how, uint64_t ip);
	void (*site_range)(struct mt_site_thread *t, uint64_t address, uint64_t bytes, unsigned int write, uint64_t ip);
};

/* For hooks of @version, perhaps with less than this; NULL: not this one. Any thread. */
const struct mt_count_service *mt_count_service_find(unsigned int version);

#endif
