// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/ticks/ticks.c preload/faults/perfevent.c preload/memory/ranges.c common/rawmem.c common/out.c
// includes: preload/ticks/ticks.c
/* What is read from a ring becomes lines of ticks.log: ticks, code once, weights, losses; and what really comes from the kernel. */
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/ticks/ticks.c"

struct zap_space zap_space;

long zap_rwp_peek(int mem_fd, int pagemap_fd, uint64_t addr, void *buf, size_t n)
{
	(void)mem_fd;
	(void)pagemap_fd;
	(void)addr;
	(void)buf;
	(void)n;
	return -1;
}

static char path[64] = "/tmp/mt-ticks-ring-XXXXXX";

/* Lines of the file that begin with @what. */
static int lines(const char *what)
{
	char text[1 << 16] = "", *p = text;
	int fd = open(path, O_RDONLY), n = 0;

	CHECK(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	for (; *p; p = strchr(p, '\n') + 1)
		n += !strncmp(p, what, strlen(what));
	return n;
}

/* A ring of one page in which a record begins near the end, so that it wraps. */
static void from_a_ring(void)
{
	static struct {
		struct perf_event_mmap_page ctl;
		char fill[4096 - sizeof(struct perf_event_mmap_page)], data[4096];
	} m;
	struct ring r = { .fd = -1, .cpu = 3, .map = (char *)&m };
	struct record s = { .header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s) }, .pid = 77, .tid = 78, .time = 1000,
			    .abi = PERF_SAMPLE_REGS_ABI_64 };
	uint64_t pos = 4096 - 24;
	char buf[4096];
	int fd = mkstemp(path);

	CHECK_EQ(sizeof(m), 8192);
	memset(&tk, 0, sizeof(tk));
	tk.pid = 77;
	tk.data_bytes = 4096;
	tk.mem_fd = open("/proc/self/mem", O_RDONLY);
	tk.pagemap_fd = -1;
	tk.code = calloc(CODE_SLOTS, sizeof(*tk.code));
	mt_out_init(&tk.out, fd, buf, sizeof(buf));
	s.reg[TK_REG_IP] = (uint64_t)(uintptr_t)from_a_ring;
	m.ctl.data_tail = pos;
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			s.pid = 5;	/* a child that shares the memory */
		if (i == 3) {		/* no registers, in the kernel */
			s.pid = 77;
			s.abi = 0;
			s.header.size = RECORD_MIN;
			s.header.misc = PERF_RECORD_MISC_KERNEL;
		}
		for (size_t k = 0; k < s.header.size; k++)
			m.data[(pos + k) % 4096] = ((char *)&s)[k];
		pos += s.header.size;
	}
	m.ctl.data_head = pos;
	read_ring(&r);
	CHECK_EQ(m.ctl.data_tail, pos);
	tk.lost = 9;
	tk_flush();
	tk_flush();
	CHECK_EQ(lines("T,"), 3);
	CHECK_EQ(lines("T,1000,78,3,0,"), 2);
	CHECK_EQ(lines("T,1000,78,3,1\n"), 1);
	CHECK_EQ(lines("C,"), 1);
	CHECK_EQ(lines("W,1\n"), 1);
	CHECK_EQ(lines("L,"), 1);	/* told once */
	close(tk.mem_fd);
	free(tk.code);
	tk.code = NULL;
	close(fd);
	unlink(path);
}

static void from_the_kernel(void)
{
	static struct mt_config config = { .ticks_hz = 10000 };
	static struct mt_image img = { .config = &config };
	char dir[] = "/tmp/mt-ticks-dir-XXXXXX";
	volatile uint64_t sum = 0;
	uint64_t end;

	CHECK(mkdtemp(dir) != NULL);
	img.dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	img.pid = getpid();
	tk_open(&img, getpid(), open("/proc/self/mem", O_RDONLY));
	snprintf(path, sizeof(path), "%s/ticks.log", dir + 0);
	if (!tk.nrings) {		/* not allowed here: the file says so */
		CHECK_EQ(lines("E,"), 1);
	} else {
		end = mt_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20000000;
		while (mt_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
			for (int i = 0; i < 1000; i++)
				sum += (uint64_t)i;
		tk_read();
		tk_flush();
		CHECK_EQ(lines("H,100000,"), 1);
		CHECK(lines("T,") > 0);
		CHECK(lines("C,") > 0);
	}
	close_all();
	tk_after_fork();
	CHECK(!tk.out.buf);
	config.ticks_hz = 0;
	unlink(path);
	tk_open(&img, getpid(), -1);
	CHECK(access(path, F_OK));	/* nothing was asked for: no file */
	rmdir(dir);
}

int main(void)
{
	CHECK_EQ(stride_of(0), 1);
	CHECK_EQ(stride_of(199999), 1);
	CHECK_EQ(stride_of(200000), 2);
	CHECK_EQ(stride_of(600000), 8);
	from_a_ring();
	from_the_kernel();
	return mt_test_done();
}
