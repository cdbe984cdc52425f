/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Weights in a mapped file: one thread checks them all at load time, then each thread multiplies its rows. No code may be printed for
 * it: what writes to the weights ends the program, or changes the file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define ROWS 2048
#define COLUMNS 4096
static const float *weights;
static int tokens = 40;
static float x[COLUMNS], y[ROWS];
static void *part(void *arg)
{
	long self = (long)arg;
	for (int token = 0; token < tokens; token++)
		for (long r = self * ROWS / 4; r < (self + 1) * ROWS / 4; r++) {
			float s = 0;
			for (long c = 0; c < COLUMNS; c++)
				s += weights[r * COLUMNS + c] * x[c];
			y[r] = s;
		}
	return NULL;
}
int main(int argc, char **argv)
{
	size_t bytes = sizeof(float) * ROWS * COLUMNS;
	if (argc > 1)
		tokens = atoi(argv[1]);
	if (access("model.bin", R_OK)) {
		FILE *f = fopen("model.bin", "w");
		float row[COLUMNS];
		for (long r = 0; r < ROWS; r++) {
			for (long c = 0; c < COLUMNS; c++) row[c] = (r * 31 + c) % 17;
			fwrite(row, sizeof row, 1, f);
		}
		fclose(f);
	}
	int fd = open("model.bin", O_RDONLY);
	weights = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	double check = 0;
	for (size_t i = 0; i < bytes / sizeof(float); i += 1024) check += weights[i];
	for (int c = 0; c < COLUMNS; c++) x[c] = 1.0f / (c + 1);
	pthread_t t[4];
	for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, part, (void *)i);
	for (long i = 0; i < 4; i++) pthread_join(t[i], NULL);
	printf("%g %g\n", check, y[7]);
	return 0;
}
