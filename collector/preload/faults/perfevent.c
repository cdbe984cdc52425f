// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/faults/perfevent.h"

#include <linux/perf_event.h>
#include <time.h>

#include "common/rawsys.h"

#define FORMAT_LOST 16u		/* PERF_FORMAT_LOST, which older headers do not have */

int zap_possible_cpus(void)
{
	char buf[256];
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : mt_sys(SYS_read, fd, buf, sizeof(buf) - 1);
	int last = 0, v = 0;

	if (fd >= 0)
		mt_sys(SYS_close, fd);
	if (n <= 0)
		return 1024;
	for (long i = 0; i < n; i++) {
		if (buf[i] >= '0' && buf[i] <= '9')
			last = v = v * 10 + (buf[i] - '0');
		else
			v = 0;
	}
	return last + 1;
}

int64_t zap_perf_event_lost(int fd)
{
	uint64_t v[2];		/* count, lost */

	return mt_sys(SYS_read, fd, v, sizeof(v)) == sizeof(v) ? (int64_t)v[1] : -1;
}

long zap_perf_event(struct perf_event_attr *a, int tid, int cpu, int *counts_lost)
{
	long fd;

	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	a->exclude_hv = 1;
	a->inherit = 1;
	a->inherit_thread = 1;
	a->remove_on_exec = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->watermark = 1;
	a->read_format = *counts_lost ? FORMAT_LOST : 0;
	fd = mt_sys(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -EINVAL && *counts_lost) {
		*counts_lost = 0;
		a->read_format = 0;	/* kernels before 6.0 */
		fd = mt_sys(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd == -EINVAL || fd == -E2BIG) {
		a->inherit_thread = a->remove_on_exec = 0;	/* kernels before 5.13 */
		fd = mt_sys(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}
