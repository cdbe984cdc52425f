// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* The count of processes without an image. */
// uses: cli/trace/unrecorded.c cli/base/util.c
// libs: -ljansson -lzstd -lz
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/trace/unrecorded.h"
#include "common/arch.h"
#include "harness.h"

static json_int_t cpu_ns, unreached;
static char dir[] = "/tmp/memtrace-unrecorded-XXXXXX";

/* What is counted when the file has these lines; -1 for nothing at all. */
static json_int_t counted(const char *lines, json_int_t *left_out, char *text, size_t cap)
{
	char path[128];
	json_int_t n;
	json_t *j;
	FILE *f;

	snprintf(path, sizeof(path), "%s/unrecorded.csv", dir);
	unlink(path);
	CHECK(mt_unrecorded_create(dir) == 0);
	CHECK(mt_unrecorded_create(dir) < 0);	/* never twice */
	f = fopen(path, "a");
	CHECK(f && fputs(lines, f) >= 0);
	fclose(f);
	j = mt_unrecorded_describe(dir);
	if (!j)
		return -1;
	n = json_integer_value(json_object_get(j, "processes"));
	*left_out = json_integer_value(json_object_get(j, "left_out"));
	cpu_ns = json_integer_value(json_object_get(j, "cpu_ns"));
	unreached = json_integer_value(json_object_get(j, "unreached"));
	snprintf(text, cap, "%s", json_string_value(json_object_get(j, "text")));
	json_decref(j);
	return n;
}

int main(void)
{
	json_int_t left = 0;
	char text[400] = "";

	CHECK(mkdtemp(dir) != NULL);
	CHECK(mt_unrecorded_describe(dir) == NULL);	/* a trace without the file */
	CHECK(counted("", &left, text, sizeof(text)) == -1);

	/* a fork that goes on as a program is one process, and one that is recorded then is none */
	CHECK(counted("10,7,begin,fork,small,1,0,0,/bin/dash\n"
		      "11,7,begin,exec,small,1,0,0,/usr/bin/true\n"
		      "12,7,end,,small,1,5,0,/usr/bin/true\n"
		      "13,8,begin,fork,small,1,0,0,/bin/dash\n"
		      "14,9,begin,exec,small,8,0,0,\"/opt/a,b\"\n"
		      "15,9,recorded,,small,8,3,2000000,\"/opt/a,b\"\n", &left, text, sizeof(text)) == 2);
	CHECK(left == 0);
	CHECK_EQ(cpu_ns, 5);	/* of those that have ended, and were not recorded */
	CHECK_EQ(unreached, 0);
	CHECK(!strcmp(text, "2 processes not recorded: 2 that asked for little memory (--min-process); dash 1, true 1"));

	/* a number that is used again is another process */
	CHECK(counted("1,7,begin,exec,small,1,0,0,/bin/true\n2,7,end,,small,1,5,0,/bin/true\n"
		      "3,7,begin,exec,small,1,0,0,/bin/true\n4,7,end,,small,1,7,0,/bin/true\n", &left, text, sizeof(text)) == 2);
	CHECK_EQ(cpu_ns, 12);

	/* what cannot be recorded, named by the launcher at the end: the process of line 1 went on as something static */
	CHECK(counted("1,7,begin,fork,small,1,0,0,/bin/dash\n3,9,begin,exec,small,1,0,0,/bin/sed\n"
		      "2,7,begin,exec,static,1,0,0,\"/opt/busy\"\n5,7,end,,static,1,0,0,\"/opt/busy\"\n"
		      "4,8,begin,exec,foreign,1,0,0,\"/opt/old\"\n", &left, text, sizeof(text)) == 3);
	CHECK_STR(text, "3 processes not recorded: 1 that asked for little memory (--min-process), 1 statically linked, "
		  "1 not a " MT_ARCH_NAME " program of glibc; busy 1, old 1, sed 1; --backend kmod records them all");
	CHECK_EQ(unreached, 2);	/* what the kernel module would have recorded */
	CHECK(counted("1,7,begin,fork,no-hook,1,0,0,\"\"\n", &left, text, sizeof(text)) == 1);
	CHECK(strstr(text, ": 1 made by a system call of the program itself, which no hook sees;") != NULL);

	/* left out, and a torn line at the end */
	CHECK(counted("1,7,begin,exec,left-out,1,0,0,/bin/sed\n2,4194304,begin,exec,small,1,0,0,/bin/a\n"
		      "3,9,begin,exec,small,1,0,0,/bin/b\n4,10,begin,exec,small,1,0,0,/bin/c\n5,99999999999,begin,exec,small,1,0,0,/bin/d\n"
		      "6,11,begin,exec,sm", &left, text, sizeof(text)) == 4);
	CHECK(left == 1);
	CHECK(!strcmp(text, "4 processes not recorded: 3 that asked for little memory (--min-process), 1 left out by --follow or --skip; "
		      "a 1, b 1, c 1 and others"));

	/* what was left out, and goes on as something small, is not left out any more */
	CHECK(counted("1,7,begin,exec,left-out,1,0,0,/bin/env\n2,7,begin,exec,small,1,0,0,/bin/a\n", &left, text, sizeof(text)) == 1);
	CHECK(left == 0);

	CHECK(counted("1,7,begin,exec,small,1,0,0,/bin/a\n2,7,stays,,threads,1,9,2000000,/bin/a\n", &left, text, sizeof(text)) == 1);
	CHECK(strstr(text, "1 of them grew, but made threads without libc") != NULL);
	CHECK(counted("1,7,begin,fork,small,1,0,0,/bin/a\n2,7,stays,,descriptors,1,9,2000000,/bin/a\n", &left, text, sizeof(text)) == 1);
	CHECK(strstr(text, "1 of them grew, but may have too few descriptors") != NULL);
	CHECK(counted("1,7,begin,fork,small,1,0,0,/bin/a\n2,7,stays,,pinned,1,9,2000000,/bin/a\n", &left, text, sizeof(text)) == 1);
	CHECK(strstr(text, "1 of them grew, but have memory that the kernel has pinned") != NULL);
	{
		char path[128];

		snprintf(path, sizeof(path), "%s/unrecorded.csv", dir);
		unlink(path);
		rmdir(dir);
	}
	return mt_test_done();
}
