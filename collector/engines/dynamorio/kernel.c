// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "engines/dynamorio/kernel.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

#include "count/count.h"
#include "common/rawsys.h"

/* How many bytes an argument points to. */
enum {
	NOTHING,
	BYTES,		/* .n */
	ARGUMENT,	/* argument .n */
	TIMES,		/* argument .n, times 1 << .shift */
	RESULT,		/* as many as the call returned */
	STRING,		/* to its end */
	VECTOR,		/* argument .n buffers, whole */
	VECTOR_RESULT,	/* argument .n buffers, as much as the call returned */
	AT_LENGTH,	/* what the int that argument .n points to says */
	MESSAGE,	/* a struct msghdr */
};

struct part {
	uint8_t arg, write, kind, shift;
	uint16_t n;
};

/* of each: argument, kind, shift, n */
#define R(arg, kind, shift, n) { arg, MT_COUNT_READ, kind, shift, n }
#define W(arg, kind, shift, n) { arg, MT_COUNT_WRITE, kind, shift, n }
#define STR(arg) { arg, MT_COUNT_READ, STRING, 0, 0 }
#define OF(rw, arg, type) { arg, MT_COUNT_##rw, BYTES, 0, sizeof(type) }

static const struct {
	uint16_t nr;
	struct part part[4];
} calls[] = {
#ifdef SYS_open		/* arm64 has only what came later */
	{ SYS_readlink, { STR(0), W(1, RESULT, 0, 0) } },
	{ SYS_open, { STR(0) } },
	{ SYS_access, { STR(0) } },
	{ SYS_stat, { STR(0), OF(WRITE, 1, struct stat) } },
	{ SYS_lstat, { STR(0), OF(WRITE, 1, struct stat) } },
	{ SYS_unlink, { STR(0) } },
	{ SYS_mkdir, { STR(0) } },
	{ SYS_rmdir, { STR(0) } },
	{ SYS_rename, { STR(0), STR(1) } },
	{ SYS_pipe, { OF(WRITE, 0, int[2]) } },
	{ SYS_poll, { R(0, TIMES, 3, 1), W(0, TIMES, 3, 1) } },
#endif
	{ SYS_read, { W(1, RESULT, 0, 0) } },
	{ SYS_write, { R(1, ARGUMENT, 0, 2) } },
	{ SYS_pread64, { W(1, RESULT, 0, 0) } },
	{ SYS_pwrite64, { R(1, ARGUMENT, 0, 2) } },
	{ SYS_readv, { R(1, TIMES, 4, 2), W(1, VECTOR_RESULT, 0, 2) } },
	{ SYS_preadv, { R(1, TIMES, 4, 2), W(1, VECTOR_RESULT, 0, 2) } },
	{ SYS_preadv2, { R(1, TIMES, 4, 2), W(1, VECTOR_RESULT, 0, 2) } },
	{ SYS_writev, { R(1, TIMES, 4, 2), R(1, VECTOR, 0, 2) } },
	{ SYS_pwritev, { R(1, TIMES, 4, 2), R(1, VECTOR, 0, 2) } },
	{ SYS_pwritev2, { R(1, TIMES, 4, 2), R(1, VECTOR, 0, 2) } },
	{ SYS_sendto, { R(1, ARGUMENT, 0, 2), R(4, ARGUMENT, 0, 5) } },
	{ SYS_recvfrom, { W(1, RESULT, 0, 0), W(4, AT_LENGTH, 0, 5) } },
	{ SYS_sendmsg, { OF(READ, 1, struct msghdr), R(1, MESSAGE, 0, 0) } },
	{ SYS_recvmsg, { OF(READ, 1, struct msghdr), W(1, MESSAGE, 0, 0) } },
	{ SYS_connect, { R(1, ARGUMENT, 0, 2) } },
	{ SYS_bind, { R(1, ARGUMENT, 0, 2) } },
	{ SYS_socketpair, { OF(WRITE, 3, int[2]) } },
	{ SYS_getrandom, { W(0, RESULT, 0, 0) } },
	{ SYS_getdents64, { W(1, RESULT, 0, 0) } },
	{ SYS_getcwd, { W(0, RESULT, 0, 0) } },
	{ SYS_readlinkat, { STR(1), W(2, RESULT, 0, 0) } },
	{ SYS_openat, { STR(1) } },
	{ SYS_faccessat, { STR(1) } },
	{ SYS_faccessat2, { STR(1) } },
	{ SYS_fstat, { OF(WRITE, 1, struct stat) } },
	{ SYS_newfstatat, { STR(1), OF(WRITE, 2, struct stat) } },
	{ SYS_statx, { STR(1), W(4, BYTES, 0, 256) } },
	{ SYS_statfs, { STR(0), OF(WRITE, 1, struct statfs) } },
	{ SYS_fstatfs, { OF(WRITE, 1, struct statfs) } },
	{ SYS_unlinkat, { STR(1) } },
	{ SYS_chdir, { STR(0) } },
	{ SYS_pipe2, { OF(WRITE, 0, int[2]) } },
	{ SYS_ppoll, { R(0, TIMES, 3, 1), W(0, TIMES, 3, 1), OF(READ, 2, struct timespec) } },
	{ SYS_epoll_ctl, { OF(READ, 3, struct epoll_event) } },
	{ SYS_uname, { OF(WRITE, 0, struct utsname) } },
	{ SYS_sysinfo, { OF(WRITE, 0, struct sysinfo) } },
	{ SYS_times, { OF(WRITE, 0, struct tms) } },
	{ SYS_getrusage, { OF(WRITE, 1, struct rusage) } },
	{ SYS_prlimit64, { OF(READ, 2, struct rlimit), OF(WRITE, 3, struct rlimit) } },
	{ SYS_getrlimit, { OF(WRITE, 1, struct rlimit) } },
	{ SYS_setrlimit, { OF(READ, 1, struct rlimit) } },
	{ SYS_gettimeofday, { OF(WRITE, 0, struct timeval) } },
	{ SYS_clock_gettime, { OF(WRITE, 1, struct timespec) } },
	{ SYS_clock_getres, { OF(WRITE, 1, struct timespec) } },
	{ SYS_nanosleep, { OF(READ, 0, struct timespec) } },
	{ SYS_clock_nanosleep, { OF(READ, 2, struct timespec) } },
	{ SYS_setitimer, { OF(READ, 1, struct itimerval), OF(WRITE, 2, struct itimerval) } },
	{ SYS_getitimer, { OF(WRITE, 1, struct itimerval) } },
	{ SYS_sched_getaffinity, { W(2, RESULT, 0, 0) } },
	{ SYS_sched_setaffinity, { R(2, ARGUMENT, 0, 1) } },
	{ SYS_rt_sigaction, { R(1, BYTES, 0, 32), W(2, BYTES, 0, 32) } },
	{ SYS_rt_sigprocmask, { R(1, BYTES, 0, 8), W(2, BYTES, 0, 8) } },
	{ SYS_rt_sigpending, { W(0, ARGUMENT, 0, 1) } },
	{ SYS_rt_sigsuspend, { R(0, ARGUMENT, 0, 1) } },
	{ SYS_sigaltstack, { R(0, BYTES, 0, 24), W(1, BYTES, 0, 24) } },
	{ SYS_wait4, { OF(WRITE, 1, int), OF(WRITE, 3, struct rusage) } },
	{ SYS_getsockname, { W(1, AT_LENGTH, 0, 2) } },
	{ SYS_getpeername, { W(1, AT_LENGTH, 0, 2) } },
	{ SYS_accept, { W(1, AT_LENGTH, 0, 2) } },
	{ SYS_accept4, { W(1, AT_LENGTH, 0, 2) } },
	{ SYS_setsockopt, { R(3, ARGUMENT, 0, 4) } },
	{ SYS_getsockopt, { W(3, AT_LENGTH, 0, 4) } },
	{ SYS_futex, { OF(READ, 0, int) } },
};

static uint64_t string_bytes(const char *s)
{
	uint64_t n = 0;

	while (s[n])
		n++;
	return n + 1;
}

/* What is at @p where the kernel was, too; 0 where it was not. */
static uint64_t int_at(uint64_t p)
{
	return p ? *(const unsigned int *)p : 0;
}

struct teller {
	void (*tell)(void *to, uint64_t at, uint64_t bytes, unsigned int write);
	void *to;
};

static void tell_vector(const struct teller *t, uint64_t vector, uint64_t n, uint64_t left, unsigned int write)
{
	const struct iovec *v = (const struct iovec *)vector;

	for (uint64_t i = 0; i < n && left; i++) {
		const uint64_t bytes = v[i].iov_len < left ? v[i].iov_len : left;

		if (bytes)
			t->tell(t->to, (uint64_t)v[i].iov_base, bytes, write);
		left -= bytes;
	}
}

static void tell_part(const struct teller *t, const struct part *p, const uint64_t arg[6], uint64_t result)
{
	const uint64_t at = arg[p->arg];
	uint64_t bytes = 0;

	if (!at)
		return;
	switch (p->kind) {
	case BYTES:
		bytes = p->n;
		break;
	case ARGUMENT:
		bytes = arg[p->n];
		break;
	case TIMES:
		bytes = arg[p->n] << p->shift;
		break;
	case RESULT:
		bytes = result;
		break;
	case STRING:
		bytes = string_bytes((const char *)at);
		break;
	case AT_LENGTH:
		bytes = int_at(arg[p->n]);
		break;
	case VECTOR:
	case VECTOR_RESULT:
		tell_vector(t, at, arg[p->n], p->kind == VECTOR ? ~0ull : result, p->write);
		break;
	case MESSAGE: {
		const struct msghdr *m = (const struct msghdr *)at;

		t->tell(t->to, (uint64_t)m->msg_iov, m->msg_iovlen * sizeof(*m->msg_iov), MT_COUNT_READ);
		tell_vector(t, (uint64_t)m->msg_iov, m->msg_iovlen, p->write ? result : ~0ull, p->write);
		break;
	}
	default:
		break;
	}
	if (bytes)
		t->tell(t->to, at, bytes, p->write);
}

void mt_kernel_accesses(long nr, const uint64_t arg[6], long result,
			void (*tell)(void *to, uint64_t at, uint64_t bytes, unsigned int write), void *to)
{
	const struct teller t = { tell, to };

	if (mt_failed(result))
		return;
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].nr != nr)
			continue;
		for (unsigned int k = 0; k < 4 && calls[i].part[k].kind; k++)
			tell_part(&t, &calls[i].part[k], arg, (uint64_t)result);
		return;
	}
}
