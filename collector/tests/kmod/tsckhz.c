// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Prints the frequency of the time stamp counter in kHz. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(void)
{
	double t0 = now();
	unsigned long long c0 = __rdtsc();

	usleep(300000);
	printf("%.0f\n", (double)(__rdtsc() - c0) / (now() - t0));
	return 0;
}
