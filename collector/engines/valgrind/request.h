/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 OR GPL-2.0-or-later */
/*
 * request.h - what the preload library, in a program that runs under Valgrind or DynamoRIO, asks of our tool (tool.c,
 * engines/dynamorio/client.c) outside of the program. Valgrind is asked by five instructions that do nothing elsewhere, so
 * each of these may be made anywhere; DynamoRIO by a system call that does not exist.
 */
#ifndef MEMTRACE_VALGRIND_REQUEST_H
#define MEMTRACE_VALGRIND_REQUEST_H

#include <stdint.h>

#include "common/rawsys.h"

/* Raised when anything here, struct mt_count_row or struct mt_site_row changes. */
#define MT_TOOL_VERSION 2u

#define MT_TOOL_BASE ((uint64_t)'M' << 24 | (uint64_t)'T' << 16)
enum {
	MT_TOOL_IS_HERE,	/* MT_TOOL_VERSION; 0 without the tool */
	MT_TOOL_UNCOUNTED,	/* accesses of the calling thread are not counted from now on */
	MT_TOOL_OWN_CODE,	/* start, end: code whose accesses are not counted. Before it runs for the first time, or discard it */
	MT_TOOL_BEGIN,		/* the counters are as if nothing had been accessed yet. On the only thread that counts */
	MT_TOOL_COLLECT,	/* struct mt_tool_rows *: what was counted since the last time. The accesses of them */
	MT_TOOL_PENDING,	/* the accesses that were counted since the last time */
	MT_TOOL_LOST,		/* accesses for whose counters there was no memory, of all times */
	MT_TOOL_SITES,		/* struct mt_tool_sites *, all: mt_sites_collect(); none where it was started without --instructions=yes */
};

/* Valgrind's own: code in [start, start + bytes) was changed. */
#define MT_VALGRIND_DISCARD 0x1002u

struct mt_count_row;
struct mt_tool_rows {
	const struct mt_count_row *row;	/* memory of the tool, until the next request */
	uint64_t n;
};

struct mt_site_row;
struct mt_tool_sites {
	const struct mt_site_row *row;	/* as above */
	uint64_t n;
};

/* The answer, or @none without Valgrind. */
static inline uint64_t mt_valgrind_request(uint64_t none, uint64_t request, uint64_t a, uint64_t b)
{
#ifdef __x86_64__
	volatile uint64_t args[6] = { request, a, b, 0, 0, 0 };
	uint64_t ret;

	/* the sequence that Valgrind knows: %rdi is turned by 128 bits, the answer comes in %rdx */
	asm volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
		     : "=d"(ret) : "a"(args), "0"(none) : "cc", "memory");
	return ret;
#else
	/* the tool is for x86-64 */
	(void)request, (void)a, (void)b;
	return none;
#endif
}

/* The answer; a negative errno without our client of DynamoRIO. */
static inline uint64_t mt_client_request(unsigned int request, uint64_t a, uint64_t b)
{
	return (uint64_t)mt_sys(MT_TOOL_BASE + request, a, b);
}

#endif
