// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * What touching unmapped pages of a memory file costs, and how many faults are seen, with pages of 4 KiB and with
 * large folios: the experiment behind "Large folios" in docs/how/collector-systems.md. By hand:
 *
 *	gcc -O1 -o folios bench/folios.c
 *	./folios			a memfd, as the recorder uses it
 *	./folios huge=within_size	a private tmpfs with these mount options, in a namespace of its own
 *	NOHUGE=1 ./folios huge=within_size	the same, with MADV_NOHUGEPAGE on the mapping
 *
 * A line for each way to fill the file (by faults, by writes of so many bytes), without and with userfaultfd
 * registered (not armed), without and with an event for each fault: CPU time for each of PAGES pages, when it is touched
 * first (or written by pwrite), and again after MADV_DONTNEED, the best of ROUNDS; and the events of the last round.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 4096ul
#define BYTES (PAGES * PAGE)
#define ROUNDS 9
#define LARGEST (2ul << 20)
#define RING_PAGES 1024
#define WP_SHMEM (1 << 12)	/* UFFD_FEATURE_WP_HUGETLBFS_SHMEM */

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "folios: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

/* A file in a tmpfs that nobody else sees. Without rights in a user namespace. */
static int file_in_tmpfs(const char *options)
{
	const unsigned int gid = getgid();
	char map[64];
	int fd;

	snprintf(map, sizeof(map), "0 %u 1", getuid());
	if (unshare(CLONE_NEWNS | (getuid() ? CLONE_NEWUSER : 0)))
		fail("unshare");
	if (map[2] != '0') {
		put_text("/proc/self/setgroups", "deny");
		put_text("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", gid);
		put_text("/proc/self/gid_map", map);
	}
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("folios", "/mnt", "tmpfs", 0, options))
		fail("mount");
	fd = open("/mnt/memory", O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		fail("/mnt/memory");
	return fd;
}

static int registered(char *m)
{
	struct uffdio_api api = { .api = UFFD_API, .features = WP_SHMEM };
	struct uffdio_register r = { .range = { (uintptr_t)m, BYTES }, .mode = UFFDIO_REGISTER_MODE_WP };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r))
		fail("userfaultfd");
	return fd;
}

/* As in collector/preload/faults/perfring.c, for this thread on CPU 0. */
static int fault_events(struct perf_event_mmap_page **ring)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS_MIN, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = 0xb5, .exclude_kernel = getuid() != 0, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};
	cpu_set_t one;
	int fd;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	fd = (int)syscall(SYS_perf_event_open, &a, 0, 0, -1, 0);
	*ring = fd < 0 ? MAP_FAILED : mmap(NULL, (RING_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*ring == MAP_FAILED)
		fail("perf_event_open");
	return fd;
}

static void measure(int fd, size_t chunk, int with_uffd, int with_events)
{
	char *buf = calloc(1, LARGEST), *m;
	struct perf_event_mmap_page *ring = NULL;
	double begin, first, best = 1e9;
	int uffd = -1, events = -1;

	/* larger than what is used, so that within_size holds everywhere */
	if (!buf || ftruncate(fd, 0) || ftruncate(fd, BYTES + 2 * LARGEST))
		fail("ftruncate");
	begin = cpu_us();
	for (size_t at = 0; chunk && at < BYTES; at += chunk)
		if (pwrite(fd, buf, chunk, (off_t)at) != (ssize_t)chunk)
			fail("pwrite");
	first = cpu_us() - begin;
	m = mmap(NULL, BYTES + LARGEST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		fail("mmap");
	if (getenv("NOHUGE") && madvise(m, BYTES + LARGEST, MADV_NOHUGEPAGE))
		fail("MADV_NOHUGEPAGE");
	if (with_uffd)
		uffd = registered(m);
	if (with_events)
		events = fault_events(&ring);
	begin = cpu_us();
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)m)[i * PAGE] = 1;
	if (!chunk)
		first = cpu_us() - begin;
	for (int round = 0; round < ROUNDS; round++) {
		if (madvise(m, BYTES, MADV_DONTNEED))
			fail("MADV_DONTNEED");
		if (ring)
			ring->data_tail = ring->data_head;
		begin = cpu_us();
		for (size_t i = 0; i < PAGES; i++)
			((volatile char *)m)[i * PAGE] = (char)round;
		best = cpu_us() - begin < best ? cpu_us() - begin : best;
	}
	printf("filled by %-7s %4zu KiB, userfaultfd %d: first %.2f, again %.2f us a page", chunk ? "pwrite" : "faults", (chunk ? chunk : PAGE) >> 10,
	       with_uffd, first / PAGES, best / PAGES);
	if (ring)
		printf(", %llu events", (unsigned long long)(ring->data_head - ring->data_tail) / 88);
	putchar('\n');
	close(uffd);
	if (ring)
		munmap(ring, (RING_PAGES + 1) * PAGE);
	close(events);
	munmap(m, BYTES + LARGEST);
	free(buf);
}

int main(int argc, char **argv)
{
	static const size_t chunks[] = { 0, PAGE, 16 << 10, 64 << 10, LARGEST };
	int fd = argc > 1 ? file_in_tmpfs(argv[1]) : (int)syscall(SYS_memfd_create, "folios", 0);

	if (fd < 0)
		fail("memfd_create");
	for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++)
		for (int v = 0; v < 4; v++)
			measure(fd, chunks[c], v & 1, v >> 1);
	return 0;
}
