// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * decode.h - was a fault a read or a write? From the instruction, which is decoded once
 * per address and remembered. Used by the monitor thread, under zap_space.lock.
 */
#ifndef MEMTRACE_DECODE_H
#define MEMTRACE_DECODE_H

#include <stdint.h>

#include "preload/faults/perfring.h"
#include "preload/memory/ranges.h"

struct zap_decoded;

struct zap_decode {
	struct zap_decoded *slot;
	int code_fd;		/* /proc/thread-self/mem: code outside of traced memory */
	int memfd;		/* traced memory, offset = address */
	int pagemap_fd;		/* of the backend rwp, where traced memory is read as it is; 0: there is a memfd. Set after zap_decode_init() */
};

/* 0 or -ENOMEM. */
int zap_decode_init(struct zap_decode *d, int code_fd, int memfd);
void zap_decode_free(struct zap_decode *d);

/*
 * ZAP_READ | ZAP_WRITE bits, 0 = not known. Code in @traced memory (JIT) may change: what
 * is known of it is forgotten with a new @interval.
 */
int zap_decode(struct zap_decode *d, const struct zap_regions *traced, uint32_t interval, const struct zap_fault *f);

#endif
