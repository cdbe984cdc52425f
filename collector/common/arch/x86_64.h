/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* x86_64.h - see arch.h */
#ifndef MEMTRACE_ARCH_X86_64_H
#define MEMTRACE_ARCH_X86_64_H

#define MT_ELF_MACHINE 62	/* EM_X86_64 */
#define MT_ARCH_NAME "64-bit x86"
#define MT_UTS_MACHINE "x86_64"

#define MT_PAGE 4096ul
#define MT_PAGE_SHIFT 12
#define MT_PAGE_MAX 4096ul
#define MT_ADDRESS_BITS 47
#define MT_HUGE_PAGE_MIN (2ul << 20)

/* In the preload library a call is made where mt_calls_from() says. What lies behind the stack pointer is of the function around it. */
#ifdef MT_CALLS_FROM_LIBC
#define MT_SYSCALL "lea -128(%%rsp), %%rsp\n\tcall mt_call\n\tlea 128(%%rsp), %%rsp"
#else
#define MT_SYSCALL "syscall"
#endif

#ifdef __clang_analyzer__
/* it does not see what assembly writes through a pointer, but it asks no more of an unknown function */
long mt_sys6(long n, long a, long b, long c, long d, long e, long f);
#else
static inline long mt_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;

	asm volatile(MT_SYSCALL
		     : "=a"(ret)
		     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}
#endif

/* In a loop that waits for another processor. */
#define mt_relax() __builtin_ia32_pause()

#define mt_sys_mkdir(path, mode) mt_sys(SYS_mkdir, path, mode)
#define mt_sys_rmdir(path) mt_sys(SYS_rmdir, path)
#define mt_sys_readlink(path, buf, n) mt_sys(SYS_readlink, path, buf, n)

static inline uint64_t mt_thread_pointer(void)
{
	uint64_t fs;

	asm("mov %%fs:0x10, %0" : "=r"(fs));	/* the TCB's pointer to itself */
	return fs;
}

#endif
