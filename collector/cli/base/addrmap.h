/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* addrmap.h - a number for each address: open addressing. Addresses are above 1. One thread. */
#ifndef MEMTRACE_CLI_ADDRMAP_H
#define MEMTRACE_CLI_ADDRMAP_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct mt_addrmap {
	uint64_t *key;		/* 0 = free, 1 = removed */
	size_t *value;
	size_t mask, used;
};

/* Replaces what the address had. */
void mt_addrmap_put(struct mt_addrmap *m, uint64_t key, size_t value);
/* The number of the address, until the next put; NULL: it has none. */
size_t *mt_addrmap_find(const struct mt_addrmap *m, uint64_t key);
/* Also of one that is not there. */
void mt_addrmap_remove(struct mt_addrmap *m, uint64_t key);
/* @to has nothing to be freed before. */
void mt_addrmap_copy(struct mt_addrmap *to, const struct mt_addrmap *from);
/* It is empty then. */
void mt_addrmap_free(struct mt_addrmap *m);

#endif
