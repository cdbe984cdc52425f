// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * maps.h - reads /proc/PID/maps without libc.
 */
#ifndef MEMTRACE_MAPS_H
#define MEMTRACE_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct mt_maps {
	char *text;		/* mt_rawmap() memory, kept between reads */
	size_t cap, len;
	const char *at;		/* next line */
};

struct mt_map {
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	int prot;		/* PROT_* */
	int shared;
	char path[128];		/* cut when longer; "" for anonymous */
	size_t path_len;	/* whole length */
};

/* Opens the maps of the calling thread's process (also when its first thread is gone). */
int mt_maps_open(void);
/* Reads all of fd from the beginning. 0 or negative errno. Call mt_maps_next() after. */
int mt_maps_read(struct mt_maps *m, int fd);
/* open, read, close */
int mt_maps_read_self(struct mt_maps *m);
/* 1 and the next mapping, or 0 at the end. Lines that cannot be parsed are skipped. */
int mt_maps_next(struct mt_maps *m, struct mt_map *map);
/*
 * The mapping that has @addr, as mt_maps_next() tells it but for the path, without reading the others (Linux 6.11). 1; 0: there is none;
 * negative errno: this way is not there, ask mt_maps_read().
 */
int mt_map_at(uint64_t addr, struct mt_map *map);
void mt_maps_rewind(struct mt_maps *m);
void mt_maps_free(struct mt_maps *m);

#endif
