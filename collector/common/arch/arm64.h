/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* arm64.h - see arch.h. Kernels have pages of 4, 16 or 64 KiB. */
#ifndef MEMTRACE_ARCH_ARM64_H
#define MEMTRACE_ARCH_ARM64_H

#include <sys/auxv.h>

#define MT_ELF_MACHINE 183	/* EM_AARCH64 */
#define MT_ARCH_NAME "64-bit ARM"
#define MT_UTS_MACHINE "aarch64"

#define MT_PAGE_MAX 65536ul
#define MT_ADDRESS_BITS 48
#define MT_HUGE_PAGE_MIN 65536ul

/* The auxiliary vector is read in any context: getauxval() takes no lock, and sets errno only for what is not there. */
static inline uint64_t mt_page_bytes(void)
{
	static uint64_t bytes;
	uint64_t b = __atomic_load_n(&bytes, __ATOMIC_RELAXED);

	if (__builtin_expect(!b, 0)) {
		b = getauxval(AT_PAGESZ);
		__atomic_store_n(&bytes, b, __ATOMIC_RELAXED);
	}
	return b;
}

#define MT_PAGE mt_page_bytes()
#define MT_PAGE_SHIFT ((unsigned int)__builtin_ctzl(MT_PAGE))

#ifdef __clang_analyzer__
long mt_sys6(long n, long a, long b, long c, long d, long e, long f);
#else
static inline long mt_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 asm("x8") = n;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	register long x4 asm("x4") = e;
	register long x5 asm("x5") = f;

	asm volatile("svc #0"
		     : "+r"(x0)
		     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		     : "memory", "cc");
	return x0;
}
#endif

#define mt_relax() asm volatile("yield" : : : "memory")

#define mt_sys_mkdir(path, mode) mt_sys(SYS_mkdirat, AT_FDCWD, path, mode)
#define mt_sys_rmdir(path) mt_sys(SYS_unlinkat, AT_FDCWD, path, 0x200 /* AT_REMOVEDIR */)
#define mt_sys_readlink(path, buf, n) mt_sys(SYS_readlinkat, AT_FDCWD, path, buf, n)

static inline uint64_t mt_thread_pointer(void)
{
	uint64_t tp;

	asm("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

#endif
