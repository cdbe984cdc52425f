// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * words static|heap STEP FILE: three threads, each with a counter of its own, STEP bytes from the one before, count until FILE
 * exists. With heap the counters are in one block after the other, which live shortly.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
#define FIRST 128		/* bytes: the third line */
#define BYTES 8192

static char table[BYTES] __attribute__((aligned(4096)));
static volatile int stop;

struct job {
	volatile unsigned long *counter;
	long rounds;		/* 0: until the end */
};

static void *count(void *arg)
{
	const struct job *j = arg;

	for (long i = 0; j->rounds ? i < j->rounds : !stop; i++)
		++*j->counter;
	return NULL;
}

static void run(char *counters, long step, long rounds, const char *file)
{
	struct job j[THREADS];
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++) {
		j[i] = (struct job){ (volatile unsigned long *)(void *)(counters + FIRST + i * step), rounds };
		pthread_create(&t[i], NULL, count, &j[i]);
	}
	while (!rounds && access(file, F_OK))
		usleep(10000);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	const int heap = argc > 1 && !strcmp(argv[1], "heap");
	const long step = argc > 2 ? atol(argv[2]) : 8;
	const char *file = argc > 3 ? argv[3] : "/";

	if (!heap) {
		run(table, step, 0, file);
		return 0;
	}
	do {
		char *block = aligned_alloc(4096, BYTES);

		run(block, step, 20000000, file);
		free(block);
	} while (access(file, F_OK));
	return 0;
}
