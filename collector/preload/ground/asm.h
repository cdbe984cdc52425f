// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * asm.h - the assembly of the preload library, and what it knows of code: one source for each processor in asm/. The
 * rest of what is of the processor: common/arch.h.
 */
#ifndef MEMTRACE_ASM_H
#define MEMTRACE_ASM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
/* glibc's layout: the static TLS blocks lie below the thread pointer, struct pthread (2304 bytes in 2.36) above it */
#define MT_TLS_BELOW 65536ul
#define MT_TLS_ABOVE 8192ul
/* struct pthread, at the end of the mapping of a thread's stack, in glibc 2.34 to 2.41 */
#define MT_DESCRIPTOR_BYTES 2304
#define MT_TID_OFFSET 0x2d0	/* of the thread's id from the thread pointer, glibc 2.36 and 2.41 */
/* the arguments of clone(2) as the kernel takes them: the child's id, the thread pointer */
#define MT_CLONE_CHILD_TID(d, e) (d)
#define MT_FRAME_POINTER 6	/* DWARF number of rbp */
#define MT_JUMP_MAX 14
#define MT_NEVER_REACHED 0xcc
#elif defined(__aarch64__)
/* struct pthread below, the static TLS blocks above */
#define MT_TLS_BELOW 8192ul
#define MT_TLS_ABOVE 65536ul
/* struct pthread and the static TLS blocks behind it, at the end of the mapping of a thread's stack */
#define MT_DESCRIPTOR_BYTES 8192
#define MT_TID_OFFSET 0		/* not known without the kernel's help (CONFIG_CHECKPOINT_RESTORE) */
#define MT_CLONE_CHILD_TID(d, e) (e)
#define MT_FRAME_POINTER 29
#define MT_JUMP_MAX 20
#define MT_NEVER_REACHED 0
#endif
#define MT_MOVED_MAX 112
#define MT_NEAR_MAX 160

/*
 * A thread by clone(2): it calls the function at stack[0] with the argument at stack[1] and ends with what it returns. The
 * new thread's id or negative errno.
 */
long mt_arch_clone_thread(unsigned long flags, void **stack, void *tls) __attribute__((visibility("hidden")));

/* clone() of glibc, for processes that share memory: threads, posix_spawn. The kernel's answer. */
long mt_arch_clone_vm(int (*fn)(void *), void *stack, unsigned long flags, void *arg, int *parent_tid, void *tls,
		      int *child_tid) __attribute__((visibility("hidden")));

/* A copy of a thread's TLS gets its thread pointer, where it stands in it, too. */
void mt_arch_tls_moved(void *thread_pointer);

/*
 * The code of a jump to @to that takes the place of the beginning of the function @at; no register that an argument may be in
 * is changed. Returns its bytes, at most MT_JUMP_MAX.
 */
size_t mt_arch_jump(uint8_t *code, const void *at, const void *to);
/* After code was changed, which is executable again. Calls nothing. */
void mt_arch_code_changed(void *at, size_t bytes);

/* The same for a jump of MT_SITE_NEAR bytes (common/clonesite.h). 0: @to is too far away; x86-64 only. */
size_t mt_arch_near_jump(uint8_t *code, const void *at, const void *to);

/*
 * What is moved from around a system call of libc (common/clonesite.h), MT_SITES times MT_MOVED_MAX bytes, alone on their pages: these are
 * written while what writes them runs.
 */
extern char mt_arch_moved[] __attribute__((visibility("hidden")));

/* What a function that takes the place of a system call returns when the call is to be made there, as it is. No answer of the kernel. */
#define MT_CALL_IT (-5000)

/*
 * The code of the @before bytes of instructions at @at, a call of @to in the place of the system call behind them, the
 * @after bytes of instructions behind that, and a jump to what follows there. All registers but the result are as after a
 * system call. Where @to says MT_CALL_IT the call @number is made. @number 0: @to is called for those that make processes, with the number
 * as its sixth argument, and all others are made as they are. Returns its bytes, at most MT_MOVED_MAX, with 0 MT_NEAR_MAX; x86-64 only,
 * else 0.
 */
size_t mt_arch_move(uint8_t *code, const uint8_t *at, size_t before, size_t after, const void *to, int number);

/*
 * Where a program of Go makes the system calls that start processes and advise about memory, by the bytes around them: the function of all
 * system calls (Go 1.18 and later), that of vfork (1.9 and later), and that of madvise (*@advises: it is there). From @at on a jump to @to
 * may stand, of MT_JUMP_MAX bytes. How many there are in the code; x86-64 only.
 */
#define MT_GO_SITES 3
struct mt_go_site {
	const uint8_t *at;
	void *to;
};
/* What is called there, with number and arguments; the kernel's answer. Set before anything is replaced. */
extern long (*mt_arch_go_call)(const long *call) __attribute__((visibility("hidden")));
int mt_arch_find_go(const uint8_t *code, size_t len, struct mt_go_site site[MT_GO_SITES], int *advises);
/* Has the thread a thread pointer of libc? Any context. */
int mt_arch_is_libc_thread(void);

/* Is it the loader's mmap(), munmap()? By what its first bytes do; see mt_patch_loader(). */
int mt_arch_is_mmap(const uint8_t *code, size_t len);
int mt_arch_is_munmap(const uint8_t *code, size_t len);

#endif
