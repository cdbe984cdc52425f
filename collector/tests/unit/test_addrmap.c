/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* A map of addresses against an array. */
// uses: cli/base/addrmap.c cli/base/util.c
#include <stdint.h>
#include <stdlib.h>

#include "harness.h"
#include "cli/base/addrmap.h"

#define N 5000

int main(void)
{
	static size_t value[N];		/* 0: not there */
	struct mt_addrmap m = { 0 }, other;
	uint64_t x = 88172645463325252ull;
	size_t wrong = 0, there = 0;

	CHECK(!mt_addrmap_find(&m, 16));
	for (size_t step = 0; step < 200000; step++) {
		size_t i;
		const size_t *at;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		i = (x >> 8) % N;
		/* addresses of blocks: multiples of 16, and of 4096, which must not fall together */
		const uint64_t key = 0x7f0000000000ull + (i % 2 ? i << 4 : i << 12);

		at = mt_addrmap_find(&m, key);
		wrong += at ? *at != value[i] : value[i] != 0;
		if (x & 1) {
			value[i] = step + 1;
			mt_addrmap_put(&m, key, step + 1);
		} else {
			value[i] = 0;
			mt_addrmap_remove(&m, key);
			wrong += mt_addrmap_find(&m, key) != NULL;
		}
	}
	for (size_t i = 0; i < N; i++)
		there += value[i] != 0;
	CHECK(!wrong);
	CHECK(there > N / 4 && m.used >= there && m.used * 2 <= m.mask + 2);
	mt_addrmap_copy(&other, &m);
	for (size_t i = 0; i <= m.mask; i++)
		wrong += m.key[i] > 1 && *mt_addrmap_find(&other, m.key[i]) != m.value[i];
	CHECK(!wrong && other.key != m.key);
	mt_addrmap_free(&other);
	mt_addrmap_free(&m);
	CHECK(!m.key && !mt_addrmap_find(&m, 16));
	return mt_test_done();
}
