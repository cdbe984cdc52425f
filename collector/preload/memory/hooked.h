// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* hooked.h - what the hooks of memory have in common. */
#ifndef MEMTRACE_HOOKED_H
#define MEMTRACE_HOOKED_H

#include <errno.h>
#include <stdint.h>

#include "common/rawsys.h"
#include "preload/ground/context.h"
#include "preload/memory/objects.h"
#include "preload/memory/space.h"

static inline uint64_t page_up(uint64_t v)
{
	return (v + MT_PAGE - 1) & ~(MT_PAGE - 1);
}

/* As libc does it: -1 (or MAP_FAILED, the same bits) and errno. */
static inline long finish(long ret)
{
	if (mt_failed(ret)) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

/* Hooks of the context library nest libc calls of its own: those are not the program's. */
static inline int is_program(void)
{
	return mt_in_hook == 0;
}

/*
 * Is there memory whose changes must be known? While it is frozen it is not active any more and not yet frozen: there are mappings all
 * the time, or what was mapped before.
 */
static inline int looks_after(void)
{
	return zap_space.active || zap_space.mapped || zap_space.frozen.n || zap_has_objects();
}

/* The end of a hook that took the lock with zap_enter(). */
static inline void leave(uint64_t mask)
{
	if (zap_space.late_pending && zap_space.active)
		zap_convert_late();
	zap_leave(mask);
}

#endif
