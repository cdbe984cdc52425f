// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/memory_hooks.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/shm.h>

#include "preload/ground/context.h"
#include "preload/ground/image.h"
#include "preload/ground/quiet.h"
#include "preload/memory/hooked.h"
#include "preload/memory/rwp.h"
#include "preload/memory/space.h"
#include "preload/memory/unseen.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

const char *(*zap_code_mapped)(const uint8_t *at, size_t len, int fd, uint64_t offset);
void (*zap_stop)(const char *why);

/* As the loader does it; its errno is a variable that we do not find. */
static long finish_quietly(long ret)
{
	return mt_failed(ret) ? -1 : ret;
}

/* The program gets memory that it may write to. In front of everything: this may be the moment at which recording begins. */
static void grow(uint64_t bytes)
{
	if (mt_is_quiet() && is_program())
		mt_quiet_grow(bytes);
}

/*
 * Private anonymous memory is traced. Left alone: files, shared memory, huge pages of
 * hugetlbfs (other page size), MAP_GROWSDOWN (shared memory cannot grow by faults).
 */
static int is_traceable(int flags)
{
	return (flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE &&
	       !(flags & (MAP_HUGETLB | MAP_GROWSDOWN));
}

/* Code of a file was mapped, under the lock. NULL, or why the program cannot be recorded any more. */
static const char *look_at_code(long at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (mt_failed(at) || !(prot & PROT_EXEC) || flags & MAP_ANONYMOUS || !zap_space.active || zap_space.rwp || !zap_code_mapped)
		return NULL;
	return zap_code_mapped((const uint8_t *)at, len, fd, (uint64_t)offset);
}

/* Under the lock. Two steps: the kernel chooses and checks the place as for private memory. */
static long map_traced(void *addr, size_t len, int prot, int flags)
{
	/* would fill the first mapping in vain */
	const int later = MAP_POPULATE | MAP_LOCKED | MAP_NONBLOCK;
	long at = mt_sys(SYS_mmap, addr, len, prot, zap_space.rwp ? flags : flags & ~later, -1, 0), ret;

	if (mt_failed(at))
		return at;
	if (zap_space.rwp) {
		zap_unshare((uint64_t)at, len);
		return zap_share((uint64_t)at, len, prot, flags), at;
	}
	zap_regions_remove(&zap_space.regions, (uint64_t)at, (uint64_t)at + page_up(len));
	zap_regions_remove(&zap_space.shared, (uint64_t)at, (uint64_t)at + page_up(len));
	if (!zap_share((uint64_t)at, len, prot, flags))
		return at;
	if (!(flags & later))
		return at;	/* stays private and untraced */
	ret = mt_sys(SYS_mmap, at, len, prot, (flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED, -1, 0);
	if (mt_failed(ret))
		mt_sys(SYS_munmap, at, len);
	return ret;
}

void *zap_hook_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	const char *obstacle = NULL;
	int unseen = 0;
	long ret;

	if (offset & (off_t)(MT_PAGE - 1))
		return (void *)finish(-EINVAL);
	if ((flags & MAP_ANONYMOUS) || ((prot & PROT_WRITE) && (flags & MAP_TYPE) != MAP_PRIVATE))
		grow(len);
	if (!looks_after()) {
		ret = mt_sys(SYS_mmap, addr, len, prot, flags, fd, offset);
	} else {
		uint64_t mask = zap_enter();

		if ((flags & MAP_FIXED) && len)
			zap_note_present((uint64_t)addr, len);
		if (is_traceable(flags) && zap_space.active) {
			ret = map_traced(addr, len, prot, flags);
		} else {
			ret = mt_sys(SYS_mmap, addr, len, prot, flags, fd, offset);
			if (!mt_failed(ret))
				zap_unshare((uint64_t)ret, len);
			if (!mt_failed(ret) && zap_space.active)
				ret = zap_adopt((uint64_t)ret, len, prot, flags, fd, offset);
		}
		/* the stack of a new thread: perhaps the last moment with only one */
		if (flags & MAP_STACK)
			zap_space.late_pending = 1;
		if (!mt_failed(ret))
			unseen = zap_unseen_flag((uint64_t)ret, len);
		obstacle = look_at_code(ret, len, prot, flags, fd, offset);
		leave(mask);
		if (obstacle)
			zap_stop(obstacle);
	}
	if (!mt_failed(ret) && is_program())
		ctx_note_mmap((void *)ret, len, prot | unseen, flags, fd, offset, __builtin_frame_address(0));
	return (void *)finish(ret);
}

/* Under the lock. */
static long unmap(uint64_t addr, uint64_t len)
{
	long ret;

	zap_note_present(addr, len);
	ret = mt_sys(SYS_munmap, addr, len);
	if (!ret)
		zap_unshare(addr, len);
	return ret;
}

int zap_hook_munmap(void *addr, size_t len)
{
	long ret;

	ctx_note_unmapping(addr, len);
	if (!looks_after()) {
		ret = mt_sys(SYS_munmap, addr, len);
	} else {
		uint64_t mask = zap_enter();

		ret = unmap((uint64_t)addr, len);
		leave(mask);
	}
	if (!ret && is_program())
		ctx_note_munmap(addr, len);
	return (int)finish(ret);
}

/* What was copied from @old is locked if that is. */
static void keep_lock(uint64_t old, uint64_t at, uint64_t len)
{
	if (zap_is_locked(old) && zap_locks_anything())
		mt_sys(SYS_mlock2, at, len, 1 /* MLOCK_ONFAULT */);
}

/*
 * The cases of mremap() for traced memory; under the lock. Contents move by copying:
 * the file offset must stay the address.
 */
static long remap_traced(uint64_t old, uint64_t old_len, uint64_t new_len, int flags, uint64_t new_addr)
{
	struct zap_space *s = &zap_space;
	uint64_t common = old_len < new_len ? old_len : new_len;
	long at, ret;
	int prot;

	if (!(flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))) {
		if (new_len <= old_len) {
			ret = new_len < old_len ? unmap(old + new_len, old_len - new_len) : 0;
			return ret ? ret : (long)old;
		}
		/* in place: the kernel extends the mapping, and with it our rule */
		if (!zap_regions_overlap(&s->regions, old + old_len, old + new_len) &&
		    !zap_zero(old + old_len, new_len - old_len)) {
			ret = mt_sys(SYS_mremap, old, old_len, new_len, 0);
			if (ret == (long)old) {
				zap_regions_add(&s->regions, old, old + new_len);
				s->writes_unseen = 1;
				return ret;
			}
		}
		if (!(flags & MREMAP_MAYMOVE))
			return -ENOMEM;
	}
	prot = zap_prot_at(old);
	if (prot < 0)
		return prot;
	if (flags & MREMAP_FIXED)
		zap_note_present(new_addr, new_len);
	at = map_traced((void *)new_addr, new_len, prot,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (flags & MREMAP_FIXED ? MAP_FIXED : 0));
	if (mt_failed(at))
		return at;
	if (!zap_regions_cover(&s->regions, (uint64_t)at, (uint64_t)at + new_len))
		return mt_sys(SYS_munmap, at, new_len), -ENOMEM;
	ret = zap_copy((uint64_t)at, old, common);
	if (ret) {
		unmap((uint64_t)at, new_len);
		return -ENOMEM;
	}
	keep_lock(old, (uint64_t)at, new_len);
	zap_advice_moved(old, old_len, (uint64_t)at, new_len);
	if (flags & MREMAP_DONTUNMAP) {
		zap_note_present(old, old_len);
		ret = zap_zero(old, old_len);
		if (ret) {
			unmap((uint64_t)at, new_len);
			return -ENOMEM;
		}
	} else {
		unmap(old, old_len);
	}
	return at;
}

/* What the kernel would refuse for private memory. */
static int remap_invalid(uint64_t old, uint64_t old_len, uint64_t new_len, int flags, uint64_t new_addr)
{
	if (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP))
		return 1;
	if (old & (MT_PAGE - 1) || !new_len || !old_len)
		return 1;
	if ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) && !(flags & MREMAP_MAYMOVE))
		return 1;
	if ((flags & MREMAP_DONTUNMAP) && old_len != new_len)
		return 1;
	if (flags & MREMAP_FIXED)
		return (new_addr & (MT_PAGE - 1)) || (old < new_addr + new_len && new_addr < old + old_len);
	return 0;
}

/* Is there a frozen mapping at the address? Where that cannot be known: what the set says. */
static int is_frozen_at(uint64_t addr)
{
	struct mt_map m;
	const int there = mt_map_at(addr, &m);

	if (there >= 0)
		return there && zap_is_frozen(&m);
	if (zap_maps_read(&zap_space.maps))
		return 1;
	while (mt_maps_next(&zap_space.maps, &m))
		if (m.start <= addr && addr < m.end)
			return zap_is_frozen(&m);
	return 0;
}

/*
 * mremap() of what a fork has frozen, or of what is ours in part: what grows is not of the file, so it is another mapping, and what
 * consists of several the kernel does not move. Contents are copied. Under the lock.
 */
static long remap_frozen(uint64_t old, uint64_t old_len, uint64_t new_len, int flags, uint64_t new_addr)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, prot = zap_prot_at(old);
	struct zap_regions *s = &zap_space.frozen;
	const uint64_t common = old_len < new_len ? old_len : new_len;
	long at, ret;

	if (!(flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))) {
		if (new_len <= old_len) {
			ret = new_len < old_len ? unmap(old + new_len, old_len - new_len) : 0;
			return ret ? ret : (long)old;
		}
		at = mt_sys(SYS_mmap, old + old_len, new_len - old_len, prot, anonymous | MAP_FIXED_NOREPLACE, -1, 0);
		if (at == (long)(old + old_len)) {
			zap_regions_add(s, old, old + new_len);
			zap_advice_moved(old, old_len, old, new_len);
			return (long)old;
		}
		if (!mt_failed(at))
			mt_sys(SYS_munmap, at, new_len - old_len);
		if (!(flags & MREMAP_MAYMOVE))
			return -ENOMEM;
	}
	at = mt_sys(SYS_mmap, new_addr, new_len, PROT_READ | PROT_WRITE, anonymous | (flags & MREMAP_FIXED ? MAP_FIXED : 0), -1, 0);
	if (mt_failed(at))
		return at;
	ret = zap_regions_add(s, (uint64_t)at, (uint64_t)at + new_len);
	if (!ret && !(prot & PROT_READ))
		ret = mt_sys(SYS_mprotect, old, old_len, PROT_READ);
	if (ret) {
		mt_sys(SYS_munmap, at, new_len);
		return -ENOMEM;
	}
	for (uint64_t off = 0; off < common; off += MT_PAGE)	/* there may be guard pages in it */
		mt_can_read((void *)(old + off), (void *)(at + (long)off), MT_PAGE);
	keep_lock(old, (uint64_t)at, new_len);
	zap_advice_moved(old, old_len, (uint64_t)at, new_len);
	if (prot != (PROT_READ | PROT_WRITE))
		mt_sys(SYS_mprotect, at, new_len, prot);
	if (!(prot & PROT_READ))
		mt_sys(SYS_mprotect, old, old_len, prot);
	if (flags & MREMAP_DONTUNMAP) {
		const struct zap_regions *ours = &zap_space.regions;

		zap_zero_frozen(old, old_len);
		zap_note_present(old, old_len);
		for (size_t i = zap_regions_find(ours, old); i < ours->n && ours->r[i].start < old + old_len; i++) {
			const uint64_t from = ours->r[i].start > old ? ours->r[i].start : old;

			zap_zero(from, (ours->r[i].end < old + old_len ? ours->r[i].end : old + old_len) - from);
		}
		mt_sys(SYS_madvise, old, old_len, MADV_DONTNEED);	/* what is private */
	} else {
		unmap(old, old_len);
	}
	return at;
}

/*
 * Would it be one mapping without us? Some of it may be ours, some private again (zap_make_private), some frozen.
 */
static int is_one_mapping(uint64_t addr, uint64_t len)
{
	struct zap_space *s = &zap_space;
	uint64_t at = addr;
	struct mt_map m;
	int prot = -1;

	if (zap_maps_read(&s->maps))
		return 0;
	while (at < addr + len && mt_maps_next(&s->maps, &m)) {
		if (m.end <= at)
			continue;
		if (m.start > at || (prot >= 0 && m.prot != prot) || !(zap_is_mapping(&m, s->dev, s->ino) || zap_is_frozen(&m)))
			return 0;
		prot = m.prot;
		at = m.end;
	}
	return at >= addr + len;
}

/* Memory that is not in our file got a new place or size; under the lock. */
static void moved_untraced(uint64_t old, uint64_t old_len, uint64_t now, uint64_t len)
{
	if (now != old)
		zap_unshare(now, len);	/* MREMAP_FIXED over ours */
	zap_adopt_moved(old, old_len, now, len);
}

void *zap_hook_mremap(void *old, size_t old_len, size_t new_len, int flags, void *new_addr)
{
	struct zap_space *s = &zap_space;
	uint64_t a = (uint64_t)old, olen = page_up(old_len), nlen = page_up(new_len);
	/* without these flags the fifth argument is not there, but DONTUNMAP may give a hint */
	uint64_t to = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? (uint64_t)new_addr : 0;
	uint64_t mask;
	long ret;

	if (nlen > olen)
		grow(nlen - olen);
	if (!looks_after()) {
		ret = mt_sys(SYS_mremap, old, old_len, new_len, flags, to);
	} else {
		mask = zap_enter();
		if (s->active && s->rwp && (zap_regions_overlap(&s->regions, a, a + (olen ? olen : 1)) ||
					    zap_regions_overlap(&s->reserved, a, a + (olen ? olen : 1)))) {
			zap_note_present(a, olen);
			if (flags & MREMAP_FIXED)
				zap_note_present(to, nlen);
			ret = mt_sys(SYS_mremap, old, old_len, new_len, flags, to);
			if (!mt_failed(ret))
				zap_rwp_moved(a, olen, (uint64_t)ret, nlen, !olen || (flags & MREMAP_DONTUNMAP));
		} else if (zap_regions_overlap(&s->frozen, a, a + olen) && !remap_invalid(a, olen, nlen, flags, to) && is_frozen_at(a)) {
			ret = remap_frozen(a, olen, nlen, flags, to);
		} else if (!s->active || !zap_regions_overlap(&s->regions, a, a + (olen ? olen : 1))) {
			if (flags & MREMAP_FIXED)
				zap_note_present(to, nlen);
			ret = mt_sys(SYS_mremap, old, old_len, new_len, flags, to);
			if (ret == -EFAULT && !remap_invalid(a, olen, nlen, flags, to) && is_one_mapping(a, olen))
				ret = remap_frozen(a, olen, nlen, flags, to);
			else if (!mt_failed(ret) && s->active)
				moved_untraced(a, olen, (uint64_t)ret, nlen);
		} else if (remap_invalid(a, olen, nlen, flags, to)) {
			ret = -EINVAL;
		} else if (!zap_regions_cover(&s->regions, a, a + olen)) {
			ret = is_one_mapping(a, olen) ? remap_frozen(a, olen, nlen, flags, to) : -EFAULT;
		} else {
			ret = remap_traced(a, olen, nlen, flags, to);
		}
		leave(mask);
	}
	if (!mt_failed(ret) && is_program())
		ctx_note_mremap(old, old_len, (void *)ret, new_len);
	return (void *)finish(ret);
}

/* Pages of a file in another order, for shared memory only, which ours is not for the program. */
int zap_hook_remap_file_pages(void *addr, size_t len, int prot, size_t page, int flags)
{
	const uint64_t mask = zap_enter();
	const int ours = zap_regions_contain(&zap_space.regions, (uint64_t)addr);
	const long ret = ours && !zap_space.rwp ? -EINVAL : mt_sys(SYS_remap_file_pages, addr, len, prot, page, flags);

	leave(mask);
	return (int)finish(ret);
}

/* The mapping itself is what nobody may replace from then on, so it becomes what it would be without us. */
long zap_hook_mseal(void *addr, size_t len, unsigned long flags)
{
	uint64_t mask;
	long ret;

	if (!looks_after())
		return finish(mt_sys(SYS_mseal, addr, len, flags));
	mask = zap_enter();
	if (!((uint64_t)addr & (MT_PAGE - 1)))
		zap_let_alone((uint64_t)addr, len);
	if (!((uint64_t)addr & (MT_PAGE - 1)) && !zap_space.rwp)
		zap_make_private((uint64_t)addr, page_up(len));
	ret = mt_sys(SYS_mseal, addr, len, flags);
	leave(mask);
	return finish(ret);
}

/*
 * Memory has one userfaultfd only, and the program's goes first. The call is made again when it failed because of ours: then the
 * kernel has read the argument, so that we can.
 */
int zap_hook_ioctl(int fd, unsigned long request, void *arg)
{
	long ret = mt_sys(SYS_ioctl, fd, request, arg);

	if (ret == -EBUSY && request == UFFDIO_REGISTER && looks_after()) {
		const struct uffdio_register *r = arg;
		uint64_t mask = zap_enter();

		zap_let_alone(r->range.start, r->range.len);
		if (zap_space.rwp)
			zap_rwp_give_up(r->range.start, r->range.len);
		else
			zap_make_private(r->range.start, r->range.len);
		ret = mt_sys(SYS_ioctl, fd, request, arg);
		leave(mask);
	}
	return (int)finish(ret);
}

/*
 * A fork maps what it has read in the kernel's maps, for the child or when it freezes: nobody may change what can be done there
 * meanwhile, nor of a file that is read (adopt.c). Of the backend rwp: what was inaccessible can be registered from now on.
 */
static int change_protection(void *addr, size_t len, int prot, int key)
{
	long ret;

	if (!zap_space.lent.n && (zap_space.rwp ? !zap_space.active || !prot : !zap_space.mapped)) {
		ret = key < 0 ? mt_sys(SYS_mprotect, addr, len, prot) : mt_sys(SYS_pkey_mprotect, addr, len, prot, key);
	} else {
		uint64_t mask = zap_enter();

		ret = zap_protect((uint64_t)addr, len, prot, key);
		if (!ret && zap_space.active && zap_space.rwp)
			zap_rwp_protected((uint64_t)addr, len, prot);
		leave(mask);
	}
	return (int)finish(ret);
}

int zap_hook_mprotect(void *addr, size_t len, int prot)
{
	return change_protection(addr, len, prot, -1);
}

int zap_hook_pkey_mprotect(void *addr, size_t len, int prot, int key)
{
	return change_protection(addr, len, prot, key < 0 ? -1 : key);
}

extern void *__curbrk;		/* libc's idea of the break, used by its sbrk() */

int zap_hook_brk(void *addr)
{
	struct zap_space *s = &zap_space;
	void *old = __curbrk;
	uint64_t mask, from, to;
	long now;

	if (old && addr > old)
		grow((uint64_t)addr - (uint64_t)old);
	if (!looks_after()) {
		now = mt_sys(SYS_brk, addr);
		__curbrk = (void *)now;
	} else {
		mask = zap_enter();
		old = __curbrk;
		if (addr && addr < old)
			zap_note_present(page_up((uint64_t)addr), (uint64_t)old - (uint64_t)addr);
		now = mt_sys(SYS_brk, addr);
		from = page_up((uint64_t)old);
		to = page_up((uint64_t)now);
		if (old && s->active && to > from)
			zap_share(from, to - from, PROT_READ | PROT_WRITE, MAP_NORESERVE);
		else if (old && to < from)
			zap_unshare(to, from - to);
		__curbrk = (void *)now;
		leave(mask);
	}
	if ((void *)now != old && is_program())
		ctx_note_brk(old, (void *)now);
	if ((unsigned long)now < (unsigned long)addr) {
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

void *zap_hook_shmat(int id, const void *addr, int flags)
{
	struct shmid_ds segment;
	uint64_t len = 0;
	int unseen = 0;
	long ret;

	if (!mt_sys(SYS_shmctl, id, IPC_STAT, &segment))
		len = segment.shm_segsz;
	if (!(flags & SHM_RDONLY))
		grow(len);
	if (!looks_after()) {
		ret = mt_sys(SYS_shmat, id, addr, flags);
	} else {
		uint64_t mask = zap_enter();

		if (addr && (flags & SHM_REMAP))
			zap_note_present((uint64_t)addr & ~(MT_PAGE - 1), len);
		ret = mt_sys(SYS_shmat, id, addr, flags);
		if (!mt_failed(ret))
			zap_unshare((uint64_t)ret, len);
		if (!mt_failed(ret) && zap_space.active) {
			zap_adopt((uint64_t)ret, len, flags & SHM_EXEC ? PROT_EXEC : 0, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		}
		if (!mt_failed(ret))
			unseen = zap_unseen_flag((uint64_t)ret, len);
		leave(mask);
	}
	if (!mt_failed(ret) && is_program())
		ctx_note_mmap((void *)ret, len, (flags & SHM_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE) | unseen,
			      MAP_SHARED | MAP_ANONYMOUS, CTX_SYSV, id, __builtin_frame_address(0));
	return (void *)finish(ret);
}

int zap_hook_shmdt(const void *addr)
{
	uint64_t mask = zap_enter(), len = zap_segment_bytes((uint64_t)addr);
	long ret;

	if (zap_space.active)
		zap_note_present((uint64_t)addr, len);
	ret = mt_sys(SYS_shmdt, addr);
	if (!ret && zap_space.active)
		zap_unshare((uint64_t)addr, len);
	leave(mask);
	if (!ret && len && is_program())
		ctx_note_munmap((void *)(uintptr_t)addr, len);
	return (int)finish(ret);
}

/*
 * Nobody but the loader knows of the mapping yet, so the file can be copied without a race,
 * however many threads run. Larger data than this stays as it is, as LostRegion tells.
 */
#define MAX_COPY (256ul << 20)

void *zap_loader_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	const char *obstacle;
	uint64_t mask;
	long ret;

	ctx_note_loaded();
	if (!looks_after())
		return (void *)finish_quietly(mt_sys(SYS_mmap, addr, len, prot, flags, fd, offset));
	mask = zap_enter();
	if ((flags & MAP_FIXED) && len)
		zap_note_present((uint64_t)addr, len);
	if (is_traceable(flags) && zap_space.active) {
		ret = map_traced(addr, len, prot, flags);
	} else {
		ret = mt_sys(SYS_mmap, addr, len, prot, flags, fd, offset);
		if (!mt_failed(ret)) {
			zap_unshare((uint64_t)ret, len);
			if (zap_space.active && !(flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) == MAP_PRIVATE && (prot & PROT_WRITE) &&
			    len <= MAX_COPY)
				zap_share_file((uint64_t)ret, len, prot, fd, (uint64_t)offset);
		}
	}
	obstacle = look_at_code(ret, len, prot, flags, fd, offset);
	leave(mask);
	if (obstacle)
		zap_stop(obstacle);
	return (void *)finish_quietly(ret);
}

int zap_loader_munmap(void *addr, size_t len)
{
	uint64_t mask;
	long ret;

	ctx_note_unmapping(addr, len);
	if (!looks_after())
		return (int)finish_quietly(mt_sys(SYS_munmap, addr, len));
	mask = zap_enter();
	ret = unmap((uint64_t)addr, len);
	leave(mask);
	return (int)finish_quietly(ret);
}
