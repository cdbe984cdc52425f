// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/late.h"

#include <sys/mman.h>

uint64_t zap_own_ino(struct mt_maps *m)
{
	struct mt_map map;
	uint64_t ino = 0;

	mt_maps_rewind(m);
	while (mt_maps_next(m, &map))
		if (map.start <= (uint64_t)&zap_own_ino && (uint64_t)&zap_own_ino < map.end)
			ino = map.ino;
	mt_maps_rewind(m);
	return ino;
}

int zap_is_late_data(struct zap_late_walk *w, const struct mt_map *m)
{
	const int rw = PROT_READ | PROT_WRITE;

	if (m->ino && (m->prot & PROT_EXEC) && m->path[0] == '/') {
		w->code_ino = m->ino;
		w->code_major = m->major;
		w->code_minor = m->minor;
		return 0;
	}
	if (m->shared || (m->prot & rw) != rw)
		return 0;
	if (m->ino) {
		if (m->ino != w->code_ino || m->major != w->code_major || m->minor != w->code_minor ||
		    m->ino == w->own_ino)
			return 0;
	} else if (m->path_len || m->start != w->data_end) {
		return 0;
	}
	w->data_end = m->end;
	return 1;
}
