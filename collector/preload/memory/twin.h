// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * twin.h - the program's memory once more, as private memory, for children that are over soon (process/quick.h).
 *
 * Traced memory is shared memory, which no fork of the kernel copies when it is written. What a child gets of it has to be copied before
 * the parent goes on: each page, for each child. A process that makes one such child after the other has a copy at another place, which
 * a fork of the kernel copies on write; before a fork only what has changed is written into it. The child moves it to where the memory
 * is in the parent. All under zap_space.lock.
 */
#ifndef MEMTRACE_TWIN_H
#define MEMTRACE_TWIN_H

#include <stdint.h>

#include "common/maps.h"

/*
 * fork, in the parent: the copy is as the memory file @memfd is where it is mapped (@maps, read just now). 0 or negative errno: there is
 * no copy.
 */
long zap_twin_update(struct mt_maps *maps, int memfd);
/* fork, in the child: its part of this mapping of the parent's is private memory of the child. Negative errno: not all of it. */
long zap_twin_take(const struct mt_map *m);
/* There is none any more. Also in a child. */
void zap_twin_free(void);
/* monitor, now and then: one that no fork has used for a second takes memory for nothing. */
void zap_twin_age(void);

#endif
