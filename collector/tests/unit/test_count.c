// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: count/count.c
// libs: -lpthread
/* The counters of accesses: totals against sums made by hand, while a collector looks all the time. */
#include "count/count.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define PAGES (1u << 12)		/* of what is told, by page modulo */
#define TIDS 80

static uint64_t told[TIDS][PAGES][2], rows, clock_ns = 1000;
static uint64_t first[TIDS][PAGES][2];
static int offset[TIDS][PAGES][2];
static size_t map_left = SIZE_MAX;
static _Atomic uint64_t mapped;

static void *map(size_t bytes)
{
	void *p;

	if (bytes > map_left)
		return NULL;
	map_left -= map_left == SIZE_MAX ? 0 : bytes;
	mapped += bytes;
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
	return __atomic_add_fetch(&clock_ns, 1, __ATOMIC_RELAXED);
}

static const struct mt_count_ops plain = { .map = map, .zero = zero, .now_ns = now };
static const struct mt_count_ops masked = {
	.map = map, .zero = zero, .now_ns = now, .enter = mt_block_signals, .leave = mt_restore_signals,
};

static void tell(void *arg, const struct mt_count_row *r)
{
	(void)arg;
	rows++;
	for (int w = 0; w < 2; w++) {
		told[r->tid % TIDS][r->page % PAGES][w] += r->n[w];
		if (r->first_ns[w]) {
			CHECK_EQ(first[r->tid % TIDS][r->page % PAGES][w], 0);	/* once */
			first[r->tid % TIDS][r->page % PAGES][w] = r->first_ns[w];
			offset[r->tid % TIDS][r->page % PAGES][w] = r->at[w];
		}
	}
}

static void count_row(void *arg, const struct mt_count_row *r)
{
	(void)arg, (void)r;
	rows++;
}

static void reset(void)
{
	memset(told, 0, sizeof(told));
	memset(first, 0, sizeof(first));
	memset(offset, 0, sizeof(offset));
	rows = 0;
}

static void one_thread(void)
{
	struct mt_count c;
	struct mt_count_thread *t;

	reset();
	mt_count_init(&c, &plain);
	t = mt_count_thread_new(&c, 7);
	CHECK(t != NULL);
	CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), 0);
	mt_count_add(t, 0x7123123, MT_COUNT_READ, 1);
	mt_count_add(t, 0x7123456, MT_COUNT_READ, 1);
	mt_count_add(t, 0x7123ffc, MT_COUNT_WRITE, 5);
	CHECK_EQ(mt_count_pending(&c), 7);
	CHECK_EQ(mt_count_pending(&c), 7);
	CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), 7);
	CHECK_EQ(rows, 1);
	CHECK_EQ(told[7][0x7123 % PAGES][0], 2);
	CHECK_EQ(told[7][0x7123 % PAGES][1], 5);
	CHECK_EQ(offset[7][0x7123 % PAGES][0], 0x123);
	CHECK_EQ(offset[7][0x7123 % PAGES][1], 0xffc);
	CHECK(first[7][0x7123 % PAGES][0] > c.start_ns);
	CHECK(first[7][0x7123 % PAGES][1] > first[7][0x7123 % PAGES][0]);
	/* only what is new */
	mt_count_add(t, 0x7123000, MT_COUNT_READ, 1);
	mt_count_add(t, 0x7124000, MT_COUNT_WRITE, 1);
	CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), 2);
	CHECK_EQ(rows, 3);
	CHECK_EQ(told[7][0x7123 % PAGES][0], 3);
	CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), 0);
	/* the lowest addresses, the highest, and none of user memory; huge counts */
	mt_count_add(t, 0, MT_COUNT_READ, 1);
	mt_count_add(t, 0x7fffffffffff, MT_COUNT_READ, 1);
	mt_count_add(t, 0xffffffffff600000, MT_COUNT_READ, 1);
	mt_count_add(t, MT_COUNT_ADDRESS_END, MT_COUNT_WRITE, 1);
	mt_count_add(t, 0x7125000, MT_COUNT_WRITE, 1ull << 62);
	mt_count_add(t, 0x7125000, MT_COUNT_WRITE, 1ull << 62);
	CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), (1ull << 63) + 2);
	CHECK(told[7][0x7125 % PAGES][1] == 1ull << 63);
	CHECK_EQ(told[7][0][0], 1);
	CHECK_EQ(told[7][0x7ffffffff % PAGES][0], 1);
}

static void ranges(void)
{
	struct mt_count c;
	struct mt_count_thread *t;

	reset();
	mt_count_init(&c, &plain);
	t = mt_count_thread_new(&c, 1);
	mt_count_range(t, 0x10000, 0, MT_COUNT_READ);
	CHECK_EQ(mt_count_pending(&c), 0);
	mt_count_range(t, 0x10000, 1, MT_COUNT_READ);
	mt_count_range(t, 0x10000, 16, MT_COUNT_READ);
	mt_count_range(t, 0x10000, 17, MT_COUNT_READ);
	mt_count_range(t, 0x10fff, 4098, MT_COUNT_WRITE);	/* 1 byte, 4096, 1 */
	mt_count_collect(&c, NULL, tell, NULL);
	CHECK_EQ(told[1][0x10][0], 4);
	CHECK_EQ(told[1][0x10][1], 1);
	CHECK_EQ(told[1][0x11][1], 256);
	CHECK_EQ(told[1][0x12][1], 1);
	CHECK_EQ(offset[1][0x10][1], 0xfff);
	CHECK_EQ(offset[1][0x11][1], 0);
}

/* Regions in the same slot of the cache, tables that grow often, regions with the same low bits. */
static void collisions_and_growth(void)
{
	enum { N = 5000 };
	struct mt_count c;
	struct mt_count_thread *t;
	uint64_t sum = 0, before;

	reset();
	mt_count_init(&c, &plain);
	t = mt_count_thread_new(&c, 2);
	for (int pass = 0; pass < 3; pass++)
		for (uint64_t i = 0; i < N; i++) {
			/* all in slot 5; the page tells i */
			uint64_t a = ((i * MT_COUNT_SLOTS + 5) << MT_COUNT_REGION_SHIFT) + ((i % 512) << 12);

			mt_count_add(t, a, (unsigned int)(i & 1), i + 1);
			sum += i + 1;
		}
	CHECK_EQ(t->regions, N);
	CHECK((1ull << t->table->bits) * 3 >= N * 4);
	CHECK(t->retired != NULL);
	CHECK_EQ(mt_count_collect(&c, NULL, count_row, NULL), sum);
	CHECK(t->retired == NULL);
	CHECK_EQ(rows, N);
	/* the freed tables are used again: two more threads of the same size need leaves and the last table only */
	before = mapped;
	t = mt_count_thread_new(&c, 3);
	for (uint64_t i = 0; i < 200; i++)
		mt_count_add(t, i << MT_COUNT_REGION_SHIFT, 0, 1);
	CHECK(mapped - before < 32 << 20);
	CHECK_EQ(mt_count_collect(&c, NULL, count_row, NULL), 200);
}

static void no_memory(void)
{
	struct mt_count c;
	struct mt_count_thread *t;
	uint64_t sum = 0;

	reset();
	map_left = 256 << 10;		/* the first arena is not to be had, small pieces are */
	mt_count_init(&c, &plain);
	t = mt_count_thread_new(&c, 4);
	CHECK(t != NULL);
	for (uint64_t i = 0; i < 1000; i++) {
		mt_count_add(t, i << MT_COUNT_REGION_SHIFT, 0, 3);
		sum += 3;
	}
	CHECK(c.lost > 0 && c.lost < sum);
	CHECK_EQ(mt_count_collect(&c, NULL, count_row, NULL) + c.lost, sum);
	map_left = 0;
	CHECK(mt_count_thread_new(&c, 5) == NULL);
	map_left = SIZE_MAX;
}

/* ---- many threads, a collector, threads that end */

static struct mt_count shared;
static _Atomic int running;
static _Atomic int is_alive[TIDS * 100];
static uint64_t want[TIDS][PAGES][2];
static pthread_mutex_t want_lock = PTHREAD_MUTEX_INITIALIZER;

static bool alive(int tid)
{
	return is_alive[tid];
}

struct work {
	int tid, rounds;
};

static void *count_much(void *arg)
{
	const struct work *w = arg;
	struct mt_count_thread *t = mt_count_thread_new(&shared, w->tid);
	static __thread uint64_t mine[PAGES][2];
	unsigned int seed = (unsigned int)w->tid;

	for (int i = 0; i < w->rounds; i++) {
		unsigned int page = (unsigned int)rand_r(&seed) % 1024, dir = (unsigned int)i & 1;
		/* pages far apart, too: by page modulo PAGES they are told apart */
		uint64_t far = (uint64_t)(i % 5) * PAGES * 4096 * 7;

		mt_count_add(t, far + (uint64_t)page * 4096 + page % 4096, dir, 1);
		mine[page][dir]++;
	}
	pthread_mutex_lock(&want_lock);
	for (unsigned int p = 0; p < PAGES; p++)
		for (int d = 0; d < 2; d++)
			want[w->tid % TIDS][p][d] += mine[p][d];
	pthread_mutex_unlock(&want_lock);
	is_alive[w->tid] = 0;
	running--;
	return NULL;
}

static void tell_sum(void *arg, const struct mt_count_row *r)
{
	(void)arg;
	told[r->tid % TIDS][r->page % PAGES][0] += r->n[0];
	told[r->tid % TIDS][r->page % PAGES][1] += r->n[1];
}

static void *collect_always(void *arg)
{
	(void)arg;
	do
		mt_count_collect(&shared, alive, tell_sum, NULL);
	while (running);
	mt_count_collect(&shared, alive, tell_sum, NULL);
	return NULL;
}

static void many_threads(int threads, int rounds, int generations)
{
	static struct work work[TIDS * 100];
	pthread_t id[TIDS], collector;
	long wrong = 0;

	reset();
	memset(want, 0, sizeof(want));
	mt_count_init(&shared, &masked);
	running = threads * generations;
	pthread_create(&collector, NULL, collect_always, NULL);
	for (int g = 0; g < generations; g++) {
		for (int i = 0; i < threads; i++) {
			work[g * threads + i] = (struct work){ g * threads + i, rounds };
			is_alive[g * threads + i] = 1;
			pthread_create(&id[i], NULL, count_much, &work[g * threads + i]);
		}
		for (int i = 0; i < threads; i++)
			pthread_join(id[i], NULL);
	}
	pthread_join(collector, NULL);
	for (int t = 0; t < TIDS; t++)
		for (unsigned int p = 0; p < PAGES; p++)
			for (int d = 0; d < 2; d++)
				wrong += told[t][p][d] != want[t][p][d];
	CHECK_EQ(wrong, 0);
	CHECK(shared.threads == NULL);		/* all were freed */
	CHECK_EQ(shared.lost, 0);
}

/* ---- a signal handler that counts on the same pages */

static struct mt_count_thread *interrupted;
static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
	mt_count_add(interrupted, 0x5000000, MT_COUNT_READ, 1);
	/* a region of its own each time: the handler grows the table, too, and turns out the region that is just counted */
	mt_count_add(interrupted, (((uint64_t)handled % 60000) * MT_COUNT_SLOTS + (0x5000000 >> MT_COUNT_REGION_SHIFT)) << MT_COUNT_REGION_SHIFT,
		     MT_COUNT_WRITE, 1);
}

static void signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = handler };
	uint64_t n = 0, sum;
	struct mt_count c;

	mt_count_init(&c, &masked);
	interrupted = mt_count_thread_new(&c, 6);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 4000) {
		mt_count_add(interrupted, 0x5000000, MT_COUNT_READ, 1);
		mt_count_add(interrupted, 0x5000000 + ((uint64_t)MT_COUNT_SLOTS << MT_COUNT_REGION_SHIFT) * (n % 7), MT_COUNT_READ, 1);
		n += 2;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sum = mt_count_pending(&c);
	CHECK_EQ(sum, n + 2 * (uint64_t)handled);
}

/* ---- a signal handler between any two instructions of an access */

static int steps, step_of_handler;

static void on_step(int sig)
{
	(void)sig;
	if (++steps == step_of_handler)
		mt_count_add(interrupted, 0x5000000 + ((uint64_t)MT_COUNT_SLOTS << MT_COUNT_REGION_SHIFT), MT_COUNT_WRITE, 1);
}

static void between_instructions(void)
{
	struct sigaction act = { .sa_handler = on_step };
	struct mt_count c;
	uint64_t n = 0, total;

	reset();
	mt_count_init(&c, &plain);
	interrupted = mt_count_thread_new(&c, 7);
	sigaction(SIGTRAP, &act, NULL);
	/* the handler takes the slot away at each step: with the region in the slot, and with the handler's */
	for (int other = 0; other < 2; other++)
		for (step_of_handler = 1;; step_of_handler++) {
			mt_count_add(interrupted, 0x5000000 + (other ? (uint64_t)MT_COUNT_SLOTS << MT_COUNT_REGION_SHIFT : 0), MT_COUNT_READ, 1);
			steps = 0;
			asm volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");	/* the trap flag: a signal for each instruction */
			mt_count_add(interrupted, 0x5000000, MT_COUNT_READ, 1);
			asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
			if (steps < step_of_handler)
				break;
			n++;
		}
	signal(SIGTRAP, SIG_DFL);
	CHECK(n > 20);		/* both ways have more instructions than that together */
	total = mt_count_collect(&c, NULL, count_row, NULL);
	CHECK_EQ(total, 3 * n + 4);	/* the last turn of each way had no handler */
	CHECK_EQ(rows, 2);
}

/* ---- fork: the child counts its own accesses only */

static void forks(void)
{
	struct mt_count_thread *t, *other;
	struct mt_count c;
	int status = 1;
	pid_t pid;

	reset();
	mt_count_init(&c, &masked);
	t = mt_count_thread_new(&c, 8);
	other = mt_count_thread_new(&c, 9);
	for (uint64_t i = 0; i < 3000; i++) {
		mt_count_add(t, i << 20, MT_COUNT_WRITE, 1);
		mt_count_add(other, i << 22, MT_COUNT_READ, 1);
	}
	mt_count_fork_prepare(&c);
	pid = fork();
	if (!pid) {
		mt_count_fork_child(&c, t, 10);
		mt_count_add(t, 0x100000, MT_COUNT_WRITE, 2);
		mt_count_add(t, 0x200000, MT_COUNT_READ, 1);
		mt_count_collect(&c, NULL, tell, NULL);
		CHECK_EQ(rows, 2);
		CHECK_EQ(told[10][0x100][1], 2);
		CHECK_EQ(told[10][0x200][0], 1);
		CHECK(first[10][0x100][1] != 0);
		/* and goes on as any process does */
		other = mt_count_thread_new(&c, 11);
		mt_count_add(other, 0x100000, MT_COUNT_READ, 1);
		CHECK_EQ(mt_count_collect(&c, NULL, tell, NULL), 1);
		_exit(mt_wrong != 0);
	}
	mt_count_fork_parent(&c);
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(mt_count_collect(&c, NULL, count_row, NULL), 6000);
	/* a child of a thread that has no counters yet */
	mt_count_fork_prepare(&c);
	pid = fork();
	if (!pid) {
		mt_count_fork_child(&c, NULL, 0);
		_exit(mt_count_collect(&c, NULL, count_row, NULL) != 0 || c.threads);
	}
	mt_count_fork_parent(&c);
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
}

/* 64 bytes for each page and thread, where pages lie together. */
static void memory(void)
{
	enum { N = 100000 };
	struct mt_count c;
	struct mt_count_thread *t;
	uint64_t before = mapped;

	mt_count_init(&c, &plain);
	t = mt_count_thread_new(&c, 1);
	for (uint64_t i = 0; i < N; i++)
		mt_count_add(t, 0x10000000 + i * 4096, MT_COUNT_WRITE, 1);
	CHECK((mapped - before - c.arena_left) / N <= 64);
}

int main(void)
{
	one_thread();
	ranges();
	collisions_and_growth();
	no_memory();
	many_threads(64, 20000, 1);
	many_threads(8, 500, 25);
	signals();
	between_instructions();
	forks();
	memory();
	return mt_test_done();
}
