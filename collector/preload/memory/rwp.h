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
#include "common/rwprotect.h"

/* Opens the userfaultfd and tries what it does. 0, or negative errno with the failed step in *what. */
int zap_rwp_create(unsigned int without, const char **what);
/* A range that is in the set, again, or a new one. 0 or negative errno. */
long zap_rwp_register(uint64_t addr, uint64_t len);
/* Private anonymous memory of the program is traced from now on; what is inaccessible, from the moment at which it is not. */
void zap_rwp_share(uint64_t addr, uint64_t len, int prot);
/* The protection of a range was changed. */
void zap_rwp_protected(uint64_t addr, uint64_t len, int prot);
/* The program wants the range for a userfaultfd of its own: it is not traced from now on. */
void zap_rwp_give_up(uint64_t addr, uint64_t len);
/* As zap_share_file(). */
long zap_rwp_share_file(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset);
/*
 * What exists becomes traced: [@data_start, @end) of private memory, anonymous or of a file, of which the program may use from
 * @start on. All pages are there before anyone may touch them. 0 or negative errno.
 */
long zap_rwp_convert(uint64_t start, uint64_t data_start, uint64_t end, int prot, int anonymous);
/* All pages are hidden, huge ones in pieces: nothing was touched yet. */
void zap_rwp_hide_all(void);
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

#endif
