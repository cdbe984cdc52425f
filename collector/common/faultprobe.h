// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * faultprobe.h - what a page fault on shared memory does on this kernel, found out by trying.
 * Used by the preload library and by the command; raw system calls only.
 */
#ifndef MEMTRACE_FAULTPROBE_H
#define MEMTRACE_FAULTPROBE_H

#include <stdint.h>

#include "common/arch.h"

/* What newer kernels and C libraries have, bits of mt_without(). */
#define MT_WITHOUT_USERFAULTFD		1u	/* write protection of shared memory, Linux 5.19 */
#define MT_WITHOUT_PAGEMAP_SCAN		2u	/* Linux 6.7 */
#define MT_WITHOUT_DONTNEED_LOCKED	4u	/* Linux 5.18 */
#define MT_WITHOUT_CLOSE_RANGE		8u	/* Linux 5.9 */
#define MT_WITHOUT_SOFT_DIRTY		16u	/* CONFIG_MEM_SOFT_DIRTY */
#define MT_WITHOUT_FORK			32u	/* _Fork of glibc 2.34 */

/*
 * For tests: what is to be done without, from the value of MEMTRACE_WITHOUT, words like
 * "userfaultfd,pagemap_scan". NULL: nothing. Unknown words are ignored.
 */
unsigned int mt_without(const char *words);

struct mt_fault_traits {
	unsigned int around;	/* pages that a read fault maps at most, those around it included; 1 = only the one */
	int writes_fault;	/* after mt_writes_fault() the first write after a read faults, too */
};

/*
 * Tries it with MT_FAULT_PROBE_BYTES of the memory file @memfd from @offset on, which hold nothing and hold
 * nothing afterwards. @without: MT_WITHOUT_SOFT_DIRTY counts. 0 or negative errno; *t is then the worst case.
 */
#define MT_FAULT_PROBE_BYTES (128 * MT_PAGE)
int mt_fault_probe(int memfd, uint64_t offset, unsigned int without, struct mt_fault_traits *t);

/*
 * Shared memory that is mapped now gets no write permission by read faults from now on, so that the first
 * write faults again: "4" to @clear_refs_fd, /proc/self/clear_refs. 0 or negative errno. What is mapped
 * later, and what it merges with, needs it again.
 */
long mt_writes_fault(int clear_refs_fd);

#endif
