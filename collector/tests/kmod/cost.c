// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * cost real|mapped|hidden|write|sweep|read PAGES ROUNDS: what one fault, one swept
 * page, one read record costs, in ns of the machine's clock. In a machine that
 * counts instructions (qemu -icount shift=0) a ns is an instruction. Traces
 * itself with MEMTRACE_CONFIG_MANUAL; "real" and "untraced" do not.
 *
 * cost latency|fork PAGES INTERVAL-MS: how long an mmap, touch and munmap of 64 KiB takes beside
 * PAGES that are swept each interval, and a fork of them; INTERVAL-MS 0: without a session.
 */
#include "kt.h"

#include <pthread.h>
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

/* keeps some of the pages in use, so that there is something to hide */
static void *use(void *arg)
{
	(void)arg;
	for (;;) {
		for (size_t i = 0; i < nkept; i += 16)
			kept[i * PAGE]++;
		usleep(2000);
	}
	return NULL;
}

static int disturbed(const char *what, size_t n, int ms)
{
	const int samples = !strcmp(what, "fork") ? 15 : 3000;
	struct memtrace_config c = { .interval_ns = (u64)ms * 1000000, .subphases = 1, .pool_blocks = 8192,
				     .flags = MEMTRACE_CONFIG_CHILDREN };
	struct memtrace_attach a = { .pid = getpid() };
	double *v = calloc((size_t)samples, sizeof(*v));
	pthread_t t;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	kept = kt_map(n * PAGE, MAP_PRIVATE);
	nkept = n;
	put((char *)kept, n);
	if (pthread_create(&t, NULL, use, NULL))
		DIE("thread");
	if (ms) {
		dev = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);
		if (dev < 0 || ioctl(dev, MEMTRACE_CONFIGURE, &c) || ioctl(dev, MEMTRACE_ATTACH, &a))
			DIE("session");
	}
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
	printf("cost: %s beside %zu MiB, %s: median %.0f us, p99 %.0f us, longest %.0f us\n", what, n >> 8, ms ? "recorded" : "native",
	       v[samples / 2] / 1e3, v[samples * 99 / 100] / 1e3, v[samples - 1] / 1e3);
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
		return disturbed(what, n, rounds);
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
