// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * A histogram counted by several threads without locks: each thread has a
 * counter of its own for every bin. The variants differ only in where the
 * counters of the threads lie.
 *
 *   packed  bin by bin, the threads' counters side by side: every cache line
 *           is written by several threads (false sharing)
 *   line    as packed, but every counter alone in its cache line: no line has
 *           two writers, but every page still has
 *   page    thread by thread: each thread's counters on pages of its own
 */
#include <pthread.h>

#include "../common/example.h"

#define LINE_BYTES 64L

/* Byte distance from one bin, and from one thread, to the next. */
struct layout {
	long bin_step, thread_step;
	size_t bytes;
};

struct job {
	char *counters;
	struct layout at;
	long bins, first, last;
};

static long round_up(long n, long unit)
{
	return (n + unit - 1) / unit * unit;
}

static struct layout make_layout(int variant, long bins, long threads)
{
	const long counter = (long)sizeof(uint64_t);
	struct layout l = { 0, 0, 0 };

	switch (variant) {
	case 0:
		l.thread_step = counter;
		l.bin_step = counter * threads;
		l.bytes = (size_t)(l.bin_step * bins);
		break;
	case 1:
		l.thread_step = LINE_BYTES;
		l.bin_step = LINE_BYTES * threads;
		l.bytes = (size_t)(l.bin_step * bins);
		break;
	default:
		l.bin_step = counter;
		l.thread_step = round_up(counter * bins, (long)EXAMPLE_PAGE);
		l.bytes = (size_t)(l.thread_step * threads);
		break;
	}
	l.bytes = (size_t)round_up((long)l.bytes, (long)EXAMPLE_PAGE);
	return l;
}

/* volatile: the counter goes through memory each time, as it does in code
 * that the compiler cannot see through. */
static volatile uint64_t *counter(char *counters, struct layout at, long bin, long thread)
{
	return (volatile uint64_t *)(void *)
		(counters + bin * at.bin_step + thread * at.thread_step);
}

static void *count(void *arg)
{
	const struct job *w = arg;

	for (long i = w->first; i < w->last; i++)
		(*counter(w->counters, w->at, (long)(ex_hash((uint64_t)i) % (uint64_t)w->bins), 0))++;
	return NULL;
}

int main(int argc, char **argv)
{
	static const char variants[] = "packed|line|page";
	static const char *const names[] = { "packed", "line", "page" };
	static struct job jobs[EXAMPLE_MAX_THREADS];
	static pthread_t ids[EXAMPLE_MAX_THREADS];
	long bins = 32768, millions = 500, threads = 4;
	const struct ex_option opts[] = {
		{ 'b', "bins", &bins, 1, 1L << 24 },
		{ 'm', "millions of values to count", &millions, 1, 100000 },
		{ 't', "threads", &threads, 1, EXAMPLE_MAX_THREADS },
		{ 0, NULL, NULL, 0, 0 },
	};
	int v = ex_options(argc, argv, variants, opts);
	struct layout at = make_layout(v, bins, threads);
	long values = millions * 1000000;
	uint64_t sum = 0, total = 0;
	double t0, t1;
	char *counters = aligned_alloc(EXAMPLE_PAGE, at.bytes);

	ex_need(counters, "counters", at.bytes);
	memset(counters, 0, at.bytes);
	t0 = ex_now();
	for (long t = 0; t < threads; t++) {
		jobs[t] = (struct job){
			counters + t * at.thread_step, at, bins,
			values / threads * t,
			t == threads - 1 ? values : values / threads * (t + 1),
		};
		if (pthread_create(&ids[t], NULL, count, &jobs[t])) {
			fprintf(stderr, "falsesharing: cannot start thread %ld\n", t);
			return 1;
		}
	}
	for (long t = 0; t < threads; t++)
		pthread_join(ids[t], NULL);
	t1 = ex_now();

	for (long b = 0; b < bins; b++) {
		uint64_t bin = 0;

		for (long t = 0; t < threads; t++)
			bin += *counter(counters, at, b, t);
		total += bin;
		sum = sum * 31 + bin;
	}
	if (total != (uint64_t)values) {
		fprintf(stderr, "falsesharing: counted %llu of %ld values\n",
			(unsigned long long)total, values);
		return 1;
	}
	printf("falsesharing %s bins=%ld values=%ld checksum=%016llx\n", names[v],
	       bins, values, (unsigned long long)sum);
	fprintf(stderr, "falsesharing: %ld threads, %zu bytes of counters, counted in %.3f s\n",
		threads, at.bytes, t1 - t0);
	free(counters);
	return 0;
}
