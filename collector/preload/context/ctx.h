/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * ctx.h - what the files of the context library share. See README.md in this
 * folder for the log format and the locking rules.
 *
 * Everything here runs inside the traced program: no stdio, no allocation
 * through the (hooked) allocator, no output, and when something is impossible
 * the call is passed through and the loss is counted.
 */
#ifndef MEMTRACE_CTX_H
#define MEMTRACE_CTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXPORT __attribute__((visibility("default")))
#define CTX_TLS __thread __attribute__((tls_model("initial-exec")))
#define ctx_likely(x) __builtin_expect(!!(x), 1)
#define ctx_unlikely(x) __builtin_expect(!!(x), 0)

#define CTX_MAX_DEPTH 64	/* frames of a call stack, at most */
#define CTX_SHARDS 16		/* of the log and of the block table; power of 2 */

/*
 * A call stack that a thread has had: what was read for it. The return addresses are a function of the stack pointer, of the frame
 * pointer, of these words, and of the objects; while they are the same, so is the stack.
 */
#define CTX_MEMOS 32		/* power of 2 */
#define CTX_MEMO_WORDS 48
struct ctx_memo {
	uintptr_t sp, fp;	/* sp 0: not in use */
	const void *caller;
	uint32_t objects;	/* ctx_objects_changes */
	unsigned int n;
	int64_t id;
	struct {
		uint32_t at;		/* from sp */
		uint32_t is_fp;		/* matters only if a frame pointer is used behind it */
		uintptr_t value;
	} word[CTX_MEMO_WORDS];
};

/* A block that was born. */
struct ctx_birth {
	uint64_t when;		/* ns */
	uintptr_t addr;
	size_t bytes;
	int64_t stack;
	int tid;
	char how;
};

/* One thread. In raw-mapped memory, reused after the death of the thread.
 * small_* and brief_* are written by the owner only and read by ctx_flush. */
struct ctx_thread {
	_Atomic int used;
	int tid;
	int named;		/* how often the monitor has logged the name */
	uintptr_t self;		/* pthread_self() */
	uintptr_t stack_start, stack_end;	/* 0: not known */
	uint64_t cpu_base, cpu_told;	/* CPU time before the image began; logged last. ns */
	_Atomic uint64_t small_count, small_bytes;
	_Atomic uint64_t brief_count, brief_bytes;	/* of blocks that are not listed and that this thread freed */
	int64_t sample_left;	/* bytes of small blocks until the next one is told, see sample.c */
	uint64_t sample_mean, sample_state, sample_when;	/* mean 0: none yet */
	struct ctx_waiting *waiting;	/* births that wait, see brief.c; stays with the slot. NULL: none yet */
	struct ctx_thread *next;	/* all slots ever made; never shortened */
	struct ctx_memo *memo;	/* CTX_MEMOS of them, of the owner only; elsewhere, so that all slots are on a few pages */
};

/* Settings and state, set once by ctx_init. */
extern _Atomic int ctx_on;		/* 1 = record */
extern size_t ctx_min_alloc;
extern int ctx_stack_depth;

/* Depth of "this thread is inside a hook". While it is > 0 everything passes
 * through unrecorded: mmap of the allocator itself, stacks of threads, signal
 * handlers that interrupt a hook. */
extern CTX_TLS int ctx_nest;
extern CTX_TLS struct ctx_thread *ctx_self;

/* counters of what could not be recorded, by reason */
extern _Atomic uint64_t ctx_lost_lock;	/* lock not obtained in time */
extern _Atomic uint64_t ctx_lost_write;	/* bytes of log not written */
extern _Atomic uint64_t ctx_lost_memory;	/* no memory for a table */

/* ---- sys.c: raw services ---- */
uint64_t ctx_now(void);
uint64_t ctx_now_coarse(void);		/* up to 10 ms late, a quarter of the price */
void *ctx_map(size_t len);		/* NULL on failure */
int ctx_gettid(void);
bool ctx_readable(const void *at, size_t bytes);	/* asks the kernel: may it be read now? */

/* Spin lock that gives up: a thread may have left a hook by siglongjmp with
 * the lock held, and the program must not hang for that. */
bool ctx_lock(_Atomic int *lock);
void ctx_unlock(_Atomic int *lock);

/* ---- table.c: set of the addresses of recorded blocks ---- */
bool ctx_table_init(void);
bool ctx_table_add(uintptr_t addr);
bool ctx_table_remove(uintptr_t addr);	/* true when it was there */
bool ctx_table_has(uintptr_t addr);	/* no lock; false is exact */
void ctx_table_lock_all(void);
void ctx_table_unlock_all(void);
size_t ctx_table_count(void);

/* ---- log.c: buffered lines ---- */
struct mt_image;
bool ctx_log_open(const struct mt_image *img);
void ctx_log_flush(bool monitor);	/* on the monitor, or in a thread of the program */
void ctx_log_lock_all(void);
void ctx_log_unlock_all(void);
void ctx_log_drop(void);		/* child of fork: forget the parent's file */
void ctx_log_wait(void);		/* … lines wait in the buffers, as long as there is room, until there is a file */
bool ctx_log_waits(void);

/* A line under construction; fixed size, long fields are cut. */
struct ctx_line {
	size_t n;
	char b[1536];
};
void ctx_line_begin(struct ctx_line *l, char kind);
void ctx_line_dec(struct ctx_line *l, uint64_t v);
void ctx_line_int(struct ctx_line *l, int64_t v);
void ctx_line_hex(struct ctx_line *l, uint64_t v);
void ctx_line_str(struct ctx_line *l, const char *s);	/* percent-encoded */
void ctx_line_end(struct ctx_line *l);		/* puts it into the log */
void ctx_line_put(struct ctx_line *l, unsigned int shard);	/* same, on the monitor */
void ctx_line_put_by(struct ctx_line *l, unsigned int shard, bool monitor);	/* same, without thread-local memory */

/* ---- stack.c: call stacks ---- */
bool ctx_stack_init(void);
int64_t ctx_stack_capture(const void *caller);	/* of the hook, any; id, or -1; logs a new stack once */
void ctx_stack_lock_all(void);
void ctx_stack_unlock_all(void);

/* ---- brief.c: births that are not in the log yet ---- */
extern bool ctx_brief_on;
extern _Atomic bool ctx_deaths_missed;	/* blocks may be in the table that are dead */
/* constructor; one part in @share of the budget is for those that are listed. 0 ppm: none waits, all are listed */
void ctx_brief_init(uint32_t max_overhead_ppm, unsigned int share);
bool ctx_brief_out_own(uintptr_t addr, struct ctx_birth *b);	/* it waited in this thread: now it is in *b only */
bool ctx_brief_out(uintptr_t addr, struct ctx_birth *b);	/* … in any thread. Where it is false the table is right */
bool ctx_brief_listed(const struct ctx_birth *b);	/* it died, and its birth is in the log; false: it is counted as not listed */
void ctx_brief_unlisted(const struct ctx_birth *b);	/* it died, and is counted */
void ctx_brief_back(struct ctx_birth *b, size_t bytes);	/* it lives on, with this size */
void ctx_brief_settle(bool everything, bool monitor);	/* lists what waits: all, or what is old. Under the lock of ctx_flush */
void ctx_brief_thread_gone(struct ctx_thread *t);	/* its numbers, into those of all that are gone */
void ctx_brief_gone(uint64_t *count, uint64_t *bytes);
void ctx_brief_fork_child(void);	/* no lock is held */

/* ---- sample.c: small blocks ---- */
/* The thread's sample_left went below 0 with a small block. ctx_nest > 0. */
void ctx_sample(struct ctx_thread *t, const void *p, size_t n, const void *caller) __attribute__((noinline, cold));
uint64_t ctx_sample_distance(uint64_t *state, uint64_t mean);	/* bytes, of an exponential distribution; *state is not 0 */

/* ---- thread.c ---- */
void ctx_thread_init(void);
void ctx_thread_brief(uint64_t *count, uint64_t *bytes);	/* not listed, of all threads */
void ctx_thread_times(bool all);	/* on the monitor: CPU time of the threads; all: of each, now */
struct ctx_thread *ctx_thread_self(void);	/* NULL at the very end of a thread */
void ctx_thread_names(bool all);	/* on the monitor: names of living threads, or of new ones */
void ctx_thread_fork_child(int old_tid, int new_tid, uint64_t when);
void ctx_thread_lock_all(void);
void ctx_thread_unlock_all(void);
void ctx_thread_counts(uint64_t *count, uint64_t *bytes);

/* ---- objects.c ---- */
struct ctx_object {
	_Atomic uint32_t serial;	/* 0: not in use; no other object ever had it */
	unsigned int round;		/* of the scan that found it last */
	bool told;			/* it is in the log */
	uintptr_t base, start, end;	/* bias, all of it: [start, end) */
	uintptr_t dynamic, frames;	/* its dynamic section, .eh_frame_hdr or 0 */
	int64_t tls_offset;		/* from the thread pointer of each thread */
	uint64_t tls_bytes;		/* 0: none, or not the same in all threads */
	uint64_t gone;			/* ns; when serial became 0, until that is in the log */
};
#define CTX_NO_OBJECT 0xffff

bool ctx_objects_init(void);		/* constructor: what the program begins with */
void ctx_objects_scan(void);		/* log loaded objects that are new or gone */
void ctx_objects_lock(void);
void ctx_objects_unlock(void);
void ctx_objects_fork_child(void);
bool ctx_ip_is_ours(uintptr_t ip);	/* inside this library */
int ctx_objects_read_begin(uintptr_t ip, uint32_t *serial);
void ctx_objects_read_end(void);
extern struct ctx_object *ctx_objects;
extern _Atomic uint32_t ctx_objects_changes;	/* they came or went */

/* Without an object: what says whether there is still none. */
static inline uint32_t ctx_object_serial(int i)
{
	return atomic_load_explicit(i == CTX_NO_OBJECT ? &ctx_objects_changes : &ctx_objects[i].serial, memory_order_acquire);
}

/* ---- unwind.c: return addresses ---- */
#define CTX_OWN_FRAMES 16		/* of this library in a stack, at most */
bool ctx_unwind_init(void);
/*
 * Return addresses of the callers of this library, innermost first; how many. -1: it is the stack of *memo. Else a stack that can
 * be known again has a *memo, where it comes to if its sp is set to *sp; NULL: none. @caller tells stacks apart. ctx_nest > 0.
 */
int ctx_unwind(uintptr_t *ip, int max, const void *caller, struct ctx_memo **memo, uintptr_t *sp);

/* ---- suspect.c: what is looked at closely ---- */
extern bool ctx_suspecting;		/* there is something; else nothing below needs to be called */
void ctx_suspect_init(const char *spec);	/* constructor; NULL or empty: nothing */
void ctx_suspect_object(const char *path, uintptr_t bias, uintptr_t start, uintptr_t end);	/* it was loaded */
void ctx_suspect_object_gone(uintptr_t start);
void ctx_suspect_stack(int64_t id, const uintptr_t *ip, int n);	/* a call stack that is new; before its first block */
void ctx_suspect_born(int64_t stack, uintptr_t addr, size_t bytes);
void ctx_suspect_gone(uintptr_t addr, size_t bytes);	/* all that begin in this range */
void ctx_suspect_moved(uintptr_t from, size_t bytes, uintptr_t to, size_t to_bytes);

/* ---- large.c: where large blocks are, for the fine clock ---- */
#define CTX_LARGE (64ul << 10)	/* bytes */
extern bool ctx_large_on;		/* else nothing below needs to be called */
void ctx_large_born(uintptr_t addr, size_t bytes);
void ctx_large_gone(uintptr_t addr);

/* ---- heaps.c: small blocks that are not at the break ---- */
extern bool ctx_heaps_told;		/* the word before a block says whether it is in such a heap: ours is the allocator of glibc */
void ctx_heaps_init(const void *allocator);	/* constructor; the malloc that the program gets */
void ctx_heap_used(uintptr_t addr, size_t bytes);	/* there is a block in it; no lock */
void ctx_heaps_flush(void);		/* logs the heaps that grew; under the lock of ctx_flush */
void ctx_heaps_fork_child(uint64_t when);

/* ---- hooks.c ---- */
void ctx_real_init(void);
extern CTX_TLS int ctx_pool_mode;	/* > 0: this thread allocates from the pool */

#endif
