/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * hooks.c - the malloc family.
 *
 * C++ operator new, strdup, fopen, Fortran ALLOCATE etc. all end here, because
 * they call malloc through the dynamic linker. Blocks of at least
 * ctx_min_alloc bytes are recorded one by one, smaller ones are counted.
 *
 * Order of stamps: a birth is stamped after the real allocation and a death
 * before the real release, so that the lives of two blocks at one address never
 * overlap.
 *
 * A program that brings its own malloc in its executable is not seen by these
 * hooks (the linker binds to the executable first); it is traced all the same,
 * with the mappings of its allocator as structures.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/ground/context.h"
#include "preload/ground/quiet.h"
#include "preload/context/ctx.h"


static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} real;

enum { UNKNOWN, RESOLVING, READY };
static _Atomic int state;

/* ------------------------------------------------------------- the pool */

/*
 * For calls that arrive while the real functions are being looked up, and for
 * libc functions that allocate on our behalf. Blocks of one cell are reused,
 * larger ones are not; both are rare.
 */
#define POOL_FIRST 65536u
#define POOL_CHUNK (1u << 20)
#define CELL 128u

struct pool_head {
	size_t size;
	size_t pad;
};

static char pool_first[POOL_FIRST] __attribute__((aligned(16)));
static struct {
	char *start;
	size_t size, used;
} chunk[256] = { { pool_first, POOL_FIRST, 0 } };
static _Atomic int n_chunks = 1;
static struct pool_head *free_cells;
static _Atomic int pool_lock;

static bool ctx_pool_owns(const void *p)
{
	int n = atomic_load_explicit(&n_chunks, memory_order_acquire);

	for (int i = 0; i < n; i++)
		if ((uintptr_t)p - (uintptr_t)chunk[i].start < chunk[i].size)
			return true;
	return false;
}

/* never freed, for dlsym and friends */
static void *ctx_pool_alloc(size_t n, size_t align)
{
	struct pool_head *h = NULL;
	size_t need;
	char *p;
	int c;

	if (align < 16)
		align = 16;
	if (n > POOL_CHUNK / 4 || align > 4096 || !ctx_lock(&pool_lock))
		return NULL;
	if (n <= CELL && align == 16) {
		n = CELL;
		h = free_cells;
		if (h) {
			free_cells = *(struct pool_head **)(h + 1);
			memset(h + 1, 0, CELL);
			goto out;
		}
	}
	need = n + sizeof(*h) + align;
	c = atomic_load(&n_chunks) - 1;
	if (chunk[c].used + need > chunk[c].size) {
		if (c + 1 == (int)(sizeof(chunk) / sizeof(chunk[0])))
			goto out;
		p = ctx_map(POOL_CHUNK);
		if (!p)
			goto out;
		c++;
		chunk[c].start = p;
		chunk[c].size = POOL_CHUNK;
		chunk[c].used = 0;
		atomic_store_explicit(&n_chunks, c + 1, memory_order_release);
	}
	p = chunk[c].start + chunk[c].used + sizeof(*h);
	p = (char *)(((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1));
	h = (struct pool_head *)p - 1;
	h->size = n;
	chunk[c].used = (size_t)(p + n - chunk[c].start + 15) & ~(size_t)15;
out:
	ctx_unlock(&pool_lock);
	return h ? h + 1 : NULL;
}

static void pool_free(void *p)
{
	struct pool_head *h = (struct pool_head *)p - 1;

	if (h->size != CELL || !ctx_lock(&pool_lock))
		return;
	*(struct pool_head **)p = free_cells;
	free_cells = h;
	ctx_unlock(&pool_lock);
}

static size_t pool_size(void *p)
{
	return ((struct pool_head *)p - 1)->size;
}

/* -------------------------------------------------------- real functions */

void ctx_real_init(void)
{
	int expected = UNKNOWN;

	if (!atomic_compare_exchange_strong(&state, &expected, RESOLVING))
		return;
	ctx_pool_mode++;
#define FIND(f) (real.f = (__typeof__(real.f))dlsym(RTLD_NEXT, #f))
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	FIND(posix_memalign);
	FIND(aligned_alloc);
	FIND(memalign);
	FIND(valloc);
	FIND(pvalloc);
#undef FIND
	ctx_heaps_init((void *)real.malloc);
	ctx_pool_mode--;
	atomic_store(&state, READY);
}

/* True when the call has to be served from the pool. */
static inline bool use_pool(void)
{
	if (ctx_likely(atomic_load_explicit(&state, memory_order_acquire) == READY))
		return ctx_unlikely(ctx_pool_mode > 0);
	if (ctx_pool_mode > 0)
		return true;
	ctx_real_init();
	return atomic_load(&state) != READY;	/* another thread is at it */
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

/* ------------------------------------------------------------- recording */

static inline bool recording(void)
{
	return atomic_load_explicit(&ctx_on, memory_order_relaxed) && ctx_nest == 0 &&
	       mt_in_hook == 0;
}

static inline __attribute__((always_inline)) void count_small(const void *p, size_t n)
{
	struct ctx_thread *t = ctx_thread_self();

	if (ctx_unlikely(!t))
		return;
	/* one writer: no locked instruction */
	atomic_store_explicit(&t->small_count, 1 +
		atomic_load_explicit(&t->small_count, memory_order_relaxed),
		memory_order_relaxed);
	atomic_store_explicit(&t->small_bytes, n +
		atomic_load_explicit(&t->small_bytes, memory_order_relaxed),
		memory_order_relaxed);
	t->sample_left -= (int64_t)n;
	if (ctx_unlikely(t->sample_left < 0)) {
		int err = errno;

		ctx_sample(t, p, n, __builtin_return_address(0));	/* of the hook */
		errno = err;
	}
}

static int current_tid(void)
{
	struct ctx_thread *t = ctx_thread_self();

	return t ? t->tid : ctx_gettid();
}

/* kind: A birth, R changed size in place. ctx_nest > 0. */
static void log_block(char kind, char how, void *p, size_t n, const void *caller)
{
	struct ctx_line l;
	int64_t stack;

	ctx_line_begin(&l, kind);
	ctx_line_dec(&l, ctx_now());
	ctx_line_int(&l, current_tid());
	ctx_line_hex(&l, (uintptr_t)p);
	ctx_line_dec(&l, n);
	stack = ctx_stack_capture(caller);
	ctx_line_int(&l, stack);
	if (ctx_unlikely(ctx_suspecting))
		ctx_suspect_born(stack, (uintptr_t)p, n);
	l.b[l.n++] = ' ';
	l.b[l.n++] = how;
	ctx_line_end(&l);
}

static void birth(char how, void *p, size_t n, const void *caller)
{
	int err = errno;

	if (ctx_large_on && n >= CTX_LARGE)
		ctx_large_born((uintptr_t)p, n);
	if (ctx_brief_on) {
		struct ctx_birth b = { .when = ctx_now(), .addr = (uintptr_t)p, .bytes = n, .tid = current_tid(), .how = how };

		b.stack = ctx_stack_capture(caller);
		ctx_brief_back(&b, n);
	} else if (ctx_table_add((uintptr_t)p)) {
		log_block('A', how, p, n, caller);
	}
	errno = err;
}

static void death(void *p, uint64_t when)
{
	struct ctx_line l;
	int err = errno;

	if (ctx_unlikely(ctx_suspecting))
		ctx_suspect_gone((uintptr_t)p, 1);
	ctx_line_begin(&l, 'D');
	ctx_line_dec(&l, when);
	ctx_line_int(&l, current_tid());
	ctx_line_hex(&l, (uintptr_t)p);
	ctx_line_end(&l);
	errno = err;
}

#define NON_MAIN_ARENA 4u	/* flag of the size, in the word before a block of glibc */

static inline __attribute__((always_inline)) void born(char how, void *p, size_t n)
{
	if (!p)
		return;
	if (ctx_likely(ctx_heaps_told) && (((const size_t *)p)[-1] & NON_MAIN_ARENA))
		ctx_heap_used((uintptr_t)p, n);
	if (ctx_unlikely(n >= ctx_min_alloc))
		birth(how, p, n, __builtin_return_address(0));	/* of the hook */
	else
		count_small(p, n);
}

/*
 * A process that asked for little memory so far is not recorded yet (ground/quiet.c): that begins inside the real function, when it
 * asks the kernel for more. Then it is this block that the program asked for, and not a mapping.
 */
static __attribute__((noinline)) void born_first(char how, void *p, size_t n, const void *caller)
{
	if (p && n >= ctx_min_alloc && atomic_load_explicit(&ctx_on, memory_order_relaxed) && ctx_nest == 1 && mt_in_hook == 0)
		birth(how, p, n, caller);
}

#define REAL(result, how, bytes, ...)						\
	do {									\
		ctx_nest++;							\
		(result) = (__VA_ARGS__);					\
		born_first(how, (result), bytes, __builtin_return_address(0));	\
		ctx_nest--;							\
	} while (0)

#define CHUNK_FLAGS 7u

/*
 * Is a block one of those that are recorded one by one, by its size? Most that are freed are too small for it; glibc has the size in the
 * word before the block, which it is about to read as well, where the table is a cache miss.
 */
static inline bool is_large(const void *p)
{
	return !ctx_likely(ctx_heaps_told) || (((const size_t *)p)[-1] & ~(size_t)CHUNK_FLAGS) >= ctx_min_alloc + sizeof(size_t);
}

/* Where the birth of a block is. It is not there any more from here on. */
enum was { NOT_RECORDED, LISTED, WAITING };
static enum was forget(const void *p, struct ctx_birth *b)
{
	const uintptr_t addr = (uintptr_t)p;

	if (ctx_large_on)
		ctx_large_gone(addr);
	if (ctx_brief_on) {
		if (ctx_brief_out_own(addr, b))
			return WAITING;
		if (!ctx_table_has(addr) && ctx_brief_out(addr, b))
			return WAITING;
	}
	if (!ctx_table_has(addr))
		return NOT_RECORDED;
	if (ctx_table_remove(addr))
		return LISTED;
	atomic_store_explicit(&ctx_deaths_missed, true, memory_order_relaxed);
	return NOT_RECORDED;
}

/* Not inline: most blocks are small. */
static __attribute__((noinline)) void freed(void *p)
{
	struct ctx_birth b;
	const enum was was = forget(p, &b);

	if (was == LISTED || (was == WAITING && ctx_brief_listed(&b)))
		death(p, ctx_now());
}

/* In a signal handler that interrupts a hook: takes no lock, so what is listed stays in the table, see README.md. */
static __attribute__((noinline)) void freed_inside(void *p)
{
	struct ctx_birth b;

	if (!ctx_brief_on || ctx_nest <= 0 || !is_large(p))
		return;
	ctx_nest++;
	if (ctx_brief_out_own((uintptr_t)p, &b) || ctx_brief_out((uintptr_t)p, &b))
		ctx_brief_unlisted(&b);
	else		/* it is in the table, or its thread is just putting it there */
		atomic_store_explicit(&ctx_deaths_missed, true, memory_order_relaxed);
	ctx_nest--;
}

/* ----------------------------------------------------------------- hooks */

CTX_EXPORT void *malloc(size_t n)
{
	void *p;

	if (ctx_unlikely(use_pool())) {
		p = ctx_pool_alloc(n, 16);
		return p ? p : no_memory();
	}
	if (ctx_unlikely(!recording())) {
		if (!mt_is_quiet())
			return real.malloc(n);
		REAL(p, 'm', n, real.malloc(n));
		return p;
	}
	ctx_nest++;
	p = real.malloc(n);
	born('m', p, n);
	ctx_nest--;
	return p;
}

CTX_EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (ctx_unlikely(use_pool())) {
		if (__builtin_mul_overflow(n, size, &bytes))
			return no_memory();
		p = ctx_pool_alloc(bytes, 16);	/* pool memory is zero */
		return p ? p : no_memory();
	}
	if (ctx_unlikely(!recording())) {
		if (!mt_is_quiet())
			return real.calloc(n, size);
		REAL(p, 'c', n * size, real.calloc(n, size));
		return p;
	}
	ctx_nest++;
	p = real.calloc(n, size);
	born('c', p, n * size);
	ctx_nest--;
	return p;
}

CTX_EXPORT void free(void *p)
{
	if (!p)
		return;
	if (ctx_unlikely(ctx_pool_owns(p))) {
		pool_free(p);
		return;
	}
	if (ctx_unlikely(use_pool()))
		return;		/* real free not known yet: leak a few bytes */
	if (ctx_unlikely(!recording())) {	/* a stale entry is harmless, see README.md */
		if (atomic_load_explicit(&ctx_on, memory_order_relaxed))
			freed_inside(p);
		real.free(p);
		return;
	}
	ctx_nest++;
	if (ctx_unlikely(is_large(p)))
		freed(p);
	real.free(p);
	ctx_nest--;
}

CTX_EXPORT void *realloc(void *old, size_t n)
{
	struct ctx_birth b;
	uint64_t before;
	enum was was;
	void *p;

	if (ctx_unlikely(old && ctx_pool_owns(old))) {
		size_t have = pool_size(old);

		p = malloc(n);
		if (p) {
			memcpy(p, old, have < n ? have : n);
			pool_free(old);
		}
		return p;
	}
	if (ctx_unlikely(use_pool())) {
		if (old)
			return no_memory();
		p = ctx_pool_alloc(n, 16);
		return p ? p : no_memory();
	}
	if (ctx_unlikely(!recording())) {
		if (!mt_is_quiet())
			return real.realloc(old, n);
		REAL(p, 'r', n, real.realloc(old, n));
		return p;
	}
	ctx_nest++;
	before = ctx_now();
	/* removed before the call: afterwards the address may be someone else's */
	was = old && is_large(old) ? forget(old, &b) : NOT_RECORDED;
	p = real.realloc(old, n);
	if (!p && n && old) {		/* failed: the old block lives on */
		if (was == LISTED)
			ctx_table_add((uintptr_t)old);
		else if (was == WAITING)
			ctx_brief_back(&b, b.bytes);
	} else if (was && p == old && n >= ctx_min_alloc) {
		int err = errno;

		if (was == WAITING)
			ctx_brief_back(&b, n);
		else if (ctx_table_add((uintptr_t)p))
			log_block('R', 'r', p, n, __builtin_return_address(0));
		if (ctx_large_on && n >= CTX_LARGE)
			ctx_large_born((uintptr_t)p, n);
		errno = err;
	} else {
		if (was == LISTED || (was == WAITING && ctx_brief_listed(&b)))
			death(old, before);
		born('r', p, n);
	}
	ctx_nest--;
	return p;
}

CTX_EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return no_memory();
	return realloc(old, bytes);
}

CTX_EXPORT int posix_memalign(void **out, size_t align, size_t n)
{
	int err;

	if (ctx_unlikely(use_pool())) {
		void *p = ctx_pool_alloc(n, align);

		if (!p)
			return ENOMEM;
		*out = p;
		return 0;
	}
	if (!real.posix_memalign)
		return ENOMEM;
	if (ctx_unlikely(!recording())) {
		if (!mt_is_quiet())
			return real.posix_memalign(out, align, n);
		ctx_nest++;
		err = real.posix_memalign(out, align, n);
		born_first('a', err ? NULL : *out, n, __builtin_return_address(0));
		ctx_nest--;
		return err;
	}
	ctx_nest++;
	err = real.posix_memalign(out, align, n);
	if (!err)
		born('a', *out, n);
	ctx_nest--;
	return err;
}

#define ALIGNED(name)							\
CTX_EXPORT void *name(size_t align, size_t n)				\
{									\
	void *p;							\
									\
	if (ctx_unlikely(use_pool())) {					\
		p = ctx_pool_alloc(n, align);				\
		return p ? p : no_memory();				\
	}								\
	if (!real.name)							\
		return no_memory();					\
	if (ctx_unlikely(!recording())) {				\
		if (!mt_is_quiet())					\
			return real.name(align, n);			\
		REAL(p, 'a', n, real.name(align, n));			\
		return p;						\
	}								\
	ctx_nest++;							\
	p = real.name(align, n);					\
	born('a', p, n);						\
	ctx_nest--;							\
	return p;							\
}

ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define PAGED(name)							\
CTX_EXPORT void *name(size_t n)						\
{									\
	void *p;							\
									\
	if (ctx_unlikely(use_pool()) || !real.name)			\
		return no_memory();					\
	if (ctx_unlikely(!recording())) {				\
		if (!mt_is_quiet())					\
			return real.name(n);				\
		REAL(p, 'a', n, real.name(n));				\
		return p;						\
	}								\
	ctx_nest++;							\
	p = real.name(n);						\
	born('a', p, n);						\
	ctx_nest--;							\
	return p;							\
}

PAGED(valloc)
PAGED(pvalloc)
