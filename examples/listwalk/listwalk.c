// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Threads walk linked lists and do a little work at each node. All nodes come
 * from one pool; the variants differ in which node of the pool comes next.
 *
 *   random   the nodes of all lists lie mixed in the pool, in random order
 *   compact  each list has its own part of the pool, in random order
 *   ordered  each list has its own part, in the order of the addresses
 */
#include <pthread.h>

#include "../common/example.h"

struct node {
	struct node *next;
	uint64_t value;
	uint64_t visits;
	char payload[64 - sizeof(struct node *) - 2 * sizeof(uint64_t)];
};

struct job {
	struct node *first;
	long passes, work;
	uint64_t sum;
};

static void *walk(void *arg)
{
	struct job *w = arg;
	uint64_t sum = 0;

	for (long p = 0; p < w->passes; p++) {
		struct node *n = w->first;

		do {
			uint64_t h = n->value;

			for (long i = 0; i < w->work; i++)
				h = ex_hash(h);
			sum += h;
			n->visits++;
			n = n->next;
		} while (n != w->first);
	}
	w->sum = sum;
	return NULL;
}

/* Fisher and Yates, with ex_hash as the source of chance. */
static void shuffle(uint32_t *order, long first, long last)
{
	for (long i = last - 1; i > first; i--) {
		long j = first + (long)(ex_hash((uint64_t)i) % (uint64_t)(i - first + 1));
		uint32_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

int main(int argc, char **argv)
{
	static const char variants[] = "random|compact|ordered";
	static const char *const names[] = { "random", "compact", "ordered" };
	static struct job jobs[EXAMPLE_MAX_THREADS];
	static pthread_t ids[EXAMPLE_MAX_THREADS];
	long count = 1L << 18, threads = 4, passes = 6, work = 400;
	const struct ex_option opts[] = {
		{ 'n', "nodes in all lists together", &count, 1, 1L << 28 },
		{ 't', "lists, and threads", &threads, 1, EXAMPLE_MAX_THREADS },
		{ 'p', "passes over each list", &passes, 1, 1000000 },
		{ 'w', "rounds of work at each node", &work, 0, 1000000 },
		{ 0, NULL, NULL, 0, 0 },
	};
	int v = ex_options(argc, argv, variants, opts);
	uint64_t sum = 0, visits = 0;
	double t0, t1, t2;

	if (count < threads) {
		fprintf(stderr, "listwalk: fewer nodes (%ld) than lists (%ld)\n", count, threads);
		return 2;
	}
	size_t bytes = ((size_t)count * sizeof(struct node) + EXAMPLE_PAGE - 1)
		/ EXAMPLE_PAGE * EXAMPLE_PAGE;
	struct node *pool = aligned_alloc(EXAMPLE_PAGE, bytes);
	uint32_t *order = malloc((size_t)count * sizeof(*order));

	ex_need(pool, "pool", bytes);
	ex_need(order, "order", (size_t)count * sizeof(*order));
	t0 = ex_now();
	for (long i = 0; i < count; i++) {
		order[i] = (uint32_t)i;
		pool[i] = (struct node){ .value = (uint64_t)i };
	}
	if (v == 0)
		shuffle(order, 0, count);
	for (long t = 0; t < threads; t++) {
		long first = count * t / threads, last = count * (t + 1) / threads;

		if (v == 1)
			shuffle(order, first, last);
		for (long i = first; i < last; i++)
			pool[order[i]].next = &pool[order[i + 1 < last ? i + 1 : first]];
		jobs[t] = (struct job){ &pool[order[first]], passes, work, 0 };
	}
	free(order);
	t1 = ex_now();
	for (long t = 0; t < threads; t++)
		if (pthread_create(&ids[t], NULL, walk, &jobs[t])) {
			fprintf(stderr, "listwalk: cannot start thread %ld\n", t);
			return 1;
		}
	for (long t = 0; t < threads; t++) {
		pthread_join(ids[t], NULL);
		sum += jobs[t].sum;
	}
	t2 = ex_now();

	for (long i = 0; i < count; i++)
		visits += pool[i].visits;
	if (visits != (uint64_t)(count * passes)) {
		fprintf(stderr, "listwalk: %llu visits instead of %ld\n",
			(unsigned long long)visits, count * passes);
		return 1;
	}
	printf("listwalk %s nodes=%ld passes=%ld checksum=%016llx\n", names[v], count,
	       passes, (unsigned long long)sum);
	fprintf(stderr, "listwalk: %ld threads, built in %.3f s, walked in %.3f s\n",
		threads, t1 - t0, t2 - t1);
	free(pool);
	return 0;
}
