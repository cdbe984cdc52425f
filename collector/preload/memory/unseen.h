// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * unseen.h - memory of the program that this backend does not see: which it is, told to the context library.
 *
 * What the program maps through libc is told by the hook, with the mapping (CTX_UNSEEN); what it inherits, what the loader maps
 * and what system calls outside of libc map is found when the monitor reads the kernel's maps.
 */
#ifndef MEMTRACE_UNSEEN_H
#define MEMTRACE_UNSEEN_H

#include <stdint.h>

#include "common/maps.h"

/* CTX_UNSEEN if a part of [addr, addr+len), which the program has just mapped, is not traced, else 0. Under the lock. */
int zap_unseen_flag(uint64_t addr, uint64_t len);

/*
 * monitor. A new image has told nothing but which inherited files it sees; the maps that were read are compared with those of the last
 * time, under the lock; what is new is told to the log, without the lock (fork takes the locks of the log before ours).
 */
void zap_unseen_begin(void);
void zap_unseen_look(struct mt_maps *m);
void zap_unseen_tell(void);

#endif
