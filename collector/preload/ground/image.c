// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/ground/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/rawsys.h"

#define PARENT_VAR MT_VARIABLE(MEMTRACE_PARENT_IMAGE)
/* wide enough to be rewritten in place by every child: sign and nine digits */
#define PARENT_WIDTH 10

extern char **environ;

/* ---- descriptors */

#define MAX_KEPT 32
static int kept[MAX_KEPT];
static struct {
	uint64_t dev, ino;
} kept_id[MAX_KEPT];		/* what they were: the program may put other files there */
static int nkept;

static int hiding;

void mt_fd_hide(int yes)
{
	hiding = yes;
}

#define MAX_HIDDEN_ABOVE 4096	/* the table of descriptors is as long as the highest one */

/*
 * A copy at @from or above. A new image has numbers in the list that were the parent's, and are still to be closed by mt_fd_close(): one
 * that is free (the parent's was the program's to close) is no number for a file of the image.
 */
static long copy_from(int fd, long from)
{
	for (;;) {
		const long high = mt_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
		int i;

		for (i = 0; i < nkept && kept[i] != high; i++)
			;
		if (!hiding || high < 0 || i == nkept)
			return high;
		mt_sys(SYS_close, high);
		from = high + 1;
	}
}

/* A copy above the soft limit, where no number of the program is. Negative errno: the hard one does not allow it. */
static long keep_above(int fd, const struct rlimit *rl)
{
	struct rlimit lifted = { rl->rlim_cur + 2 * MAX_KEPT, rl->rlim_max };
	long high;

	if (!hiding || rl->rlim_cur > MAX_HIDDEN_ABOVE || lifted.rlim_cur > rl->rlim_max ||
	    mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, &lifted, 0))
		return -EMFILE;
	high = copy_from(fd, (long)rl->rlim_cur);
	mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, rl, 0);
	return high;
}

/* A copy at a high number. -EMFILE: there is none above @fd. */
static long raise_number(int fd)
{
	struct rlimit rl = { 1024, 1024 };
	long high, base;

	mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &rl);
	base = rl.rlim_cur > 1024 ? 1024 : (long)rl.rlim_cur;
	base -= base / 2 < 2 * MAX_KEPT ? base / 2 : 2 * MAX_KEPT;
	high = keep_above(fd, &rl);
	for (; base > fd && high < 0; base /= 2)
		high = copy_from(fd, base);
	return high < 0 ? -EMFILE : high;
}

static void note_kept(int high)
{
	struct stat st = { 0 };
	int i;

	mt_sys(SYS_fstat, high, &st);
	for (i = 0; i < nkept && kept[i] < high; i++)
		;
	/* a number that the program had closed comes back: the old entry is stale */
	if (i == nkept || kept[i] != high) {
		for (int j = nkept++; j > i; j--) {
			kept[j] = kept[j - 1];
			kept_id[j] = kept_id[j - 1];
		}
	}
	kept[i] = high;
	kept_id[i].dev = st.st_dev;
	kept_id[i].ino = st.st_ino;
}

int mt_fd_keep(int fd)
{
	long high = -EMFILE;

	if (nkept < MAX_KEPT) {
		high = raise_number(fd);
		if (high < 0) {	/* hardly any descriptors allowed: it stays where it is */
			note_kept(fd);
			return fd;
		}
		note_kept((int)high);
	}
	mt_sys(SYS_close, fd);
	return (int)high;
}

int mt_fd_keep_high(int fd)
{
	const long high = nkept < MAX_KEPT ? raise_number(fd) : -EMFILE;

	if (high < 0)
		return -EMFILE;
	if (high < 2 * MAX_KEPT) {	/* a program with so few wants all of them */
		mt_sys(SYS_close, high);
		return -EMFILE;
	}
	note_kept((int)high);
	mt_sys(SYS_close, fd);
	return (int)high;
}

void mt_fd_close(int fd)
{
	struct stat st;
	int i;

	if (fd < 0)
		return;
	for (i = 0; i < nkept && kept[i] != fd; i++)
		;
	if (i == nkept)
		return;
	if (!mt_sys(SYS_fstat, fd, &st) && st.st_dev == kept_id[i].dev && st.st_ino == kept_id[i].ino)
		mt_sys(SYS_close, fd);
	nkept--;
	for (; i < nkept; i++) {
		kept[i] = kept[i + 1];
		kept_id[i] = kept_id[i + 1];
	}
}

int mt_fd_own(int fd)
{
	struct stat st;
	int i;

	for (i = 0; i < nkept && kept[i] != fd; i++)
		;
	return i < nkept && !mt_sys(SYS_fstat, fd, &st) && st.st_dev == kept_id[i].dev && st.st_ino == kept_id[i].ino ? fd : -1;
}

int mt_fd_kept(const int **fds)
{
	*fds = kept;
	return nkept;
}

int mt_image_open(const struct mt_image *img, const char *name)
{
	long fd = mt_sys(SYS_openat, img->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);

	return fd < 0 ? (int)fd : mt_fd_keep((int)fd);
}

/* ---- the directory */

#define IMAGES_MAX 1000000

/* The path of the image with this number. @n: bytes of the path of the trace. */
static const char *name_image(struct mt_image *img, size_t n, int i)
{
	unsigned v = (unsigned)i, width = 1000;
	char *p = img->path + n;

	while (v / width >= 10)
		width *= 10;
	*p++ = '/';
	*p++ = 'p';
	for (; width; width /= 10)
		*p++ = (char)('0' + v / width % 10);
	*p = 0;
	return img->path;
}

/*
 * A number behind all that are there: numbers are given in their order, so that few looks find the last one. Where some are missing, or
 * others make images meanwhile, it may be taken.
 */
static int number_behind(struct mt_image *img, size_t n, int last)
{
	struct stat st;
	int step = 1;

	while (last + step < IMAGES_MAX && !mt_sys(SYS_newfstatat, AT_FDCWD, name_image(img, n, last + step), &st, 0)) {
		last += step;
		step *= 2;
	}
	for (step /= 2; step; step /= 2)
		if (last + step < IMAGES_MAX && !mt_sys(SYS_newfstatat, AT_FDCWD, name_image(img, n, last + step), &st, 0))
			last += step;
	return last + 1;
}

int mt_image_create(struct mt_image *img, const struct mt_config *c, int parent, const char *how)
{
	size_t n = strlen(c->dir);
	long ret;
	int i;

	memset(img, 0, sizeof(*img));
	memcpy(img->path, c->dir, n);
	for (i = parent + 1; ; i++) {
		if (i >= IMAGES_MAX)
			return -ENOSPC;
		ret = mt_sys_mkdir(name_image(img, n, i), 0755);
		if (ret != -EEXIST)
			break;
		if (i == parent + 1)
			i = number_behind(img, n, i) - 1;
	}
	if (ret < 0)
		return (int)ret;
	ret = mt_sys(SYS_openat, AT_FDCWD, img->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (ret < 0) {
		mt_sys_rmdir(img->path);
		return (int)ret;
	}
	img->dirfd = mt_fd_keep((int)ret);
	if (img->dirfd < 0) {
		mt_sys_rmdir(img->path);
		return img->dirfd;
	}
	img->index = i;
	img->pid = mt_getpid();
	img->parent = parent;
	img->how = how;
	img->start_ns = mt_now_ns();
	img->config = c;
	return 0;
}

/* Reads a whole small file; returns the bytes, terminated by NUL, or negative errno. */
static long slurp(const char *path, char *buf, size_t cap)
{
	long fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), n = 0, k;

	if (fd < 0)
		return fd;
	while ((size_t)n < cap - 1 && (k = mt_sys(SYS_read, fd, buf + n, cap - 1 - (size_t)n)) > 0)
		n += k;
	mt_sys(SYS_close, fd);
	buf[n] = 0;
	return n;
}

int mt_image_describe(const struct mt_image *img, const char *backend, const char *message)
{
	const size_t cap = 256 << 10;
	char *mem = mt_rawmap(2 * cap), *args = mem + cap;
	char exe[4097];
	struct stat st;
	struct mt_out o;
	long fd, n, i;
	int err;

	if (!mem)
		return -ENOMEM;
	fd = mt_sys(SYS_openat, img->dirfd, MT_FILE_IMAGE ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		mt_rawunmap(mem, 2 * cap);
		return (int)fd;
	}
	mt_out_init(&o, (int)fd, mem, cap);
	n = mt_sys_readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	mt_out_fmt(&o, "{\"index\": %d, \"pid\": %d, \"parent\": %d, \"how\": \"%s\",\n \"executable\": ",
		   img->index, img->pid, img->parent, img->how);
	mt_out_json(&o, exe);
	mt_out_str(&o, ",\n \"arguments\": [");
	n = slurp("/proc/self/cmdline", args, cap);
	for (i = 0; i < n; i += (long)strlen(args + i) + 1) {
		if (i)
			mt_out_str(&o, ", ");
		mt_out_json(&o, args + i);
	}
	mt_out_fmt(&o, "],\n \"start_ns\": %llu, \"backend\": \"%s\",\n \"backend_message\": ",
		   (unsigned long long)img->start_ns, backend);
	mt_out_json(&o, message);
	/* the launcher leaves out what this thread of ours does */
	if (img->config->library == MT_LIBRARY_LEAVES_IT && img->monitor_tid)
		mt_out_fmt(&o, ",\n \"monitor_tid\": %d", img->monitor_tid);
	/* the launcher waits for it, and does not take it for a process of the program */
	if (img->monitor_pid)
		mt_out_fmt(&o, ",\n \"monitor_pid\": %d, \"monitor_ns\": %llu", img->monitor_pid, (unsigned long long)img->monitor_ns);
	/* in which the pid is meant: sandboxes and containers have one of their own */
	if (!mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0))
		mt_out_fmt(&o, ",\n \"pid_namespace\": %llu", (unsigned long long)st.st_ino);
	mt_out_fmt(&o, ",\n \"page_size_bytes\": %d}\n", (int)MT_PAGE);
	err = mt_out_flush(&o);
	mt_sys(SYS_close, fd);
	if (!err && !o.lost_bytes)
		err = (int)mt_sys(SYS_renameat, img->dirfd, MT_FILE_IMAGE ".new", img->dirfd, MT_FILE_IMAGE);
	mt_rawunmap(mem, 2 * cap);
	return err;
}

int mt_image_save_maps(const struct mt_image *img, const char *name)
{
	char buf[4096];
	long in, out, n, err = 0;

	in = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (in < 0)
		return (int)in;
	out = mt_sys(SYS_openat, img->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out < 0) {
		mt_sys(SYS_close, in);
		return (int)out;
	}
	while (err >= 0 && (n = mt_sys(SYS_read, in, buf, sizeof(buf))) > 0)
		err = mt_sys(SYS_write, out, buf, n);
	mt_sys(SYS_close, in);
	mt_sys(SYS_close, out);
	return err < 0 ? (int)err : 0;
}

/*
 * The launcher sets the variable with PARENT_WIDTH characters; it is rewritten in
 * place: no allocation, and the program's environment stays where it is. Without
 * that room it is set with setenv(), which only a constructor may do.
 */
void mt_image_export(const struct mt_image *img, int constructor)
{
	const size_t nl = strlen(PARENT_VAR);
	unsigned v = (unsigned)img->index;
	char digits[PARENT_WIDTH + 1];
	int i;

	for (i = PARENT_WIDTH - 1; i >= 0; i--, v /= 10)
		digits[i] = (char)('0' + v % 10);
	digits[PARENT_WIDTH] = 0;
	for (char **e = environ; e && *e; e++) {
		if (strncmp(*e, PARENT_VAR, nl) || (*e)[nl] != '=')
			continue;
		if (strlen(*e + nl + 1) == PARENT_WIDTH) {
			memcpy(*e + nl + 1, digits, PARENT_WIDTH);
			return;
		}
	}
	if (constructor)
		setenv(PARENT_VAR, digits, 1);
}
