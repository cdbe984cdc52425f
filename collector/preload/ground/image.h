// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * image.h - one process image: its directory pNNNN in the trace and the settings.
 */
#ifndef MEMTRACE_IMAGE_H
#define MEMTRACE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/arch.h"
#include "common/out.h"
#include "common/settings.h"
#include "common/tracenames.h"

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

/* Reads the environment (settings.c). 0, or negative errno when this program shall not be traced. */
int mt_config_read(struct mt_config *c);

/*
 * Makes the next free pNNNN below config->dir and opens it. constructor or fork.
 * 0 or negative errno.
 */
int mt_image_create(struct mt_image *img, const struct mt_config *c, int parent, const char *how);
/* The backend that works in this image: @traced, ours does. */
static inline const char *mt_image_backend(const struct mt_config *c, int traced)
{
	return traced || c->library == MT_LIBRARY_LEAVES_IT ? c->backend : MT_NO_BACKEND;
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
