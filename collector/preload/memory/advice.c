// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* advice.c - madvise() and its kin: what the kernel does to shared memory is not what it does to the program's. */
#include "preload/memory/memory_hooks.h"

#include <limits.h>

#include "preload/memory/hooked.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* What is mapped anew in its place, in children as well, is to have it. */
static long advise_dump(uint64_t addr, uint64_t len, int advice)
{
	const long ret = mt_sys(SYS_madvise, addr, len, advice);

	return ret ? ret : zap_note_dump(addr, addr + len, advice == MADV_DODUMP);
}

/* Under the lock, for a range that is traced as a whole. */
static long advise_traced(uint64_t addr, uint64_t len, int advice)
{
	long ret;

	switch (advice) {
	case MADV_DONTNEED:	/* for shared memory these would keep the contents */
	case MADV_FREE:
	case MADV_DONTNEED_LOCKED:
		zap_note_present(addr, len);
		/* refused for what is locked */
		ret = mt_sys(SYS_madvise, addr, len, advice == MADV_FREE ? MADV_DONTNEED : advice);
		if (ret)
			return ret;
		return zap_zero(addr, len) ? -EAGAIN : 0;
	/* the mapping has it already, but while we fork: see zap_let_fork() */
	case MADV_DONTFORK:
		return zap_regions_add(&zap_space.not_forked, addr, addr + len) ? -EAGAIN : 0;
	case MADV_DOFORK:
		return zap_regions_remove(&zap_space.not_forked, addr, addr + len) ? -EAGAIN : 0;
	case MADV_DONTDUMP:
	case MADV_DODUMP:
		return advise_dump(addr, len, advice);
	case MADV_REMOVE:	/* refused for private memory */
		return -EINVAL;
	case MADV_HUGEPAGE:	/* traced by pages of 4 KiB */
		return 0;
	case MADV_COLLAPSE:
		return -EINVAL;
	case MADV_WIPEONFORK:	/* is for private memory only */
	case MADV_GUARD_INSTALL:	/* what comes back is zeroes, and children have it, too */
		if (zap_make_private(addr, len))
			return -EINVAL;
		return mt_sys(SYS_madvise, addr, len, advice);
	default:
		return mt_sys(SYS_madvise, addr, len, advice);
	}
}

/* Under the lock, for a range that a fork has frozen in part. */
static long advise_frozen(uint64_t addr, uint64_t len, int advice)
{
	long ret;

	switch (advice) {
	case MADV_DONTNEED:	/* for a private mapping of a file this is the file again */
	case MADV_DONTNEED_LOCKED:
	case MADV_FREE:
		/* refused for what is locked */
		ret = mt_sys(SYS_madvise, addr, len, advice == MADV_FREE ? MADV_DONTNEED : advice);
		return ret ? ret : zap_zero_frozen(addr, len);
	case MADV_REMOVE:
	case MADV_COLLAPSE:
		return -EINVAL;
	case MADV_HUGEPAGE:
		return 0;
	case MADV_GUARD_INSTALL:
		ret = zap_zero_frozen(addr, len);
		return ret ? ret : mt_sys(SYS_madvise, addr, len, advice);
	case MADV_DONTDUMP:
	case MADV_DODUMP:
		return advise_dump(addr, len, advice);
	case MADV_WIPEONFORK:
		if (zap_make_private(addr, len))
			return -EINVAL;
		break;
	}
	return mt_sys(SYS_madvise, addr, len, advice);
}

/* Under the lock: what is no data of an object. */
static long advise_memory(uint64_t a, uint64_t end, int advice)
{
	struct zap_space *s = &zap_space;
	long ret = 0;

	if (zap_regions_overlap(&s->frozen, a, end))
		return advise_frozen(a, end - a, advice);
	if (!s->active || s->rwp || !zap_regions_overlap(&s->regions, a, end))
		return mt_sys(SYS_madvise, a, end - a, advice);
	/* piece by piece: traced or not */
	while (a < end && !ret) {
		size_t i = zap_regions_find(&s->regions, a);
		uint64_t next = i == s->regions.n ? end : s->regions.r[i].start;
		int traced = next <= a;

		if (traced)
			next = s->regions.r[i].end;
		if (next > end)
			next = end;
		ret = traced ? advise_traced(a, next - a, advice) : mt_sys(SYS_madvise, a, next - a, advice);
		a = next;
	}
	return ret;
}

/* Under the lock: data of an object, which is a private mapping of a file without us. */
static long advise_object(uint64_t a, uint64_t end, int advice)
{
	long ret;

	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
		zap_note_present(a, end - a);
		/* refused for what is locked */
		ret = mt_sys(SYS_madvise, a, end - a, advice);
		return ret ? ret : zap_object_again(a, end) ? -EAGAIN : 0;
	case MADV_FREE:
	case MADV_WIPEONFORK:
		return -EINVAL;
	case MADV_REMOVE:
		return -EACCES;
	default:
		return advise_memory(a, end, advice);
	}
}

int zap_hook_madvise(void *addr, size_t len, int advice)
{
	struct zap_space *s = &zap_space;
	uint64_t a = (uint64_t)addr, end = a + page_up(len), next;
	uint64_t mask;
	long ret = 0;

	if (!looks_after() || (a & (MT_PAGE - 1)) || end <= a) {
		ret = mt_sys(SYS_madvise, addr, len, advice);
		goto done;
	}
	mask = zap_enter();
	if (s->active && s->rwp && (advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_FREE))
		zap_note_present(a, end - a);
	for (; a < end && !ret; a = next)
		ret = zap_is_object(a, end, &next) ? advise_object(a, next, advice) : advise_memory(a, next, advice);
	leave(mask);
done:
	if (!ret && len && (advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE) && is_program())
		ctx_note_huge(addr, len, advice);
	return (int)finish(ret);
}

/*
 * Advice about several ranges of a process. Of this one, which any advice may be about since Linux 6.13, it is that of madvise(): shared
 * memory would keep what is given back.
 */
ssize_t zap_hook_process_madvise(int pidfd, const struct iovec *ranges, size_t n, int advice, unsigned int flags)
{
	size_t done = 0;

	/* the kernel says whether it may be; of others it may be what leaves their memory as it is */
	if (!looks_after() || advice == MADV_WILLNEED || advice == MADV_COLD || advice == MADV_PAGEOUT || n > IOV_MAX ||
	    mt_sys(SYS_process_madvise, pidfd, ranges, 0, advice, flags))
		return finish(mt_sys(SYS_process_madvise, pidfd, ranges, n, advice, flags));
	for (size_t i = 0; i < n; i++) {
		struct iovec r;
		long ret = mt_can_read(ranges + i, &r, sizeof(r));

		ret = ret ? finish(-EFAULT) : zap_hook_madvise(r.iov_base, r.iov_len, advice);
		if (ret)
			return done ? (ssize_t)done : ret;
		done += r.iov_len;
	}
	return (ssize_t)done;
}
