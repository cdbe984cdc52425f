// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Entry of the preload library: everything starts in its constructor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "preload/ground/asm.h"
#include "preload/ground/context.h"
#include "preload/exact/counting.h"
#include "common/faultprobe.h"
#include "preload/ground/image.h"
#include "common/maps.h"
#include "preload/ground/patch.h"
#include "preload/ground/process.h"
#include "preload/ground/quiet.h"
#include "common/rawsys.h"
#include "preload/ground/sandbox.h"
#include "preload/process/calls.h"
#include "preload/process/sites.h"
#include "preload/process/stacks.h"
#include "preload/ground/symbol.h"
#include "preload/ground/thread.h"
#include "preload/memory/memory_hooks.h"
#include "preload/monitor/monitor.h"
#include "preload/memory/rwp.h"
#include "preload/memory/space.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

#define SCRATCH_BYTES (256ul << 10)

static struct mt_patch hooks[] = {
	{ "_Fork", mt_hook_fork, mt_hook_clone_call, 0 },
	{ "_exit", mt_hook_exit, NULL, 0 },
	{ "execve", mt_hook_execve, NULL, 0 },
	{ "execveat", mt_hook_execveat, NULL, MT_PATCH_OPTIONAL },	/* since glibc 2.34 */
	{ "fexecve", mt_hook_fexecve, NULL, 0 },
	{ "clone", mt_hook_clone, NULL, 0 },
	{ "syscall", mt_hook_syscall, NULL, 0 },
	{ "mmap", zap_hook_mmap, NULL, 0 },
	{ "munmap", zap_hook_munmap, NULL, 0 },
	{ "mremap", zap_hook_mremap, NULL, 0 },
	{ "madvise", zap_hook_madvise, NULL, 0 },
	{ "process_madvise", zap_hook_process_madvise, NULL, MT_PATCH_OPTIONAL },	/* since glibc 2.36 */
	{ "brk", zap_hook_brk, NULL, 0 },
	{ "shmat", zap_hook_shmat, NULL, 0 },
	{ "shmdt", zap_hook_shmdt, NULL, 0 },
	{ "remap_file_pages", zap_hook_remap_file_pages, NULL, MT_PATCH_OPTIONAL },
	{ "mseal", zap_hook_mseal, NULL, MT_PATCH_OPTIONAL },	/* since glibc 2.41 */
	{ "ioctl", zap_hook_ioctl, NULL, 0 },
	{ "mprotect", zap_hook_mprotect, NULL, 0 },
	{ "pkey_mprotect", zap_hook_pkey_mprotect, NULL, MT_PATCH_OPTIONAL },
};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* A copy of the main thread's TLS, taken once: children of fork use it too. */
static void *copy_tls(void)
{
	struct mt_maps maps = { 0 };
	struct mt_map m;
	void *tls = NULL;

	if (mt_maps_read_self(&maps))
		return NULL;
	while (mt_maps_next(&maps, &m))
		if (m.start <= mt_thread_pointer() && mt_thread_pointer() < m.end)
			tls = mt_tls_copy(m.start, m.end);
	mt_maps_free(&maps);
	return tls;
}

/* Where libc keeps the id of a thread, relative to its thread pointer. */
static uint64_t find_tid_offset(void)
{
	int *address = NULL;
	const uint64_t tp = mt_thread_pointer();

	if (!mt_sys(SYS_prctl, PR_GET_TID_ADDRESS, &address) && (uint64_t)address - tp + 4096 < 2 * 4096 &&
	    *address == mt_gettid())
		return (uint64_t)address - tp;
	return *(int *)(tp + MT_TID_OFFSET) == mt_gettid() ? MT_TID_OFFSET : 0;
}

/* Where libc keeps the head of a thread's robust list, relative to its thread pointer. 0: not known. */
static uint64_t find_robust_offset(void)
{
	void *head = NULL;
	size_t len = 0;

	return !mt_sys(SYS_get_robust_list, 0, &head, &len) && head && len == 3 * sizeof(void *) ? (uint64_t)head - mt_thread_pointer() : 0;
}

/* What a fault costs here and now, with the perf event on: the best of four passes. */
static uint64_t measure_fault_ns(void)
{
	enum { PAGES = 128 };
	const uint64_t at = ZAP_OWN_OFFSET;
	const int rwp = zap_space.rwp;
	long w = mt_sys(SYS_mmap, 0, PAGES * MT_PAGE, PROT_READ | PROT_WRITE, rwp ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
			rwp ? -1 : zap_space.memfd, rwp ? 0 : at);
	uint64_t best = ~0ull;

	if (mt_failed(w))
		return 1500;
	if (rwp)
		mt_rwp_register(zap_space.uffd, (uint64_t)w, PAGES * MT_PAGE);
	for (int pass = 0; pass < 5; pass++) {
		uint64_t t0 = mt_now_ns(), t;

		for (int i = 0; i < PAGES; i++)
			*(volatile char *)(w + i * (long)MT_PAGE) = 1;
		t = (mt_now_ns() - t0) / PAGES;
		if (pass && t < best)	/* the first pass allocates */
			best = t;
		if (rwp)
			zap_rwp_hide((uint64_t)w, (uint64_t)w + PAGES * MT_PAGE);
		else
			mt_sys(SYS_madvise, w, PAGES * MT_PAGE, MADV_DONTNEED);
	}
	mt_sys(SYS_munmap, w, PAGES * MT_PAGE);
	if (!rwp)
		zap_zero(at, PAGES * MT_PAGE);
	return best;
}

/*
 * Huge pages of shared memory would hide 511 of 512 pages; "advise" asks us, we say no. Private memory has them nearly everywhere;
 * with the backend zap there is none.
 */
static void refuse_huge_pages(void)
{
	char buf[128];
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
			 O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0 && !zap_space.rwp)
		return;
	n = fd < 0 ? 0 : mt_sys(SYS_read, fd, buf, sizeof(buf) - 1);
	mt_sys(SYS_close, fd);
	buf[n > 0 ? n : 0] = 0;
	if (zap_space.rwp || strstr(buf, "[always]") || strstr(buf, "[within_size]") || strstr(buf, "[force]"))
		mt_sys(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/* The n-th field (from 1) of /proc/self/stat, numeric ones behind the name only. */
static uint64_t stat_field(const char *stat, int n)
{
	const char *p = strrchr(stat, ')');
	uint64_t v = 0;
	int field = 2;

	for (; p && *p && field < n; p++)
		if (*p == ' ')
			field++;
	for (; p && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/*
 * Up to where the main stack can be traced. /proc/PID/cmdline and environ read anonymous
 * memory only, so the pages of the arguments stay private. But the page in which the stack
 * begins must be traced, and be in one mapping with the rest: pthread_getattr_np() takes
 * the mapping that holds it for the stack. When both are on one page, the kernel is told
 * that the arguments are in a copy (what `ps` shows then is the command line at the start).
 * 0 = the whole stack.
 */
static uint64_t stack_limit(void)
{
	char stat[2048];
	struct prctl_mm_map m;
	uint64_t bytes;
	char *copy;
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return 0;
	n = mt_sys(SYS_read, fd, stat, sizeof(stat) - 1);
	mt_sys(SYS_close, fd);
	stat[n > 0 ? n : 0] = 0;
	memset(&m, 0, sizeof(m));
	m.start_code = stat_field(stat, 26);
	m.end_code = stat_field(stat, 27);
	m.start_stack = stat_field(stat, 28);
	m.start_data = stat_field(stat, 45);
	m.end_data = stat_field(stat, 46);
	m.start_brk = stat_field(stat, 47);
	m.arg_start = stat_field(stat, 48);
	m.arg_end = stat_field(stat, 49);
	m.env_start = stat_field(stat, 50);
	m.env_end = stat_field(stat, 51);
	m.brk = (uint64_t)mt_sys(SYS_brk, 0);
	m.exe_fd = (uint32_t)-1;
	if (!m.arg_start || m.env_end <= m.arg_start || m.env_start != m.arg_end)
		return 0;
	if (m.arg_start / MT_PAGE != m.start_stack / MT_PAGE)
		return m.arg_start;
	bytes = m.env_end - m.arg_start;
	copy = mt_rawmap(bytes);
	if (!copy)
		return m.arg_start;
	memcpy(copy, (void *)m.arg_start, bytes);
	m.env_start = (uint64_t)copy + (m.env_start - m.arg_start);
	m.arg_end = m.env_start;
	n = (long)m.arg_start;
	m.arg_start = (uint64_t)copy;
	m.env_end = (uint64_t)copy + bytes;
	if (!mt_sys(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0))
		return 0;
	mt_rawunmap(copy, bytes);
	return (uint64_t)n;
}

static long convert_on_scratch(void *arg)
{
	return zap_space_convert((uint64_t)arg);
}

struct message {
	char text[512];
	size_t len;
};

static void say(struct message *m, const char *s)
{
	size_t n = strlen(s);

	if (m->len + n >= sizeof(m->text))
		return;
	memcpy(m->text + m->len, s, n + 1);
	m->len += n;
}

static void say_error(struct message *m, const char *what, int err)
{
	char digits[24];

	*mt_put_u64(digits, (uint64_t)(err < 0 ? -err : err)) = 0;
	say(m, what);
	say(m, ": errno ");
	say(m, digits);
}

/*
 * Each step can fail without harm; what was done before is undone or harmless. Memory is
 * converted last, when it is certain that every change of it will be seen.
 */
static int start_zap(struct message *why, void *scratch)
{
	struct mt_process *p = &mt_process;
	struct timespec ts = { 0, 1 };
	const char *what;
	int err;

	zap_space.rwp = p->config.library == MT_LIBRARY_HIDES;
	zap_space.private_memory = zap_space.rwp ? &zap_rwp : NULL;
	zap_space.adopted = &zap_adopted;
	/* private memory needs no care */
	zap_code_mapped = mt_sites_mapped;
	zap_stop = mt_process_stop;
	what = zap_space.rwp ? NULL : mt_sites_replace();
	if (what) {
		say(why, what);
		return 0;
	}
	err = zap_space_create(p->config.without, &what);
	if (err) {
		say_error(why, what, err);
		return 0;
	}
	err = mt_monitor_start(&p->image, MT_WATCH_ZAP, mt_gettid(), p->tls);
	if (err) {
		say_error(why, "no monitor thread", err);
		if (mt_monitor_message()[0])
			say(why, "; ");
		say(why, mt_monitor_message());
		zap_space_forget();
		return 0;
	}
	p->monitored = 1;
	refuse_huge_pages();
	err = (int)mt_call_on_stack((char *)scratch + SCRATCH_BYTES, convert_on_scratch,
				    (void *)(zap_space.rwp ? 0 : stack_limit()));
	if (err) {
		say_error(why, "memory cannot be converted", err);
		return 0;
	}
	if (zap_space.rwp)
		zap_space.writes_unseen = 1;
	zap_see_writes(-1);
	p->tracing = 1;
	zap_space.active = 1;
	if (!p->fault_ns)
		p->fault_ns = measure_fault_ns();
	/* the kernel may have written the rseq area between copy and mapping: make it do so again */
	mt_sys(SYS_nanosleep, &ts, 0);
	say(why, mt_monitor_message());
	return 1;
}

/* Nothing of the program changes: its own code counts, or what it runs under. */
static void start_counting(struct message *why)
{
	struct mt_process *p = &mt_process;
	int err = mt_monitor_start(&p->image, MT_WATCH_COUNT, mt_gettid(), p->tls);

	if (err) {
		say_error(why, "no monitor thread", err);
		return;
	}
	p->monitored = p->tracing = 1;
}

/* Is a file whose path ends like this mapped? */
static int is_mapped(const char *end)
{
	struct mt_maps maps = { 0 };
	struct mt_map m;
	const size_t n = strlen(end);
	int found = 0;

	if (mt_maps_read_self(&maps))
		return 0;
	while (!found && mt_maps_next(&maps, &m)) {
		const size_t length = strlen(m.path);

		found = length >= n && !strcmp(m.path + length - n, end);
	}
	mt_maps_free(&maps);
	return found;
}

/*
 * Runtimes that take over threads, or every copy, of a program: Valgrind knows no thread
 * like the monitor and ends; DynamoRIO takes page faults for its own; ThreadSanitizer keeps its own data below the
 * thread pointer, which the monitor does not have. NULL: none of them.
 */
static const char *foreign_runtime(void)
{
	const char *preload = getenv("LD_PRELOAD");

	if (mt_process.config.library == MT_LIBRARY_ASKS_TOOL)
		return cnt_has_tool() ? NULL : "the program does not run under a tool of memtrace";
	/* structures alone go with it */
	if (mt_traces(mt_process.config.library) && getenv("DYNAMORIO_EXE_PATH") && is_mapped("/libdynamorio.so"))
		return "the program runs under DynamoRIO";
	if (preload && strstr(preload, "/vgpreload_"))
		return "the program runs under Valgrind";
	if (mt_is_defined("__tsan_init"))
		return "the program was built with ThreadSanitizer";
	/* libraries that were built so, since programs do not come here; the reserved memory of it would be looked at for minutes */
	if (mt_process.config.library == MT_LIBRARY_TRACES && mt_is_defined("__asan_init"))
		return "the program uses AddressSanitizer";
	return NULL;
}

/* libc's calls come to us. 0, or negative errno with the reason. Signals blocked, single-threaded. */
static int patch(struct message *why)
{
	struct mt_process *p = &mt_process;
	const char *what;
	int err;

	if (p->patched)
		return 0;
	mt_stacks_init();
	p->tid_offset = find_tid_offset();
	p->robust_offset = find_robust_offset();
	hooks[0].absent = (p->config.without & MT_WITHOUT_FORK) != 0;
	/* where the system call of libc's fork is replaced, libc itself writes the child's id */
	if (!p->tid_offset && !hooks[0].absent && mt_is_defined("_Fork")) {
		say(why, "the thread descriptor of this libc is not known");
		return -ENOSYS;
	}
	err = mt_patch_all(hooks, COUNT(hooks), &what);
	if (err) {
		say(why, "libc cannot be patched, ");
		say_error(why, what, err);
		return err;
	}
	if (mt_patch_loader(zap_loader_mmap, zap_loader_munmap) == 2)
		ctx_note_loader();
	p->patched = 1;
	return 0;
}

/*
 * The process becomes an image, @how, or the image that it has is recorded from now on. Single-threaded. constructor,
 * or later in a hook, on a stack of its own: then the environment stays where it is.
 */
static void record(const char *how, const char *obstacle, int constructor)
{
	struct mt_process *p = &mt_process;
	struct message why = { .len = 0 };
	void *scratch;
	uint64_t mask, begin_cpu_ns = mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	mt_fd_hide(1);
	if (!p->image.config && mt_image_create(&p->image, &p->config, p->config.parent_image, how) < 0) {
		mt_fd_hide(0);
		cnt_off();
		return;
	}
	mt_image_describe(&p->image, MT_NO_BACKEND, "the image was killed before it had started");
	mt_image_export(&p->image, constructor);
	if (obstacle) {
		mt_fd_hide(0);
		cnt_off();
		mt_image_describe(&p->image, MT_NO_BACKEND, obstacle);
		return;
	}
	mt_image_save_maps(&p->image, MT_FILE_MAPS);
	if (ctx_waits())
		ctx_go_on(&p->image);
	else
		ctx_init(&p->image);

	mask = mt_block_signals();
	scratch = mt_rawmap(SCRATCH_BYTES);
	if (!p->tls)
		p->tls = copy_tls();
	if (!scratch || !p->tls) {
		say(&why, "no memory");
	} else if (!patch(&why)) {
		if (mt_traces(p->config.library))
			start_zap(&why, scratch);
		else if (p->config.library == MT_LIBRARY_COUNTS || p->config.library == MT_LIBRARY_ASKS_TOOL)
			start_counting(&why);
		else
			say(&why, p->config.library == MT_LIBRARY_LEAVES_IT ? "accesses come from outside of the program" :
			    "no backend was asked for");
	}
	if (!p->tracing)
		cnt_off();
	if (!p->monitored && p->tls && !mt_monitor_start(&p->image, MT_WATCH_NONE, mt_gettid(), p->tls))
		p->monitored = 1;
	mt_monitor_name(&p->image, p->monitored);
	mt_image_describe(&p->image, mt_image_backend(&p->config, p->tracing), why.text);
	cnt_begin();
	mt_fd_hide(0);
	if (p->monitored)
		mt_monitor_go(p->fault_ns, mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns);
	mt_restore_signals(mask);
}

/* A process that was watched has something to tell. In a hook; a filter may have come since the start. */
static void record_late(void)
{
	int silent;
	const char *obstacle = mt_sandbox_obstacle(&silent);

	if (!silent)
		record(mt_quiet_how(), obstacle, 0);
}

/* Counted, and watched unless it is left out. 0, or negative errno: it cannot be watched. */
static int stay_quiet(enum mt_start choice, int root, const char *how)
{
	struct mt_process *p = &mt_process;
	struct message why = { .len = 0 };
	uint64_t mask;
	int err = 0;

	if (choice == MT_START_LATER) {
		mask = mt_block_signals();
		err = patch(&why);
		mt_restore_signals(mask);
	}
	if (err)
		return err;
	if (root) {
		mt_fd_hide(1);
		err = mt_image_create(&p->image, &p->config, p->config.parent_image, how);
		mt_fd_hide(0);
		if (err < 0)
			return -EIO;
		mt_image_describe(&p->image, MT_NO_BACKEND, mt_quiet_message(choice));
		mt_image_export(&p->image, 1);
	}
	if (choice == MT_START_NEVER)
		cnt_off();
	mt_quiet_begin(choice, root, how);
	return 0;
}

/* What starts a program under DynamoRIO is loaded like a program, and is none. */
static int is_starter(void)
{
	static const char name[] = "/drrun";
	char path[4096];
	const long n = mt_sys_readlink("/proc/self/exe", path, sizeof(path)), k = sizeof(name) - 1;

	return n >= k && !memcmp(path + n - k, name, (size_t)k);
}

/*
 * Nothing can be converted or patched under threads: they write while it is copied, and execute what is changed. Those that
 * pthread_create() makes come after us (mt_begin). There are others: C11 threads, those that libc makes for timers, raw clones.
 */
static const char *threads_obstacle(void)
{
	struct stat st;

	if (mt_process.config.library == MT_LIBRARY_ASKS_TOOL || mt_process_is_alone() ||
	    mt_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0))
		return NULL;
	return "a library had started threads before recording could begin; the program runs unrecorded";
}

static void begin(void)
{
	struct mt_process *p = &mt_process;
	const char *obstacle, *how;
	enum mt_start choice;
	int silent, root;

	if (mt_config_read(&p->config) < 0)
		return;
	if (p->config.library == MT_LIBRARY_ASKS_TOOL && cnt_use_tool() && is_starter()) {
		cnt_off();
		return;
	}
	obstacle = mt_sandbox_obstacle(&silent);
	if (silent) {
		cnt_off();
		return;
	}
	choice = mt_quiet_choose(&p->config, &root, record_late);
	how = p->config.parent_image < 0 ? "root" : "exec";
	if (!obstacle && choice != MT_START_NEVER)
		obstacle = foreign_runtime();
	if (!obstacle && choice != MT_START_NEVER)
		obstacle = threads_obstacle();
	/* what cannot be recorded at all says so at once */
	if (choice == MT_START_NOW || (choice == MT_START_LATER && obstacle) || stay_quiet(choice, root, how))
		record(how, obstacle, 1);
}

MT_BEGINS(begin);

__attribute__((constructor)) static void memtrace_start(void)
{
	mt_begin();
}
