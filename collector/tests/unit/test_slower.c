// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/finish/slower.c cli/trace/tracedir.c cli/base/processes.c cli/base/util.c common/out.c
// libs: -ljansson -lzstd -lz
/* By how much the run took longer: the sums of all images, as shares and as words. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "put_file.h"
#include "cli/finish/slower.h"

#define HEAD "Interval,Faults,NewPages,FaultNs,HookNs,StartNs,MonitorCpuNs,ProgramCpuNs,BusiestCpuNs,LowNs,HighNs,RunNs\n"

static double share(const json_t *m, const char *key)
{
	return json_number_value(json_object_get(json_object_get(m, "overhead"), key));
}

static void is_said(const json_t *m, const char *want)
{
	char *text = mt_slower_text(m);

	CHECK_STR(text, want);
	free(text);
}

int main(void)
{
	char dir[] = "/tmp/memtrace-slower.XXXXXX", *command;
	json_t *m = json_pack("{s:{s:I}}", "overhead", "recorder_cpu_ns", (json_int_t)100);

	CHECK(mkdtemp(dir) != NULL);
	/* nothing is known: of another backend, or an older trace */
	mt_slower_describe(m, dir);
	CHECK(!json_object_get(json_object_get(m, "overhead"), "wall_share_low"));
	is_said(m, "");
	put_file(dir, "p0000", "overhead.csv", HEAD "0,100,0,2000,0,0,0,0,0,10,200,1000\n1,0,0,9000,0,0,0,0,0,10,200,1000\n");
	put_file(dir, "p0001", "overhead.csv", HEAD "0,300,0,4000,0,0,0,0,0,20,500,2000\n");
	put_file(dir, "p0002", "intervals.csv", "");
	mt_slower_describe(m, dir);
	CHECK_EQ(share(m, "wall_share_low") * 1000 + 0.5, 10);		/* 40 of 4,000 */
	CHECK_EQ(share(m, "wall_share_high") * 1000 + 0.5, 250);	/* 900, and the command itself */
	CHECK_EQ(share(m, "fault_ns_now"), 3500);
	CHECK_STR(json_string_value(json_object_get(json_object_get(m, "overhead"), "wall_share_how")), "bounds");
	is_said(m, "about 1.0 to 25 % longer");
	/* made anew, as often as wanted */
	mt_slower_describe(m, dir);
	is_said(m, "about 1.0 to 25 % longer");
	json_decref(m);
	command = mt_printf("rm -r %s", dir);
	CHECK_EQ(system(command), 0);
	free(command);
	return mt_test_done();
}
