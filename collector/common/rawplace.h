/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * rawplace.h - where the memory of the recorder lies in a program.
 *
 * Far from where the kernel puts mappings, programs and their heaps: in a hole among the
 * program's mappings our memory would be unmapped by a munmap() that spans the hole, which
 * is legal. Free in the layouts of glibc, Go, the JVM's collectors and the sanitizers. Also
 * how the kernel module and its reader know that memory: see mt_kmod_open().
 */
#ifndef MEMTRACE_RAWPLACE_H
#define MEMTRACE_RAWPLACE_H

#define MT_PLACE_START 0x2a0000000000ull
#define MT_PLACE_END 0x3f0000000000ull

#endif
