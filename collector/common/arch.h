/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * arch.h - what is of the processor. Everything else is the same on all of them.
 *
 * A processor is one header here (common/arch/NAME.h: system calls, the thread pointer, pages, addresses), one
 * source with its assembly (preload/ground/asm/NAME.c, declared in preload/ground/asm.h), and one decoder of its loads and stores
 * (preload/faults/NAMErw.c, chosen in preload/faults/rw.h).
 *
 * A header defines
 *	mt_sys6()		a system call
 *	mt_thread_pointer()	of this thread
 *	MT_PAGE, MT_PAGE_SHIFT	bytes of a page and their logarithm: constants, or read once from the kernel
 *	MT_PAGE_MAX		the largest page that it may be
 *	MT_ADDRESS_BITS		of the largest user address space that the kernel gives without being asked
 *	MT_HUGE_PAGE_MIN	the smallest page of hugetlbfs
 *	MT_ELF_MACHINE, MT_ARCH_NAME, MT_UTS_MACHINE
 *	mt_relax()		in a loop that waits for another processor
 *	mt_sys_mkdir(), mt_sys_readlink(), mt_sys_rmdir()	old calls, or their successors where those are all there is
 */
#ifndef MEMTRACE_ARCH_H
#define MEMTRACE_ARCH_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "common/arch/x86_64.h"
#elif defined(__aarch64__)
#include "common/arch/arm64.h"
#else
#error "the collector supports x86-64 and arm64 only"
#endif

#endif
