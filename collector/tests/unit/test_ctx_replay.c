// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/ctxlog.c cli/base/addrmap.c cli/names/log_parse.c cli/base/util.c cli/names/unseen_log.c cli/names/advice.c
/* context.log replayed: lives, mappings that are cut, fork, torn lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/advice.h"
#include "cli/names/ctxlog.h"
#include "cli/base/util.h"

static char dir[] = "/tmp/mt-replay-XXXXXX";

static void put(const char *image, const char *log)
{
	char *d = mt_printf("%s/%s", dir, image), *p = mt_printf("%s/context.log", d);
	FILE *f;

	mkdir(d, 0755);
	f = fopen(p, "w");
	fputs(log, f);
	fclose(f);
	free(d);
	free(p);
}

/* "kind start-end birth..death;" of all structures in the order of the replay */
static char *shape(const struct mt_context *c)
{
	char *out = mt_strdup("");

	for (size_t i = 0; i < c->n; i++) {
		char *n = mt_printf("%s%s %" PRIx64 "-%" PRIx64 " %" PRId64 "..%" PRId64 ";", out,
				    mt_kind_name[c->s[i].kind], c->s[i].start, c->s[i].end,
				    c->s[i].birth, c->s[i].death);

		free(out);
		out = n;
	}
	return out;
}

static void expect(const char *image, const char *want, uint64_t bad, uint64_t unmatched)
{
	struct mt_context c;
	char *got;

	CHECK_EQ(mt_context_read(&c, dir, image), 0);
	got = shape(&c);
	CHECK_STR(got, want);
	CHECK_EQ(c.bad_lines, bad);
	CHECK_EQ(c.unmatched, unmatched);
	free(got);
	mt_context_free(&c);
}

static void check(const char *log, const char *want, uint64_t bad, uint64_t unmatched)
{
	put("p0000", log);
	expect("p0000", want, bad, unmatched);
}

static void example(void)
{
	struct mt_context c;
	char *got;

	CHECK_EQ(mt_context_read(&c, "../testdata/format-example", "p0000"), 0);
	got = shape(&c);
	CHECK_STR(got, "heap 7ffff0000010-7ffff0002010 1010000000..1090000000;"
		       "heap 7ffff0000010-7ffff0003010 1105000000..-1;"
		       "mmap 7ffff0100000-7ffff0104000 1106000000..1118000000;");
	free(got);
	CHECK_EQ(c.bad_lines, 1);
	CHECK_EQ(c.n_threads, 2);
	CHECK_STR(c.threads[0].name, "app");
	CHECK_STR(c.threads[1].name, "worker");
	CHECK_EQ(c.threads[1].death, 1195000000);
	CHECK_EQ(c.small_count, 7);
	CHECK_EQ(c.n_stacks, 3);
	CHECK_EQ(c.stacks[0].n, 2);
	CHECK_EQ(c.stacks[0].ip[0], 0x555555555185);
	CHECK_EQ(c.end, -1);
	mt_context_free(&c);

	CHECK_EQ(mt_context_read(&c, "../testdata/format-example", "p0001"), 0);
	got = shape(&c);
	CHECK_STR(got, "heap 7ffff0000010-7ffff0003010 1105000000..1165000000;");
	free(got);
	CHECK_EQ(c.n_threads, 1);
	CHECK_EQ(c.threads[0].tid, 1002);
	CHECK_EQ(c.threads[0].birth, 1119000000);
	CHECK_EQ(c.threads[0].stack_end, 0x7ffffffff000);
	CHECK_EQ(c.end, 1169000001);
	CHECK_EQ(c.n_objects, 1);
	mt_context_free(&c);
}

/* "start-end huge no-huge;" of each structure */
static void expect_advised(const char *image, const char *log, const char *want)
{
	struct mt_context c;
	char *got = mt_strdup(""), *next;

	put(image, log);
	CHECK_EQ(mt_context_read(&c, dir, image), 0);
	for (size_t i = 0; i < c.n; i++) {
		next = mt_printf("%s%" PRIx64 "-%" PRIx64 " %" PRIu64 " %" PRIu64 ";", got, c.s[i].start, c.s[i].end,
				 mt_context_advised(&c, &c.s[i], MADV_HUGEPAGE), mt_context_advised(&c, &c.s[i], MADV_NOHUGEPAGE));
		free(got);
		got = next;
	}
	CHECK_STR(got, want);
	free(got);
	mt_context_free(&c);
}

static void advice(void)
{
	/* a block in what was advised before it was born; half of the mapping is taken back; a block that died before */
	expect_advised("p0000", "V 1 1 7 4096 16;\nM 2 7 10000 16384 3 22 -1 -;\nG 3 10000 16384 e;\nA 4 7 11800 4096 -1 m;\n"
		       "A 1 7 10100 16 -1 m;\nD 2 7 10100;\nG 5 12000 8192 f;\n",
		       "10100-10110 0 0;10000-14000 8192 8192;11800-12800 2048 2048;");
	/* the same twice counts once; another mapping in its place has none; it is in force when the first one dies */
	expect_advised("p0000", "V 1 1 7 4096 16;\nM 2 7 10000 8192 3 22 -1 -;\nG 3 10000 4096 e;\nG 4 10000 4096 e;\nU 5 10000 8192;\n"
		       "M 6 7 10000 8192 3 22 -1 -;\n", "10000-12000 4096 0;10000-12000 0 0;");
	/* it moves with the mapping, and a child of fork has it */
	expect_advised("p0002", "V 1 1 7 4096 16;\nM 2 7 10000 4096 3 22 -1 -;\nG 3 10000 4096 e;\nW 4 10000 4096 30000 8192;\n",
		       "10000-11000 4096 0;30000-32000 8192 0;");
	expect_advised("p0003", "V 1 9 8 4096 16;\nF 9 2;\nY 9 7 8;\n", "30000-32000 8192 0;");
}

/* "start-end birth..death PATH prot;" of what is not seen */
static void expect_unseen(const char *log, const char *want)
{
	struct mt_context c;
	char *got = mt_strdup(""), *next;

	put("p0000", log);
	CHECK_EQ(mt_context_read(&c, dir, "p0000"), 0);
	for (size_t i = 0; i < c.unseen.n; i++) {
		const struct mt_unseen_range *r = &c.unseen.r[i];

		next = mt_printf("%s%" PRIx64 "-%" PRIx64 " %" PRId64 "..%" PRId64 " %s %u;", got, r->start, r->end, r->birth, r->death,
				 r->path ? r->path : "-", r->prot);
		free(got);
		got = next;
	}
	CHECK_STR(got, want);
	free(got);
	mt_context_free(&c);
}

static void unseen(void)
{
	/* only what is said to be unseen; a byte is a page; what is unmapped in part is cut */
	expect_unseen("V 1 1 7 4096 16;\nM 2 7 10000 3000 1 100000002 -1 /f;\nM 3 7 20000 1 1 2 -1 /seen;\nU 9 10000 1000;\n",
		      "10000-11000 2..9 /f 1;");
	expect_unseen("V 1 1 7 4096 16;\nM 2 7 10000 12288 1 100000002 -1 /f;\nU 9 11000 4096;\n",
		      "11000-12000 2..9 /f 1;10000-11000 2..-1 /f 1;12000-13000 2..-1 /f 1;");
	/* what is found in the maps is known already, or new; with another protection; another file in the same place */
	expect_unseen("V 1 1 7 4096 16;\nM 2 7 10000 4096 1 100000002 -1 /f;\nQ 5 10000 4096 3 0 /f;\nQ 5 20000 8192 5 0 /g;\n",
		      "10000-11000 2..-1 /f 3;20000-22000 5..-1 /g 5;");
	expect_unseen("V 1 1 7 4096 16;\nM 2 7 10000 4096 1 100000002 -1 /f;\nQ 5 10000 8192 1 0 /f;\nQ 8 10000 8192 1 0 /h;\n",
		      "10000-11000 2..8 /f 1;11000-12000 5..8 /f 1;10000-12000 8..-1 /h 1;");
	/* moved and grown; seen memory takes its place */
	expect_unseen("V 1 1 7 4096 16;\nM 2 7 10000 4096 1 100000002 -1 /f;\nW 4 10000 4096 30000 8192;\nM 6 7 30000 4096 3 22 -1 -;\n",
		      "10000-11000 2..4 /f 1;30000-31000 4..6 /f 1;31000-32000 4..-1 /f 1;");
	/* huge pages and devices, whoever records; a child of fork tells what it has itself */
	put("p0000", "V 1 1 7 4096 16;\nM 2 7 10000 4096 3 40022 -1 -;\nM 2 7 20000 4096 3 1 -1 /dev/fb0;\nM 2 7 30000 4096 3 1 -1 /dev/shm/x;\n");
	put("p0001", "V 1 5 8 4096 16;\nF 5 0;\nY 5 7 8;\nQ 6 20000 4096 3 1 /dev/fb0;\n");
	{
		struct mt_context c;

		CHECK_EQ(mt_context_read(&c, dir, "p0000"), 0);
		CHECK_EQ(c.unseen.n, 2);
		CHECK(!c.unseen.looked);
		mt_context_free(&c);
		CHECK_EQ(mt_context_read(&c, dir, "p0001"), 0);
		CHECK_EQ(c.unseen.n, 1);
		CHECK(c.unseen.looked);
		mt_context_free(&c);
	}
}

int main(void)
{
	struct mt_context c;
	char *cmd;

	CHECK(mkdtemp(dir) != NULL);
	/* lines in any order; reuse of an address; a free that was not recorded */
	check("V 1 1 5 4096 16;\n"
	      "D 30 5 1000;\n"
	      "A 20 5 1000 256 -1 m;\n"
	      "A 40 6 1000 512 -1 c;\n"
	      "D 50 5 2000;\n",
	      "heap 1000-1100 20..30;heap 1000-1200 40..-1;", 0, 1);
	/* birth where a block still lives: the old one ends there */
	check("A 1 5 1000 256 -1 m;\nA 2 5 1000 16 -1 m;\n", "heap 1000-1100 1..2;heap 1000-1010 2..-1;",
	      0, 0);
	/* same instant: free before the next birth, birth before its own free */
	check("A 1 5 1000 256 -1 m;\nD 2 5 1000;\nA 2 5 1000 16 -1 m;\nD 3 5 1000;\n",
	      "heap 1000-1100 1..2;heap 1000-1010 2..3;", 0, 0);
	/* in place: the range is the largest; moved: death and birth */
	check("A 1 5 1000 256 -1 m;\nR 2 5 1000 512 -1 r;\nR 3 5 1000 16 -1 r;\n"
	      "D 4 5 1000;\nA 5 5 9000 4096 -1 r;\n",
	      "heap 1000-1200 1..4;heap 9000-a000 5..-1;", 0, 0);
	/* a mapping loses its middle, then everything */
	check("M 1 5 10000 40960 3 22 -1 -;\nU 2 12000 8192;\nU 3 0 1048576;\n",
	      "mmap 10000-12000 1..3;mmap 12000-14000 1..2;mmap 14000-1a000 1..3;", 0, 0);
	/* MAP_FIXED over it; length rounded up to pages */
	check("M 1 5 10000 16384 3 22 -1 -;\nM 2 5 11000 100 3 32 -1 /a%20b;\n",
	      "mmap 10000-11000 1..-1;mmap 11000-12000 1..2;mmap 12000-14000 1..-1;"
	      "mmap 11000-12000 2..-1;", 0, 0);
	/* mremap: grown in place, shrunk, moved */
	check("M 1 5 10000 8192 3 22 -1 -;\nW 2 10000 8192 10000 16384;\nW 3 10000 16384 10000 4096;\n"
	      "W 4 10000 4096 90000 8192;\n",
	      "mmap 10000-11000 1..4;mmap 11000-14000 1..3;mmap 90000-92000 4..-1;", 0, 0);
	/* heaps of further threads: as long as they were at last; beside the break, which grows, too */
	check("H 5 7000000 7000021;\nB 3 50000 0 71000 0;\nH 5 7000000 7003000;\nH 9 b000000 b000001;\nH 9 b000000 b000000;\n",
	      "brk 50000-71000 3..-1;brk 7000000-7003000 5..-1;brk b000000-b001000 9..-1;", 0, 0);
	check("H 5 7000000;\n", "", 1, 0);
	/* a segment that loses its middle and is moved: each part knows where in the segment it is; one without has none */
	mt_context_forget();
	put("p0000", "M 1 5 10000 40960 3 1 -1 /dev/shm/a 1b 25c 3000;\nU 2 12000 8192;\nW 3 14000 4096 90000 8192;\n"
		     "M 4 5 200000 4096 3 21 -1 - 0 7 0;\nM 5 5 300000 4096 3 22 -1 -;\n");
	CHECK_EQ(mt_context_read(&c, dir, "p0000"), 0);
	for (size_t i = 0; i < c.n; i++) {
		const struct mt_structure *s = &c.s[i];

		CHECK_EQ(s->segment, s->start != 0x300000);
		CHECK_EQ(s->seg_inode, s->start == 0x300000 ? 0 : s->start == 0x200000 ? 7 : 0x25c);
		CHECK_EQ(s->seg_device, s->start < 0x200000 ? 0x1b : 0);
		CHECK_EQ(s->seg_offset, s->start >= 0x200000 ? 0 : s->start == 0x90000 ? 0x7000 : s->start - 0x10000 + 0x3000);
	}
	CHECK(c.n >= 6);
	mt_context_free(&c);
	mt_context_forget();
	/* the break */
	check("B 1 5000 0 9000 0;\nB 2 9000 0 7000 0;\n", "brk 5000-9000 1..-1;", 0, 0);
	/* torn and unknown lines are dropped and counted */
	check("A 1 5 1000 256 -1 m;\nA 2 5 20\nZ 1 2 3;\nA x 5 3000 256 -1 m;\nA 3 5 4000 256 -1 m",
	      "heap 1000-1100 1..-1;", 4, 0);
	check("", "", 0, 0);
	/* fork: what lives at that time, not what comes later; two generations */
	put("p0000", "A 10 5 1000 256 -1 m;\nA 11 5 2000 256 -1 m;\nD 12 5 2000;\n"
		     "A 30 5 3000 256 -1 m;\nM 5 5 10000 8192 3 22 -1 -;\nT 1 5 -1 70 80 0;\n"
		     "T 2 6 5 50 60 99;\nN 3 6 second;\n");
	put("p0001", "F 20 0;\nY 20 6 66;\nD 40 66 1000;\nU 41 10000 4096;\n");
	put("p0002", "F 35 1;\nY 35 66 77;\nD 50 77 1000;\n");
	expect("p0001", "mmap 10000-11000 5..41;heap 1000-1100 10..40;mmap 11000-12000 5..-1;", 0, 0);
	expect("p0002", "mmap 10000-12000 5..-1;heap 1000-1100 10..50;", 0, 0);
	CHECK_EQ(mt_context_read(&c, dir, "p0002"), 0);
	CHECK_EQ(c.n_threads, 1);
	CHECK_EQ(c.threads[0].tid, 77);
	CHECK_EQ(c.threads[0].stack_start, 0x50);
	CHECK_STR(c.threads[0].name, "second");
	mt_context_free(&c);
	/* CPU time: the last one counts; a child begins anew */
	mt_context_forget();
	put("p0000", "T 1 5 -1 70 80 0;\nP 9 5 1000;\nT 2 6 5 50 60 99;\nP 12 6 300;\nP 14 5 2500;\nX 14 6 worker;\n");
	put("p0001", "F 20 0;\nY 20 5 55;\nP 30 55 70;\n");
	CHECK_EQ(mt_context_read(&c, dir, "p0000"), 0);
	CHECK_EQ(c.threads[0].cpu_ns, 2500);
	CHECK_EQ(c.threads[1].cpu_ns, 300);
	CHECK_EQ(c.n_cpu, 3);
	CHECK(c.cpu[1].tid == 6 && c.cpu[1].time == 12 && c.cpu[1].cpu_ns == 300);
	mt_context_free(&c);
	CHECK_EQ(mt_context_read(&c, dir, "p0001"), 0);
	CHECK_EQ(c.threads[0].cpu_ns, 70);
	CHECK_EQ(c.n_cpu, 1);
	mt_context_free(&c);
	put("p0001", "F 20 0;\nY 20 5 55;\n");
	mt_context_forget();
	CHECK_EQ(mt_context_read(&c, dir, "p0001"), 0);
	CHECK_EQ(c.threads[0].cpu_ns, -1);
	mt_context_free(&c);
	/* heaps of further threads: a child tells them again; one that it does not tell, it has not */
	mt_context_forget();
	put("p0000", "H 5 7000000 7003000;\nH 6 b000000 b001000;\nH 5 7000000 7008000;\n");
	put("p0001", "F 20 0;\nY 20 5 55;\nH 20 7000000 7004000;\n");
	expect("p0001", "brk 7000000-7004000 20..-1;", 0, 0);
	/* samples of small blocks: a child has those that its parent had by then, and its own */
	mt_context_forget();
	put("p0000", "T 1 5 -1 0 0 0;\nL 10 5 1000 48 3 1024;\nL 30 5 2000 64 4 16384;\nL 31 5 2000 64;\n");
	put("p0001", "F 20 0;\nY 20 5 55;\nL 25 55 3000 32 -1 1024;\n");
	CHECK_EQ(mt_context_read(&c, dir, "p0000"), 0);
	CHECK_EQ(c.n_samples, 2);
	CHECK_EQ(c.samples[1].addr, 0x2000);
	CHECK_EQ(c.samples[1].bytes, 64);
	CHECK_EQ(c.samples[1].stack, 4);
	CHECK_EQ(c.samples[1].mean, 16384);
	CHECK_EQ(c.bad_lines, 1);
	mt_context_free(&c);
	CHECK_EQ(mt_context_read(&c, dir, "p0001"), 0);
	CHECK_EQ(c.n_samples, 2);
	CHECK_EQ(c.samples[0].addr, 0x1000);
	CHECK_EQ(c.samples[1].addr, 0x3000);
	CHECK_EQ(c.samples[1].stack, -1);
	mt_context_free(&c);

	/* a log that forks from itself must not run for ever */
	mt_context_forget();
	put("p0003", "F 20 3;\nA 30 5 1000 256 -1 m;\n");
	expect("p0003", "heap 1000-1100 30..-1;", 0, 0);
	/* no log, newer log */
	CHECK_EQ(mt_context_read(&c, dir, "p0009"), -2);
	mt_context_free(&c);
	put("p0004", "V 2 1 5 4096 16;\n");
	freopen("/dev/null", "w", stderr);
	CHECK(mt_context_read(&c, dir, "p0004") < 0);
	mt_context_free(&c);
	example();
	unseen();
	advice();
	mt_context_forget();
	cmd = mt_printf("rm -r %s", dir);
	CHECK_EQ(system(cmd), 0);
	free(cmd);
	return mt_test_done();
}
