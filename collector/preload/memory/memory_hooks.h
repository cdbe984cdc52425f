// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * hooks.h - the functions of libc that change the address space, done anew for a
 * program whose private memory is really shared memory. While zap_space.active is 0
 * they are plain system calls. Context: threads of the program.
 */
#ifndef MEMTRACE_HOOKS_H
#define MEMTRACE_HOOKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

void *zap_hook_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int zap_hook_munmap(void *addr, size_t len);
void *zap_hook_mremap(void *old, size_t old_len, size_t new_len, int flags, void *new_addr);
int zap_hook_madvise(void *addr, size_t len, int advice);
ssize_t zap_hook_process_madvise(int pidfd, const struct iovec *ranges, size_t n, int advice, unsigned int flags);
int zap_hook_ioctl(int fd, unsigned long request, void *arg);
int zap_hook_remap_file_pages(void *addr, size_t len, int prot, size_t page, int flags);
long zap_hook_mseal(void *addr, size_t len, unsigned long flags);
int zap_hook_mprotect(void *addr, size_t len, int prot);
int zap_hook_pkey_mprotect(void *addr, size_t len, int prot, int key);
int zap_hook_brk(void *addr);
/* The dynamic loader's own: data segments of libraries are files that it maps privately for writing. */
void *zap_loader_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int zap_loader_munmap(void *addr, size_t len);
void *zap_hook_shmat(int id, const void *addr, int flags);
int zap_hook_shmdt(const void *addr);

/*
 * Who looks at code of a file that was mapped, [@offset, @offset + @len) of @fd at @at, before it is executed: under the lock. NULL, or
 * why the program cannot be recorded any more; then zap_stop is called with it, without the lock. Set before memory is traced.
 */
extern const char *(*zap_code_mapped)(const uint8_t *at, size_t len, int fd, uint64_t offset);
extern void (*zap_stop)(const char *why);

#endif
