// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Runs a program to which the kernel refuses some system calls, as containers
 * and hardened systems do:
 *	deny [-k] CALL[,CALL...] program arguments...
 * With -k the kernel kills the program instead, as strict sandboxes do.
 *	deny -o program arguments...
 * runs a program as if on Linux 4.18 (RHEL 8): system calls that are younger give ENOSYS, younger flags and
 * requests of older ones what that kernel answers. What a structure in memory asks for (perf_event_open,
 * UFFDIO_API) no filter can see: UFFDIO_API gives EINVAL whatever it asks for, perf_event_open is left alone.
 * CALL is perf_event_open, userfaultfd, memfd_create, move_pages, setpriority, mkdir or madvise; all give EPERM.
 * (With EACCES perf_event_open would say "perf_event_paranoid"; EPERM is what
 * the seccomp profiles of containers give.)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open }, { "userfaultfd", SYS_userfaultfd },
	{ "memfd_create", SYS_memfd_create }, { "move_pages", SYS_move_pages },
	{ "setpriority", SYS_setpriority }, { "madvise", SYS_madvise },
#ifdef SYS_mkdir
	{ "mkdir", SYS_mkdir },
#else
	{ "mkdir", SYS_mkdirat },
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Of Linux 4.18, whose last system call is rseq */
#ifdef __x86_64__
#define FIRST_YOUNG 335
#else
#define FIRST_YOUNG 294		/* arm64 and others with the generic table */
#endif
#define PAGEMAP_SCAN_REQUEST 0xc0606610u	/* 6.7 */

static const struct {
	unsigned number, argument;
	enum { AT_LEAST, EQUAL, BIT } how;
	uint32_t value, but, answer;	/* @but: not this value */
} young[] = {
	{ SYS_userfaultfd, 0, BIT, 1, ~0u, EINVAL },			/* UFFD_USER_MODE_ONLY, 5.11 */
	{ SYS_ioctl, 1, EQUAL, (uint32_t)UFFDIO_API, ~0u, EINVAL },	/* write protection: anonymous 5.7, shared 5.19 */
	{ SYS_ioctl, 1, EQUAL, PAGEMAP_SCAN_REQUEST, ~0u, ENOTTY },
	{ SYS_madvise, 2, AT_LEAST, 20, ~0u, EINVAL },			/* MADV_COLD 5.4, DONTNEED_LOCKED 5.18, ... */
	{ SYS_mremap, 3, BIT, 4, ~0u, EINVAL },				/* MREMAP_DONTUNMAP, 5.7 */
	{ SYS_memfd_create, 1, AT_LEAST, 8, ~0u, EINVAL },		/* MFD_NOEXEC_SEAL, 6.3; huge pages are not asked for */
	{ SYS_prctl, 0, AT_LEAST, 54, 0x59616d61, EINVAL },		/* but PR_SET_PTRACER */
	{ SYS_waitid, 0, EQUAL, 3, ~0u, EINVAL },			/* P_PIDFD, 5.4 */
};

static size_t as_linux_4_18(struct sock_filter *code)
{
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_YOUNG, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < sizeof(young) / sizeof(young[0]); i++) {
		const unsigned how = young[i].how == AT_LEAST ? BPF_JGE : young[i].how == EQUAL ? BPF_JEQ : BPF_JSET;

		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, young[i].number, 0, 4);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			(uint32_t)(offsetof(struct seccomp_data, args) + young[i].argument * 8));
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, young[i].but, 2, 0);
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, young[i].value, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | young[i].answer);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return n;
}

static int run(struct sock_filter *code, size_t n, char **argv)
{
	struct sock_fprog program = { (unsigned short)n, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny: seccomp");
		return 2;
	}
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS + 3], old[6 * sizeof(young) / sizeof(young[0]) + 4];
	unsigned int answer = SECCOMP_RET_ERRNO | EPERM;
	size_t n = 0;

	if (argc > 2 && !strcmp(argv[1], "-o"))
		return run(old, as_linux_4_18(old), argv + 2);

	if (argc > 1 && !strcmp(argv[1], "-k")) {
		answer = SECCOMP_RET_KILL_PROCESS;
		argv++;
		argc--;
	}
	if (argc < 3) {
		fputs("usage: deny [-k] CALL[,CALL...] program arguments...\n       deny -o program arguments...\n", stderr);
		return 2;
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr));
	for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < CALLS && strcmp(calls[i].name, name))
			i++;
		if (i == CALLS || n + 3 > sizeof(code) / sizeof(code[0])) {
			fprintf(stderr, "deny: unknown call '%s'\n", name);
			return 2;
		}
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return run(code, n, argv + 2);
}
