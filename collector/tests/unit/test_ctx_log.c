// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/log.c preload/context/sys.c common/rawmem.c
/* Lines of context.log: formatting, flushing, a descriptor that was taken away. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/context/ctx.h"
#include "harness.h"
#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "preload/ground/quiet.h"

_Atomic uint64_t ctx_lost_lock, ctx_lost_write, ctx_lost_memory;
__thread struct ctx_thread *ctx_self;

void mt_quiet_hurry(void) { }

int mt_fd_keep(int fd)
{
	return fd;
}

int mt_fd_keep_high(int fd)
{
	return fd;
}

int mt_fd_own(int fd)
{
	return fd;
}

void mt_fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int opened = -1;

int mt_image_open(const struct mt_image *img, const char *name)
{
	opened = openat(img->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
	return opened;
}

static char *contents(const char *path)
{
	static char b[1 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, b, sizeof(b) - 1);

	b[n > 0 ? n : 0] = 0;
	close(fd);
	return b;
}

int main(void)
{
	char dir[] = "/tmp/mt-log-XXXXXX", path[64], other[64];
	static struct mt_image img;
	struct ctx_line l;
	int fd;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(img.path, sizeof(img.path), "%s", dir);
	snprintf(path, sizeof(path), "%s/context.log", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	img.dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	CHECK(ctx_log_open(&img));

	ctx_line_begin(&l, 'A');
	ctx_line_dec(&l, 0);
	ctx_line_dec(&l, UINT64_MAX);
	ctx_line_int(&l, -1);
	ctx_line_int(&l, INT64_MIN);
	ctx_line_hex(&l, 0);
	ctx_line_hex(&l, 0x10);
	ctx_line_hex(&l, UINT64_MAX);
	ctx_line_str(&l, "");
	ctx_line_str(&l, "a b;c%\n\xff");
	ctx_line_put(&l, 3);
	CHECK_STR(contents(path), "");		/* buffered */
	ctx_log_flush(true);
	CHECK_STR(contents(path), "A 0 18446744073709551615 -1 -9223372036854775808 0 10 "
				  "ffffffffffffffff - a%20b%3bc%25%0a%ff;\n");

	/* a long string is cut, the line is whole */
	{
		char longer[3000], *text;

		memset(longer, 'x', sizeof(longer) - 1);
		longer[sizeof(longer) - 1] = 0;
		ctx_line_begin(&l, 'O');
		ctx_line_str(&l, longer);
		ctx_line_hex(&l, 5);
		ctx_line_put(&l, 0);
		ctx_log_flush(true);
		text = contents(path);
		CHECK(strlen(text) < 2000);
		CHECK_STR(text + strlen(text) - 3, "x;\n");
	}

	/* the program closes our descriptor and opens a file of its own there */
	truncate(path, 0);
	fd = opened;
	close(fd);
	CHECK_EQ(dup2(open(other, O_WRONLY | O_CREAT | O_TRUNC, 0644), fd), fd);
	ctx_line_begin(&l, 'E');
	ctx_line_dec(&l, 7);
	ctx_line_end(&l);
	ctx_log_flush(false);
	CHECK_STR(contents(other), "");
	CHECK_STR(contents(path), "E 7;\n");
	CHECK_EQ(atomic_load(&ctx_lost_write), 0);

	/* the file is gone for good: counted, not written elsewhere */
	ctx_log_drop();
	ctx_line_begin(&l, 'E');
	ctx_line_dec(&l, 8);
	ctx_line_end(&l);
	ctx_log_flush(false);
	CHECK_EQ(atomic_load(&ctx_lost_write), 5);
	CHECK_STR(contents(path), "E 7;\n");

	unlink(path);
	unlink(other);
	rmdir(dir);
	return mt_test_done();
}
