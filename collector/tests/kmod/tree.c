// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* tree: a process, a child of fork, and a program executed by another child of vfork; ends with 7. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *p = malloc(1 << 20);
	pid_t k;

	memset(p, argc, 1 << 20);
	if (argc > 1) {
		memset(p, 3, 1 << 20);
		return 0;
	}
	k = fork();
	if (!k) {
		memset(p, 2, 1 << 20);
		usleep(100000);
		_exit(0);
	}
	waitpid(k, NULL, 0);
	k = vfork();
	if (!k) {
		execl(argv[0], argv[0], "child", (char *)0);
		_exit(1);
	}
	waitpid(k, NULL, 0);
	free(p);
	return 7;
}
