// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* state.c - what all of the context library reads: whether it records, where this thread is, what was lost. See ctx.h. */
#include "preload/context/ctx.h"

_Atomic int ctx_on;
size_t ctx_min_alloc = 4096;
int ctx_stack_depth = 16;
_Atomic uint64_t ctx_lost_lock, ctx_lost_write, ctx_lost_memory;

CTX_TLS int ctx_nest;
CTX_TLS int ctx_pool_mode;
CTX_TLS struct ctx_thread *ctx_self;
