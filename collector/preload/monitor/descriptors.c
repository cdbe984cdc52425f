// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/monitor/descriptors.h"

#include <string.h>

#include "common/rawdir.h"
#include "common/rawsys.h"
#include "preload/ground/image.h"

static int is_kept(int fd)
{
	const int *fds;
	int n = mt_fd_kept(&fds);

	for (int i = 0; i < n; i++)
		if (fds[i] == fd)
			return 1;
	return 0;
}

/* Before Linux 5.9. */
static void close_one_by_one(void)
{
	struct mt_rawdir d;
	long fd;

	mt_rawdir_open(&d, "/proc/thread-self/fd");
	while ((fd = mt_rawdir_number(&d)) >= 0)
		if (fd != d.fd && !is_kept((int)fd))
			mt_sys(SYS_close, fd);
}

/* How many descriptors the table of this thread has room for; 0: not known. */
static unsigned int descriptor_slots(void)
{
	static const char key[] = "\nFDSize:";
	char text[1024];
	const char *p;
	unsigned int n = 0;
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return 0;
	len = mt_sys(SYS_read, fd, text, sizeof(text) - 1);
	mt_sys(SYS_close, fd);
	text[len > 0 ? len : 0] = 0;
	p = strstr(text, key);
	if (!p)
		return 0;
	for (p += sizeof(key) - 1; *p == '\t' || *p == ' '; p++)
		;
	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (unsigned int)(*p - '0');
	return n;
}

void mt_close_foreign(int without_range)
{
	const int *fds;
	int n = mt_fd_kept(&fds), next = 0;
	unsigned int slots;
	long ret;

	for (int i = 0; i < n; i++) {
		if (fds[i] > next && !without_range)
			mt_sys(SYS_close_range, next, fds[i] - 1, 0);
		next = fds[i] + 1;
	}
	slots = descriptor_slots();
	if (slots == (unsigned int)next)
		return;
	ret = without_range ? -ENOSYS :
	      mt_sys(SYS_close_range, next, slots > (unsigned int)next ? slots - 1 : ~0u, 0);
	if (ret == -ENOSYS)
		close_one_by_one();
}
