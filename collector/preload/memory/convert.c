// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* convert.c - memory that the program has already becomes traced memory, while it has one thread. See space.h. */
#include "preload/memory/space.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "preload/memory/kept.h"
#include "preload/memory/late.h"
#include "preload/memory/objects.h"

struct piece {
	uint64_t start, end;		/* is converted */
	uint64_t data_start;		/* the contents begin here (stack: above start) */
	int prot;
	int anonymous;			/* only resident pages have contents */
	uint64_t offset, ino;		/* else: of the file */
};

#define MAX_PIECES 1024

/* Which of the present mappings hold data of the program? */
static int is_data(const struct mt_map *m, const char *own_path)
{
	if (m->shared || (m->prot & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE))
		return 0;
	if (!m->path_len || !strcmp(m->path, "[heap]") || !strncmp(m->path, "[anon", 5))
		return 1;
	return m->path[0] == '/' && strcmp(m->path, own_path) != 0;
}

/* The main stack is overlaid down to where it may grow: the kernel will not grow ours. */
static void stack_piece(struct piece *p, const struct mt_map *m, uint64_t below, uint64_t stack_end)
{
	struct rlimit rl = { 8 << 20, 8 << 20 };
	uint64_t size, lowest = below + 257 * MT_PAGE;

	mt_sys(SYS_prlimit64, 0, RLIMIT_STACK, 0, &rl);
	size = rl.rlim_cur > 1ull << 30 ? 1ull << 30 : (rl.rlim_cur + MT_PAGE - 1) & ~(MT_PAGE - 1);
	p->data_start = m->start;
	p->end = stack_end > m->start && stack_end < m->end ? stack_end & ~(MT_PAGE - 1) : m->end;
	p->start = m->end - size;
	if (p->start > m->start)
		p->start = m->start;
	if (p->start < lowest)
		p->start = lowest < m->start ? lowest : m->start;
	p->prot = m->prot;
	p->anonymous = 1;
}

/* Bit i of the result: page i from addr has contents (is present or swapped). At most 64 pages. */
static uint64_t with_contents(int pagemap, uint64_t addr, unsigned pages)
{
	uint64_t e[64], mask = 0;

	if (mt_sys(SYS_pread64, pagemap, e, pages * 8ul, addr / MT_PAGE * 8) != (long)pages * 8)
		return ~0ull;
	for (unsigned i = 0; i < pages; i++)
		mask |= (uint64_t)(e[i] >> 62 != 0) << i;
	return mask;
}

/* No write to the memory between the copy and the new mapping: raw calls only. */
static long convert(const struct piece *p, int pagemap)
{
	struct zap_space *s = &zap_space;
	uint64_t len = p->end - p->data_start;
	long w, ret;

	if (s->rwp)
		return zap_space.private_memory->convert(p->start, p->data_start, p->end, p->prot, p->anonymous);
	ret = zap_make_zero(s->memfd, p->start, p->end - p->start);
	w = ret ? ret : mt_rawmap_at_place(len, PROT_READ | PROT_WRITE, MAP_SHARED, s->memfd, p->data_start);
	if (mt_failed(w))
		return w;
	for (uint64_t off = 0; off < len; off += 64 * MT_PAGE) {
		unsigned n = len - off < 64 * MT_PAGE ? (unsigned)((len - off) / MT_PAGE) : 64;
		uint64_t mask = p->anonymous ? with_contents(pagemap, p->data_start + off, n) : ~0ull;

		for (unsigned i = 0; i < n; i++)
			if (mask >> i & 1)
				memcpy((char *)w + off + i * MT_PAGE, (char *)p->data_start + off + i * MT_PAGE,
				       MT_PAGE);
	}
	ret = zap_map_file(p->start, p->end - p->start, p->prot, MAP_NORESERVE, s->memfd);
	mt_sys(SYS_munmap, w, len);
	if (ret) {
		zap_make_zero(s->memfd, p->start, p->end - p->start);
		return ret;
	}
	zap_register(p->start, p->end - p->start);
	zap_regions_add(&s->regions, p->start, p->end);
	if (!p->anonymous)
		zap_object_data(p->start, p->end, p->offset, p->ino);
	return 0;
}

/* Tasks: the first thread (which may be gone but is listed), and those of ours. Links: two of the folder itself, and one for each. */
static int is_only_thread(void)
{
	struct stat st;

	return !mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) && st.st_nlink == 3u + (unsigned int)zap_space.our_tasks &&
	       mt_gettid() == mt_getpid();
}

void zap_convert_late(void)
{
	struct zap_space *s = &zap_space;
	struct zap_late_walk late = { 0 };
	struct mt_map m;
	int pagemap, fd;

	s->late_pending = 0;
	if (!is_only_thread() || mt_maps_read_self(&s->maps))
		return;
	fd = s->rwp ? s->memfd : zap_memfd();
	if (fd != s->memfd) {
		zap_memfd_done(fd);
		return;
	}
	pagemap = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	late.own_ino = zap_own_ino(&s->maps);
	while (mt_maps_next(&s->maps, &m)) {
		struct piece p = { m.start, m.end, m.start, m.prot, !m.ino, m.offset, m.ino };

		if (zap_is_late_data(&late, &m) && !(s->rwp && zap_regions_cover(&s->regions, m.start, m.end)))
			convert(&p, pagemap);
	}
	if (pagemap >= 0)
		mt_sys(SYS_close, pagemap);
}

int zap_space_convert(uint64_t stack_end)
{
	struct piece *piece = mt_rawmap(MAX_PIECES * sizeof(*piece));
	struct mt_maps maps = { 0 };
	struct mt_map m, own = { 0 };
	uint64_t below = 0;
	int n = 0, pagemap, err;

	if (!piece)
		return -ENOMEM;
	err = mt_maps_read_self(&maps);
	if (err)
		goto out;
	while (mt_maps_next(&maps, &m))
		if (m.start <= (uint64_t)&zap_space && (uint64_t)&zap_space < m.end)
			own = m;
	/*
	 * Our own .bss follows our .data as an anonymous mapping without a name: what
	 * adjoins a mapping of our file is ours.
	 */
	mt_maps_rewind(&maps);
	uint64_t own_end = 0;
	while (mt_maps_next(&maps, &m) && n < MAX_PIECES) {
		uint64_t at = m.start, hit_start, hit_end;
		int ours = (own.path_len && m.path_len && !strcmp(m.path, own.path)) ||
			   (!m.path_len && m.start == own_end) ||
			   (m.start <= (uint64_t)&zap_space && (uint64_t)&zap_space < m.end);

		if (ours) {
			own_end = m.end;
			below = m.end;
			continue;
		}
		if (!strcmp(m.path, "[stack]")) {
			stack_piece(&piece[n++], &m, below, stack_end);
			continue;
		}
		below = m.end;
		if (!is_data(&m, own.path))
			continue;
		/* without our own memory, which may lie inside */
		while (at < m.end && n < MAX_PIECES) {
			uint64_t to = m.end;
			int hit = mt_is_rawmem(at, m.end, &hit_start, &hit_end);

			if (hit && hit_start <= at) {
				at = hit_end;
				continue;
			}
			if (hit)
				to = hit_start;
			piece[n++] = (struct piece){ at, to, at, m.prot, !m.ino, m.offset + at - m.start, m.ino };
			at = to;
		}
	}
	pagemap = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	for (int i = 0; i < n; i++)
		convert(&piece[i], pagemap);
	mt_sys(SYS_close, pagemap);
	if (zap_space.rwp)
		zap_space.private_memory->hide_all();
	if (!zap_space.regions.n)
		err = -ENOMEM;
out:
	mt_maps_free(&maps);
	mt_rawunmap(piece, MAX_PIECES * sizeof(*piece));
	return err;
}
