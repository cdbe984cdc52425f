/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* backend_zap.c - page faults of unmapped pages, by the preload library (preload/zap). Here is only whether it can work. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch.h"
#include "backend.h"
#include "clonesite.h"
#include "faultprobe.h"
#include "util.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
/*
 * UFFD_FEATURE_RWP and UFFD_FEATURE_RWP_ASYNC of Linux 7.2: each access to a protected page faults, and the kernel takes the
 * protection away. No header here has them.
 */
#define RWP_FEATURES (1u << 17 | 1u << 18)
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* linux/fs.h of 6.7; older headers lack it */
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, anyof, result;
};
#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)

/* bits of mt_backend_probe.found */
#define FOUND_PERF 1u		/* faults are attributed to threads */
#define FOUND_PERF_KERNEL 2u	/* accesses of the kernel too */
#define FOUND_GROUPS 4u		/* reads are seen in groups of pages */
#define FOUND_FIRST_ONLY 8u	/* a write after a read is not seen */
#define GROUP_SHIFT 16		/* pages of such a group are in the bits from here on */
/* at least a page: the kernel rounds it up */
#define EXACT_READS "echo 4096 | sudo tee /sys/kernel/debug/fault_around_bytes"

#define note mt_probe_note

static enum mt_works probe_preload(const struct mt_probe *p, struct mt_backend_probe *b)
{
	struct mt_clone_site sites[MT_SITES];
	const char *why;

	if (!p->preload)
		return note(b, "preload", MT_NO, "libmemtrace-preload.so is not beside this program");
	if (strpbrk(p->preload, " :"))
		return note(b, "preload", MT_NO,
			    "the path of libmemtrace-preload.so has a blank or a colon, which LD_PRELOAD cannot express");
	/* what the library replaces in the program, whose C library is nearly always that of this one */
	if ((!dlsym(RTLD_DEFAULT, "_Fork") || mt_without(getenv("MEMTRACE_WITHOUT")) & MT_WITHOUT_FORK) && !mt_clone_sites(sites, &why))
		return note(b, "preload", MT_NO, "%s", why);
	return note(b, "preload", MT_YES, "%s", p->preload);
}

/*
 * ftruncate() obeys RLIMIT_FSIZE and sends SIGXFSZ beyond it: with the soft limit
 * lifted, as the library in the program does it, and without the signal.
 */
static int grow_memfd(int fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct rlimit old, lifted;
	int ret, err;

	sigaction(SIGXFSZ, &ignore, &before);
	getrlimit(RLIMIT_FSIZE, &old);
	lifted = old;
	lifted.rlim_cur = lifted.rlim_max;
	setrlimit(RLIMIT_FSIZE, &lifted);
	ret = ftruncate(fd, 1ll << MT_ADDRESS_BITS);
	err = errno;
	setrlimit(RLIMIT_FSIZE, &old);
	sigaction(SIGXFSZ, &before, NULL);
	errno = err;
	return ret;
}

/*
 * Without userfaultfd: what do faults on shared memory do here? Any answer will do, but what it is
 * must be known.
 */
static enum mt_works probe_faults(struct mt_backend_probe *b, int memfd, unsigned int without, char **fix)
{
	struct mt_fault_traits t;

	if (mt_fault_probe(memfd, 0, without, &t))
		return note(b, "faults", MT_NO, "the page table cannot be read");
	b->found |= t.around << GROUP_SHIFT;
	b->found |= (t.around > 1 ? FOUND_GROUPS : 0) | (t.writes_fault ? 0 : FOUND_FIRST_ONLY);
	if (t.around > 1 && !*fix)
		*fix = mt_strdup(EXACT_READS);
	if (t.around == 1 && t.writes_fault)
		return note(b, "faults", MT_YES, "a read maps one page, a write after it faults again");
	return note(b, "faults", MT_PARTLY, "%s%s%s", t.around > 1 ?
		    "a read maps a group of pages, so that some of them may not have been touched" : "a read maps one page",
		    t.around > 1 && t.writes_fault ? "; the first write to each page faults" : "",
		    t.writes_fault ? "" : "; a write after a read of the same page does not fault (no CONFIG_MEM_SOFT_DIRTY)");
}

/* memfd, userfaultfd with write protection of shared memory, or what faults do without it */
static enum mt_works probe_memory(struct mt_backend_probe *b, char **fix)
{
	const unsigned int without = mt_without(getenv("MEMTRACE_WITHOUT"));
	int fd = memfd_create("memtrace-probe", MFD_CLOEXEC), uffd, err;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg;
	void *m;
	enum mt_works w = MT_NO;

	if (fd < 0 || grow_memfd(fd)) {
		err = errno;
		w = note(b, "memfd", MT_NO, "a sparse memory file of %d TiB is refused: %s",
			 1 << (MT_ADDRESS_BITS - 40), strerror(err));
		if (err == EFBIG)	/* the hard limit: only a shell that begins without it, or root, helps */
			*fix = mt_strdup("sudo prlimit --fsize=unlimited --pid $$");
		if (fd >= 0)
			close(fd);
		return w;
	}
	note(b, "memfd", MT_YES, "sparse memory file of %d TiB", 1 << (MT_ADDRESS_BITS - 40));
	m = mmap(NULL, 4 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (uffd < 0 && errno == EINVAL)	/* before 5.11 */
		uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (m == MAP_FAILED || uffd < 0) {
		err = errno;
		note(b, "userfaultfd", MT_PARTLY, "userfaultfd is refused: %s", strerror(err));
		if (err == EPERM || err == EACCES)
			*fix = mt_strdup("docker run --security-opt seccomp=unconfined ...");
		w = probe_faults(b, fd, without, fix);
		goto out;
	}
	if (without & MT_WITHOUT_USERFAULTFD || ioctl(uffd, UFFDIO_API, &api) ||
	    !(api.features & UFFD_FEATURE_WP_HUGETLBFS_SHMEM)) {
		note(b, "userfaultfd", MT_PARTLY,
		     without & MT_WITHOUT_USERFAULTFD ? "not asked for (MEMTRACE_WITHOUT)" :
		     "this kernel cannot write-protect shared memory with userfaultfd (Linux 5.19)");
		w = probe_faults(b, fd, without, fix);
		goto out;
	}
	reg = (struct uffdio_register){ .range = { (uint64_t)(uintptr_t)m, 4 * MT_PAGE },
					.mode = UFFDIO_REGISTER_MODE_WP };
	if (ioctl(uffd, UFFDIO_REGISTER, &reg)) {
		note(b, "userfaultfd", MT_NO, "memory cannot be registered: %s", strerror(errno));
		goto out;
	}
	w = note(b, "userfaultfd", MT_YES, "user mode, write protection of shared memory%s",
		 (api.features & RWP_FEATURES) == RWP_FEATURES ? "; this kernel has read-write protection, which is not used yet" : "");
out:
	if (uffd >= 0)
		close(uffd);
	if (m != MAP_FAILED)
		munmap(m, 4 * MT_PAGE);
	close(fd);
	return w;
}

static enum mt_works probe_pagemap(struct mt_backend_probe *b)
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

static int open_perf(bool kernel)
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

static enum mt_works probe_perf(struct mt_backend_probe *b, char **fix)
{
	char *paranoid = mt_read_line("/proc/sys/kernel/perf_event_paranoid");
	enum mt_works w = MT_NO;
	int fd, err;
	void *m;

	fd = open_perf(true);
	if (fd >= 0)
		b->found |= FOUND_PERF_KERNEL;
	if (fd < 0)
		fd = open_perf(false);
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

/* What a page is, where it is not what nearly everybody has. */
static const char *page_words(void)
{
	switch (MT_PAGE) {
	case 16384: return "page of 16 KiB";
	case 65536: return "page of 64 KiB";
	default: return "page";
	}
}

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	char *fix_memory = NULL, *fix_perf = NULL;
	enum mt_works preload, memory, pagemap, perf;
	struct utsname u;

	if (uname(&u) || strcmp(u.machine, MT_UTS_MACHINE)) {
		b->why = mt_strdup("works on x86-64 and arm64 only");
		return;
	}
	preload = probe_preload(p, b);
	memory = probe_memory(b, &fix_memory);
	pagemap = probe_pagemap(b);
	perf = probe_perf(b, &fix_perf);
	for (int i = 0; i < b->n_facilities && !b->why; i++)
		if (b->facility[i].works == MT_NO &&
		    (strcmp(b->facility[i].name, "perf") || !memory))
			b->why = mt_strdup(b->facility[i].why);
	if (!preload || !memory || !pagemap) {
		b->works = MT_NO;
		b->fix = fix_memory;
		fix_memory = NULL;
	} else if (!perf) {
		b->works = MT_PARTLY;
		free(b->why);
		b->why = mt_printf("pages and times, but neither threads nor reads and writes: %s%s",
				   b->facility[b->n_facilities - 1].why,
				   b->found & FOUND_GROUPS ? "; and pages near one that is read may not have been touched" : "");
		b->fix = fix_perf;
		fix_perf = NULL;
	} else if (b->found & (FOUND_GROUPS | FOUND_FIRST_ONLY)) {
		const unsigned int pages = b->found >> GROUP_SHIFT;

		b->works = MT_PARTLY;
		b->why = b->found & FOUND_GROUPS ?
			 mt_printf("every %s touched in an interval, threads, %s; reads are seen in groups of up to %u pages: those "
				   "mapped around a read are marked, they may not have been touched", page_words(),
				   b->found & FOUND_FIRST_ONLY ? "writes that come before a read" : "writes by page", pages) :
			 mt_printf("every %s touched in an interval, threads, reads; writes only where they come before a read", page_words());
		b->fix = fix_memory;
		fix_memory = NULL;
	} else {
		b->works = MT_YES;
		b->why = mt_printf("every %s touched in an interval, threads, reads and writes%s", page_words(),
				   (b->found & FOUND_PERF_KERNEL) ? ", accesses of system calls with their thread" :
						    "; accesses of system calls without their thread");
	}
	if (b->works != MT_NO) {
		b->preference = 10;
		b->reason = mt_printf("%s: %s", b->works == MT_YES ? "works here" : "works partly here", b->why);
	}
	free(fix_memory);
	free(fix_perf);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	const bool perf = b->found & FOUND_PERF;
	json_t *g = json_pack("{s:i, s:s, s:s, s:s, s:s}", "granularity_bytes", (int)MT_PAGE, "pages", "complete",
			      "threads", perf ? "first-per-subphase" : "none",
			      "writes", !perf ? "none" : b->found & FOUND_FIRST_ONLY ? "first-access" : "decoded",
			      "kernel_accesses", b->found & FOUND_PERF_KERNEL ? "attributed" : "page-set");

	(void)r;
	if (b->found & FOUND_GROUPS)
		json_object_set_new(g, "read_group_bytes", json_integer((json_int_t)(b->found >> GROUP_SHIFT) * (json_int_t)MT_PAGE));
	return g;
}

const struct mt_backend mt_backend_zap = {
	.name = "zap",
	.title = "User space",
	.abilities = MT_ABILITY_ACCESSES,
	.library = MT_LIBRARY_TRACES,
	.probe = probe,
	.guarantee = guarantee,
};
