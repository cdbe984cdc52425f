/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* calls.h - where the system calls of the preload library are made (common/arch/x86_64.h). */
#ifndef MEMTRACE_CALLS_H
#define MEMTRACE_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * From now on they are made where in this code of libc one stands with a return behind it: some programs look where calls come from
 * (Syscall User Dispatch, filters). NULL, and where there is none: in ours, as at the start. x86-64 only. Any context.
 */
void mt_calls_from(const uint8_t *code, size_t bytes);

#endif
