// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A buffer is freed by one thread, and the allocator gives the same memory to another thread, many times in an interval: the
 * threads never share it. A third buffer lives all the time and is used by both threads in turn: that one is shared.
 *
 * usage: reuse [MILLISECONDS]	how long each thread keeps its buffer, 15 by default
 * Prints how many of the blocks lay where the one before them had been.
 */
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BYTES 65536
#define ROUNDS 12

static sem_t turn[2];
static long keep_ns = 15000000;
static volatile char *common;
static uintptr_t last;
static int again;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void use(volatile char *p)
{
	const long end = now() + keep_ns;

	while (now() < end)
		for (int i = 0; i < BYTES; i += 512) {
			p[i]++;
			common[i]++;
		}
}

static void count(char *p)
{
	again += (uintptr_t)p == last;
	last = (uintptr_t)p;
}

static void *left(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *mine;

		sem_wait(&turn[0]);
		mine = malloc(BYTES);
		count(mine);
		use(mine);
		free(mine);
		sem_post(&turn[1]);
	}
	return arg;
}

static void *right(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *yours;

		sem_wait(&turn[1]);
		yours = malloc(BYTES);
		count(yours);
		use(yours);
		free(yours);
		sem_post(&turn[0]);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	if (argc > 1)
		keep_ns = atol(argv[1]) * 1000000;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 1 << 24);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
	common = malloc(BYTES);
	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	pthread_create(&a, NULL, left, NULL);
	pthread_create(&b, NULL, right, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d of %d blocks where the one before had been\n", again, 2 * ROUNDS);
	return 0;
}
