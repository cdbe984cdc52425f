/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* What a trace of a command is called. */
// uses: cli/record/worker.c cli/base/program.c cli/base/util.c common/sanitizer.c common/rawmem.c
// libs: -lelf -ljansson -lzstd -lz
#include "harness.h"
#include "cli/record/worker.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_called(const char *name, char *const *argv)
{
	int argc = 0;
	char *found;
	bool same;

	while (argv[argc])
		argc++;
	found = mt_worker_name(argc, argv);
	same = !strcmp(found, name);
	if (!same)
		fprintf(stderr, "%s: %s\n", argv[0], found);
	free(found);
	return same;
}
#define CALLED(name, ...) CHECK(is_called(name, (char *const[]){ __VA_ARGS__, NULL }))

static void programs(void)
{
	CALLED("ls", "ls", "-l");
	CALLED("ls", "/bin/ls");
	CALLED("absent-program", "absent-program");
}

static void starters(void)
{
	CALLED("ls", "env", "A=1", "B=2", "ls", "-l");
	CALLED("ls", "env", "-i", "-u", "HOME", "PATH=/bin", "ls");
	CALLED("ls", "env", "--", "ls");
	CALLED("ls", "nice", "ls");
	CALLED("ls", "nice", "-n", "5", "ls");
	CALLED("ls", "/usr/bin/nice", "-19", "/bin/ls");
	CALLED("ls", "timeout", "5", "ls");
	CALLED("ls", "timeout", "-s", "INT", "--kill-after=3", "5m", "ls", "-n", "4");
	CALLED("ls", "taskset", "-c", "0-3", "ls");
	CALLED("ls", "taskset", "0x3", "ls");
	CALLED("ls", "chrt", "-i", "0", "nice", "env", "X=1", "ls");
	CALLED("ls", "numactl", "--interleave=all", "-N", "0", "ls");
}

static void shells(void)
{
	CALLED("ls", "sh", "-c", "exec ls");
	CALLED("ls", "bash", "-c", "A=1 nice -n 5 ls -l >/dev/null");
	CALLED("ls", "env", "A=1", "sh", "-c", "exec ls \t/");
}

/* The first word, where it is not certain: nothing behind it, no such program, several commands. */
static void not_certain(void)
{
	CALLED("env", "env");
	CALLED("env", "env", "A=1");
	CALLED("nice", "nice", "-n", "5");
	CALLED("timeout", "timeout", "ls");
	CALLED("env", "env", "-S", "ls -l");
	CALLED("env", "env", "A=1", "absent-program");
	CALLED("taskset", "taskset", "-p", "1", "ls");
	CALLED("sh", "sh", "-c", "ls; ls");
	CALLED("sh", "sh", "-c", "cd / && ls");
	CALLED("sh", "sh", "-c", "for i in 1 2; do ls; done");
	CALLED("sh", "sh", "-c", "");
	CALLED("sh", "sh", "script.sh");
	CALLED("nice", "nice", "nice", "nice", "nice", "nice", "nice", "nice", "nice", "nice", "nice", "ls");
}

int main(void)
{
	programs();
	starters();
	shells();
	not_certain();
	return mt_test_done();
}
