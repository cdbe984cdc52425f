// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * drain RECORDS: what it costs the recorder to write one record of the kernel module as a row of CSV, in
 * ns of the thread's CPU time, write(2) included; measure.sh counts its instructions. The messages are
 * made up: addresses, times and thread numbers of usual lengths, one CPU each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <memtrace/abi.h>

#include "cli/backend/backend.h"
#include "cli/backend/kmod/kmod_drain.h"

#define BLOCKS 512
#define RECORDS 20

/* No image is described here. */
const struct mt_backend *mt_backend_find(const char *name)
{
	(void)name;
	return NULL;
}

static int no_library(int32_t pid)
{
	(void)pid;
	return 0;
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static char messages[BLOCKS * (sizeof(struct memtrace_block) + RECORDS * sizeof(struct memtrace_record)) +
			     sizeof(struct memtrace_interval)];
	const unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
	char trace[] = "/tmp/drain-XXXXXX", command[64];
	const struct mt_kmod_drain_options o = { .trace = mkdtemp(trace), .page_size = 4096, .has_preload = no_library };
	struct memtrace_image im = { .head = { MEMTRACE_IMAGE, 0, sizeof(im) }, .parent = ~0u, .pid = getpid(),
				     .time_ns = 1000000, .comm = "drain" };
	struct mt_kmod_drain *d = o.trace ? mt_kmod_drain_new(&o) : NULL;
	struct mt_kmod_totals totals;
	unsigned long done = 0;
	uint64_t interval = 0, now = 86400000000000u;
	double t = 0;

	if (!d || mt_kmod_drain_feed(d, &im, sizeof(im)))
		return 1;
	for (int warm = 1; done < n; warm = 0) {
		struct memtrace_interval iv = { .head = { MEMTRACE_INTERVAL, 0, sizeof(iv) }, .subphases = 5, .interval = interval,
						.start_ns = now, .end_ns = now + 50000000, .target_ns = 50000000 };
		char *p = messages;
		double begin;

		for (unsigned int b = 0; b < (warm ? 1 : BLOCKS); b++) {
			struct memtrace_block *k = (struct memtrace_block *)p;

			memset(k, 0, sizeof(*k));
			k->head.kind = MEMTRACE_BLOCK;
			k->head.bytes = (uint32_t)(sizeof(*k) + RECORDS * sizeof(struct memtrace_record));
			k->tid = 12345 + (int)(b % 4);
			k->pid = im.pid;
			k->records = RECORDS;
			k->interval = interval;
			k->start_ns = iv.start_ns;
			k->end_ns = iv.end_ns;
			k->closed_ns = iv.end_ns + 100000;
			for (unsigned int i = 0; i < RECORDS; i++)
				k->record[i] = (struct memtrace_record){ .virt = 0x7f5a12345000 + (b * RECORDS + i) * 4096ul + i * 8,
					.ip = 0x55d0c0ffe000 + i * 7, .cpus = 1u << (b % 4), .reads = i % 2, .writes = 1 - i % 2 };
			p += k->head.bytes;
		}
		memcpy(p, &iv, sizeof(iv));
		p += sizeof(iv);
		begin = cpu();
		if (mt_kmod_drain_feed(d, messages, (size_t)(p - messages)))
			return 1;
		if (!warm) {	/* the first one makes the directory */
			t += cpu() - begin;
			done += BLOCKS * RECORDS;
		}
		interval++;
		now += 50000000;
	}
	mt_kmod_drain_end(d, &totals);
	printf("cost: a record written by the recorder: %.0f\n", t / (double)done);
	snprintf(command, sizeof(command), "rm -rf %s", trace);
	return system(command) || totals.records != done + RECORDS;
}
