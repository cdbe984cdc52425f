// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * mempolicy POLICY NODES COMMAND...: runs a command with a memory policy, as numactl does.
 * POLICY is default, interleave or bind; NODES a mask of nodes (3: nodes 0 and 1).
 */
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long nodes;
	int mode;

	if (argc < 4) {
		fprintf(stderr, "usage: mempolicy default|interleave|bind NODES COMMAND...\n");
		return 2;
	}
	nodes = strtoul(argv[2], NULL, 0);
	mode = !strcmp(argv[1], "interleave") ? MPOL_INTERLEAVE : !strcmp(argv[1], "bind") ? MPOL_BIND : MPOL_DEFAULT;
	if (syscall(SYS_set_mempolicy, mode, mode == MPOL_DEFAULT ? NULL : &nodes, mode == MPOL_DEFAULT ? 0 : 8 * sizeof(nodes) + 1)) {
		perror("set_mempolicy");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
