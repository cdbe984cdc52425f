// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Registered memory forgets that it is registered when the kernel moves it (mremap), in the child of fork, and it cannot
 * be registered as long as it is inaccessible (PROT_NONE: reservations of allocators). So hooks tell of all three. Pages that move, and
 * those of a child, lose their protection as well and would look touched: they are hidden again before anyone can touch them.
 */
#include "preload/memory/rwp.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "common/faultprobe.h"
#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "common/rwprotect.h"
#include "preload/memory/space.h"

#define HUGE_BYTES (2ull << 20)		/* the smallest huge page that a page table entry may stand for, or less */

static uint64_t page_up(uint64_t v)
{
	return (v + MT_PAGE - 1) & ~(MT_PAGE - 1);
}

/* Opens the userfaultfd and tries what it does. 0, or negative errno with the failed step in *what. */
static int zap_rwp_create(unsigned int without, const char **what)
{
	struct zap_space *s = &zap_space;
	struct mt_rwp_traits t;
	struct stat st;
	long ret;

	s->memfd = s->uffd = -1;
	s->no_uffd = NULL;
	ret = mt_rwp_open(what);
	if (ret < 0)
		return (int)ret;
	ret = mt_fd_keep((int)ret);
	if (ret < 0)
		return (int)ret;
	s->uffd = (int)ret;
	mt_sys(SYS_fstat, s->uffd, &st);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->files_too = 1;
	if (s->rwp_tried)
		return 0;	/* a child: the parent knows what it does */
	ret = mt_rwp_probe(s->uffd, without, &t, what);
	if (ret) {
		zap_space_forget();
		return (int)ret;
	}
	s->rwp_tried = 1;
	s->faults = (struct mt_fault_traits){ .around = 0, .writes_fault = t.writes_fault };
	return 0;
}

/* Is the descriptor of this thread's table ours? The program may have closed it, or have another file of that number. */
static int is_here(void)
{
	struct stat st;

	return !mt_sys(SYS_fstat, zap_space.uffd, &st) && st.st_dev == zap_space.dev && st.st_ino == zap_space.ino;
}

/* A range that is in the set, again, or a new one. 0 or negative errno. */
static long zap_rwp_register(uint64_t addr, uint64_t len)
{
	/* its mapping may merge with others, in which a write after a read is not seen any more then */
	zap_space.writes_unseen = 1;
	if (is_here())
		return mt_rwp_register(zap_space.uffd, addr, len);
	zap_space.rescue_uffd = 1;	/* the monitor has it still */
	return 0;
}

/* Private anonymous memory of the program is traced from now on; what is inaccessible, from the moment at which it is not. */
static void zap_rwp_share(uint64_t addr, uint64_t len, int prot)
{
	struct zap_space *s = &zap_space;

	len = page_up(len);
	if (!prot)
		zap_regions_add(&s->reserved, addr, addr + len);
	else if (!zap_rwp_register(addr, len))
		zap_regions_add(&s->regions, addr, addr + len);
}

void zap_rwp_protected(uint64_t addr, uint64_t len, int prot)
{
	struct zap_regions *reserved = &zap_space.reserved;
	const uint64_t end = addr + page_up(len);
	size_t i;

	while (prot && (i = zap_regions_find(reserved, addr)) < reserved->n && reserved->r[i].start < end) {
		const uint64_t from = reserved->r[i].start > addr ? reserved->r[i].start : addr;
		const uint64_t to = reserved->r[i].end < end ? reserved->r[i].end : end;

		if (zap_regions_remove(reserved, from, to))
			return;
		zap_rwp_share(from, to - from, prot);
		addr = to;
	}
}

void zap_rwp_hide(uint64_t start, uint64_t end)
{
	const long ret = mt_rwp_hide(zap_space.uffd, start, end - start);
	uint64_t middle;

	/* a part of it is not registered: something was mapped there behind our back */
	if (ret != -ENOENT || end - start <= MT_PAGE)
		return;
	middle = start + (end - start) / 2 / MT_PAGE * MT_PAGE;
	zap_rwp_hide(start, middle);
	zap_rwp_hide(middle, end);
}

void zap_rwp_give_up(uint64_t addr, uint64_t len)
{
	zap_note_present(addr, len);
	if (is_here())
		mt_rwp_unregister(zap_space.uffd, addr, len);
	zap_unshare(addr, len);
}

/* On threads of the program, which may have closed the descriptor. */
static void hide(uint64_t start, uint64_t end)
{
	if (is_here())
		zap_rwp_hide(start, end);
}

/* Fills private anonymous memory apart from the program's, and puts it in the place of [addr, addr+len). */
static long put(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset)
{
	long w = mt_rawmap_at_place(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), ret = 0;
	uint64_t done = 0;

	if (mt_failed(w))
		return w;
	while (fd >= 0 && done < len) {
		ret = mt_sys(SYS_pread64, fd, w + (long)done, len - done, offset + done);
		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			break;
		done += (uint64_t)ret;
	}
	if (fd < 0)
		memcpy((void *)w, (const void *)addr, len);
	if (ret >= 0 && prot != (PROT_READ | PROT_WRITE))
		ret = mt_sys(SYS_mprotect, w, len, prot);
	if (ret >= 0)
		ret = mt_sys(SYS_mremap, w, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, addr);
	if (mt_failed(ret))
		mt_sys(SYS_munmap, w, len);
	return mt_failed(ret) ? ret : 0;
}

/* As zap_share_file(). */
static long zap_rwp_share_file(uint64_t addr, uint64_t len, int prot, int fd, uint64_t offset)
{
	long ret = put(addr, page_up(len), prot, fd, offset);

	if (ret)
		return ret;
	zap_rwp_share(addr, len, prot);
	hide(addr, addr + page_up(len));
	return 0;
}

/*
 * What exists becomes traced: [@data_start, @end) of private memory, anonymous or of a file, of which the program may use from
 * @start on. All pages are there before anyone may touch them. 0 or negative errno.
 */
static long zap_rwp_convert(uint64_t start, uint64_t data_start, uint64_t end, int prot, int anonymous)
{
	long ret = anonymous ? 0 : put(data_start, end - data_start, prot, -1, 0);

	if (!ret)
		ret = zap_rwp_register(data_start, end - data_start);
	if (ret)
		return ret;
	if (start < data_start)	/* the main stack, which grows */
		zap_space.stack_start = start;
	zap_regions_add(&zap_space.regions, start, end);
	return 0;
}

struct page_range {
	uint64_t start, end, categories;
};
/* Linux 6.7; older headers lack it */
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, mask, anyof, result;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)

/* To hide a part of a huge page cuts it: each page faults by itself then. */
static void cut_huge_pages(int pagemap, const struct zap_range *r)
{
	uint64_t at = r->start;

	while (at < r->end) {
		struct page_range found;
		struct scan_arg a = { .size = sizeof(a), .start = at, .end = r->end, .vec = (uint64_t)&found, .vec_len = 1,
				      .mask = MT_PAGE_IS_HUGE | MT_PAGE_IS_ACCESSED, .result = MT_PAGE_IS_HUGE };

		if (mt_sys(SYS_ioctl, pagemap, SCAN_IOCTL, &a) != 1)
			return;
		for (uint64_t page = found.start & ~(HUGE_BYTES - 1); page < found.end; page += HUGE_BYTES) {
			const uint64_t from = page < found.start ? found.start : page;

			zap_rwp_hide(from, from + MT_PAGE);
		}
		at = found.end;
	}
}

/* All pages are hidden, huge ones in pieces: nothing was touched yet. */
static void zap_rwp_hide_all(void)
{
	const struct zap_regions *s = &zap_space.regions;
	int pagemap = (int)mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);

	for (size_t i = 0; i < s->n; i++) {
		if (pagemap >= 0)
			cut_huge_pages(pagemap, &s->r[i]);
		zap_rwp_hide(s->r[i].start, s->r[i].end);
	}
	if (pagemap >= 0)
		mt_sys(SYS_close, pagemap);
}

void zap_rwp_moved(uint64_t old, uint64_t old_len, uint64_t addr, uint64_t len, int old_stays)
{
	struct zap_regions *s = &zap_space.regions;

	if (addr == old) {
		if (len < old_len)
			zap_unshare(old + len, old_len - len);
		else if (zap_regions_contain(s, old + old_len - MT_PAGE))
			zap_rwp_share(old + old_len, len - old_len, PROT_READ);
		return;
	}
	if (!old_stays)
		zap_unshare(old, old_len);
	zap_unshare(addr, len);
	zap_space.writes_unseen = 1;
	if (zap_rwp_register(addr, len)) {
		zap_regions_add(&zap_space.reserved, addr, addr + len);	/* inaccessible */
		return;
	}
	zap_regions_add(s, addr, addr + len);
	hide(addr, addr + len);
}

static int is_ordinary(const struct mt_map *m)
{
	return !m->shared && !m->ino && (!m->path_len || !strcmp(m->path, "[heap]") || !strcmp(m->path, "[stack]") ||
					 !strncmp(m->path, "[anon", 5));
}

/* A piece without memory of our own. */
static void refresh_piece(const struct zap_regions *old, uint64_t start, uint64_t end, int prot)
{
	struct zap_space *s = &zap_space;

	if (zap_regions_cover(old, start, end))
		zap_regions_add(&s->regions, start, end);
	else
		zap_rwp_share(start, end - start, prot);
}

int zap_rwp_refresh(const struct zap_regions *old, const struct mt_map *m, uint64_t *own_end, uint64_t own_ino)
{
	uint64_t at = m->start, hit_start, hit_end;

	if ((m->ino && m->ino == own_ino) || (!m->path_len && !m->ino && m->start == *own_end)) {
		*own_end = m->end;
		return 1;
	}
	if (!is_ordinary(m))
		return 0;
	while (at < m->end) {
		uint64_t to = m->end;
		int hit = mt_is_rawmem(at, m->end, &hit_start, &hit_end);

		if (hit && hit_start <= at) {
			at = hit_end;
			continue;
		}
		if (hit)
			to = hit_start;
		refresh_piece(old, at, to, m->prot);
		at = to;
	}
	if (!strcmp(m->path, "[stack]") && zap_space.stack_start && zap_space.stack_start < m->start)
		zap_regions_add(&zap_space.regions, zap_space.stack_start, m->end);
	return 1;
}

int zap_rwp_after_fork(void)
{
	struct zap_space *s = &zap_space;
	int err, maps;
	const char *what;

	mt_fd_close(s->uffd);	/* it is the parent's, and means its memory */
	err = zap_rwp_create(0, &what);
	if (err)
		return err;
	maps = mt_maps_open();
	zap_regions_clear(&s->regions);
	err = zap_refresh(&s->maps, maps);
	if (maps >= 0)
		mt_sys(SYS_close, maps);
	if (err)
		return err;
	zap_unmap_shared();
	zap_register_all();
	zap_rwp_hide_all();
	s->writes_unseen = 1;
	zap_see_writes(-1);
	return 0;
}

long zap_rwp_peek(int mem_fd, int pagemap_fd, uint64_t addr, void *buf, size_t n)
{
	const uint64_t first = addr & ~(MT_PAGE - 1), last = (addr + n - 1) & ~(MT_PAGE - 1);
	uint64_t e[2] = { 0, 0 };
	long ret;

	mt_sys(SYS_pread64, pagemap_fd, e, first == last ? 8 : 16, first / MT_PAGE * 8);
	ret = mt_sys(SYS_pread64, mem_fd, buf, n, addr);
	for (int i = 0; i <= (first != last); i++)
		if (e[i] >> 62 && !mt_rwp_touched(e[i]))
			zap_rwp_hide(first + (uint64_t)i * MT_PAGE, first + (uint64_t)(i + 1) * MT_PAGE);
	return ret;
}

/* The second and third number of /proc/self/statm: resident, and of files or shared. */
uint64_t zap_rwp_resident(void)
{
	char text[128], *p = text;
	uint64_t v[3] = { 0 };
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/statm", O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = mt_sys(SYS_read, fd, text, sizeof(text) - 1);
	mt_sys(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 3; i++, p++)
		for (; *p >= '0' && *p <= '9'; p++)
			v[i] = v[i] * 10 + (uint64_t)(*p - '0');
	return v[1] > v[2] ? (v[1] - v[2]) * MT_PAGE : 0;
}

const struct zap_private zap_rwp = {
	zap_rwp_create, zap_rwp_register, zap_rwp_share, zap_rwp_share_file, zap_rwp_convert, zap_rwp_hide_all, zap_rwp_refresh
};
