// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/ground/symbol.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* The hash of symbol names of DT_GNU_HASH. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

#define HIDDEN 0x8000	/* of a version: not the default one */

const ElfW(Sym) *mt_symbol_in(const struct link_map *l, const char *name)
{
	const uint32_t h = hash_of(name), *table = NULL;
	const ElfW(Sym) *symbols = NULL;
	const uint16_t *versions = NULL;
	const char *strings = NULL;

	for (const ElfW(Dyn) *d = l->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_GNU_HASH)
			table = (const uint32_t *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SYMTAB)
			symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_VERSYM)
			versions = (const uint16_t *)d->d_un.d_ptr;
	}
	/* the loader has made addresses of them; not of those of the vDSO */
	if (!table || !symbols || !strings || (uintptr_t)table < l->l_addr || !table[0])
		return NULL;
	const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(*table));
	const uint32_t *chain = buckets + table[0] - table[1];
	uint32_t i = buckets[h % table[0]];

	if (i < table[1])
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *s = symbols + i;

		/* not of an older version, which nothing is linked with any more */
		if ((chain[i] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF && !(versions && versions[i] & HIDDEN) &&
		    !strcmp(strings + s->st_name, name))
			return s;
		if (chain[i] & 1)
			return NULL;
	}
}

const struct link_map *mt_libc_map(void)
{
	static const char name[] = "/libc.so.6";

	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
		const size_t n = l->l_name ? strlen(l->l_name) : 0;

		if (n >= sizeof(name) - 1 && !memcmp(l->l_name + n - (sizeof(name) - 1), name, sizeof(name) - 1))
			return l;
	}
	return NULL;
}

int mt_is_defined(const char *name)
{
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next)
		if (l->l_ld && mt_symbol_in(l, name))
			return 1;
	return 0;
}
