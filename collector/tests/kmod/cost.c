// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * cost real|mapped|hidden|write|sweep|read PAGES ROUNDS: what one fault, one swept
 * page, one read record costs, in ns of the machine's clock. In a machine that
 * counts instructions (qemu -icount shift=0) a ns is an instruction. Traces
 * itself with MEMTRACE_CONFIG_MANUAL; "real" and "untraced" do not.
 *
 * cost latency|fork PAGES INTERVAL-MS|damon [alias|sparse]: how long an mmap, touch and munmap of 64 KiB takes
 * beside PAGES that are swept each interval, and a fork of them; INTERVAL-MS 0: without a session; damon: without
 * a session, the kernel's DAMON looks at the process (samples of 5 ms, sums of 50 ms).
 * alias: entries of 64 MiB of memory again and again, so that the page tables of a large process fit
 * into a small machine; sparse: of PAGES of addresses one in 512 has memory, each page table one entry.
 */
#include "kt.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static int dev;
static char buffer[1 << 20];

static double ns(void)
{
	return kt_now() * 1e9;
}

static void tick(void)
{
	if (ioctl(dev, MEMTRACE_TICK))
		DIE("tick");
}

static void drain(void)
{
	while (read(dev, buffer, sizeof(buffer)) > 0)
		;
}

static void touch(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)*(volatile char *)(p + i * PAGE);
}

static void put(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*(volatile char *)(p + i * PAGE) = 1;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static volatile char *kept;
static size_t nkept;

static size_t step = 16;

/* keeps some of the pages in use, so that there is something to hide */
static void *use(void *arg)
{
	(void)arg;
	for (;;) {
		for (size_t i = 0; i < nkept; i += step)
			kept[i * PAGE]++;
		usleep(2000);
	}
	return NULL;
}

/* Makes nkept pages at kept. */
static void keep(const char *how)
{
	const size_t part = (64ul << 20) / PAGE;
	int fd;

	if (!strcmp(how, "alias")) {
		kept = mmap(NULL, nkept * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		fd = memfd_create("alias", MFD_CLOEXEC);
		if (kept == MAP_FAILED || fd < 0 || ftruncate(fd, (off_t)(part * PAGE)))
			DIE("memory");
		for (size_t i = 0; i < nkept; i += part)
			if (mmap((char *)kept + i * PAGE, (nkept - i < part ? nkept - i : part) * PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
				DIE("alias %zu", i);
	} else if (!strcmp(how, "sparse")) {
		kept = mmap(NULL, nkept * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (kept == MAP_FAILED)
			DIE("memory");
		for (size_t i = 0; i < nkept; i += 512)
			kept[i * PAGE] = 1;
	} else {
		kept = kt_map(nkept * PAGE, MAP_PRIVATE);
		put((char *)kept, nkept);
		return;
	}
	step = (nkept / 2048 + 511) / 512 * 512;	/* whole page tables apart, 2048 of them */
}

#define DAMON "/sys/kernel/mm/damon/admin/kdamonds/"

static void tell_damon(const char *file, long value)
{
	char path[256], text[32];
	int fd, n;

	snprintf(path, sizeof(path), DAMON "%s", file);
	n = value ? snprintf(text, sizeof(text), "%ld", value) : snprintf(text, sizeof(text), "vaddr");
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		DIE("%s", path);
	close(fd);
}

/* As programs.sh has it. */
static void begin_damon(void)
{
	int fd;

	tell_damon("nr_kdamonds", 1);
	tell_damon("0/contexts/nr_contexts", 1);
	tell_damon("0/contexts/0/operations", 0);
	tell_damon("0/contexts/0/monitoring_attrs/intervals/aggr_us", 50000);
	tell_damon("0/contexts/0/targets/nr_targets", 1);
	tell_damon("0/contexts/0/targets/0/pid_target", getpid());
	fd = open(DAMON "0/state", O_WRONLY);
	if (fd < 0 || write(fd, "on", 2) != 2)
		DIE("DAMON");
	close(fd);
}

static int disturbed(const char *what, size_t n, int ms, bool damon, const char *how)
{
	const int samples = !strcmp(what, "fork") ? 15 : *how ? 1500 : 3000;
	struct memtrace_config c = { .interval_ns = (u64)ms * 1000000, .subphases = 1, .pool_blocks = 8192,
				     .flags = MEMTRACE_CONFIG_CHILDREN };
	struct memtrace_attach a = { .pid = getpid() };
	double *v = calloc((size_t)samples, sizeof(*v));
	pthread_t t;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	nkept = n;
	keep(how);
	if (pthread_create(&t, NULL, use, NULL))
		DIE("thread");
	if (ms) {
		dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		if (dev < 0 || ioctl(dev, MEMTRACE_CONFIGURE, &c) || ioctl(dev, MEMTRACE_ATTACH, &a))
			DIE("session");
	}
	if (damon)
		begin_damon();
	usleep(100000);
	for (int i = 0; i < samples; i++) {
		double begin = ns();

		if (!strcmp(what, "fork")) {
			pid_t k = fork();

			if (!k)
				_exit(0);
			v[i] = ns() - begin;
			waitpid(k, NULL, 0);
			usleep(20000);
		} else {
			char *p = kt_map(16 * PAGE, MAP_PRIVATE);

			put(p, 16);
			munmap(p, 16 * PAGE);
			v[i] = ns() - begin;
			usleep(100);
		}
		if (dev)
			drain();
	}
	qsort(v, (size_t)samples, sizeof(*v), by_value);
	printf("cost: %s beside %zu MiB%s%s, %s: median %.0f us, p99 %.0f us, longest %.0f us", what, n >> 8, *how ? " " : "", how,
	       ms ? "recorded" : damon ? "with DAMON" : "native", v[samples / 2] / 1e3, v[samples * 99 / 100] / 1e3, v[samples - 1] / 1e3);
	if (ms) {
		struct memtrace_stats st;

		if (ioctl(dev, MEMTRACE_STATS, &st))
			DIE("stats");
		printf("; %llu intervals, sweep %.0f us each", (unsigned long long)st.intervals,
		       st.intervals ? (double)st.sweep_ns / 1e3 / (double)st.intervals : 0);
	}
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	const size_t n = argc > 2 ? (size_t)atol(argv[2]) : 4096;
	const int rounds = argc > 3 ? atoi(argv[3]) : 5;
	const char *what = argc > 1 ? argv[1] : "";
	struct memtrace_config c = { .interval_ns = 50000000, .subphases = 1, .pool_blocks = 8192,
				     .flags = MEMTRACE_CONFIG_MANUAL | (!strcmp(what, "write") ? MEMTRACE_CONFIG_WRITES : 0) };
	struct memtrace_attach a = { .pid = getpid() };
	double best = 1e18, t, plain;
	char *p;

	if (!strcmp(what, "latency") || !strcmp(what, "fork"))
		return disturbed(what, n, rounds, argc > 3 && !strcmp(argv[3], "damon"), argc > 4 ? argv[4] : "");
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	p = kt_map(n * PAGE, strcmp(what, "mapped") ? MAP_PRIVATE : MAP_SHARED);
	if (!strcmp(what, "real") || !strcmp(what, "mapped")) {
		for (int i = 0; i < rounds; i++) {
			madvise(p, n * PAGE, MADV_DONTNEED);
			t = ns();
			put(p, n);
			t = ns() - t;
			best = t < best ? t : best;
		}
		printf("cost: a %s fault: %.0f\n", strcmp(what, "real") ? "mapping" : "real anonymous", best / (double)n);
		return 0;
	}
	put(p, n);
	t = ns();
	touch(p, n);
	plain = ns() - t;
	dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
	if (dev < 0 || ioctl(dev, MEMTRACE_CONFIGURE, &c) || ioctl(dev, MEMTRACE_ATTACH, &a))
		DIE("session");
	tick();
	drain();
	if (!strcmp(what, "hidden") || !strcmp(what, "write")) {
		double best2 = 1e18, ends = 1e18;

		for (int i = 0; i < rounds; i++) {
			t = ns();
			touch(p, n);
			t = ns() - t - plain;
			best = t < best ? t : best;
			t = ns();
			put(p, n);	/* with write tracking: the second fault of each page */
			t = ns() - t - plain;
			best2 = t < best2 ? t : best2;
			t = ns();
			tick();
			t = ns() - t;
			ends = t < ends ? t : ends;
			drain();
		}
		printf("cost: a fault on a hidden page: %.0f; a write afterwards: %.0f; end of interval: %.0f per accessed page\n",
		       best / (double)n, best2 / (double)n, ends / (double)n);
	} else if (!strcmp(what, "sweep")) {
		for (int i = 0; i < rounds; i++) {
			t = ns();
			tick();
			t = ns() - t;
			best = t < best ? t : best;
			drain();
		}
		printf("cost: an interval with nothing accessed: %.0f, %.1f per resident page\n", best, best / (double)n);
	} else if (!strcmp(what, "read")) {
		for (int i = 0; i < rounds; i++) {
			touch(p, n);
			tick();
			t = ns();
			drain();
			t = ns() - t;
			best = t < best ? t : best;
		}
		printf("cost: read of a record: %.1f\n", best / (double)n);
	} else {
		return 2;
	}
	close(dev);
	return 0;
}
