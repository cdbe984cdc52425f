/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/measure/parts.h"

#define FAULTED (16u << 20)	/* bytes of one mapping */

/* First accesses of pages; of normal ones eight at a time. Also, of normal ones, what giving them back takes. */
static void faults(struct mt_measuring *m, int huge, const char *name, const char *text)
{
	const size_t step = huge ? m->huge : m->page, group = huge ? 1 : 8, bytes = huge ? 4 * m->huge : FAULTED;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	while (mt_measure_more(m)) {
		char *all = mmap(NULL, bytes + step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

		if (all == MAP_FAILED)
			break;
		p = (char *)(((uintptr_t)all + step - 1) & ~(uintptr_t)(step - 1));
		madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		for (size_t i = 0; i + group * step <= bytes; i += group * step) {
			const uint64_t begin = mt_monotonic_ns();

			for (size_t g = 0; g < group; g++)
				*(volatile char *)(p + i + g * step) = 1;
			mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / (double)group);
		}
		munmap(all, bytes + step);
	}
	mt_measure_told(m, name, "ns", text);
}

static void unmapping(struct mt_measuring *m, const char *name, const char *text)
{
	const size_t pages = 64;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	while (mt_measure_more(m)) {
		char *p = mmap(NULL, pages * m->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t begin;

		if (p == MAP_FAILED)
			break;
		for (size_t i = 0; i < pages; i++)
			*(volatile char *)(p + i * m->page) = 1;
		begin = mt_monotonic_ns();
		munmap(p, pages * m->page);
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / (double)pages);
	}
	mt_measure_told(m, name, "ns", text);
}

static void mapping(struct mt_measuring *m, const char *name, const char *text)
{

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	while (mt_measure_more(m)) {
		const uint64_t begin = mt_monotonic_ns();

		for (int i = 0; i < 4; i++) {
			char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p != MAP_FAILED)
				munmap(p, 1 << 20);
		}
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / 4);
	}
	mt_measure_told(m, name, "ns", text);
}

/* ---- a thread that sleeps and is woken */

static struct {
	_Atomic int word, stop;
	int cpu;
} f;

static void futex(int op, int v)
{
	syscall(SYS_futex, &f.word, op | FUTEX_PRIVATE_FLAG, v, NULL, NULL, 0);
}

static void *wakes(void *arg)
{
	(void)arg;
	mt_measure_pin(f.cpu);
	while (!atomic_load(&f.stop)) {
		while (atomic_load(&f.word) != 1 && !atomic_load(&f.stop))
			futex(FUTEX_WAIT, 0);
		atomic_store(&f.word, 0);
		futex(FUTEX_WAKE, 1);
	}
	return NULL;
}

static void waking(struct mt_measuring *m, const char *name, const char *text)
{
	pthread_t t;

	if (!mt_measure_begin(m, name, "ns", text))
		return;
	atomic_store(&f.stop, 0);
	atomic_store(&f.word, 0);
	f.cpu = m->cpu[m->n_cpus > 1];
	if (pthread_create(&t, NULL, wakes, NULL))
		return mt_measure_refused(m, name, "ns", text, "no thread could be started");
	mt_measure_start(m);
	while (mt_measure_more(m)) {
		const uint64_t begin = mt_monotonic_ns();

		atomic_store(&f.word, 1);
		futex(FUTEX_WAKE, 1);
		while (atomic_load(&f.word))
			futex(FUTEX_WAIT, 1);
		mt_piece(&m->pieces, (double)(mt_monotonic_ns() - begin) / 2);
	}
	atomic_store(&f.stop, 1);
	atomic_store(&f.word, 1);
	futex(FUTEX_WAKE, 1);
	pthread_join(t, NULL);
	mt_measure_told(m, name, "ns", text);
}

void mt_measure_kernel(struct mt_measuring *m)
{
	static const char *const huge = "the first access to a huge page, with its zeroing";

	faults(m, 0, "fault", "the first access to a page, with its zeroing");
	if (m->huge)
		faults(m, 1, "fault_huge", huge);
	else
		mt_measure_refused(m, "fault_huge", "ns", huge, "the kernel has no transparent huge pages, or they are off");
	unmapping(m, "unmap_page", "giving back a page");
	mapping(m, "map_unmap", "mmap and munmap of 1 MiB that is not touched");
	waking(m, "futex_wake", "from waking a thread that sleeps until it runs");
}
