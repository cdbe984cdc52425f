/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * log.c - buffered lines of context.log.
 *
 * Lines go into one of CTX_SHARDS buffers (by thread) and from there into the
 * file by one write with O_APPEND, so that threads rarely wait for each other.
 * The order of lines in the file is therefore not the order of events; each
 * event carries its time. A line ends with ';' LF: a line without it was torn
 * by a full disk or a kill, and the reader drops it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx.h"
#include "lib/rawsys.h"

#define BUF_SIZE 65536u
#define FD_HIGH 900		/* away from the numbers that programs count on */

struct shard {
	_Alignas(64) _Atomic int lock;
	size_t used;
	char *buf;
};

static struct shard *shards;
static int log_fd = -1;
static dev_t log_dev;
static ino_t log_ino;
static char log_path[4200];
static _Atomic int torn;	/* the last write was cut: begin with LF */

static long open_high(const char *path, int flags)
{
	long fd = mt_sys6(SYS_openat, AT_FDCWD, (long)path, flags, 0644, 0, 0), hi;

	if (fd < 0 || fd >= FD_HIGH)
		return fd;
	hi = mt_sys6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FD_HIGH, 0, 0, 0);
	if (hi < 0)	/* small RLIMIT_NOFILE */
		hi = mt_sys6(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 100, 0, 0, 0);
	if (hi < 0)
		return fd;
	mt_sys6(SYS_close, fd, 0, 0, 0, 0, 0);
	return hi;
}

/*
 * The program may close or reuse any descriptor. Never write into a file that
 * is not ours: look at the inode first, and open our file again when the
 * number was taken away.
 */
static int checked_fd(void)
{
	struct stat st;
	long fd;

	if (log_fd >= 0 && mt_sys6(SYS_fstat, log_fd, (long)&st, 0, 0, 0, 0) == 0 &&
	    st.st_ino == log_ino && st.st_dev == log_dev)
		return log_fd;
	log_fd = -1;
	if (!log_path[0])
		return -1;
	fd = open_high(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (mt_sys6(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) || st.st_ino != log_ino ||
	    st.st_dev != log_dev) {
		mt_sys6(SYS_close, fd, 0, 0, 0, 0, 0);
		return -1;
	}
	log_fd = (int)fd;
	return log_fd;
}

bool ctx_log_open(int dirfd, const char *dirpath)
{
	static const char name[] = "/context.log";
	struct stat st;
	size_t n = 0;
	long fd;

	(void)dirfd;
	while (dirpath[n] && n < sizeof(log_path) - sizeof(name)) {
		log_path[n] = dirpath[n];
		n++;
	}
	for (size_t i = 0; i < sizeof(name); i++)
		log_path[n + i] = name[i];
	if (!shards) {
		struct shard *s = ctx_map(sizeof(*s) * CTX_SHARDS);

		if (!s)
			return false;
		for (int i = 0; i < CTX_SHARDS; i++) {
			s[i].buf = ctx_map(BUF_SIZE);
			if (!s[i].buf)
				return false;
		}
		shards = s;
	}
	fd = open_high(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC);
	if (fd < 0 || mt_sys6(SYS_fstat, fd, (long)&st, 0, 0, 0, 0)) {
		log_path[0] = 0;
		return false;
	}
	log_fd = (int)fd;
	log_dev = st.st_dev;
	log_ino = st.st_ino;
	atomic_store(&torn, 0);
	return true;
}

/* Caller holds the lock of s. */
static void flush_shard(struct shard *s)
{
	size_t done = 0;
	int fd;

	if (!s->used)
		return;
	fd = checked_fd();
	if (fd >= 0 && atomic_exchange(&torn, 0))
		mt_sys6(SYS_write, fd, (long)"\n", 1, 0, 0, 0);
	while (fd >= 0 && done < s->used) {
		long r = mt_sys6(SYS_write, fd, (long)(s->buf + done),
				 (long)(s->used - done), 0, 0, 0);

		if (r == -4 /* EINTR */)
			continue;
		if (r <= 0)
			break;
		done += (size_t)r;
	}
	if (done < s->used) {
		atomic_fetch_add(&ctx_lost_write, s->used - done);
		if (done)
			atomic_store(&torn, 1);
	}
	s->used = 0;
}

/* Called by the monitor at each interval, and at the end. */
void ctx_log_flush(void)
{
	if (!shards)
		return;
	for (int i = 0; i < CTX_SHARDS; i++) {
		if (!shards[i].used || !ctx_lock(&shards[i].lock))
			continue;
		flush_shard(&shards[i]);
		ctx_unlock(&shards[i].lock);
	}
}

void ctx_log_lock_all(void)
{
	for (int i = 0; shards && i < CTX_SHARDS; i++)
		ctx_lock(&shards[i].lock);
}

void ctx_log_unlock_all(void)
{
	for (int i = 0; shards && i < CTX_SHARDS; i++)
		ctx_unlock(&shards[i].lock);
}

void ctx_log_drop(void)
{
	for (int i = 0; shards && i < CTX_SHARDS; i++)
		shards[i].used = 0;
	if (log_fd >= 0 && checked_fd() >= 0)
		mt_sys6(SYS_close, log_fd, 0, 0, 0, 0, 0);
	log_fd = -1;
	log_path[0] = 0;
}

void ctx_line_begin(struct ctx_line *l, char kind)
{
	l->b[0] = kind;
	l->n = 1;
}

/* Room for one more number and the end of the line. */
static bool room(const struct ctx_line *l, size_t n)
{
	return l->n + n + 4 < sizeof(l->b);
}

void ctx_line_dec(struct ctx_line *l, uint64_t v)
{
	char t[20];
	int n = 0;

	if (!room(l, 21))
		return;
	do {
		t[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	l->b[l->n++] = ' ';
	while (n)
		l->b[l->n++] = t[--n];
}

void ctx_line_int(struct ctx_line *l, int64_t v)
{
	if (v >= 0) {
		ctx_line_dec(l, (uint64_t)v);
	} else if (room(l, 22)) {
		size_t at = l->n;

		ctx_line_dec(l, (uint64_t)-v);
		for (size_t i = l->n; i > at + 1; i--)
			l->b[i] = l->b[i - 1];
		l->b[at + 1] = '-';
		l->n++;
	}
}

void ctx_line_hex(struct ctx_line *l, uint64_t v)
{
	int digits = v ? (67 - __builtin_clzll(v)) / 4 : 1;

	if (!room(l, 17))
		return;
	l->b[l->n++] = ' ';
	while (digits--)
		l->b[l->n++] = "0123456789abcdef"[(v >> (4 * digits)) & 15];
}

void ctx_line_str(struct ctx_line *l, const char *s)
{
	if (!room(l, 4))
		return;
	l->b[l->n++] = ' ';
	if (!*s)
		l->b[l->n++] = '-';
	for (; *s && room(l, 3); s++) {
		unsigned char c = (unsigned char)*s;

		if (c > ' ' && c < 127 && c != '%' && c != ';') {
			l->b[l->n++] = (char)c;
		} else {
			l->b[l->n++] = '%';
			l->b[l->n++] = "0123456789abcdef"[c >> 4];
			l->b[l->n++] = "0123456789abcdef"[c & 15];
		}
	}
}

void ctx_line_put(struct ctx_line *l, unsigned int shard)
{
	struct shard *s;

	if (!shards)
		return;
	l->b[l->n++] = ';';
	l->b[l->n++] = '\n';
	s = &shards[shard & (CTX_SHARDS - 1)];
	if (!ctx_lock(&s->lock)) {
		atomic_fetch_add(&ctx_lost_write, l->n);
		return;
	}
	if (s->used + l->n > BUF_SIZE)
		flush_shard(s);
	__builtin_memcpy(s->buf + s->used, l->b, l->n);
	s->used += l->n;
	ctx_unlock(&s->lock);
}

void ctx_line_end(struct ctx_line *l)
{
	struct ctx_thread *t = ctx_self;

	ctx_line_put(l, t ? (unsigned int)t->tid : 0);
}
