/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * main.c - the entry points of preload/ground/context.h: start, mappings, fork, end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/ground/context.h"
#include "preload/context/ctx.h"
#include "preload/ground/image.h"
#include "common/rawsys.h"
#include "common/settings.h"


static _Atomic int flush_lock;	/* one flusher; fork waits for it */
static uint64_t shown_count, shown_lost, shown_brief;
static uint64_t fork_time;	/* of the fork under way, under all locks */
static int fork_tid;

/* Caller holds flush_lock. */
static void log_counters(void)
{
	uint64_t count, bytes, lost_lock = atomic_load(&ctx_lost_lock);
	uint64_t lost_write = atomic_load(&ctx_lost_write);
	uint64_t lost_memory = atomic_load(&ctx_lost_memory);
	struct ctx_line l;

	ctx_thread_counts(&count, &bytes);
	if (count == shown_count && lost_lock + lost_write + lost_memory == shown_lost)
		return;
	shown_count = count;
	shown_lost = lost_lock + lost_write + lost_memory;
	ctx_line_begin(&l, 'C');
	ctx_line_dec(&l, ctx_now());
	ctx_line_dec(&l, count);
	ctx_line_dec(&l, bytes);
	ctx_line_dec(&l, lost_lock);
	ctx_line_dec(&l, lost_write);
	ctx_line_dec(&l, lost_memory);
	ctx_line_put(&l, 0);
}

/* Caller holds flush_lock. */
static void log_brief(void)
{
	uint64_t count, bytes;
	struct ctx_line l;

	ctx_thread_brief(&count, &bytes);
	if (count == shown_brief)
		return;
	shown_brief = count;
	ctx_line_begin(&l, 'K');
	ctx_line_dec(&l, ctx_now());
	ctx_line_dec(&l, count);
	ctx_line_dec(&l, bytes);
	ctx_line_put(&l, 0);
}

static void log_header(void)
{
	struct ctx_line l;

	ctx_line_begin(&l, 'V');
	ctx_line_dec(&l, 1);
	ctx_line_dec(&l, ctx_now());
	ctx_line_int(&l, mt_getpid());
	ctx_line_dec(&l, ctx_min_alloc);
	ctx_line_int(&l, ctx_stack_depth);
	ctx_line_dec(&l, MT_PAGE);
	ctx_line_put(&l, 0);
}

void ctx_init(const struct mt_image *img)
{
	ctx_nest++;
	ctx_real_init();
	ctx_min_alloc = img->config->min_alloc_bytes;
	ctx_stack_depth = img->config->stack_depth;
	if (ctx_stack_depth > CTX_MAX_DEPTH)
		ctx_stack_depth = CTX_MAX_DEPTH;
	if (!ctx_table_init() || !ctx_stack_init() || !ctx_unwind_init() || !ctx_objects_init() ||
	    !ctx_log_open(img)) {
		ctx_nest--;
		return;
	}
	log_header();
	ctx_suspect_init(getenv(MT_VARIABLE(MEMTRACE_ZOOM)));
	ctx_large_on = img->config->fine_ns != 0;
	/* exact counts are of each block; a close look judges a block when it is born */
	if (!ctx_suspecting && img->config->library != MT_LIBRARY_COUNTS && img->config->library != MT_LIBRARY_ASKS_TOOL)
		ctx_brief_init(img->config->max_overhead_ppm, img->config->library == MT_LIBRARY_NO_ACCESSES ? 16 : 8);
	ctx_objects_scan();
	ctx_thread_init();
	ctx_log_flush(false);
	atomic_store(&ctx_on, 1);
	ctx_nest--;
}

static bool noting(size_t len)
{
	return atomic_load_explicit(&ctx_on, memory_order_relaxed) && ctx_nest == 0 &&
	       len >= ctx_min_alloc;
}

/*
 * What memory a shared mapping is, for whoever maps it: device, inode and offset in bytes, the number of a
 * System V segment with device 0.
 */
static void put_segment(struct ctx_line *l, int flags, int fd, int64_t offset)
{
	struct stat st;

	if (fd == CTX_SYSV) {
		ctx_line_hex(l, 0);
		ctx_line_hex(l, (uint64_t)offset);
		ctx_line_hex(l, 0);
	} else if (fd >= 0 && !(flags & MAP_ANONYMOUS) && (flags & MAP_TYPE) != MAP_PRIVATE && !mt_failed(mt_sys(SYS_fstat, fd, &st))) {
		ctx_line_hex(l, st.st_dev);
		ctx_line_hex(l, st.st_ino);
		ctx_line_hex(l, (uint64_t)offset);
	}
}

/* Apart, as stacks of signal handlers may be small. */
static __attribute__((noinline)) void put_path(struct ctx_line *l, int fd)
{
	char link[40] = "/proc/self/fd/", path[1024], d[12];
	size_t n = 14;
	int k = 0;
	long r;

	do {
		d[k++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd);
	while (k)
		link[n++] = d[--k];
	link[n] = 0;
	r = mt_sys(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	path[r > 0 ? r : 0] = 0;
	ctx_line_str(l, path);
}

/* Apart, as the room for a line and that for a walk over the stack are not needed at the same time: stacks of handlers may be small. */
static __attribute__((noinline)) void log_mapping(uint64_t time, void *addr, size_t len, int prot, int flags, int fd, int64_t offset,
						  int64_t stack)
{
	const struct ctx_thread *t = ctx_thread_self();
	struct ctx_line l;

	ctx_line_begin(&l, 'M');
	ctx_line_dec(&l, time);
	ctx_line_int(&l, t ? t->tid : ctx_gettid());
	ctx_line_hex(&l, (uintptr_t)addr);
	ctx_line_dec(&l, len);
	ctx_line_hex(&l, (uint64_t)(unsigned int)(prot & ~CTX_UNSEEN));
	ctx_line_hex(&l, (uint64_t)(unsigned int)flags | (prot & CTX_UNSEEN ? 1ull << 32 : 0));
	ctx_line_int(&l, stack);
	if (!(flags & MAP_ANONYMOUS) && fd >= 0)
		put_path(&l, fd);
	else
		ctx_line_str(&l, "");
	put_segment(&l, flags, fd, offset);
	ctx_line_end(&l);
}

void ctx_note_mmap(void *addr, size_t len, int prot, int flags, int fd, int64_t offset, void *frame)
{
	uint64_t time;
	int64_t stack;

	/* memory that is not seen is told however little it is */
	if (!noting(prot & CTX_UNSEEN ? SIZE_MAX : len) || (flags & MAP_STACK))
		return;
	ctx_nest++;
	time = ctx_now();
	stack = ctx_stack_capture(frame ? ((void **)frame)[1] : NULL);
	if (ctx_unlikely(ctx_suspecting))
		ctx_suspect_born(stack, (uintptr_t)addr, len);
	if (ctx_large_on && len >= CTX_LARGE)
		ctx_large_born((uintptr_t)addr, len);
	log_mapping(time, addr, len, prot, flags, fd, offset, stack);
	ctx_nest--;
}

void ctx_note_unseen(uint64_t start, uint64_t end, int prot, int shared, const char *path)
{
	struct ctx_line l;

	if (!atomic_load(&ctx_on))
		return;
	ctx_line_begin(&l, 'Q');
	ctx_line_dec(&l, ctx_now());
	ctx_line_hex(&l, start);
	ctx_line_dec(&l, end - start);
	ctx_line_hex(&l, (uint64_t)(unsigned int)prot);
	ctx_line_int(&l, shared != 0);
	ctx_line_str(&l, path);
	ctx_line_put(&l, 0);
}

static void log_range(char kind, uintptr_t a, uint64_t b, uintptr_t c, uint64_t d, int n)
{
	struct ctx_line l;

	ctx_nest++;
	ctx_line_begin(&l, kind);
	ctx_line_dec(&l, ctx_now());
	ctx_line_hex(&l, a);
	ctx_line_dec(&l, b);
	if (n > 2)
		ctx_line_hex(&l, c);
	if (n > 3)
		ctx_line_dec(&l, d);
	ctx_line_end(&l);
	ctx_nest--;
}

void ctx_note_munmap(void *addr, size_t len)
{
	if (!noting(SIZE_MAX))
		return;
	if (ctx_unlikely(ctx_suspecting))
		ctx_suspect_gone((uintptr_t)addr, len);
	log_range('U', (uintptr_t)addr, len, 0, 0, 2);
}

void ctx_note_mremap(void *old, size_t osz, void *new_, size_t nsz)
{
	if (!noting(SIZE_MAX))
		return;
	if (ctx_unlikely(ctx_suspecting))
		ctx_suspect_moved((uintptr_t)old, osz, (uintptr_t)new_, nsz);
	log_range('W', (uintptr_t)old, osz, (uintptr_t)new_, nsz, 4);
}

void ctx_note_huge(void *addr, size_t len, int advice)
{
	if (noting(SIZE_MAX))
		log_range('G', (uintptr_t)addr, len, (uintptr_t)advice, 0, 3);
}

/* The allocator moves the break from inside malloc, so this one is noted at
 * any depth. */
void ctx_note_brk(void *old, void *new_)
{
	if (atomic_load_explicit(&ctx_on, memory_order_relaxed) && old != new_)
		log_range('B', (uintptr_t)old, 0, (uintptr_t)new_, 0, 4);
}

/* On the monitor, which libc does not know: nothing below uses TLS, errno or a
 * lock of libc. */
void ctx_flush(void)
{
	if (!atomic_load(&ctx_on) || !ctx_lock(&flush_lock))
		return;
	ctx_thread_names(false);
	ctx_thread_times(false);
	ctx_brief_settle(false, true);
	ctx_heaps_flush();
	log_counters();
	log_brief();
	ctx_log_flush(true);
	ctx_unlock(&flush_lock);
}

/*
 * Around fork the forking thread holds every lock of this library, in the
 * order flush, objects, thread, stack, table, log. Nobody takes two of them in
 * another order (a new stack is logged under the lock of the stacks). TLS is
 * the program's memory and is not touched: all signals are blocked, so that no
 * hook can run in this thread meanwhile.
 */
void ctx_fork_prepare(void)
{
	if (!atomic_load(&ctx_on))
		return;
	ctx_lock(&flush_lock);
	ctx_brief_settle(true, false);	/* what the child inherits is in the log of the parent */
	ctx_objects_lock();
	ctx_thread_lock_all();
	ctx_stack_lock_all();
	ctx_table_lock_all();
	ctx_log_flush(false);
	ctx_log_lock_all();
	fork_time = ctx_now();
	fork_tid = mt_gettid();
}

static void release(void)
{
	ctx_log_unlock_all();
	ctx_table_unlock_all();
	ctx_stack_unlock_all();
	ctx_thread_unlock_all();
	ctx_objects_unlock();
	ctx_unlock(&flush_lock);
}

void ctx_fork_parent(void)
{
	if (atomic_load(&ctx_on))
		release();
}

/*
 * The child inherits blocks, mappings and stacks. It does not write them
 * again: its log begins with the time of the fork, and the reader takes what
 * was alive then from the parent's log. What was logged in the parent between
 * the flush and the locks is still in the buffers of the parent.
 */
static void drop_parents(void)
{
	ctx_log_drop();
	ctx_log_unlock_all();
	ctx_objects_fork_child();
	shown_count = shown_lost = shown_brief = 0;
}

static void begin_child(int parent)
{
	struct ctx_line l;

	log_header();
	ctx_line_begin(&l, 'F');
	ctx_line_dec(&l, fork_time);
	ctx_line_int(&l, parent);
	ctx_line_put(&l, 0);
	ctx_thread_fork_child(fork_tid, mt_gettid(), fork_time);
	ctx_heaps_fork_child(fork_time);
	ctx_log_flush(true);
}

static void end_child(void)
{
	release();
	ctx_brief_fork_child();
}

void ctx_fork_child(const struct mt_image *img)
{
	if (!atomic_load(&ctx_on))
		return;
	drop_parents();
	if (img && ctx_log_open(img))
		begin_child(img->parent);
	else
		atomic_store(&ctx_on, 0);
	end_child();
}

void ctx_fork_later(int parent)
{
	if (!atomic_load(&ctx_on))
		return;
	drop_parents();
	ctx_log_wait();
	begin_child(parent);
	end_child();
}

int ctx_waits(void)
{
	return atomic_load(&ctx_on) && ctx_log_waits();
}

void ctx_go_on(const struct mt_image *img)
{
	if (ctx_log_open(img))
		ctx_log_flush(false);
	else
		atomic_store(&ctx_on, 0);
}

/*
 * The end of the program, in its own thread: libraries loaded late are noted
 * while they are there.
 */
__attribute__((destructor)) static void last_scan(void)
{
	if (!atomic_load(&ctx_on) || ctx_nest)
		return;
	ctx_nest++;
	ctx_objects_scan();
	ctx_nest--;
}

/* Last call: on the monitor, or in the exiting thread when there is none. */
void ctx_fini(void)
{
	struct ctx_line l;

	if (!atomic_load(&ctx_on))
		return;
	if (ctx_lock(&flush_lock)) {
		ctx_thread_names(true);
		ctx_thread_times(true);
		ctx_brief_settle(true, false);	/* perhaps more than the buffers hold: looks at the inode, too */
		ctx_heaps_flush();
		log_counters();
		log_brief();
		ctx_unlock(&flush_lock);
	}
	atomic_store(&ctx_on, 0);
	ctx_line_begin(&l, 'E');
	ctx_line_dec(&l, ctx_now());
	ctx_line_put(&l, 0);
	ctx_log_flush(false);	/* looks at the inode: right in both cases */
}
