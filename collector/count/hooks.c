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
#include "count/hooks.h"

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

/*
 * Windows: accesses are counted for a share of the time. At a gate (service.h) there is nothing to test and nothing to
 * load while they are not. Calls of hooks come to a gate behind their entry, and are left out themselves from their second
 * time on. Hooks that are part of the code have their gate there, and what they do stands aside of it; whole counts are
 * dearer so, because all registers are the program's. These gates are closed until the recorder opens them, so that a
 * program that is not recorded costs next to nothing. Without MT_COUNT_GATED hooks in the code have none.
 */
#if !defined(MT_COUNT_INLINE) || defined(MT_COUNT_GATED)
#define HAS_GATES 1
extern const struct mt_count_gate __start_memtrace_gates[] HIDDEN __attribute__((weak));
extern const struct mt_count_gate __stop_memtrace_gates[] HIDDEN __attribute__((weak));
#else
#define HAS_GATES 0
#endif
extern const char __ehdr_start[] HIDDEN;

#ifdef MT_COUNT_INLINE
#define GATE_SECTION "\"aR\", @progbits"	/* linkers that leave out what nobody uses keep it */
#else
#define GATE_SECTION "\"a\", @progbits"
#endif
#define GATE(is, open)						\
	".pushsection memtrace_gates, " GATE_SECTION "\n"	\
	"	.balign 4\n"					\
	"	.long 1f - .\n"				\
	"	.long " open "\n"				\
	".popsection\n"						\
	"1:	.byte " is "\n"				\
	"	.long %l0 - (1b + 5)\n"

static struct mt_count_module module;

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
	if (!service)
		return;
	module.image = __ehdr_start;
#ifdef MT_COUNT_GATED
	module.closed = 1;
#endif
#if HAS_GATES
	module.gate = __start_memtrace_gates;
	module.gate_end = __stop_memtrace_gates;
#endif
	service->module(&module);
}

static __attribute__((destructor)) void gone(void)
{
	if (service)
		service->module_gone(&module);
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

/* Of this thread in this module, where instructions are counted: then mt_hook_thread stays as it is, and all accesses come to miss(). */
static __thread struct mt_site_thread *sites __attribute__((tls_model("initial-exec")));

static struct mt_site_thread *my_sites(void)
{
	if (!sites)
		sites = service->sites();
	return sites;
}

/* Bytes of a call: in front of where it returns to. */
#define CALL_BYTES 5

/* An access that was not counted yet. @how: write, and the bytes times two. */
static inline __attribute__((always_inline)) void count_missed(uint64_t address, unsigned int how, const void *back)
{
	struct mt_count_thread *t;

	if (service->sites) {
		struct mt_site_thread *m = my_sites();

		if (m)
			service->site(m, address, how, (uint64_t)back - CALL_BYTES);
		return;
	}
	t = mt_hook_self();
	if (t)
		service->slow(t, address, how & 1, 1, false);
}

/* @back: where the hook that the program called returns to. */
static SELDOM void miss_at(uint64_t address, unsigned int how, const void *back)
{
	count_missed(address, how, back);
}

#ifdef MT_COUNT_INLINE
/* Called from the program itself. */
static SELDOM void miss(uint64_t address, unsigned int how)
{
	count_missed(address, how, __builtin_extract_return_addr(__builtin_return_address(0)));
}
#endif

/* One that was, the first of its page and direction. */
static SELDOM void note(uint64_t address, unsigned int write)
{
	service->slow(mt_hook_thread, address, write, 1, true);
}

void mt_hook_range(const void *address, size_t bytes, unsigned int write, const void *back)
{
	struct mt_count_thread *t;

	if (!service || !__atomic_load_n(service->open, __ATOMIC_RELAXED))
		return;
	if (service->sites) {
		struct mt_site_thread *m = my_sites();

		if (m)
			service->site_range(m, (uint64_t)address, bytes, write, (uint64_t)back - CALL_BYTES);
		return;
	}
	t = mt_hook_self();
	if (t)
		service->range(t, (uint64_t)address, bytes, write);
}

/* Where the function that the program called returns to. */
#define BACK __builtin_extract_return_addr(__builtin_return_address(0))

#ifdef MT_COUNT_GATED
/*
 * What is seldom called from beside the code, which the compiler takes for code that never runs: so that it moves no
 * register there for the sake of this call, mt_hook_slow keeps all of them, in the form of the processor.
 */
HIDDEN __attribute__((used)) uint8_t mt_hook_xsave;
HIDDEN __attribute__((used)) void mt_hook_slow_c(uint64_t address, unsigned int how, const void *back, const void *caller);

/* @how: write, whether it was counted and is the first, whether @back is there, and the bytes. @caller: of mt_hook_slow. */
#define IS_FIRST 2u
#define HAS_BACK 4u
#define BYTES_SHIFT 3
void mt_hook_slow_c(uint64_t address, unsigned int how, const void *back, const void *caller)
{
	if (how & IS_FIRST)
		note(address, how & 1);
	else if (service)
		miss_at(address, (how & 1) | how >> BYTES_SHIFT << 1, how & HAS_BACK ? back : caller);
}

static __attribute__((constructor(101))) void find_xsave(void)
{
	unsigned int a = 1, b, c, d;

	asm volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	mt_hook_xsave = c >> 27 & 1;	/* the system uses it */
}

#define SAVED_STATES "$0xe7"		/* x87, SSE, AVX, AVX-512 */
#define SAVED_BYTES "2688"		/* of these */
asm(".pushsection .text.mt_hook_slow, \"ax\", @progbits\n"
    ".hidden mt_hook_slow\n"
    ".globl mt_hook_slow\n"
    ".type mt_hook_slow, @function\n"
    "mt_hook_slow:\n"
    "	.cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_adjust_cfa_offset 8\n"
    "	.cfi_offset %rbp, -16\n"
    "	mov %rsp, %rbp\n"
    "	.cfi_def_cfa_register %rbp\n"
    "	push %rax\n	push %rcx\n	push %rdx\n	push %rsi\n	push %rdi\n"
    "	push %r8\n	push %r9\n	push %r10\n	push %r11\n"
    "	sub $8 + " SAVED_BYTES ", %rsp\n"
    "	and $-64, %rsp\n"
    "	mov 8(%rbp), %rcx\n"
    "	cmpb $0, mt_hook_xsave(%rip)\n"
    "	je 1f\n"
    "	mov %rdx, -80(%rbp)\n"		/* xsave wants it */
    "	xor %eax, %eax\n"		/* the header */
    "	mov %rax, 512(%rsp)\n	mov %rax, 520(%rsp)\n	mov %rax, 528(%rsp)\n	mov %rax, 536(%rsp)\n"
    "	mov %rax, 544(%rsp)\n	mov %rax, 552(%rsp)\n	mov %rax, 560(%rsp)\n	mov %rax, 568(%rsp)\n"
    "	mov " SAVED_STATES ", %eax\n	xor %edx, %edx\n	xsave (%rsp)\n"
    "	mov -80(%rbp), %rdx\n"
    "	call mt_hook_slow_c\n"
    "	mov " SAVED_STATES ", %eax\n	xor %edx, %edx\n	xrstor (%rsp)\n"
    "	jmp 2f\n"
    "1:	fxsave64 (%rsp)\n"
    "	call mt_hook_slow_c\n"
    "	fxrstor64 (%rsp)\n"
    "2:	lea -72(%rbp), %rsp\n"
    "	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"
    "	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n	pop %rax\n"
    "	pop %rbp\n"
    "	.cfi_def_cfa %rsp, 8\n"
    "	ret\n"
    "	.cfi_endproc\n"
    ".size mt_hook_slow, . - mt_hook_slow\n"
    ".popsection\n");

/* below the stack pointer there may be variables of the function that this is part of */
#define CALL_SLOW					\
	"lea -128(%%rsp), %%rsp\n"			\
	"call mt_hook_slow\n"				\
	"lea 128(%%rsp), %%rsp\n"

/* @back: NULL where this is part of the program */
static inline __attribute__((always_inline)) void count(const volatile void *p, unsigned int write, unsigned int bytes, const void *hook,
							const void *back)
{
	bool first;

	(void)hook;
	asm goto(GATE("0xa9", "0xe9") : : : "cc" : open);
	return;
open:
	if (mt_count_hit(mt_hook_thread, (uint64_t)p, write, 1, &first))
		return;
	if (back)
		asm volatile(CALL_SLOW : : "D"(p), "S"(write | (first ? IS_FIRST : 0) | HAS_BACK | bytes << BYTES_SHIFT), "d"(back) : "memory");
	else
		asm volatile(CALL_SLOW : : "D"(p), "S"(write | (first ? IS_FIRST : 0) | bytes << BYTES_SHIFT) : "memory");
}
#else
#if HAS_GATES
/* @hook: it does nothing else, NULL: it does */
static __attribute__((noinline)) void idle(const void *hook, const void *back)
{
	if (service && hook)
		service->idle_call(hook, back);
}
#endif

/* @back: NULL where this is part of the program */
static inline __attribute__((always_inline)) void count(const volatile void *p, unsigned int write, unsigned int bytes, const void *hook,
							const void *back)
{
	bool first;

	(void)hook;
#if HAS_GATES
	asm goto(GATE("0xa9", "0xa9") : : : "cc" : closed);
#endif
	if (mt_count_hit(mt_hook_thread, (uint64_t)p, write, 1, &first))
		return;
	if (first)
		note((uint64_t)p, write);
#ifdef MT_COUNT_INLINE
	else if (service && !back)	/* a program that is not recorded misses always */
		miss((uint64_t)p, write | bytes << 1);
#endif
	else if (service)
		miss_at((uint64_t)p, write | bytes << 1, back);
	return;
#if HAS_GATES
closed:
	idle(hook, __builtin_extract_return_addr(__builtin_return_address(0)));
#endif
}
#endif

/* In functions that the program calls. */
#define READ(p) count(p, MT_COUNT_READ, sizeof(*(p)), NULL, BACK)
#define WRITE(p) count(p, MT_COUNT_WRITE, sizeof(*(p)), NULL, BACK)

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
#define BACK_OF_PLAIN NULL
#else
#define INLINE
#define BACK_OF_PLAIN BACK
#endif
#define INLINE_HOOK(name, parameters, ...)	\
	HIDDEN INLINE void name parameters;	\
	void name parameters			\
	{					\
		__VA_ARGS__			\
	}

#define SIZES(x) x(1) x(2) x(4) x(8) x(16)
/* A hook that does nothing but count. */
#define PLAIN_HOOK(name, n, kinds) INLINE_HOOK(name, (void *p), kinds(p, n, (const void *)name))
#define COUNT_READ(p, n, hook) count(p, MT_COUNT_READ, n, hook, BACK_OF_PLAIN);
#define COUNT_WRITE(p, n, hook) count(p, MT_COUNT_WRITE, n, hook, BACK_OF_PLAIN);
#define COUNT_BOTH(p, n, hook) COUNT_READ(p, n, hook) COUNT_WRITE(p, n, hook)
#define PLAIN(n)							\
	PLAIN_HOOK(__tsan_read##n, n, COUNT_READ)				\
	PLAIN_HOOK(__tsan_write##n, n, COUNT_WRITE)			\
	PLAIN_HOOK(__tsan_read_write##n, n, COUNT_BOTH)			\
	PLAIN_HOOK(__tsan_unaligned_read##n, n, COUNT_READ)		\
	PLAIN_HOOK(__tsan_unaligned_write##n, n, COUNT_WRITE)		\
	PLAIN_HOOK(__tsan_unaligned_read_write##n, n, COUNT_BOTH)		\
	PLAIN_HOOK(__tsan_volatile_read##n, n, COUNT_READ)			\
	PLAIN_HOOK(__tsan_volatile_write##n, n, COUNT_WRITE)		\
	PLAIN_HOOK(__tsan_unaligned_volatile_read##n, n, COUNT_READ)	\
	PLAIN_HOOK(__tsan_unaligned_volatile_write##n, n, COUNT_WRITE)
SIZES(PLAIN)

HIDDEN __thread struct mt_hook_copy mt_hook_copy __attribute__((tls_model("initial-exec")));

HOOK(__tsan_read_range, (void *p, unsigned long bytes),
     mt_hook_range(p, bytes, MT_COUNT_READ, BACK);
     mt_hook_copy.read = p;
)
HOOK(__tsan_write_range, (void *p, unsigned long bytes),
     mt_hook_range(p, bytes, MT_COUNT_WRITE, BACK);
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
		(void)o, (void)f;							\
		READ(p);								\
		WRITE(p);								\
		return __atomic_compare_exchange_n(p, c, v, 0, ORDER, ORDER);		\
	}										\
	HIDDEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int o, int f);	\
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int o, int f)	\
	{										\
		(void)o, (void)f;							\
		READ(p);								\
		WRITE(p);								\
		__atomic_compare_exchange_n(p, &c, v, 0, ORDER, ORDER);			\
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

static inline __attribute__((always_inline)) int exchange128(volatile u128 *p, u128 *c, u128 v)
{
	const u128 want = *c;

	*c = swap128(p, want, v);
	return *c == want;
}

HIDDEN int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *c, u128 v, int o, int f);
int __tsan_atomic128_compare_exchange_strong(volatile u128 *p, u128 *c, u128 v, int o, int f)
{
	(void)o, (void)f;
	READ(p);
	WRITE(p);
	return exchange128(p, c, v);
}

HIDDEN int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *c, u128 v, int o, int f);
int __tsan_atomic128_compare_exchange_weak(volatile u128 *p, u128 *c, u128 v, int o, int f)
{
	(void)o, (void)f;
	READ(p);
	WRITE(p);
	return exchange128(p, c, v);
}

HIDDEN u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 c, u128 v, int o, int f);
u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 c, u128 v, int o, int f)
{
	(void)o, (void)f;
	READ(p);
	WRITE(p);
	exchange128(p, &c, v);
	return c;
}
