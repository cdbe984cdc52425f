// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * context.h - what the access backend and the context library ask of each other.
 *
 * The context library (context/) records allocations, threads and stacks; the
 * zap backend (memory/, faults/, monitor/) records accesses.
 *
 * Contexts:
 *  constructor  single-threaded, before main, ordinary libc allowed
 *  hook         a thread of the program inside a libc call, all signals blocked,
 *               the backend's lock NOT held; no malloc, no stdio, no lock that a
 *               thread may hold while it calls mmap
 *  monitor      the monitor thread: unknown to libc, with a copy of the main
 *               thread's TLS, its own descriptor table and all signals blocked;
 *               memcpy and friends and the functions of common/ only
 *  fork         in _Fork(), on a stack of its own, all signals blocked; raw system
 *               calls and common/ only, memory of the program must not be written
 */
#ifndef MEMTRACE_CONTEXT_H
#define MEMTRACE_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "preload/ground/image.h"
#include "common/rawsys.h"

/*
 * > 0 while this thread is inside code of memtrace: hooks must pass through.
 * Initial-exec TLS, readable in every context but "fork".
 */
extern __thread int mt_in_hook;

/* constructor, before the backend converts memory and before threads exist. */
void ctx_init(const struct mt_image *img);

/*
 * hook: the program's own calls, after they succeeded. @caller_frame is the frame
 * address (%rbp chain) of the hook, its first return address is in the caller of
 * the libc function. @offset is that of the mapping in its file; of an attached
 * System V segment @fd is CTX_SYSV and @offset its number. CTX_UNSEEN is added to @prot when the
 * backend does not see all of it.
 */
#define CTX_SYSV (-2)
#define CTX_UNSEEN 0x40000000
#define CTX_SEEN 0x20000000	/* of ctx_note_unseen(), in the place of the rights: what the image began with, which is seen */
void ctx_note_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t offset, void *caller_frame);
void ctx_note_munmap(void *addr, size_t len);
void ctx_note_mremap(void *old, size_t old_len, void *new_addr, size_t new_len);
void ctx_note_brk(void *old_brk, void *new_brk);
/* The program asked for huge pages in a range (MADV_HUGEPAGE), or for none (MADV_NOHUGEPAGE). */
void ctx_note_huge(void *addr, size_t len, int advice);

/*
 * hook, or with the backend's lock held: any thread. The loader maps something; memory is about to be unmapped. The latter may
 * wait for a few microseconds, for threads that read tables of the object which goes.
 */
void ctx_note_loaded(void);
void ctx_note_unmapping(const void *addr, size_t len);
/* constructor: both are called for each mapping of the loader from now on. */
void ctx_note_loader(void);

/*
 * monitor: the ranges [start, end) that are to be looked at closely now (record --zoom), at most @room; how many there are
 * more, or were since the begin, is *left_out. The version changes with them.
 */
size_t ctx_suspects(uint64_t (*to)[2], size_t room, uint64_t *left_out);
uint64_t ctx_suspects_version(void);

/* monitor: blocks and mappings [start, end) of 64 KiB and more that there are now, @room at most, in no order; how many. */
size_t ctx_large(uint64_t (*to)[2], size_t room);
/* Any thread: user and system time of a thread of the program, ns. On a monitor that is another process up to a tick old. 0: it is gone. */
uint64_t ctx_thread_cpu(int tid);

/* monitor: memory [start, end) that the backend does not see was found mapped, as the kernel's maps have it. */
void ctx_note_unseen(uint64_t start, uint64_t end, int prot, int shared, const char *path);

/* fork: before the child is made; afterwards in the parent; in the child, which has a new image, or NULL: it is not recorded. */
void ctx_fork_prepare(void);
void ctx_fork_parent(void);
void ctx_fork_child(const struct mt_image *img);
/*
 * The child of the image @parent is not an image yet. What it does waits in memory, and is told if ctx_go_on() gives it an image
 * before the room is used up; mt_quiet_hurry() is called when half of it is.
 */
void ctx_fork_later(int parent);
int ctx_waits(void);
void ctx_go_on(const struct mt_image *img);

/* monitor: each interval; write what is buffered. */
void ctx_flush(void);
/* monitor (or the exiting thread when there is no monitor): the last call in this image. */
void ctx_fini(void);

#endif
