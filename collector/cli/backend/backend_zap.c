/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* backend_zap.c - page faults of unmapped pages, by the preload library (preload/memory). Here is only whether it can work. */
#include <errno.h>
#include <fcntl.h>
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

#include "common/arch.h"
#include "cli/backend/backend.h"
#include "cli/backend/faultcheck.h"
#include "common/faultprobe.h"
#include "common/settings.h"
#include "cli/base/util.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* bits of mt_backend_probe.found, beside those of faultcheck.h */
#define FOUND_GROUPS 4u		/* reads are seen in groups of pages */
#define FOUND_FIRST_ONLY 8u	/* a write after a read is not seen */
#define GROUP_SHIFT 16		/* pages of such a group are in the bits from here on */
/* at least a page: the kernel rounds it up */
#define EXACT_READS "echo 4096 | sudo tee /sys/kernel/debug/fault_around_bytes"

#define note mt_probe_note

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
	const unsigned int without = mt_without(getenv(MT_VARIABLE(MEMTRACE_WITHOUT)));
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
	w = note(b, "userfaultfd", MT_YES, "user mode, write protection of shared memory");
out:
	if (uffd >= 0)
		close(uffd);
	if (m != MAP_FAILED)
		munmap(m, 4 * MT_PAGE);
	close(fd);
	return w;
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
	preload = mt_check_preload(p, b);
	memory = probe_memory(b, &fix_memory);
	pagemap = mt_check_pagemap(b);
	perf = mt_check_perf(b, &fix_perf);
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
				   mt_probe_find(b, "perf")->why,
				   b->found & FOUND_GROUPS ? "; and pages near one that is read may not have been touched" : "");
		b->fix = fix_perf;
		fix_perf = NULL;
	} else if (b->found & (FOUND_GROUPS | FOUND_FIRST_ONLY)) {
		const unsigned int pages = b->found >> GROUP_SHIFT;

		b->works = MT_PARTLY;
		b->why = b->found & FOUND_GROUPS ?
			 mt_printf("every %s touched in an interval, threads, %s; reads are seen in groups of up to %u pages: those "
				   "mapped around a read are marked, they may not have been touched", mt_page_words(),
				   b->found & FOUND_FIRST_ONLY ? "writes that come before a read" : "writes by page", pages) :
			 mt_printf("every %s touched in an interval, threads, reads; writes only where they come before a read", mt_page_words());
		b->fix = fix_memory;
		fix_memory = NULL;
	} else {
		b->works = MT_YES;
		b->why = mt_printf("every %s touched in an interval, threads, reads and writes%s", mt_page_words(),
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
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_ZOOM | MT_ABILITY_SUBPHASES,
	.library = MT_LIBRARY_TRACES,
	.probe = probe,
	.guarantee = guarantee,
};
