// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * cost real|hidden|write|sweep|read PAGES ROUNDS: what one fault, one swept
 * page, one read record costs, in ns of the machine's clock. In a machine that
 * counts instructions (qemu -icount shift=0) a ns is an instruction. Traces
 * itself with MEMTRACE_CONFIG_MANUAL; "real" and "untraced" do not.
 */
#include "kt.h"

#include <sys/prctl.h>

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

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	p = kt_map(n * PAGE, MAP_PRIVATE);
	if (!strcmp(what, "real")) {
		for (int i = 0; i < rounds; i++) {
			madvise(p, n * PAGE, MADV_DONTNEED);
			t = ns();
			put(p, n);
			t = ns() - t;
			best = t < best ? t : best;
		}
		printf("cost: a real anonymous fault: %.0f\n", best / (double)n);
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
