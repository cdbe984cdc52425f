// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * region.c - regions of the program by name: what memtrace_begin() and memtrace_end() of count/api/memtrace.h and memtrace.f90
 * call when the program is recorded. One line of regions.csv for each call (docs/reference/trace-files.md).
 *
 * The file is opened for each line: the program may close any descriptor, change its descriptors, or be a child of fork with
 * a folder of its own. That costs some microseconds, and regions are phases, not iterations. No libc, no lock, no allocation:
 * a line is one write with O_APPEND. What cannot be written is counted, and the monitor, which has descriptors of its own,
 * writes how much that was.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/regions/region.h"
#include "preload/ground/process.h"
#include "common/rawsys.h"

#define LONGEST_NAME 200

static uint32_t lost;		/* lines that could not be written, and of which no line tells yet */

/* Names are longer than nothing, and have no line feeds. */
static size_t quoted(char *to, const char *name)
{
	size_t n = 0;

	to[n++] = '"';
	for (size_t i = 0; name && name[i] && i < LONGEST_NAME; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == '"')
			to[n++] = '"';
		to[n++] = c < ' ' ? ' ' : (char)c;
	}
	to[n++] = '"';
	return n;
}

static size_t number(char *to, uint64_t v)
{
	char digits[24];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (size_t i = 0; i < n; i++)
		to[i] = digits[n - 1 - i];
	return n;
}

static size_t copied(char *to, const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		to[n] = text[n];
	return n;
}

/* A limit on the size of files is the program's: no SIGXFSZ for our file. */
static int room(long fd, size_t n)
{
	struct rlimit limit;
	struct stat st;

	if (mt_sys(SYS_getrlimit, RLIMIT_FSIZE, &limit) || mt_sys(SYS_fstat, fd, &st))
		return 0;
	return limit.rlim_cur == RLIM_INFINITY || (uint64_t)st.st_size + n <= limit.rlim_cur;
}

static long write_all(long fd, const char *text, size_t n)
{
	return room(fd, n) && mt_sys(SYS_write, fd, text, n) == (long)n ? 0 : -1;
}

/* A line of the image's regions.csv; 0, or -1 when it is not written. */
static long put(const char *what, const char *name)
{
	static const char file[] = "/regions.csv", head[] = "Time,TaskId,Event,Name\n";
	char line[2 * LONGEST_NAME + 128], path[sizeof(mt_process.image.path) + sizeof(file)];
	uint64_t now = mt_now_ns();
	size_t n = 0, length = strlen(mt_process.image.path);
	long fd, err;

	memcpy(path, mt_process.image.path, length);
	memcpy(path + length, file, sizeof(file));
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (!mt_failed(fd))
		write_all(fd, head, sizeof(head) - 1);
	else
		fd = mt_sys(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (mt_failed(fd))
		return -1;
	n += number(line + n, now);
	line[n++] = ',';
	n += number(line + n, (uint64_t)mt_gettid());
	line[n++] = ',';
	n += copied(line + n, what);
	line[n++] = ',';
	n += quoted(line + n, name);
	line[n++] = '\n';
	err = write_all(fd, line, n);
	mt_sys(SYS_close, fd);
	return err;
}

static void mark(const char *what, const char *name)
{
	if (!mt_process.image.path[0] || !mt_process_is_own())
		return;		/* not recorded, or not yet */
	if (put(what, name))
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
}

void mt_region_tell_lost(void)
{
	uint32_t n = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	char text[24];

	if (!n)
		return;
	text[number(text, n)] = 0;
	if (put("lost", text))
		__atomic_add_fetch(&lost, n, __ATOMIC_RELAXED);
}

void mt_region_after_fork(void)
{
	lost = 0;
}

#define EXPORTED __attribute__((visibility("default")))

/* Called by name only, through dlsym(). Threads of the program. */
EXPORTED void memtrace_region_begin(const char *name);
EXPORTED void memtrace_region_end(const char *name);

void memtrace_region_begin(const char *name)
{
	mark("begin", name);
}

void memtrace_region_end(const char *name)
{
	mark("end", name);
}
