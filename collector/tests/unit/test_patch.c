// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/asm/x86_64.c preload/asm/arm64.c
// includes: preload/patch.c
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

#include "../../preload/patch.c"

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
	const struct mt_patch p[] = { { "ftok", our_ftok }, { "gethostid", our_gethostid } };
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
	const struct mt_patch p = { "execve", our_execve };
	const char *failed = NULL;
	char *argv[] = { "nowhere", NULL };

	if (mt_patch_all(&p, 1, &failed))
		return 1;
	return execv("/nowhere", argv) == 42 ? 0 : 2;
}

static int unknown_name(void)
{
	const struct mt_patch p[] = { { "ftok", our_ftok }, { "no_such_function", our_gethostid } };
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
		struct mt_patch p = { names[i], our_gethostid };

		if (!libc_symbol(names[i], &size) || size >= MT_JUMP_MAX)
			continue;
		found++;
		if (mt_patch_all(&p, 1, &failed) != -ENOENT || strcmp(failed, names[i]) || getpid() == 4711 || getppid() == 4711)
			return 1;
	}
	return found ? 0 : 2;
}

/* From now on mprotect(@page) fails. */
static int refuse(uintptr_t page)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)page, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int all_or_none(void)
{
	static const char *const others[] = { "gethostid", "getloadavg", "glob", "wordexp" };
	struct mt_patch p[] = { { "ftok", our_ftok }, { NULL, our_gethostid } };
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

int main(void)
{
	CHECK_EQ(alone(both_are_replaced), 0);
	CHECK_EQ(alone(callers_inside_come_too), 0);
	CHECK_EQ(alone(unknown_name), 0);
	CHECK_EQ(alone(too_short), 0);
	CHECK_EQ(alone(all_or_none), 0);
#ifdef __SANITIZE_ADDRESS__	/* it has a __tls_get_addr() of its own: the loader is not found */
	CHECK_EQ(alone(loader), 1);
#else
	CHECK_EQ(alone(loader), 0);
#endif
	patterns();
	return mt_test_done();
}
