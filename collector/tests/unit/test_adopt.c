// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/memory/late.c preload/memory/space.c preload/memory/gone.c preload/memory/objects.c preload/memory/contents.c preload/memory/kept.c preload/memory/ranges.c common/maps.c common/rawmem.c common/faultprobe.c common/out.c preload/memory/rwp.c common/rwprotect.c
// includes: preload/memory/adopt.c
/* Memory that is taken away and given back: what it is, what is done to it, and when it is let alone. */
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/memory/adopt.c"
#include "preload/ground/image.h"

#define P MT_PAGE
#define PAGES 16

int mt_fd_keep(int fd)
{
	return fd;
}

void mt_fd_close(int fd)
{
	close(fd);
}

static struct mt_map mapping(const char *path, int prot, int shared)
{
	struct mt_map m = { .start = 0x1000, .end = 0x2000, .prot = prot, .shared = shared, .path_len = strlen(path) };

	strcpy(m.path, path);
	return m;
}

static int kind(const char *path, int prot)
{
	const struct mt_map m = mapping(path, prot, 1);

	return kind_of_shared(&m);
}

static void kinds_of_shared_memory(void)
{
	const int rw = PROT_READ | PROT_WRITE;

	CHECK_EQ(kind("/dev/zero (deleted)", rw), 1);
	CHECK_EQ(kind("/memfd:buffer (deleted)", rw), 1);
	CHECK_EQ(kind("/SYSV00000000 (deleted)", PROT_READ), 1);
	CHECK_EQ(kind("/dev/shm/a", rw), 1);
	CHECK_EQ(kind("/dev/hugepages/a", rw), 1);
	CHECK_EQ(kind("/anon_hugepage (deleted)", rw), 1);
	CHECK_EQ(kind("/memfd:memtrace (deleted)", rw), 0);	/* our own */
	CHECK_EQ(kind("/dev/nvidia0", rw), 0);
	CHECK_EQ(kind("/sys/a", rw), 0);
	CHECK_EQ(kind("/proc/a", rw), 0);
	CHECK_EQ(kind("anon_inode:[perf_event]", rw), 0);
	CHECK_EQ(kind("/home/a.dat", rw), 2);
	CHECK_EQ(kind("/home/a.dat", PROT_READ), 0);		/* nobody writes it */
	CHECK_EQ(kind("/dev/shm/a", rw | PROT_EXEC), 0);
	CHECK_EQ(kind("/dev/shm/a", 0), 0);
}

/* ---- files that are read; without userfaultfd they are not seen */

static int files_work(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = 1 << 12 | 1 << 15 };	/* write protection of shared memory, without messages */
	const long fd = mt_sys(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);

	if (fd < 0 || mt_sys(SYS_ioctl, fd, UFFDIO_API, &api)) {
		puts("skipped: no userfaultfd here that works with files");
		return 0;
	}
	zap_space.uffd = (int)fd;
	zap_space.files_too = zap_space.active = 1;
	return 1;
}

static int make_file(int how)
{
	char path[] = "/tmp/memtrace-adopt.XXXXXX";
	const int fd = mkstemp(path), again = open(path, how);
	char page[P];

	unlink(path);
	for (int i = 0; i < PAGES; i++) {
		memset(page, i + 1, sizeof(page));
		CHECK_EQ(write(fd, page, sizeof(page)), sizeof(page));
	}
	close(fd);
	return again;
}

/* As the hook of mmap(). */
static char *map(int prot, int flags, int fd)
{
	const long at = mt_sys(SYS_mmap, 0, PAGES * P, prot, flags, fd, 0);

	CHECK(!mt_failed(at));
	CHECK_EQ(zap_adopt((uint64_t)at, PAGES * P, prot, flags, fd, 0), at);
	return (char *)at;
}

static int is_in(const struct zap_regions *s, const char *p, int from, int to)
{
	return zap_regions_cover(s, (uint64_t)p + (uint64_t)from * P, (uint64_t)p + (uint64_t)to * P);
}

static void forget(char *p)
{
	mt_sys(SYS_munmap, p, PAGES * P);
	zap_unshare((uint64_t)p, PAGES * P);
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p, (uint64_t)p + PAGES * P));
	CHECK(!zap_regions_overlap(&zap_space.files, (uint64_t)p, (uint64_t)p + PAGES * P));
	CHECK(!zap_regions_overlap(&zap_space.lent, (uint64_t)p, (uint64_t)p + PAGES * P));
}

static void which_are_adopted(void)
{
	const int reading = make_file(O_RDONLY), writing = make_file(O_RDWR), rw = PROT_READ | PROT_WRITE;
	const struct {
		int prot, flags, fd, shared, files, lent;
	} mapping[] = {
		{ PROT_READ, MAP_PRIVATE, reading, 1, 1, 0 },
		{ PROT_READ, MAP_PRIVATE, writing, 1, 1, 0 },
		{ PROT_READ, MAP_SHARED, reading, 1, 1, 1 },	/* a private one is in its place */
		{ PROT_READ, MAP_SHARED | MAP_POPULATE, reading, 1, 1, 1 },
		{ PROT_READ, MAP_SHARED, writing, 1, 0, 0 },
		{ rw, MAP_SHARED, writing, 1, 0, 0 },
		{ rw, MAP_PRIVATE, writing, 0, 0, 0 },		/* pages of its own from the first write on */
		{ PROT_READ | PROT_EXEC, MAP_PRIVATE, reading, 0, 0, 0 },
		{ PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(mapping) / sizeof(mapping[0]); i++) {
		char *p = map(mapping[i].prot, mapping[i].flags, mapping[i].fd);

		CHECK_EQ(is_in(&zap_space.shared, p, 0, PAGES), mapping[i].shared);
		CHECK_EQ(is_in(&zap_space.files, p, 0, PAGES), mapping[i].files);
		CHECK_EQ(is_in(&zap_space.lent, p, 0, PAGES), mapping[i].lent);
		if (mapping[i].fd == reading || mapping[i].fd == writing)
			CHECK_EQ(p[3 * P + 7], 4);
		forget(p);
	}
	close(reading);
	close(writing);
}

/* From the call on that lets somebody write to it nothing of it is taken away. */
static void let_alone_before_it_is_written(void)
{
	const int fd = make_file(O_RDONLY);
	char *p = map(PROT_READ, MAP_PRIVATE, fd), *q = map(PROT_READ, MAP_SHARED, fd);

	CHECK_EQ(mt_sys(SYS_munmap, p + 12 * P, P), 0);
	zap_unshare((uint64_t)p + 12 * P, P);
	CHECK_EQ(zap_protect((uint64_t)p, 2 * P, PROT_NONE, -1), 0);
	CHECK_EQ(zap_protect((uint64_t)p, 2 * P, PROT_READ, -1), 0);
	CHECK(is_in(&zap_space.files, p, 0, 12));
	CHECK_EQ(zap_protect((uint64_t)p + 4 * P, 2 * P, PROT_READ | PROT_WRITE, -1), 0);
	CHECK(is_in(&zap_space.files, p, 0, 4) && is_in(&zap_space.files, p, 6, 12));
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p + 4 * P, (uint64_t)p + 6 * P));
	p[4 * P] = 99;
	/* read-only again, it has pages of its own */
	CHECK_EQ(zap_protect((uint64_t)p + 4 * P, 2 * P, PROT_READ, -1), 0);
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p + 4 * P, (uint64_t)p + 6 * P));
	zap_unmap_shared();
	CHECK_EQ(p[4 * P], 99);
	CHECK_EQ(zap_protect((uint64_t)q, PAGES * P, PROT_READ | PROT_WRITE, -1), -EACCES);
	CHECK_EQ(zap_protect((uint64_t)q + 3 * P, P, PROT_WRITE, -1), -EACCES);
	CHECK_EQ(zap_protect((uint64_t)q + 1, P, PROT_WRITE, -1), -EINVAL);
	CHECK(is_in(&zap_space.files, q, 0, PAGES));
	CHECK_EQ(zap_protect((uint64_t)q, P, PROT_READ | PROT_EXEC, -1), 0);
	CHECK(!is_in(&zap_space.files, q, 0, 1) && is_in(&zap_space.files, q, 1, PAGES));
	CHECK_EQ(zap_protect((uint64_t)q, P, PROT_READ | PROT_WRITE, -1), -EACCES);
	forget(q);
	/* a call that fails may have changed a part */
	CHECK_EQ(zap_protect((uint64_t)p + 8 * P, 6 * P, PROT_READ | PROT_WRITE, -1), -ENOMEM);
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p + 8 * P, (uint64_t)p + 14 * P));
	forget(p);
	close(fd);
}

static void moved(void)
{
	const int fd = make_file(O_RDONLY);
	char *p = map(PROT_READ, MAP_PRIVATE, fd), *to;

	CHECK_EQ(zap_protect((uint64_t)p, P, PROT_READ | PROT_WRITE, -1), 0);
	to = (char *)mt_sys(SYS_mremap, p + P, 8 * P, 8 * P, 1 | 4 /* MAYMOVE, DONTUNMAP */, 0);
	CHECK(!mt_failed((long)to));
	zap_adopt_moved((uint64_t)p + P, 8 * P, (uint64_t)to, 8 * P);
	CHECK(is_in(&zap_space.files, to, 0, 8) && !zap_regions_overlap(&zap_space.files, (uint64_t)p + P, (uint64_t)p + 9 * P));
	zap_unshare((uint64_t)to, 8 * P);
	/* in part somebody may have written to it: not known, so not looked at */
	zap_adopt_moved((uint64_t)p, PAGES * P, (uint64_t)p, PAGES * P);
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p, (uint64_t)p + PAGES * P));
	forget(p);
	close(fd);
}

/* As the kernel has it: what a hook does not see. */
static void refreshed(void)
{
	const int fd = make_file(O_RDONLY);
	char *p = map(PROT_READ, MAP_PRIVATE, fd), *q = map(PROT_READ, MAP_SHARED, fd);
	struct mt_maps maps = { 0 };
	struct mt_map m;

	mt_sys(SYS_mprotect, p + 4 * P, 2 * P, PROT_READ | PROT_WRITE);
	mt_sys(SYS_mmap, q, P, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK_EQ(mt_maps_read_self(&maps), 0);
	refresh_begin();
	while (mt_maps_next(&maps, &m))
		refresh_adopted(&m);
	CHECK(is_in(&zap_space.files, p, 0, 4) && is_in(&zap_space.shared, p, 6, PAGES));
	CHECK(!zap_regions_overlap(&zap_space.shared, (uint64_t)p + 4 * P, (uint64_t)p + 6 * P));
	CHECK(is_in(&zap_space.files, q, 1, PAGES) && !zap_regions_contain(&zap_space.files, (uint64_t)q));
	CHECK(is_in(&zap_space.lent, q, 1, PAGES) && !zap_regions_contain(&zap_space.lent, (uint64_t)q));
	mt_maps_free(&maps);
	forget(p);
	forget(q);
	close(fd);
}

int main(void)
{
	kinds_of_shared_memory();
	if (files_work()) {
		which_are_adopted();
		let_alone_before_it_is_written();
		moved();
		refreshed();
	}
	return mt_test_done();
}
