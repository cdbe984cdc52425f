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

#include "count.h"

/* Raised when struct mt_count_thread, mt_count_hit() or what is below changes. */
#define MT_COUNT_SERVICE_VERSION 1u
#define MT_COUNT_SERVICE_FIND "mt_count_service_find"

struct mt_count_service {
	/* Counters of the calling thread, always the same; NULL: nothing is counted. */
	struct mt_count_thread *(*thread)(void);
	void (*slow)(struct mt_count_thread *t, uint64_t address, unsigned int write, uint64_t n, bool first);
	void (*range)(struct mt_count_thread *t, uint64_t address, uint64_t bytes, unsigned int write);
};

/* For hooks of @version; NULL: not this one. Any thread. */
const struct mt_count_service *mt_count_service_find(unsigned int version);

#endif
