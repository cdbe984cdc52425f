// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * kernel.h - what system calls read and write of a program's memory. Without DynamoRIO, so that it is tested alone.
 */
#ifndef MEMTRACE_DYNAMORIO_KERNEL_H
#define MEMTRACE_DYNAMORIO_KERNEL_H

#include <stdint.h>

/*
 * Tells each range that the kernel accessed in a system call which returned @result: nothing where it failed. The
 * memory that @arg points to can be read.
 */
void mt_kernel_accesses(long nr, const uint64_t arg[6], long result,
			void (*tell)(void *to, uint64_t at, uint64_t bytes, unsigned int write), void *to);

#endif
