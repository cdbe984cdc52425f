// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * image.h - one process image: its directory pNNNN in the trace and the settings.
 */
#ifndef MEMTRACE_IMAGE_H
#define MEMTRACE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "out.h"

/*
 * Who sees the accesses: this library by page faults, code in the program that counts, a tool under the program
 * that counts (this library writes in these cases), or the launcher, which has them from elsewhere and writes them.
 */
enum mt_accesses { MT_BY_US, MT_BY_HOOKS, MT_BY_TOOL, MT_BY_LAUNCHER, MT_BY_NOBODY };

/* When code in the program counts: always; a share of the time; in each period; where the program says; where a signal does. */
enum mt_windows { MT_WINDOWS_NONE, MT_WINDOWS_SHARE, MT_WINDOWS_EACH, MT_WINDOWS_API, MT_WINDOWS_SIGNAL };

/* Settings, read once per program from the environment (set by `memtrace record`). */
struct mt_config {
	char dir[4096];			/* MEMTRACE_DIR: the trace directory, absolute */
	char backend[32];		/* MEMTRACE_BACKEND: its name, for image.json */
	enum mt_accesses accesses;	/* MEMTRACE_LIBRARY: traces, counts, asks-tool, leaves-it, no-accesses */
	uint64_t interval_ns;		/* MEMTRACE_INTERVAL_NS */
	uint64_t first_interval_ns;	/* MEMTRACE_FIRST_INTERVAL_NS: what a run may begin with, <= interval_ns */
	uint64_t interval_accesses;	/* MEMTRACE_INTERVAL_ACCESSES: counted accesses end an interval, too; 0: they do not */
	int instructions;		/* MEMTRACE_INSTRUCTIONS: what each of them accesses is counted, too */
	enum mt_windows windows;	/* MEMTRACE_WINDOW_KIND: their numbers */
	uint64_t window_open_ns;	/* MEMTRACE_WINDOW_OPEN_NS, of a share or period */
	uint64_t window_period_ns;	/* MEMTRACE_WINDOW_PERIOD_NS, > window_open_ns */
	int subphases;			/* MEMTRACE_SUBPHASES, >= 1 */
	uint32_t max_overhead_ppm;	/* MEMTRACE_MAX_OVERHEAD (fraction), 0 = governor off */
	uint64_t min_static_bytes;	/* MEMTRACE_MIN_STATIC */
	uint64_t min_alloc_bytes;	/* MEMTRACE_MIN_ALLOC */
	int stack_depth;		/* MEMTRACE_STACK_DEPTH */
	uint64_t min_process_bytes;	/* MEMTRACE_MIN_PROCESS: see quiet.h; 0: each process is recorded from its beginning */
	int physical;			/* MEMTRACE_PHYSICAL */
	uint32_t ring_pages;		/* MEMTRACE_RING_PAGES per CPU */
	uint64_t fork_copy_max_bytes;	/* MEMTRACE_FORK_COPY_MAX: larger programs stop being traced at fork */
	unsigned int without;		/* MEMTRACE_WITHOUT, for tests: see mt_without() */
	int zoom;			/* MEMTRACE_ZOOM: there are structures to look at closely; see context/suspect.c */
	uint32_t zoom_share_ppm;	/* MEMTRACE_ZOOM_SHARE_PPM: of one CPU, what that may cost */
	int parent_image;		/* MEMTRACE_PARENT_IMAGE, -1 = this is the root */
	/*
	 * MEMTRACE_MONITOR, four numbers: the process that takes orphans here; the process namespace, an inode, in which that is so; an
	 * orphan that ended before, and when (CLOCK_MONOTONIC): if it is still there long after, nobody waits for orphans. 0: the monitor
	 * cannot be a process of its own.
	 */
	int reaper, orphan;
	uint64_t reaper_ns_inode, orphan_ns;
};

struct mt_image {
	int index;
	int pid;
	int parent;			/* index, or -1 */
	const char *how;		/* root, fork, exec */
	int dirfd;			/* the image's directory; see mt_fd_keep() for its validity */
	char path[4200];		/* absolute */
	uint64_t start_ns;
	int monitor_tid;		/* our thread in the program, 0 none */
	int monitor_pid;		/* our process beside the program, 0 none */
	uint64_t monitor_ns;		/* a time at which it was there */
	const struct mt_config *config;
};

/* Reads the environment. 0, or negative errno when this program shall not be traced. */
int mt_config_read(struct mt_config *c);

/*
 * Makes the next free pNNNN below config->dir and opens it. constructor or fork.
 * 0 or negative errno.
 */
int mt_image_create(struct mt_image *img, const struct mt_config *c, int parent, const char *how);
/* The backend that works in this image: @traced, ours does. */
static inline const char *mt_image_backend(const struct mt_config *c, int traced)
{
	return traced || c->accesses == MT_BY_LAUNCHER ? c->backend : "none";
}
/* Writes image.json. backend: its name or "none"; message may be empty. */
int mt_image_describe(const struct mt_image *img, const char *backend, const char *message);
/* Copies /proc/self/maps to the named file of the image. */
int mt_image_save_maps(const struct mt_image *img, const char *name);
/* MEMTRACE_PARENT_IMAGE of programs that this one will exec. */
void mt_image_export(const struct mt_image *img, int constructor);

/*
 * A descriptor of ours, moved to a high number, close-on-exec. It stays valid for
 * the monitor thread (which has a descriptor table of its own) whatever the program
 * does; in threads of the program it is valid until the program closes it.
 * Returns the new number or negative errno (the old one is then closed).
 */
int mt_fd_keep(int fd);
/* As mt_fd_keep(). -EMFILE: there is no high number, @fd is as it was. */
int mt_fd_keep_high(int fd);
/*
 * Kept descriptors get numbers above the soft limit (RLIMIT_NOFILE) where the hard one allows it, so that a program which looks at
 * all numbers that it may have finds none of them. While it is on the limit changes for moments: only while one thread of the program runs.
 */
void mt_fd_hide(int yes);
/* Closes a kept descriptor, unless the program has put a file of its own at the number. */
void mt_fd_close(int fd);
/*
 * @fd, or -1: the program has closed it. Its number may become that of another kept descriptor; so who makes new ones and closes the
 * old ones later asks before.
 */
int mt_fd_own(int fd);
/* Creates a file in the image's directory and keeps it (mt_fd_keep). */
int mt_image_open(const struct mt_image *img, const char *name);
/* The kept descriptors in ascending order. */
int mt_fd_kept(const int **fds);

#endif
