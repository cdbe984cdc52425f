// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * hooks.c - what compilers call before each access when they instrument for a race detector
 * (-fsanitize=thread): here the access is counted, and nothing else. `memtrace cc` links it into
 * programs and shared libraries instead of that detector's runtime.
 *
 * The compiler decides what an access is: one load or store that it emits, of any width up to
 * 16 bytes; wider ones come as ranges, which count one for each 16 bytes begun. Variables that
 * live in registers, or of which no address is taken, are not seen.
 *
 * All symbols are hidden: another module has its own copy, and a program that really has a race
 * detector never finds this one. Atomic operations must be done here, because the compiler
 * leaves them out; they are done with the strongest order.
 */
#include "hooks.h"

#include <dlfcn.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Where dlsym() is not linked in (static programs), nothing is counted. */
#pragma weak dlsym

/* Found in the executable by the recorder, which looks whether a program counts. */
__attribute__((section(".note.memtrace"), used, aligned(4))) static const struct {
	uint32_t name_bytes, text_bytes, type;
	char name[12];
	uint32_t version;
} elf_note = { 9, 4, 1, "memtrace", MT_COUNT_SERVICE_VERSION };

/*
 * Slots that match no address: zeroed ones but the first, which would match the first region.
 * Nothing else of it is read. Without a size, so that it is none of the program's structures.
 */
extern struct mt_count_thread mt_hook_none HIDDEN;
asm(".pushsection .data.rel.ro.mt_hook_none, \"aw\", @progbits\n"
    ".hidden mt_hook_none\n"
    ".globl mt_hook_none\n"
    ".balign 16\n"
    "mt_hook_none:\n"
    ".quad -1\n"
    ".zero 16384 - 8\n"
    ".popsection\n");
_Static_assert(sizeof(mt_hook_none.slot) == 16384, "mt_hook_none is as large");

HIDDEN __thread struct mt_count_thread *mt_hook_thread __attribute__((tls_model("initial-exec"))) = &mt_hook_none;

static const struct mt_count_service *service;

HIDDEN void __tsan_init(void);

/* Each object file calls it before its own constructors. */
void __tsan_init(void)
{
	const struct mt_count_service *(*find)(unsigned int) = NULL;

	if (service || !dlsym)
		return;
	*(void **)&find = dlsym(RTLD_DEFAULT, MT_COUNT_SERVICE_FIND);
	if (find)
		service = find(MT_COUNT_SERVICE_VERSION);
}

struct mt_count_thread *mt_hook_self(void)
{
	struct mt_count_thread *t = mt_hook_thread;

	if (t != &mt_hook_none)
		return t;
	t = service ? service->thread() : NULL;
	if (t)
		mt_hook_thread = t;
	return t;
}

/* What is seldom called from code that is optimised as a whole: it leaves the registers to its caller. */
#ifdef MT_COUNT_INLINE
#define SELDOM __attribute__((noinline, cold, preserve_most))
#else
#define SELDOM __attribute__((noinline))
#endif

/* An access that was not counted yet. */
static SELDOM void miss(uint64_t address, unsigned int write)
{
	struct mt_count_thread *t = mt_hook_self();

	if (t)
		service->slow(t, address, write, 1, false);
}

/* One that was, the first of its page and direction. */
static SELDOM void note(uint64_t address, unsigned int write)
{
	service->slow(mt_hook_thread, address, write, 1, true);
}

void mt_hook_range(const void *address, size_t bytes, unsigned int write)
{
	struct mt_count_thread *t = mt_hook_self();

	if (t)
		service->range(t, (uint64_t)address, bytes, write);
}

static inline __attribute__((always_inline)) void count(const volatile void *p, unsigned int write)
{
	bool first;

	if (mt_count_hit(mt_hook_thread, (uint64_t)p, write, 1, &first))
		return;
	if (first)
		note((uint64_t)p, write);
	else if (service)	/* a program that is not recorded misses always */
		miss((uint64_t)p, write);
}

#define READ(p) count(p, MT_COUNT_READ)
#define WRITE(p) count(p, MT_COUNT_WRITE)

/* name of a hook, its arguments, what it does */
#define HOOK(name, parameters, ...)		\
	HIDDEN void name parameters;		\
	void name parameters			\
	{					\
		__VA_ARGS__			\
	}

/*
 * As bitcode, for compilers that optimise at link time. Without this word clang does not make the hooks part of a function
 * that it instrumented, because they are not instrumented.
 */
#ifdef MT_COUNT_INLINE
#define INLINE __attribute__((always_inline))
#else
#define INLINE
#endif
#define INLINE_HOOK(name, parameters, ...)	\
	HIDDEN INLINE void name parameters;	\
	void name parameters			\
	{					\
		__VA_ARGS__			\
	}

#define SIZES(x) x(1) x(2) x(4) x(8) x(16)
#define PLAIN(n)								\
	INLINE_HOOK(__tsan_read##n, (void *p), READ(p);)				\
	INLINE_HOOK(__tsan_write##n, (void *p), WRITE(p);)				\
	INLINE_HOOK(__tsan_read_write##n, (void *p), READ(p); WRITE(p);)		\
	INLINE_HOOK(__tsan_unaligned_read##n, (void *p), READ(p);)			\
	INLINE_HOOK(__tsan_unaligned_write##n, (void *p), WRITE(p);)			\
	INLINE_HOOK(__tsan_unaligned_read_write##n, (void *p), READ(p); WRITE(p);)	\
	INLINE_HOOK(__tsan_volatile_read##n, (void *p), READ(p);)			\
	INLINE_HOOK(__tsan_volatile_write##n, (void *p), WRITE(p);)			\
	INLINE_HOOK(__tsan_unaligned_volatile_read##n, (void *p), READ(p);)		\
	INLINE_HOOK(__tsan_unaligned_volatile_write##n, (void *p), WRITE(p);)
SIZES(PLAIN)

HIDDEN __thread struct mt_hook_copy mt_hook_copy __attribute__((tls_model("initial-exec")));

HOOK(__tsan_read_range, (void *p, unsigned long bytes),
     mt_hook_range(p, bytes, MT_COUNT_READ);
     mt_hook_copy.read = p;
)
HOOK(__tsan_write_range, (void *p, unsigned long bytes),
     mt_hook_range(p, bytes, MT_COUNT_WRITE);
     mt_hook_copy.write = p;
     mt_hook_copy.bytes = bytes;
)
HOOK(__tsan_vptr_update, (void **p, void *v), (void)v; WRITE(p);)
HOOK(__tsan_vptr_read, (void **p), READ(p);)
HOOK(__tsan_func_entry, (void *p), (void)p;)
HOOK(__tsan_func_exit, (void), )
HOOK(__tsan_ignore_thread_begin, (void), )
HOOK(__tsan_ignore_thread_end, (void), )
/* of programs that talk to the race detector */
HOOK(__tsan_acquire, (void *p), (void)p;)
HOOK(__tsan_release, (void *p), (void)p;)
HOOK(__tsan_atomic_thread_fence, (int order), (void)order; __atomic_thread_fence(__ATOMIC_SEQ_CST);)
HOOK(__tsan_atomic_signal_fence, (int order), (void)order; __atomic_signal_fence(__ATOMIC_SEQ_CST);)

#define ORDER __ATOMIC_SEQ_CST
#define FETCH(bits, type, op)								\
	HIDDEN type __tsan_atomic##bits##_fetch_##op(volatile type *p, type v, int order);	\
	type __tsan_atomic##bits##_fetch_##op(volatile type *p, type v, int order)	\
	{										\
		(void)order;								\
		READ(p);								\
		WRITE(p);								\
		return __atomic_fetch_##op(p, v, ORDER);				\
	}
#define ATOMIC(bits, type)								\
	HIDDEN type __tsan_atomic##bits##_load(const volatile type *p, int order);	\
	type __tsan_atomic##bits##_load(const volatile type *p, int order)		\
	{										\
		(void)order;								\
		READ(p);								\
		return __atomic_load_n(p, ORDER);					\
	}										\
	HOOK(__tsan_atomic##bits##_store, (volatile type *p, type v, int order),	\
	     (void)order; WRITE(p); __atomic_store_n(p, v, ORDER);)			\
	HIDDEN type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order);	\
	type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order)	\
	{										\
		(void)order;								\
		READ(p);								\
		WRITE(p);								\
		return __atomic_exchange_n(p, v, ORDER);				\
	}										\
	FETCH(bits, type, add) FETCH(bits, type, sub) FETCH(bits, type, and) FETCH(bits, type, or)	\
	FETCH(bits, type, xor) FETCH(bits, type, nand)					\
	HIDDEN int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int o, int f);	\
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int o, int f)	\
	{										\
		(void)o, (void)f;							\
		READ(p);								\
		WRITE(p);								\
		return __atomic_compare_exchange_n(p, c, v, 0, ORDER, ORDER);		\
	}										\
	HIDDEN int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *c, type v, int o, int f);	\
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *c, type v, int o, int f)	\
	{										\
		return __tsan_atomic##bits##_compare_exchange_strong(p, c, v, o, f);	\
	}										\
	HIDDEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int o, int f);	\
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int o, int f)	\
	{										\
		__tsan_atomic##bits##_compare_exchange_strong(p, &c, v, o, f);		\
		return c;								\
	}
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* 16 bytes: with cmpxchg16b, which the library functions of compilers may not use */
typedef unsigned __int128 u128;

static inline u128 swap128(volatile u128 *p, u128 expected, u128 desired)
{
	uint64_t lo = (uint64_t)expected, hi = (uint64_t)(expected >> 64);

	asm volatile("lock cmpxchg16b %0"
		     : "+m"(*p), "+a"(lo), "+d"(hi)
		     : "b"((uint64_t)desired), "c"((uint64_t)(desired >> 64))
		     : "memory", "cc");
	return (u128)hi << 64 | lo;
}

#define EVERY128(name, new)							\
	HIDDEN u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int order);	\
	u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int order)	\
	{									\
		u128 old = swap128(p, 0, 0), have;				\
										\
		(void)order;							\
		READ(p);							\
		WRITE(p);							\
		while ((have = swap128(p, old, new)) != old)			\
			old = have;						\
		return old;							\
	}
EVERY128(exchange, v)
EVERY128(fetch_add, old + v)
EVERY128(fetch_sub, old - v)
EVERY128(fetch_and, old & v)
EVERY128(fetch_or, old | v)
EVERY128(fetch_xor, old ^ v)
EVERY128(fetch_nand, ~(old & v))

HIDDEN u128 __tsan_atomic128_load(volatile u128 *p, int order);
u128 __tsan_atomic128_load(volatile u128 *p, int order)
{
	(void)order;
	READ(p);
	return swap128(p, 0, 0);
}

HOOK(__tsan_atomic128_store, (volatile u128 *p, u128 v, int order),
	u128 old = swap128(p, 0, 0);
	u128 have;

	(void)order;
	WRITE(p);
	while ((have = swap128(p, old, v)) != old)
		old = have;
)

HIDDEN int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *c, u128 v, int o, int f);
int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *c, u128 v, int o, int f)
{
	const u128 want = *c;

	(void)o, (void)f;
	READ(p);
	WRITE(p);
	*c = swap128(p, want, v);
	return *c == want;
}

HIDDEN int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *c, u128 v, int o, int f);
int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *c, u128 v, int o, int f)
{
	return __tsan_atomic128_compare_exchange_strong(p, c, v, o, f);
}

HIDDEN u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 c, u128 v, int o, int f);
u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 c, u128 v, int o, int f)
{
	__tsan_atomic128_compare_exchange_strong(p, &c, v, o, f);
	return c;
}
