// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * stacks.h - libc's lists of thread stacks, taken at one instant by the child of a fork.
 *
 * In the child fork() of glibc walks the list of all stacks (reclaim_stacks) and knows from
 * a mark what another thread was about to change. That is right when the child's memory is
 * the parent's of one instant. The copy of fork.c is not: a thread that starts or ends while
 * it is made leaves half of the change in it, and the child ends with SIGSEGV or never.
 * So the parent holds libc's own lock of these lists while the child copies: they do not change, and what the child gets is of one
 * instant. (A plain fork does not; it relies on how short it is.) A thread that waits for us may hold it: then the lists
 * do not change either, and after a while the fork goes on without. Where the lock is not known, before glibc 2.34,
 * what these lists are made of is compared again after the copy, until nothing changed
 * during a whole pass: then all of it was so at the instant between the two last passes, but for what is not found.
 *
 * What is compared: _rtld_global of the dynamic loader, which has the heads and the mark
 * (before glibc 2.34 the data of libpthread.so.0, if it is there when the program begins);
 * and the descriptors of the threads, which have the links. A descriptor is found by the
 * head of its thread's robust list, which stands in it behind the link, and, for stacks
 * whose thread is being made or has ended, at the end of each mapping that has a guard
 * (PROT_NONE) before it. Not found: a stack without a guard and without a thread.
 */
#ifndef MEMTRACE_STACKS_H
#define MEMTRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/maps.h"

struct mt_stacks {
	uint64_t *robust;	/* heads of the threads' robust lists; mt_rawmap() memory */
	size_t n, bytes;
};

/* Finds the loader's lists. Once, when the library is loaded: calls libc. */
void mt_stacks_init(void);

/*
 * The lock of libc's lists. In the parent before all other locks of a fork; waits for LIST_PATIENCE_NS at most. Whether it was taken, for
 * the other two: afterwards in the parent, and in the child, whose copy of the lock is held.
 */
int mt_stacks_lock(void);
void mt_stacks_unlock(int taken);
void mt_stacks_fork_child(int taken);

/*
 * In the parent before the clone: the other threads of this process. Without any s->n is 0
 * and there is nothing to settle. No lock; calls the kernel only.
 */
void mt_stacks_read(struct mt_stacks *s);
void mt_stacks_free(struct mt_stacks *s);

/*
 * In the child, whose memory is its own already: takes over again from the file @from what
 * has changed since it was copied. @maps: read in the child before; @dev, @ino: of the file.
 * Returns the number of passes, 0 when there was nothing to do, or negative errno.
 */
int mt_stacks_settle(const struct mt_stacks *s, struct mt_maps *maps, uint64_t dev, uint64_t ino, int from);

#endif
