/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* addrmap.c - see addrmap.h. */
#include "cli/base/addrmap.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"

static size_t hash(uint64_t a)
{
	a = (a >> 4) * 0x9e3779b97f4a7c15ull;
	return (size_t)(a ^ (a >> 31));
}

void mt_addrmap_put(struct mt_addrmap *m, uint64_t key, size_t value)
{
	size_t i;

	if (!m->key || m->used * 2 > m->mask) {
		struct mt_addrmap old = *m;
		size_t n = 1024, alive = 0;

		for (i = 0; old.key && i <= old.mask; i++)
			alive += old.key[i] > 1;
		while (n < alive * 4)
			n *= 2;
		m->key = mt_alloc(n * sizeof(*m->key));
		m->value = mt_alloc(n * sizeof(*m->value));
		m->mask = n - 1;
		m->used = 0;
		for (i = 0; old.key && i <= old.mask; i++)
			if (old.key[i] > 1)
				mt_addrmap_put(m, old.key[i], old.value[i]);
		free(old.key);
		free(old.value);
	}
	for (i = hash(key) & m->mask; m->key[i] && m->key[i] != key; i = (i + 1) & m->mask)
		;
	if (!m->key[i])
		m->used++;
	m->key[i] = key;
	m->value[i] = value;
}

static size_t place_of(const struct mt_addrmap *m, uint64_t key)
{
	for (size_t i = hash(key) & m->mask; key > 1 && m->key && m->key[i]; i = (i + 1) & m->mask)
		if (m->key[i] == key)
			return i;
	return SIZE_MAX;
}

size_t *mt_addrmap_find(const struct mt_addrmap *m, uint64_t key)
{
	const size_t i = place_of(m, key);

	return i == SIZE_MAX ? NULL : &m->value[i];
}

void mt_addrmap_remove(struct mt_addrmap *m, uint64_t key)
{
	const size_t i = place_of(m, key);

	if (i != SIZE_MAX)
		m->key[i] = 1;
}

void mt_addrmap_copy(struct mt_addrmap *to, const struct mt_addrmap *from)
{
	*to = *from;
	if (!from->key)
		return;
	to->key = mt_alloc((from->mask + 1) * sizeof(*to->key));
	to->value = mt_alloc((from->mask + 1) * sizeof(*to->value));
	memcpy(to->key, from->key, (from->mask + 1) * sizeof(*to->key));
	memcpy(to->value, from->value, (from->mask + 1) * sizeof(*to->value));
}

void mt_addrmap_free(struct mt_addrmap *m)
{
	free(m->key);
	free(m->value);
	memset(m, 0, sizeof(*m));
}
