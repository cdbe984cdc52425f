/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * Says on standard output what the trace of this run must contain. A line is
 *	KIND NAME START END ALIVE
 * with addresses in hexadecimal and ALIVE 1 when the structure lives to the end;
 * "thread NAME STACKADDRESS" for a thread and an address on its stack;
 * "gone ADDRESS" for a range where no structure of that kind may live at the end.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

int global_table[5000] = { 1 };
static double local_table[3000];
struct Matrix {
	double *data;
};

static void say(const char *kind, const char *name, const void *p, size_t n, int alive)
{
	printf("%s %s %lx %lx %d\n", kind, name, (unsigned long)p, (unsigned long)p + n, alive);
}

static void *xmalloc(size_t n)
{
	void *p = malloc(n);

	if (!p)
		abort();
	return p;
}

static void *worker(void *arg)
{
	int here = 0;

	pthread_setname_np(pthread_self(), "worker one");
	char *scratch = (char *)malloc(50000);
	scratch[49999] = 1;
	say("heap", "scratch", scratch, 50000, 0);
	free(scratch);
	printf("thread worker_one %lx\n", (unsigned long)&here);
	return arg;
}

int main()
{
	Matrix m;
	int here = 0;
	void *aligned = nullptr;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	local_table[5] = global_table[3];
	say("static", "global_table", global_table, sizeof global_table, 1);
	say("static", "local_table", local_table, sizeof local_table, 1);
	printf("thread main %lx\n", (unsigned long)&here);

	double *A = (double *)malloc(80000);
	say("heap", "A", A, 80000, 1);
	m.data = (double *)calloc(3000, 8);
	say("heap", "m.data", m.data, 24000, 1);
	auto *fresh = new int[6000];
	say("heap", "fresh", fresh, 24000, 0);
	delete[] fresh;
	std::vector<double> v(7000);
	say("heap", "v", v.data(), 56000, 0);
	if (posix_memalign(&aligned, 4096, 12288))
		return 1;
	say("heap", "aligned", aligned, 12288, 1);
	char *wrapped = (char *)xmalloc(33333);
	say("heap", "wrapped", wrapped, 33333, 1);

	/* grows until it moves: the last one lives, all others are dead */
	char *grown = (char *)malloc(5000);
	for (size_t n = 10000; n <= 640000; n *= 2)
		grown = (char *)realloc(grown, n);
	say("heap", "grown", grown, 640000, 1);

	/* an address that is used twice */
	char *before = (char *)malloc(9000000);
	say("heap", "before", before, 9000000, 0);
	free(before);
	char *after = (char *)malloc(9000000);
	say("heap", "after", after, 9000000, 1);

	char *map = (char *)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map + 65536, 65536);
	say("mmap", "map", map, 65536, 1);
	say("mmap", "map", map + 65536, 65536, 0);
	say("mmap", "map", map + 131072, (1 << 20) - 131072, 1);

	pthread_t th;
	pthread_create(&th, nullptr, worker, nullptr);
	pthread_join(th, nullptr);
	std::thread([] {
		std::vector<char> z(20000);
		say("heap", "z", z.data(), 20000, 0);
	}).join();

	/* 1000 small ones are counted, not recorded */
	for (int i = 0; i < 1000; i++)
		free(malloc(100));

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		char *mine = (char *)malloc(44444);
		printf("child heap mine %lx %lx 1\n", (unsigned long)mine, (unsigned long)mine + 44444);
		printf("child heap A %lx %lx 0\n", (unsigned long)A, (unsigned long)A + 80000);
		printf("child heap after %lx %lx 1\n", (unsigned long)after, (unsigned long)after + 9000000);
		free(A);
		fflush(stdout);
		exit(0);
	}
	waitpid(child, nullptr, 0);
	return (int)(wrapped[0] * 0 + grown[0] * 0);
}
