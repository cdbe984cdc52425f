// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * wrap.c - functions of the C library that access memory which the program names, and system
 * calls that let the kernel do it: the linker (--wrap) leads the program's calls here. Each is
 * done first; what it accessed is counted as ranges. The Makefile makes the linker's list of the
 * lines that begin with WRAP. Nothing here calls a function that is wrapped.
 */
#include "count/hooks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#define HIDDEN __attribute__((visibility("hidden")))
/* @back: in a function of WRAP, or handed on by one */
#define R(p, bytes) mt_hook_range(p, bytes, MT_COUNT_READ, back)
#define W(p, bytes) mt_hook_range(p, bytes, MT_COUNT_WRITE, back)

/* type and name of a function, its parameters, its arguments, and what it accessed with the result r */
#define WRAP(type, name, parameters, arguments, ...)			\
	__attribute__((visibility("default"))) type __real_##name parameters;	\
	__attribute__((visibility("hidden"))) type __wrap_##name parameters;	\
	type __wrap_##name parameters					\
	{								\
		const void *back = __builtin_extract_return_addr(__builtin_return_address(0));	\
		type r = __real_##name arguments;			\
		const int err = errno;					\
									\
		__VA_ARGS__						\
		errno = err;						\
		return r;						\
	}

/* Was this copy, or filling with @from NULL, counted before the compiler called for it? */
static bool is_counted(const void *to, const void *from, size_t bytes)
{
	const struct mt_hook_copy last = mt_hook_copy;

	if (!last.bytes)
		return false;
	mt_hook_copy.bytes = 0;
	return last.write == to && last.bytes == bytes && (!from || last.read == from);
}

/* memory. The range is counted from the arguments, so that it is right when both overlap */
WRAP(void *, memcpy, (void *d, const void *s, size_t n), (d, s, n),
	if (!is_counted(d, s, n)) {
		R(s, n);
		W(d, n);
	}
)
WRAP(void *, memmove, (void *d, const void *s, size_t n), (d, s, n), R(s, n); W(d, n);)
WRAP(void *, mempcpy, (void *d, const void *s, size_t n), (d, s, n), R(s, n); W(d, n);)
WRAP(void *, memset, (void *d, int c, size_t n), (d, c, n),
	if (!is_counted(d, NULL, n))
		W(d, n);
)
WRAP(void *, __memcpy_chk, (void *d, const void *s, size_t n, size_t room), (d, s, n, room), R(s, n); W(d, n);)
WRAP(void *, __memmove_chk, (void *d, const void *s, size_t n, size_t room), (d, s, n, room), R(s, n); W(d, n);)
WRAP(void *, __memset_chk, (void *d, int c, size_t n, size_t room), (d, c, n, room), W(d, n);)

/* Two ranges up to their first difference, as the result depends on that only; @r: there is one. */
static void difference(const char *a, const char *b, size_t n, int r, const void *back)
{
	size_t same = 0;

	if (!r)
		same = n;
	else
		while (same < n && a[same] == b[same])
			same++;
	same += r != 0;
	R(a, same);
	R(b, same);
}

WRAP(int, bcmp, (const void *a, const void *b, size_t n), (a, b, n), difference(a, b, n, r, back);)
WRAP(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n), difference(a, b, n, r, back);)
WRAP(void *, memchr, (const void *s, int c, size_t n), (s, c, n), R(s, r ? (size_t)((char *)r - (char *)s) + 1 : n);)

/* strings, the 0 at the end included */
WRAP(size_t, strlen, (const char *s), (s), R(s, r + 1);)
WRAP(char *, strcpy, (char *d, const char *s), (d, s),
	const size_t n = __real_strlen(s) + 1;

	R(s, n);
	W(d, n);
)
WRAP(char *, strncpy, (char *d, const char *s, size_t n), (d, s, n),
	size_t have = 0;

	while (have < n && s[have++])
		;
	R(s, have);
	W(d, n);
)

/* the kernel reads and writes for the thread that calls */
WRAP(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), if (r > 0) W(p, (size_t)r);)
WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), if (r > 0) R(p, (size_t)r);)
WRAP(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), if (r > 0) W(p, (size_t)r);)
WRAP(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), if (r > 0) R(p, (size_t)r);)
WRAP(ssize_t, pread64, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), if (r > 0) W(p, (size_t)r);)
WRAP(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), if (r > 0) R(p, (size_t)r);)
WRAP(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags),
     if (r > 0) W(p, (size_t)r < n ? (size_t)r : n);)
WRAP(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), if (r > 0) R(p, (size_t)r);)

static void vector(const struct iovec *v, int n, size_t bytes, unsigned int write, const void *back)
{
	R(v, (size_t)n * sizeof(*v));
	for (int i = 0; i < n && bytes; i++) {
		const size_t here = v[i].iov_len < bytes ? v[i].iov_len : bytes;

		mt_hook_range(v[i].iov_base, here, write, back);
		bytes -= here;
	}
}

WRAP(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), if (r >= 0) vector(v, n, (size_t)r, MT_COUNT_WRITE, back);)
WRAP(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), if (r >= 0) vector(v, n, (size_t)r, MT_COUNT_READ, back);)
WRAP(size_t, fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), W(p, size * r);)
WRAP(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), R(p, size * r);)

/* What newer versions of clang call for copies of any kind. */
#define CLANG(name, parameters, arguments)			\
	HIDDEN void *__tsan_##name parameters;			\
	void *__tsan_##name parameters				\
	{							\
		return __wrap_##name arguments;			\
	}
CLANG(memcpy, (void *d, const void *s, size_t n), (d, s, n))
CLANG(memmove, (void *d, const void *s, size_t n), (d, s, n))
CLANG(memset, (void *d, int c, size_t n), (d, c, n))
