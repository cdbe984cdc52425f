/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Each item of a list gets a buffer from malloc, and gives it back: the kernel clears all its pages anew each time. The items have one
 * size; with SIZES they have different ones, with FRAMES such that the C library never keeps them. The output does not depend on who does
 * them. No code may be printed with LARGE (no heap of a thread can keep them) and with SPARSE (the C library would clear all of what it
 * keeps for calloc).
 */
/* paste: at the top of the file that has main */
#ifndef FRAMES
#include <malloc.h>
#endif
#ifdef STD_THREAD
#include <thread>
#else
#include <pthread.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int items = 60;

static unsigned long decode(int item)
{
#if defined(LARGE)
	size_t n = 50u << 20;
#elif defined(FRAMES)
	size_t n = (33u << 20) + (size_t)(item % 5) * 300000;	/* above the largest threshold, 32 MiB */
#elif defined(SIZES)
	size_t n = (4u << 20) + (size_t)(item % 5) * 300000;
#else
	size_t n = 4u << 20;
#endif
#ifdef SPARSE
	unsigned char *frame = (unsigned char *)calloc(n, 1);
	const size_t step = 256 << 10;
#else
	unsigned char *frame = (unsigned char *)malloc(n);
	const size_t step = 4096;
#endif
	unsigned long sum = n;

	for (size_t i = 0; i < n; i += step / 4)
		frame[i] = (unsigned char)(i / 1024 + (size_t)item);
	for (size_t i = 0; i < n; i += step)
		sum += frame[i];
	free(frame);
	return sum;
}

static void *worker(void *arg)
{
	unsigned long *sum = (unsigned long *)arg;

	for (int i = 0; i < items; i++)
		*sum += decode(i);
	return NULL;
}

int main(int argc, char **argv)
{
	/* paste: as the first statements of main */
	unsigned long sums[2][16] = { { 0 } };

	if (argc > 1)
		items = atoi(argv[1]);
#ifndef FRAMES
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
#if defined(NO_THREADS)
	worker(sums[0]);
	worker(sums[1]);
#elif defined(_OPENMP)
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 2; i++)
		worker(sums[i]);
#elif defined(STD_THREAD)
	std::thread one(worker, sums[0]), other(worker, sums[1]);

	one.join();
	other.join();
#else
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
#endif
	printf("%lu\n", sums[0][0] + sums[1][0]);
	return 0;
}
