// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A program that makes processes by instructions of its own, outside of every library, and looks afterwards whether its memory is as it
 * must be. rawways WAY: fork, clone, clone3, vfork, stack (a clone with a stack of its own), thread (one that shares memory), tight (a
 * fork with little code around it that can be moved), number, number-clone, number-clone3 (with a number that only the running program
 * knows). Prints what came of it. x86-64 only.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (4ul << 20)

static char *memory, data[8192] = "data";

/* In the child: changes all that it has; the sum that it found. */
static int change(void)
{
	int sum = 0;

	for (size_t i = 0; i < BYTES; i += 4096)
		sum += memory[i] == 3;
	memset(memory, 9, BYTES);
	strcpy(data, "child");
	return sum == BYTES / 4096 ? 42 : 43;
}

static int report(const char *way, long pid)
{
	int status = 0, same = 1;

	if (pid < 0 || waitpid((pid_t)pid, &status, __WALL) != pid)
		return printf("%s: %ld, not waited for\n", way, pid), 1;
	for (size_t i = 0; i < BYTES; i++)
		same &= memory[i] == 3;
	printf("%s: child %s %d, memory %s, data %s\n", way, WIFSIGNALED(status) ? "signal" : "code",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), same ? "as it was" : "changed", data);
	return 0;
}

#ifdef __x86_64__
#define CALL(number, a, b, c, d, e) ({ \
	long r_; register long d_ __asm__("r10") = (long)(d); register long e_ __asm__("r8") = (long)(e); \
	__asm__ volatile("syscall" : "=a"(r_) : "0"((long)(number)), "D"((long)(a)), "S"((long)(b)), "d"((long)(c)), "r"(d_), "r"(e_) \
			 : "rcx", "r11", "memory"); \
	r_; })

__attribute__((noinline)) static long by_fork(void)
{
	return CALL(SYS_fork, 0, 0, 0, 0, 0);
}

__attribute__((noinline)) static long by_clone(unsigned long flags)
{
	int tid = 0;

	return CALL(SYS_clone, flags, 0, &tid, &tid, 0);
}

__attribute__((noinline)) static long by_clone3(void)
{
	uint64_t args[11] = { 0 };

	args[4] = SIGCHLD;
	return CALL(SYS_clone3, args, sizeof(args), 0, 0, 0);
}

__attribute__((noinline)) static long by_vfork(void)
{
	const pid_t pid = vfork();

	if (!pid)
		_exit(42);
	return pid;
}

/* Before and behind the two instructions is what is jumped to. */
__attribute__((noinline)) static long by_tight_fork(void)
{
	long pid;

	__asm__ volatile("jmp 1f\n"
			 "1:	mov $57, %%eax\n\t"
			 "syscall\n"
			 "2:	cmp $-11, %%rax\n\t"
			 "je 2b\n\t" : "=a"(pid) : : "rcx", "r11", "memory");
	return pid;
}

/* As functions of all system calls do it; what is in registers and behind the stack pointer stays as it is. */
__attribute__((noinline)) static long by_number(volatile long *number, long a, long b)
{
	register long c __asm__("r9") = 1234, d __asm__("r12") = 5678;
	volatile long near[4] = { 1, 2, 3, 4 };
	long pid = *number;

	__asm__ volatile("syscall" : "+a"(pid), "+r"(c), "+r"(d) : "D"(a), "S"(b), "d"(0l) : "rcx", "r8", "r10", "r11", "memory");
	return c == 1234 && d == 5678 && near[0] + near[1] + near[2] + near[3] == 10 ? pid : -1;
}

/* A child that begins on another stack, where nothing lies that it could return to. */
__attribute__((noinline)) static long on_stack(unsigned long flags, char *top)
{
	long pid;

	__asm__ volatile("xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "mov $56, %%eax\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "call *%%rbx\n\t"
			 "mov %%eax, %%edi\n\t"
			 "mov $60, %%eax\n\t"
			 "syscall\n"
			 "1:" : "=&a"(pid) : "D"(flags), "S"(top), "b"(change), "d"(0l) : "rcx", "r8", "r10", "r11", "memory");
	return pid;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	volatile long number = SYS_fork;
	uint64_t args[11] = { 0, 0, 0, 0, SIGCHLD };
	char *stack;
	long pid;

	memory = malloc(BYTES);
	stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!memory || stack == MAP_FAILED)
		return 1;
	memset(memory, 3, BYTES);
	if (!strcmp(way, "fork"))
		pid = by_fork();
	else if (!strcmp(way, "clone"))
		pid = by_clone(SIGCHLD);
	else if (!strcmp(way, "clone3"))
		pid = by_clone3();
	else if (!strcmp(way, "vfork"))
		pid = by_vfork();
	else if (!strcmp(way, "tight"))
		pid = by_tight_fork();
	else if (!strcmp(way, "number"))
		pid = by_number(&number, 0, 0);
	else if (!strcmp(way, "number-clone"))
		pid = by_number((number = SYS_clone, &number), SIGCHLD, 0);
	else if (!strcmp(way, "number-clone3"))
		pid = by_number((number = SYS_clone3, &number), (long)args, sizeof(args));
	else if (!strcmp(way, "stack"))
		pid = on_stack(SIGCHLD, stack + 65536);
	else if (!strcmp(way, "thread"))
		pid = on_stack(CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, stack + 65536);
	else
		return 2;
	if (pid == 0)
		_exit(change());
	return report(way, pid);
}
#else
int main(void)
{
	(void)change;
	return report("none", -1);
}
#endif
