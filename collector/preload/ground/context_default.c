// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* What links when the context library is not there: nothing is recorded. */
#include "preload/ground/context.h"

#define WEAK __attribute__((weak))

__thread int mt_in_hook;

WEAK void ctx_init(const struct mt_image *img)
{
	(void)img;
}

WEAK void ctx_note_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t offset, void *caller_frame)
{
	(void)addr, (void)len, (void)prot, (void)flags, (void)fd, (void)offset, (void)caller_frame;
}

WEAK void ctx_note_munmap(void *addr, size_t len)
{
	(void)addr, (void)len;
}

WEAK void ctx_note_mremap(void *old, size_t old_len, void *new_addr, size_t new_len)
{
	(void)old, (void)old_len, (void)new_addr, (void)new_len;
}

WEAK void ctx_note_brk(void *old_brk, void *new_brk)
{
	(void)old_brk, (void)new_brk;
}

WEAK void ctx_note_huge(void *addr, size_t len, int advice)
{
	(void)addr, (void)len, (void)advice;
}

WEAK void ctx_note_loaded(void)
{
}

WEAK void ctx_note_unmapping(const void *addr, size_t len)
{
	(void)addr, (void)len;
}

WEAK void ctx_note_loader(void)
{
}

WEAK void ctx_note_unseen(uint64_t start, uint64_t end, int prot, int shared, const char *path)
{
	(void)start, (void)end, (void)prot, (void)shared, (void)path;
}

WEAK void ctx_fork_prepare(void)
{
}

WEAK void ctx_fork_parent(void)
{
}

WEAK void ctx_fork_child(const struct mt_image *img)
{
	(void)img;
}

WEAK void ctx_flush(void)
{
}

WEAK void ctx_fini(void)
{
}

WEAK size_t ctx_suspects(uint64_t (*to)[2], size_t room, uint64_t *left_out)
{
	(void)to, (void)room;
	*left_out = 0;
	return 0;
}

WEAK uint64_t ctx_suspects_version(void)
{
	return 0;
}
