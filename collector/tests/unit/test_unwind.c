// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/context/unwind.c preload/context/sys.c common/rawmem.c
// includes: preload/context/objects.c
// libs: -ldl -lpthread -O2 -fno-optimize-sibling-calls
/* Call stacks without a lock, wherever they are asked for; the unwinder of the compiler says what is right. */
#include "harness.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#include "preload/context/objects.c"

CTX_TLS int ctx_nest;
CTX_TLS struct ctx_thread *ctx_self;
_Atomic uint64_t ctx_lost_lock, ctx_lost_memory;
bool ctx_suspecting;

/* what would be in the log */
static char told[1 << 20];
static size_t n_told;

void ctx_line_begin(struct ctx_line *l, char kind)
{
	l->n = (size_t)snprintf(l->b, sizeof(l->b), "%c", kind);
}

void ctx_line_dec(struct ctx_line *l, uint64_t v)
{
	(void)l, (void)v;
}

void ctx_line_int(struct ctx_line *l, int64_t v)
{
	(void)l, (void)v;
}

void ctx_line_hex(struct ctx_line *l, uint64_t v)
{
	l->n += (size_t)snprintf(l->b + l->n, sizeof(l->b) - l->n, " %llx", (unsigned long long)v);
}

void ctx_line_str(struct ctx_line *l, const char *s)
{
	l->n += (size_t)snprintf(l->b + l->n, sizeof(l->b) - l->n, " %s", s);
}

void ctx_line_end(struct ctx_line *l)
{
	if (n_told + l->n + 2 < sizeof(told))
		n_told += (size_t)snprintf(told + n_told, sizeof(told) - n_told, "%s\n", l->b);
}

void ctx_suspect_object(const char *path, uintptr_t bias, uintptr_t start, uintptr_t end)
{
	(void)path, (void)bias, (void)start, (void)end;
}

void ctx_suspect_object_gone(uintptr_t start)
{
	(void)start;
}

#define DEPTH 48

struct stack {
	int n;
	uintptr_t ip[DEPTH];
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *uc, void *arg)
{
	struct stack *s = arg;
	uintptr_t ip = _Unwind_GetIP(uc);

	if (!ip || s->n == DEPTH)
		return _URC_END_OF_STACK;
	s->ip[s->n++] = ip;
	return _URC_NO_REASON;
}

static struct stack ours, theirs;
static int compared, different, known_again;

/* As stack.c does it: a stack that is known again is the one that it was known as. */
__attribute__((noinline)) static void take(const void *caller)
{
	static struct stack seen[4096];
	static int n_seen;
	struct ctx_memo *memo;
	uintptr_t sp;

	uintptr_t ip[DEPTH + 1];

	ours.n = ctx_unwind(ip, DEPTH + 1, caller, &memo, &sp);
	if (ours.n < 0) {
		ours = seen[memo->id];
		known_again++;
		return;
	}
	ours.n--;		/* this function */
	memcpy(ours.ip, ip + 1, sizeof(ours.ip));
	if (memo) {
		memo->id = n_seen;
		memo->sp = sp;
		seen[n_seen] = ours;
		n_seen = (n_seen + 1) % 4096;
	}
}

/* Both from this function on; its own address differs, as the calls do. */
__attribute__((noinline)) static void both(void)
{
	take(__builtin_return_address(0));
	theirs.n = 0;
	_Unwind_Backtrace(frame, &theirs);
	compared++;
#if defined(__aarch64__)
	/* its call tables have no tables: the frame pointer leads on where libgcc ends */
	if (theirs.n < ours.n)
		ours.n = theirs.n;
#endif
	if (ours.n == theirs.n && !memcmp(ours.ip + 1, theirs.ip + 1, (size_t)(ours.n - 1) * sizeof(ours.ip[0])))
		return;
	if (different++)
		return;
	for (int i = 0; i < ours.n || i < theirs.n; i++) {
		Dl_info a = { 0 }, b = { 0 };

		dladdr((void *)(i < ours.n ? ours.ip[i] : 0), &a);
		dladdr((void *)(i < theirs.n ? theirs.ip[i] : 0), &b);
		printf("%2d ours %lx %s %s, theirs %lx %s %s\n", i, i < ours.n ? (long)ours.ip[i] : 0L, a.dli_fname, a.dli_sname,
		       i < theirs.n ? (long)theirs.ip[i] : 0L, b.dli_fname, b.dli_sname);
	}
}

static void same(const char *what, int deepest)
{
	printf("%s\n", different ? what : "");
	CHECK_EQ(different, 0);
	CHECK(compared > 0 && ours.n >= deepest);
	compared = different = 0;
}

static int by_qsort(const void *a, const void *b)
{
	both();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		both();
	asm volatile("");
}

/* The same place, another way to it: by a frame pointer or not, with what a frame before has left on the stack. */
__attribute__((noinline, optimize("omit-frame-pointer"))) static void either(int n, int way)
{
	char room[48];

	memset(room, way, sizeof(room));
	asm volatile("" : : "r"(room) : "memory");
	if (way & 1)
		deep(way >> 1 & 3);
	else if (n)
		either(n - 1, way >> 1);
	else
		both();
	asm volatile("");
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void framed_either(int n, int way)
{
	char room[16 + (way & 7) * 16];

	memset(room, way, sizeof(room));
	asm volatile("" : : "r"(room) : "memory");
	if (n && way & 2)
		framed_either(n - 1, way >> 2);
	else
		either(n, way >> 1);
	asm volatile("" : : "r"(room) : "memory");
}

/* The frame is found by what its frame pointer points to. */
__attribute__((noinline)) static void aligned(size_t n)
{
	char room[n] __attribute__((aligned(64)));

	memset(room, 1, n);
	asm volatile("" : : "r"(room) : "memory");
	both();
	asm volatile("" : : "r"(room) : "memory");
}

static void on_signal(int signal)
{
	(void)signal;
	both();
}

/* A signal at any instruction: prologues, call tables, whatever runs. */
static volatile int ticks;
static void on_tick(int signal)
{
	(void)signal;
	both();
	ticks++;
}

static int less(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void busy(void)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_tick };
	char *words[64], text[128];

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int round = 0; ticks < 400; round++) {
		for (int i = 0; i < 64; i++) {
			snprintf(text, sizeof(text), "%d %g %s", round * 7919 + i, i / 3.0, round & 1 ? "a" : "b");
			words[i] = strdup(text);
		}
		qsort(words, 64, sizeof(words[0]), less);
		for (int i = 0; i < 64; i++)
			free(words[i]);
	}
	setitimer(ITIMER_REAL, &off, NULL);
}

static ucontext_t here, there;
static void coroutine(void)
{
	both();
}

static void *thread(void *arg)
{
	deep(3);
	return arg;
}

/* The rest of this stack is known, as for a thread of the program. */
static void know_stack(struct ctx_thread *t)
{
	pthread_attr_t attr;
	void *at;
	size_t n;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &at, &n);
	pthread_attr_destroy(&attr);
	t->stack_start = (uintptr_t)at;
	t->stack_end = (uintptr_t)at + n;
	ctx_self = t;
}

#if defined(__x86_64__)
static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };	/* push rbp; mov rsp, rbp; call *rdi; pop rbp; ret */
/* push rbp; mov rsi, rbp; call *rdi; pop rbp; ret: a register like any other */
static const uint8_t frameless[] = { 0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x5d, 0xc3 };

static void from_jit(void)
{
	take(NULL);
}

__attribute__((noinline)) static void jit(const uint8_t *code, uintptr_t rbp)
{
	((void (*)(void (*)(void), uintptr_t))(uintptr_t)code)(from_jit, rbp);
	asm volatile("");
}

static void code_without_table(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t odd[] = { 0, 1, 8, (uintptr_t)-8, (uintptr_t)-16, 1ul << 47, (uintptr_t)code, 0xdeadbeefdeadbee8, 0 };

	memcpy(code, framed, sizeof(framed));
	memcpy(code + 64, frameless, sizeof(frameless));
	jit(code, 0);
	/* through it to what called it, and on by tables from there */
	CHECK(ours.n >= 5 && ours.ip[1] == (uintptr_t)code + 6);
	CHECK((uintptr_t)ours.ip[2] - (uintptr_t)jit < 128);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		odd[8] = (uintptr_t)&odd[i];
		jit(code + 64, odd[i]);
		CHECK(ours.n >= 2 && ours.ip[1] == (uintptr_t)code + 64 + 6);
	}
	munmap(code, 4096);
}

/* A stack that ends with its mapping, and frame pointers that lead beyond it. */
static void end_of_memory(void)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ctx_thread *t = ctx_self;

	munmap(stack + 32768, 32768);
	for (int known = 0; known < 2; known++) {
		if (!known)
			ctx_self = NULL;
		for (uintptr_t bp = (uintptr_t)stack + 32768 - 32; bp < (uintptr_t)stack + 32768 + 32; bp += 8) {
			asm volatile("mov %%rsp, %%r12\n\tmov %%rbp, %%r13\n\tmov %0, %%rsp\n\tmov %1, %%rbp\n\tcall *%2\n\t"
				     "mov %%r12, %%rsp\n\tmov %%r13, %%rbp"
				     : : "r"((uintptr_t)stack + 32768 - 16), "r"(bp), "r"(from_jit)
				     : "rax", "rcx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "memory", "cc");
			CHECK(ours.n >= 1);
		}
		ctx_self = t;
	}
	munmap(stack, 32768);
}
#endif

static int has_line(const char *kind, const char *name)
{
	for (char *p = told; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : p) {
		char *end = strchr(p, '\n'), *at = strstr(p, name);

		if (!strncmp(p, kind, strlen(kind)) && at && at < end)
			return 1;
	}
	return 0;
}

/* A library that comes later is found, its end is told, and no rule of it stays. */
static void libraries(void)
{
	void *l = dlopen("libBrokenLocale.so.1", RTLD_NOW), *f, *libutil;
	const struct link_map *m;
	uint32_t serial, one;
	uintptr_t at;
	int i;

	n_told = told[0] = 0;
	ctx_objects_scan();
	CHECK(has_line("O", "/libBrokenLocale.so.1"));
	f = dlsym(l, "__ctype_get_mb_cur_max");
	i = ctx_objects_read_begin((uintptr_t)f, &serial);
	ctx_objects_read_end();
	CHECK(i != CTX_NO_OBJECT && serial == ctx_object_serial(i) && (&ctx_objects[i])->frames);
	/* the loader is in the middle of something: nothing is looked at */
	libutil = dlopen("libanl.so.1", RTLD_NOW);
	if (libutil) {
		n_told = told[0] = 0;
		loader->r_state = RT_DELETE;
		ctx_objects_scan();
		CHECK_EQ(n_told, 0);
		loader->r_state = RT_CONSISTENT;
		ctx_objects_scan();
		CHECK(has_line("O", "libanl"));
		m = libutil;
		at = (uintptr_t)m->l_ld;
		i = ctx_objects_read_begin(at, &one);
		ctx_objects_read_end();
		CHECK(i != CTX_NO_OBJECT);
		/* its memory goes: it is not in the table before */
		ctx_note_unmapping((void *)(&ctx_objects[i])->start, 4096);
		CHECK_EQ(ctx_object_serial(i), 0);
		dlclose(libutil);
		n_told = told[0] = 0;
		ctx_objects_scan();
		CHECK(has_line("o", ""));
		CHECK_EQ(ctx_objects_read_begin(at, &one), CTX_NO_OBJECT);
		ctx_objects_read_end();
	}
	dlclose(l);
}

int main(void)
{
	static struct ctx_memo memo[CTX_MEMOS];
	struct ctx_thread self = { .memo = memo };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	int values[] = { 3, 1, 2, 5, 4 };
	static char other_stack[65536], co_stack[65536];
	stack_t other = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	uint64_t room[4] = { 0 };
	pthread_t t;

	dlopen("libgcc_s.so.1", RTLD_NOW);
	CHECK(ctx_unwind_init() && ctx_objects_init());
	our_start = our_end = 0;	/* everything is of interest here */
	CHECK(ctx_readable(room, sizeof(room)) && !ctx_readable(NULL, 8) && !ctx_readable((void *)-4096l, 8));

	for (int known = 0; known < 2; known++) {
		if (known)
			know_stack(&self);
		both();
		same("a call", 4);
		qsort(values, 5, sizeof(values[0]), by_qsort);
		same("called by libc", 6);
		deep(30);
		same("deep", 30);
		deep(100);
		same("too deep", DEPTH);
		srandom(7);
		known_again = 0;
		for (int i = 0; i < 20000; i++)
			framed_either((int)random() % 6, (int)random() & 0xffff);
		same("many ways", 4);
#ifndef __SANITIZE_ADDRESS__	/* its frames hold too many frame pointers */
		CHECK(known ? known_again > 100 && known_again < 20000 : !known_again);
#endif
		for (size_t n = 1; n < 3000; n += 700)
			aligned(n);
		same("aligned stack", 5);
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
		same("in a signal handler", 6);
		sigaltstack(&other, NULL);
		sigaction(SIGUSR2, &sa, NULL);
		raise(SIGUSR2);
		same("in a signal handler on a stack of its own", 6);
		ticks = 0;
		busy();
		same("signals at any instruction", 5);
		getcontext(&there);
		there.uc_stack.ss_sp = co_stack;
		there.uc_stack.ss_size = 65536;
		there.uc_link = &here;
		makecontext(&there, coroutine, 0);
		swapcontext(&here, &there);
		CHECK(ours.n >= 2);
		compared = different = 0;	/* libgcc takes the beginning of a coroutine for a caller */
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
		same("a thread", 5);
	}
#if defined(__x86_64__)
	code_without_table();
	end_of_memory();
#endif
	libraries();
	return mt_test_done();
}
