// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: engines/dynamorio/kernel.c
/* What system calls access of the program's memory, against what they are known to do. */
#include "engines/dynamorio/kernel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "harness.h"

static struct {
	uint64_t at, bytes;
	unsigned int write;
} seen[16];
static unsigned int n;

static void tell(void *to, uint64_t at, uint64_t bytes, unsigned int write)
{
	CHECK(to == seen);
	if (n < 16) {
		seen[n].at = at;
		seen[n].bytes = bytes;
		seen[n].write = write;
	}
	n++;
}

static void call(long nr, long result, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t arg[6] = { a, b, c, d, e, f };

	n = 0;
	mt_kernel_accesses(nr, arg, result, tell, seen);
}

static void expect(unsigned int i, const void *at, uint64_t bytes, unsigned int write)
{
	CHECK(i < n && seen[i].at == (uint64_t)at && seen[i].bytes == bytes && seen[i].write == write);
}

int main(void)
{
	static char a[100], b[200], path[] = "/tmp/x";
	struct iovec v[2] = { { a, 100 }, { b, 200 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	uint32_t length = 16;

	call(SYS_read, 40, 3, (uint64_t)a, 100, 0, 0, 0);
	CHECK_EQ(n, 1);
	expect(0, a, 40, 1);
	call(SYS_read, 0, 3, (uint64_t)a, 100, 0, 0, 0);
	CHECK_EQ(n, 0);
	call(SYS_read, -EBADF, 3, (uint64_t)a, 100, 0, 0, 0);
	CHECK_EQ(n, 0);
	call(SYS_write, 40, 1, (uint64_t)a, 100, 0, 0, 0);
	CHECK_EQ(n, 1);
	expect(0, a, 100, 0);
	/* 130 bytes into buffers of 100 and 200 */
	call(SYS_readv, 130, 3, (uint64_t)v, 2, 0, 0, 0);
	CHECK_EQ(n, 3);
	expect(0, v, sizeof(v), 0);
	expect(1, a, 100, 1);
	expect(2, b, 30, 1);
	call(SYS_writev, 130, 3, (uint64_t)v, 2, 0, 0, 0);
	CHECK_EQ(n, 3);
	expect(2, b, 200, 0);
	call(SYS_recvmsg, 101, 3, (uint64_t)&m, 0, 0, 0, 0);
	CHECK_EQ(n, 4);
	expect(0, &m, sizeof(m), 0);
	expect(1, v, sizeof(v), 0);
	expect(2, a, 100, 1);
	expect(3, b, 1, 1);
	call(SYS_openat, 5, 0, (uint64_t)path, 0, 0, 0, 0);
	CHECK_EQ(n, 1);
	expect(0, path, 7, 0);
	call(SYS_newfstatat, 0, 0, (uint64_t)path, (uint64_t)b, 0, 0, 0);
	CHECK_EQ(n, 2);
	expect(1, b, sizeof(struct stat), 1);
	call(SYS_accept, 4, 3, (uint64_t)a, (uint64_t)&length, 0, 0, 0);
	CHECK_EQ(n, 1);
	expect(0, a, 16, 1);
	/* nobody's address */
	call(SYS_accept, 4, 3, 0, 0, 0, 0, 0);
	CHECK_EQ(n, 0);
	call(SYS_rt_sigprocmask, 0, 0, 0, (uint64_t)a, 8, 0, 0);
	CHECK_EQ(n, 1);
	expect(0, a, 8, 1);
#ifdef SYS_poll
	call(SYS_poll, 1, (uint64_t)b, 3, 0, 0, 0, 0);
	CHECK_EQ(n, 2);
	expect(0, b, 24, 0);
	expect(1, b, 24, 1);
#endif
	call(SYS_getpid, 1, (uint64_t)a, (uint64_t)a, (uint64_t)a, 0, 0, 0);
	CHECK_EQ(n, 0);
	return mt_test_done();
}
