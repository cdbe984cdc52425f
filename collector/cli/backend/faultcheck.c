/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/backend/faultcheck.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/arch.h"
#include "common/clonesite.h"
#include "common/faultprobe.h"
#include "common/settings.h"
#include "cli/base/util.h"

#define note mt_probe_note

/* linux/fs.h of 6.7; older headers lack it */
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, anyof, result;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)

enum mt_works mt_check_preload(const struct mt_probe *p, struct mt_backend_probe *b)
{
	struct mt_clone_site sites[MT_SITES];
	const char *why;

	if (!p->preload)
		return note(b, "preload", MT_NO, "libmemtrace-preload.so is not beside this program");
	if (strpbrk(p->preload, " :"))
		return note(b, "preload", MT_NO,
			    "the path of libmemtrace-preload.so has a blank or a colon, which LD_PRELOAD cannot express");
	/* what the library replaces in the program, whose C library is nearly always that of this one */
	if ((!dlsym(RTLD_DEFAULT, "_Fork") || mt_without(getenv(MT_VARIABLE(MEMTRACE_WITHOUT))) & MT_WITHOUT_FORK) && !mt_clone_sites(sites, &why))
		return note(b, "preload", MT_NO, "%s", why);
	return note(b, "preload", MT_YES, "%s", p->preload);
}

enum mt_works mt_check_pagemap(struct mt_backend_probe *b)
{
	struct { uint64_t start, end, cat; } out[4];
	char *m = mmap(NULL, 8 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	enum mt_works w;
	uint64_t e = 0;

	if (fd < 0 || m == MAP_FAILED) {
		w = note(b, "pagemap", MT_NO, "/proc/self/pagemap: %s", strerror(errno));
	} else {
		struct scan_arg a = { .size = sizeof(a), .start = (uintptr_t)m,
			.end = (uintptr_t)m + 8 * MT_PAGE, .vec = (uintptr_t)out, .vec_len = 4,
			.mask = 8, .result = 8 };

		m[0] = 1;
		if (ioctl(fd, SCAN_IOCTL, &a) == 1)
			w = note(b, "pagemap", MT_YES, "PAGEMAP_SCAN");
		else if (pread(fd, &e, 8, (off_t)((uintptr_t)m / MT_PAGE * 8)) == 8 && e >> 63)
			w = note(b, "pagemap", MT_PARTLY,
				 "no PAGEMAP_SCAN (Linux 6.7): pages are read one by one, which costs more");
		else
			w = note(b, "pagemap", MT_NO, "the page table cannot be read");
	}
	if (fd >= 0)
		close(fd);
	if (m != MAP_FAILED)
		munmap(m, 8 * MT_PAGE);
	return w;
}

int mt_open_fault_event(bool kernel)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			PERF_SAMPLE_CPU;
	a.exclude_kernel = !kernel;
	a.exclude_hv = 1;
	a.disabled = 1;
	a.inherit = 1;
	a.use_clockid = 1;
	a.clockid = 1;	/* CLOCK_MONOTONIC */
	return (int)syscall(SYS_perf_event_open, &a, 0, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

enum mt_works mt_check_perf(struct mt_backend_probe *b, char **fix)
{
	char *paranoid = mt_read_line("/proc/sys/kernel/perf_event_paranoid");
	enum mt_works w = MT_NO;
	int fd, err;
	void *m;

	fd = mt_open_fault_event(true);
	if (fd >= 0)
		b->found |= FOUND_PERF_KERNEL;
	if (fd < 0)
		fd = mt_open_fault_event(false);
	if (fd < 0) {
		err = errno;
		if ((err == EACCES || err == EPERM) && paranoid && atoi(paranoid) > 2) {
			w = note(b, "perf", MT_NO,
				 "page-fault events are refused: kernel.perf_event_paranoid is %s",
				 paranoid);
			*fix = mt_strdup("sysctl kernel.perf_event_paranoid=2");
		} else if (err == EACCES || err == EPERM) {
			w = note(b, "perf", MT_NO,
				 "page-fault events are refused (%s), probably by the container",
				 strerror(err));
			*fix = mt_strdup("docker run --security-opt seccomp=unconfined ...");
		} else {
			w = note(b, "perf", MT_NO, "page-fault events do not work: %s", strerror(err));
		}
		goto out;
	}
	m = mmap(NULL, 9 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED) {
		w = note(b, "perf", MT_NO, "the ring buffer cannot be mapped: %s", strerror(errno));
		*fix = mt_strdup("sysctl kernel.perf_event_mlock_kb=4096");
	} else {
		b->found |= FOUND_PERF;
		w = note(b, "perf", MT_YES, (b->found & FOUND_PERF_KERNEL) ?
			 "page-fault events, those of system calls included" :
			 "page-fault events of user code (those of system calls need root or kernel.perf_event_paranoid <= 1)");
		munmap(m, 9 * MT_PAGE);
	}
	close(fd);
out:
	free(paranoid);
	return w;
}

const char *mt_page_words(void)
{
	switch (MT_PAGE) {
	case 16384: return "page of 16 KiB";
	case 65536: return "page of 64 KiB";
	default: return "page";
	}
}
