/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* backend_rwp.c - read-write protection by userfaultfd, by the preload library (preload/memory/rwp.c). Here is only whether it can work. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/arch.h"
#include "cli/backend/backend.h"
#include "cli/backend/faultcheck.h"
#include "common/faultprobe.h"
#include "common/rwprotect.h"
#include "common/settings.h"
#include "cli/base/util.h"

/* bits of mt_backend_probe.found, beside those of faultcheck.h */
#define FOUND_FIRST_ONLY 8u	/* a write after a read is not seen */

#define note mt_probe_note

static enum mt_works probe_memory(struct mt_backend_probe *b, char **fix)
{
	const unsigned int without = mt_without(getenv(MT_VARIABLE(MEMTRACE_WITHOUT)));
	struct mt_rwp_traits t;
	const char *why;
	long fd = without & MT_WITHOUT_USERFAULTFD ? -ENOSYS : mt_rwp_open(&why);
	enum mt_works w;
	int err;

	if (without & MT_WITHOUT_USERFAULTFD)
		return note(b, "userfaultfd", MT_NO, "userfaultfd is not asked for (MEMTRACE_WITHOUT)");
	if (fd == -EPERM || fd == -EACCES)
		*fix = mt_strdup("docker run --security-opt seccomp=unconfined ...");
	if (fd == -EINVAL)
		return note(b, "userfaultfd", MT_NO, "%s", why);
	if (fd < 0)
		return note(b, "userfaultfd", MT_NO, "%s: %s", why, strerror((int)-fd));
	err = mt_rwp_probe((int)fd, without, &t, &why);
	close((int)fd);
	if (err)
		return note(b, "userfaultfd", MT_NO, "%s: %s", why, strerror(-err));
	w = note(b, "userfaultfd", MT_YES, "user mode, read-write protection of private memory");
	if (t.writes_fault) {
		note(b, "soft-dirty", MT_YES, "a write after a read of the same page faults again");
	} else {
		b->found |= FOUND_FIRST_ONLY;
		note(b, "soft-dirty", MT_PARTLY, "a write after a read of the same page does not fault (no CONFIG_MEM_SOFT_DIRTY)");
	}
	return w;
}

static uint64_t counted(int event)
{
	uint64_t n = 0;

	return read(event, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/*
 * Is there an event for an access to a page that is hidden? NULL, or what is in the way. Where there is none for an ordinary
 * fault, either, this event tells nothing: seen in an emulator, of every third process, when it had closed another event before.
 */
static const char *no_event(void)
{
	const int event = mt_open_fault_event(false);
	volatile char *m = mmap(NULL, 2 * MT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *why = "no memory";
	const long uffd = mt_rwp_open(&why);
	uint64_t before, ordinary;

	if (uffd < 0 || m == MAP_FAILED)
		goto out;
	madvise((void *)m, 2 * MT_PAGE, MADV_NOHUGEPAGE);
	*m = 1;
	why = "page-fault events do not work";
	if (event < 0 || ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		goto out;
	why = "pages cannot be hidden";
	if (mt_rwp_register((int)uffd, (uint64_t)(uintptr_t)m, MT_PAGE) || mt_rwp_hide((int)uffd, (uint64_t)(uintptr_t)m, MT_PAGE))
		goto out;
	before = counted(event);
	m[MT_PAGE] = 1;
	ordinary = counted(event);
	(void)*m;
	why = ordinary > before && counted(event) == ordinary ? "an access to a hidden page makes no event" : NULL;
out:
	if (event >= 0)
		close(event);
	if (uffd >= 0)
		close((int)uffd);
	if (m != MAP_FAILED)
		munmap((void *)m, 2 * MT_PAGE);
	return why;
}

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	char *fix_memory = NULL, *fix_perf = NULL;
	enum mt_works preload, memory, pagemap, perf;
	const char *wrong;
	struct utsname u;

	if (uname(&u) || strcmp(u.machine, MT_UTS_MACHINE)) {
		b->why = mt_strdup("works on x86-64 and arm64 only");
		return;
	}
	preload = mt_check_preload(p, b);
	memory = probe_memory(b, &fix_memory);
	pagemap = mt_check_pagemap(b);
	perf = mt_check_perf(b, &fix_perf);
	wrong = memory && perf ? no_event() : NULL;
	if (wrong)
		memory = note(b, "faults", MT_NO, "%s", wrong);
	for (int i = 0; i < b->n_facilities && !b->why; i++)
		if (b->facility[i].works == MT_NO && (strcmp(b->facility[i].name, "perf") || !memory))
			b->why = mt_strdup(b->facility[i].why);
	if (!preload || !memory || !pagemap) {
		b->works = MT_NO;
		b->fix = fix_memory;
		fix_memory = NULL;
	} else if (!perf) {
		b->works = MT_PARTLY;
		free(b->why);
		b->why = mt_printf("pages and times, but neither threads nor reads and writes: %s",
				   mt_probe_find(b, "perf")->why);
		b->fix = fix_perf;
		fix_perf = NULL;
	} else {
		b->works = b->found & FOUND_FIRST_ONLY ? MT_PARTLY : MT_YES;
		b->why = mt_printf("every %s touched in an interval, threads, reads, writes%s%s; memory stays private", mt_page_words(),
				   b->found & FOUND_FIRST_ONLY ? " where they come before a read" : "",
				   (b->found & FOUND_PERF_KERNEL) ? ", accesses of system calls with their thread" :
						    "; accesses of system calls without their thread");
	}
	/* before zap, unless zap sees more */
	if (b->works != MT_NO) {
		b->preference = b->found & FOUND_FIRST_ONLY ? 9 : 11;
		b->reason = mt_printf("%s: %s", b->works == MT_YES ? "works here" : "works partly here", b->why);
	}
	free(fix_memory);
	free(fix_perf);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	const bool perf = b->found & FOUND_PERF;

	(void)r;
	return json_pack("{s:i, s:s, s:s, s:s, s:s}", "granularity_bytes", (int)MT_PAGE, "pages", "complete",
			 "threads", perf ? "first-per-subphase" : "none",
			 "writes", !perf ? "none" : b->found & FOUND_FIRST_ONLY ? "first-access" : "decoded",
			 "kernel_accesses", b->found & FOUND_PERF_KERNEL ? "attributed" : "page-set");
}

const struct mt_backend mt_backend_rwp = {
	.name = "rwp",
	.title = "User space, private memory",
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_ZOOM | MT_ABILITY_SUBPHASES,
	.library = MT_LIBRARY_HIDES,
	.probe = probe,
	.guarantee = guarantee,
};
