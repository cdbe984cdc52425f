// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/memory/kept.h"

#include <linux/falloc.h>
#include <sys/resource.h>

#include "common/rawsys.h"
#include "preload/memory/ranges.h"

#define KEPT_MOST (16ul << 20)
#define KEPT_RANGES 512
#define UNTOUCHED_RANGES 1024

static struct zap_regions kept, untouched;
static char zeroes[64 << 10];	/* never written to, so all of it is one page of the kernel */

static long punch(int fd, uint64_t addr, uint64_t len)
{
	return mt_sys(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, addr, len);
}

int zap_files_reach(uint64_t bytes)
{
	struct rlimit rl = { 0, 0 };

	mt_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &rl);
	return rl.rlim_cur >= bytes;
}

/* ---- pages that are there, and that nobody has touched */

int zap_has_untouched(uint64_t start, uint64_t end)
{
	return untouched.n && zap_regions_overlap(&untouched, start, end);
}

/* What is in too many pieces is taken for touched. */
void zap_touched(uint64_t start, uint64_t end)
{
	if (untouched.n && (zap_regions_remove(&untouched, start, end) || untouched.n > UNTOUCHED_RANGES))
		zap_regions_clear(&untouched);
}

void zap_look_at_untouched(void)
{
	uint64_t entry[64], at;
	long fd, n;

	if (!untouched.n)
		return;
	fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	at = untouched.r[0].start;
	for (;;) {
		const size_t i = zap_regions_find(&untouched, at);
		uint64_t pages;

		if (i == untouched.n)
			break;
		if (at < untouched.r[i].start)
			at = untouched.r[i].start;
		pages = (untouched.r[i].end - at) / MT_PAGE;
		n = mt_sys(SYS_pread64, fd, entry, (pages > 64 ? 64 : pages) * 8, at / MT_PAGE * 8) / 8;
		if (n <= 0)
			break;
		for (long k = 0; k < n; k++)
			if (entry[k] >> 63)
				zap_touched(at + (uint64_t)k * MT_PAGE, at + (uint64_t)(k + 1) * MT_PAGE);
		at += (uint64_t)n * MT_PAGE;
	}
	mt_sys(SYS_close, fd);
}

void zap_untouched_copied(uint64_t to, uint64_t from, uint64_t len)
{
	for (size_t i = zap_regions_find(&untouched, from); i < untouched.n && untouched.r[i].start < from + len; i++) {
		const struct zap_range r = untouched.r[i];

		zap_regions_add(&untouched, to + ((r.start > from ? r.start : from) - from), to + ((r.end < from + len ? r.end : from + len) - from));
		i = zap_regions_find(&untouched, r.start);
	}
}

/* ---- pages of what was unmapped */

int zap_keep(uint64_t addr, uint64_t len)
{
	zap_touched(addr, addr + len);
	return kept.n < KEPT_RANGES && len <= KEPT_MOST && zap_regions_bytes(&kept) + len <= KEPT_MOST &&
	       !zap_regions_add(&kept, addr, addr + len);
}

/* The pages that the file has in [at, end). 0 or negative errno: some may be left. */
static long overwrite(int fd, uint64_t at, uint64_t end)
{
	while (at < end) {
		const long data = mt_sys(SYS_lseek, fd, at, 3 /* SEEK_DATA */);
		long hole;

		if (data == -ENXIO || (data >= 0 && (uint64_t)data >= end))
			return 0;
		hole = data < 0 ? data : mt_sys(SYS_lseek, fd, data, 4 /* SEEK_HOLE */);
		if (hole < 0)
			return hole;
		if ((uint64_t)hole > end)
			hole = (long)end;
		for (at = (uint64_t)data; at < (uint64_t)hole;) {
			const uint64_t left = (uint64_t)hole - at;
			const long n = mt_sys(SYS_pwrite64, fd, zeroes, left < sizeof(zeroes) ? left : sizeof(zeroes), at);

			if (n <= 0 && n != -EINTR)
				return n ? n : -EIO;
			at += n > 0 ? (uint64_t)n : 0;
		}
		if (zap_regions_add(&untouched, (uint64_t)data, (uint64_t)hole))
			return -ENOMEM;
	}
	return 0;
}

long zap_make_zero(int fd, uint64_t addr, uint64_t len)
{
	const uint64_t end = addr + len;
	const int may_write = untouched.n < UNTOUCHED_RANGES / 2 && zap_regions_overlap(&kept, addr, end) && zap_files_reach(end);
	uint64_t at = addr;
	long ret = 0;

	zap_touched(addr, end);
	while (may_write && !ret && at < end) {
		const size_t i = zap_regions_find(&kept, at);
		const int is_kept = i < kept.n && kept.r[i].start <= at;
		uint64_t to = i == kept.n ? end : is_kept ? kept.r[i].end : kept.r[i].start;

		if (to > end)
			to = end;
		ret = is_kept ? overwrite(fd, at, to) : punch(fd, at, to - at);
		at = to;
	}
	if (!may_write || ret) {
		ret = punch(fd, addr, len);
		zap_touched(addr, end);
	}
	/* without room for two ranges in the place of one */
	if (zap_regions_remove(&kept, addr, end))
		zap_drop_kept(fd);
	return ret;
}

void zap_drop_kept(int fd)
{
	for (size_t i = 0; i < kept.n; i++)
		punch(fd, kept.r[i].start, kept.r[i].end - kept.r[i].start);
	zap_forget_kept();
}

void zap_forget_kept(void)
{
	zap_regions_clear(&kept);
}
