// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Runs a program to which the kernel refuses some system calls, as containers
 * and hardened systems do:
 *	deny [-k] CALL[,CALL...] program arguments...
 * With -k the kernel kills the program instead, as strict sandboxes do.
 * CALL is perf_event_open, userfaultfd, memfd_create, move_pages, setpriority, mkdir or madvise; all give EPERM.
 * (With EACCES perf_event_open would say "perf_event_paranoid"; EPERM is what
 * the seccomp profiles of containers give.)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open }, { "userfaultfd", SYS_userfaultfd },
	{ "memfd_create", SYS_memfd_create }, { "move_pages", SYS_move_pages },
	{ "setpriority", SYS_setpriority }, { "mkdir", SYS_mkdir }, { "madvise", SYS_madvise },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

int main(int argc, char **argv)
{
	struct sock_filter code[2 * CALLS + 3];
	struct sock_fprog program = { 0, code };
	unsigned int answer = SECCOMP_RET_ERRNO | EPERM;
	size_t n = 0;

	if (argc > 1 && !strcmp(argv[1], "-k")) {
		answer = SECCOMP_RET_KILL_PROCESS;
		argv++;
		argc--;
	}
	if (argc < 3) {
		fputs("usage: deny [-k] CALL[,CALL...] program arguments...\n", stderr);
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
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny: seccomp");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
