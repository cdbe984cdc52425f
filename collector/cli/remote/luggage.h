/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * luggage.h - what a node needs to record: this program, the preload library and the libraries that this
 * program is loaded with, all but the C library, as one tar stream. It is unpacked into a folder of the node as
 * bin/memtrace and lib/memtrace/, as `make install` lays it out, and the program finds its libraries by its RPATH.
 */
#ifndef MEMTRACE_CLI_LUGGAGE_H
#define MEMTRACE_CLI_LUGGAGE_H

#include <stdint.h>
#include <stdio.h>

struct mt_luggage {
	struct mt_luggage_file {
		char *path, *name;	/* here; in the folder of the node, below 100 bytes */
	} *file;
	size_t n, cap;
	uint64_t bytes;			/* of all files */
	int glibc_minor;		/* the oldest glibc 2.N that all of them run with */
};

/* NULL, or a sentence for mt_fail, to be freed: a file is missing. */
char *mt_luggage_pack(struct mt_luggage *l);
void mt_luggage_free(struct mt_luggage *l);

/*
 * Parts of a tar stream (ustar): @write gets the bytes in order and returns 0 or a negative errno, which ends the
 * function. A file that gets shorter meanwhile is -EIO.
 */
typedef int (*mt_put)(void *to, const void *data, size_t n);
int mt_tar_file(mt_put put, void *to, const char *path, const char *name);
int mt_tar_text(mt_put put, void *to, const void *data, size_t n, const char *name);
int mt_tar_end(mt_put put, void *to);

#endif
