// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * launcher.c - starts the tool beside it; Valgrind runs it for each program that a program starts.
 *
 * usage: launcher --OPTION... PROGRAM ARGUMENT...
 *
 * Static and without libc: LD_PRELOAD is for the program, not for this. A program that is not for 64 bits is
 * run without the tool.
 */
#include <elf.h>
#include <linux/limits.h>

#include "common/rawsys.h"

#define TOOL "tool"
#define LAUNCHER "VALGRIND_LAUNCHER="
#define MAX_ENVIRONMENT 65536

static char self[sizeof(LAUNCHER) + PATH_MAX] = LAUNCHER;
static char tool[PATH_MAX + sizeof(TOOL)];
static char *environment[MAX_ENVIRONMENT];

static int begins(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return 0;
	return 1;
}

/* Not for the tool, as far as its first bytes tell. */
static int is_foreign(const char *program)
{
	unsigned char head[EI_NIDENT];
	long fd = mt_sys(SYS_open, program, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return 0;
	n = mt_sys(SYS_read, fd, head, sizeof(head));
	mt_sys(SYS_close, fd);
	return n == sizeof(head) && head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' && head[3] == 'F' &&
	       head[EI_CLASS] != ELFCLASS64;
}

void launch(long *stack) __attribute__((used, noreturn));
/* Called with the stack of a new program: argc, argv, NULL, envp. */
void launch(long *stack)
{
	char **argv = (char **)(stack + 1), **envp = argv + *stack + 1;
	char *path = self + sizeof(LAUNCHER) - 1;
	long n = mt_sys(SYS_readlink, "/proc/self/exe", path, PATH_MAX - 1), dir = 0, k = 0;
	int program = 1;

	while (argv[0] && argv[program] && begins(argv[program], "--"))
		program++;
	if (argv[0] && argv[program] && is_foreign(argv[program]))
		mt_sys(SYS_execve, argv[program], argv + program, envp);
	for (long i = 0; i < n; i++) {
		tool[i] = path[i];
		if (path[i] == '/')
			dir = i + 1;
	}
	for (unsigned int i = 0; i < sizeof(TOOL); i++)
		tool[dir + i] = TOOL[i];
	for (; *envp && k < MAX_ENVIRONMENT - 2; envp++)
		if (!begins(*envp, LAUNCHER))
			environment[k++] = *envp;
	environment[k] = self;
	if (n > 0)
		mt_sys(SYS_execve, tool, argv, environment);
	mt_sys(SYS_exit_group, 126);
	__builtin_unreachable();
}

asm(
"	.globl _start\n"
"_start:\n"
"	xor %ebp, %ebp\n"
"	mov %rsp, %rdi\n"
"	and $-16, %rsp\n"
"	call launch\n"
);
