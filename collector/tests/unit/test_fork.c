// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/ground/thread.c preload/memory/ranges.c common/maps.c common/rawmem.c common/out.c preload/ground/asm/x86_64.c preload/ground/asm/arm64.c common/calls.c
// includes: preload/process/fork.c preload/process/clone.c
// libs: -lpthread
/*
 * fork() and clone() of a program with memory in a file: each process has its own copy afterwards, or both a private one of the
 * frozen file. Here the memory is two pages; images, monitor and context are recorded calls.
 */
#include "harness.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/process/fork.c"
#include "preload/process/clone.c"

#define BYTES (2 * MT_PAGE)

struct mt_process mt_process;
struct zap_space zap_space;

/* In memory that parent and child share: what the child found, and what was called on either side. */
static struct shared {
	int result;		/* 0: not yet */
	char calls[2][128];	/* parent, child */
	char message[160];	/* of the child's image */
} *shared;
static pid_t parent;
static char *memory;		/* in the file, at its address */
static int quiet, quick, copy_error, monitor_error;
static __thread int thread_id;	/* where a libc would keep it */

static void called(const char *what)
{
	char *calls = shared->calls[mt_sys(SYS_getpid) != parent];

	strcat(strcat(calls, *calls ? " " : ""), what);
}

void cnt_fork_prepare(void) { called("cnt-prepare"); }
void cnt_fork_parent(void) { called("cnt-parent"); }
void cnt_fork_child(int tid, int on) { called(tid == mt_gettid() ? on ? "cnt-on" : "cnt-off" : "cnt-wrong"); }
void cnt_off(void) { called("cnt_off"); }
void gates_fork_done(void) { }
void ctx_fork_prepare(void) { called("prepare"); }
void ctx_fork_parent(void) { called("parent"); }
void ctx_fork_child(const struct mt_image *img) { called(img ? "child" : "none"); }
void mt_monitor_after_fork(void) { called("forget"); }
void mt_region_after_fork(void) { }
void mt_image_export(const struct mt_image *img, int constructor) { (void)img; (void)constructor; }
int mt_image_save_maps(const struct mt_image *img, const char *name) { (void)img; (void)name; return 0; }
int mt_is_quiet(void) { return quiet; }
void mt_quiet_fork_child(void) { called("quiet"); }
void mt_quiet_stop(void) { called("stop"); }
void mt_quiet_thread(void) { called("thread"); }
int mt_hook_execve(const char *path, char *const argv[], char *const envp[]) { (void)argv; (void)envp; called(path); return 5; }
int mt_process_is_own(void) { return 0; }
int mt_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	(void)argv;
	(void)envp;
	called(path);
	return fd + flags;
}
void mt_hook_exit(int status) { mt_sys(SYS_exit_group, status + 1); __builtin_unreachable(); }

int mt_image_create(struct mt_image *img, const struct mt_config *c, int from, const char *how)
{
	called(c == &mt_process.config && from == 6 && !strcmp(how, "fork") ? "image" : "image?");
	img->index = 7;
	img->dirfd = -1;
	return 7;
}

int mt_image_describe(const struct mt_image *img, const char *backend, const char *message)
{
	(void)img;
	(void)backend;
	snprintf(shared->message, sizeof(shared->message), "%s", message);
	return 0;
}

int mt_monitor_start(const struct mt_image *img, enum mt_watch watch, int main_tid, void *tls)
{
	(void)img;
	(void)tls;
	called(main_tid != mt_gettid() ? "watch?" : watch == MT_WATCH_ZAP ? "zap" : watch == MT_WATCH_COUNT ? "count" : "unwatched");
	return monitor_error;
}

void mt_fd_hide(int yes) { (void)yes; }

int mt_fd_own(int fd) { return fd; }

long mt_monitor_call(long (*fn)(void *arg, int maps_fd, int memfd), void *arg) { (void)fn; (void)arg; return -ESRCH; }

long zap_copy_private(uint64_t addr, uint64_t len, int prot, int memfd)
{
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	called("private");
	if (copy == MAP_FAILED || pread(memfd, copy, len, (off_t)addr) != (ssize_t)len || mprotect(copy, len, prot))
		return -EIO;
	return mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)addr) == MAP_FAILED ? -errno : 0;
}

void mt_fd_close(int fd)
{
	if (fd >= 0)
		mt_sys(SYS_close, fd);
}

const char *mt_monitor_message(void) { return "as always"; }

void mt_monitor_go(uint64_t fault_ns, uint64_t start_cpu_ns)
{
	called(fault_ns == 1234 && start_cpu_ns ? "go" : "go?");
}

void mt_monitor_event(enum mt_event ev)
{
	called(ev == MT_EVENT_FORK ? "fork" : ev == MT_EVENT_STOP ? "frozen" : "event?");
}

/* Before the file is frozen: what follows must not be traced, and what came before not be forgotten. */
void zap_let_go(void)
{
	called("let-go");
	zap_regions_clear(&zap_space.regions);
	zap_space.active = 0;
}

void zap_look_at_untouched(void)
{
}

static long no_fork, no_maps, no_freeze;	/* what fails */

/* Both are of the same memory, so that a child without the first finds nothing of it. */
long zap_let_fork(int yes)
{
	if (yes && no_fork)
		return no_fork;
	return madvise(memory, BYTES, yes ? MADV_DOFORK : MADV_DONTFORK) ? -errno : 0;
}

int zap_maps_read(struct mt_maps *m) { return no_maps ? (int)no_maps : mt_maps_read_self(m); }

long zap_freeze(struct mt_maps *m)
{
	struct mt_map map;

	mt_maps_rewind(m);
	while (!no_freeze && mt_maps_next(m, &map))
		if (zap_is_mapping(&map, zap_space.dev, zap_space.ino) &&
		    mmap((void *)map.start, map.end - map.start, map.prot, MAP_PRIVATE | MAP_FIXED, zap_space.memfd, (off_t)map.start) == MAP_FAILED)
			return -errno;
	zap_space.mapped = no_freeze != 0;
	return no_freeze;
}

void mt_monitor_gone(void) { }
void ctx_fork_later(int index) { (void)index; called("later"); }
int ctx_waits(void) { return 0; }
int mt_quick_expected(void) { return quick; }
void mt_quick_made(int pid) { (void)pid; }
void mt_quick_fork_child(void) { }
void zap_forget_kept(void) { }
void zap_touched(uint64_t start, uint64_t end) { (void)start; (void)end; }
void zap_twin_free(void) { }
/* no copy: the child copies its part itself */
long zap_twin_update(struct mt_maps *maps, int memfd) { (void)maps; (void)memfd; return -ENOMEM; }
long zap_twin_take(const struct mt_map *m) { (void)m; return -EINVAL; }
void mt_monitor_before_fork(void) { }
void mt_monitor_name(struct mt_image *img, int there)
{
	(void)img, (void)there;
}


static int stacks_held;	/* in the parent and in the child */

int mt_stacks_lock(void)
{
	stacks_held = 1;
	return 1;
}

void mt_stacks_unlock(int taken)
{
	if (taken != stacks_held)
		called("unlock?");
	stacks_held = 0;
}

void mt_stacks_fork_child(int taken) { mt_stacks_unlock(taken); }
void mt_stacks_read(struct mt_stacks *s) { s->n = 0; }
void mt_stacks_free(struct mt_stacks *s) { (void)s; }

int mt_stacks_settle(const struct mt_stacks *s, struct mt_maps *maps, uint64_t dev, uint64_t ino, int from)
{
	(void)s;
	(void)maps;
	(void)dev;
	return ino && from >= 0 ? 0 : -EINVAL;
}

int zap_is_mapping(const struct mt_map *m, uint64_t dev, uint64_t ino)
{
	(void)dev;
	return m->shared && m->ino == ino && m->offset == m->start;
}

int zap_space_create(unsigned int without, const char **what)
{
	struct stat st;

	(void)without;
	(void)what;
	zap_space.memfd = memfd_create("memory", MFD_CLOEXEC);
	zap_space.uffd = -1;
	if (zap_space.memfd < 0 || ftruncate(zap_space.memfd, (off_t)ZAP_FILE_BYTES) || fstat(zap_space.memfd, &st))
		return -errno;
	zap_space.dev = st.st_dev;
	zap_space.ino = st.st_ino;
	return 0;
}

long zap_copy_file(int to, int from, uint64_t start, uint64_t end)
{
	char page[MT_PAGE];

	for (uint64_t at = start; at < end && !copy_error; at += MT_PAGE)
		if (pread(from, page, MT_PAGE, (off_t)at) != (ssize_t)MT_PAGE || pwrite(to, page, MT_PAGE, (off_t)at) != (ssize_t)MT_PAGE)
			return -EIO;
	return copy_error;
}

void zap_space_forget(void) { called("forgotten"); }
void zap_register_all(void) { called("register"); }
void zap_unmap_shared(void) { called("unmap"); }
void zap_see_writes(int fd) { (void)fd; called("writes?"); }
int zap_memfd(void) { return zap_space.memfd; }
void zap_memfd_done(int fd) { (void)fd; }

/* Which hook a system call came to, and whether with its arguments. */
static long hook(const char *name, int right)
{
	called(right ? name : "wrong");
	return 77;
}

void *zap_hook_mmap(void *a, size_t n, int p, int f, int d, off_t o)
{
	return (void *)hook("mmap", a == (void *)1 && n == 2 && p == 3 && f == 4 && d == 5 && o == 6);
}

void *zap_hook_mremap(void *a, size_t n, size_t m, int f, void *to)
{
	return (void *)hook("mremap", a == (void *)1 && n == 2 && m == 3 && f == 4 && to == (void *)5);
}

static int anew;	/* what the child of the backend rwp gets */
int zap_rwp_after_fork(void) { called("anew"); return anew; }
int zap_hook_remap_file_pages(void *a, size_t n, int p, size_t o, int f)
{
	return (int)hook("remap_file_pages", a == (void *)1 && n == 2 && p == 3 && o == 4 && f == 5);
}
void zap_dump_again(uint64_t start, uint64_t end) { (void)start; (void)end; }
int zap_hook_mprotect(void *a, size_t n, int p) { return (int)hook("mprotect", a == (void *)1 && n == 2 && p == 3); }
int zap_hook_pkey_mprotect(void *a, size_t n, int p, int k)
{
	return (int)hook("pkey_mprotect", a == (void *)1 && n == 2 && p == 3 && k == 4);
}
int zap_hook_munmap(void *a, size_t n) { return (int)hook("munmap", a == (void *)1 && n == 2); }
int zap_hook_madvise(void *a, size_t n, int advice) { return (int)hook("madvise", a == (void *)1 && n == 2 && advice == 3); }
ssize_t zap_hook_process_madvise(int p, const struct iovec *r, size_t n, int advice, unsigned int f)
{
	return hook("process_madvise", p == 1 && r == (void *)2 && n == 3 && advice == 4 && f == 5);
}
long zap_hook_mseal(void *a, size_t n, unsigned long f) { return hook("mseal", a == (void *)1 && n == 2 && f == 3); }
void *zap_hook_shmat(int id, const void *a, int f) { return (void *)hook("shmat", id == 1 && a == (void *)2 && f == 3); }
int zap_hook_shmdt(const void *a) { return (int)hook("shmdt", a == (void *)1); }

/* ---- */

/* A traced process whose memory says "parent", with room for a copy. */
static void begin(void)
{
	long at;

	memset(shared, 0, sizeof(*shared));
	memset(&mt_process, 0, sizeof(mt_process));
	if (memory)
		munmap(memory, BYTES);
	close(zap_space.memfd);
	memset(&zap_space, 0, sizeof(zap_space));
	CHECK_EQ(zap_space_create(0, NULL), 0);
	at = (long)mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory = mmap((void *)at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, zap_space.memfd, at);
	CHECK(memory == (char *)at);
	CHECK_EQ(zap_regions_add(&zap_space.regions, (uint64_t)at, (uint64_t)at + BYTES), 0);
	strcpy(memory + MT_PAGE, "parent");
	CHECK_EQ(madvise(memory, BYTES, MADV_DONTFORK), 0);
	zap_space.active = zap_space.mapped = 1;
	parent = getpid();
	mt_process.image.pid = parent;
	mt_process.image.index = 6;
	mt_process.image.dirfd = -1;
	mt_process.config.fork_copy_max_bytes = 1 << 20;
	mt_process.monitored = mt_process.tracing = 1;
	mt_process.fault_ns = 1234;
	mt_process.tid_offset = (uint64_t)&thread_id - mt_thread_pointer();
	thread_id = parent;
	quiet = quick = copy_error = monitor_error = 0;
}

/* Is the memory mapped from the file, so that others with that mapping would see its changes? */
static int is_shared(void)
{
	struct mt_maps maps = { 0 };
	struct mt_map m;
	int found = -1;

	if (!mt_maps_read_self(&maps))
		while (mt_maps_next(&maps, &m))
			if (m.start <= (uint64_t)memory && (uint64_t)memory < m.end)
				found = m.shared;
	mt_maps_free(&maps);
	return found;
}

/* The child's part: finds the parent's memory, changes it, and waits until the parent has changed its own. */
static void in_child(int to_parent, int from_parent, uint64_t mask)
{
	void **robust = NULL;
	size_t len = 0;
	uint64_t now = mt_block_signals();
	char c = 0;

	mt_restore_signals(now);
	shared->result = 1;
	if (strcmp(memory + MT_PAGE, "parent"))
		shared->result = 2;
	else if (now != mask)
		shared->result = 3;
	else if (thread_id != mt_gettid())
		shared->result = 4;
	else if (mt_sys(SYS_get_robust_list, 0, &robust, &len) || len != 3 * sizeof(void *) || robust[0] != (void *)robust)
		shared->result = 5;
	strcpy(memory + MT_PAGE, "child");
	if (write(to_parent, "", 1) != 1 || read(from_parent, &c, 1) != 1 || strcmp(memory + MT_PAGE, "child"))
		shared->result = 6;
	_exit(9);
}

/* A fork by @how; the child must find everything in order. Memory of both is apart afterwards. */
static void fork_by(long (*how)(void))
{
	int up[2], down[2], status = -1;
	uint64_t mask = mt_block_signals();
	char c;
	long pid;

	mt_restore_signals(mask);
	CHECK(!pipe(up) && !pipe(down));
	pid = how();
	if (!pid)
		in_child(up[1], down[0], mask);
	close(up[1]);
	CHECK(pid > 0);
	CHECK_EQ(read(up[0], &c, 1), 1);
	CHECK_STR(memory + MT_PAGE, "parent");
	strcpy(memory + MT_PAGE, "ours");
	CHECK_EQ(write(down[1], "", 1), 1);
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK_EQ(status, 9 << 8);
	CHECK_EQ(shared->result, 1);
	CHECK_EQ(thread_id, parent);
	CHECK_EQ(mt_block_signals(), mask);
	mt_restore_signals(mask);
	CHECK_EQ(zap_space.lock.word, 0);
	for (int i = 0; i < 2; i++) {
		close(up[i] * (i == 0));
		close(down[i]);
	}
}

static long by_fork(void)
{
	return mt_hook_fork();
}

static long by_syscall(void)
{
	return mt_hook_syscall(SYS_fork, 0, 0, 0, 0, 0, 0);
}

static void a_copy_each(void)
{
	begin();
	fork_by(by_fork);
	CHECK_STR(shared->calls[0], "prepare cnt-prepare fork cnt-parent parent");
	CHECK_STR(shared->calls[1], "unmap register forget image child zap go");
	CHECK_STR(shared->message, "as always");
	CHECK_EQ(is_shared(), 1);
	CHECK_EQ(zap_space.active, 1);
	CHECK_EQ(mt_process.image.index, 6);
	begin();
	monitor_error = -EAGAIN;
	fork_by(by_syscall);
	CHECK_STR(shared->message, "no monitor thread");
	CHECK_STR(shared->calls[1], "unmap register forget image child zap");
}

/* One that is over soon, as the last ones were, has memory of its own and nothing of ours. */
static void a_quick_one(void)
{
	begin();
	quick = 1;
	fork_by(by_fork);
	CHECK_STR(shared->calls[0], "prepare cnt-prepare fork cnt-parent parent");
	CHECK_STR(shared->calls[1], "private forget later quiet");
	CHECK_EQ(is_shared(), 1);
	CHECK_EQ(zap_space.active, 1);
	CHECK_EQ(mt_process.image.index, 6);
	/* several processes that watch each other's memory are no case for it */
	begin();
	quick = 1;
	mt_process.monitored = 0;
	fork_by(by_fork);
	CHECK_STR(shared->calls[1], "unmap register forget image child zap go");
}

static void a_frozen_file(void)
{
	begin();
	mt_process.config.fork_copy_max_bytes = MT_PAGE;	/* one page of the two was written: not less than this */
	fork_by(by_fork);
	CHECK_STR(shared->calls[0], "prepare cnt-prepare let-go frozen fork cnt-parent parent");
	CHECK_STR(shared->calls[1], "forgotten cnt-off forget image child unwatched go");
	CHECK_STR(shared->message, "memory was too short to copy the parent's for tracing");
	CHECK_EQ(is_shared(), 0);
	CHECK_EQ(zap_space.active, 0);
	CHECK_EQ(mt_process.tracing, 0);
	begin();
	mt_process.config.fork_copy_max_bytes = MT_PAGE + 1;
	fork_by(by_fork);
	CHECK_EQ(is_shared(), 1);
	begin();
	copy_error = -ENOSPC;
	fork_by(by_fork);
	CHECK_STR(shared->message, "the child could not make a memory file of its own (descriptors, memory)");
	CHECK_EQ(is_shared(), 0);
	CHECK_EQ(zap_space.active, 0);
	CHECK_EQ(waitpid(-1, NULL, __WALL), -1);		/* the child that failed was taken away */
}

/* Where parent and child cannot be kept apart there is no child, and the next fork tries again. */
static void refused(void)
{
	long *const what[] = { &no_fork, &no_maps, &no_freeze };

	for (int i = 0; i < 3; i++) {
		begin();
		if (i == 2)
			mt_process.config.fork_copy_max_bytes = 0;
		*what[i] = -EMFILE;
		errno = 0;
		CHECK_EQ(mt_hook_fork(), -1);
		CHECK_EQ(errno, ENOMEM);
		CHECK_EQ(zap_space.lock.word, 0);
		CHECK_EQ(zap_space.mapped, 1);
		CHECK_EQ(waitpid(-1, NULL, __WALL), -1);
		*what[i] = 0;
		memset(shared, 0, sizeof(*shared));
		fork_by(by_fork);
		CHECK_EQ(is_shared(), i < 2);
	}
	/* what is left of the memory file when nothing is traced any more is frozen all the same */
	begin();
	zap_space.active = 0;
	fork_by(by_fork);
	CHECK_EQ(is_shared(), 0);
}

/* In a child: writes to the memory, which it does not have; a sanitizer would make an exit code of the signal. */
static void writes(void)
{
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)memory = 1;
	mt_sys(SYS_exit_group, 0);
}

/* A child that no hook makes does not have the memory, and what it would write is not the parent's. */
static void unseen(void)
{
	int status = 0;
	long pid;

	begin();
	pid = mt_sys(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		writes();
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK_EQ(memory[0], 0);
	/* nor after forks of ours */
	fork_by(by_fork);
	memset(memory, 0, MT_PAGE);
	pid = mt_sys(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		writes();
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK_EQ(memory[0], 0);
}

static void not_traced(void)
{
	begin();
	zap_space.active = zap_space.mapped = 0;
	memory = mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	strcpy(memory + MT_PAGE, "parent");
	fork_by(by_fork);
	CHECK_STR(shared->message, "the parent was not traced");
	CHECK_STR(shared->calls[1], "forgotten cnt-on forget image child unwatched go");
	mt_process.config.library = MT_LIBRARY_COUNTS;
	memset(shared, 0, sizeof(*shared));
	strcpy(memory + MT_PAGE, "parent");
	fork_by(by_fork);
	CHECK_STR(shared->calls[1], "forgotten cnt-on forget image child count go");
	quiet = 1;
	memset(shared, 0, sizeof(*shared));
	strcpy(memory + MT_PAGE, "parent");
	fork_by(by_fork);
	CHECK_STR(shared->calls[1], "none quiet");
}

/* The backend rwp: the memory is private, so that the kernel does it all; only the protection is made anew. */
static void private_memory(void)
{
	begin();
	zap_space.rwp = 1;
	zap_space.mapped = 0;
	anew = 0;
	memory = mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
	strcpy(memory + MT_PAGE, "parent");
	mt_process.config.fork_copy_max_bytes = 0;	/* nothing is copied */
	fork_by(by_fork);
	CHECK_STR(shared->calls[0], "prepare cnt-prepare fork cnt-parent parent");
	CHECK_STR(shared->calls[1], "anew forget image child zap go");
	CHECK_STR(shared->message, "as always");
	CHECK_EQ(zap_space.active, 1);
	CHECK_EQ(mt_process.tracing, 1);
	memset(shared, 0, sizeof(*shared));
	anew = -EMFILE;
	strcpy(memory + MT_PAGE, "parent");
	fork_by(by_syscall);
	CHECK_STR(shared->calls[1], "anew forgotten cnt-off forget image child unwatched go");
	CHECK_STR(shared->message, "the child could not protect its memory anew (descriptors, memory)");
	CHECK_EQ(zap_space.active, 1);	/* the parent goes on */
	anew = 0;
}

static int parent_tid, child_tid;

static long with_ids(void)
{
	return mt_hook_syscall(SYS_clone, SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID, 0, (long)&parent_tid, (long)&child_tid, 0, 0);
}

static long with_shared_files(void)
{
	return clone_process(SIGCHLD | CLONE_FILES, NULL, NULL);
}

static void clones(void)
{
	int status = -1;
	long pid;

	begin();
	parent_tid = child_tid = 0;
	fork_by(with_ids);
	CHECK(parent_tid > 0 && parent_tid != parent);
	CHECK_EQ(child_tid, 0);		/* is set in the child only, whose memory this is not */
	CHECK_EQ(is_shared(), 1);
	/* a process that shares descriptors: left to itself, and this one is frozen */
	begin();
	pid = with_shared_files();
	if (!pid) {
		shared->result = strcmp(memory + MT_PAGE, "parent") || mt_process.monitored || zap_space.active ? 2 : 1;
		_exit(3);
	}
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK_EQ(status, 3 << 8);
	CHECK_EQ(shared->result, 1);
	CHECK_STR(shared->calls[1], "stop forget cnt-off none");
	CHECK_EQ(is_shared(), 0);
	/* with the backend rwp this one goes on as it is */
	begin();
	zap_space.rwp = 1;
	zap_space.mapped = 0;
	pid = with_shared_files();
	if (!pid)
		_exit(zap_space.active || mt_process.monitored ? 4 : 3);
	CHECK_EQ(waitpid((pid_t)pid, &status, 0), pid);
	CHECK_EQ(status, 3 << 8);
	CHECK_STR(shared->calls[1], "stop forget cnt-off none");
	CHECK_EQ(zap_space.active, 1);
}

static int seven(void *arg)
{
	return arg == &parent_tid ? 7 : 8;
}

static void clones_with_a_stack(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	int status = -1, pid;

	begin();
	errno = 0;
	CHECK_EQ(mt_hook_clone(NULL, stack + sizeof(stack), SIGCHLD, NULL, NULL, NULL, NULL), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(mt_hook_clone(seven, NULL, SIGCHLD, NULL, NULL, NULL, NULL), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_STR(shared->calls[0], "");
	pid = mt_hook_clone(seven, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &parent_tid, NULL, NULL, NULL);
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 7 << 8);
	CHECK_STR(shared->calls[0], "");	/* it shares the memory: nothing is copied */
	pid = mt_hook_clone(seven, stack + sizeof(stack) - 8, SIGCHLD, &parent_tid, NULL, NULL, NULL);
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 7 << 8);
	CHECK_STR(shared->calls[0], "prepare cnt-prepare fork cnt-parent parent");
	errno = 0;
	CHECK_EQ(mt_hook_clone(seven, stack + sizeof(stack), CLONE_VM | CLONE_THREAD, NULL, NULL, NULL, NULL), -1);
	CHECK_EQ(errno, EINVAL);		/* of the kernel: without CLONE_SIGHAND */
	CHECK(strstr(shared->calls[0], " thread") != NULL);
}

static void system_calls(void)
{
	static const struct { long number; const char *name; } calls[] = {
		{ SYS_mmap, "mmap" }, { SYS_munmap, "munmap" }, { SYS_mremap, "mremap" }, { SYS_madvise, "madvise" },
		{ SYS_process_madvise, "process_madvise" }, { SYS_mprotect, "mprotect" }, { SYS_pkey_mprotect, "pkey_mprotect" },
		{ SYS_shmat, "shmat" }, { SYS_shmdt, "shmdt" },
		{ SYS_remap_file_pages, "remap_file_pages" },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		begin();
		CHECK_EQ(mt_hook_syscall(calls[i].number, 1, 2, 3, 4, 5, 6), 77);
		CHECK_STR(shared->calls[0], calls[i].name);
	}
	begin();
	CHECK_EQ(mt_hook_syscall(SYS_execve, (long)"path", 0, 0, 0, 0, 0), 5);
	CHECK_STR(shared->calls[0], "path");
	CHECK_EQ(mt_hook_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), getpid());
	errno = 0;
	CHECK_EQ(mt_hook_syscall(SYS_close, -1, 0, 0, 0, 0, 0), -1);
	CHECK_EQ(errno, EBADF);
}

/* What /proc/self/task/TID/syscall says. */
static void futex_waits(void)
{
	CHECK_EQ(shared_futex_wait("202 0x7f12ab34cd50 0x109 0x1c 0x0 0x0 0xffffffff 0x7ffc 0x7f1\n"), 0x7f12ab34cd50);
	CHECK_EQ(shared_futex_wait("202 0xA 0x0 0x0\n"), 0);		/* not as the kernel writes */
	CHECK_EQ(shared_futex_wait("202 0x7f12ab34cd50 0x189 0x1c\n"), 0);	/* FUTEX_PRIVATE_FLAG */
	CHECK_EQ(shared_futex_wait("202 0x9 0x80 0x0\n"), 0);
	CHECK_EQ(shared_futex_wait("202 0x9 0x0 0x0\n"), 9);
	CHECK_EQ(shared_futex_wait("20 0x9 0x0 0x0\n"), 0);
	CHECK_EQ(shared_futex_wait("2020 0x9 0x0 0x0\n"), 0);
	CHECK_EQ(shared_futex_wait("running\n"), 0);
	CHECK_EQ(shared_futex_wait("-1 0x7ffc 0x7f\n"), 0);
	CHECK_EQ(shared_futex_wait("202 0x9\n"), 0);
	CHECK_EQ(shared_futex_wait(""), 0);
}

static void *wait_in_memory(void *arg)
{
	uint32_t *word = arg;

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);	/* for ever */
	return NULL;
}

/* A thread that waits in memory of the file hears a wake-up that comes after the file was frozen. */
static void waiters_of_a_frozen_file(void)
{
	struct timespec end;
	uint32_t *word;
	pthread_t thread;

	begin();
	word = (uint32_t *)memory;
	mt_process.config.fork_copy_max_bytes = 0;
	CHECK_EQ(pthread_create(&thread, NULL, wait_in_memory, word), 0);
	usleep(50000);		/* if it does not wait yet, this test sees less */
	fork_by(by_fork);
	CHECK_EQ(is_shared(), 0);
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	CHECK_EQ(pthread_timedjoin_np(thread, NULL, &end), 0);
}

/* The same in a namespace where processes have other numbers than in /proc. */
static void waiters_in_a_namespace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
			_exit(0);	/* not allowed here */
		pid = fork();
		if (!pid) {
			waiters_of_a_frozen_file();
			_exit(mt_test_done());
		}
		waitpid(pid, &status, 0);
		_exit(status != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void waits_for_the_child(void)
{
	struct fork_call c = { 0 };
	uint32_t state;
	int status;
	pid_t pid;

	c.state = &state;
	state = CHILD_READY;
	CHECK_EQ(wait_for_child(&c, 1), 1);
	state = CHILD_FAILED;
	CHECK_EQ(wait_for_child(&c, 1), 0);
	state = CHILD_BUSY;
	pid = fork();
	if (!pid)
		_exit(4);
	CHECK_EQ(wait_for_child(&c, pid), 1);		/* somebody killed it: this is none of ours */
	CHECK_EQ(waitpid(pid, &status, 0), pid);	/* and the program hears of it */
	CHECK_EQ(status, 4 << 8);
	CHECK_EQ(wait_for_child(&c, pid), 1);		/* there is none any more */
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	zap_space.memfd = -1;
	CHECK(memory_available() > 0);
	a_copy_each();
	a_quick_one();
	a_frozen_file();
	refused();
	unseen();
	not_traced();
	private_memory();
	clones();
	clones_with_a_stack();
	system_calls();
	futex_waits();
	waits_for_the_child();
	waiters_of_a_frozen_file();
	waiters_in_a_namespace();
	return mt_test_done();
}
