// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Steps that make processes, go on as other programs, and change what a process may do. */
#include "plan.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

extern char **environ;

static long wait_for(pid_t pid, int *status)
{
	pid_t got;

	while ((got = waitpid(pid, status, __WALL)) < 0 && errno == EINTR)
		;
	return got;
}

void tell_status(const char *what, pid_t pid)
{
	int status = 0;

	if (pid < 0)
		say(", %s: %s", what, name_of(-1));
	else if (wait_for(pid, &status) != pid)
		say(", %s: wait %s", what, name_of(-1));
	else
		say(", %s: %s %d", what, WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Copies what comes from @fd to the output of this process. */
static void relay(int fd)
{
	char buf[4096];
	ssize_t n;

	say("\n");
	flush();
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t done = 0; done < n;) {
			const ssize_t k = write(1, buf + done, (size_t)(n - done));

			done += k > 0 ? k : 0;
			if (k < 0 && errno != EINTR)
				break;
		}
	close(fd);
	say("%*s", depth * 2 + 2, "");
}

/* ---- forms of fork */

struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static struct random *for_child;
static int child_pipe[2];

static void child_main(void)
{
	struct random r = *for_child;

	close(child_pipe[0]);
	dup2(child_pipe[1], 1);
	close(child_pipe[1]);
	depth++;
	areas_in_child();
	check_areas("fork");
	areas_not_shared();
	run_steps(&r, 1 + below(&r, depth == 1 ? 5 : 3));
	check_areas("end of child");
	flush();
}

static int cloned(void *arg)
{
	(void)arg;
	deepest = 100;
	child_main();
	if (kernel_has_threads)	/* the status of the first thread would not be that of the process */
		_exit(31);
	return 31;
}

static volatile pid_t handler_pid;
static volatile int handler_form;

static void fork_in_handler(int sig)
{
	(void)sig;
	handler_pid = handler_form ? (pid_t)syscall(SYS_fork) : fork();
}

enum { FORMS = 14 };

static pid_t fork_form(struct random *r, unsigned form, char *stack)
{
	static const unsigned long flags[] = { CLONE_FS | CLONE_SYSVSEM | CLONE_IO, CLONE_NEWNS | CLONE_NEWUTS, CLONE_NEWPID,
					       CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, CLONE_NEWIPC | CLONE_NEWCGROUP };
	struct clone3_args a = { .exit_signal = SIGCHLD };
	struct sigaction sa = { .sa_handler = fork_in_handler }, old;

	switch (form) {
	case 0:
	case 1:
		return fork();
	case 2:
		return _Fork();
#ifdef SYS_fork
	case 3:
		return (pid_t)syscall(SYS_fork);
#endif
	case 4:
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	case 5:
		a.flags = chance(r, 50) ? CLONE_CLEAR_SIGHAND : 0;
		return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	case 6:
		return clone(cloned, stack + 256 * 1024, SIGCHLD, NULL);
	case 7:
		return (pid_t)syscall(SYS_clone, SIGCHLD | flags[below(r, 6)], 0, 0, 0, 0);
	case 8:
		a.flags = flags[below(r, 6)];
		return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	case 9:
		return clone(cloned, stack + 256 * 1024, (int)(SIGCHLD | flags[below(r, 6)]), NULL);
	case 10:
		handler_form = chance(r, 50);
		sa.sa_flags = chance(r, 50) ? SA_ONSTACK : 0;
		sigaction(SIGUSR2, &sa, &old);
		raise(SIGUSR2);
		sigaction(SIGUSR2, &old, NULL);
		return handler_pid;
	case 11:	/* another signal, and none */
		return (pid_t)syscall(SYS_clone, chance(r, 50) ? 0 : SIGUSR1, 0, 0, 0, 0);
	default:
		return fork();
	}
}

static void forks(struct random *r)
{
	const unsigned form = below(r, FORMS), meanwhile = chance(r, 50);
	struct random childs = { next(r) };
	char *stack = mmap(NULL, 256 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	flush();
	for_child = &childs;
	signal(SIGUSR1, SIG_IGN);
	if (pipe2(child_pipe, O_CLOEXEC))
		return;
	pid = fork_form(r, form, stack);
	if (!pid) {
		child_main();
		if (chance(&childs, 30))
			exit(32);
		_exit(33);
	}
	close(child_pipe[1]);
	if (pid < 0) {
		say(" form %u: %s", form, name_of(-1));
		close(child_pipe[0]);
	} else {
		if (meanwhile) {	/* the parent goes on */
			struct area *a = area_private(r, 16);

			if (a)
				write_some(r, a);
		}
		relay(child_pipe[0]);
		say("form %u", form);
		tell_status("child", pid);
	}
	munmap(stack, 256 * 1024);
}

/* What child and parent have in common, and what not. */
static void shares(struct random *r)
{
	struct area *own = area_private(r, 8);
	char *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static int in_data = 5;
	int on_stack = 6;
	pid_t pid = fork();

	if (!pid) {
		fill(shared, 9);
		for (unsigned i = 0; i < own->pages; i++)
			fill(own->at + i * PAGE, 10);
		in_data = on_stack = 11;
		_exit(in_data + on_stack);
	}
	tell_status("child", pid);
	say(", shared %d, data %d, stack %d", is_filled(shared, 9), in_data, on_stack);
	munmap(shared, PAGE);
}

/* Many short-lived ones, some of them at the same time. */
static void crowd(struct random *r)
{
	const unsigned n = 2 + below(r, 5);
	pid_t pid[8];

	for (unsigned i = 0; i < n; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct random own = { next(r) + i };

			_exit(churn(&own, 3) ? 1 : (int)i);
		}
	}
	for (unsigned i = 0; i < n; i++)
		tell_status("child", pid[n - 1 - i]);
}

static void twice(struct random *r)
{
	int ends[2];
	pid_t pid;

	flush();
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		setsid();
		pid = fork();
		if (!pid) {
			char word[32];
			struct random own = { next(r) };

			snprintf(word, sizeof(word), "grandchild %u\n", churn(&own, 3));
			if (write(ends[1], word, strlen(word)) < 0)
				_exit(1);
			_exit(0);
		}
		_exit(pid < 0);
	}
	close(ends[1]);
	relay(ends[0]);
	tell_status("child", pid);
}

static int shares_memory(void *arg)
{
	*(volatile int *)arg = 5;
	if (write(1, "", 0) < 0)
		return 1;
	return 3;
}

/* Processes that share our memory: with a stack of their own, or while we wait. */
static void same_memory(struct random *r)
{
	const int flags[] = { 0, CLONE_VFORK, CLONE_FILES | CLONE_FS | CLONE_SIGHAND, CLONE_VFORK | CLONE_FILES };
	char *stack = mmap(NULL, 64 * 1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int value = 0, status = 0;
	const int f = flags[below(r, 4)];
	pid_t pid = clone(shares_memory, stack + 64 * 1024, CLONE_VM | SIGCHLD | f, &value);

	say(" %x", (unsigned)f);
	if (pid > 0)
		wait_for(pid, &status);
	say(": %s, value %d, status %d", pid > 0 ? "ok" : name_of(-1), value, status);
	munmap(stack, 64 * 1024);
}

static void prepare(void) { write_some(&(struct random){ 4 }, &areas[0]); }

static void handlers(struct random *r)
{
	static int n;
	const int had = areas[0].at && !(areas[0].flags & IS_SHARED);

	if (!n++ && had && pthread_atfork(prepare, NULL, NULL))
		say(" none");
	say(" %d", n);
	(void)r;
}

/* ---- other programs */

int exec_tail(int argc, char **argv)
{
	struct random r = { strtoul(argc > 2 ? argv[2] : "1", NULL, 10) };

	depth = 1;
	say("%*stail of %d arguments\n", depth * 2, "", argc);
	run_steps(&r, below(&r, 4));
	check_areas("tail");
	flush();
	return 41;
}

static void script(struct random *r, char *name)
{
	char text[600];
	int fd;

	strcpy(name, "/tmp/generatedXXXXXX");
	fd = mkstemp(name);
	snprintf(text, sizeof(text), "#!%s tail\nx %u\n", own_path, below(r, 1000));
	if (write(fd, text, strlen(text)) < 0 || fchmod(fd, 0700))
		_exit(1);
	close(fd);
}

/* Does not come back, unless it fails. */
static void exec_form(struct random *r, unsigned form, char *name)
{
	char number[24];
	char *args[] = { (char *)(uintptr_t)own_path, "tail", number, NULL }, *none[] = { NULL }, *few[] = { "A=b", NULL };
	int fd;

	snprintf(number, sizeof(number), "%lu", (unsigned long)next(r) >> 1);
	switch (form) {
	case 0:
		execve(own_path, args, environ);
		break;
	case 1:
		execv(own_path, args);
		break;
	case 2:
		execvp(own_path, args);
		break;
	case 3:
		execveat(AT_FDCWD, own_path, args, environ, 0);
		break;
	case 4:
		fd = open(own_path, O_PATH | O_CLOEXEC);
		execveat(fd, "", args, environ, AT_EMPTY_PATH);
		break;
	case 5:
		fd = open(own_path, O_RDONLY | O_CLOEXEC);
		fexecve(fd, args, environ);
		break;
	case 6:
		execve(own_path, args, none);
		break;
	case 7:
		execve(own_path, args, few);
		break;
	case 8:
		syscall(SYS_execve, own_path, args, environ);
		break;
	case 9:
		syscall(SYS_execveat, AT_FDCWD, own_path, args, environ, 0);
		break;
	case 10:
		execl(name, name, number, NULL);
		break;
	case 11:	/* first what fails */
		execve("/no/such/program", args, environ);
		execve("/tmp", args, environ);
		syscall(SYS_execve, 16ul, args, environ);
		execve(own_path, args, environ);
		break;
	default:
		execle(own_path, own_path, "tail", number, NULL, environ);
	}
}

static void *exec_in_thread(void *arg)
{
	exec_form(arg, 0, NULL);
	_exit(98);
}

/* Data that is no program, each time as another kind of it: execvp() gives some of them to a shell. */
static void no_program(struct random *r)
{
	static const char *const contents[] = { "", "exit 5\n", "\177ELF", "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0", "#!\n",
						"#!/no/such/interpreter\n", "\0\1\2", "#!/bin/sh\nexit 6\n" };
	static const unsigned bytes[] = { 0, 7, 4, 20, 3, 23, 3, 17 };
	const unsigned k = below(r, 8), how = below(r, 3);
	char name[] = "./no-program", *args[] = { name, NULL };
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);
	pid_t pid;

	flush();
	if (fd < 0 || write(fd, contents[k], bytes[k]) < 0 || fchmod(fd, 0700))
		return;
	close(fd);
	pid = how == 2 ? vfork() : fork();
	if (!pid) {
		if (how)
			execve(name, args, environ);
		else
			execvp(name, args);
		_exit(50 + (errno % 50));
	}
	say(" kind %u, way %u", k, how);
	tell_status("child", pid);
	unlink(name);
}

int few_descriptors;

static void executes(struct random *r)
{
	const unsigned form = below(r, 13), how = below(r, 4), threads = chance(r, 20);
	char name[64] = "";
	struct random childs = { next(r) };
	int ends[2];
	pid_t pid;

	if (few_descriptors)
		return;
	flush();
	if (form == 10)
		script(r, name);
	if (pipe2(ends, O_CLOEXEC))
		return;
	say(" form %u, way %u", form, how);
	if (how == 0) {
		pid = vfork();
		if (!pid) {
			dup2(ends[1], 1);
			exec_form(&childs, form, name);
			_exit(97);
		}
	} else {
		flush();
		pid = how == 1 ? fork() : how == 2 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid) {
			pthread_t t;

			dup2(ends[1], 1);
			if (threads && how == 1 && !pthread_create(&t, NULL, exec_in_thread, &childs))
				pthread_join(t, NULL);
			exec_form(&childs, form, name);
			_exit(97);
		}
	}
	close(ends[1]);
	relay(ends[0]);
	tell_status("child", pid);
	if (*name)
		unlink(name);
}

static void spawns(struct random *r)
{
	char number[24], line[700];
	char *args[] = { (char *)(uintptr_t)own_path, "tail", number, NULL };
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	const unsigned how = below(r, 5);
	int ends[2], err;
	pid_t pid = -1;
	FILE *f;

	if (few_descriptors)
		return;
	flush();
	snprintf(number, sizeof(number), "%lu", (unsigned long)next(r) >> 1);
	snprintf(line, sizeof(line), "exec %s tail %s", own_path, number);
	say(" way %u", how);
	switch (how) {
	case 0:
	case 1:
		if (pipe2(ends, O_CLOEXEC))
			return;
		posix_spawnattr_init(&attributes);
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
		if (chance(r, 50))
			posix_spawn_file_actions_addclosefrom_np(&actions, 3);
		if (chance(r, 50))
			posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
		err = how ? posix_spawnp(&pid, own_path, &actions, &attributes, args, environ) :
			posix_spawn(&pid, chance(r, 80) ? own_path : "/no/such", &actions, &attributes, args, environ);
		close(ends[1]);
		relay(ends[0]);
		say("%d", err);
		if (!err)
			tell_status("child", pid);
		posix_spawnattr_destroy(&attributes);
		posix_spawn_file_actions_destroy(&actions);
		break;
	case 2:
		say("\n");
		flush();
		err = system(line);
		say("%*sstatus %x", depth * 2 + 2, "", (unsigned)err);
		break;
	case 3:
		f = popen(line, "re");
		if (!f)
			return;
		relay(fileno(f) >= 0 ? dup(fileno(f)) : -1);
		say("status %x", (unsigned)pclose(f));
		break;
	default:
		say(", %x", (unsigned)system("exit 9"));
	}
}

/* ---- what a process may do; in a child, which then does other things */

static void empty_root(void)
{
	char name[] = "/tmp/generatedXXXXXX";

	if (!mkdtemp(name) || chroot(name) || chdir("/"))
		say(" %s", name_of(-1));
}

static void limited(struct random *r)
{
	const unsigned kind = below(r, 10);
	struct random childs = { next(r) };
	struct rlimit l = { 3, 3 };
	int ends[2];
	pid_t pid;

	flush();
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		depth++;
		areas_in_child();
		check_areas("fork");
		areas_not_shared();
		switch (kind) {
		case 0:
			empty_root();
			break;
		case 1:
			closefrom(3);
			l.rlim_cur = l.rlim_max = 3 + below(&childs, 3);
			setrlimit(RLIMIT_NOFILE, &l);
			few_descriptors = 1;
			break;
		case 2:
			closefrom(3);
			break;
		case 3:
			close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
			break;
		case 4:
			for (int fd = 3; fd < 1024; fd++)
				dup2(1, fd);
			break;
		case 5:
			l.rlim_cur = 1 << 20;
			l.rlim_max = RLIM_INFINITY;
			setrlimit(RLIMIT_FSIZE, &l);
			signal(SIGXFSZ, SIG_IGN);
			break;
		case 6:
			if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
				say(" %s", name_of(-1));
			break;
		case 7:
			say(" %s", name_of(unshare(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_NEWNS | CLONE_NEWUTS)));
			break;
		case 8:	/* the first child is the init of the others */
			say(" %s", name_of(unshare(CLONE_NEWPID)));
			pid = fork();
			if (pid) {
				tell_status("init", pid);
				flush();
				_exit(35);
			}
			break;
		default:
			prctl(PR_SET_DUMPABLE, 0);
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		}
		run_steps(&childs, 1 + below(&childs, 4));
		_exit(34);
	}
	close(ends[1]);
	relay(ends[0]);
	say("kind %u", kind);
	tell_status("child", pid);
}

/* The kernel knows of no other child. */
static void waits(struct random *r)
{
	int status;
	siginfo_t info = { .si_pid = 0 };

	say(" wait %s", name_of(waitpid(-1, &status, WNOHANG)));
	say(", group %s", name_of(waitpid(0, &status, WNOHANG)));
	say(", all %s", name_of(waitpid(-1, &status, WNOHANG | __WALL)));
	say(", clones %s", name_of(waitpid(-1, &status, WNOHANG | __WCLONE)));
	say(", id %s %d", name_of(waitid(P_ALL, 0, &info, WEXITED | WNOHANG)), info.si_pid != 0);
	(void)r;
}

static int find(const char *path, const char *name, char *value, size_t n)
{
	char line[256];
	FILE *f = fopen(path, "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name))) {
			snprintf(value, n, "%s", line + strlen(name));
			value[strcspn(value, "\n")] = 0;
			found = 1;
		}
	if (f)
		fclose(f);
	return found;
}

/* What a process can ask about itself. */
static void asks(struct random *r)
{
	static const char *const names[] = { "SigBlk:", "SigIgn:", "CapEff:", "NoNewPrivs:", "Seccomp:", "Umask:", "TracerPid:", "Name:" };
	const char *name = names[below(r, 8)];
	char value[200] = "", comm[32] = "";
	struct sigaction sa;
	sigset_t set;
	unsigned sum = 0;
	pthread_attr_t attr;
	void *stack;
	size_t bytes;
	struct rlimit l;

	find("/proc/self/status", name, value, sizeof(value));
	say(" %s%s", name, value);
	prctl(PR_GET_NAME, comm);
	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int s = 1; s < 65; s++) {
		if (!sigaction(s, NULL, &sa))
			sum = sum * 3 + (sa.sa_handler != SIG_DFL);
		sum = sum * 3 + (unsigned)sigismember(&set, s);
	}
	say(", %s, signals %u, alone %d", comm, sum, getpid() == (int)syscall(SYS_gettid));
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		pthread_attr_getstack(&attr, &stack, &bytes);
		say(", stack %d", (char *)&attr > (char *)stack && (char *)&attr < (char *)stack + bytes);
		pthread_attr_destroy(&attr);
	}
	for (int k = 0; k < RLIM_NLIMITS; k++)
		if (!getrlimit((__rlimit_resource_t)k, &l))
			sum = sum * 31 + (unsigned)l.rlim_cur + (unsigned)l.rlim_max;
	say(", limits %u, dumpable %d, subreaper %s", sum, prctl(PR_GET_DUMPABLE), name_of(prctl(PR_SET_PDEATHSIG, 0)));
}

const struct step process_steps[] = {
	{ "fork", forks, 14, 2 }, { "shares", shares, 4, 2 }, { "crowd", crowd, 4, 1 }, { "twice", twice, 3, 1 },
	{ "same memory", same_memory, 3, 9 }, { "handlers", handlers, 1, 0 }, { "exec", executes, 9, 1 }, { "no program", no_program, 3, 1 },
	{ "spawn", spawns, 6, 1 }, { "limited", limited, 6, 1 }, { "wait", waits, 2, 9 }, { "ask", asks, 3, 9 }, { NULL, NULL, 0, 0 },
};

/* ---- the end */

static int said(int n)
{
	say("end\n");
	flush();
	return n;
}

static void last_words(void)
{
	said(0);
}

static void *ends_last(void *arg)
{
	usleep(2000);
	said(0);
	return arg;
}

void leave(struct random *r)
{
	const unsigned how = below(r, 12), status = below(r, 100);
	pthread_t t;

	switch (how) {
	case 0:
		atexit(last_words);
		exit((int)status);
	case 1:
		_exit(said((int)status));
	case 2:
		syscall(SYS_exit_group, said((int)status));
		break;
	case 3:
		if (libc_has_threads)
			exit(said((int)status));
		pthread_create(&t, NULL, ends_last, NULL);
		pthread_detach(t);
		pthread_exit(NULL);
	case 4:
		signal(SIGABRT, SIG_DFL);
		said(0);
		abort();
	case 5:
		said(0);
		kill(getpid(), SIGKILL);
		break;
	case 6:
		said(0);
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)0 = 1;
		break;
	case 7:
		said(0);
		raise(SIGTERM);
		break;
	case 8:
		exec_form(r, below(r, 10), NULL);
		break;
	case 9:
		at_quick_exit(last_words);
		quick_exit((int)status);
	case 10:
		if (libc_has_threads || kernel_has_threads)	/* which would stay */
			exit(said((int)status));
		syscall(SYS_exit, said((int)status));
		break;
	default:
		exit(said((int)status));
	}
	for (;;)
		pause();
}
