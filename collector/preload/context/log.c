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
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/context/ctx.h"
#include "preload/ground/image.h"
#include "preload/ground/quiet.h"
#include "common/rawsys.h"
#include "common/tracenames.h"

#define BUF_SIZE 65536u
#define STALE_NS 500000000ull	/* without a monitor the threads flush */

struct shard {
	_Alignas(64) _Atomic int lock;
	size_t used;
	uint64_t flushed;
	char *buf;
};

static struct shard *shards;
/*
 * The file has two descriptors: the monitor has a descriptor table of its own,
 * in which kept_fd stays valid; the threads of the program use own_fd, which
 * the program may close.
 */
static int kept_fd = -1, own_fd = -1;
static dev_t log_dev;
static ino_t log_ino;
static char log_path[4300];
static _Atomic int torn;	/* the last write was cut: begin with LF */
static bool waits;		/* for a file */

/*
 * The program may close or reuse any descriptor. Never write into a file that
 * is not ours: look at the inode first, and open our file again when the
 * number was taken away; @for_now: close it after the write.
 */
static int program_fd(bool *for_now)
{
	struct stat st;
	long fd;
	int high;

	if (own_fd >= 0 && mt_sys(SYS_fstat, own_fd, &st) == 0 &&
	    st.st_ino == log_ino && st.st_dev == log_dev)
		return own_fd;
	own_fd = -1;
	if (!log_path[0])
		return -1;
	/* the lowest number for an instant, then a high one */
	fd = mt_sys(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (mt_sys(SYS_fstat, fd, &st) || st.st_ino != log_ino || st.st_dev != log_dev) {
		mt_sys(SYS_close, fd);
		return -1;
	}
	high = mt_fd_keep_high((int)fd);
	if (high < 0) {	/* the program gets the number back after the write */
		*for_now = true;
		return (int)fd;
	}
	own_fd = high;
	return own_fd;
}

/* constructor or fork. */
bool ctx_log_open(const struct mt_image *img)
{
	static const char name[] = "/" MT_FILE_CONTEXT;
	struct stat st;
	size_t n = 0;

	while (img->path[n] && n < sizeof(log_path) - sizeof(name)) {
		log_path[n] = img->path[n];
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
	kept_fd = own_fd = mt_image_open(img, name + 1);
	if (kept_fd < 0 || mt_sys(SYS_fstat, kept_fd, &st)) {
		log_path[0] = 0;
		kept_fd = own_fd = -1;
		return false;
	}
	log_dev = st.st_dev;
	log_ino = st.st_ino;
	atomic_store(&torn, 0);
	waits = false;
	return true;
}

void ctx_log_wait(void)
{
	waits = true;
}

bool ctx_log_waits(void)
{
	return waits;
}

/*
 * Beyond RLIMIT_FSIZE a write raises SIGXFSZ, which would end the program for
 * our sake: hold it back, and take it away again when it was ours.
 */
static long write_quietly(int fd, const char *p, size_t n)
{
	uint64_t xfsz = 1ull << (SIGXFSZ - 1), old = 0, before = 0;
	struct timespec none = { 0, 0 };
	long r;

	mt_sys(SYS_rt_sigprocmask, SIG_BLOCK, &xfsz, &old, 8);
	mt_sys(SYS_rt_sigpending, &before, 8);
	r = mt_sys(SYS_write, fd, p, n);
	if (r == -EFBIG && !(before & xfsz))
		mt_sys(SYS_rt_sigtimedwait, &xfsz, 0, &none, 8);
	mt_restore_signals(old);
	return r;
}

/* Caller holds the lock of s. */
static void flush_shard(struct shard *s, bool monitor)
{
	size_t done = 0;
	bool for_now = false;
	int fd, use;

	s->flushed = ctx_now();
	if (!s->used || (waits && s->used + sizeof(((struct ctx_line *)0)->b) <= BUF_SIZE))
		return;
	use = fd = monitor ? kept_fd : program_fd(&for_now);
	if (use >= 0 && atomic_load(&torn)) {
		if (write_quietly(use, "\n", 1) == 1)
			atomic_store(&torn, 0);
		else
			use = -1;
	}
	while (use >= 0 && done < s->used) {
		long r = write_quietly(use, s->buf + done, s->used - done);

		if (r == -EINTR)
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
	if (for_now)
		mt_sys(SYS_close, fd);
	s->used = 0;
}

void ctx_log_flush(bool monitor)
{
	if (!shards)
		return;
	for (int i = 0; i < CTX_SHARDS; i++) {
		if (!shards[i].used || !ctx_lock(&shards[i].lock))
			continue;
		flush_shard(&shards[i], monitor);
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

/* The child's descriptors are the parent's until the new file is opened. */
void ctx_log_drop(void)
{
	for (int i = 0; shards && i < CTX_SHARDS; i++)
		shards[i].used = 0;
	mt_fd_close(mt_fd_own(own_fd));	/* else the number is the program's now */
	kept_fd = own_fd = -1;
	log_path[0] = 0;
	waits = false;
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
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
				    "525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	char t[20];
	int at = sizeof(t);

	if (!room(l, 21))
		return;
	while (v >= 100) {
		at -= 2;
		__builtin_memcpy(t + at, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		__builtin_memcpy(t + at, pairs + 2 * v, 2);
	} else {
		t[--at] = (char)('0' + v);
	}
	l->b[l->n++] = ' ';
	while (at < (int)sizeof(t))
		l->b[l->n++] = t[at++];
}

void ctx_line_int(struct ctx_line *l, int64_t v)
{
	if (v >= 0) {
		ctx_line_dec(l, (uint64_t)v);
	} else if (room(l, 22)) {
		size_t at = l->n;

		ctx_line_dec(l, -(uint64_t)v);
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

static void put_line(struct ctx_line *l, unsigned int shard, bool monitor)
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
		flush_shard(s, monitor);
	__builtin_memcpy(s->buf + s->used, l->b, l->n);
	s->used += l->n;
	if (waits && s->used > BUF_SIZE / 2)
		mt_quiet_hurry();
	if (!monitor && (int64_t)(ctx_now_coarse() - s->flushed) > (int64_t)STALE_NS)
		flush_shard(s, false);
	ctx_unlock(&s->lock);
}

void ctx_line_put(struct ctx_line *l, unsigned int shard)
{
	put_line(l, shard, true);
}

void ctx_line_put_by(struct ctx_line *l, unsigned int shard, bool monitor)
{
	put_line(l, shard, monitor);
}

void ctx_line_end(struct ctx_line *l)
{
	struct ctx_thread *t = ctx_self;

	put_line(l, t ? (unsigned int)t->tid : 0, false);
}
