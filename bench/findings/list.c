/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* pair: a list in random order
 * finds: ? nodes
 * No rule looks for it. Repaired: the nodes lie in the order of the list. */
#include <stdio.h>
#include <stdlib.h>

#define N (1 << 19)

struct node {
	struct node *next;
	long value, more[6];
};

int main(void)
{
	struct node *nodes = malloc(N * sizeof(*nodes));
	unsigned int *order = malloc(N * sizeof(*order)), seed = 1;
	long sum = 0;

	for (unsigned int i = 0; i < N; i++)
		order[i] = i;
	for (unsigned int i = N - 1; i > 0; i--) {
		const unsigned int j = (seed = seed * 1664525 + 1013904223) % (i + 1), x = order[i];

#ifndef REPAIRED
		order[i] = order[j];
		order[j] = x;
#endif
	}
	for (unsigned int i = 0; i < N; i++) {
		nodes[order[i]].next = &nodes[order[(i + 1) % N]];
		nodes[order[i]].value = i;
	}
	struct node *p = nodes;
	for (long i = 0; i < 30l * N; i++, p = p->next)
		sum += p->value;
	printf("%ld\n", sum);
	return 0;
}
