// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "common/maps.h"

#include <string.h>
#include <sys/ioctl.h>

#include "common/rawsys.h"

int mt_maps_open(void)
{
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	return (int)fd;
}

int mt_maps_read(struct mt_maps *m, int fd)
{
	m->len = 0;
	m->at = NULL;
	for (;;) {
		long n;

		if (m->cap - m->len < 8192) {
			size_t cap = m->cap ? m->cap * 2 : 256 << 10;
			char *text = mt_rawmap(cap);

			if (!text)
				return -ENOMEM;
			if (m->text) {
				memcpy(text, m->text, m->len);
				mt_rawunmap(m->text, m->cap);
			}
			m->text = text;
			m->cap = cap;
		}
		n = mt_sys(SYS_pread64, fd, m->text + m->len, m->cap - m->len - 1, m->len);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		m->len += (size_t)n;
	}
	m->text[m->len] = 0;
	m->at = m->text;
	return 0;
}

int mt_maps_read_self(struct mt_maps *m)
{
	int fd = mt_maps_open(), err;

	if (fd < 0)
		return fd;
	err = mt_maps_read(m, fd);
	mt_sys(SYS_close, fd);
	return err;
}

/* PROCMAP_QUERY of linux/fs.h (6.11) */
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_bytes, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct query)
#define QUERY_READ 1
#define QUERY_WRITE 2
#define QUERY_EXEC 4
#define QUERY_SHARED 8

int mt_map_at(uint64_t addr, struct mt_map *map)
{
	struct query q = { .size = sizeof(q), .addr = addr };
	const int fd = mt_maps_open();
	long ret;

	if (fd < 0)
		return fd;
	ret = mt_sys(SYS_ioctl, fd, QUERY, &q);
	mt_sys(SYS_close, fd);
	if (ret)
		return ret == -ENOENT ? 0 : (int)ret;
	*map = (struct mt_map){ .start = q.start, .end = q.end, .offset = q.offset, .ino = q.inode, .major = q.major, .minor = q.minor };
	map->prot = (q.vma_flags & QUERY_READ ? PROT_READ : 0) | (q.vma_flags & QUERY_WRITE ? PROT_WRITE : 0) |
		    (q.vma_flags & QUERY_EXEC ? PROT_EXEC : 0);
	map->shared = (q.vma_flags & QUERY_SHARED) != 0;
	return 1;
}

void mt_maps_rewind(struct mt_maps *m)
{
	m->at = m->text;
}

void mt_maps_free(struct mt_maps *m)
{
	if (m->text)
		mt_rawunmap(m->text, m->cap);
	memset(m, 0, sizeof(*m));
}

static int number(const char **p, unsigned base, char stop, uint64_t *v)
{
	const char *s = *p;

	for (*v = 0; *s != stop; s++) {
		unsigned d;

		if (*s >= '0' && *s <= '9')
			d = (unsigned)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			d = (unsigned)(*s - 'a') + 10;
		else
			return 0;
		if (d >= base)
			return 0;
		*v = *v * base + d;
	}
	*p = s + 1;
	return 1;
}

/* 7f0000000000-7f0000001000 rw-p 00000000 00:01 1234      /path */
static int parse(const char *p, const char *end, struct mt_map *m)
{
	uint64_t major, minor;
	size_t n;

	if (!number(&p, 16, '-', &m->start) || !number(&p, 16, ' ', &m->end))
		return 0;
	if (end - p < 5)
		return 0;
	m->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) | (p[2] == 'x' ? PROT_EXEC : 0);
	m->shared = p[3] == 's';
	p += 5;
	if (!number(&p, 16, ' ', &m->offset) || !number(&p, 16, ':', &major) || !number(&p, 16, ' ', &minor))
		return 0;
	m->major = (uint32_t)major;
	m->minor = (uint32_t)minor;
	for (m->ino = 0; p < end && *p >= '0' && *p <= '9'; p++)
		m->ino = m->ino * 10 + (uint64_t)(*p - '0');
	while (p < end && *p == ' ')
		p++;
	m->path_len = (size_t)(end - p);
	n = m->path_len < sizeof(m->path) ? m->path_len : sizeof(m->path) - 1;
	memcpy(m->path, p, n);
	m->path[n] = 0;
	return 1;
}

int mt_maps_next(struct mt_maps *m, struct mt_map *map)
{
	while (m->at && *m->at) {
		const char *line = m->at, *end = memchr(line, '\n', (size_t)(m->text + m->len - line));

		if (!end)
			return 0;
		m->at = end + 1;
		if (parse(line, end, map))
			return 1;
	}
	return 0;
}
