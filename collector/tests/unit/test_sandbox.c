// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// includes: preload/ground/sandbox.c
/* Filters that kill: each system call of the recorder is asked for under a filter for it alone. */
#include "harness.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/ground/sandbox.c"

/* What a process found, in memory that it shares with the test: under a filter it may write nothing. */
static struct seen {
	int asked, obstacle, silent;
	char text[160];
} *seen;

/* The call @number is answered with @action if its first argument has a bit of @bits, all calls of it with 0. */
static int filter(int number, unsigned int action, unsigned int bits)
{
	struct sock_filter always[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	}, by_bits[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(always) / sizeof(always[0]), always };

	if (bits) {
		program.len = sizeof(by_bits) / sizeof(by_bits[0]);
		program.filter = by_bits;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Asks in a process with such a filter; without one for number -1. Returns how the process ended. */
static int ask(int number, unsigned int action, unsigned int bits)
{
	int status = -1;
	pid_t pid;

	memset(seen, 0, sizeof(*seen));
	pid = fork();
	if (!pid) {
		const char *obstacle;

		if (number >= 0 && filter(number, action, bits))
			_exit(77);
		obstacle = mt_sandbox_obstacle(&seen->silent);
		seen->obstacle = obstacle != NULL;
		for (int i = 0; obstacle && obstacle[i] && i < (int)sizeof(seen->text) - 1; i++)
			seen->text[i] = obstacle[i];
		seen->asked++;	/* twice: the child that tries went on, too */
		mt_sys(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* The question itself needs them: under such a filter the loader could not have loaded us. */
static int needed_to_ask(int number)
{
	return number == SYS_openat || number == SYS_read || number == SYS_close || number == SYS_mmap || number == SYS_munmap;
}

static void each_call(void)
{
	int tried = 0;

	for (size_t i = 0; i < CALLS; i++) {
		if (needed_to_ask(calls[i].number))
			continue;
		tried++;
		CHECK_EQ(ask(calls[i].number, SECCOMP_RET_KILL_PROCESS, calls[i].number == SYS_clone ? CLONE_THREAD : 0), 0);
		CHECK_EQ(seen->asked, 1);
		CHECK(seen->obstacle);
		CHECK_EQ(seen->silent, !calls[i].obstacle);
		CHECK_STR(seen->text, calls[i].obstacle ? calls[i].obstacle : "a seccomp filter kills processes that write files");
	}
	CHECK(tried > 20);
	/* a thread that is killed is the process here */
	CHECK_EQ(ask(SYS_madvise, SECCOMP_RET_KILL_THREAD, 0), 0);
	CHECK_STR(seen->text, "a seccomp filter kills processes that call madvise; the program runs unrecorded");
}

static void what_does_not_kill(void)
{
	CHECK_EQ(ask(-1, 0, 0), 0);
	CHECK(seen->asked == 1 && !seen->obstacle && !seen->silent);
	CHECK_EQ(ask(SYS_userfaultfd, SECCOMP_RET_ERRNO | EPERM, 0), 0);	/* what containers do: other code falls back */
	CHECK(seen->asked == 1 && !seen->obstacle && !seen->silent);
	CHECK_EQ(ask(SYS_reboot, SECCOMP_RET_KILL_PROCESS, 0), 0);		/* none of ours */
	CHECK(seen->asked == 1 && !seen->obstacle && !seen->silent);
}

/* Without a filter none of the calls changes anything: the kernel refuses it, or there is nothing to do. */
static void harmless(void)
{
	static const short done[] = {
		SYS_prlimit64, SYS_getpid, SYS_gettid, SYS_sched_yield, SYS_mprotect, SYS_madvise, SYS_rt_sigprocmask, SYS_move_pages,
	};

	for (size_t i = 0; i < CALLS; i++) {
		int expected = 0;
		long ret = mt_sys(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d);

		for (size_t k = 0; k < sizeof(done) / sizeof(done[0]); k++)
			expected |= calls[i].number == done[k];
CHECK_EQ(!mt_failed(ret), expected);
	}
}

/* The child that tries is waited for, and sends no signal. */
static volatile int children;

static void on_child(int signal)
{
	(void)signal;
	children++;
}

static void leaves_nothing(void)
{
	int silent = 1, status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGCHLD, on_child);
		if (filter(SYS_mremap, SECCOMP_RET_KILL_PROCESS, 0))
			_exit(77);
		if (!mt_sandbox_obstacle(&silent) || silent || children)
			_exit(1);
		_exit(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}

int main(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED);
	each_call();
	what_does_not_kill();
	harmless();
	leaves_nothing();
	return mt_test_done();
}
