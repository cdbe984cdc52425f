// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * rw.h - the decoder of the processor that this is built for. The decoders themselves are pure functions of bytes,
 * which are built and tested everywhere.
 *
 *	ZAP_READ, ZAP_WRITE	bits of a direction
 *	ZAP_INSN_MAX		bytes of the longest instruction
 *	zap_direction(insn)	bits, and what the decoder remembers for zap_resolve(); ZAP_INSN_MAX readable bytes
 *	zap_resolve(direction, addr, regs)	bits of the access that faulted at addr
 *	zap_resolve_kernel(addr, regs)	the same for a fault in kernel mode, 0: not known
 *	ZAP_SAMPLE_REGS		registers that are wanted with each fault, as the kernel's mask; ZAP_N_REGS of them
 *	struct zap_regs		their values in the order of the bits
 */
#ifndef MEMTRACE_RW_H
#define MEMTRACE_RW_H

#include "preload/faults/arm64rw.h"
#include "preload/faults/x86rw.h"

#define ZAP_READ 1
#define ZAP_WRITE 2

#if defined(__x86_64__)
#define ZAP_INSN_MAX X86_INSN_MAX
#define ZAP_SAMPLE_REGS X86_SAMPLE_REGS
#define zap_regs x86_regs
#define zap_direction x86_direction
#define zap_resolve x86_resolve
#define zap_resolve_kernel x86_resolve_kernel
#elif defined(__aarch64__)
#define ZAP_INSN_MAX ARM64_INSN_MAX
#define ZAP_SAMPLE_REGS ARM64_SAMPLE_REGS
#define zap_regs arm64_regs
#define zap_direction arm64_direction
#define zap_resolve arm64_resolve
#define zap_resolve_kernel arm64_resolve_kernel
#endif

#define ZAP_N_REGS (sizeof(struct zap_regs) / 8)

_Static_assert(X86_READ == ZAP_READ && X86_WRITE == ZAP_WRITE && ARM64_READ == ZAP_READ && ARM64_WRITE == ZAP_WRITE,
	       "all decoders have these bits");

#endif
