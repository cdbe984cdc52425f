/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * backend_kmod.c - a session with the kernel module. The session is the
 * descriptor: when the recorder is killed the kernel closes it and makes
 * everything visible again; the program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memtrace/abi.h>

#include "cli/backend/backend.h"
#include "cli/backend/kmod/kmod_build.h"
#include "cli/backend/kmod/kmod_drain.h"
#include "cli/backend/kmod/kmod_module.h"
#include "common/rawplace.h"
#include "common/thp.h"
#include "cli/base/user.h"
#include "cli/base/util.h"

#define BUFFER_BYTES (1u << 20)
#define PARAMETERS "/sys/module/memtrace/parameters"

/*
 * What an injected fault costs here, ns: exception, probe, repair. About as much as a fault that maps
 * a page of a memory file, which can be measured without the module (docs/measured/recording.md). The
 * best of some rounds, since others run as well.
 */
static uint32_t fault_cost_ns(void)
{
	const size_t page = 4096, pages = 256;
	char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t best = UINT64_MAX;

	if (p == MAP_FAILED)
		return 1000;
	madvise(p, pages * page, MADV_NOHUGEPAGE);
	for (int round = 0; round < 8; round++) {	/* the first one brings the pages in */
		uint64_t t;

		madvise(p, pages * page, MADV_DONTNEED);
		t = mt_monotonic_ns();
		for (size_t i = 0; i < pages; i++)
			*(volatile char *)(p + i * page) = 1;
		t = (mt_monotonic_ns() - t) / pages;
		best = t < best ? t : best;
	}
	munmap(p, pages * page);
	return best < 100 ? 100 : best > 100000 ? 100000 : (uint32_t)best;
}

struct mt_kmod {
	int fd;
	bool running;
	struct mt_kmod_drain *drain;
	pthread_t thread;
	int error;			/* of the thread */
	volatile bool stop;
	bool ended;			/* by somebody else, seen by the thread */
	char *buffer;
	uint64_t region_at, other_at;
};

/* What messages do not say; runs on the thread of the drain. */
static void losses(void *arg, uint64_t *region_pages, uint64_t *other)
{
	struct mt_kmod *k = arg;
	struct memtrace_stats st;
	uint64_t region, rest;

	if (ioctl(k->fd, MEMTRACE_STATS, &st))
		return;
	region = st.counter[MEMTRACE_C_HUGE_SKIPPED] * 512 + st.counter[MEMTRACE_C_UNSEEN_PAGES];
	rest = st.counter[MEMTRACE_C_TASK_LOST] + st.counter[MEMTRACE_C_NEWBORN_BUSY] +
	       st.counter[MEMTRACE_C_NOTE_LOST];
	*region_pages = region - k->region_at;
	*other = rest - k->other_at;
	k->region_at = region;
	k->other_at = rest;
}

/* Everything that there is now. */
static int take(struct mt_kmod *k)
{
	for (;;) {
		ssize_t n = read(k->fd, k->buffer, BUFFER_BYTES);
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		err = mt_kmod_drain_feed(k->drain, k->buffer, (size_t)n);
		if (err)
			return err;
	}
}

static void *drain_thread(void *arg)
{
	struct mt_kmod *k = arg;

	while (!k->stop && !k->error) {
		struct pollfd p = { .fd = k->fd, .events = POLLIN };

		poll(&p, 1, 200);
		k->error = take(k);
		k->ended = p.revents & POLLHUP && !k->stop;
		if (k->ended)
			break;
	}
	return NULL;
}

/* How somebody whom the device refuses gets to it: by its group, where an administrator has given it one; else as root. */
static char *permission(void)
{
	struct stat st;
	struct group *g;

	if (stat(MEMTRACE_DEVICE, &st) || !st.st_gid || !(st.st_mode & S_IWGRP) || !(g = getgrgid(st.st_gid)))
		return mt_strdup("sudo memtrace record --backend kmod …");
	return mt_printf("sudo usermod -a -G %s $USER", g->gr_name);
}

/* -1 with *why, perhaps *fix, and errno; ENOENT, ENODEV or ENXIO when there is no device. */
static int open_device(char **why, char **fix)
{
	int fd, err;

	if (!mt_kmod_device()) {
		*why = mt_strdup("the module is loaded, but there is no " MEMTRACE_DEVICE);
		errno = ENOENT;
		return -1;
	}
	fd = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	err = errno;
	if (fd < 0) {
		*why = mt_printf(MEMTRACE_DEVICE " cannot be opened: %s", strerror(err));
		if (err == EACCES || err == EPERM)
			*fix = permission();
	}
	errno = err;
	return fd;
}

static int check_version(int fd, char **why, uint32_t *minor)
{
	struct memtrace_info info = { 0 };

	if (ioctl(fd, MEMTRACE_INFO, &info)) {
		*why = mt_printf(MEMTRACE_DEVICE " does not answer: %s", strerror(errno));
		return -1;
	}
	if (info.major != MEMTRACE_ABI_MAJOR || info.record_bytes != sizeof(struct memtrace_record)) {
		*why = mt_printf("the loaded module speaks version %u.%u of its interface, this program %u.%u; unload it: rmmod memtrace",
				 info.major, info.minor, MEMTRACE_ABI_MAJOR, MEMTRACE_ABI_MINOR);
		return -1;
	}
	if (minor)
		*minor = info.minor;
	return 0;
}

static void *open_session(const struct mt_backend_request *o, char **why, char **fix)
{
	const bool physical = o->physical && !geteuid();
	struct mt_kmod_drain_options d = { .trace = o->trace, .physical = physical,
		.page_size = 4096, .losses = losses };
	struct memtrace_config c = {
		.interval_ns = o->interval_ns, .subphases = o->subphases, .pool_blocks = 16384,
		.max_load_ppm = o->max_overhead > 4000 ? 4000000000u : (uint32_t)(o->max_overhead * 1e6),
		.fault_cost_ns = fault_cost_ns(),
		.flags = MEMTRACE_CONFIG_CHILDREN | (o->writes ? MEMTRACE_CONFIG_WRITES : 0) |
			 (physical ? MEMTRACE_CONFIG_PHYSICAL : 0),
	};
	struct mt_kmod *k;
	uint32_t minor;
	int fd;

	/* the module sweeps once per millisecond at most */
	if (c.interval_ns < c.subphases * 1000000ull) {
		c.subphases = c.interval_ns < 2000000 ? 1 : (uint32_t)(c.interval_ns / 1000000);
		mt_note("%u subphase%s instead of %u: they are at least 1 ms long", c.subphases, c.subphases == 1 ? "" : "s", o->subphases);
	}
	*why = *fix = NULL;
	for (int i = 0; ; i++) {
		if (!mt_kmod_loaded() && mt_kmod_load(why, fix))
			return NULL;
		fd = open_device(why, fix);
		/* another recorder may just have unloaded it */
		if (fd >= 0 || (errno != ENOENT && errno != ENODEV && errno != ENXIO) || i == 10)
			break;
		free(*why);
		*why = NULL;
		usleep(20000);
	}
	if (fd < 0 || check_version(fd, why, &minor))
		goto fail;
	if (minor >= 4 && c.subphases > 1)
		c.flags |= MEMTRACE_CONFIG_SPARING;
	d.modulo = minor < 3 && sysconf(_SC_NPROCESSORS_CONF) > 64;
	/* the library's memory in the program: not hidden, so that it costs no faults (the drain leaves it out in any case) */
	if (o->library && minor >= 1) {
		c.skip_start = MT_PLACE_START;
		c.skip_end = MT_PLACE_END;
	}
	if (ioctl(fd, MEMTRACE_CONFIGURE, &c)) {
		const int err = errno;

		if (err == EPERM)
			*why = mt_kmod_no_probes();
		if (!*why && err == EPERM && physical)
			*why = mt_strdup("physical addresses need root");
		if (err == EACCES)
			*why = mt_strdup("an administrator lets nobody but root record (" PARAMETERS "/unprivileged)");
		if (err == EDQUOT)
			*why = mt_strdup("the recordings that run hold as much of the kernel's memory as users may (user_mib and all_mib in " PARAMETERS ")");
		if (err == ENOMEM)
			*why = mt_strdup("the kernel has no memory for the records, or the memory cgroup has not (86 MiB)");
		if (!*why)
			*why = mt_printf("the module refuses the session: %s", strerror(err));
		goto fail;
	}
	k = mt_alloc(sizeof(*k));
	k->fd = fd;
	k->buffer = mt_alloc(BUFFER_BYTES);
	d.arg = k;
	k->drain = mt_kmod_drain_new(&d);
	return k;
fail:
	if (fd >= 0)
		close(fd);
	if (mt_kmod_temporary()) {
		mt_user_lower();	/* unloading is root by itself */
		mt_kmod_unload();
		mt_user_raise();
	}
	return NULL;
}

static int attach(void *session, pid_t pid, bool on_exec)
{
	struct mt_kmod *k = session;
	struct memtrace_attach a = { .pid = pid, .flags = on_exec ? MEMTRACE_ATTACH_ON_EXEC : 0 };

	if (ioctl(k->fd, MEMTRACE_ATTACH, &a))
		return -errno;
	/* attached: no new huge pages can come; split those that there are */
	if (!on_exec)
		mt_split_huge_pages(pid);
	return 0;
}

static int start(void *session)
{
	struct mt_kmod *k = session;
	sigset_t all, old;
	int err;

	/* signals belong to the thread that waits for the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&k->thread, NULL, drain_thread, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	k->running = !err;
	return -err;
}

static int alive(void *session)
{
	struct mt_kmod *k = session;
	struct memtrace_stats st;

	return ioctl(k->fd, MEMTRACE_STATS, &st) ? 0 : (int)st.tasks;
}

static void finish(void *session, struct mt_backend_result *r)
{
	struct mt_kmod *k = session;
	struct mt_kmod_totals t = { 0 };
	struct memtrace_stats st;

	memset(&st, 0, sizeof(st));
	if (k->running) {
		ioctl(k->fd, MEMTRACE_STATS, &st);
		k->stop = true;		/* first: what ends from now on was ended by us */
		if (ioctl(k->fd, MEMTRACE_STOP))
			mt_error("record: the module does not stop: %s", strerror(errno));
		pthread_join(k->thread, NULL);
		if (!k->error)
			k->error = take(k);
		if (k->error)
			mt_error("record: reading from the kernel module failed: %s; accesses are missing from then on",
				 k->error == -EPROTO ? "unexpected message" : strerror(-k->error));
		if (k->ended)
			mt_error("record: an administrator has ended the recordings of users (" PARAMETERS "/unprivileged); accesses are missing from then on");
		ioctl(k->fd, MEMTRACE_STATS, &st);
	}
	mt_kmod_drain_end(k->drain, &t);
	close(k->fd);
	if (mt_kmod_temporary())
		mt_kmod_unload();
	if (r) {
		r->missed_faults = st.missed_probes;
		r->followed = st.followed;
	}
	/* a module before 1.5 leaves them 0, one before 1.6 the one above */
	if (st.counter[MEMTRACE_C_STRANGER])
		mt_note("record: %s page faults were of processes that share the memory of a recorded one without being its threads; "
			"their pages are recorded, their thread is not known", mt_human_count(st.counter[MEMTRACE_C_STRANGER]));
	free(k->buffer);
	free(k);
}

/* ---- check */

/* A module that is loaded: can this user use it? */
static void probe_loaded(const struct mt_probe *p, struct mt_backend_probe *s)
{
	char *why = NULL, *fix = NULL;
	const int fd = open_device(&why, &fix);

	if (fd >= 0 && !check_version(fd, &why, NULL)) {
		s->works = MT_YES;
		mt_probe_note(s, "module", MT_YES, "%s", "loaded, " MEMTRACE_DEVICE " can be used");
		s->why = mt_strdup("every page touched in an interval, threads, reads and writes, system calls with their thread; static programs too");
		if (p->preload) {	/* who has loaded the module wants it */
			s->preference = 20;
			s->reason = mt_strdup("the kernel module is loaded");
		}
		free(why);
		free(fix);
	} else {
		mt_probe_note(s, "module", MT_PARTLY, "%s", "loaded");
		mt_probe_note(s, "device", MT_NO, "%s", why);
		s->why = why;
		s->fix = fix;
	}
	if (fd >= 0)
		close(fd);
}

/* The module that would be loaded, to be freed: the installed one, or one that was built before if it is what would be built now. */
static char *module_at_hand(const char *sources)
{
	char *installed = mt_kmod_installed(), *dir;

	if (!installed || !sources || mt_kmod_installed_for_kernel())
		return installed;
	dir = mt_strdup(installed);
	*strrchr(dir, '/') = 0;
	if (!mt_kmod_fresh(dir, sources)) {
		free(installed);
		installed = NULL;
	}
	free(dir);
	return installed;
}

/* No module is loaded: could root load one? */
static void probe_loadable(struct mt_backend_probe *s)
{
	char *headers = mt_kmod_headers(), *sources = mt_kmod_sources(), *installed = module_at_hand(sources);
	char *signature = mt_kmod_signature_needed();

	if (signature && mt_kmod_installed_for_kernel()) {
		mt_probe_note(s, "module", MT_PARTLY, "installed, if it is signed with a key that the kernel trusts: %s", installed);
		mt_probe_note(s, "lockdown", MT_PARTLY, "%s", signature);
		s->works = MT_YES;
	} else if (signature) {
		mt_probe_note(s, "lockdown", MT_NO, "%s", signature);
		s->why = mt_printf("%s; none is installed", signature);
		s->fix = mt_kmod_install_signed();
	} else if (installed) {
		mt_probe_note(s, "module", MT_YES, "installed, loaded when needed: %s", installed);
		s->works = MT_YES;
	} else if (!sources) {
		mt_probe_note(s, "module", MT_NO, "%s", "neither installed nor are its sources here");
		s->why = mt_strdup("the kernel module is neither installed nor are its sources here");
	} else if (!headers) {
		mt_probe_note(s, "headers", MT_NO, "%s", "the headers of this kernel are not installed");
		s->why = mt_kmod_no_headers(&s->fix);
	} else {
		mt_probe_note(s, "headers", MT_YES, "%s: the module is built when needed", headers);
		s->works = MT_YES;
	}
	if (s->works)
		s->why = mt_strdup("every page touched in an interval, threads, reads and writes, system calls with their thread; loads a module into the kernel");
	free(headers);
	free(sources);
	free(installed);
	free(signature);
}

static void probe(const struct mt_probe *p, struct mt_backend_probe *s)
{
	s->why = mt_kmod_no_probes();
	if (s->why) {
		mt_probe_note(s, "lockdown", MT_NO, "%s", s->why);
		return;
	}
	s->why = mt_kmod_refusal();
	if (s->why) {
		mt_probe_note(s, "kernel", MT_NO, "%s", s->why);
		return;
	}
	if (mt_kmod_loaded()) {
		probe_loaded(p, s);
		return;
	}
	mt_probe_note(s, "kernel", MT_YES, "%s", "x86-64, RHEL 8 or at least 5.10, not PREEMPT_RT, with NUMA_BALANCING");
	if (geteuid()) {
		mt_probe_note(s, "root", MT_NO, "%s", "only root can load the kernel module");
		s->why = mt_strdup("the kernel module is not loaded, and only root can load it");
		s->fix = mt_strdup(mt_kmod_installed_for_kernel() ? "sudo modprobe memtrace" : "sudo memtrace record --backend kmod ...");
		return;
	}
	probe_loadable(s);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	(void)b;
	return json_pack("{s:i, s:s, s:s, s:s, s:s}", "granularity_bytes", 4096, "pages", "complete",
			 "threads", "first-per-interval", "writes", r->writes ? "exact" : "first-access",
			 "kernel_accesses", "attributed");
}

const struct mt_backend mt_backend_kmod = {
	.name = "kmod",
	.title = "Kernel module",
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_RUNNING | MT_ABILITY_ANY_PROGRAM | MT_ABILITY_WRITE_TRACKING |
		     MT_ABILITY_ANY_MEMORY,
	.library = MT_LIBRARY_LEAVES_IT,
	.probe = probe,
	.guarantee = guarantee,
	.open = open_session,
	.attach = attach,
	.start = start,
	.alive = alive,
	.finish = finish,
};
