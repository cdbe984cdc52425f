// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * rwprotect.h - read-write protection of userfaultfd (Linux 7.3): each access to a page that is hidden faults, and the kernel
 * gives the page back by itself (UFFD_FEATURE_RWP_ASYNC). No message, no signal, no copy; the memory stays as it is.
 * Used by the preload library and by the command; raw system calls only.
 */
#ifndef MEMTRACE_RWPROTECT_H
#define MEMTRACE_RWPROTECT_H

#include <stdint.h>

#include "common/arch.h"

/* Of PAGEMAP_SCAN: the page is there, or swapped out, and not hidden. Only in registered memory. */
#define MT_PAGE_IS_ACCESSED (1ull << 9)
#define MT_PAGE_IS_HUGE (1ull << 6)

/*
 * A userfaultfd with read-write protection that the kernel takes away by itself, and with write protection of shared
 * memory. Negative errno: *why is a sentence without a full stop.
 */
long mt_rwp_open(const char **why);
/*
 * Private anonymous memory, or memory of tmpfs. It must be accessible: -EINVAL for PROT_NONE, for files on disks and devices.
 * -EBUSY: another userfaultfd has it.
 */
long mt_rwp_register(int uffd, uint64_t addr, uint64_t len);
/* Its pages are not hidden any more. */
long mt_rwp_unregister(int uffd, uint64_t addr, uint64_t len);
/* The next access to each page that is there faults. -ENOENT: not all of it is registered, nothing is hidden. */
long mt_rwp_hide(int uffd, uint64_t addr, uint64_t len);

/* An entry of /proc/PID/pagemap in registered memory: was the page touched since it was hidden, or since it is there? */
static inline int mt_rwp_touched(uint64_t entry)
{
	return entry >> 62 && !(entry >> 57 & 1);
}

struct mt_rwp_traits {
	int works;		/* an access takes the protection of its page away, and only of this one */
	int writes_fault;	/* after mt_writes_fault() the first write after a read faults, too */
};

/*
 * Tries it with four pages of its own. @without: MT_WITHOUT_SOFT_DIRTY counts. 0 or negative errno; *why is then a sentence.
 */
int mt_rwp_probe(int uffd, unsigned int without, struct mt_rwp_traits *t, const char **why);

#endif
