// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/ground/asm/x86_64.c preload/ground/asm/arm64.c common/clonesite.c common/x86code.c preload/ground/symbol.c common/calls.c
// includes: preload/ground/patch.c
// libs: -ldl
/* Functions of libc and of the loader that are replaced, for callers inside them, too; all or none. */
#include "harness.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/ground/patch.c"

long mt_go_call(const long *call);

long mt_go_call(const long *call)
{
	return -call[0];
}

static key_t our_ftok(const char *path, int id)
{
	return path[0] + id;
}

static long our_gethostid(void)
{
	return 4711;
}

/* Runs a check in a process of its own: what it patches ends with it. Returns what it returns. */
static int alone(int (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(check());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int both_are_replaced(void)
{
	const struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "gethostid", our_gethostid, NULL, 0 } };
	const char *failed = NULL;
	key_t (*by_pointer)(const char *, int) = (key_t (*)(const char *, int))dlsym(RTLD_DEFAULT, "ftok");

	if (mt_patch_all(p, 2, &failed))
		return 1;
	if (ftok("A", 2) != 'A' + 2 || gethostid() != 4711)
		return 2;
	return by_pointer("B", 1) == 'B' + 1 ? 0 : 3;
}

static int our_execve(const char *path, char *const argv[], char *const envp[])
{
	(void)argv;
	return envp == environ && !strcmp(path, "/nowhere") ? 42 : 43;
}

/* execv() of libc reaches execve() without a symbol. */
static int callers_inside_come_too(void)
{
	const struct mt_patch p = { "execve", our_execve, NULL, 0 };
	const char *failed = NULL;
	char *argv[] = { "nowhere", NULL };

	if (mt_patch_all(&p, 1, &failed))
		return 1;
	return execv("/nowhere", argv) == 42 ? 0 : 2;
}

static int unknown_name(void)
{
	const struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "no_such_function", our_gethostid, NULL, 0 } };
	const char *failed = NULL;
	key_t before = ftok("/", 7);

	if (mt_patch_all(p, 2, &failed) != -ENOENT || strcmp(failed, "no_such_function"))
		return 1;
	return ftok("/", 7) == before ? 0 : 2;
}

/* A function shorter than the jump would take its neighbour along. */
static int too_short(void)
{
	const char *names[] = { "getpid", "getppid", "getuid", "geteuid", "sched_yield" }, *failed;
	size_t size = 0;
	int found = 0;

	for (int i = 0; i < 5; i++) {
		struct mt_patch p = { names[i], our_gethostid, NULL, 0 };

		if (!libc_symbol(names[i], &size) || size >= MT_JUMP_MAX)
			continue;
		found++;
		if (mt_patch_all(&p, 1, &failed) != -ENOENT || strcmp(failed, names[i]) || getpid() == 4711 || getppid() == 4711)
			return 1;
	}
	return found ? 0 : 2;
}

/* From now on mprotect(@page) fails, and that of all code of its object. */
static int refuse(uintptr_t page)
{
	struct object o = { .known = page };
	const unsigned int all = dl_iterate_phdr(find_object, &o) ? (unsigned int)(o.text & ~(MT_PAGE - 1)) : (unsigned int)page;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)page, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, all, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int all_or_none(void)
{
	static const char *const others[] = { "gethostid", "getloadavg", "glob", "wordexp" };
	struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { NULL, our_gethostid, NULL, 0 } };
	const char *failed = NULL;
	size_t size;
	uint8_t before[MT_JUMP_MAX];
	void *first = libc_symbol("ftok", &size), *second = NULL;

	for (int i = 0; i < 4 && !p[1].name; i++) {
		second = libc_symbol(others[i], &size);
		if (((uintptr_t)first ^ (uintptr_t)second) & ~(MT_PAGE - 1))
			p[1].name = others[i];
	}
	if (!first || !p[1].name)
		return 1;
	memcpy(before, first, MT_JUMP_MAX);
	if (refuse((uintptr_t)second & ~(MT_PAGE - 1)))
		return 2;
	if (mt_patch_all(p, 2, &failed) != -EACCES || strcmp(failed, p[1].name))
		return 3;
	return memcmp(before, first, MT_JUMP_MAX) ? 4 : 0;
}

static int mapped, unmapped;

static void *our_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	mapped++;
	return (void *)mt_sys6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, offset);
}

static int our_munmap(void *addr, size_t len)
{
	unmapped++;
	return (int)mt_sys(SYS_munmap, addr, len);
}

/* The mappings of code that the object of @known has. */
static int mappings_of_code(const void *known)
{
	struct object o = { .known = (uintptr_t)known };
	char line[4400], prot[5];
	unsigned long start, end;
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	dl_iterate_phdr(find_object, &o);
	while (f && fgets(line, sizeof(line), f))
		n += sscanf(line, "%lx-%lx %4s", &start, &end, prot) == 3 && start < o.text_end && o.text < end && !strcmp(prot, "r-xp");
	if (f)
		fclose(f);
	return n;
}

/* Programs look for the code of libc in the list of mappings: it is one, as alone. */
static int code_stays_whole(void)
{
	struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "gethostid", our_gethostid, NULL, 0 } };
	const char *failed;
	size_t size;
	void *at = libc_symbol("ftok", &size);

	if (mappings_of_code(at) != 1)
		return 1;
	return mt_patch_all(p, 2, &failed) || mappings_of_code(at) != 1 ? 2 : 0;
}

/* Debian 12 and 13: both are found. A library is mapped and unmapped by them and by nothing else. */
static int loader(void)
{
	int before;
	void *library;

	if (mt_patch_loader(our_mmap, our_munmap) != 2)
		return 1;
	library = dlopen("libresolv.so.2", RTLD_NOW);
	if (!library || mapped < 3)	/* its text, its data and what is around them */
		return 2;
	if (!dlsym(library, "__res_search") && !dlsym(library, "ns_name_ntop"))
		return 3;
	before = unmapped;
	if (dlclose(library) || unmapped != before + 1)
		return 4;
	return 0;
}

#ifdef __x86_64__
static int calls_of_clone;

/* The system call, by a function that leaves nothing in the registers that it may change. */
static long our_clone(unsigned long flags, void *stack, int *parent_tid, int *child_tid, void *tls)
{
	long ret;

	calls_of_clone++;
	ret = mt_sys6(SYS_clone, (long)flags, (long)stack, (long)parent_tid, (long)child_tid, (long)tls, 0);
	__asm__ volatile("mov $-1, %%rdi\n mov %%rdi, %%rsi\n mov %%rdi, %%rdx\n mov %%rdi, %%rcx\n mov %%rdi, %%r8\n mov %%rdi, %%r9\n"
			 "mov %%rdi, %%r10\n mov %%rdi, %%r11\n pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm15, %%xmm15"
			 : : : "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm15", "memory");
	return ret;
}

/* fork() of a libc that has no _Fork(): the call in the middle of it is ours, the child's ids are right, the rest is libc's. */
static int fork_without_entry(void)
{
	const struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "_Fork", our_gethostid, our_clone, 1 } };
	const char *failed = NULL;
	int status;
	pid_t pid;

	if (mt_patch_all(p, 2, &failed))
		return 1;
	if (ftok("A", 2) != 'A' + 2)
		return 2;
	pid = fork();
	if (!pid)
		_exit(calls_of_clone == 1 && getpid() != getppid() && syscall(SYS_gettid) == getpid() && raise(0) == 0 ? 42 : 43);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 42)
		return 3;
	return calls_of_clone == 1 ? 0 : 4;
}

/* Neither the entry nor the system call is replaced when the other cannot be. */
static int all_or_none_without_entry(void)
{
	struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "_Fork", our_gethostid, our_clone, 1 } };
	struct mt_clone_site site[MT_SITES];
	const char *failed = NULL;
	size_t size;
	uint8_t before[MT_JUMP_MAX];
	void *first = libc_symbol("ftok", &size);

	if (!first || !mt_clone_sites(site, &failed) || (((uintptr_t)first ^ (uintptr_t)site[0].at) & ~(MT_PAGE - 1)) == 0)
		return 1;
	memcpy(before, first, MT_JUMP_MAX);
	if (refuse((uintptr_t)site[0].at & ~(MT_PAGE - 1)))
		return 2;
	if (mt_patch_all(p, 2, &failed) != -EACCES)
		return 3;
	if (memcmp(before, first, MT_JUMP_MAX))
		return 4;
	return fork() < 0 || calls_of_clone ? 5 : 0;
}

/*
 * A function like libc's fork(), but with something in each register, and behind the stack pointer, that a system call leaves
 * alone. It returns what the call returned, and in its argument what it found afterwards. Alone on its page: nothing runs there
 * while it is changed.
 */
struct registers {
	uint64_t rdi, rsi, rdx, r8, r9, r10, below, xmm0, xmm15, rbx, r12, flags;
};
long like_fork(struct registers *r);
extern const uint8_t like_fork_end[];
__asm__("	.text\n"
	"	.p2align 12\n"
	"like_fork:\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	mov %rdi, %rbx\n"
	"	mov $12, %r12d\n"
	"	mov $15, %ecx\n"
	"	movq %rcx, %xmm15\n"
	"	mov $10, %ecx\n"
	"	movq %rcx, %xmm0\n"
	"	movq $77, -8(%rsp)\n"
	"	mov $2, %edx\n"
	"	mov $8, %r8d\n"
	"	mov $9, %r9d\n"
	"	mov $0x20, %r10d\n"
	"	xor %esi, %esi\n"
	"	mov $0x11, %edi\n"
	"	mov $56, %eax\n"
	"	syscall\n"
	"	mov %rdi, (%rbx)\n"
	"	mov %rsi, 8(%rbx)\n"
	"	mov %rdx, 16(%rbx)\n"
	"	mov %r8, 24(%rbx)\n"
	"	mov %r9, 32(%rbx)\n"
	"	mov %r10, 40(%rbx)\n"
	"	mov -8(%rsp), %rcx\n"
	"	mov %rcx, 48(%rbx)\n"
	"	movq %xmm0, 56(%rbx)\n"
	"	movq %xmm15, 64(%rbx)\n"
	"	mov %rbx, 72(%rbx)\n"
	"	mov %r12, 80(%rbx)\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	ret\n"
	"like_fork_end:\n"
	"	.p2align 12\n");

static long seen[5];

/* Below the caller nothing is ours: it is overwritten. */
static long see_arguments(unsigned long flags, void *stack, int *parent_tid, int *child_tid, void *tls)
{
	volatile char deep[512];

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = (char)i;
	seen[0] = (long)flags;
	seen[1] = (long)stack;
	seen[2] = (long)parent_tid;
	seen[3] = (long)child_tid;
	seen[4] = (long)tls;
	__asm__ volatile("mov $-1, %%rdi\n mov %%rdi, %%rsi\n mov %%rdi, %%rdx\n mov %%rdi, %%rcx\n mov %%rdi, %%r8\n mov %%rdi, %%r9\n"
			 "mov %%rdi, %%r10\n mov %%rdi, %%r11\n pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm15, %%xmm15"
			 : : : "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm15", "memory");
	return -4711;
}

static int have_stayed(const struct registers *r)
{
	return r->rdi == 0x11 && !r->rsi && r->rdx == 2 && r->r8 == 8 && r->r9 == 9 && r->r10 == 0x20 && r->below == 77 && r->xmm0 == 10 &&
	       r->xmm15 == 15 && r->rbx == (uint64_t)r && r->r12 == 12;
}

static int registers_stay(void)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)like_fork;
	struct registers r;
	struct mt_clone_site site;
	struct saved saved;

	memset(&r, 0, sizeof(r));
	if (mt_clone_site(at, (size_t)(like_fork_end - at), &site, NULL) != MT_CLONE_FOUND || patch_site(&site, 1, see_arguments, &saved))
		return 1;
	if (like_fork(&r) != -4711)
		return 2;
	if (seen[0] != 0x11 || seen[1] || seen[2] != 2 || seen[3] != 0x20 || seen[4] != 8)
		return 3;
	return have_stayed(&r) ? memcmp(saved.code, "\x31\xf6", 2) ? 6 : 0 : 4;
}

static long seen_number, any_answer = -4711;

static long see_any(long a, long b, long c, long d, long e, long number)
{
	see_arguments((unsigned long)a, (void *)b, (int *)c, (int *)d, (void *)e);
	seen_number = number;
	return any_answer;
}

/* The place is "mov $number, %eax; syscall" of like_fork(), of which only the running program knows the number. */
static int patch_near(int i, struct mt_clone_site *site, int number, void *to)
{
	const uint8_t *call = memmem((const void *)(uintptr_t)like_fork, (size_t)(like_fork_end - (const uint8_t *)(uintptr_t)like_fork),
				     "\xb8\x38\0\0\0\x0f\x05", 7);

	*site = (struct mt_clone_site){ .at = call, .before = 5, .number = number };
	return !call || mt_patch_call(site, i, to);
}

static int near_by_number(void)
{
	struct mt_clone_site site;
	struct registers r;

	memset(&r, 0, sizeof(r));
	if (patch_near(3, &site, 56, see_arguments))
		return 1;
	if (site.at[0] != 0xe9 || site.at[5] != 0xcc || site.at[6] != 0xcc)
		return 2;
	if (like_fork(&r) != -4711 || seen[0] != 0x11 || seen[4] != 8)
		return 3;
	return have_stayed(&r) ? 0 : 4;
}

static int near_by_any(void)
{
	struct mt_clone_site site;
	struct registers r;
	int status;
	long pid;

	memset(&r, 0, sizeof(r));
	if (patch_near(MT_PATCH_CALLS - 1, &site, 0, see_any))
		return 1;
	if (like_fork(&r) != -4711 || seen_number != 56 || seen[0] != 0x11 || seen[1] || seen[2] != 2 || seen[3] != 0x20 || seen[4] != 8)
		return 2;
	if (!have_stayed(&r))
		return 3;
	/* it is to be made as it is */
	memset(&r, 0, sizeof(r));
	any_answer = MT_CALL_IT;
	pid = like_fork(&r);
	if (!pid)
		_exit(have_stayed(&r) ? 7 : 8);
	return pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || status != 7 << 8 || !have_stayed(&r) ? 4 : 0;
}

/* What makes no process goes by; the room is used again, and its number has changed. */
static int near_by_another(void)
{
	struct mt_clone_site site;
	struct registers r;
	const uint8_t *room;

	memset(&r, 0, sizeof(r));
	if (patch_near(0, &site, 0, see_any))
		return 1;
	room = near_room[0];
	if (write_code((void *)(uintptr_t)site.at, (const uint8_t *)"\xb8\x27\0\0\0\x0f\x05", 7) || mt_patch_call(&site, 0, see_any))
		return 2;
	if (near_room[0] != room || like_fork(&r) != getpid() || seen_number)
		return 3;
	return have_stayed(&r) ? 0 : 4;
}

static void without_entry(void)
{
	CHECK_EQ(alone(fork_without_entry), 0);
	CHECK_EQ(alone(all_or_none_without_entry), 0);
	CHECK_EQ(alone(registers_stay), 0);
	CHECK_EQ(alone(near_by_number), 0);
	CHECK_EQ(alone(near_by_any), 0);
	CHECK_EQ(alone(near_by_another), 0);
	CHECK_EQ((uintptr_t)mt_arch_moved % MT_PAGE, 0);
	CHECK(MT_SITES * MT_MOVED_MAX <= MT_PAGE);
}

/* What is looked for, at its borders. */
static void patterns(void)
{
	static const uint8_t map[] = "\x90\x41\xf7\xc1\xff\x0f\0\0\x75\x08\xb8\x09\0\0\0\x0f\x05\xc3";
	static const uint8_t unmap[] = "\xf3\x0f\x1e\xfa\xb8\x0b\0\0\0\x0f\x05\xc3";
	uint8_t other[sizeof(map)];

	CHECK(mt_arch_is_mmap(map, sizeof(map) - 1));
	CHECK(mt_arch_is_mmap(map, sizeof(map) - 2));
	CHECK(!mt_arch_is_mmap(map, sizeof(map) - 3));		/* the system call is cut */
	CHECK(!mt_arch_is_mmap(map + 2, sizeof(map) - 3));	/* the test is cut */
	memcpy(other, map, sizeof(map));
	other[11] = 0x0a;				/* mprotect */
	CHECK(!mt_arch_is_mmap(other, sizeof(map) - 1));
	CHECK(mt_arch_is_munmap(unmap, sizeof(unmap) - 1));
	CHECK(mt_arch_is_munmap(unmap + 4, sizeof(unmap) - 5));
	CHECK(mt_arch_is_munmap(unmap + 4, 7));
	CHECK(!mt_arch_is_munmap(unmap + 4, 6));
	CHECK(!mt_arch_is_munmap(unmap, 10));
	CHECK(!mt_arch_is_munmap(unmap + 3, sizeof(unmap) - 4));	/* only at its beginning */
	CHECK(!mt_arch_is_munmap(map, sizeof(map) - 1));
}
#else
/* A libc without _Fork() is refused. */
static int refused(void)
{
	const struct mt_patch p[] = { { "ftok", our_ftok, NULL, 0 }, { "_Fork", our_gethostid, our_gethostid, 1 } };
	const char *failed = NULL;
	const key_t before = ftok("/", 7);

	return mt_patch_all(p, 2, &failed) == -ENOENT && strstr(failed, "glibc 2.34") && ftok("/", 7) == before ? 0 : 1;
}

static void without_entry(void)
{
	CHECK_EQ(alone(refused), 0);
}

static void patterns(void)
{
	/* nop; tst x5, #0xfff; b.ne; mov x8, #222; svc #0; ret */
	static const uint32_t map[] = { 0xd503201f, 0xf2402cbf, 0x54000121, 0xd2801bc8, 0xd4000001, 0xd65f03c0 };
	/* bti c; mov x8, #215; svc #0; ret */
	static const uint32_t unmap[] = { 0xd503245f, 0xd2801ae8, 0xd4000001, 0xd65f03c0 };
	const uint8_t *m = (const uint8_t *)map, *u = (const uint8_t *)unmap;
	uint8_t code[MT_JUMP_MAX];
	uint32_t other[6];

	CHECK(mt_arch_is_mmap(m, 24));
	CHECK(mt_arch_is_mmap(m, 20));
	CHECK(!mt_arch_is_mmap(m, 16));			/* the system call is cut */
	CHECK(!mt_arch_is_mmap(m + 8, 16));		/* the test is cut */
	memcpy(other, map, sizeof(map));
	other[3] = 0xd2801c48;				/* mprotect */
	CHECK(!mt_arch_is_mmap((const uint8_t *)other, 24));
	CHECK(mt_arch_is_munmap(u, 16));
	CHECK(mt_arch_is_munmap(u + 4, 12));
	CHECK(mt_arch_is_munmap(u + 4, 8));
	CHECK(!mt_arch_is_munmap(u + 4, 4));
	CHECK(!mt_arch_is_munmap(u, 8));
	CHECK(!mt_arch_is_munmap(m, 24));
	memcpy(other, unmap, sizeof(unmap));
	other[0] = 0xd2801ae9;				/* not at its beginning */
	CHECK(!mt_arch_is_munmap((const uint8_t *)other, 16));

	/* a landing pad stays one */
	CHECK_EQ(mt_arch_jump(code, map, our_gethostid), 16);
	CHECK_EQ(mt_arch_jump(code, unmap, our_gethostid), 20);
	CHECK(!memcmp(code, unmap, 4));
}
#endif

/* In code of Go both places are found, and nothing that only looks alike. */
static void of_go(void)
{
#ifdef __x86_64__
	uint8_t code[200];
	static const uint8_t all[] = {
		0x49, 0x89, 0xf2, 0x48, 0x89, 0xfa, 0x48, 0x89, 0xce, 0x48, 0x89, 0xdf, 0x0f, 0x05, 0x48, 0x3d, 1, 0xf0, 0xff, 0xff
	}, forks[] = {
		0x49, 0xc7, 0xc1, 0, 0, 0, 0, 0x48, 0x8b, 0x44, 0x24, 8, 0x41, 0x5c, 0x0f, 5, 0x41, 0x54, 0x48, 0x3d, 1, 0xf0, 0xff, 0xff
	}, advises[] = {
		0x48, 0x8b, 0x7c, 0x24, 8, 0x48, 0x8b, 0x74, 0x24, 0x10, 0x8b, 0x54, 0x24, 0x18, 0x48, 0xc7, 0xc0, 0x1c, 0, 0, 0, 0x0f, 5,
		0x89, 0x44, 0x24, 0x20, 0xc3
	};
	struct mt_go_site site[MT_GO_SITES];
	int found = 1;

	memset(code, 0x90, sizeof(code));
	CHECK_EQ(mt_arch_find_go(code, sizeof(code), site, &found), 0);
	CHECK(!found);
	memcpy(code + 32, all, sizeof(all));
	memcpy(code + 101, forks, sizeof(forks));
	CHECK_EQ(mt_arch_find_go(code, sizeof(code), site, &found), 2);
	CHECK(!found);
	CHECK(site[0].at == code + 32 && site[1].at == code + 101);
	CHECK_EQ(mt_arch_find_go(code, 101 + sizeof(forks) - 1, site, &found), 1);
	code[32]++;
	CHECK_EQ(mt_arch_find_go(code, sizeof(code), site, &found), 1);
	CHECK(site[0].at == code + 101);
	memcpy(code + 140, advises, sizeof(advises));
	CHECK_EQ(mt_arch_find_go(code, sizeof(code), site, &found), 2);
	CHECK(found && site[1].at == code + 140);
	CHECK_EQ(mt_arch_find_go(code, 140 + sizeof(advises) - 1, site, &found), 1);
	CHECK(!found);
#endif
	CHECK_EQ(mt_arch_is_libc_thread(), 1);
}

int main(void)
{
	of_go();
	CHECK_EQ(alone(both_are_replaced), 0);
	CHECK_EQ(alone(callers_inside_come_too), 0);
	CHECK_EQ(alone(unknown_name), 0);
	CHECK_EQ(alone(too_short), 0);
	CHECK_EQ(alone(all_or_none), 0);
	CHECK_EQ(alone(code_stays_whole), 0);
#ifdef __SANITIZE_ADDRESS__	/* it has a __tls_get_addr() of its own: the loader is not found */
	CHECK_EQ(alone(loader), 1);
#else
	CHECK_EQ(alone(loader), 0);
#endif
	without_entry();
	patterns();
	return mt_test_done();
}
