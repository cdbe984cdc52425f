// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * fork() of a program whose private memory is really shared.
 *
 * The child would share it with the parent, down to the stack it runs on. So:
 *
 *   parent: signals blocked, zap_space.lock held (no hook and no zap in between), on a
 *           private stack, since the program's own is shared until the child is done
 *   child:  makes a memory file of its own, copies the parent's contents, maps it over,
 *           tells the parent, then becomes an image of its own and returns
 *   parent: waits for that, touching nothing of the program, then returns
 *
 * Atfork handlers and libc's own locks work as always: fork() takes them before it calls
 * _Fork(), which is what is replaced here, and the parent returns only after the copy.
 * Other threads of the parent run on meanwhile, as they do during a real fork; but the
 * copy is not taken at one instant: what they write without a lock that an atfork handler
 * holds may be in the child in part. POSIX lets such a child call async-signal-safe
 * functions only, which do not depend on it. What libc itself needs is taken over again
 * at one instant: see stacks.h.
 *
 * glibc before 2.34 has no _Fork(). There the system call in fork() itself is replaced, and libc goes on with the result as
 * it always does: the locks are taken before, and the parent returns from the call only after the copy.
 *
 * clone() and syscall() of libc come here too. A clone with unusual flags (a PID namespace,
 * shared descriptors) makes an untraced child, after the parent was frozen as below.
 *
 * A child that is made behind our back (the instruction syscall in the program itself, as in the runtime of Go) must never get the
 * memory that is really shared: it would write into its parent's. So children do not have these mappings (MADV_DONTFORK), but for
 * the moment in which a child is made here. Such a child dies at once, by SIGSEGV.
 *
 * What is needed to keep parent and child apart is got without /proc and without a free descriptor, too: from the monitor, which
 * has descriptors of its own. Where nothing helps, fork fails with ENOMEM, before there is a child.
 *
 * With the backend rwp the program's memory is private, and this is a fork like any other: the child registers its memory
 * anew (memory/rwp.c), and the parent goes on at once.
 *
 * Where memory is too short for the copy (more than half of MemAvailable, or than
 * MEMTRACE_FORK_COPY_MAX bytes), or the child fails, both processes continue on private mappings of the then frozen file: correct and
 * without any copy, but the accesses of neither are traced from there on ("stop").
 */
#include "preload/process/fork.h"

#include "preload/process/calls.h"
#include "preload/regions/region.h"
#include "preload/ground/process.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "preload/ground/asm.h"
#include "preload/ground/context.h"
#include "preload/exact/counting.h"
#include "preload/exact/gates.h"
#include "common/maps.h"
#include "preload/ground/quiet.h"
#include "common/quietwords.h"
#include "common/rawdir.h"
#include "common/rawsys.h"
#include "preload/process/quick.h"
#include "preload/process/stacks.h"
#include "preload/ground/thread.h"
#include "preload/memory/kept.h"
#include "preload/memory/memory_hooks.h"
#include "preload/memory/objects.h"
#include "preload/monitor/monitor.h"
#include "preload/memory/rwp.h"
#include "preload/memory/space.h"
#include "preload/memory/twin.h"

#define STACK_BYTES (128ul << 10)
#define WAIT_FLAGS (1 | 4 | 0x01000000 | 0x40000000)	/* WNOHANG | WEXITED | WNOWAIT | __WALL */

enum { CHILD_BUSY, CHILD_READY, CHILD_FAILED };
enum { FROZEN_SHORT = 1, FROZEN_FAILED };


#define CLONE_CLEAR_SIGHAND_FLAG 0x100000000ul	/* of clone3(2) only */
#define CLONE_INTO_CGROUP_FLAG 0x200000000ul

/* On the private stack's memory, so that it is not shared with the child. */
struct fork_call {
	uint32_t *state;		/* in a page shared by parent and child */
	void *tp_tid;			/* where libc keeps this thread's id */
	void **robust;			/* head of the robust list */
	uint64_t old_dev, old_ino;
	int old_memfd;
	unsigned long flags;		/* of clone(2), the exit signal included */
	const struct clone_args3 *args;	/* of clone3(2) in the place of clone(2), NULL: none */
	size_t args_size;
	int *pidfd;			/* of clone(2) with CLONE_PIDFD */
	int freeze;			/* why there is no copy, 0 = there is one */
	int untraced;			/* the child is none of ours: unusual clone flags */
	int quick;			/* it is only counted, see quick.h */
	int twin;			/* its memory is in the twin (memory/twin.h) */
	struct mt_maps maps;
	struct mt_stacks stacks;
	long result;
};

/* MemAvailable of /proc/meminfo in bytes; 0 = not known. */
static uint64_t memory_available(void)
{
	struct sysinfo info;
	uint64_t kb;
	const int err = mt_proc_number("/proc/meminfo", "\nMemAvailable:", &kb);

	if (err && err != -ENODATA)	/* less than there is, since the page cache is not in it */
		return mt_sys(SYS_sysinfo, &info) ? 0 : ((uint64_t)info.freeram + info.bufferram) * info.mem_unit;
	return err ? 0 : kb << 10;
}

static int copy_is_affordable(const struct fork_call *c)
{
	uint64_t available = memory_available(), bytes;
	struct stat st;

	if (mt_sys(SYS_fstat, c->old_memfd, &st))
		return 0;
	bytes = (uint64_t)st.st_blocks * 512;
	return bytes < mt_process.config.fork_copy_max_bytes && (!available || bytes < available / 2);
}

/* ---- child */

/* A mapping of the parent's memory file that the program does not keep from its children. */
static int is_for_child(const struct fork_call *c, const struct mt_map *m)
{
	return zap_is_mapping(m, c->old_dev, c->old_ino) && !zap_regions_contain(&zap_space.not_forked, m->start);
}

/* After chroot(): without /proc its own forks could not keep it apart, and where the folder of the trace is not, it cannot be recorded. */
static int is_hidden(void)
{
	const char *dir = mt_process.config.dir;

	return mt_sys(SYS_faccessat, AT_FDCWD, "/proc/self/maps", 4 /* R_OK */) ||
	       (dir && *dir && mt_sys(SYS_faccessat, AT_FDCWD, dir, 2 /* W_OK */));
}

/* Who is not recorded has private memory, as any program. */
static int become_private(struct fork_call *c)
{
	struct mt_map m;
	long err = 0;

	mt_maps_rewind(&c->maps);
	while (!err && mt_maps_next(&c->maps, &m))
		if (is_for_child(c, &m) && (!c->twin || zap_twin_take(&m)))
			err = zap_copy_private(m.start, m.end - m.start, m.prot, c->old_memfd);
	zap_twin_free();
	if (!err)
		err = mt_stacks_settle(&c->stacks, &c->maps, c->old_dev, c->old_ino, c->old_memfd);
	if (err < 0)
		return (int)err;
	zap_regions_clear(&zap_space.regions);
	zap_regions_clear(&zap_space.shared);
	zap_regions_clear(&zap_space.not_forked);
	zap_space.mapped = 0;
	return 0;
}

/* Own memory file with the parent's contents, mapped over. Lock held (by the fork). */
static int become_independent(struct fork_call *c)
{
	struct mt_map m;
	const char *what;
	int err = zap_space_create(mt_process.config.without, &what);

	if (err)
		return err;
	mt_maps_rewind(&c->maps);	/* as the parent read them */
	while (mt_maps_next(&c->maps, &m)) {
		if (!is_for_child(c, &m))
			continue;
		err = (int)zap_copy_file(zap_space.memfd, c->old_memfd, m.start, m.end);
		if (err)
			return err;
	}
	zap_regions_clear(&zap_space.regions);
	mt_maps_rewind(&c->maps);
	while (mt_maps_next(&c->maps, &m)) {
		long ret;

		if (!is_for_child(c, &m))
			continue;
		ret = mt_sys(SYS_mmap, m.start, m.end - m.start, m.prot,
			     MAP_SHARED | MAP_FIXED | MAP_NORESERVE, zap_space.memfd, m.start);
		if (mt_failed(ret))
			return (int)ret;
		zap_dump_again(m.start, m.end);
		err = zap_regions_add(&zap_space.regions, m.start, m.end);
		if (err)
			return err;
	}
	err = mt_stacks_settle(&c->stacks, &c->maps, c->old_dev, c->old_ino, c->old_memfd);
	if (err < 0)
		return err;
	zap_regions_clear(&zap_space.not_forked);
	zap_let_fork(0);
	zap_unmap_shared();
	zap_register_all();
	if (zap_space.no_uffd)
		zap_see_writes(-1);
	return 0;
}

/* What libc's arch_fork() and _Fork() do for the thread descriptor of the child. */
static void adopt_thread(struct fork_call *c)
{
	if (c->tp_tid) {
		*(int *)c->tp_tid = mt_gettid();
		mt_sys(SYS_set_tid_address, c->tp_tid);
	}
	if (c->robust) {
		c->robust[0] = c->robust;
		c->robust[-1] = c->robust;	/* struct pthread: robust_prev precedes the head */
		mt_sys(SYS_set_robust_list, c->robust, 3 * sizeof(void *));
	}
}

/* The child as an image of its own. Its memory is its own already. */
static void start_image(enum mt_watch watch, const char *reason)
{
	struct mt_process *p = &mt_process;
	const char *message = reason;
	int parent = p->image.index, traced = watch != MT_WATCH_NONE;

	p->monitored = p->tracing = 0;
	mt_fd_close(p->image.dirfd);
	mt_monitor_after_fork();
	mt_region_after_fork();
	if (mt_image_create(&p->image, &p->config, parent, "fork") < 0) {
		zap_space.active = 0;
		cnt_off();
		ctx_fork_child(NULL);
		return;
	}
	mt_image_describe(&p->image, MT_NO_BACKEND, "the image was killed before it had started");
	mt_image_export(&p->image, 0);
	mt_image_save_maps(&p->image, MT_FILE_MAPS);
	ctx_fork_child(&p->image);
	if (mt_monitor_start(&p->image, watch, mt_gettid(), p->tls) < 0) {
		traced = 0;
		message = "no monitor thread";
	} else {
		p->monitored = 1;
		if (traced)
			message = mt_monitor_message();
	}
	p->tracing = traced;
	zap_space.active = traced && watch == MT_WATCH_ZAP;
	mt_monitor_name(&p->image, p->monitored);
	if (p->config.library == MT_LIBRARY_LEAVES_IT)
		message = "accesses come from outside of the program";
	mt_image_describe(&p->image, mt_image_backend(&p->config, traced), message);
	if (p->monitored)
		mt_monitor_go(p->fault_ns, mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static void leave_image(void)
{
	struct mt_process *p = &mt_process;

	p->config.parent_image = p->image.index;
	mt_fd_close(p->image.dirfd);
	memset(&p->image, 0, sizeof(p->image));
}

/* Only counted, until there is something to record: it has memory of its own, and nothing of ours. */
static void stay_quick(struct fork_call *c)
{
	const struct timespec ts = { 0, 1 };

	zap_forget_kept();
	zap_touched(0, UINT64_MAX);
	mt_process.monitored = mt_process.tracing = 0;
	if (c->twin)	/* the number of the processor in its rseq area is the parent's: sleeping makes the kernel write it */
		mt_sys(SYS_nanosleep, &ts, 0);
	mt_monitor_after_fork();
	mt_region_after_fork();
	ctx_fork_later(mt_process.image.index);
	leave_image();
	mt_quiet_fork_child();
}

/* Left to itself. */
static void stay_untraced(struct fork_call *c)
{
	if (zap_space.rwp && !(c->flags & CLONE_FILES))
		zap_space_forget();	/* it is the parent's */
	zap_space.active = 0;
	mt_process.monitored = mt_process.tracing = 0;
	mt_quiet_stop();
	if (!(c->flags & CLONE_FILES))
		mt_fd_close(mt_process.image.dirfd);
	mt_monitor_after_fork();
	cnt_fork_child(mt_gettid(), 0);
	ctx_fork_child(NULL);	/* nothing is logged, and no lock of the parent's stays held */
}

/* The child of a process that is only counted. */
static void stay_quiet(struct fork_call *c)
{
	adopt_thread(c);
	ctx_fork_child(NULL);	/* of a process whose allocations wait, and that could not become an image */
	if (mt_process.image.config)	/* the parent's */
		leave_image();
	mt_quiet_fork_child();
}

/* Without traced memory. */
static void become_untraced(struct fork_call *c)
{
	adopt_thread(c);
	zap_space_forget();
	zap_space.active = 0;
	cnt_fork_child(mt_gettid(), mt_process.tracing);
	if ((mt_process.config.library == MT_LIBRARY_COUNTS || mt_process.config.library == MT_LIBRARY_ASKS_TOOL) && mt_process.tracing)
		start_image(MT_WATCH_COUNT, "");
	else
		start_image(MT_WATCH_NONE, c->freeze == FROZEN_SHORT ? "memory was too short to copy the parent's for tracing"
			       : c->freeze ? "the child could not make a memory file of its own (descriptors, memory)"
			       : "the parent was not traced");
}

/* Its memory is its own, as always; only the protection is to be made anew. */
static void become_rwp(struct fork_call *c)
{
	const int err = zap_rwp_after_fork();

	adopt_thread(c);
	if (err) {
		zap_space_forget();
		zap_space.active = 0;
		cnt_fork_child(mt_gettid(), 0);
	}
	start_image(err ? MT_WATCH_NONE : MT_WATCH_ZAP, err ? "the child could not protect its memory anew (descriptors, memory)" : "");
}

/* @uffd, @memfd: those of the parent, as far as they are ours. */
static void become_own(struct fork_call *c, int uffd, int memfd)
{
	const int hidden = is_hidden();

	if (hidden || c->quick ? become_private(c) : become_independent(c)) {
		__atomic_store_n(c->state, CHILD_FAILED, __ATOMIC_RELEASE);
		mt_sys(SYS_prctl, PR_SET_NAME, MT_OUR_COMM);	/* no process of the program, which gets another one */
		mt_futex_wake(c->state);
		mt_sys(SYS_exit_group, 127);
	}
	mt_fd_close(uffd);
	mt_fd_close(memfd);
	if (c->old_memfd != memfd)
		mt_sys(SYS_close, c->old_memfd);
	adopt_thread(c);
	__atomic_store_n(c->state, CHILD_READY, __ATOMIC_RELEASE);
	mt_futex_wake(c->state);
	if (!hidden && !c->quick) {
		start_image(MT_WATCH_ZAP, "");
		return;
	}
	zap_space.memfd = zap_space.uffd = -1;
	zap_space.active = 0;
	mt_process.tracing = 0;
	if (hidden)
		start_image(MT_WATCH_NONE, "the folder of the trace or /proc is not there for the child (chroot)");
	else
		stay_quick(c);
}

static void become_child(struct fork_call *c)
{
	const int uffd = mt_fd_own(zap_space.uffd), memfd = mt_fd_own(zap_space.memfd);

	mt_process.image.dirfd = mt_fd_own(mt_process.image.dirfd);
	mt_rawmem_after_fork();
	mt_monitor_gone();
	mt_quick_fork_child();
	if (!c->twin)
		zap_twin_free();
	gates_fork_done();
	if (c->untraced) {
		stay_untraced(c);
	} else if (mt_is_quiet()) {
		stay_quiet(c);
	} else if (c->quick && !c->freeze && !zap_space.mapped) {
		zap_space_forget();
		adopt_thread(c);
		stay_quick(c);
	} else if (c->freeze || !zap_space.active) {
		become_untraced(c);
	} else if (zap_space.rwp) {
		become_rwp(c);
	} else {
		become_own(c, uffd, memfd);
	}
}

static void child(struct fork_call *c)
{
	mt_fd_hide(!(c->flags & CLONE_FILES));
	become_child(c);
	mt_fd_hide(0);
}

/* ---- parent */

/* "202 0x7f.. 0x109 ..." of /proc/self/task/TID/syscall: a futex wait (its number first) that is not process-private. */
static uint64_t shared_futex_wait(const char *s)
{
	uint64_t v[2] = { 0, 0 }, number = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		number = number * 10 + (uint64_t)(*s - '0');
	if (number != SYS_futex || *s++ != ' ')
		return 0;
	for (int i = 0; i < 2; i++) {
		if (s[0] != '0' || s[1] != 'x')
			return 0;
		for (s += 2; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
			v[i] = v[i] << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
		while (*s == ' ')
			s++;
	}
	return v[1] & FUTEX_PRIVATE_FLAG ? 0 : v[0];
}

/* The threads that ran when all was frozen, perhaps on their way into a wait by the old name. */
#define RUNNERS 1024
#define WAY_NS 100000		/* of a processor: nobody needs so much from the name of a futex into the wait */
#define LOOK_NS 1000000
#define LOOKS 1000		/* a thread that gets no processor meanwhile is left to itself */

struct runners {
	char process[16];	/* as /proc calls it, which may be that of another namespace */
	int looks, n;
	struct runner {
		int tid;
		uint64_t ran_ns;
	} r[RUNNERS];
};

/* @path: of the folder of the thread, with room behind @end. Is it still on its way? */
static int is_on_its_way(struct runners *w, int tid, const char *path, char *end)
{
	uint64_t ran_ns = UINT64_MAX;
	int i = 0;

	memcpy(end, "/schedstat", 11);
	if (mt_proc_number(path, "", &ran_ns))
		return 0;
	while (i < w->n && w->r[i].tid != tid)
		i++;
	if (i == w->n && w->looks == 0 && i < RUNNERS)
		w->r[w->n++] = (struct runner){ tid, ran_ns };
	return i < RUNNERS && i < w->n && ran_ns - w->r[i].ran_ns < WAY_NS;
}

static void has_arrived(struct runners *w, int tid)
{
	for (int i = 0; i < w->n; i++)
		if (w->r[i].tid == tid)
			w->r[i].tid = 0;
}

/*
 * Threads that wait on a futex which is not process-private, as pthread_join() does, are
 * known to the kernel by file and offset. In the private mapping that takes the place the
 * same word has another name, under which the wake-up would come: so they are woken by the
 * old name, look again and wait by the new one. @arg: struct runners; in the thread that forks, without a free descriptor on the
 * monitor. How many are still on their way, or negative errno.
 */
static long wake_shared_waiters(void *arg, int maps_fd, int memfd)
{
	struct runners *w = arg;
	struct mt_rawdir threads;
	char path[96], text[128], *end = path;
	long tid, err, on_their_way = 0;

	(void)maps_fd;
	memcpy(end, "/proc/", 6);
	memcpy(end + 6, w->process, sizeof(w->process));
	end += strlen(path);
	memcpy(end, "/task/", 7);
	err = mt_rawdir_open(&threads, path);
	if (err)
		return err;
	while ((tid = mt_rawdir_number(&threads)) >= 0) {
		uint64_t addr;
		char *p;
		long fd, k, at;

		p = mt_put_u64(end + 6, (uint64_t)tid);
		memcpy(p, "/syscall", 9);
		fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
		if (fd < 0) {
			err = fd == -EMFILE ? fd : err;
			continue;
		}
		k = mt_sys(SYS_read, fd, text, sizeof(text) - 1);
		mt_sys(SYS_close, fd);
		text[k > 0 ? k : 0] = 0;
		if (text[0] == 'r') {	/* "running" */
			on_their_way += is_on_its_way(w, (int)tid, path, p);
			continue;
		}
		has_arrived(w, (int)tid);
		addr = shared_futex_wait(text);
		if (!addr)
			continue;
		at = mt_rawmap_at_place(MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, addr & ~(MT_PAGE - 1));
		if (mt_failed(at))
			continue;
		mt_futex_wake((uint32_t *)(at + (long)(addr & (MT_PAGE - 1))));
		mt_sys(SYS_munmap, at, MT_PAGE);
	}
	return err ? err : on_their_way;
}

static void wake_waiters(const struct fork_call *c)
{
	const struct timespec pause = { 0, LOOK_NS };
	struct runners *w = mt_rawmap(sizeof(*w));
	long left = 1;

	if (!w)
		return;
	if (mt_sys_readlink("/proc/self", w->process, sizeof(w->process) - 1) <= 0)
		left = 0;
	for (; left > 0 && w->looks < LOOKS; w->looks++) {
		left = c->old_memfd < 0 ? -EBADF : wake_shared_waiters(w, -1, c->old_memfd);
		if (left < 0)
			left = mt_monitor_call(wake_shared_waiters, w);
		if (left > 0)
			mt_sys(SYS_nanosleep, &pause, 0);
	}
	mt_rawunmap(w, sizeof(*w));
}

/* Both processes on private mappings of the file, which nobody changes any more. 0, or negative errno: there must be no child. */
static long freeze(struct fork_call *c)
{
	long err = zap_maps_read(&c->maps);

	if (err)
		return err;
	zap_let_go();
	zap_twin_free();
	err = zap_freeze(&c->maps);
	mt_process.tracing = 0;
	wake_waiters(c);
	mt_monitor_event(MT_EVENT_STOP);
	return err;
}

/* The child gets the mappings, and the parent has read which they are. 0 or negative errno. */
static long prepare_copy(struct fork_call *c)
{
	long err = zap_let_fork(1);

	zap_look_at_untouched();
	if (!err)
		err = zap_maps_read(&c->maps);
	c->twin = !err && c->quick && !zap_twin_update(&c->maps, c->old_memfd);
	if (!err)
		mt_stacks_read(&c->stacks);
	return err;
}

static long clone_child(const struct fork_call *c)
{
	return c->args ? mt_sys(SYS_clone3, c->args, c->args_size) : mt_sys(SYS_clone, c->flags, 0, c->pidfd, 0, 0);
}

/* 1 when the child has its own memory, 0 when it failed or died before. */
static int wait_for_child(struct fork_call *c, int pid)
{
	uint32_t s;

	while ((s = __atomic_load_n(c->state, __ATOMIC_ACQUIRE)) == CHILD_BUSY) {
		struct timespec ts = { 0, 10000000 };
		siginfo_t info;
		long ret;

		mt_futex_wait(c->state, CHILD_BUSY, &ts);
		/* killed meanwhile? It stays waitable for the program. */
		info.si_pid = 0;
		ret = mt_sys(SYS_waitid, 1 /* P_PID */, pid, &info, WAIT_FLAGS, 0);
		if (ret == -ECHILD || (ret == 0 && info.si_pid == pid)) {
			s = __atomic_load_n(c->state, __ATOMIC_ACQUIRE);
			return s != CHILD_FAILED;
		}
	}
	return s == CHILD_READY;
}

static long fork_on_private_stack(void *arg)
{
	struct fork_call *c = arg;
	struct timespec ts = { 0, 1 };
	long pid, err = 0;

	if (zap_space.mapped && (c->untraced || !zap_space.active || c->old_memfd < 0 || !c->state || !copy_is_affordable(c)))
		c->freeze = FROZEN_SHORT;
again:
	if (c->freeze)
		err = freeze(c);
	else if (zap_space.mapped)
		err = prepare_copy(c);
	if (err) {
		zap_let_fork(0);
		c->result = -ENOMEM;	/* as when a fork has no memory */
		return c->result;
	}
	if (c->state)
		*c->state = CHILD_BUSY;
	pid = clone_child(c);
	if (pid == 0) {
		child(c);
		c->result = 0;
		return 0;
	}
	if (zap_space.mapped && pid > 0 && !wait_for_child(c, (int)pid)) {
		zap_let_fork(0);
		mt_sys(SYS_wait4, pid, 0, 0x40000000 /* __WALL */, 0);
		if (c->flags & CLONE_PIDFD)
			mt_sys(SYS_close, *c->pidfd);
		c->freeze = FROZEN_FAILED;
		goto again;
	}
	if (zap_space.mapped)
		zap_let_fork(0);
	/*
	 * While the child ran on our memory the kernel wrote its CPU number into the rseq
	 * area of this thread; sleeping makes it write ours again.
	 */
	if ((zap_space.active && !zap_space.rwp) || c->freeze)
		mt_sys(SYS_nanosleep, &ts, 0);
	c->result = pid;
	return pid;
}

long mt_fork_with(unsigned long flags, int *pidfd, const struct clone_args3 *args, size_t args_size)
{
	const unsigned long known = 0xff | CLONE_PIDFD | CLONE_INTO_CGROUP_FLAG | CLONE_CLEAR_SIGHAND_FLAG |
		CLONE_FS | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
		CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_IO | CLONE_PARENT | CLONE_SYSVSEM;
	struct mt_process *p = &mt_process;
	uint64_t mask = mt_block_signals();
	struct fork_call *c;
	size_t len = 0;
	void *robust = NULL;
	char *stack;
	long pid, page;
	int stacks;

	/* its children find in its log what they inherit */
	if (mt_is_quiet() && ctx_waits())
		mt_quiet_thread();
	stack = mt_rawmap(STACK_BYTES);
	if (!stack) {
		mt_restore_signals(mask);
		return -ENOMEM;
	}
	c = (struct fork_call *)stack;
	/* without it the child cannot tell that it is ready, and nothing is copied */
	page = mt_sys(SYS_mmap, 0, MT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	c->state = mt_failed(page) ? NULL : (uint32_t *)page;
	c->pidfd = pidfd;
	c->args = args;
	c->args_size = args_size;
	/* a child of a system call clone() has none that is registered, but its children by libc's fork() have */
	if (p->robust_offset && mt_arch_is_libc_thread())
		c->robust = (void **)(mt_thread_pointer() + p->robust_offset);
	else if (!mt_sys(SYS_get_robust_list, 0, &robust, &len) && len == 3 * sizeof(void *))
		c->robust = robust;
	if (p->tid_offset)
		c->tp_tid = (char *)mt_thread_pointer() + p->tid_offset;
	c->flags = flags;
	mt_monitor_before_fork();
	/* a process that shares descriptors or lives elsewhere is left to itself */
	c->untraced = (flags & ~known) || (flags & (CLONE_NEWPID | CLONE_PARENT));
	stacks = zap_space.mapped ? mt_stacks_lock() : 0;
	ctx_fork_prepare();
	cnt_fork_prepare();
	zap_lock();
	c->old_dev = zap_space.dev;
	c->old_ino = zap_space.ino;
	c->old_memfd = zap_space.mapped ? zap_memfd() : -1;
	c->quick = !c->untraced && p->monitored && !zap_space.rwp && !zap_space.frozen.n && mt_quick_expected();
	pid = mt_call_on_stack(stack + STACK_BYTES, fork_on_private_stack, c);
	if (pid > 0)
		mt_quick_made((int)pid);
	if (pid && c->old_memfd >= 0)
		zap_memfd_done(c->old_memfd);
	mt_unlock(&zap_space.lock);
	if (pid > 0)
		mt_monitor_event(MT_EVENT_FORK);
	if (pid != 0) {
		cnt_fork_parent();
		ctx_fork_parent();
		mt_stacks_unlock(stacks);
	} else {
		mt_stacks_fork_child(stacks);
	}
	mt_stacks_free(&c->stacks);
	mt_maps_free(&c->maps);
	if (c->state)
		mt_sys(SYS_munmap, c->state, MT_PAGE);
	mt_rawunmap(stack, STACK_BYTES);
	mt_restore_signals(mask);
	return pid;
}

long mt_freeze_now(void)
{
	struct fork_call c = { .old_memfd = -1 };
	uint64_t mask = zap_enter();
	long err = 0;

	if (zap_space.mapped) {
		c.old_memfd = zap_memfd();
		err = freeze(&c);
		zap_memfd_done(c.old_memfd);
	}
	mt_maps_free(&c.maps);
	zap_leave(mask);
	return err ? -ENOMEM : 0;
}

void mt_process_stop(const char *why)
{
	struct mt_process *p = &mt_process;
	char message[512];

	if (!zap_space.active || mt_freeze_now())
		return;
	memcpy(message, MT_STOPPED, sizeof(MT_STOPPED) - 1);
	strncpy(message + sizeof(MT_STOPPED) - 1, why, sizeof(message) - sizeof(MT_STOPPED));
	message[sizeof(message) - 1] = 0;
	mt_image_describe(&p->image, mt_image_backend(&p->config, 1), message);
}
