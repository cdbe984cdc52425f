// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* gone.h - ranges that were unmapped, and when: bookkeeping only, the caller locks. */
#ifndef MEMTRACE_GONE_H
#define MEMTRACE_GONE_H

#include <stddef.h>
#include <stdint.h>

struct zap_gone {
	struct zap_gone_range {
		uint64_t start, end, time;
		int shared;
	} *r;
	size_t n, cap;
};

/* What is unmapped again replaces the earlier time. Without room the last faults are lost. */
void zap_gone_add(struct zap_gone *g, uint64_t start, uint64_t end, uint64_t time, int shared);
/* The range with @addr that was unmapped at @time or later; NULL: there is none. */
const struct zap_gone_range *zap_gone_at(const struct zap_gone *g, uint64_t addr, uint64_t time);

#endif
