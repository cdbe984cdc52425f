// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/monitor/program.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "common/out.h"
#include "common/rawdir.h"
#include "common/rawsys.h"
#include "preload/ground/image.h"

#ifndef PIDFD_GET_INFO
#define PIDFD_GET_INFO 0xc040ff0bul	/* Linux 6.13, with the exit status 6.15; its argument, as long as it was at first: */
#define PIDFD_INFO_EXIT 8ul
struct pidfd_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#endif

/* The status that a zombie has left in its file in /proc, -1: it is none. */
static int zombie_status(const char *path)
{
	const long fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	char buf[1024], *p;
	int field, status = 0;
	long n;

	n = fd < 0 ? 0 : mt_sys(SYS_read, fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		mt_sys(SYS_close, fd);
	buf[n > 0 ? n : 0] = 0;
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || p[2] != 'Z')
		return -1;
	for (p += 2, field = 3; field < 52 && *p; p++)	/* exit_code is field 52 */
		if (*p == ' ')
			field++;
	if (*p < '0' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++)
		status = status * 10 + (*p - '0');
	return status;
}

int mt_has_ended(int pid_fd, int pid)
{
	const struct timespec now = { 0, 0 };
	struct pollfd p = { pid_fd, POLLIN, 0 };

	/* there is none: it had ended before it could be opened, or the kernel has no such descriptors, or had none left */
	if (pid_fd < 0)
		return pid_fd == -ESRCH || mt_sys(SYS_kill, pid, 0) == -ESRCH;
	return mt_sys(SYS_ppoll, &p, 1, &now, 0, 0) == 1 && p.revents & POLLIN;
}

int mt_exit_status(int pid_fd, int pid)
{
	char path[48] = "/proc/", *p = mt_put_u64(path + 6, (uint64_t)pid);
	struct pidfd_info info = { .mask = PIDFD_INFO_EXIT };

	if (!mt_sys(SYS_ioctl, pid_fd, PIDFD_GET_INFO, &info) && info.mask & PIDFD_INFO_EXIT)
		return info.exit_code;
	memcpy(p, "/stat", 6);
	return zombie_status(path);	/* nobody has waited for it yet */
}

int mt_abandoned(int task_fd)
{
	struct stat st;

	if (task_fd < 0 || mt_sys(SYS_fstat, task_fd, &st) || st.st_nlink > 4)
		return -1;
	return zombie_status("/proc/self/stat");
}

int mt_has_memory(int pid)
{
	char path[48] = "/proc/", text[32] = "";
	long fd;

	memcpy(mt_put_u64(path + 6, (uint64_t)pid), "/statm", 7);
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	mt_sys(SYS_read, fd, text, sizeof(text) - 1);
	mt_sys(SYS_close, fd);
	return text[0] > '0' && text[0] <= '9';
}

void mt_note_standstill(const char *image, uint64_t start_ns, uint64_t records, const char *event)
{
	char path[sizeof(((struct mt_image *)0)->path) + 32], text[128];
	const size_t n = strlen(image);
	struct mt_out o;
	long fd;

	memcpy(path, image, n + 1);
	memcpy(path + n, "/" MT_FILE_STANDSTILL, sizeof("/" MT_FILE_STANDSTILL));
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	mt_out_init(&o, (int)fd, text, sizeof(text));
	mt_out_fmt(&o, "Start,End,Records,Event\n%llu,%llu,%llu,%s\n", (unsigned long long)start_ns, (unsigned long long)mt_now_ns(),
		   (unsigned long long)records, event);
	mt_out_flush(&o);
	mt_sys(SYS_close, fd);
}

/* The second number of its schedstat. */
static uint64_t waited(const char *path)
{
	const long fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	char buf[80], *p;
	uint64_t v = 0;
	long n;

	if (fd < 0)
		return 0;
	n = mt_sys(SYS_read, fd, buf, sizeof(buf) - 1);
	mt_sys(SYS_close, fd);
	buf[n > 0 ? n : 0] = 0;
	p = strchr(buf, ' ');
	for (p = p ? p + 1 : buf + (n > 0 ? n : 0); *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

uint64_t mt_waited_since(int pid, uint64_t *last)
{
	char path[64] = "/proc/", *end = mt_put_u64(path + 6, (uint64_t)pid);
	struct mt_rawdir d;
	uint64_t sum = 0, before = *last;
	long tid;

	memcpy(end, "/task/", 7);
	mt_rawdir_open(&d, path);
	for (int k = 0; k < WAITING_TASKS && (tid = mt_rawdir_number(&d)) >= 0; k++) {
		memcpy(mt_put_u64(end + 6, (uint64_t)tid), "/schedstat", 11);
		sum += waited(path);
	}
	mt_rawdir_close(&d);
	*last = sum;
	return sum > before ? sum - before : 0;
}
