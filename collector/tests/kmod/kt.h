// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* kt.h - what the test programs in the virtual machine share. */
#ifndef KT_H
#define KT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <memtrace/abi.h>

typedef uint64_t u64;
typedef uint32_t u32;

#define PAGE 4096ul

/* One access that the program made, as it saw it itself. */
struct truth {
	u64 virt;
	u32 pid, tid;
	u32 before, after;	/* word 0 of the session's page, before and after the access */
	u32 write, pad;
	u64 from, until;	/* CLOCK_MONOTONIC before and after, ns */
};

/* The number of the descriptor that a traced program inherits from ktrace -f. */
#define KT_FD_VARIABLE "MEMTRACE_TEST_FD"

static inline double kt_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline u64 kt_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static inline int kt_gettid(void)
{
	return (int)syscall(SYS_gettid);
}

#define DIE(...) do { fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
	fprintf(stderr, __VA_ARGS__); fprintf(stderr, " (%s)\n", strerror(errno)); exit(99); } while (0)

static inline void *kt_map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		DIE("mmap of %zu bytes", bytes);
	return p;
}

static const char *const kt_counter_name[MEMTRACE_C_N] = {
	"faults", "hidden", "real", "write_protect", "spurious", "huge", "kernel", "alien", "remote",
	"remote_shown", "vma_lock", "records", "merged", "inferred", "dropped", "set_full", "swept", "seen",
	"newborn", "newborn_busy", "huge_skipped", "unseen_region", "no_frame", "task_lost", "note_lost",
	"restored", "exit_swept", "detached", "unseen_pages", "spared", "stranger", "aged",
};

#endif
