// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Lets one system call that the recorder makes in a program fail, in all its processes together:
 *	inject CALL N ERRNO program arguments...
 * The N-th CALL (from 1) that libmemtrace-preload.so makes fails with ERRNO, a number; all others are made. Exit status: that of the
 * program, or 128 and its signal; 125: there were fewer than N of them. inject -l lists the calls.
 *	inject CALL N -US program arguments...
 * Each N-th of them is made up to US microseconds later, so that the other threads of the program come in between.
 *
 * A seccomp filter tells this program of each such call (Linux 5.0, SECCOMP_USER_NOTIF_FLAG_CONTINUE 5.5).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNUSED 125

static const struct {
	const char *name;
	int number;
} calls[] = {
	{ "openat", SYS_openat }, { "mmap", SYS_mmap }, { "munmap", SYS_munmap }, { "madvise", SYS_madvise },
	{ "mremap", SYS_mremap }, { "mprotect", SYS_mprotect }, { "memfd_create", SYS_memfd_create }, { "userfaultfd", SYS_userfaultfd },
	{ "perf_event_open", SYS_perf_event_open }, { "ftruncate", SYS_ftruncate }, { "fallocate", SYS_fallocate },
	{ "fcntl", SYS_fcntl }, { "fstat", SYS_fstat }, { "ioctl", SYS_ioctl }, { "lseek", SYS_lseek }, { "read", SYS_read },
	{ "pread64", SYS_pread64 }, { "pwrite64", SYS_pwrite64 }, { "write", SYS_write }, { "close", SYS_close },
	{ "close_range", SYS_close_range }, { "dup3", SYS_dup3 }, { "getdents64", SYS_getdents64 },
	{ "newfstatat", SYS_newfstatat }, { "prlimit64", SYS_prlimit64 }, { "clone", SYS_clone }, { "set_robust_list", SYS_set_robust_list },
	{ "get_robust_list", SYS_get_robust_list }, { "prctl", SYS_prctl }, { "renameat", SYS_renameat },
	{ "kcmp", SYS_kcmp }, { "pidfd_open", SYS_pidfd_open }, { "ppoll", SYS_ppoll }, { "setsid", SYS_setsid },
	{ "set_tid_address", SYS_set_tid_address }, { "wait4", SYS_wait4 },
#ifdef SYS_mkdir
	{ "mkdir", SYS_mkdir }, { "readlink", SYS_readlink },
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static int filter(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog p = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
}

/* The descriptor of the listener goes to the parent through @to. */
static void send_fd(int to, int fd)
{
	char one = 0, room[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec v = { &one, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) != 1)
		_exit(126);
}

static int receive_fd(int from)
{
	char one, room[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &one, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	int fd = -1;

	if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* Is the instruction one of the preload library in the process? */
static int is_ours(int pid, uint64_t ip)
{
	char path[64], line[4400];
	int ours = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= ip && ip < end)
			ours = strstr(line, "/libmemtrace-preload.so") != NULL;
	}
	if (f)
		fclose(f);
	return ours;
}

static int read_there(int pid, uint64_t from, void *to, size_t n)
{
	const struct iovec here = { to, n }, there = { (void *)(uintptr_t)from, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* Is a call behind which @ip stands made for the preload library? It makes its calls where one of libc stands with a return behind it. */
static int is_made_for_us(int tid, uint64_t ip)
{
	unsigned long sp = 0;
	uint64_t back;
	uint8_t next;
	char path[64];
	FILE *f;

	if (is_ours(tid, ip))
		return 1;
	if (!read_there(tid, ip, &next, 1) || next != 0xc3)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*s %*s %*s %*s %*s %*s %*s %lx", &sp) != 1)
		sp = 0;
	if (f)
		fclose(f);
	return read_there(tid, sp, &back, sizeof(back)) && is_ours(tid, back);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

/* Calls that wait for their time. */
#define WAITING 64
static struct {
	uint64_t id;
	int64_t until_us;
} waiting[WAITING];
static int n_waiting;

static void go_on(int listener, uint64_t id, int error)
{
	struct seccomp_notif_resp answer = { .id = id, .error = -error, .flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Answers those whose time has come. Milliseconds until the next one, at most @most. */
static int let_go(int listener, int most)
{
	const int64_t now = now_us();

	for (int i = 0; i < n_waiting;) {
		const int64_t left = waiting[i].until_us - now;

		if (left <= 0) {
			go_on(listener, waiting[i].id, 0);
			waiting[i] = waiting[--n_waiting];
			continue;
		}
		if (left / 1000 + 1 < most)
			most = (int)(left / 1000) + 1;
		i++;
	}
	return most;
}

int main(int argc, char **argv)
{
	int pair[2], listener, status = 0, number = -1, error;
	long n, seen = 0;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (size_t i = 0; i < CALLS; i++)
			puts(calls[i].name);
		return 0;
	}
	if (argc < 5)
		return 2;
	for (size_t i = 0; i < CALLS; i++)
		if (!strcmp(argv[1], calls[i].name))
			number = calls[i].number;
	n = atol(argv[2]);
	error = atoi(argv[3]);
	if (number < 0 || n < 1 || !error || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return 2;
	pid = fork();
	if (pid < 0)
		return 126;
	if (!pid) {
		listener = filter(number);
		if (listener < 0) {
			perror("inject");
			_exit(126);
		}
		/* no call of this number may come before the parent answers */
		send_fd(pair[1], listener);
		syscall(SYS_close_range, listener, listener, 0);
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	listener = receive_fd(pair[0]);
	for (int ended = 0; listener >= 0;) {
		struct seccomp_notif ask;
		struct pollfd p = { listener, POLLIN, 0 };

		if (!ended && waitpid(pid, &status, WNOHANG) == pid)
			ended = 1;
		/* all that have the filter are over */
		if (poll(&p, 1, let_go(listener, 20)) < 0 || (p.revents & POLLHUP))
			break;
		if (!(p.revents & POLLIN))
			continue;
		memset(&ask, 0, sizeof(ask));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask))
			continue;
		if (!is_made_for_us((int)ask.pid, ask.data.instruction_pointer) || ++seen % n || (error > 0 && seen > n) || n_waiting == WAITING) {
			go_on(listener, ask.id, 0);
		} else if (error > 0) {
			go_on(listener, ask.id, error);
		} else {
			waiting[n_waiting].id = ask.id;
			waiting[n_waiting++].until_us = now_us() + rand() % -error;
		}
	}
	while (waitpid(pid, &status, 0) == pid)
		;
	if (seen < n)
		return UNUSED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
