// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * rwp.h - traced memory of the backend rwp: private memory of the program as it is, registered for read-write protection.
 *
 * The other way, of the backend zap, is in space.c: a memory file. Which of both it is tells zap_space.rwp; what the program shares
 * itself is traced in the same way by both. Under zap_space.lock, or single-threaded.
 */
#ifndef MEMTRACE_ZAP_RWP_H
#define MEMTRACE_ZAP_RWP_H

#include <stddef.h>
#include <stdint.h>

#include "common/maps.h"
#include "preload/memory/ranges.h"
#include "preload/memory/space.h"
#include "common/rwprotect.h"

/* The protection of a range was changed. */
void zap_rwp_protected(uint64_t addr, uint64_t len, int prot);
/* The program wants the range for a userfaultfd of its own: it is not traced from now on. */
void zap_rwp_give_up(uint64_t addr, uint64_t len);
/* The next access to each page faults. Contents stay. */
void zap_rwp_hide(uint64_t start, uint64_t end);
/* Private memory got another place or size by mremap(). */
void zap_rwp_moved(uint64_t old, uint64_t old_len, uint64_t addr, uint64_t len, int old_stays);
/* A mapping of the kernel's list that may be ours; @old: what was traced until now, @own_end: where memory of our library ends. */
int zap_rwp_refresh(const struct zap_regions *old, const struct mt_map *m, uint64_t *own_end, uint64_t own_ino);
/* The child has no protection any more: it is registered anew, with nothing touched. 0 or negative errno. */
int zap_rwp_after_fork(void);
/* Code in traced memory is read without leaving a trace. Bytes, or negative errno. monitor. */
long zap_rwp_peek(int mem_fd, int pagemap_fd, uint64_t addr, void *buf, size_t n);
/* Bytes of private memory that are resident. */
uint64_t zap_rwp_resident(void);

/* All of it for space.c. */
extern const struct zap_private zap_rwp;

#endif
