// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/ticks/ticks.c cli/ticks/decode.c cli/ticks/calibrate.c cli/trace/tracedir.c cli/base/processes.c cli/base/cache.c cli/base/util.c common/out.c cli/trace/recordfile.c common/records/recordread.c common/records/recordwrite.c cli/trace/accesses.c cli/trace/recordpack.c
// libs: -ldl -ljansson -lzstd -lz
/* From ticks.log to ticks.csv: which instruction a tick stands for, and what the manifest says. */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/ticks/calibrate.h"
#include "cli/ticks/ticks.h"
#include "put_file.h"

static char dir[] = "/tmp/mt-ticks-XXXXXX";
static uint64_t ips;

#define FEW_NOPS "909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090"
#define NOPS "90909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090"
/*
 * 401000 mov (%rdi), %rax; 401003 add %rax, %rbx; 401006 add $8, %rdi; 40100a cmp (%rsi), %rdi; 40100d jne 401000; 40100f ret
 */
#define LOOP "488b07" "4801c3" "4883c708" "483b3e" "75f1" "c3"
#define HEADER "Time,TaskId,Cpu,Mode,Ip,@Virt,Bytes,Access,CpuNs\n"
/* registers: si 7000, di 5000, ip */
#define REGS(ip) ",,,,,7000,5000,,," ip ",,,,,,,,"

static void count(void *arg, uint64_t ip)
{
	(void)arg;
	ips += ip != 0;
}

static void expect(const char *skid, const char *log, const char *want)
{
	char *manifest = mt_printf("{\"format\":\"memtrace\",\"format_version\":1,\"parameters\":{\"ticks_hz\":1000},\"ticks\":{%s}}", skid);
	char *path = mt_printf("%s/p0000/ticks.csv", dir), *images = mt_printf("%s/p0000", dir), *is;

	put_file(dir, ".", "manifest.json", manifest);
	put_file(dir, "p0000", "ticks.log", log);
	unlink(path);
	CHECK_EQ(mt_ticks_write(dir, "p0000", images, count, NULL), 0);
	is = mt_read_file(path, NULL);
	CHECK_STR(is ? is : "(no file)", want);
	free(is);
	free(images);
	free(path);
	free(manifest);
}

static void what_waited(void)
{
	/* behind the load: the load; the registers are those behind it, and it does not change them */
	expect("\"skid\":1", "H,1000000,x86_64,1\nW,1\nC,401003,4801c34883c708483b3e75f1c3," NOPS "488b07\nT,10,7,1,0" REGS("401003") "\n",
	       HEADER "10,7,1,u,401000,5000,8,r,1000000\n");
	/* where the tick names the one that waits */
	expect("\"skid\":0", "H,1000000,x86_64,1\nC,401000," LOOP "," NOPS "\nT,10,7,1,0" REGS("401000") "\n",
	       HEADER "10,7,1,u,401000,5000,8,r,1000000\n");
	/* at the head of the loop: the comparison at its end, not the code above */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401000," LOOP "," NOPS "488b03\nT,10,7,1,0" REGS("401000") "\n",
	       HEADER "10,7,1,u,40100a,7000,8,r,1000000\n");
	/* behind code that never goes on there */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401010,90," FEW_NOPS LOOP "\nT,10,7,1,0" REGS("401010") "\n",
	       HEADER "10,7,1,u,401010,,0,,1000000\n");
	/* in front of it a jump that is done together with the comparison before it */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,40100f,c3," FEW_NOPS "488b074801c34883c708483b3e75f1\nT,10,7,1,0" REGS("40100f") "\n",
	       HEADER "10,7,1,u,40100a,7000,8,r,1000000\n");
	/* no memory */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401006,4883c708," NOPS "4801c3\nT,10,7,1,0" REGS("401006") "\n",
	       HEADER "10,7,1,u,401003,,0,-,1000000\n");
	/* not calibrated: where it was is known, not what waited */
	expect("\"skid\":-1", "H,1000000,x86_64,1\nC,401006,4883c708," NOPS "4801c3\nT,10,7,1,0" REGS("401006") "\n",
	       HEADER "10,7,1,u,401006,,0,,1000000\n");
}

static void in_the_kernel(void)
{
	/* a fault is of the instruction at which it stands, whatever a tick of the program names */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401000," LOOP "," NOPS "\nT,10,7,1,1" REGS("401000") "\n",
	       HEADER "10,7,1,f,401000,5000,8,r,1000000\n");
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401000," LOOP "," NOPS "0f05\nT,10,7,1,1" REGS("401000") "\n",
	       HEADER "10,7,1,s,401000,,0,,1000000\n");
	/* a thread that ends has no registers */
	expect("\"skid\":1", "H,1000000,x86_64,1\nT,10,7,1,1\n", HEADER "10,7,1,f,0,,0,,1000000\n");
}

static void damaged(void)
{
	/* lines that are cut, or in which another one begins, are no ticks; weights count from their line on */
	expect("\"skid\":1",
	       "H,500000,x86_64,1\nC,401003,4801c3," NOPS "488b07\nT,10,7\nT,11,7,1,0,zz\nW,4\nT,12,7,1,0" REGS("401003") "\nT,13,7,1",
	       HEADER "12,7,1,u,401000,5000,8,r,2000000\n");
	ips = 0;
	/* code that was replaced: what is there now counts for both passes, and nothing breaks */
	expect("\"skid\":1", "H,1000000,x86_64,1\nC,401003,4801c3," NOPS "488b07\nC,401003,4801c3," NOPS "488b06\nT,12,7,1,0" REGS("401003") "\n",
	       HEADER "12,7,1,u,401000,7000,8,r,1000000\n");
	CHECK_EQ(ips, 1);
	expect("\"skid\":1", "H,1000000,riscv64,1\n", "(no file)");
	expect("\"skid\":1", "E,1,perf_event_open\n", "(no file)");
	expect("\"skid\":1", "", "(no file)");
}

static json_t *described(const char *log)
{
	json_t *m = json_pack("{s:{s:i}}", "parameters", "ticks_hz", 1000), *t;

	put_file(dir, "p0000", "ticks.log", log);
	t = mt_ticks_describe(dir, m);
	json_decref(m);
	return t;
}

static void manifest(void)
{
	json_t *t = described("H,1000000,x86_64,1\nW,1\nT,1,1,1,0\nT,2,1,1,0\nL,3,5\nW,2\nT,9,1,1,0\nL,3,2\n"), *off = json_object();

	CHECK_EQ(json_integer_value(json_object_get(t, "ticks")), 3);
	CHECK_EQ(json_integer_value(json_object_get(t, "lost")), 7);
	CHECK_EQ(json_integer_value(json_object_get(t, "period_ns")), 1000000);
	CHECK_EQ(json_integer_value(json_object_get(t, "skid")), 1);
	CHECK_STR(json_string_value(json_object_get(t, "text")), "3 ticks of 1 ms of CPU time, 7 lost, later ones stand for several");
	json_decref(t);
	t = described("H,1000000,x86_64,0\n");
	CHECK_STR(json_string_value(json_object_get(t, "text")),
		  "0 ticks of 1 ms of CPU time; not known: time in the kernel (perf_event_paranoid > 1)");
	CHECK(!json_object_get(t, "skid"));	/* the processor is asked for ticks only */
	json_decref(t);
	t = described("E,13,perf_event_open\n");
	CHECK_STR(json_string_value(json_object_get(t, "text")),
		  "no ticks: it is not known where the program's time goes (perf_event_open: Permission denied)");
	CHECK_EQ(json_integer_value(json_object_get(t, "images_without")), 1);
	json_decref(t);
	CHECK(!mt_ticks_describe(dir, off));	/* --ticks 0, and traces of before */
	json_decref(off);
}

static void skid(void)
{
	CHECK_EQ(mt_skid_judge(0, 90, 2), 1);
	CHECK_EQ(mt_skid_judge(88, 1, 3), 0);
	CHECK_EQ(mt_skid_judge(40, 50, 2), -1);		/* they do not agree */
	CHECK_EQ(mt_skid_judge(0, 10, 0), -1);		/* too few */
}

/* What was found out since the last boot is not asked for again. */
static void kept_skid(void)
{
	char *boot = mt_read_line("/proc/sys/kernel/random/boot_id"), *text = mt_printf("%s 0\n", boot), *name;
	struct utsname u;
	struct mt_skid s;

	uname(&u);
	name = mt_printf("skid-%s", u.nodename);
	setenv("MEMTRACE_CACHE", dir, 1);
	put_file(dir, ".", name, text);
	s = mt_skid_here();
	CHECK_EQ(s.behind, 0);
	CHECK_EQ(s.at_load + s.at_next + s.elsewhere, 0);
	free(name);
	free(text);
	free(boot);
}

int main(void)
{
	char *rm;

	CHECK(mkdtemp(dir) != NULL);
	what_waited();
	in_the_kernel();
	damaged();
	manifest();
	skid();
	kept_skid();
	rm = mt_printf("rm -rf %s", dir);
	CHECK_EQ(system(rm), 0);
	free(rm);
	return mt_test_done();
}
