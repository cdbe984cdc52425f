// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: count/count.c count/site.c
// libs: -lpthread
/* What instructions access: classes of strides against values made by hand, threads, signal handlers, fork. */
#include "count/site.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static size_t map_left = SIZE_MAX;

static void *map(size_t bytes)
{
	void *p;

	if (bytes > map_left)
		return NULL;
	map_left -= map_left == SIZE_MAX ? 0 : bytes;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void zero(void *p, size_t bytes)
{
	if (madvise(p, bytes, MADV_DONTNEED))
		memset(p, 0, bytes);
}

static uint64_t now(void)
{
	return 1000;
}

static const struct mt_count_ops ops = {
	.map = map, .zero = zero, .now_ns = now, .enter = mt_block_signals, .leave = mt_restore_signals,
};
static struct mt_count count;
static struct mt_sites sites;

#define MAX_ROWS 200000
static struct mt_site_row row[MAX_ROWS];	/* by id */
static uint64_t rows;

static void tell(void *arg, const struct mt_site_row *r)
{
	(void)arg;
	CHECK(r->id < MAX_ROWS);
	CHECK(r->n > row[r->id].n);	/* only what changed */
	row[r->id] = *r;
	rows++;
}

static struct mt_site_thread *begin(int tid)
{
	memset(row, 0, sizeof(row));
	rows = 0;
	mt_count_init(&count, &ops);
	mt_sites_init(&sites, &count);
	return mt_site_thread_new(&sites, NULL, tid);
}

static void collect(void)
{
	rows = 0;
	mt_sites_collect(&sites, true, NULL, tell, NULL);
}

static void check_stride(const struct mt_site_row *r, int class, int64_t value, uint64_t same, uint64_t others)
{
	CHECK_EQ(r->stride[MT_SITE_SAME + class].value, value);
	CHECK_EQ(r->stride[MT_SITE_SAME + class].same, same);
	CHECK_EQ(r->stride[MT_SITE_SAME + class].others, others);
}

static void classes(void)
{
	static const int64_t at[] = {
		/* 0   +8   +8  +1  +63  +64   +64   +65   +4096 +4095  +4097   +2M                +2M+1 */
		0, 8, 16, 17, 80, 144, 208, 273, 4369, 8464, 12561, 12561 + 0x200000, 12561 + 0x400001,
	};
	struct mt_site_thread *t = begin(7);
	const uint64_t base = 0x7f0000000000, key = mt_site_key(0x401000, 0, 1);
	const size_t n = sizeof(at) / sizeof(at[0]);

	for (size_t i = 0; i < n; i++)
		mt_site_add(t, key, base + (uint64_t)at[i], 8);
	mt_site_add(t, key, base + (uint64_t)at[n - 1], 8);
	collect();
	CHECK_EQ(rows, 1);
	CHECK_EQ(row[0].tid, 7);
	CHECK_EQ(row[0].ip, 0x401000);
	CHECK_EQ(row[0].write, 1);
	CHECK_EQ(row[0].bytes, 8);
	CHECK_EQ(row[0].n, n + 1);
	CHECK_EQ(row[0].first, base);
	CHECK_EQ(row[0].last, base + (uint64_t)at[n - 1]);
	check_stride(&row[0], 0, 0, 1, 0);
	check_stride(&row[0], 1, 8, 2, 0);
	check_stride(&row[0], 2, 1, 1, 3);		/* 1, 63, 64, 64 */
	check_stride(&row[0], 3, 65, 1, 2);		/* 65, 4096, 4095 */
	check_stride(&row[0], 4, 4097, 1, 1);		/* 4097, 2 MiB */
	check_stride(&row[0], 5, 0x200001, 1, 0);
}

static void backwards(void)
{
	static const int64_t stride[] = { -4, -4, -5, -64, -65, -4096, -4097, -0x200000, -0x200001, -0x200001 };
	struct mt_site_thread *t = begin(1);
	const uint64_t key = mt_site_key(0xffff401000, 3, 0);
	uint64_t at = 0x7fffffffffff;

	mt_site_add(t, key, at, 4);
	for (size_t i = 0; i < sizeof(stride) / sizeof(stride[0]); i++)
		mt_site_add(t, key, at += (uint64_t)stride[i], 4);
	mt_site_add(t, key, 0x10, 4);
	mt_site_add(t, key, 0x10 + 0x7000000000, 4);
	collect();
	CHECK_EQ(row[0].ip, 0xffff401000);
	CHECK_EQ(row[0].write, 0);
	check_stride(&row[0], -1, -4, 2, 0);
	check_stride(&row[0], -2, -5, 1, 1);
	check_stride(&row[0], -3, -65, 1, 1);
	check_stride(&row[0], -4, -4097, 1, 1);
	check_stride(&row[0], -5, -0x200001, 2, 1);
	check_stride(&row[0], 5, 0x7000000000, 1, 0);
	CHECK_EQ(row[0].n, 13);
}

/* Told again only where something changed, with all that there was. */
static void again(void)
{
	struct mt_site_thread *t = begin(1);

	for (uint64_t ip = 1; ip <= 3; ip++)
		mt_site_add(t, mt_site_key(ip, 0, 0), ip * 100, 1);
	/* an operand and a direction are each one of their own */
	mt_site_add(t, mt_site_key(1, 1, 0), 5, 1);
	mt_site_add(t, mt_site_key(1, 0, 1), 6, 1);
	collect();
	CHECK_EQ(rows, 5);
	collect();
	CHECK_EQ(rows, 0);
	mt_site_add(t, mt_site_key(2, 0, 0), 201, 1);
	collect();
	CHECK_EQ(rows, 1);
	CHECK_EQ(row[1].n, 2);
	CHECK_EQ(row[4].write, 1);
	/* not of threads that live */
	mt_site_add(t, mt_site_key(2, 0, 0), 202, 1);
	rows = 0;
	mt_sites_collect(&sites, false, NULL, tell, NULL);
	CHECK_EQ(rows, 0);
}

static void ranges(void)
{
	struct mt_site_thread *t = begin(1);
	const uint64_t key = mt_site_key(9, 0, 0);

	mt_site_range(t, key, 0x1000, 0);
	collect();
	CHECK_EQ(rows, 0);
	mt_site_range(t, key, 0x1000, 1);
	mt_site_range(t, key, 0x1000, 33);		/* 3 pieces, the last one 32 bytes on */
	mt_site_range(t, key, 0x1fff, 4098);		/* 1 byte, 4096, 1 */
	mt_site_range(t, key, 0x1fff + 4096 + 16, 16);
	collect();
	CHECK_EQ(row[0].n, 1 + 3 + 258 + 1);
	check_stride(&row[0], 0, 0, 1, 0);
	check_stride(&row[0], 1, 16, 2 + 257 + 1, 0);
	check_stride(&row[0], 3, 0xfff - 32, 1, 0);
	CHECK_EQ(row[0].last, 0x1fff + 4096 + 16);
}

static void growth(void)
{
	enum { N = 50000 };
	struct mt_site_thread *t = begin(2);
	uint64_t sum = 0;

	for (int pass = 0; pass < 3; pass++)
		for (uint64_t i = 1; i <= N; i++)
			mt_site_add(t, mt_site_key(i * 3, 0, i & 1), i * 64 + (uint64_t)pass * 8, 8);
	CHECK_EQ(t->n, N);
	collect();
	CHECK_EQ(rows, N);
	for (uint64_t i = 0; i < N; i++) {
		sum += row[i].n;
		CHECK(row[i].ip == (i + 1) * 3 && row[i].stride[MT_SITE_ELEMENT].same == 2);
	}
	CHECK_EQ(sum, 3 * N);
}

static void no_memory(void)
{
	struct mt_site_thread *t;
	uint64_t sum = 0;

	map_left = 256 << 10;
	t = begin(4);
	CHECK(t != NULL);
	for (uint64_t i = 1; i <= 3000; i++) {
		mt_site_add(t, mt_site_key(i, 0, 0), i, 1);
		mt_site_range(t, mt_site_key(i, 1, 0), i * 16, 32);
	}
	collect();
	for (uint64_t i = 0; i < rows; i++)
		sum += row[i].n;
	CHECK(sites.lost > 0 && rows > 10);
	CHECK_EQ(sum + sites.lost, 9000);
	map_left = 0;
	CHECK(mt_site_thread_new(&sites, NULL, 5) == NULL || mt_site_thread_new(&sites, NULL, 5) == NULL ||
	      mt_site_thread_new(&sites, NULL, 5) == NULL);
	map_left = SIZE_MAX;
}

/* ---- threads that come and go, and a collector */

#define THREADS 64
static _Atomic int running, is_alive[1000];
static uint64_t told_of[1000];

static bool alive(int tid)
{
	return is_alive[tid];
}

static void tell_sum(void *arg, const struct mt_site_row *r)
{
	static uint64_t before[MAX_ROWS];

	(void)arg;
	if (r->id >= MAX_ROWS)
		abort();
	told_of[r->tid] += r->n - before[r->id];
	before[r->id] = r->n;
}

static void *work(void *arg)
{
	const int tid = (int)(intptr_t)arg;
	struct mt_site_thread *t = mt_site_thread_new(&sites, NULL, tid);

	for (uint64_t i = 0; i < 20000; i++)
		mt_site_add(t, mt_site_key(1 + i % 700, 0, 0), i * 8, 8);
	is_alive[tid] = 0;
	running--;
	return NULL;
}

static void *collect_always(void *arg)
{
	int all = 0;

	(void)arg;
	do
		mt_sites_collect(&sites, ++all % 2, alive, tell_sum, NULL);
	while (running);
	mt_sites_collect(&sites, true, alive, tell_sum, NULL);
	return NULL;
}

static void threads(void)
{
	pthread_t id[THREADS], collector;

	begin(0);
	sites.threads = NULL;
	running = 3 * THREADS;
	pthread_create(&collector, NULL, collect_always, NULL);
	for (int g = 0; g < 3; g++) {
		for (intptr_t i = 0; i < THREADS; i++) {
			is_alive[g * THREADS + i] = 1;
			pthread_create(&id[i], NULL, work, (void *)(g * THREADS + i));
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(id[i], NULL);
	}
	pthread_join(collector, NULL);
	for (int i = 0; i < 3 * THREADS; i++)
		CHECK_EQ(told_of[i], 20000);
	CHECK(sites.threads == NULL);		/* all were freed */
	CHECK_EQ(sites.next_id, 3 * THREADS * 700);
}

/* ---- a signal handler between any two instructions */

static struct mt_site_thread *interrupted;
static int steps, step_of_handler;
static uint64_t new_key;

static void on_step(int sig)
{
	(void)sig;
	if (++steps != step_of_handler)
		return;
	mt_site_add(interrupted, mt_site_key(5, 0, 0), 0x9000, 8);
	/* instructions that are new: the table grows */
	for (int i = 0; i < 3; i++)
		mt_site_add(interrupted, mt_site_key(++new_key, 0, 0), 0x9000, 8);
}

static void between_instructions(void)
{
	struct sigaction act = { .sa_handler = on_step };
	uint64_t n = 0, m = 0, sum = 0;

	interrupted = begin(7);
	new_key = 100;
	sigaction(SIGTRAP, &act, NULL);
	/* a stride as the one before, and another one */
	for (int kind = 0; kind < 2; kind++)
		for (step_of_handler = 1;; step_of_handler++) {
			const uint64_t key = mt_site_key(5, 0, 0);

			mt_site_add(interrupted, mt_site_key(5, 0, 0), 0x1000, 8);
			mt_site_add(interrupted, mt_site_key(5, 0, 0), 0x1008, 8);
			steps = 0;
			asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
			mt_site_add(interrupted, key, kind ? 0x5000 : 0x1010, 8);
			asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
			m += 3;
			if (steps < step_of_handler)
				break;
			n++;
		}
	signal(SIGTRAP, SIG_DFL);
	CHECK(n > 30);
	collect();
	for (uint64_t i = 0; i < rows; i++)
		sum += row[i].n;
	CHECK_EQ(sum, m + 4 * n);
	CHECK_EQ(rows, sites.next_id);
}

static void forks(void)
{
	struct mt_site_thread *t = begin(8), *other = mt_site_thread_new(&sites, NULL, 9);
	int status = 1;
	pid_t pid;

	for (uint64_t i = 1; i < 3000; i++) {
		mt_site_add(t, mt_site_key(i, 0, 0), i, 1);
		mt_site_add(other, mt_site_key(i, 0, 0), i, 1);
	}
	mt_count_fork_prepare(&count);
	pid = fork();
	if (!pid) {
		mt_count_fork_child(&count, NULL, 10);
		mt_sites_fork_child(&sites, t, 10);
		for (uint64_t i = 1; i < 2000; i++)
			mt_site_add(t, mt_site_key(i, 0, 0), i, 1);
		collect();
		CHECK_EQ(rows, 1999);
		CHECK_EQ(row[0].tid, 10);
		CHECK_EQ(row[1998].n, 1);
		_exit(mt_wrong != 0);
	}
	mt_count_fork_parent(&count);
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	collect();
	CHECK_EQ(rows, 5998);
	mt_count_fork_prepare(&count);
	pid = fork();
	if (!pid) {
		mt_count_fork_child(&count, NULL, 10);
		mt_sites_fork_child(&sites, NULL, 10);
		collect();
		_exit(rows != 0 || sites.threads);
	}
	mt_count_fork_parent(&count);
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}

int main(void)
{
	classes();
	backwards();
	again();
	ranges();
	growth();
	no_memory();
	threads();
#ifdef __x86_64__
	between_instructions();
#endif
	forks();
	return mt_test_done();
}
